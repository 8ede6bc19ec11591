"""A Qdrant as a test finds it: migrated for one model, empty, and nobody else's."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from qdrant_client import AsyncQdrantClient

from adapters.qdrant import connection
from adapters.qdrant.migrator import QdrantMigrator
from adapters.qdrant.vectors import collection_name
from tests.engines import QdrantAddress


@asynccontextmanager
async def own_collection(address: QdrantAddress, model: str, dimensions: int) -> AsyncIterator[AsyncQdrantClient]:
    """A client; the collections under the address's prefix are made now, and go away at the end."""
    client = connection.open_client(address.url)
    try:
        await remove_collections(client, address.prefix, model, dimensions)
        await QdrantMigrator(client, model=model, dimensions=dimensions, prefix=address.prefix).apply()
        yield client
        await remove_collections(client, address.prefix, model, dimensions)
    finally:
        await client.close()


async def remove_collections(client: AsyncQdrantClient, prefix: str, model: str, dimensions: int) -> None:
    """What a run that was killed may have left, too."""
    await client.delete_collection(collection_name(prefix, model, dimensions))
    await client.delete_collection(f"{prefix}-migrations")
