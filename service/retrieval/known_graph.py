"""The graph as searches see it: what it last said of its snapshot counts until it says something else.

A request asks for the snapshot first. While the graph doesn't answer that, nobody waits for it elsewhere either: what
is remembered of the last snapshot that it named is served, and every answer says so.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
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

    def records(self, hashes: Collection[str], *, deadline: Deadline) -> AsyncIterator[NodeRecord]: ...


@dataclass
class KnownSnapshots:
    """The store's snapshots, for readers. Publishers need the store's own word, and ask it.

    engine: what the store is called where it fails; milliseconds: how long it may take to name its snapshot; pause:
    most seconds for which it is not asked again after a failure. After the first it is left alone for as long as it
    may take, so that a moment's hitch refuses nobody for long, and after each further one for twice as long.
    """

    store: GraphStore
    engine: str
    milliseconds: int
    pause: float
    clock: Callable[[], float] = time.monotonic
    _known: Snapshot | None = field(default=None, init=False)
    _failure: str = field(default="", init=False)
    _left_alone: float = field(default=0.0, init=False)
    _down_until: float = field(default=0.0, init=False)
    _attempt: "asyncio.Task[None] | None" = field(default=None, init=False)

    @property
    def is_down(self) -> bool:
        return bool(self._failure)

    async def snapshot(self) -> Snapshot:
        """The store's own word, or its last one, `unconfirmed`. Raises EngineUnavailable while it never gave one."""
        if self.is_down and self._known is not None:
            if self.clock() >= self._down_until and (self._attempt is None or self._attempt.done()):
                # One waits for it; the others go on with what is known.
                self._attempt = asyncio.create_task(self._try_again())
                await asyncio.wait({self._attempt}, timeout=self.milliseconds / 1000)
                if not self.is_down:
                    self._left_alone = 0.0
            return replace(self._known, unconfirmed=self._failure)
        try:
            known = await self._ask(self.milliseconds / 1000)
        except EngineUnavailable as error:
            if not self.is_down:  # what many wait for at once fails them all once
                self._fail(error)
            if self._known is None:
                raise
            return replace(self._known, unconfirmed=self._failure)
        self._failure, self._left_alone = "", 0.0
        return known

    async def _try_again(self) -> None:
        """More patiently than any caller: an engine that has just started takes its time with the first answers."""
        try:
            await self._ask(max(self.pause, self.milliseconds / 1000))
        except EngineUnavailable as error:
            self._fail(error)
        else:
            # For how long it was left alone is forgotten only once it answers a caller in time.
            self._failure = ""

    async def _ask(self, seconds: float) -> Snapshot:
        with _one_deadline(self.engine):
            async with asyncio.timeout(seconds):
                known = await self.store.snapshot()
        self._known = known
        return known

    def _fail(self, error: EngineUnavailable) -> None:
        self._failure = error.reason
        self._left_alone = min(self.pause, max(2 * self._left_alone, self.milliseconds / 1000))
        self._down_until = self.clock() + self._left_alone

    async def roots(self) -> list[Snapshot]:
        """Raises EngineUnavailable, at once where the store did not answer just now."""
        if self.is_down:
            raise EngineUnavailable(self.engine, self._failure)
        return await self.store.roots()

    async def records(self, hashes: Collection[str], *, deadline: Deadline) -> AsyncIterator[NodeRecord]:
        """Raises EngineLate."""
        found = self.store.records(hashes)
        while True:
            with _one_deadline(self.engine):
                async with asyncio.timeout(deadline.seconds_left):
                    record = await anext(found, None)
            if record is None:
                return
            yield record


@contextmanager
def _one_deadline(engine: str) -> Iterator[None]:
    """Whoever's clock runs out, it is the engine that is late."""
    try:
        yield
    except TimeoutError:
        raise EngineLate(engine) from None


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
