"""evaluate: judged sets put to the published estate under one configuration or several, side by side."""

from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from service.domain.progress import Progress, silent
from service.domain.requests import SearchRequest
from service.domain.results import (
    ComparisonResult,
    EvaluatedConfiguration,
    EvaluatedSet,
    EvaluationResult,
    QueryComparison,
    SearchResult,
)
from service.evaluation.comparison import Comparison, compare
from service.evaluation.configurations import DEPTH, Configuration
from service.evaluation.leaks import given_away
from service.evaluation.measures import MEASURES, Scores, score
from service.evaluation.placement import Placed, Rows, place
from service.evaluation.runs import run_set
from service.evaluation.sets import EvaluationSet, Query
from service.settings import Settings


class Estate(Protocol):
    """What an evaluation asks of a published estate."""

    def search(self, request: SearchRequest) -> Awaitable[SearchResult]: ...

    def look(self, cypher: str, parameters: dict[str, object]) -> Awaitable[Rows]:
        """Run a graph query through the guard."""
        ...


Open = Callable[[Settings], AbstractAsyncContextManager[Estate]]
"""Opens the estate under some settings: what a setting changes may have to be opened anew."""


@dataclass(frozen=True)
class _Measured:
    configuration: Configuration
    scores: Scores
    degraded: int
    given_away: int


async def evaluate(
    sets: Sequence[EvaluationSet],
    configurations: Sequence[Configuration],
    open_estate: Open,
    *,
    per_query: bool = False,
    progress: Progress = silent,
) -> EvaluationResult:
    """Every set under every configuration; the first configuration is what the others are compared with.

    per_query: report each query's values and its wins and losses. Raises what a search raises.
    """
    placed: list[Placed] = []
    measured: dict[int, list[_Measured]] = {number: [] for number in range(len(sets))}
    root = ""
    for configuration in configurations:
        async with open_estate(configuration.settings) as estate:
            if not placed:
                placed = [await place(one, estate.look) for one in sets]
            for number, one in enumerate(placed):
                if one.judged.queries:
                    told, root = await _measure(one.judged, configuration, estate, progress)
                    measured[number].append(told)
    results = [_result(one, measured[number], per_query) for number, one in enumerate(placed)]
    return EvaluationResult(sets=results, content_root=root)


async def _measure(
    judged: EvaluationSet, configuration: Configuration, estate: Estate, progress: Progress
) -> tuple[_Measured, str]:
    depth = min(DEPTH, configuration.settings.search_limit_cap)
    stage = f"{judged.name}, {configuration.name}"
    asked, degraded, root = 0, 0, ""

    async def search(query: Query) -> Sequence[str]:
        nonlocal asked, degraded, root
        # One more than is judged: the document that the reader stands on may be among them.
        request = configuration.ask(query, min(depth + 1, configuration.settings.search_limit_cap))
        found = await estate.search(request)
        asked, degraded, root = asked + 1, degraded + bool(found.degraded), found.content_root
        progress(stage, asked, len(judged.queries))
        return [hit.uid for hit in found.hits]

    run = await run_set(judged, configuration.name, search, depth=depth, keep_current=configuration.keep_current)
    known = await given_away(judged, estate.look) if configuration.walks_from_the_reader else ()
    return _Measured(configuration, score(run, judged), degraded, len(known)), root


def _result(placed: Placed, measured: Sequence[_Measured], per_query: bool) -> EvaluatedSet:
    return EvaluatedSet(
        name=placed.judged.name,
        queries=len(placed.judged.queries),
        left_out=placed.left_out,
        missing=list(placed.missing),
        configurations=[
            EvaluatedConfiguration(
                name=one.configuration.name,
                metrics=one.scores.means,
                degraded=one.degraded,
                given_away=one.given_away,
                seconds=one.scores.run.seconds,
                per_query={name: dict(values) for name, values in one.scores.per_query.items()} if per_query else None,
            )
            for one in measured
        ],
        comparisons=[_compared(measured[0], one, measure, per_query) for one in measured[1:] for measure in MEASURES],
    )


def _compared(baseline: _Measured, candidate: _Measured, measure: str, per_query: bool) -> ComparisonResult:
    paired = compare(baseline.scores.per_query[measure], candidate.scores.per_query[measure])
    return ComparisonResult(
        baseline=baseline.configuration.name,
        candidate=candidate.configuration.name,
        measure=measure,
        difference=paired.difference,
        low=paired.low,
        high=paired.high,
        p_value=paired.p_value,
        wins=paired.wins,
        losses=paired.losses,
        ties=paired.ties,
        queries=_changed(paired) if per_query else None,
    )


def _changed(paired: Comparison) -> list[QueryComparison]:
    """The queries that the two answer differently, largest gain first."""
    return [
        QueryComparison(query=one.query, baseline=one.baseline, candidate=one.candidate)
        for one in paired.queries
        if one.difference != 0
    ]
