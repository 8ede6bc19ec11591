"""kill -9 at any moment loses nothing that was acknowledged and leaves the old snapshot or the new one, whole."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

import service.statements as statements
from adapters.embedded.data_folder import DataFolder
from adapters.embedded.embedding_cache import SqliteEmbeddingCache
from adapters.embedded.graph_reader import EmbeddedGraphReader
from adapters.embedded.lexical import TantivyIndex
from service.domain.filters import NodeFilter
from service.domain.graph import EVERYONE
from service.domain.snapshots import PublishStep
from tests.contract.estate import scope, soon
from tests.unit.adapters.embedded.endless_publisher import (
    DIMENSIONS,
    SIZE,
    open_store,
    open_vectors,
    passages,
    vectors,
    version,
)

ROOT = Path(__file__).parents[4]

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def publish_and_kill(path: Path, chance: random.Random) -> dict[str, int]:
    """What the process last said of each kind before it was killed."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.unit.adapters.embedded.endless_publisher", str(path)],
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert process.stdout is not None
    said: dict[str, int] = {}
    for _ in range(chance.randrange(1, 8)):
        what, generation = process.stdout.readline().split()
        said[what] = int(generation)
    # Not to wait for anything: to strike in the middle of whatever comes next.
    time.sleep(chance.random() * 0.1)
    process.kill()
    rest, _ = process.communicate(timeout=30)
    said |= {what: int(generation) for what, generation in (line.split() for line in rest.splitlines() if line)}
    return said


async def check_and_recover(path: Path, said: dict[str, int]) -> None:
    """Look at every store as the next start finds it; then do what recovery does."""
    with DataFolder.open(path) as folder:
        started = time.monotonic()
        store, lexical, dense = open_store(folder), TantivyIndex.open(folder.text), open_vectors(folder)
        assert time.monotonic() - started < 10, "a busy machine; on a quiet one it is under a second"
        snapshot = await store.snapshot()
        acknowledged = said.get("committed", said["ready"])
        assert snapshot.generation in (acknowledged, acknowledged + 1)
        if snapshot.generation:
            records = version(snapshot.generation)
            assert await store.manifest() == {each.node.identity: each.content_hash for each in records}
            assert len([each async for each in store.records([each.content_hash for each in records])]) == SIZE + 1
            reader = EmbeddedGraphReader(lambda: store.live)
            everyone = frozenset({EVERYONE})
            (counted,) = (await reader.run(statements.count_edges(everyone), deadline=soon())).rows
            assert counted == ("xref", SIZE)
            listing = statements.list_nodes(NodeFilter(), everyone, after="en-us:page", limit=SIZE)
            titles = {row[4] for row in (await reader.run(listing, deadline=soon())).rows}
            assert titles - {"Untitled"} == {f"Version {snapshot.generation}"}
            await reader.close()
            wanted = {each.key for each in passages(records)}
            assert wanted <= await lexical.keys(snapshot.generation)
            assert wanted <= await dense.keys(snapshot.generation)
            within, every = scope(snapshot.generation), 100 * SIZE
            found = await lexical.search("slot", within, depth=every, deadline=soon())
            assert wanted <= {hit.passage for hit in found}
            nearest = await dense.search(vectors(1)[0], within, depth=every, deadline=soon())
            assert wanted <= {hit.passage for hit in nearest}
        if said.get("added", 0) > snapshot.generation:
            ahead = {each.key for each in passages(version(said["added"])[1:])}
            assert ahead <= await lexical.keys(said["added"])
            assert ahead <= await dense.keys(said["added"])
            cache = SqliteEmbeddingCache.open(folder.embeddings, kept=1_000)
            hashes = [key.content_hash for key in ahead]
            assert len(cache.get("test", hashes)) == SIZE
            cache.close()
        unfinished = await store.unfinished()
        if unfinished is not None and unfinished.step is PublishStep.COMMITTED:
            await store.advance(unfinished.publish_id, PublishStep.COLLECTED)
        elif unfinished is not None:
            await lexical.remove_after(snapshot.generation)
            await dense.remove_after(snapshot.generation)
            await store.abandon(unfinished.publish_id)
        assert await store.unfinished() is None
        await dense.close()
        await lexical.close()
        await store.close()


async def rounds(path: Path, count: int, seed: int) -> None:
    chance = random.Random(seed)
    for _ in range(count):
        await check_and_recover(path, publish_and_kill(path, chance))


async def test_killed_a_few_times(tmp_path: Path) -> None:
    assert vectors(1).shape == (1, DIMENSIONS)
    await rounds(tmp_path / "data", 3, seed=1)


@pytest.mark.long
@pytest.mark.timeout(1_200)
async def test_killed_many_times(tmp_path: Path) -> None:
    await rounds(tmp_path / "data", 40, seed=2)
