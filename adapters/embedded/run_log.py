"""RunLog in one sqlite file, written behind the queries' backs."""

import contextlib
import json
import sqlite3
import threading
from collections import deque
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from adapters.embedded.sqlite_file import open_or_renew, transaction
from adapters.embedded.threads import engine_failure
from service.observation import Reading

ENGINE = "run log"

_TABLE = "CREATE TABLE IF NOT EXISTS run (number INTEGER PRIMARY KEY, body TEXT NOT NULL)"

_WAITING = 1_000
"""Runs that wait to be written; a disk slower than the queries loses the oldest."""

_PATIENCE_SECONDS = 2.0
"""How long closing waits for what is left to be written."""


class SqliteRunLog:
    """Holds the newest `kept` runs. `append` costs a lock and a list cell; a thread of its own writes them."""

    def __init__(self, connection: sqlite3.Connection, kept: int) -> None:
        self._connection = connection
        self._kept = kept
        self._using = threading.Lock()
        self._waiting: deque[tuple[int, Mapping[str, Any]]] = deque(maxlen=min(_WAITING, kept))
        self._changed = threading.Condition()
        self._last = connection.execute("SELECT coalesce(max(number), 0) FROM run").fetchone()[0]
        self._closing = False
        self._lost = 0
        self._writer = threading.Thread(target=self._write, name=ENGINE, daemon=True)
        self._writer.start()

    @classmethod
    def open(cls, file: Path, *, kept: int) -> "SqliteRunLog":
        """A broken file is begun anew. Raises DataFolderUnwritable or EngineUnavailable."""
        try:
            return cls(open_or_renew(file, _TABLE), kept)
        except (sqlite3.Error, OSError) as error:
            raise engine_failure(ENGINE, error) from error

    def append(self, record: Mapping[str, Any]) -> None:
        with self._changed:
            self._last += 1
            if len(self._waiting) == self._waiting.maxlen:
                self._lost += 1
            self._waiting.append((self._last, record))
            self._changed.notify()

    def recent(self, limit: int) -> list[Mapping[str, Any]]:
        """Newest first, those that still wait to be written included. Raises EngineUnavailable."""
        with self._changed:
            found: dict[int, Mapping[str, Any]] = dict(self._waiting)
        try:
            with self._using:
                rows = self._connection.execute(
                    "SELECT number, body FROM run ORDER BY number DESC LIMIT ?", [max(0, limit)]
                ).fetchall()
        except sqlite3.Error as error:
            raise engine_failure(ENGINE, error) from error
        found |= {number: json.loads(body) for number, body in rows}
        return [found[number] for number in sorted(found, reverse=True)[: min(max(0, limit), self._kept)]]

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

    def _write(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._waiting or self._closing)
                batch = list(self._waiting)
                if not batch:
                    return
            # A full disk loses these runs; the queries that they tell of were answered.
            lost = len(batch)
            with contextlib.suppress(sqlite3.Error):
                self._store(batch)
                lost = 0
            with self._changed:
                self._lost += lost
                while self._waiting and self._waiting[0][0] <= batch[-1][0]:
                    self._waiting.popleft()

    def _store(self, batch: list[tuple[int, Mapping[str, Any]]]) -> None:
        rows = [(number, body) for number, record in batch if (body := _body(record)) is not None]
        with self._using, transaction(self._connection):
            self._connection.executemany("INSERT OR REPLACE INTO run VALUES (?, ?)", rows)
            self._connection.execute("DELETE FROM run WHERE number <= ?", [batch[-1][0] - self._kept])


def _body(record: Mapping[str, Any]) -> str | None:
    """None for a record that is no JSON: one that can't be written must not cost the others."""
    try:
        return json.dumps(record, default=str)
    except (ValueError, TypeError, RecursionError):
        return None
