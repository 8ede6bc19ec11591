"""The graph as searches see it: what it last said of its snapshot counts until it says something else.

A request asks for the snapshot first. While the graph doesn't answer that, nobody waits for it elsewhere either: hits
are served unverified from the last snapshot that was known.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection
from dataclasses import dataclass, field
from typing import Protocol

from cypher_guard import GuardedQuery
from service.domain.content import NodeRecord
from service.domain.deadline import Deadline
from service.domain.errors import EngineLate, EngineUnavailable
from service.domain.snapshots import Snapshot
from service.ports import GraphReader, GraphStore, Rows
from service.statements import ServiceStatement


class PublishedSnapshots(Protocol):
    """What reading needs of the system of record."""

    async def snapshot(self) -> Snapshot: ...

    async def roots(self) -> list[Snapshot]: ...

    def records(self, hashes: Collection[str]) -> AsyncIterator[NodeRecord]: ...


@dataclass
class KnownSnapshots:
    """The store's snapshots, for readers. Publishers need the store's own word, and ask it.

    milliseconds: how long the store may take to name its snapshot; pause: seconds for which it is not asked again
    after a failure.
    """

    store: GraphStore
    milliseconds: int
    pause: float
    clock: Callable[[], float] = time.monotonic
    _known: Snapshot | None = field(default=None, init=False)
    _down_until: float = field(default=0.0, init=False)

    @property
    def is_down(self) -> bool:
        return self.clock() < self._down_until

    async def snapshot(self) -> Snapshot:
        """Raises EngineUnavailable while the store has never named one."""
        if self.is_down and self._known is not None:
            return self._known
        try:
            async with asyncio.timeout(self.milliseconds / 1000):
                self._known = await self.store.snapshot()
        except (TimeoutError, EngineUnavailable) as error:
            self._down_until = self.clock() + self.pause
            if self._known is None:
                raise error if isinstance(error, EngineUnavailable) else EngineLate("graph") from None
            return self._known
        self._down_until = 0.0
        return self._known

    async def roots(self) -> list[Snapshot]:
        return await self.store.roots()

    def records(self, hashes: Collection[str]) -> AsyncIterator[NodeRecord]:
        return self.store.records(hashes)


@dataclass(frozen=True)
class KnownGraphReader:
    """GraphReader that refuses at once while the graph is known to be down."""

    reader: GraphReader
    snapshots: KnownSnapshots

    @property
    def engine(self) -> str:
        return self.reader.engine

    async def run(self, query: GuardedQuery | ServiceStatement, *, deadline: Deadline) -> Rows:
        if self.snapshots.is_down:
            raise EngineUnavailable(self.engine, "it did not answer just now, and is asked again in a moment")
        return await self.reader.run(query, deadline=deadline)

    async def check(self, deadline: Deadline) -> None:
        """Asks in any case: readiness is the engine's own word."""
        await self.reader.check(deadline)

    async def close(self) -> None:
        await self.reader.close()
