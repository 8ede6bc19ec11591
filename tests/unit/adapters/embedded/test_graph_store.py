"""What lies in the folder, and what is made of it at the next start."""

from pathlib import Path

import pytest

import service.statements as statements
from adapters.embedded.graph_reader import EmbeddedGraphReader
from adapters.embedded.graph_store import EmbeddedGraphStore
from service.domain.errors import DataFolderUnwritable, EngineUnavailable
from service.domain.graph import EVERYONE, EdgeType
from service.domain.snapshots import PublishStep
from tests.contract.estate import change, linked, publish, record, refers, soon

pytestmark = pytest.mark.anyio

ANYONE = frozenset({EVERYONE})
PAGES = [record("a", refers(EdgeType.XREF, "b")), record("b")]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def graphs(folder: Path) -> list[Path]:
    return sorted(folder.glob("graph-*"))


def opened(folder: Path) -> EmbeddedGraphStore:
    return EmbeddedGraphStore.open(folder, rebuild=lambda records: linked(list(records)))


async def edges(store: EmbeddedGraphStore) -> list[tuple[object, ...]]:
    reader = EmbeddedGraphReader(lambda: store.live)
    rows = (await reader.run(statements.edges_of(PAGES[0].node.identity, ANYONE, 10), deadline=soon())).rows
    await reader.close()
    return list(rows)


async def test_everything_is_there_again(tmp_path: Path) -> None:
    store = opened(tmp_path)
    snapshot = await publish(store, PAGES)
    await store.close()
    again = opened(tmp_path)
    assert await again.snapshot() == snapshot
    assert await again.manifest() == {each.node.identity: each.content_hash for each in PAGES}
    assert [row[:2] for row in await edges(again)] == [("xref", "b")]
    await again.close()


@pytest.mark.parametrize("content", [None, b"", b"no graph", b"\x00" * 4_096])
async def test_a_graph_that_is_missing_or_broken_is_built_again(tmp_path: Path, content: bytes | None) -> None:
    store = opened(tmp_path)
    await publish(store, PAGES, publish_id="p7")
    await store.close()
    (file,) = graphs(tmp_path)
    file.unlink()
    if content is not None:
        file.write_bytes(content)
    again = opened(tmp_path)
    assert [row[:2] for row in await edges(again)] == [("xref", "b")]
    assert again.live.projection.run("MATCH ()-[r]->() RETURN r.publishId", {}, milliseconds=1_000).rows == [("p7",)]
    assert file.stat().st_size > 0
    await again.close()


async def test_only_the_current_graph_stays(tmp_path: Path) -> None:
    store = opened(tmp_path)
    for number in range(3):
        await publish(store, [record("a", title=f"Version {number}")], publish_id=f"p{number}")
    assert graphs(tmp_path) == [tmp_path / "graph-3.kgl"]
    await store.close()
    (tmp_path / "graph-4.kgl").write_bytes(b"of a commit that was killed")
    (tmp_path / "graph-4.kgl.tmp.123").write_bytes(b"half writ")
    again = opened(tmp_path)
    assert graphs(tmp_path) == [tmp_path / "graph-3.kgl"]
    await again.close()


async def test_a_commit_that_can_not_be_saved_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store = opened(tmp_path)
    before = await publish(store, PAGES)
    moved = change([record("c")], before, publish_id="p2", held=PAGES)
    await store.begin(moved.entry)

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("adapters.embedded.projection.GraphProjection.save", full)
        with pytest.raises(DataFolderUnwritable):
            await store.commit(moved)
    assert await store.snapshot() == before
    unfinished = await store.unfinished()
    assert unfinished is not None
    assert unfinished.step is PublishStep.BEGUN
    await store.commit(moved)
    assert await store.snapshot() == moved.snapshot
    await store.close()


async def test_a_folder_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "records.sqlite").write_bytes(b"no database at all" * 100)
    with pytest.raises(EngineUnavailable):
        opened(tmp_path)
