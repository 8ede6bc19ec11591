"""A process that publishes one version after another into a data folder until it is killed, and says what is done.

    python -m tests.unit.adapters.embedded.endless_publisher FOLDER

prints `ready VERSION`, then for each version `added VERSION` and `committed VERSION`.
"""

import asyncio
import sys
from pathlib import Path

import numpy as np

from adapters.embedded.data_folder import DataFolder
from adapters.embedded.embedding_cache import SqliteEmbeddingCache
from adapters.embedded.graph_store import EmbeddedGraphStore
from adapters.embedded.lexical import TantivyIndex
from adapters.embedded.vectors import QdrantEdgeIndex
from service.domain.content import NodeRecord, Passage
from service.domain.graph import EdgeType
from service.domain.snapshots import PublishStep
from service.ports import Vectors
from tests.contract.estate import change, linked, record, refers

DIMENSIONS = 8
SIZE = 40


def version(number: int) -> list[NodeRecord]:
    """Every page but the first is new in each version, and links to the next."""
    names = [f"page {place}" for place in range(SIZE)]
    return [record("stays")] + [
        record(uid, refers(EdgeType.XREF, names[(place + 1) % SIZE]), title=f"Version {number}")
        for place, uid in enumerate(names)
    ]


def passages(records: list[NodeRecord]) -> list[Passage]:
    return [Passage(each.node, each.content_hash, 0, "", "", f"slot {each.node.title}") for each in records]


def vectors(count: int) -> Vectors:
    return np.random.default_rng(7).normal(size=(count, DIMENSIONS)).astype(np.float32)


def open_store(folder: DataFolder) -> EmbeddedGraphStore:
    return EmbeddedGraphStore.open(folder.graph, rebuild=lambda records: linked(list(records)))


def open_vectors(folder: DataFolder) -> QdrantEdgeIndex:
    return QdrantEdgeIndex.open(folder.vectors, model="test", dimensions=DIMENSIONS)


async def publish_for_ever(path: Path) -> None:
    with DataFolder.open(path) as folder:
        store, lexical, dense = open_store(folder), TantivyIndex.open(folder.text), open_vectors(folder)
        cache = SqliteEmbeddingCache.open(folder.embeddings, kept=1_000)
        snapshot = await store.snapshot()
        held = version(snapshot.generation) if snapshot.generation else []
        say("ready", snapshot.generation)
        while True:
            records = version(snapshot.generation + 1)
            moved = change(records, snapshot, publish_id=f"p{snapshot.generation + 1}", held=held)
            await store.begin(moved.entry)
            new = passages(list(moved.records))
            cache.put("test", {each.content_hash: vectors(1)[0] for each in new})
            await lexical.add(new, moved.snapshot.generation)
            await dense.add(new, vectors(len(new)), moved.snapshot.generation)
            await store.advance(moved.entry.publish_id, PublishStep.VECTORS_ADDED)
            say("added", moved.snapshot.generation)
            await store.commit(moved)
            say("committed", moved.snapshot.generation)
            await store.advance(moved.entry.publish_id, PublishStep.COLLECTED)
            await store.keep(2)
            snapshot, held = moved.snapshot, records


def say(what: str, generation: int) -> None:
    print(what, generation, flush=True)


if __name__ == "__main__":
    asyncio.run(publish_for_ever(Path(sys.argv[1])))
