"""A Qdrant as a test finds it: migrated for one model, empty, and nobody else's."""

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from qdrant_client import AsyncQdrantClient

from adapters.qdrant import connection
from adapters.qdrant.migrator import QdrantMigrator
from adapters.qdrant.vectors import collection_name


@asynccontextmanager
async def own_collection(url: str, model: str, dimensions: int) -> AsyncIterator[tuple[AsyncQdrantClient, str]]:
    """A client, and the prefix of collections that go away at the end."""
    prefix = f"test-{uuid.uuid4().hex[:12]}"
    client = connection.open_client(url)
    await QdrantMigrator(client, model=model, dimensions=dimensions, prefix=prefix).apply()
    try:
        yield client, prefix
    finally:
        await client.delete_collection(collection_name(prefix, model, dimensions))
        await client.delete_collection(f"{prefix}-migrations")
        await client.close()
