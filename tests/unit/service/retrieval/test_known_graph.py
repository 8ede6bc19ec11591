import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from typing import Any

import pytest

from cypher_guard import GuardedQuery
from service.domain.deadline import Deadline
from service.domain.errors import EngineLate, EngineUnavailable
from service.domain.snapshots import Snapshot
from service.ports import Rows
from service.retrieval.known_graph import KnownGraphReader, KnownSnapshots
from service.statements import ServiceStatement

FIRST, SECOND = Snapshot("first", 1), Snapshot("second", 2)
PAUSE = 5.0
WAIT_MS = 20
FIRST_PAUSE = WAIT_MS / 1000


class Store:
    """Names a snapshot, fails, or never answers."""

    def __init__(self) -> None:
        self.answer: Snapshot | Exception | None = FIRST
        self.asked = 0
        self.takes = 0.0

    async def snapshot(self) -> Snapshot:
        self.asked += 1
        await asyncio.sleep(self.takes)
        if self.answer is None:
            await asyncio.Event().wait()
        if isinstance(self.answer, Exception):
            raise self.answer
        assert self.answer is not None
        return self.answer


class Reader:
    engine = "graph"

    async def run(self, query: GuardedQuery | ServiceStatement, *, deadline: Deadline) -> Rows:
        return Rows(("n",), ((1,),))

    async def check(self, deadline: Deadline) -> None: ...

    async def close(self) -> None: ...


def known(store: Any, now: list[float]) -> KnownSnapshots:
    return KnownSnapshots(store, "graph", milliseconds=WAIT_MS, pause=PAUSE, clock=lambda: now[0])


@pytest.mark.parametrize("failure", [EngineUnavailable("graph", "gone"), None], ids=["refuses", "hangs"])
def test_the_last_snapshot_stands_in_until_the_store_names_another(failure: Exception | None) -> None:
    async def run() -> None:
        store, now = Store(), [0.0]
        snapshots = known(store, now)
        said = await snapshots.snapshot()
        assert (said, said.notes) == (FIRST, [])
        store.answer = failure
        reason = "gone" if failure else "no answer before the deadline"
        asked = store.asked
        for _ in range(2):
            remembered = await snapshots.snapshot()
            assert remembered == FIRST
            assert remembered.notes == [f"graph: {reason}; this is of the snapshot that it named last"]
            assert snapshots.is_down
        assert store.asked == asked + 1, "it is left alone for a while"
        store.answer, now[0] = SECOND, PAUSE
        said = await snapshots.snapshot()
        assert (said, said.notes) == (SECOND, [])
        assert not snapshots.is_down

    asyncio.run(run())


def test_a_graph_that_stays_away_is_asked_less_and_less() -> None:
    async def run() -> None:
        store, now = Store(), [0.0]
        snapshots = known(store, now)
        await snapshots.snapshot()
        store.answer = EngineUnavailable("graph", "gone")
        pauses = []
        for _ in range(12):
            await asyncio.gather(*(snapshots.snapshot() for _ in range(3)))
            asked, began = store.asked, now[0]
            while store.asked == asked:
                now[0] += FIRST_PAUSE / 4
                await snapshots.snapshot()
            pauses.append(now[0] - began)
        doubled = [min(PAUSE, FIRST_PAUSE * 2**number) for number in range(12)]
        assert pauses == pytest.approx(doubled, abs=FIRST_PAUSE / 2)
        now[0] += PAUSE
        store.answer = SECOND
        await snapshots.snapshot()
        store.answer = EngineUnavailable("graph", "gone again")
        await snapshots.snapshot()
        now[0], asked = now[0] + FIRST_PAUSE, store.asked
        await snapshots.snapshot()
        assert store.asked == asked + 1, "what is over is forgotten"

    asyncio.run(run())


def test_after_the_pause_one_asks_and_the_others_do_not_wait_for_it() -> None:
    async def run() -> None:
        store, now = Store(), [0.0]
        snapshots = known(store, now)
        await snapshots.snapshot()
        store.answer = None
        await snapshots.snapshot()
        now[0], asked = PAUSE, store.asked
        asking = asyncio.create_task(snapshots.snapshot())
        await asyncio.sleep(0)
        others = [await snapshots.snapshot() for _ in range(3)]
        assert not asking.done()
        await asyncio.sleep(0)
        assert store.asked == asked + 1
        assert all(other.notes for other in [*others, await asking])

    asyncio.run(run())


def test_an_engine_that_starts_slowly_is_up_as_soon_as_it_answers() -> None:
    async def run() -> None:
        store, now = Store(), [0.0]
        snapshots = known(store, now)
        await snapshots.snapshot()
        store.answer = EngineUnavailable("graph", "gone")
        await snapshots.snapshot()
        now[0], store.answer, store.takes = PAUSE, SECOND, 4 * WAIT_MS / 1000
        assert (await snapshots.snapshot()).notes, "nobody waits for it longer than for any answer"
        await asyncio.sleep(2 * store.takes)
        assert not snapshots.is_down
        store.takes = 0.0
        assert (await snapshots.snapshot()).notes == []

    asyncio.run(run())


def test_an_answer_that_is_not_confirmed_is_stored_as_any() -> None:
    assert Snapshot(**replace(FIRST, publishing=True, unconfirmed="gone").as_json()) == FIRST


async def _records(failing: bool) -> AsyncIterator[str]:
    yield "first"
    if failing:
        await asyncio.Event().wait()


@pytest.mark.parametrize("failing", [False, True])
def test_records_that_do_not_come_are_waited_for_until_the_deadline(failing: bool) -> None:
    async def run() -> None:
        store = Store()
        store.records = lambda _hashes: _records(failing)  # type: ignore[attr-defined]
        found = known(store, [0.0]).records(["a", "b"], deadline=Deadline.after(50))
        assert await anext(found) == "first"
        with pytest.raises(EngineLate if failing else StopAsyncIteration):
            await anext(found)

    asyncio.run(run())


def test_with_nothing_to_stand_in_the_failure_is_told_each_time() -> None:
    async def run() -> None:
        store = Store()
        store.answer = EngineUnavailable("graph", "gone")
        snapshots = known(store, [0.0])
        for _ in range(2):
            with pytest.raises(EngineUnavailable, match="gone"):
                await snapshots.snapshot()

    asyncio.run(run())


def test_a_reader_does_not_wait_for_a_graph_that_is_known_to_be_down() -> None:
    async def run() -> None:
        store, now = Store(), [0.0]
        snapshots = known(store, now)
        reader = KnownGraphReader(Reader(), snapshots)
        statement = ServiceStatement("any", "RETURN 1", {})
        await snapshots.snapshot()
        assert (await reader.run(statement, deadline=Deadline.after(1_000))).rows == ((1,),)
        store.answer = EngineUnavailable("graph", "gone")
        await snapshots.snapshot()
        with pytest.raises(EngineUnavailable, match="asked again in a moment"):
            await reader.run(statement, deadline=Deadline.after(1_000))
        now[0], store.answer = PAUSE, SECOND
        await snapshots.snapshot()
        assert (await reader.run(statement, deadline=Deadline.after(1_000))).rows == ((1,),)

    asyncio.run(run())
