"""Backups: what is in one, and everything that is none and leaves no trace."""

import asyncio
import gzip
import io
import json
import os
import sqlite3
import tarfile
import zlib
from contextlib import closing
from dataclasses import replace

import pytest

from adapters.embedded import backup
from adapters.embedded.data_folder import DataFolder
from adapters.embedded.embedding_cache import SqliteEmbeddingCache
from adapters.embedded.records import RecordStore
from service.domain.errors import BackupImpossible, BackupInvalid, DataFolderHeld, DataFolderUsed
from service.domain.requests import PublishRequest
from tests.application import PAGES, write_estate
from tests.stores import HashEmbedder, embedded_stores


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    """A data folder with two snapshots of four pages."""
    folder = tmp_path_factory.mktemp("backup")
    data = folder / "data"
    estate = folder / "estate"

    async def publish():
        async with embedded_stores(data, HashEmbedder()) as stores:
            for text in ("", "One more paragraph.\n"):
                write_estate(estate, PAGES | {"query.md": PAGES["query.md"] + text})
                await stores.publisher.publish(PublishRequest(paths=[str(estate)]))

    asyncio.run(publish())
    # The application's names for what the stores of tests call otherwise.
    os.replace(data / "cache.sqlite", data / "embeddings.sqlite")
    return data


@pytest.fixture(scope="module")
def archive(data, tmp_path_factory):
    file = tmp_path_factory.mktemp("archive") / "backup.tar"
    backup.write(data, file)
    return file


def parts(archive):
    with tarfile.open(archive) as tar:
        return {member.name: tar.extractfile(member).read() for member in tar}


def test_a_backup_is_read_by_its_owner_alone_and_says_what_it_holds(data, archive):
    assert archive.stat().st_mode & 0o777 == 0o600
    with closing(sqlite3.connect(data / "graph" / "records.sqlite")) as connection:
        snapshot, _ = RecordStore(connection).current()
    held = parts(archive)
    assert list(held) == ["manifest.json", "records.sqlite", "embeddings.sqlite"]
    manifest = json.loads(held["manifest.json"])
    assert (manifest["contentRoot"], manifest["generation"]) == (snapshot.content_root, 2)
    assert list(archive.parent.iterdir()) == [archive]


def test_it_is_placed_into_a_new_folder_with_its_snapshots_and_vectors(archive, tmp_path):
    backup.place(archive, tmp_path / "deep" / "new")
    folder = DataFolder.open(tmp_path / "deep" / "new")
    with closing(sqlite3.connect(folder.graph / "records.sqlite")) as connection:
        store = RecordStore(connection)
        assert [root.generation for root in store.roots()] == [2, 1]
        unfinished = store.unfinished()
        assert unfinished.step == "committed"
        assert unfinished.content_root == store.current()[0].content_root
    cache = SqliteEmbeddingCache.open(folder.embeddings, kept=100)
    with closing(sqlite3.connect(folder.embeddings)) as connection:
        [(name, count)] = connection.execute("SELECT min(hash), count(*) FROM vector").fetchall()
    assert count >= 4
    assert cache.get("hash", [name])[name].shape == (8,)
    cache.close()
    folder.close()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["deep"]
    assert sorted(entry.name for entry in (tmp_path / "deep").iterdir()) == ["new"]


def test_no_backup_is_written_over_and_none_of_nothing(data, archive, tmp_path):
    before = archive.read_bytes()
    with pytest.raises(BackupImpossible, match="there already"):
        backup.write(data, archive)
    assert archive.read_bytes() == before
    with pytest.raises(BackupImpossible, match="nothing to back up"):
        backup.write(tmp_path / "nowhere", tmp_path / "b.tar")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("name", ["runs.sqlite", "graph", "stranger"])
def test_a_restore_changes_no_folder_that_holds_anything(archive, tmp_path, name):
    target = tmp_path / "data"
    target.mkdir()
    (target / name).write_text("mine")
    with pytest.raises(DataFolderUsed):
        backup.place(archive, target)
    assert [(entry.name, entry.read_text()) for entry in target.iterdir()] == [(name, "mine")]


def test_a_restore_into_a_folder_that_somebody_owns_is_refused(archive, tmp_path):
    with DataFolder.open(tmp_path / "data"), pytest.raises(DataFolderHeld):
        backup.place(archive, tmp_path / "data")


def test_a_backup_made_while_others_write_is_one_moment(data, tmp_path):
    """Every transaction adds a row to two tables: a copy that saw half of one would differ between them."""
    source, copy = tmp_path / "source.sqlite", tmp_path / "copy.sqlite"
    with closing(sqlite3.connect(source, isolation_level=None)) as writer:
        writer.executescript(
            "PRAGMA journal_mode = WAL; CREATE TABLE a (n INTEGER, pad BLOB); CREATE TABLE b (n INTEGER)"
        )

        def add(number):
            writer.execute("BEGIN")
            writer.execute("INSERT INTO a VALUES (?, zeroblob(5000))", [number])
            writer.execute("INSERT INTO b VALUES (?)", [number])

        for number in range(50):
            add(number)
            writer.execute("COMMIT")
        add(50)  # under way while the copy is made
        backup._copy_database(source, copy)
        writer.execute("COMMIT")
    with closing(sqlite3.connect(copy)) as reader:
        counts = reader.execute("SELECT (SELECT count(*) FROM a), (SELECT count(*) FROM b)").fetchone()
        assert counts == (50, 50)
        assert reader.execute("PRAGMA journal_mode").fetchone() == ("delete",)


# What is no backup -------------------------------------------------------------------------------------------------


def packed(members):
    """A tar of (TarInfo or name, content) pairs."""
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as tar:
        for member, content in members:
            if isinstance(member, str):
                member = tarfile.TarInfo(member)
            if member.isreg():
                member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return stream.getvalue()


def described(held, **changes):
    """The parts under a manifest that tells the truth of them, but for `changes`."""
    import hashlib

    manifest = json.loads(held["manifest.json"]) | changes
    contents = {name: content for name, content in held.items() if name != "manifest.json"}
    manifest["parts"] = {
        name: {"bytes": len(content), "sha256": hashlib.sha256(content).hexdigest()}
        for name, content in contents.items()
    }
    return [("manifest.json", json.dumps(manifest).encode()), *contents.items()]


def link(name, kind, target):
    member = tarfile.TarInfo(name)
    member.type, member.linkname = kind, target
    return member


def changed(held, statement, arguments=(), part="records.sqlite"):
    """The parts, a statement run on one of them."""
    connection = sqlite3.connect(":memory:", isolation_level=None)
    connection.deserialize(held[part])
    connection.execute(statement, arguments)
    content = connection.serialize()
    connection.close()
    return described(held | {part: content})


def bomb():
    """Little that unfolds to more than any record may."""
    packing = zlib.compressobj(9)
    block = b" " * (1 << 24)
    return b"".join([*(packing.compress(block) for _ in range(17)), packing.flush()])


HOSTILE = {
    "nothing": lambda held: b"",
    "no archive": lambda held: b"PK\x03\x04" + b"x" * 4_000,
    "compressed": lambda held: gzip.compress(packed(described(held))),
    "no manifest": lambda held: packed([("records.sqlite", held["records.sqlite"])]),
    "a manifest that is no JSON": lambda held: packed([("manifest.json", b"\xff{"), *described(held)[1:]]),
    "a manifest that is a list": lambda held: packed([("manifest.json", b"[]"), *described(held)[1:]]),
    "a manifest that nests without end": lambda held: packed([("manifest.json", b"[" * 60_000)]),
    "a manifest without end": lambda held: packed([("manifest.json", b" " * 1_000_000), *described(held)[1:]]),
    "another layout": lambda held: packed(described(held, layout=99)),
    "another snapshot than it says": lambda held: packed(described(held, contentRoot="0" * 64)),
    "a path that leads out": lambda held: packed([*described(held), ("../outside.txt", b"x")]),
    "an absolute path": lambda held: packed([*described(held), ("/tmp/outside.txt", b"x")]),
    "a part that is named as no part is": lambda held: packed([*described(held), ("owner.json", b"{}")]),
    "a part's name in a folder": lambda held: packed(
        [*described(held)[:1], ("x/records.sqlite", held["records.sqlite"])]
    ),
    "a symbolic link": lambda held: packed(
        [*described(held)[:1], (link("records.sqlite", tarfile.SYMTYPE, "/etc/passwd"), b"")]
    ),
    "a hard link": lambda held: packed(
        [*described(held)[:1], (link("records.sqlite", tarfile.LNKTYPE, "manifest.json"), b"")]
    ),
    "a device": lambda held: packed([*described(held)[:1], (link("records.sqlite", tarfile.CHRTYPE, ""), b"")]),
    "a pipe": lambda held: packed([*described(held)[:1], (link("records.sqlite", tarfile.FIFOTYPE, ""), b"")]),
    "a folder": lambda held: packed([*described(held)[:1], (link("records.sqlite", tarfile.DIRTYPE, ""), b"")]),
    "a part twice": lambda held: packed([*described(held), ("records.sqlite", held["records.sqlite"])]),
    "the manifest twice": lambda held: packed([*described(held), ("manifest.json", held["manifest.json"])]),
    "a part that is missing": lambda held: packed(described(held)[:-1]),
    "no records": lambda held: packed(described({name: held[name] for name in ("manifest.json", "embeddings.sqlite")})),
    "a part longer than it says": lambda held: packed(
        [*described(held)[:1], ("records.sqlite", held["records.sqlite"] + b"x"), *described(held)[2:]]
    ),
    "a flipped bit": lambda held: packed(
        [*described(held)[:1], ("records.sqlite", held["records.sqlite"][:-1] + b"\x7f"), *described(held)[2:]]
    ),
    "records that are no database": lambda held: packed(described(held | {"records.sqlite": b"x" * 4_096})),
    "a trigger": lambda held: packed(
        changed(held, "CREATE TRIGGER t AFTER DELETE ON publish BEGIN DELETE FROM record; END")
    ),
    "a view in place of a table": lambda held: packed(changed(held, "CREATE VIEW v AS SELECT 1")),
    "records without tables": lambda held: packed(changed(held, "DROP TABLE snapshot")),
    "a virtual table": lambda held: packed(
        changed(held, "CREATE VIRTUAL TABLE t USING fts5(x)", part="embeddings.sqlite")
    ),
    "a record that is not what it was": lambda held: packed(
        changed(held, "UPDATE record SET body = (SELECT body FROM record ORDER BY content_hash DESC LIMIT 1)")
    ),
    "a record that is no JSON": lambda held: packed(
        changed(held, "UPDATE record SET body = ?", [zlib.compress(b"\xff")])
    ),
    "a record that swells": lambda held: packed(changed(held, "UPDATE record SET body = ?", [bomb()])),
    "a record too few": lambda held: packed(
        changed(held, "DELETE FROM record WHERE content_hash = (SELECT min(content_hash) FROM record)")
    ),
    "a node too few": lambda held: packed(
        changed(held, "DELETE FROM manifest WHERE identity = (SELECT min(identity) FROM manifest)")
    ),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_what_is_no_backup_is_refused_and_leaves_no_trace(archive, tmp_path, what):
    file = tmp_path / "hostile.tar"
    file.write_bytes(HOSTILE[what](parts(archive)))
    with pytest.raises(BackupInvalid):
        backup.place(file, tmp_path / "data")
    assert list(tmp_path.iterdir()) == [file]


@pytest.mark.parametrize("share", [0.1, 0.3, 0.5, 0.7, 0.9, 0.99])
def test_one_that_was_cut_off_is_refused(archive, tmp_path, share):
    whole = archive.read_bytes()
    # tar's own end is padding, and may be missing.
    end = len(packed(described(parts(archive)))) - 10_240
    file = tmp_path / "cut.tar"
    file.write_bytes(whole[: int(end * share)])
    with pytest.raises(BackupInvalid):
        backup.place(file, tmp_path / "data")
    assert list(tmp_path.iterdir()) == [file]


def test_the_same_parts_under_a_true_manifest_are_a_backup(archive, tmp_path):
    """So that the refusals above are for what each of them changes."""
    file = tmp_path / "same.tar"
    file.write_bytes(packed(described(parts(archive))))
    said = backup.place(file, tmp_path / "data")
    assert said == replace(said, parts=backup.place(archive, tmp_path / "other").parts)


@pytest.mark.parametrize(
    "statement",
    [
        "CREATE TABLE of_another_version (n)",
        "ALTER TABLE snapshot ADD COLUMN of_another_version",
        "DROP TABLE diagnostics",
        "CREATE INDEX of_another_version ON manifest (content_hash)",
    ],
)
def test_whatever_another_version_left_can_be_opened_and_so_restored(archive, tmp_path, statement):
    file = tmp_path / "other.tar"
    file.write_bytes(packed(changed(parts(archive), statement)))
    backup.place(file, tmp_path / "data")
    store = RecordStore.open(tmp_path / "data" / "graph" / "records.sqlite")
    assert [root.generation for root in store.roots()] == [2, 1]
    store.close()
