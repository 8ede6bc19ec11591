"""Reads the schema of a live graph, in bounded steps: every question about the data goes through the guard."""

from dataclasses import dataclass, replace
from time import monotonic

from cypher_guard import Violation, Visibility, guard
from cypher_guard.profile import Profile
from cypher_guard.proxy_database import DatabaseRefused, GuardedDatabase, SchemaStatement
from cypher_guard.proxy_schema import Kind, LiveSchema

MOST_NAMES = 500
SAMPLE = 1000
STATEMENT_TIMEOUT_MS = 5000
WHOLE_TIMEOUT_SECONDS = 30.0

# Counting everything is what a caller may not do, and what a schema needs.
_INFERENCE = Profile(
    edge_types=frozenset(),
    labels=frozenset(),
    properties=None,
    clauses="extended",
    timeout_ms=STATEMENT_TIMEOUT_MS,
    cost_limit=10**18,
    identity_properties=(),
)


async def infer_schema(database: GuardedDatabase, visibility: Visibility | None) -> LiveSchema:
    """Labels and types with their counts and the properties of a sample, as `visibility` may see them.

    Raises DatabaseRefused or Violation when even the catalogue doesn't answer. A count that takes too long is None;
    once the whole takes too long, kinds keep their names alone.
    """
    labels, left_out_labels = await _names(database, SchemaStatement.LABELS)
    types, left_out_types = await _names(database, SchemaStatement.EDGE_TYPES)
    sample = _Sampling(database, visibility, monotonic() + WHOLE_TIMEOUT_SECONDS)
    label_kinds = [
        await sample.kind(name, f"(n:{_quoted(name)})", replace(_INFERENCE, labels=frozenset({name})))
        for name in labels
    ]
    type_kinds = [
        await sample.kind(name, f"()-[n:{_quoted(name)}]->()", replace(_INFERENCE, edge_types=frozenset({name})))
        for name in types
    ]
    return LiveSchema(tuple(label_kinds), tuple(type_kinds), (*left_out_labels, *left_out_types))


async def _names(database: GuardedDatabase, statement: SchemaStatement) -> tuple[list[str], list[str]]:
    """The names that a profile can hold, and the others."""
    answer = await database.run_statement(statement, limit=MOST_NAMES, timeout_ms=STATEMENT_TIMEOUT_MS)
    names = [str(row[0]) for row in answer.rows]
    usable = _nameable(names)
    left_out = [name for name in names if name not in usable]
    return usable, left_out + (["(more than the bound)"] if answer.truncated else [])


@dataclass(frozen=True, slots=True)
class _Sampling:
    """Questions about one kind after the other, until the deadline."""

    database: GuardedDatabase
    visibility: Visibility | None
    deadline: float

    async def kind(self, name: str, pattern: str, profile: Profile) -> Kind:
        counted = await self._ask(f"MATCH {pattern} RETURN count(n) AS count", profile)
        sampled = await self._ask(
            f"MATCH {pattern} WITH n LIMIT {SAMPLE} UNWIND keys(n) AS key RETURN DISTINCT key", profile
        )
        count = counted[0][0] if counted else None
        properties = _nameable(sorted(str(row[0]) for row in sampled or ()))
        return Kind(name, count if isinstance(count, int) else None, tuple(properties))

    async def _ask(self, text: str, profile: Profile) -> list[list[object]] | None:
        if monotonic() > self.deadline:
            return None
        try:
            answer = await self.database.run(guard(text, None, profile, visibility=self.visibility), profile)
        except (Violation, DatabaseRefused):
            return None
        return answer.rows


def _nameable(names: list[str]) -> list[str]:
    """Those that Profile takes: a backslash could hide an escape that Neo4j reads before the backtick."""
    return [name for name in names if name and name.isprintable() and "\\" not in name]


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
