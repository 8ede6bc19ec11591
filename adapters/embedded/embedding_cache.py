"""EmbeddingCache in one sqlite file: float32 vectors by model and text hash."""

import sqlite3
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from adapters.embedded.sqlite_file import open_or_renew, transaction
from adapters.embedded.threads import engine_failure
from service.ports import Vector

ENGINE = "embedding cache"

TABLE = """
CREATE TABLE IF NOT EXISTS vector (
    id INTEGER PRIMARY KEY, model TEXT NOT NULL, hash TEXT NOT NULL, body BLOB NOT NULL, UNIQUE (model, hash)
)
"""

_HASHES_AT_ONCE = 500

_STORED = np.dtype("<f4")


class SqliteEmbeddingCache:
    """Holds the `kept` vectors that were put last. Safe between threads; every call is one short transaction."""

    def __init__(self, connection: sqlite3.Connection, kept: int) -> None:
        self._connection = connection
        self._kept = kept
        self._using = threading.Lock()

    @classmethod
    def open(cls, file: Path, *, kept: int) -> "SqliteEmbeddingCache":
        """A broken file is begun anew: what a cache held can be made again. Raises DataFolderUnwritable."""
        try:
            return cls(open_or_renew(file, TABLE), kept)
        except (sqlite3.Error, OSError) as error:
            raise engine_failure(ENGINE, error) from error

    def get(self, model: str, hashes: Sequence[str]) -> dict[str, Vector]:
        """Those that are held. Raises EngineUnavailable."""
        found: dict[str, Vector] = {}
        try:
            for start in range(0, len(hashes), _HASHES_AT_ONCE):
                batch = hashes[start : start + _HASHES_AT_ONCE]
                marks = ",".join("?" * len(batch))
                with self._using:
                    rows = self._connection.execute(
                        f"SELECT hash, body FROM vector WHERE model = ? AND hash IN ({marks})",  # noqa: S608 — ours
                        [model, *batch],
                    ).fetchall()
                found |= {hash: np.frombuffer(body, _STORED).astype(np.float32) for hash, body in rows}
        except sqlite3.Error as error:
            raise engine_failure(ENGINE, error) from error
        return found

    def put(self, model: str, vectors: Mapping[str, Vector]) -> None:
        """Raises EngineUnavailable or DataFolderUnwritable; nothing of the call is kept then."""
        try:
            with self._using, transaction(self._connection):
                self._connection.executemany(
                    "INSERT OR REPLACE INTO vector (model, hash, body) VALUES (?, ?, ?)",
                    [(model, hash, vector.astype(_STORED).tobytes()) for hash, vector in vectors.items()],
                )
                self._connection.execute(
                    "DELETE FROM vector WHERE id <= (SELECT max(id) FROM vector) - ?", [self._kept]
                )
        except sqlite3.Error as error:
            raise engine_failure(ENGINE, error) from error

    def close(self) -> None:
        with self._using:
            self._connection.close()
