"""Any sequence of edits, published as it goes, ends where publishing the final tree into an empty store begins."""

import asyncio
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.embedded.embedding_cache import SqliteEmbeddingCache
from adapters.embedded.vectors import QdrantEdgeIndex
from adapters.neo4j.reader import Neo4jGraphReader
from adapters.neo4j.store import Neo4jGraphStore
from adapters.opensearch.lexical import OpenSearchIndex
from service.domain.deadline import Deadline
from service.domain.requests import PublishRequest
from service.statements import all_edge_counts, all_nodes
from tests.contract.estate import rebuilt
from tests.engines import Neo4jAddress
from tests.neo4j_database import empty_database
from tests.opensearch_indexes import own_indexes
from tests.stores import DIMENSIONS, HashEmbedder, Stores, assemble, embedded_stores

NAMES = st.sampled_from(["a", "b", "c", "d"])
FOLDERS = st.sampled_from(["", "sub/"])
TARGETS = st.sampled_from(["a.md", "b.md", "sub/c.md", "missing.md", "xref:one", "xref:nowhere"])
WORDS = st.sampled_from(["alpha", "beta", "gamma", "delta"])
UIDS = st.sampled_from([None, "one", "two", "a b*(c)#", "ünïcode"])

PAGES = st.builds(
    lambda uid, word, target, product: (
        "---\n"
        + (f"uid: '{uid}'\n" if uid else "")
        + f"title: {word.title()}\nproducts: [{product}]\n---\n# {word.title()}\n\nAbout {word}, see [it]({target}).\n"
    ),
    UIDS,
    WORDS,
    TARGETS,
    WORDS,
)
BROKEN = st.sampled_from(
    ["---\n: {[\n---\n# Broken\n", "\ufeff# A mark\r\n\r\nBefore.\r\n", "---\nuid: [one]\n---\n", ""]
)

EDITS = st.one_of(
    st.tuples(st.just("write"), FOLDERS, NAMES, PAGES),
    st.tuples(st.just("break"), FOLDERS, NAMES, BROKEN),
    st.tuples(st.just("delete"), FOLDERS, NAMES),
    st.tuples(st.just("move"), FOLDERS, NAMES, FOLDERS, NAMES),
    st.tuples(st.just("publish")),
)


def apply(edit: tuple[Any, ...], estate: Path) -> None:
    if edit[0] == "publish":
        return
    file = estate / f"{edit[1]}{edit[2]}.md"
    file.parent.mkdir(exist_ok=True)
    if edit[0] in ("write", "break"):
        file.write_bytes(edit[3].encode())
    elif edit[0] == "delete":
        file.unlink(missing_ok=True)
    elif file.exists():
        target = estate / f"{edit[3]}{edit[4]}.md"
        target.parent.mkdir(exist_ok=True)
        file.replace(target)


async def contents(stores: Stores) -> dict[str, Any]:
    """All that the stores hold of the current snapshot, but for what counts or dates publishes."""
    deadline = Deadline.after(30_000)
    snapshot = await stores.store.snapshot()
    nodes = await stores.reader.run(all_nodes(after="", limit=10_000), deadline=deadline)
    edges = await stores.reader.run(all_edge_counts(), deadline=deadline)
    return {
        "root": snapshot.content_root,
        "manifest": await stores.store.manifest(),
        "counts": (snapshot.nodes, snapshot.edges, snapshot.passages),
        "nodes": nodes.rows,
        "edges": edges.rows,
        "lexical": await stores.lexical.keys(snapshot.generation),
        "vectors": await stores.vectors.keys(snapshot.generation),
    }


async def publish(stores: Stores, estate: Path) -> None:
    await stores.publisher.publish(PublishRequest(paths=[str(estate)]))


async def same_end(stepwise: Stores, fresh: Stores, edits: list[tuple[Any, ...]], estate: Path) -> None:
    for edit in edits:
        apply(edit, estate)
        if edit[0] == "publish":
            await publish(stepwise, estate)
    await publish(stepwise, estate)
    await publish(fresh, estate)
    assert await contents(stepwise) == await contents(fresh)
    assert (await stepwise.doctor.examine()).findings == []


@pytest.fixture(scope="module")
def embedder() -> HashEmbedder:
    return HashEmbedder()


def try_edits(edits: list[tuple[Any, ...]], embedder: HashEmbedder) -> None:
    async def story(folder: Path) -> None:
        estate = folder / "estate"
        (estate / "sub").mkdir(parents=True)
        (estate / "index.md").write_text("# Index\n\nAlways here.\n")
        async with (
            embedded_stores(folder / "steps", embedder) as steps,
            embedded_stores(folder / "once", embedder) as once,
        ):
            await same_end(steps, once, edits, estate)

    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(story(Path(folder)))


SEQUENCES = st.lists(EDITS, min_size=2, max_size=12)


@pytest.mark.timeout(600)
@given(edits=SEQUENCES)
@settings(max_examples=10, deadline=None)
def test_on_the_embedded_engines(edits: list[tuple[Any, ...]], embedder: HashEmbedder) -> None:
    try_edits(edits, embedder)


@pytest.mark.long
@pytest.mark.timeout(7_200)
@given(edits=SEQUENCES)
@settings(max_examples=300, deadline=None)
def test_on_the_embedded_engines_at_length(edits: list[tuple[Any, ...]], embedder: HashEmbedder) -> None:
    try_edits(edits, embedder)


@asynccontextmanager
async def real_stores(folder: Path, address: Neo4jAddress, url: str, embedder: HashEmbedder) -> AsyncIterator[Stores]:
    folder.mkdir(parents=True)  # noqa: ASYNC240 — a test waits for nothing else
    async with empty_database(address) as driver, own_indexes(url) as (client, prefix):
        reader = Neo4jGraphReader(driver)
        vectors = QdrantEdgeIndex.open(folder / "vectors", model="hash", dimensions=DIMENSIONS)
        cache = SqliteEmbeddingCache.open(folder / "cache.sqlite", kept=10_000)
        yield assemble(
            Neo4jGraphStore(driver, rebuild=rebuilt),
            reader,
            OpenSearchIndex(client, prefix=prefix),
            vectors,
            cache,
            embedder,
        )
        cache.close()
        await vectors.close()
        await reader.close()


SEQUENCE = [
    ("write", "", "a", "---\nuid: one\nproducts: [x]\n---\n# One\n\nSee [two](sub/c.md) and <xref:nowhere>.\n"),
    ("write", "sub/", "c", "---\nuid: two\nproducts: [x, y]\n---\n# Two\n\nBack to [one](../a.md).\n"),
    ("publish",),
    ("write", "", "b", "---\nuid: 'a b*(c)#'\n---\n# Odd\n\nSee [two](sub/c.md).\n"),
    ("move", "sub/", "c", "", "d"),
    ("publish",),
    ("break", "", "a", "---\n: {[\n---\n# Broken\n"),
    ("publish",),
    ("write", "", "a", "---\nuid: renamed\n---\n# One again\n\nSee [two](d.md).\n"),
    ("delete", "", "b"),
    ("publish",),
]


@pytest.mark.engines
@pytest.mark.timeout(300)
def test_on_neo4j_and_opensearch(
    tmp_path: Path, neo4j_server: Neo4jAddress, opensearch_server: str, embedder: HashEmbedder
) -> None:
    async def story() -> None:
        estate = tmp_path / "estate"
        (estate / "sub").mkdir(parents=True)
        (estate / "index.md").write_text("# Index\n\nAlways here.\n")
        async with real_stores(tmp_path / "real", neo4j_server, opensearch_server, embedder) as real:
            for edit in SEQUENCE:
                apply(edit, estate)
                if edit[0] == "publish":
                    await publish(real, estate)
            found = await contents(real)
            assert (await real.doctor.examine()).findings == []
        async with embedded_stores(tmp_path / "once", embedder) as once:
            await publish(once, estate)
            assert await contents(once) == found

    asyncio.run(story())
