"""How far one publish has come, written down where every process can read it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from service.domain.snapshots import PublishStep, SnapshotChange
from service.ports import GraphStore


@dataclass
class Journal:
    """One publish in the store's journal, with a sign of life while its steps take long."""

    store: GraphStore
    publish_id: str
    lease: int
    _step: PublishStep = PublishStep.BEGUN
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def reach(self, step: PublishStep) -> None:
        async with self._writing:
            await self.store.advance(self.publish_id, step)
            self._step = step

    async def commit(self, change: SnapshotChange) -> None:
        async with self._writing:
            await self.store.commit(change)
            self._step = PublishStep.COMMITTED

    @asynccontextmanager
    async def alive(self) -> AsyncIterator[None]:
        heart = asyncio.create_task(self._beat())
        try:
            yield
        finally:
            heart.cancel()
            await asyncio.gather(heart, return_exceptions=True)

    async def _beat(self) -> None:
        while True:
            await asyncio.sleep(self.lease / 4)
            async with self._writing:
                await self.store.advance(self.publish_id, self._step)
