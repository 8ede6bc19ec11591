"""A graph over the vectors: built by another process behind the searches' backs, and then it answers."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from adapters.embedded.vector_shards import VectorShards
from adapters.embedded.vectors import QdrantEdgeIndex
from service.domain.errors import DataFolderUnwritable
from service.ports import Vectors
from tests.contract.estate import passage, scope, soon

pytestmark = pytest.mark.anyio

DIMENSIONS = 16


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def vectors(count: int, seed: int = 1) -> Vectors:
    made = np.random.default_rng(seed).normal(size=(count, DIMENSIONS)).astype(np.float32)
    return made / np.linalg.norm(made, axis=1, keepdims=True)


def opened(folder: Path, **options: Any) -> QdrantEdgeIndex:
    return QdrantEdgeIndex.open(folder, model="test", dimensions=DIMENSIONS, **options)


def shards(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.glob("*/shard-*"))


async def until(true: Callable[[], bool]) -> None:
    by = time.monotonic() + 60
    while not true():
        assert time.monotonic() < by, "not in time"
        await asyncio.sleep(0.02)


async def nearest(index: QdrantEdgeIndex, vector: Any) -> list[str]:
    hits = await index.search(vector, scope(2), depth=5, deadline=soon())
    return [hit.passage.identity.uid for hit in hits]


async def test_a_graph_takes_the_place_of_comparing_one_by_one(tmp_path: Path) -> None:
    made = vectors(120)
    index = opened(tmp_path, exact_until=100)
    await index.add([passage(f"first {number}", "") for number in range(60)], made[:60], 1)
    await until(lambda: index._settling is not None and index._settling.done())
    assert shards(tmp_path) == ["shard-1"], "too few yet"
    await index.add([passage(f"second {number}", "") for number in range(60)], made[60:], 1)
    await until(lambda: len(shards(tmp_path)) == 2)
    # Both while the graph is in the making: what is written to the old shard is written to the new one as well.
    await index.add([passage("late", "")], vectors(1, seed=2), 2)
    await index.remove([(passage("first 3", "").node.identity, "0" * 64)])
    by_hand = {
        place: [
            f"{'first' if at < 60 else 'second'} {at % 60}" for at in np.argsort(-(made @ made[place]))[:6] if at != 3
        ][:5]
        for place in (7, 99)
    }
    for place, expected in by_hand.items():
        assert await nearest(index, made[place]) == expected
    await until(lambda: shards(tmp_path) == ["shard-2"])
    for place, expected in by_hand.items():
        assert await nearest(index, made[place]) == expected
    assert (await nearest(index, vectors(1, seed=2)[0]))[0] == "late"
    assert await index.count(2) == 120
    await index.close()
    again = opened(tmp_path, exact_until=100)
    assert await again.count(2) == 120
    assert again._shard.info().indexed_vectors_count >= 119
    assert (await nearest(again, vectors(1, seed=2)[0]))[0] == "late"
    await again.close()


async def test_a_graph_that_can_not_be_built_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object, **__: object) -> bool:
        return False

    monkeypatch.setattr(VectorShards, "index", fail)
    index = opened(tmp_path, exact_until=10)
    await index.add([passage(f"page {number}", "") for number in range(20)], vectors(20), 1)
    await until(lambda: index._settling is not None and index._settling.done())
    assert shards(tmp_path) == ["shard-1"]
    assert (await nearest(index, vectors(20)[4]))[0] == "page 4"
    await index.close()


async def test_closing_does_not_wait_for_a_graph(tmp_path: Path) -> None:
    index = opened(tmp_path, exact_until=10)
    await index.add([passage(f"page {number}", "") for number in range(20)], vectors(20), 1)
    await until(lambda: len(shards(tmp_path)) == 2)
    await index.close()
    again = opened(tmp_path, exact_until=1_000)
    assert shards(tmp_path) == ["shard-1"]
    assert await again.count(1) == 20
    await again.close()


async def test_a_start_finds_a_graph_wanting(tmp_path: Path) -> None:
    index = opened(tmp_path)
    await index.add([passage(f"page {number}", "") for number in range(20)], vectors(20), 1)
    await index.close()
    again = opened(tmp_path, exact_until=10)
    await nearest(again, vectors(20)[0])
    await until(lambda: shards(tmp_path) == ["shard-2"])
    assert (await nearest(again, vectors(20)[4]))[0] == "page 4"
    await again.close()


async def test_nothing_is_written_where_the_disk_is_nearly_full(tmp_path: Path) -> None:
    """The engine would die of it, and all of the service with it."""
    everything = 2**62
    with pytest.raises(DataFolderUnwritable, match="No space left"):
        opened(tmp_path / "new", reserve=everything)
    index = opened(tmp_path)
    await index.add([passage("a", "")], vectors(1), 1)
    await index.close()
    full = opened(tmp_path, reserve=everything)
    with pytest.raises(DataFolderUnwritable, match="No space left"):
        await full.add([passage("b", "")], vectors(1), 1)
    with pytest.raises(DataFolderUnwritable, match="No space left"):
        await full.remove_after(0)
    assert await nearest(full, vectors(1)[0]) == ["a"]
    await full.close()
