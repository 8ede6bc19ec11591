"""The retrievers of one query, side by side, each with its own deadline and circuit breaker."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from service.domain.deadline import Deadline
from service.domain.errors import EngineLate, EngineUnavailable
from service.ports import PassageHit
from service.retrieval.breaker import Breaker

Search = Callable[[Deadline], Awaitable[list[PassageHit]]]


@dataclass(frozen=True, slots=True)
class Leg:
    """One retriever as a query meets it. `shortfall` says what it can't see yet, when it can't see all."""

    name: str
    engine: str
    weight: float
    milliseconds: int
    breaker: Breaker
    search: Search
    shortfall: str | None = None


@dataclass(frozen=True, slots=True)
class LegRun:
    """What a leg answered, or why it did not."""

    leg: Leg
    hits: tuple[PassageHit, ...]
    took_ms: float
    failure: str | None = None

    @property
    def is_live(self) -> bool:
        return self.failure is None


async def run_legs(legs: Sequence[Leg], deadline: Deadline) -> list[LegRun]:
    """Run all legs at once; a leg that is down or late is a run with a failure, never an exception."""
    return list(await asyncio.gather(*(_run(leg, deadline) for leg in legs)))


def degraded(runs: Sequence[LegRun]) -> list[str]:
    """Each leg that was left out or sees only a part, and why."""
    notes = []
    for run in runs:
        if run.failure is not None:
            notes.append(f"{run.leg.name}: {run.failure}")
        elif run.leg.shortfall is not None:
            notes.append(f"{run.leg.name}: {run.leg.shortfall}")
    return notes


async def _run(leg: Leg, deadline: Deadline) -> LegRun:
    if leg.breaker.is_open:
        return LegRun(leg, (), 0.0, "left out after repeated failures")
    started = time.perf_counter()
    own_deadline = deadline.at_most(leg.milliseconds)
    failure: str | None = None
    hits: list[PassageHit] = []
    try:
        hits = await asyncio.wait_for(leg.search(own_deadline), own_deadline.seconds_left)
    except (TimeoutError, EngineLate):
        failure = "no answer before its deadline"
    except EngineUnavailable as error:
        failure = error.reason
    if failure is None:
        leg.breaker.succeeded()
    else:
        leg.breaker.failed()
    return LegRun(leg, tuple(hits), (time.perf_counter() - started) * 1000, failure)
