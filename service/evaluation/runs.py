"""A set's queries put to a search, one after the other: what it ranked for each."""

import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from service.evaluation.sets import EvaluationSet, Query

Search = Callable[[Query], Awaitable[Sequence[str]]]
"""The documents found for a query, best first, by the names that the judgments use."""


@dataclass(frozen=True)
class Run:
    """Query id → ranked documents, best first, each once."""

    set_name: str
    configuration: str
    rankings: Mapping[str, tuple[str, ...]]
    seconds: float


async def run_set(
    evaluated: EvaluationSet, configuration: str, search: Search, *, depth: int, keep_current: bool = True
) -> Run:
    """Ask every query. `configuration` names the search; rankings are cut to `depth` documents.

    `keep_current` False takes the document that the reader stands on out of each ranking, before the cut.
    """
    started = time.perf_counter()
    rankings: dict[str, tuple[str, ...]] = {}
    for query in evaluated.queries:
        found: Iterable[str] = dict.fromkeys(await search(query))
        if not keep_current:
            found = (document for document in found if document != query.current_document)
        rankings[query.id] = tuple(found)[:depth]
    return Run(evaluated.name, configuration, rankings, time.perf_counter() - started)
