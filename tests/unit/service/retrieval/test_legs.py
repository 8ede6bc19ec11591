import asyncio
import time

from service.domain.content import PassageKey
from service.domain.deadline import Deadline
from service.domain.errors import EngineLate, EngineUnavailable
from service.domain.graph import NodeIdentity
from service.ports import PassageHit
from service.retrieval.breaker import Breaker
from service.retrieval.legs import Leg, degraded, run_legs

HIT = PassageHit(PassageKey(NodeIdentity("a", "en-us"), "hash", 0), 1.0)


async def answer(_deadline: Deadline) -> list[PassageHit]:
    return [HIT]


async def hang(_deadline: Deadline) -> list[PassageHit]:
    await asyncio.sleep(60)
    return []


async def refuse(_deadline: Deadline) -> list[PassageHit]:
    raise EngineUnavailable("engine", "connection refused")


async def late(_deadline: Deadline) -> list[PassageHit]:
    raise EngineLate("engine")


def leg(search, name="lexical", milliseconds=1_000, breaker=None, shortfall=None) -> Leg:
    return Leg(name, "engine", 1.0, milliseconds, breaker or Breaker(5, 5.0), search, shortfall)


def run(*legs: Leg, within: float = 5_000):
    return asyncio.run(run_legs(legs, Deadline.after(within)))


def test_a_live_leg_answers() -> None:
    (result,) = run(leg(answer))
    assert result.is_live
    assert result.hits == (HIT,)


def test_a_leg_that_hangs_is_left_out_at_its_own_deadline() -> None:
    started = time.monotonic()
    slow, quick = run(leg(hang, milliseconds=50), leg(answer, "vector"))
    assert time.monotonic() - started < 2
    assert slow.failure == "no answer before its deadline"
    assert quick.is_live


def test_the_request_deadline_bounds_every_leg() -> None:
    started = time.monotonic()
    (slow,) = run(leg(hang, milliseconds=60_000), within=50)
    assert time.monotonic() - started < 2
    assert not slow.is_live


def test_a_leg_that_is_down_says_why_and_harms_no_other() -> None:
    runs = run(leg(refuse), leg(answer, "vector", shortfall="43 % indexed"))
    assert degraded(runs) == ["lexical: connection refused", "vector: 43 % indexed"]


def test_a_late_engine_is_a_late_leg() -> None:
    assert degraded(run(leg(late))) == ["lexical: no answer before its deadline"]


def test_a_leg_with_an_open_breaker_is_not_asked() -> None:
    asked = []

    async def count(deadline: Deadline) -> list[PassageHit]:
        asked.append(deadline)
        return []

    breaker = Breaker(failures=1, pause=60.0)
    breaker.failed()
    (result,) = run(leg(count, breaker=breaker))
    assert not asked
    assert result.failure == "left out after repeated failures"


def test_failures_of_a_leg_open_its_breaker() -> None:
    breaker = Breaker(failures=2, pause=60.0)
    run(leg(refuse, breaker=breaker))
    assert not breaker.is_open
    run(leg(refuse, breaker=breaker))
    assert breaker.is_open


def test_who_answers_first_does_not_matter() -> None:
    """Each leg waits for the one before it in the order given; the runs still come in the order of the legs."""
    for order in (("lexical", "vector"), ("vector", "lexical")):
        answered: list[str] = []

        async def story(order: tuple[str, str] = order, answered: list[str] = answered) -> list[str]:
            first_is_done = asyncio.Event()

            async def first(_deadline: Deadline) -> list[PassageHit]:
                answered.append(order[0])
                first_is_done.set()
                return [HIT]

            async def second(_deadline: Deadline) -> list[PassageHit]:
                await first_is_done.wait()
                answered.append(order[1])
                return [HIT]

            searches = dict(zip(order, (first, second), strict=True))
            runs = await run_legs([leg(searches[name], name) for name in ("lexical", "vector")], Deadline.after(5_000))
            return [run.leg.name for run in runs if run.is_live]

        assert asyncio.run(story()) == ["lexical", "vector"]
        assert answered == list(order)
