import asyncio
import gc
from collections.abc import Awaitable, Callable

import pytest

from service.domain.deadline import Deadline
from service.domain.errors import EngineLate
from service.retrieval.computations import Computations


def soon() -> Deadline:
    return Deadline.after(10_000)


class Work:
    """Counts how often a value was computed; each waits for its gate."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.gates: dict[str, asyncio.Event] = {}

    def of(self, key: str) -> Callable[[], Awaitable[str]]:
        async def compute() -> str:
            self.started.append(key)
            if key in self.gates:
                await self.gates[key].wait()
            return key.upper()

        return compute


def test_a_value_is_computed_once_and_kept() -> None:
    async def run() -> list[str]:
        work, kept = Work(), Computations[str, str]("test", 2)
        assert await asyncio.gather(*(kept.get("a", work.of("a"), soon()) for _ in range(3))) == ["A"] * 3
        assert await kept.get("a", work.of("a"), soon()) == "A"
        return work.started

    assert asyncio.run(run()) == ["a"]


def test_with_no_room_every_value_is_computed_anew() -> None:
    async def run() -> list[str]:
        work, kept = Work(), Computations[str, str]("test", 0)
        for _ in range(2):
            assert await kept.get("a", work.of("a"), soon()) == "A"
        return work.started

    assert asyncio.run(run()) == ["a", "a"]


def test_the_one_unused_longest_gives_way() -> None:
    async def run() -> list[str]:
        work, kept = Work(), Computations[str, str]("test", 2)
        for key in "abacb":
            await kept.get(key, work.of(key), soon())
        return work.started

    assert asyncio.run(run()) == ["a", "b", "c", "b"]


def test_who_waits_for_work_that_gave_way_is_told_and_not_cancelled() -> None:
    async def run() -> None:
        work, kept = Work(), Computations[str, str]("test", 1)
        work.gates = {"a": asyncio.Event(), "b": asyncio.Event()}
        waiting = asyncio.create_task(kept.get("a", work.of("a"), soon()))
        await asyncio.sleep(0)
        other = asyncio.create_task(kept.get("b", work.of("b"), soon()))
        with pytest.raises(EngineLate):
            await waiting
        work.gates["b"].set()
        assert await other == "B"

    asyncio.run(run())


def test_work_that_is_late_is_there_for_the_next_one() -> None:
    async def run() -> list[str]:
        work, kept = Work(), Computations[str, str]("test", 1)
        work.gates = {"a": asyncio.Event()}
        with pytest.raises(EngineLate):
            await kept.get("a", work.of("a"), Deadline.after(1))
        work.gates["a"].set()
        assert await kept.get("a", work.of("a"), soon()) == "A"
        return work.started

    assert asyncio.run(run()) == ["a"]


def test_a_failure_is_raised_and_tried_again() -> None:
    async def run() -> str:
        kept = Computations[str, str]("test", 1)

        async def fails() -> str:
            raise ValueError("broken")

        with pytest.raises(ValueError, match="broken"):
            await kept.get("a", fails, soon())
        return await kept.get("a", Work().of("a"), soon())

    assert asyncio.run(run()) == "A"


def test_what_was_begun_is_there_for_who_comes_later() -> None:
    async def run() -> tuple[list[str], int, int]:
        work, kept = Work(), Computations[str, str]("test", 2)
        kept.begin("a", work.of("a"))
        kept.begin("a", work.of("a"))
        await asyncio.sleep(0)
        assert await kept.get("a", work.of("a"), Deadline.after(0)) == "A"
        return work.started, kept.lookups.found, kept.lookups.missed

    assert asyncio.run(run()) == (["a"], 1, 0)


def test_what_was_begun_and_failed_is_tried_again_and_nobody_hears_of_it() -> None:
    async def fail() -> str:
        raise EngineLate("test")

    async def run() -> list[object]:
        heard: list[object] = []
        asyncio.get_running_loop().set_exception_handler(lambda _, context: heard.append(context))
        work, kept = Work(), Computations[str, str]("test", 2)
        kept.begin("a", fail)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        assert await kept.get("a", work.of("a"), soon()) == "A"
        gc.collect()
        return heard

    assert asyncio.run(run()) == []
