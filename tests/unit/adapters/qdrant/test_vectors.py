"""Requests to Qdrant, taken by its client's in-process imitation: what they mean, only a server can say."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

import numpy as np
import pytest
from qdrant_client import AsyncQdrantClient

from adapters.qdrant.migrator import QdrantMigrator
from adapters.qdrant.vectors import QdrantIndex, collection_name
from service.ports import Vectors
from tests.contract.estate import STAFF, passage, scope, soon

pytestmark = pytest.mark.filterwarnings("ignore:Payload indexes have no effect:UserWarning")

Answer = TypeVar("Answer")

MODEL, DIMENSIONS = "test", 2
AXES: Vectors = np.array([[1, 0], [0, 1], [0.8, 0.6]], dtype=np.float32)


def run(work: Callable[[AsyncQdrantClient, QdrantIndex], Awaitable[Answer]]) -> Answer:
    async def migrated() -> Answer:
        client = AsyncQdrantClient(location=":memory:")
        try:
            await QdrantMigrator(client, model=MODEL, dimensions=DIMENSIONS).apply()
            return await work(client, QdrantIndex(client, model=MODEL, dimensions=DIMENSIONS))
        finally:
            await client.close()

    return asyncio.run(migrated())


def test_a_second_migration_has_nothing_to_do_and_another_model_has_a_collection_of_its_own() -> None:
    async def work(client: AsyncQdrantClient, _: QdrantIndex) -> tuple[int, int, set[str]]:
        again = len(await QdrantMigrator(client, model=MODEL, dimensions=DIMENSIONS).apply())
        other = len(await QdrantMigrator(client, model="other", dimensions=DIMENSIONS).apply())
        return again, other, {found.name for found in (await client.get_collections()).collections}

    again, other, names = run(work)
    assert (again, other) == (0, 1)
    assert names == {
        collection_name("cogitave", MODEL, DIMENSIONS),
        collection_name("cogitave", "other", DIMENSIONS),
        "cogitave-migrations",
    }


def test_the_nearest_in_scope_come_first() -> None:
    async def work(_: AsyncQdrantClient, index: QdrantIndex) -> list[list[str]]:
        found = [
            passage("east", "", products=("a",)),
            passage("north", "", products=("a", "b")),
            passage("secret", "", visible_to=("staff",)),
        ]
        await index.add(found, AXES, 1)
        scopes = [scope(), scope(principal=STAFF), scope(product=["b"]), scope(generation=0)]
        answers = [await index.search(AXES[0], each, depth=5, deadline=soon()) for each in scopes]
        return [[hit.passage.identity.uid for hit in hits] for hits in answers]

    assert run(work) == [["east", "north"], ["east", "secret", "north"], ["north"], []]


def test_a_removed_record_is_gone_and_the_rest_reads_back() -> None:
    first, second = passage("a", "one", content_hash="1" * 64), passage("b", "two", content_hash="2" * 64)

    async def work(_: AsyncQdrantClient, index: QdrantIndex) -> None:
        await index.add([first, second], AXES[:2], 3)
        await index.remove([(first.node.identity, first.content_hash)])
        assert await index.keys(3) == {second.key}
        assert await index.passages([first.key, second.key], scope(3), deadline=soon()) == {second.key: second}
        await index.remove_after(2)
        assert await index.count(3) == 0

    run(work)
