"""What a service keeps of its own beside the estate: keys, audit log, what people judged and tuned."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from pathlib import Path

from adapters.embedded.audit_log import JsonLinesAuditLog
from adapters.embedded.data_folder import DataFolder
from adapters.embedded.judgments import JudgmentFolder
from adapters.embedded.key_store import SqliteKeyStore
from adapters.embedded.tuning_store import SqliteTuningStore
from service.bootstrap.clients import open_neo4j
from service.ports import AuditLog, Judgments, KeyStore, TuningStore
from service.settings import Settings


@asynccontextmanager
async def open_keys(settings: Settings, data: Path) -> AsyncIterator[KeyStore]:
    """API keys: in Neo4j where the settings name one, so that every server knows the same; else in the data folder,
    whoever owns it. Raises DataFolderUnwritable, DataFolderVersionUnknown or EngineUnavailable.
    """
    async with AsyncExitStack() as opened:
        if settings.neo4j_url:
            from adapters.neo4j.key_store import Neo4jKeyStore

            yield Neo4jKeyStore(open_neo4j(settings, opened))
            return
        folder = await asyncio.to_thread(DataFolder.share, data)
        store = await asyncio.to_thread(SqliteKeyStore.open, folder.keys, waiting=settings.embedded_waiting)
        opened.push_async_callback(store.close)
        yield store


async def open_tunings(settings: Settings, folder: DataFolder, opened: AsyncExitStack) -> TuningStore:
    """Pinned results and synonyms, where the keys are: every server ranks by the same. Raises what `open_keys` does."""
    if settings.neo4j_url:
        from adapters.neo4j.tuning_store import Neo4jTuningStore

        return Neo4jTuningStore(open_neo4j(settings, opened))
    store = await asyncio.to_thread(SqliteTuningStore.open, folder.tuning, waiting=settings.embedded_waiting)
    opened.push_async_callback(store.close)
    return store


@contextmanager
def open_audit_log(settings: Settings, data: Path) -> Iterator[AuditLog]:
    """The audit log of this machine, which several processes may write. Raises DataFolderUnwritable."""
    folder = DataFolder.share(data)
    log = JsonLinesAuditLog.open(folder.audit, file_bytes=settings.audit_bytes, files=settings.audit_files)
    try:
        yield log
    finally:
        log.close()


def open_judgments(settings: Settings, data: Path) -> Judgments:
    """What people judged on this machine, in a folder that `evaluate` reads. Raises DataFolderUnwritable."""
    return JudgmentFolder(DataFolder.share(data).judgments, settings.judgments_kept)
