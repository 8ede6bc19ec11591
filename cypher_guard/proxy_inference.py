"""Reads the schema of a live graph, in bounded steps: every question about the data goes through the guard."""

from dataclasses import replace

from cypher_guard import Violation, Visibility, guard
from cypher_guard.profile import Profile
from cypher_guard.proxy_database import DatabaseRefused, GuardedDatabase, SchemaStatement
from cypher_guard.proxy_schema import Kind, LiveSchema

MOST_NAMES = 500
SAMPLE = 1000
STATEMENT_TIMEOUT_MS = 5000

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

    Raises DatabaseRefused or Violation when even the catalogue doesn't answer; a count that takes too long is None.
    """
    labels, left_out_labels = await _names(database, SchemaStatement.LABELS)
    types, left_out_types = await _names(database, SchemaStatement.EDGE_TYPES)
    label_kinds, type_kinds = [], []
    for name in labels:
        profile = replace(_INFERENCE, labels=frozenset({name}))
        label_kinds.append(await _kind(database, visibility, profile, name, f"(n:{_quoted(name)})"))
    for name in types:
        profile = replace(_INFERENCE, edge_types=frozenset({name}))
        type_kinds.append(await _kind(database, visibility, profile, name, f"()-[n:{_quoted(name)}]->()"))
    return LiveSchema(tuple(label_kinds), tuple(type_kinds), (*left_out_labels, *left_out_types))


async def _names(database: GuardedDatabase, statement: SchemaStatement) -> tuple[list[str], list[str]]:
    """The names that a profile can hold, and the others."""
    answer = await database.run_statement(statement, limit=MOST_NAMES, timeout_ms=STATEMENT_TIMEOUT_MS)
    names = [str(row[0]) for row in answer.rows]
    usable = _nameable(names)
    left_out = [name for name in names if name not in usable]
    return usable, left_out + (["(more than the bound)"] if answer.truncated else [])


async def _kind(
    database: GuardedDatabase, visibility: Visibility | None, profile: Profile, name: str, pattern: str
) -> Kind:
    counted = await _ask(database, visibility, profile, f"MATCH {pattern} RETURN count(n) AS count")
    sampled = await _ask(
        database,
        visibility,
        profile,
        f"MATCH {pattern} WITH n LIMIT {SAMPLE} UNWIND keys(n) AS key RETURN DISTINCT key",
    )
    count = counted[0][0] if counted else None
    properties = _nameable(sorted(str(row[0]) for row in sampled or ()))
    return Kind(name, count if isinstance(count, int) else None, tuple(properties))


async def _ask(
    database: GuardedDatabase, visibility: Visibility | None, profile: Profile, text: str
) -> list[list[object]] | None:
    try:
        answer = await database.run(guard(text, None, profile, visibility=visibility), profile)
    except (Violation, DatabaseRefused):
        return None
    return answer.rows


def _nameable(names: list[str]) -> list[str]:
    """Those that Profile takes: a backslash could hide an escape that Neo4j reads before the backtick."""
    return [name for name in names if name and name.isprintable() and "\\" not in name]


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"
