"""An OpenSearch as a test finds it: migrated, empty, and nobody else's."""

import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from opensearchpy import AsyncOpenSearch

from adapters.opensearch.connection import open_client
from adapters.opensearch.migrator import OpenSearchMigrator


@asynccontextmanager
async def own_indexes(url: str) -> AsyncIterator[tuple[AsyncOpenSearch, str]]:
    """A client, and the prefix of indexes that go away at the end."""
    prefix = f"test-{uuid.uuid4().hex[:12]}"
    async with open_client(url) as client:
        await OpenSearchMigrator(client, prefix=prefix).apply()
        try:
            yield client, prefix
        finally:
            await remove_indexes(client, prefix)


async def remove_indexes(client: AsyncOpenSearch, prefix: str) -> None:
    """What is there of them."""
    names = f"{prefix}-migrations,{prefix}-passages-1"
    await client.indices.delete(index=names, params={"ignore_unavailable": "true"})
    await client.indices.delete_index_template(name=f"{prefix}-passages", ignore=404)
