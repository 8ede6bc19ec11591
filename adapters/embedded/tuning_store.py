"""TuningStore in one sqlite file, which the server and the command line may have open at once."""

import os
import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from adapters.embedded.sqlite_file import open_file, transaction
from adapters.embedded.threads import EngineThreads, engine_failure
from service.domain.deadline import Deadline
from service.domain.errors import TuningChanged
from service.domain.tuning import TuningResult, TuningVersion

ENGINE = "tuning store"

Answer = TypeVar("Answer")

TABLES = """
CREATE TABLE IF NOT EXISTS tuning (
    workspace TEXT NOT NULL, version INTEGER NOT NULL, about TEXT NOT NULL, body TEXT NOT NULL,
    PRIMARY KEY (workspace, version)
)
"""
_NEWEST = "SELECT coalesce(max(version), 0) FROM tuning WHERE workspace = ?"


class SqliteTuningStore:
    """Fulfils TuningStore. One thread: a look-up takes well under a millisecond."""

    def __init__(self, connection: sqlite3.Connection, waiting: int) -> None:
        self._connection = connection
        self._threads = EngineThreads(
            ENGINE, workers=1, waiting=waiting, is_own=lambda error: isinstance(error, sqlite3.Error)
        )
        self._using = threading.Lock()

    @classmethod
    def open(cls, file: Path, *, waiting: int = 64) -> "SqliteTuningStore":
        """Readable by its owner alone. Raises DataFolderUnwritable or EngineUnavailable: it is not begun anew."""
        try:
            os.close(os.open(file, os.O_RDWR | os.O_CREAT, 0o600))
            return cls(open_file(file, TABLES, synchronous="FULL"), waiting)
        except (sqlite3.Error, OSError) as error:
            raise engine_failure(ENGINE, error) from error

    async def newest(self, workspace: str, *, deadline: Deadline) -> int:
        return await self._run(lambda: self._newest(workspace), deadline)

    async def find(self, workspace: str, version: int | None = None, *, deadline: Deadline) -> TuningResult | None:
        def work() -> TuningResult | None:
            number = self._newest(workspace) if version is None else version
            if number == 0:
                return TuningResult(workspace=workspace)
            statement = "SELECT body FROM tuning WHERE workspace = ? AND version = ?"
            row = self._connection.execute(statement, [workspace, number]).fetchone()
            return None if row is None else TuningResult.model_validate_json(row[0])

        return await self._run(work, deadline)

    async def history(self, workspace: str, *, limit: int, deadline: Deadline) -> list[TuningVersion]:
        def work() -> list[TuningVersion]:
            statement = "SELECT about FROM tuning WHERE workspace = ? ORDER BY version DESC LIMIT ?"
            rows = self._connection.execute(statement, [workspace, limit])
            return [TuningVersion.model_validate_json(about) for (about,) in rows]

        return await self._run(work, deadline)

    async def workspaces(self, *, deadline: Deadline) -> list[TuningVersion]:
        def work() -> list[TuningVersion]:
            rows = self._connection.execute(
                "SELECT about, max(version) FROM tuning GROUP BY workspace ORDER BY workspace"
            )
            return [TuningVersion.model_validate_json(about) for about, _ in rows]

        return await self._run(work, deadline)

    async def append(self, tuning: TuningResult, *, kept: int, deadline: Deadline) -> None:
        row = [tuning.workspace, tuning.version, tuning.about.model_dump_json(), tuning.model_dump_json()]

        def work() -> None:
            with transaction(self._connection):
                current = self._newest(tuning.workspace)
                if tuning.version != current + 1:
                    raise TuningChanged.to(current)
                self._connection.execute("INSERT INTO tuning VALUES (?, ?, ?, ?)", row)
                gone = [tuning.workspace, tuning.version - kept]
                self._connection.execute("DELETE FROM tuning WHERE workspace = ? AND version <= ?", gone)

        await self._run(work, deadline)

    async def close(self) -> None:
        await self._threads.close()
        self._connection.close()

    def _newest(self, workspace: str) -> int:
        return int(self._connection.execute(_NEWEST, [workspace]).fetchone()[0])

    async def _run(self, work: Callable[[], Answer], deadline: Deadline) -> Answer:
        def alone() -> Answer:
            with self._using:
                return work()

        return await self._threads.run(alone, deadline)
