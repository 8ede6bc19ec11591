"""Filling the index of another model while the one that answers goes on answering.

Each model's vectors have an index of their own, so nothing is taken from anybody: whoever opens the service with this
model finds its index filled.
"""

import time
from collections.abc import AsyncIterator, Collection
from dataclasses import dataclass, field
from typing import Protocol

from service.domain.content import NodeRecord, Passage
from service.domain.graph import NodeIdentity
from service.domain.progress import Progress, silent
from service.domain.snapshots import Snapshot
from service.domain.upkeep import ReembedEstimate, ReembedResult
from service.publishing.vector_projection import VectorProjection


class RecordSource(Protocol):
    """The system of record, as far as it is read. A GraphStore is one."""

    async def snapshot(self) -> Snapshot: ...

    async def manifest(self, content_root: str | None = None) -> dict[NodeIdentity, str]: ...

    def records(self, hashes: Collection[str]) -> AsyncIterator[NodeRecord]: ...


@dataclass
class Reembedding:
    """One model's index, to be filled from the records."""

    source: RecordSource
    projection: VectorProjection
    _embedded: int = field(default=0, init=False)

    async def estimate(self, sample: int) -> ReembedEstimate:
        """Read at most `sample` texts that the model has not read, spread over all of them, and reckon from that."""
        snapshot, passages = await self._passages()
        missing = await self.projection.missing(passages, snapshot.generation)
        unread = self.projection.unread(missing)
        chosen = unread[:: max(1, -(-len(unread) // sample))]
        # A model's first text takes longer than its next ones.
        first, timed = chosen[:1], chosen[1:]
        self._embedded += await self.projection.read(first)
        started = time.perf_counter()
        self._embedded += await self.projection.read(timed)
        took = time.perf_counter() - started
        rate = len(timed) / took if timed else 0.0
        return ReembedEstimate(
            model=self.projection.embedder.model,
            passages=len(passages),
            missing=len(missing),
            texts=len(unread),
            sample=len(chosen),
            texts_a_second=rate,
            seconds=(len(unread) - len(chosen)) / rate if rate else 0.0,
        )

    async def run(self, progress: Progress = silent) -> ReembedResult:
        """Fill the index until it holds the snapshot that answers, also where publishes move that on meanwhile."""
        started = time.perf_counter()
        added = removed = 0
        while True:
            snapshot, passages = await self._passages()
            removed += await self.projection.remove_others(passages, snapshot.generation)
            missing = await self.projection.missing(passages, snapshot.generation)
            self._embedded += await self.projection.add(missing, snapshot.generation, progress)
            added += len(missing)
            if (await self.source.snapshot()).content_root == snapshot.content_root:
                break
        return ReembedResult(
            model=self.projection.embedder.model,
            content_root=snapshot.content_root,
            generation=snapshot.generation,
            passages=len(passages),
            added=added,
            removed=removed,
            embedded=self._embedded,
            seconds=time.perf_counter() - started,
        )

    async def _passages(self) -> tuple[Snapshot, list[Passage]]:
        """Of the snapshot that answers; one that is replaced while it is read is let go."""
        while True:
            snapshot = await self.source.snapshot()
            if not snapshot.content_root:
                return snapshot, []
            try:
                hashes = set((await self.source.manifest(snapshot.content_root)).values())
            except KeyError:
                continue
            records = [record async for record in self.source.records(hashes)]
            if len(records) == len(hashes):
                return snapshot, await self.projection.cut(records)
