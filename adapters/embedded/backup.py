"""Backups of a data folder: one moment of its records, and the vectors that were made of them, in one tar file.

Whoever owns the folder goes on: sqlite's own backup reads one moment of a file that another process writes. The text
indexes and the graph are made of the records, so they are made again, and can't disagree with them.
"""

import contextlib
import hashlib
import io
import json
import os
import sqlite3
import tarfile
import tempfile
import time
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import IO, Any

from adapters.embedded.data_folder import LAYOUT, DataFolder
from adapters.embedded.embedding_cache import TABLE as EMBEDDING_TABLE
from adapters.embedded.judgments import GRADES, QUERIES, copy_judgments
from adapters.embedded.records import TABLES as RECORD_TABLES
from adapters.embedded.records import RecordStore
from adapters.embedded.threads import engine_failure
from adapters.embedded.tuning_store import TABLES as TUNING_TABLES
from service.domain.content import content_root, hash_of
from service.domain.errors import BackupImpossible, BackupInvalid, DataFolderUsed
from service.domain.snapshots import Snapshot

MANIFEST = "manifest.json"
RECORDS = "records.sqlite"
EMBEDDINGS = "embeddings.sqlite"
TUNING = "tuning.sqlite"

_TABLES = {RECORDS: RECORD_TABLES, EMBEDDINGS: EMBEDDING_TABLE, TUNING: TUNING_TABLES}

_JUDGED = (QUERIES, GRADES)
"""Files of what people judged: text, that `evaluate` checks when it reads them."""

_PARTS = {*_TABLES, *_JUDGED}

_MANIFEST_BYTES = 65_536

_RECORD_BYTES = 268_435_456
"""Most that one record may unfold to: a source file is far smaller, and a bomb is not."""

_COPIED_AT_ONCE = 1 << 20


@dataclass(frozen=True, slots=True)
class Backup:
    """What an archive says that it holds. `parts`: name → (bytes, SHA-256)."""

    content_root: str
    generation: int
    nodes: int
    written_at: str
    version: str
    parts: dict[str, tuple[int, str]]

    def as_json(self) -> dict[str, Any]:
        return {
            "layout": LAYOUT,
            "version": self.version,
            "contentRoot": self.content_root,
            "generation": self.generation,
            "nodes": self.nodes,
            "writtenAt": self.written_at,
            "parts": {name: {"bytes": size, "sha256": digest} for name, (size, digest) in self.parts.items()},
        }

    @classmethod
    def from_json(cls, value: Any) -> "Backup":
        """Raises BackupInvalid."""
        try:
            layout = value["layout"]
            parts = {str(name): (int(part["bytes"]), str(part["sha256"])) for name, part in value["parts"].items()}
            backup = cls(
                str(value["contentRoot"]),
                int(value["generation"]),
                int(value["nodes"]),
                str(value["writtenAt"]),
                str(value["version"]),
                parts,
            )
        except (KeyError, TypeError, ValueError, AttributeError):
            raise BackupInvalid("The archive's manifest can't be read; this is no backup of this product.") from None
        if layout != LAYOUT:
            raise BackupInvalid(
                f"The archive has layout {layout}; this version reads layout {LAYOUT}. Restore it with the version "
                f"that wrote it, {backup.version}."
            )
        if not {RECORDS} <= parts.keys() <= _PARTS:
            raise BackupInvalid(f"The archive should hold {RECORDS}, perhaps more of a data folder, and nothing else.")
        return backup


def write(folder: Path, file: Path) -> Backup:
    """Back the data folder up into `file`, which only its owner may read and which is whole or not there.

    Raises BackupImpossible where there are no records or the file is there already, EngineUnavailable or
    DataFolderUnwritable.
    """
    data = DataFolder(folder.absolute(), None)
    if not (data.graph / RECORDS).exists():
        raise BackupImpossible(f"{folder} holds nothing to back up. Name the data folder with --data.")
    if file.exists():
        raise BackupImpossible(f"{file} is there already, and no backup is written over. Name another file.")
    try:
        with tempfile.TemporaryDirectory(dir=file.absolute().parent, prefix=".backup-") as staging:
            parts = {RECORDS: Path(staging, RECORDS)}
            _copy_database(data.graph / RECORDS, parts[RECORDS])
            for name, database in ((EMBEDDINGS, data.embeddings), (TUNING, data.tuning)):
                if database.exists():
                    parts[name] = Path(staging, name)
                    _copy_database(database, parts[name])
            for name in copy_judgments(data.judgments, Path(staging)):
                parts[name] = Path(staging, name)
            backup = _describe(parts)
            _pack(backup, parts, Path(staging, "archive"))
            os.close(os.open(file, os.O_CREAT | os.O_EXCL, 0o600))  # whoever was faster keeps the name
            os.replace(Path(staging, "archive"), file)
        return backup
    except FileExistsError:
        raise BackupImpossible(f"{file} is there already, and no backup is written over. Name another file.") from None
    except (sqlite3.Error, OSError) as error:
        raise engine_failure("backup", error) from error


def place(file: Path, folder: Path) -> Backup:
    """Make `folder` a data folder with an archive's records, checked, and its vectors; the first to open it fills its
    indexes, as after a publish that was broken off.

    Raises DataFolderUsed where the folder holds anything, BackupInvalid, EngineUnavailable or DataFolderUnwritable;
    nothing was changed then.
    """
    folder = folder.absolute()
    _require_unused(folder)
    try:
        folder.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".restore-") as staging:
            backup = _unpack(file, Path(staging))
            for name in backup.parts.keys() & _TABLES.keys():
                _check_tables(Path(staging, name), _TABLES[name])
            _check_records(Path(staging, RECORDS), backup)
            with DataFolder.open(folder) as data:
                _require_unused(folder)
                data.graph.mkdir()
                for name, database in ((EMBEDDINGS, data.embeddings), (TUNING, data.tuning)):
                    if name in backup.parts:
                        os.replace(Path(staging, name), database)
                for name in backup.parts.keys() & set(_JUDGED):
                    data.judgments.mkdir(mode=0o700, exist_ok=True)
                    os.replace(Path(staging, name), data.judgments / name)
                os.replace(Path(staging, RECORDS), data.graph / RECORDS)
        return backup
    except (sqlite3.Error, OSError) as error:
        raise engine_failure("restore", error) from error


def _require_unused(folder: Path) -> None:
    ours = {"owner.lock", "owner.json", "layout.json"}
    if folder.exists() and (not folder.is_dir() or {entry.name for entry in folder.iterdir()} - ours):
        raise DataFolderUsed(f"{folder} is not empty, and a restore makes a new folder. Name another with --data.")


def _copy_database(source: Path, copy: Path) -> None:
    """One moment of a database that others may be writing."""
    with (
        contextlib.closing(sqlite3.connect(f"file:{_quoted(source)}?mode=rw", uri=True)) as reading,
        contextlib.closing(sqlite3.connect(copy)) as writing,
    ):
        reading.backup(writing, pages=-1)  # in one step: a read transaction, whatever is written meanwhile
        writing.execute("PRAGMA journal_mode = DELETE")  # so that it is one file


def _quoted(path: Path) -> str:
    return str(path).replace("%", "%25").replace("?", "%3f").replace("#", "%23")


def _describe(parts: dict[str, Path]) -> Backup:
    with contextlib.closing(sqlite3.connect(parts[RECORDS])) as connection:
        snapshot, _ = RecordStore(connection).current()
    return Backup(
        snapshot.content_root,
        snapshot.generation,
        snapshot.nodes,
        datetime.now(UTC).isoformat(timespec="seconds"),
        version("cogitave-query"),
        {name: (part.stat().st_size, _digest(part)) for name, part in parts.items()},
    )


def _digest(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def _pack(backup: Backup, parts: dict[str, Path], archive: Path) -> None:
    descriptor = os.open(archive, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "wb") as stream:
        with tarfile.open(fileobj=stream, mode="w") as tar:
            manifest = json.dumps(backup.as_json(), indent=2).encode()
            tar.addfile(_member(MANIFEST, len(manifest)), io.BytesIO(manifest))
            for name, part in parts.items():
                with part.open("rb") as content:
                    tar.addfile(_member(name, backup.parts[name][0]), content)
        stream.flush()
        os.fsync(stream.fileno())


def _member(name: str, size: int) -> tarfile.TarInfo:
    member = tarfile.TarInfo(name)
    member.size, member.mode, member.mtime = size, 0o600, int(time.time())
    return member


def _unpack(file: Path, staging: Path) -> Backup:
    """The archive's parts as files of `staging`, each as long and with the digest that the manifest says.

    Names are compared with ours and never used as paths; whatever is no plain file, or of no name of ours, is refused.
    """
    try:
        with tarfile.open(file, "r:") as tar:
            members = _members(tar)
            first = next(members, None)
            if first is None or first.name != MANIFEST or first.size > _MANIFEST_BYTES:
                raise BackupInvalid(f"{file} does not begin with a manifest; this is no backup of this product.")
            backup = Backup.from_json(json.loads(_content(tar, first).read(_MANIFEST_BYTES)))
            missing = dict(backup.parts)
            for member in members:
                size, digest = missing.pop(member.name, (-1, ""))
                if size != member.size:
                    raise BackupInvalid(f"{file}: a part is there twice, or not as long as the manifest says.")
                if _extract(_content(tar, member), staging / member.name) != (size, digest):
                    raise BackupInvalid(f"{file}: {member.name} is damaged; restore another backup.")
    except (tarfile.TarError, EOFError, UnicodeDecodeError, json.JSONDecodeError, RecursionError):
        raise BackupInvalid(f"{file} is damaged, or no backup of this product.") from None
    except FileNotFoundError:
        raise BackupInvalid(f"There is no file {file}.") from None
    if missing:
        raise BackupInvalid(f"{file} lacks {' and '.join(missing)}; it was cut off.")
    return backup


def _members(tar: tarfile.TarFile) -> Iterator[tarfile.TarInfo]:
    for member in tar:
        if not member.isreg() or member.issparse() or member.name not in {MANIFEST, *_PARTS}:
            raise BackupInvalid("The archive holds something that belongs in no backup, and was not unpacked.")
        yield member


def _content(tar: tarfile.TarFile, member: tarfile.TarInfo) -> IO[bytes]:
    content = tar.extractfile(member)
    assert content is not None, "a plain file has content"
    return content


def _extract(content: IO[bytes], target: Path) -> tuple[int, str]:
    """Copies at most what the archive itself holds; the length and the digest of what was copied."""
    digest, size = hashlib.sha256(), 0
    descriptor = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with open(descriptor, "wb") as stream:
        while block := content.read(_COPIED_AT_ONCE):
            digest.update(block)
            size += len(block)
            stream.write(block)
        stream.flush()
        os.fsync(stream.fileno())
    return size, digest.hexdigest()


def _check_tables(file: Path, tables: str) -> None:
    """The database is sound and holds nothing that would run when it is read. A table that another version made is let
    be, and one that an older version did not know is made: whatever could be opened can be restored."""
    running = "SELECT 1 FROM sqlite_master WHERE type IN ('trigger', 'view') OR sql LIKE 'CREATE VIRTUAL %' LIMIT 1"
    try:
        with contextlib.closing(sqlite3.connect(file)) as found:
            is_sound = found.execute("PRAGMA quick_check(1)").fetchone() == ("ok",)
            if not is_sound or found.execute(running).fetchone() is not None:
                raise BackupInvalid(f"{file.name} is damaged, or no database of this product.")
            found.executescript(tables)
    except sqlite3.DatabaseError:
        raise BackupInvalid(f"{file.name} is damaged, or no database of this product.") from None


def _check_records(file: Path, backup: Backup) -> None:
    """Every record has its own hash, and every kept snapshot its root. Leaves in the journal that the current one's
    indexes are still to be filled."""
    with contextlib.closing(sqlite3.connect(file, isolation_level=None)) as connection:
        store = RecordStore(connection)
        held = set()
        for content_hash, body in connection.execute("SELECT content_hash, body FROM record"):
            if _hash_of(body) != content_hash:
                raise BackupInvalid(f"The record {content_hash} is not what it was; restore another backup.")
            held.add(content_hash)
        for root in store.roots():
            manifest = store.manifest(root.content_root) or {}
            if content_root(manifest) != root.content_root or not held >= set(manifest.values()):
                raise BackupInvalid(f"The snapshot {root.content_root} is not whole; restore another backup.")
        current, _ = store.current()
        if current.content_root != backup.content_root:
            raise BackupInvalid("The archive holds another snapshot than its manifest says.")
        if current != Snapshot():
            store.reopen()


def _hash_of(body: bytes) -> str:
    unfolding = zlib.decompressobj()
    try:
        text = unfolding.decompress(body, _RECORD_BYTES)
        return hash_of(json.loads(text)) if unfolding.eof else ""
    except (zlib.error, ValueError, RecursionError):
        return ""
