"""Opening a sqlite file, and changing it in one step."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def open_file(file: Path, tables: str, *, synchronous: str) -> sqlite3.Connection:
    """A connection in autocommit, with a write-ahead log and the tables made. Raises sqlite3.Error."""
    connection = sqlite3.connect(file, isolation_level=None, check_same_thread=False)
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.executescript(tables)
    except sqlite3.Error:
        connection.close()
        raise
    return connection


def open_or_renew(file: Path, tables: str) -> sqlite3.Connection:
    """As `open_file`, for what can be lost: a file that is no database any more gives way to a new one."""
    try:
        return open_file(file, tables, synchronous="NORMAL")
    except sqlite3.OperationalError:
        raise
    except sqlite3.DatabaseError:
        for part in (file, file.with_name(file.name + "-wal"), file.with_name(file.name + "-shm")):
            part.unlink(missing_ok=True)
        return open_file(file, tables, synchronous="NORMAL")


@contextmanager
def transaction(connection: sqlite3.Connection) -> Iterator[None]:
    """All or nothing; sqlite3's own context manager opens none."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
