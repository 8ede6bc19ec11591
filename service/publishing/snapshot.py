"""A kept snapshot as its records say it."""

from collections.abc import Collection

from service.domain.content import NodeRecord
from service.domain.snapshots import LinkedGraph
from service.ports import GraphStore
from service.publishing.linking import link


async def records_with(store: GraphStore, hashes: Collection[str]) -> list[NodeRecord]:
    """The stored records with these content hashes."""
    return [record async for record in store.records(hashes)]


async def current_records(store: GraphStore) -> list[NodeRecord]:
    """Every record of the snapshot that answers now."""
    return await records_with(store, set((await store.manifest()).values()))


async def current_graph(store: GraphStore, default_locale: str) -> LinkedGraph:
    """The snapshot that answers now, linked anew."""
    return link(await current_records(store), default_locale=default_locale)
