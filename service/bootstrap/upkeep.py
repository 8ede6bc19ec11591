"""Backup, restore, and the index of another model."""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

from adapters.embedded import backup
from adapters.embedded.data_folder import DataFolder
from adapters.embedded.embedding_cache import SqliteEmbeddingCache
from adapters.embedded.record_source import SharedRecords
from service.bootstrap.engines import open_embedder, open_graph, open_vectors
from service.bootstrap.stores import open_stores
from service.domain.errors import BackupImpossible
from service.domain.progress import Progress, silent
from service.domain.results import DoctorResult
from service.domain.upkeep import BackupResult
from service.publishing.reembedding import RecordSource, Reembedding
from service.publishing.vector_projection import VectorProjection
from service.settings import Settings


async def back_up(settings: Settings, data: Path, file: Path) -> BackupResult:
    """Write the data folder's records and vectors into a file, whoever owns the folder and whatever it does meanwhile.
    Raises BackupImpossible, EngineUnavailable or DataFolderUnwritable."""
    _require_own_records(settings)
    started = time.perf_counter()
    written = await asyncio.to_thread(backup.write, data, file)
    return BackupResult(
        file=str(file),
        content_root=written.content_root,
        generation=written.generation,
        nodes=written.nodes,
        size=sum(size for size, _ in written.parts.values()),
        seconds=time.perf_counter() - started,
    )


async def restore(settings: Settings, data: Path, file: Path, progress: Progress = silent) -> DoctorResult:
    """Make a new data folder of a backup, fill its engines, and examine them. Raises BackupImpossible, BackupInvalid,
    DataFolderUsed, EngineUnavailable or DataFolderUnwritable."""
    _require_own_records(settings)
    await asyncio.to_thread(backup.place, file, data)
    async with open_stores(settings, data) as owned:
        await owned.toolbox.publisher.recover(progress)
        return await owned.toolbox.doctor(repair=False, progress=progress)


def _require_own_records(settings: Settings) -> None:
    if settings.neo4j_url:
        raise BackupImpossible(
            "The records are in Neo4j: back it up and restore it by its own means, then run doctor --repair."
        )


@asynccontextmanager
async def open_reembedding(settings: Settings, data: Path) -> AsyncIterator[Reembedding]:
    """The index of the settings' model, to be filled beside the one that answers, whoever owns the data folder.

    Raises EngineUnavailable, also where the folder's owner answers with this very model.
    """
    async with AsyncExitStack() as opened:
        folder = opened.enter_context(await asyncio.to_thread(DataFolder.share, data))
        embedder = await open_embedder(settings)
        opened.push_async_callback(embedder.close)
        source: RecordSource
        if settings.neo4j_url:
            source = (await open_graph(settings, folder, opened)).store
        else:
            source = records = await asyncio.to_thread(SharedRecords.open, folder.graph)
            opened.push_async_callback(records.close)
        vectors = await open_vectors(settings, folder, embedder, opened)
        if vectors.migrator is not None:
            await vectors.migrator.apply()
        cache = SqliteEmbeddingCache.open(folder.embeddings, kept=settings.embedding_cache)
        opened.callback(cache.close)
        yield Reembedding(source, VectorProjection(vectors.index, embedder, cache, settings))
