"""The records of a data folder that another process may own: read one moment after another, and never changed."""

import sqlite3
from collections.abc import AsyncIterator, Collection
from functools import partial
from pathlib import Path

from adapters.embedded.projection import ENGINE
from adapters.embedded.records import RecordStore
from adapters.embedded.threads import EngineThreads, engine_failure
from service.domain.content import NodeRecord
from service.domain.graph import NodeIdentity
from service.domain.snapshots import Snapshot

_RECORDS_AT_ONCE = 256


class SharedRecords:
    """Fulfils RecordSource of `service.publishing.reembedding`."""

    def __init__(self, records: RecordStore) -> None:
        self._records = records
        self._threads = EngineThreads(
            ENGINE, workers=1, waiting=1, is_own=lambda error: isinstance(error, sqlite3.Error)
        )

    @classmethod
    def open(cls, folder: Path) -> "SharedRecords":
        """Raises EngineUnavailable or DataFolderUnwritable."""
        try:
            folder.mkdir(parents=True, exist_ok=True)
            return cls(RecordStore.open(folder / "records.sqlite"))
        except (sqlite3.Error, OSError) as error:
            raise engine_failure(ENGINE, error) from error

    async def snapshot(self) -> Snapshot:
        return (await self._threads.run(self._records.current))[0]

    async def manifest(self, content_root: str | None = None) -> dict[NodeIdentity, str]:
        root = (await self.snapshot()).content_root if content_root is None else content_root
        manifest = await self._threads.run(lambda: self._records.manifest(root))
        if manifest is None:
            raise KeyError(root)
        return manifest

    async def records(self, hashes: Collection[str]) -> AsyncIterator[NodeRecord]:
        wanted = list(hashes)
        for start in range(0, len(wanted), _RECORDS_AT_ONCE):
            batch = wanted[start : start + _RECORDS_AT_ONCE]
            for record in await self._threads.run(partial(self._records.records, batch)):
                yield record

    async def close(self) -> None:
        await self._threads.close()
        self._records.close()
