"""The system of record on a laptop: records, manifests, snapshots and the publish journal in one sqlite file."""

import json
import sqlite3
import zlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path

from adapters.embedded.sqlite_file import open_file, transaction
from service.domain.content import NodeRecord, record_from_json
from service.domain.diagnostics import PublishDiagnostics
from service.domain.errors import PublishInProgress
from service.domain.graph import NodeIdentity
from service.domain.snapshots import PublishEntry, PublishStep, Snapshot

TABLES = """
CREATE TABLE IF NOT EXISTS record (content_hash TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS snapshot (
    content_root TEXT PRIMARY KEY, generation INTEGER NOT NULL UNIQUE, publish_id TEXT NOT NULL, body TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS manifest (
    content_root TEXT NOT NULL, identity BLOB NOT NULL, content_hash TEXT NOT NULL,
    PRIMARY KEY (content_root, identity)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS publish (
    publish_id TEXT PRIMARY KEY, generation INTEGER NOT NULL, previous_root TEXT NOT NULL, content_root TEXT NOT NULL,
    step TEXT NOT NULL, started_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS diagnostics (of TEXT PRIMARY KEY, body BLOB NOT NULL) WITHOUT ROWID;
"""

_COMMITTED = (PublishStep.COMMITTED.value, PublishStep.COLLECTED.value)


class RecordStore:
    """Blocking, for one thread at a time. Every change is one transaction that is on the disk when it returns."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    @classmethod
    def open(cls, file: Path) -> "RecordStore":
        """Raises sqlite3.Error."""
        return cls(open_file(file, TABLES, synchronous="FULL"))

    def close(self) -> None:
        self._connection.close()

    def current(self) -> tuple[Snapshot, str]:
        """The newest snapshot and the publish that made it."""
        row = self._connection.execute(
            "SELECT body, publish_id FROM snapshot ORDER BY generation DESC LIMIT 1"
        ).fetchone()
        return (Snapshot(**json.loads(row[0])), row[1]) if row else (Snapshot(), "")

    def roots(self) -> list[Snapshot]:
        rows = self._connection.execute("SELECT body FROM snapshot ORDER BY generation DESC")
        return [Snapshot(**json.loads(body)) for (body,) in rows]

    def manifest(self, content_root: str) -> dict[NodeIdentity, str] | None:
        """None for a root that is not kept."""
        if self._connection.execute("SELECT 1 FROM snapshot WHERE content_root = ?", [content_root]).fetchone() is None:
            return None
        rows = self._connection.execute(
            "SELECT identity, content_hash FROM manifest WHERE content_root = ?", [content_root]
        )
        return {_identity(name): content_hash for name, content_hash in rows}

    def records(self, hashes: Sequence[str]) -> list[NodeRecord]:
        """Those of these records that are stored."""
        marks = ",".join("?" * len(hashes))
        rows = self._connection.execute(
            f"SELECT body FROM record WHERE content_hash IN ({marks})",  # noqa: S608 — the marks are ours
            list(hashes),
        )
        return [_record(body) for (body,) in rows]

    def records_of(self, content_root: str) -> Iterator[NodeRecord]:
        rows = self._connection.execute(
            "SELECT body FROM record WHERE content_hash IN (SELECT content_hash FROM manifest WHERE content_root = ?)",
            [content_root],
        )
        for (body,) in rows:
            yield _record(body)

    def unfinished(self) -> PublishEntry | None:
        row = self._connection.execute(
            "SELECT publish_id, generation, previous_root, content_root, step, started_at FROM publish WHERE step <> ?",
            [PublishStep.COLLECTED.value],
        ).fetchone()
        return PublishEntry(row[0], row[1], row[2], row[3], PublishStep(row[4]), row[5]) if row else None

    def begin(self, entry: PublishEntry) -> None:
        with transaction(self._connection):
            other = self.unfinished()
            if other is not None:
                raise PublishInProgress(
                    f"The publish {other.publish_id}, begun {other.started_at}, is unfinished; it must end first."
                )
            self._connection.execute("DELETE FROM publish")
            self._connection.execute(
                "INSERT INTO publish VALUES (?, ?, ?, ?, ?, ?)",
                [
                    entry.publish_id,
                    entry.generation,
                    entry.previous_root,
                    entry.content_root,
                    entry.step.value,
                    entry.started_at,
                ],
            )

    def advance(self, publish_id: str, step: PublishStep) -> None:
        """KeyError for a publish that is not in the journal."""
        with transaction(self._connection):
            self._advance(publish_id, step)

    def abandon(self, publish_id: str) -> None:
        with transaction(self._connection):
            self._connection.execute(
                "DELETE FROM publish WHERE publish_id = ? AND step NOT IN (?, ?)", [publish_id, *_COMMITTED]
            )

    def commit(
        self,
        entry: PublishEntry,
        snapshot: Snapshot,
        manifest: Mapping[NodeIdentity, str],
        records: Collection[NodeRecord],
    ) -> None:
        """Everything of the flip that lies in this file, in one transaction."""
        with transaction(self._connection):
            self._advance(entry.publish_id, PublishStep.COMMITTED)
            self._connection.executemany(
                "INSERT OR IGNORE INTO record VALUES (?, ?)",
                ((record.content_hash, _body(record)) for record in records),
            )
            self._connection.execute("DELETE FROM manifest WHERE content_root = ?", [snapshot.content_root])
            self._connection.executemany(
                "INSERT INTO manifest VALUES (?, ?, ?)",
                ((snapshot.content_root, _name(identity), content_hash) for identity, content_hash in manifest.items()),
            )
            self._connection.execute(
                "INSERT OR REPLACE INTO snapshot VALUES (?, ?, ?, ?)",
                [
                    snapshot.content_root,
                    snapshot.generation,
                    entry.publish_id,
                    json.dumps(snapshot.as_json()),
                ],
            )

    def reopen(self) -> None:
        """Write into the journal that the current snapshot's indexes are not filled, as after a flip."""
        snapshot, publish_id = self.current()
        with transaction(self._connection):
            self._connection.execute("DELETE FROM publish")
            self._connection.execute(
                "INSERT INTO publish VALUES (?, ?, ?, ?, ?, ?)",
                [
                    publish_id,
                    snapshot.generation,
                    "",
                    snapshot.content_root,
                    PublishStep.COMMITTED.value,
                    snapshot.published_at,
                ],
            )

    def keep(self, roots: int) -> None:
        """Forget all but the newest snapshots, and the records that only they named."""
        with transaction(self._connection):
            self._connection.execute(
                "DELETE FROM snapshot WHERE content_root NOT IN "
                "(SELECT content_root FROM snapshot ORDER BY generation DESC LIMIT ?)",
                [roots],
            )
            self._connection.execute(
                "DELETE FROM manifest WHERE content_root NOT IN (SELECT content_root FROM snapshot)"
            )
            self._connection.execute("DELETE FROM record WHERE content_hash NOT IN (SELECT content_hash FROM manifest)")

    def keep_diagnostics(self, diagnostics: PublishDiagnostics) -> None:
        body = zlib.compress(json.dumps(diagnostics.as_json()).encode(), 1)
        with transaction(self._connection):
            self._connection.execute("INSERT OR REPLACE INTO diagnostics VALUES ('publish', ?)", [body])

    def diagnostics(self) -> PublishDiagnostics | None:
        row = self._connection.execute("SELECT body FROM diagnostics WHERE of = 'publish'").fetchone()
        return PublishDiagnostics.from_json(json.loads(zlib.decompress(row[0]))) if row else None

    def _advance(self, publish_id: str, step: PublishStep) -> None:
        moved = self._connection.execute("UPDATE publish SET step = ? WHERE publish_id = ?", [step.value, publish_id])
        if moved.rowcount == 0:
            raise KeyError(publish_id)


def _body(record: NodeRecord) -> bytes:
    return zlib.compress(json.dumps(record.as_json(), separators=(",", ":")).encode(), 1)


def _record(body: bytes) -> NodeRecord:
    return record_from_json(json.loads(zlib.decompress(body)))


def _name(identity: NodeIdentity) -> bytes:
    return identity.key.encode("utf-8", "surrogatepass")


def _identity(name: bytes) -> NodeIdentity:
    return NodeIdentity.from_key(name.decode("utf-8", "surrogatepass"))
