"""KeyStore in one sqlite file, which the server and the command line may have open at once."""

import os
import sqlite3
import threading
from collections.abc import Callable, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from adapters.embedded.sqlite_file import open_file
from adapters.embedded.threads import EngineThreads, engine_failure
from service.domain.deadline import Deadline
from service.domain.keys import ApiKey, key_from_json, key_to_json

ENGINE = "key store"

Answer = TypeVar("Answer")

_TABLE = """
CREATE TABLE IF NOT EXISTS api_key (id TEXT PRIMARY KEY, body TEXT NOT NULL, revoked_at TEXT, last_used_at TEXT)
"""
_COLUMNS = "SELECT id, body, revoked_at, last_used_at FROM api_key"


class SqliteKeyStore:
    """Fulfils KeyStore. One thread: a look-up takes some 20 µs."""

    def __init__(self, connection: sqlite3.Connection, waiting: int) -> None:
        self._connection = connection
        self._threads = EngineThreads(
            ENGINE, workers=1, waiting=waiting, is_own=lambda error: isinstance(error, sqlite3.Error)
        )
        self._using = threading.Lock()

    @classmethod
    def open(cls, file: Path, *, waiting: int = 64) -> "SqliteKeyStore":
        """Readable by its owner alone. Raises DataFolderUnwritable or EngineUnavailable: keys are not begun anew."""
        try:
            os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
            return cls(open_file(file, _TABLE, synchronous="FULL"), waiting)
        except (sqlite3.Error, OSError) as error:
            raise engine_failure(ENGINE, error) from error

    async def add(self, key: ApiKey, *, deadline: Deadline) -> None:
        await self._change("INSERT INTO api_key VALUES (?, ?, NULL, NULL)", [key.id, key_to_json(key)], deadline)

    async def find(self, id: str, *, deadline: Deadline) -> ApiKey | None:
        rows = await self._read(f"{_COLUMNS} WHERE id = ?", [id], deadline)
        return key_from_json(*rows[0]) if rows else None

    async def all(self, *, deadline: Deadline) -> list[ApiKey]:
        return [key_from_json(*row) for row in await self._read(f"{_COLUMNS} ORDER BY rowid", [], deadline)]

    async def revoke(self, id: str, at: datetime, *, deadline: Deadline) -> bool:
        statement = "UPDATE api_key SET revoked_at = coalesce(revoked_at, ?) WHERE id = ?"
        return await self._change(statement, [at.isoformat(), id], deadline) > 0

    async def used(self, id: str, at: datetime, *, deadline: Deadline) -> None:
        await self._change("UPDATE api_key SET last_used_at = ? WHERE id = ?", [at.isoformat(), id], deadline)

    async def close(self) -> None:
        await self._threads.close()
        self._connection.close()

    async def _read(self, statement: str, values: Sequence[str], deadline: Deadline) -> list[Any]:
        return await self._run(lambda: self._connection.execute(statement, values).fetchall(), deadline)

    async def _change(self, statement: str, values: Sequence[str], deadline: Deadline) -> int:
        """How many rows changed."""
        return await self._run(lambda: self._connection.execute(statement, values).rowcount, deadline)

    async def _run(self, work: Callable[[], Answer], deadline: Deadline) -> Answer:
        def alone() -> Answer:
            with self._using:
                return work()

        return await self._threads.run(alone, deadline)
