"""Facets: how many nodes of the filtered estate hold each value, by guarded Cypher like anyone's.

Values within a facet are alternatives and facets narrow each other, so a facet is counted without its own selection:
choosing a value never hides the others. The counts are of the estate, not of a text's matches.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial

from cypher_guard import Profile, Visibility, guard
from service.domain.deadline import Deadline
from service.domain.errors import EngineUnavailable, FacetUnknown
from service.domain.filters import MANY_VALUED, SINGLE_VALUED, NodeFilter
from service.observation import Lookups
from service.ports import GraphReader, Rows
from service.retrieval.combinations import PROPERTIES, Combination, combinations_query, read_combinations, tally
from service.retrieval.computations import Computations
from service.settings import Settings

FACETS: Mapping[str, str] = {
    name: PROPERTIES[name]
    for name in (
        "kind",
        "product",
        "topic",
        "role",
        "audience",
        "level",
        "moniker",
        "locale",
        "docset",
        "language",
    )
}
"""Facet → the node property that it counts; a facet and the filter of its name compare the same values."""

Counts = Mapping[str, int]
"""Value → nodes, most first."""


def check_names(names: Sequence[str]) -> None:
    """Raises FacetUnknown."""
    for name in names:
        if name not in FACETS:
            nearest = get_close_matches(name, FACETS, n=1)
            raise FacetUnknown(
                f"There is no facet '{name}'. Facets: {', '.join(FACETS)}.",
                suggestion=nearest[0] if nearest else None,
            )


def facet_query(name: str, filter: NodeFilter, rows: int) -> tuple[str, dict[str, object]]:
    """Cypher that counts one facet: names of ours in the text, the caller's values in the parameters."""
    stored = PROPERTIES[name]
    others = {key: values for key, values in filter.constraints().items() if key != name}
    tests = [
        f"n.{SINGLE_VALUED[key]} IN ${key}"
        if key in SINGLE_VALUED
        else f"any(held IN n.{MANY_VALUED[key]} WHERE held IN ${key})"
        for key in others
    ]
    # A node has one value, or counts once for each of several. Carried on beside its value it costs ten times as much.
    counted = (
        f"UNWIND n.{stored} AS value WITH value, count(DISTINCT n) AS total"
        if name in MANY_VALUED
        else f"WITH n.{stored} AS value, count(n) AS total"
    )
    where = f" WHERE {' AND '.join(tests)}" if tests else ""
    text = (
        f"MATCH (n:Node){where} {counted} WHERE value <> '' RETURN value, total ORDER BY total DESC, value LIMIT {rows}"
    )
    return text, {key: list(allowed) for key, allowed in others.items()}


@dataclass
class FacetCounter:
    """Counts facets of the current snapshot; what was counted once is kept while the snapshot answers."""

    graph: GraphReader
    profile: Profile
    settings: Settings
    lookups: Lookups = field(default_factory=Lookups, init=False)
    _generation: int = field(init=False)
    _counted: Computations[tuple[str, NodeFilter, frozenset[str]], Counts] = field(init=False)
    _held: Computations[frozenset[str], tuple[Combination, ...] | None] = field(init=False)

    def __post_init__(self) -> None:
        self._start(-1)

    def _start(self, generation: int) -> None:
        self._generation = generation
        self._counted = Computations("facets", self.settings.facet_cache, self.lookups)
        self._held = Computations("facets", self.settings.facet_classes)

    def forget(self) -> None:
        """For when the graph of a generation was mended."""
        self._generation = -1

    async def count(
        self,
        names: Sequence[str],
        filter: NodeFilter,
        generation: int,
        audiences: frozenset[str],
        *,
        deadline: Deadline,
    ) -> tuple[dict[str, Counts], list[str]]:
        """The facets that could be counted in time, and what to call degraded. Raises FacetUnknown."""
        check_names(names)
        self._follow(generation)
        due = deadline.at_most(self.settings.facet_deadline)
        answers = await asyncio.gather(*(self._one(name, filter, audiences, due) for name in names))
        counted = {name: counts for name, counts in zip(names, answers, strict=True) if counts is not None}
        return counted, ["facets"] if len(counted) < len(names) else []

    async def values(
        self, names: Iterable[str], generation: int, audiences: frozenset[str], *, deadline: Deadline
    ) -> dict[str, Counts]:
        """All values that nodes have of these filters' properties, with the nodes of each; without a property whose
        values aren't counted in time, or are more than are kept."""
        self._follow(generation)
        wanted = list(dict.fromkeys(names))
        answers = await asyncio.gather(*(self._one(name, NodeFilter(), audiences, deadline) for name in wanted))
        return {
            name: counts
            for name, counts in zip(wanted, answers, strict=True)
            if counts is not None and len(counts) < self.settings.facet_values
        }

    def _follow(self, generation: int) -> None:
        if generation != self._generation:
            self._start(generation)

    async def _one(self, name: str, filter: NodeFilter, audiences: frozenset[str], due: Deadline) -> Counts | None:
        elsewhere = replace(filter, **{name: ()})
        try:
            counting = partial(self._count, name, elsewhere, audiences)
            return await self._counted.get((name, elsewhere, audiences), counting, due)
        except EngineUnavailable:
            return None

    async def _count(self, name: str, filter: NodeFilter, audiences: frozenset[str]) -> Counts:
        """Added up from what combinations there are; by a query of its own where they are too many to hold."""
        due = Deadline.after(self.settings.facet_compute_deadline)
        held = await self._held.get(audiences, partial(self._combinations, audiences), due)
        if held is not None:
            return tally(held, name, filter, self.settings.facet_values)
        text, parameters = facet_query(name, filter, self.settings.facet_values)
        rows = await self._run(text, parameters, audiences, self.settings.facet_values, due)
        return {str(value): int(total) for value, total in rows.rows}

    async def _combinations(self, audiences: frozenset[str]) -> tuple[Combination, ...] | None:
        """What the class sees; None where it is more than there is room for."""
        most = self.settings.facet_combinations
        if not most:
            return None
        due = Deadline.after(self.settings.facet_compute_deadline)
        rows = await self._run(combinations_query(most + 1), {}, audiences, most, due)
        return None if rows.truncated else read_combinations(rows.rows)

    async def _run(
        self, text: str, parameters: Mapping[str, object], audiences: frozenset[str], most: int, due: Deadline
    ) -> Rows:
        profile = replace(
            self.profile, clauses="extended", max_rows=most, default_rows=min(most, self.profile.default_rows)
        )
        query = guard(text, parameters, profile, visibility=Visibility(audiences=audiences))
        return await self.graph.run(query, deadline=due)
