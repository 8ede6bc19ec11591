"""RunLog in one sqlite file, written behind the queries' backs."""

import contextlib
import json
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from adapters.embedded.sqlite_file import open_or_renew, transaction
from adapters.embedded.threads import engine_failure
from service.observation import Reading

ENGINE = "run log"

# What gives way is overwritten, not only forgotten: a run may hold what somebody asked.
_TABLES = """
PRAGMA secure_delete = ON;
DROP TABLE IF EXISTS run;
CREATE TABLE IF NOT EXISTS runs (
    number INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT, at REAL NOT NULL, size INTEGER NOT NULL, body TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS run_by_id ON runs (id);
CREATE INDEX IF NOT EXISTS run_by_time ON runs (at);
"""

_WAITING = 1_000
"""Runs that wait to be written; a disk slower than the queries loses the oldest."""

_PATIENCE_SECONDS = 2.0
"""How long closing waits for what is left to be written."""

_DAY = 86_400.0


_SHORTEST_BEGINNING = 4
"""Characters of an id that stand for the whole."""


class SqliteRunLog:
    """Holds the newest `kept` runs, none older than `days`, at most `size` bytes of them.

    `append` costs a lock and a list cell; a thread of its own writes them. `clock` gives seconds since 1970.
    """

    def __init__(
        self,
        connection: sqlite3.Connection,
        *,
        kept: int,
        days: float = 30.0,
        size: int = 67_108_864,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._connection = connection
        self._kept = kept
        self._seconds = days * _DAY
        self._most_bytes = size
        self._clock = clock
        self._using = threading.Lock()
        self._waiting: deque[tuple[int, float, Mapping[str, Any]]] = deque(maxlen=min(_WAITING, kept))
        self._changed = threading.Condition()
        self._last = 0
        self._closing = False
        self._lost = 0
        self._writer = threading.Thread(target=self._write, name=ENGINE, daemon=True)
        self._writer.start()

    @classmethod
    def open(cls, file: Path, **bounds: Any) -> "SqliteRunLog":
        """Readable by its owner alone; a broken file is begun anew. `bounds` are the constructor's.

        Raises DataFolderUnwritable or EngineUnavailable.
        """
        try:
            file.touch(mode=0o600)
            file.chmod(0o600)
            return cls(open_or_renew(file, _TABLES), **bounds)
        except (sqlite3.Error, OSError) as error:
            raise engine_failure(ENGINE, error) from error

    def append(self, record: Mapping[str, Any]) -> None:
        with self._changed:
            self._last += 1
            if len(self._waiting) == self._waiting.maxlen:
                self._lost += 1
            self._waiting.append((self._last, self._clock(), record))
            self._changed.notify()

    def recent(self, limit: int) -> list[Mapping[str, Any]]:
        """Newest first, those that still wait to be written included. Raises EngineUnavailable."""
        most = min(max(0, limit), self._kept)
        waiting, rows = self._read("SELECT body FROM runs WHERE at >= ? ORDER BY number DESC LIMIT ?", most)
        newest = [record for _, _, record in reversed(waiting)]
        return [*newest, *(json.loads(body) for (body,) in rows)][:most]

    def find(self, run_id: str) -> Mapping[str, Any] | None:
        waiting, rows = self._read("SELECT body FROM runs WHERE at >= ? AND id = ? LIMIT 1", run_id)
        asked = (record for _, _, record in waiting if record.get("runId") == run_id)
        found = next(asked, None) or next((json.loads(body) for (body,) in rows), None)
        return found if found or len(run_id) < _SHORTEST_BEGINNING else self._begun(run_id)

    def _begun(self, start: str) -> Mapping[str, Any] | None:
        """The one run whose id begins so; none where several do."""
        waiting, rows = self._read(
            "SELECT body FROM runs WHERE at >= ?1 AND substr(id, 1, length(?2)) = ?2 LIMIT 2", start
        )
        found = [record for _, _, record in waiting if str(record.get("runId")).startswith(start)]
        found += [json.loads(body) for (body,) in rows]
        return found[0] if len(found) == 1 else None

    def readings(self) -> Iterator[Reading]:
        """How many runs wait to be written, and how many never were."""
        yield Reading("cogitave_query_run_log_waiting", len(self._waiting))
        yield Reading("cogitave_query_run_log_lost", self._lost, is_total=True)

    def close(self) -> None:
        """Write what waits, as far as that is quick, and stop."""
        with self._changed:
            self._closing = True
            self._changed.notify()
        self._writer.join(_PATIENCE_SECONDS)
        with self._using:
            self._connection.close()

    def _read(
        self, query: str, parameter: str | int
    ) -> tuple[list[tuple[int, float, Mapping[str, Any]]], list[tuple[str]]]:
        """What waits to be written, and the rows; between the two no run is missed and none is seen twice."""
        oldest = self._clock() - self._seconds
        try:
            with self._using:
                with self._changed:
                    waiting = [one for one in self._waiting if one[1] >= oldest]
                return waiting, self._connection.execute(query, [oldest, parameter]).fetchall()
        except sqlite3.Error as error:
            raise engine_failure(ENGINE, error) from error

    def _write(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closing)
                batch = list(self._waiting)
                if not batch:
                    return
            with self._using:
                # A full disk loses these runs; the queries that they tell of were answered.
                lost = len(batch)
                with contextlib.suppress(sqlite3.Error):
                    self._store([(at, record) for _, at, record in batch])
                    lost = 0
                with self._changed:
                    self._lost += lost
                    while self._waiting and self._waiting[0][0] <= batch[-1][0]:
                        self._waiting.popleft()

    def _store(self, batch: list[tuple[float, Mapping[str, Any]]]) -> None:
        rows = [
            (record.get("runId"), at, len(body), body) for at, record in batch if (body := _body(record)) is not None
        ]
        with transaction(self._connection):
            self._connection.executemany("INSERT INTO runs (id, at, size, body) VALUES (?, ?, ?, ?)", rows)
            self._rotate()

    def _rotate(self) -> None:
        """What is too old, too many or too much gives way, the oldest first."""
        run = self._connection.execute
        run("DELETE FROM runs WHERE at < ?", [self._clock() - self._seconds])
        run("DELETE FROM runs WHERE number <= (SELECT max(number) FROM runs) - ?", [self._kept])
        (held,) = run("SELECT coalesce(sum(size), 0) FROM runs").fetchone()
        if held > self._most_bytes:
            run(
                "DELETE FROM runs WHERE number <= (SELECT max(number) FROM "
                "(SELECT number, sum(size) OVER (ORDER BY number DESC) AS newer FROM runs) WHERE newer > ?)",
                [self._most_bytes],
            )


def _body(record: Mapping[str, Any]) -> str | None:
    """None for a record that is no JSON: one that can't be written must not cost the others."""
    try:
        return json.dumps(record, default=str)
    except (ValueError, TypeError, RecursionError):
        return None
