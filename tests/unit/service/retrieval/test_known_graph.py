import asyncio
from typing import Any

import pytest

from cypher_guard import GuardedQuery
from service.domain.deadline import Deadline
from service.domain.errors import EngineUnavailable
from service.domain.snapshots import Snapshot
from service.ports import Rows
from service.retrieval.known_graph import KnownGraphReader, KnownSnapshots
from service.statements import ServiceStatement

FIRST, SECOND = Snapshot("first", 1), Snapshot("second", 2)
PAUSE = 5.0


class Store:
    """Names a snapshot, fails, or never answers."""

    def __init__(self) -> None:
        self.answer: Snapshot | Exception | None = FIRST
        self.asked = 0

    async def snapshot(self) -> Snapshot:
        self.asked += 1
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
    return KnownSnapshots(store, milliseconds=20, pause=PAUSE, clock=lambda: now[0])


@pytest.mark.parametrize("failure", [EngineUnavailable("graph", "gone"), None], ids=["refuses", "hangs"])
def test_the_last_snapshot_stands_in_until_the_store_names_another(failure: Exception | None) -> None:
    async def run() -> None:
        store, now = Store(), [0.0]
        snapshots = known(store, now)
        assert await snapshots.snapshot() == FIRST
        store.answer = failure
        assert await snapshots.snapshot() == FIRST
        assert snapshots.is_down
        asked = store.asked
        assert await snapshots.snapshot() == FIRST
        assert store.asked == asked, "it is left alone for a while"
        store.answer, now[0] = SECOND, PAUSE
        assert await snapshots.snapshot() == SECOND
        assert not snapshots.is_down

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
        now[0] = PAUSE
        assert (await reader.run(statement, deadline=Deadline.after(1_000))).rows == ((1,),)

    asyncio.run(run())
