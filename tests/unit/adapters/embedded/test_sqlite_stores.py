"""The stores that can be lost: what they keep over a restart, and what a broken file costs."""

import sqlite3
import threading
from pathlib import Path

import numpy as np
import pytest

from adapters.embedded.embedding_cache import SqliteEmbeddingCache
from adapters.embedded.run_log import SqliteRunLog
from service.domain.errors import DataFolderUnwritable, EngineUnavailable

VECTOR = np.array([0.25, -1.5], dtype=np.float32)


def test_vectors_stay(tmp_path: Path) -> None:
    cache = SqliteEmbeddingCache.open(tmp_path / "cache.sqlite", kept=10)
    cache.put("model", {"a": VECTOR})
    cache.close()
    again = SqliteEmbeddingCache.open(tmp_path / "cache.sqlite", kept=10)
    np.testing.assert_array_equal(again.get("model", ["a"])["a"], VECTOR)
    again.close()


def test_runs_stay_and_are_numbered_on(tmp_path: Path) -> None:
    log = SqliteRunLog.open(tmp_path / "runs.sqlite", kept=3)
    for number in range(3):
        log.append({"number": number})
    log.close()
    again = SqliteRunLog.open(tmp_path / "runs.sqlite", kept=3)
    again.append({"number": 3})
    assert [run["number"] for run in again.recent(10)] == [3, 2, 1]
    again.close()
    last = SqliteRunLog.open(tmp_path / "runs.sqlite", kept=3)
    assert [run["number"] for run in last.recent(10)] == [3, 2, 1]
    last.close()


def test_a_broken_file_is_begun_anew(tmp_path: Path) -> None:
    for name in ("cache.sqlite", "runs.sqlite"):
        (tmp_path / name).write_bytes(b"no database at all" * 100)
    cache = SqliteEmbeddingCache.open(tmp_path / "cache.sqlite", kept=10)
    cache.put("model", {"a": VECTOR})
    assert set(cache.get("model", ["a"])) == {"a"}
    cache.close()
    log = SqliteRunLog.open(tmp_path / "runs.sqlite", kept=10)
    log.append({"number": 1})
    assert len(log.recent(10)) == 1
    log.close()


def test_a_folder_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises((EngineUnavailable, DataFolderUnwritable)):
        SqliteEmbeddingCache.open(tmp_path / "missing" / "cache.sqlite", kept=10)
    with pytest.raises((EngineUnavailable, DataFolderUnwritable)):
        SqliteRunLog.open(tmp_path / "missing" / "runs.sqlite", kept=10)


def test_appending_waits_for_no_disk(tmp_path: Path) -> None:
    """While someone else locks the file, runs pile up to the bound; afterwards the newest are there."""
    log = SqliteRunLog.open(tmp_path / "runs.sqlite", kept=50)
    other = sqlite3.connect(tmp_path / "runs.sqlite", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")

    def append() -> None:
        for number in range(5_000):
            log.append({"number": number})

    appending = threading.Thread(target=append)
    appending.start()
    appending.join(timeout=4)
    assert not appending.is_alive()
    other.execute("ROLLBACK")
    other.close()
    assert [run["number"] for run in log.recent(3)] == [4_999, 4_998, 4_997]
    assert len(log.recent(5_000)) <= 50
    log.close()


def test_a_log_of_nothing(tmp_path: Path) -> None:
    log = SqliteRunLog.open(tmp_path / "runs.sqlite", kept=0)
    log.append({"number": 1})
    assert log.recent(10) == []
    log.close()
