"""GraphStore in the data folder: sqlite is the record, and each snapshot's graph lies beside it in a file."""

import asyncio
import contextlib
import sqlite3
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator
from functools import partial
from pathlib import Path

import kglite

from adapters.embedded.live_graph import LiveGraph
from adapters.embedded.projection import ENGINE, GraphProjection
from adapters.embedded.records import RecordStore
from adapters.embedded.threads import EngineThreads, engine_failure
from service.domain.content import NodeRecord
from service.domain.diagnostics import PublishDiagnostics
from service.domain.graph import NodeIdentity
from service.domain.snapshots import LinkedGraph, PublishEntry, PublishStep, Snapshot, SnapshotChange
from service.observation import Reading

Rebuild = Callable[[Iterable[NodeRecord]], LinkedGraph]

_ERRORS = (sqlite3.Error, kglite.KgError, OSError)

_RECORDS_AT_ONCE = 256


class EmbeddedGraphStore:
    """The next graph is built and saved beside the current one; one sqlite transaction is the flip.

    Killed before it, the old snapshot is current and the new file is swept away; killed after it, the new one is
    current and its file is there, or is built again from the records.
    """

    def __init__(self, folder: Path, records: RecordStore, live: LiveGraph, *, waiting: int) -> None:
        self._folder = folder
        self._records = records
        self._live = live
        # sqlite has one writer, and a commit must not meet another half way: one thread does it all.
        self._threads = EngineThreads(ENGINE, workers=1, waiting=waiting, is_own=_is_own)

    @classmethod
    def open(cls, folder: Path, *, rebuild: Rebuild, waiting: int = 64) -> "EmbeddedGraphStore":
        """Open the store in `folder`, making it where there is none.

        rebuild: links records to a graph, for a snapshot whose file is missing or broken. Raises EngineUnavailable or
        DataFolderUnwritable.
        """
        try:
            folder.mkdir(parents=True, exist_ok=True)
            records = RecordStore.open(folder / "records.sqlite")
            snapshot, publish_id = records.current()
            projection = _load_or_rebuild(folder, records, snapshot, publish_id, rebuild)
            _sweep(folder, snapshot.generation)
        except _ERRORS as error:
            raise engine_failure(ENGINE, error) from error
        return cls(folder, records, LiveGraph.prepared(snapshot, projection), waiting=waiting)

    @property
    def live(self) -> LiveGraph:
        """What readers read now."""
        return self._live

    async def snapshot(self) -> Snapshot:
        return self._live.snapshot

    async def manifest(self, content_root: str | None = None) -> dict[NodeIdentity, str]:
        root = self._live.snapshot.content_root if content_root is None else content_root
        manifest = await self._threads.run(lambda: self._records.manifest(root))
        if manifest is None:
            if content_root is None:
                return {}
            raise KeyError(content_root)
        return manifest

    async def records(self, hashes: Collection[str]) -> AsyncIterator[NodeRecord]:
        wanted = list(hashes)
        for start in range(0, len(wanted), _RECORDS_AT_ONCE):
            batch = wanted[start : start + _RECORDS_AT_ONCE]
            for record in await self._threads.run(partial(self._records.records, batch)):
                yield record

    async def roots(self) -> list[Snapshot]:
        return await self._threads.run(self._records.roots)

    async def unfinished(self) -> PublishEntry | None:
        return await self._threads.run(self._records.unfinished)

    async def begin(self, entry: PublishEntry) -> None:
        await self._threads.run(lambda: self._records.begin(entry))

    async def advance(self, publish_id: str, step: PublishStep) -> None:
        await self._threads.run(lambda: self._records.advance(publish_id, step))

    async def commit(self, change: SnapshotChange) -> None:
        await self._threads.run(lambda: self._commit(change))

    async def restore(self, graph: LinkedGraph) -> None:
        await self._threads.run(lambda: self._restore(graph))

    async def abandon(self, publish_id: str) -> None:
        await self._threads.run(lambda: self._records.abandon(publish_id))

    async def keep(self, roots: int) -> None:
        await self._threads.run(lambda: self._records.keep(roots))

    def readings(self) -> Iterator[Reading]:
        """How long its queue is."""
        yield from self._threads.readings("writing")

    async def keep_diagnostics(self, diagnostics: PublishDiagnostics) -> None:
        await self._threads.run(lambda: self._records.keep_diagnostics(diagnostics))

    async def diagnostics(self) -> PublishDiagnostics | None:
        return await self._threads.run(self._records.diagnostics)

    async def close(self) -> None:
        await self._threads.close()
        await asyncio.to_thread(self._live.close)
        self._records.close()

    def _commit(self, change: SnapshotChange) -> None:
        file = _file(self._folder, change.snapshot.generation)
        projection = self._live.projection.changed(change.graph, change.entry.publish_id)
        try:
            projection.save(file)
            self._records.commit(change.entry, change.snapshot, change.manifest, change.records)
        except BaseException:
            with contextlib.suppress(OSError):
                file.unlink(missing_ok=True)
            raise
        self._answer_with(change.snapshot, projection)
        _sweep(self._folder, change.snapshot.generation)

    def _restore(self, graph: LinkedGraph) -> None:
        snapshot, publish_id = self._records.current()
        projection = GraphProjection.build(graph, publish_id)
        projection.save(_file(self._folder, snapshot.generation))
        self._answer_with(snapshot, projection)

    def _answer_with(self, snapshot: Snapshot, projection: GraphProjection) -> None:
        before = self._live
        self._live = LiveGraph.prepared(snapshot, projection, before if projection.keeps_names else None)
        before.close()


def _is_own(error: Exception) -> bool:
    return isinstance(error, _ERRORS)


def _load_or_rebuild(
    folder: Path, records: RecordStore, snapshot: Snapshot, publish_id: str, rebuild: Rebuild
) -> GraphProjection:
    file = _file(folder, snapshot.generation)
    with contextlib.suppress(kglite.KgError, OSError, ValueError):
        return GraphProjection.load(file)
    projection = GraphProjection.build(rebuild(records.records_of(snapshot.content_root)), publish_id)
    if snapshot.generation:
        projection.save(file)
    return projection


def _file(folder: Path, generation: int) -> Path:
    return folder / f"graph-{generation}.kgl"


def _sweep(folder: Path, generation: int) -> None:
    """Take away every graph but the current one, and what a killed save left half written."""
    for stale in folder.glob("graph-*"):
        if stale != _file(folder, generation):
            with contextlib.suppress(OSError):
                stale.unlink()
