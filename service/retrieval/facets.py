"""Facets: how many nodes of the filtered estate hold each value, counted by guarded Cypher like anyone's.

Values within a facet are alternatives and facets narrow each other, so a facet is counted without its own selection:
choosing a value never hides the others. The counts are of the estate, not of a text's matches.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from functools import partial

from cypher_guard import Profile, Visibility, guard
from service.domain.deadline import Deadline
from service.domain.errors import EngineUnavailable, FacetUnknown
from service.domain.filters import MANY_VALUED, SINGLE_VALUED, NodeFilter
from service.observation import Lookups
from service.ports import GraphReader
from service.retrieval.computations import Computations
from service.settings import Settings

FACETS: Mapping[str, str] = {
    name: {**SINGLE_VALUED, **MANY_VALUED}[name]
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
    stored = FACETS[name]
    others = {key: values for key, values in filter.constraints().items() if key != name}
    tests = [
        f"n.{SINGLE_VALUED[key]} IN ${key}"
        if key in SINGLE_VALUED
        else f"any(held IN n.{MANY_VALUED[key]} WHERE held IN ${key})"
        for key in others
    ]
    values = f"UNWIND n.{stored} AS value" if name in MANY_VALUED else f"WITH n, n.{stored} AS value"
    where = f" WHERE {' AND '.join(tests)}" if tests else ""
    text = (
        f"MATCH (n:Node){where} {values} WITH value, count(DISTINCT n) AS total WHERE value IS NOT NULL "
        f"RETURN value, total ORDER BY total DESC, value LIMIT {rows}"
    )
    return text, {key: list(allowed) for key, allowed in others.items()}


@dataclass
class FacetCounter:
    """Counts facets of the current snapshot; what was counted once is kept while the snapshot answers."""

    graph: GraphReader
    profile: Profile
    settings: Settings
    lookups: Lookups = field(default_factory=Lookups, init=False)
    _generation: int = field(default=-1, init=False)
    _counted: Computations[tuple[str, NodeFilter, frozenset[str]], Counts] = field(init=False)

    def __post_init__(self) -> None:
        rows = self.settings.facet_values
        self.profile = replace(
            self.profile, clauses="extended", max_rows=rows, default_rows=min(rows, self.profile.default_rows)
        )
        self._counted = Computations("facets", self.settings.facet_cache, self.lookups)

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
        if generation != self._generation:
            self._generation = generation
            self._counted = Computations("facets", self.settings.facet_cache, self.lookups)
        due = deadline.at_most(self.settings.facet_deadline)
        answers = await asyncio.gather(*(self._one(name, filter, audiences, due) for name in names))
        counted = {name: counts for name, counts in zip(names, answers, strict=True) if counts is not None}
        return counted, ["facets"] if len(counted) < len(names) else []

    async def _one(self, name: str, filter: NodeFilter, audiences: frozenset[str], due: Deadline) -> Counts | None:
        elsewhere = replace(filter, **{name: ()})
        try:
            counting = partial(self._run, name, elsewhere, audiences)
            return await self._counted.get((name, elsewhere, audiences), counting, due)
        except EngineUnavailable:
            return None

    async def _run(self, name: str, filter: NodeFilter, audiences: frozenset[str]) -> Counts:
        text, parameters = facet_query(name, filter, self.settings.facet_values)
        query = guard(text, parameters, self.profile, visibility=Visibility(audiences=audiences))
        rows = await self.graph.run(query, deadline=Deadline.after(self.settings.facet_compute_deadline))
        return {str(value): int(total) for value, total in rows.rows}
