"""Which adapter stands behind each port: the embedded one, or the engine whose URL the settings name."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial

from adapters.embedded.data_folder import DataFolder
from adapters.embedded.graph_reader import EmbeddedGraphReader
from adapters.embedded.graph_store import EmbeddedGraphStore
from adapters.embedded.lexical import TantivyIndex
from adapters.embedded.ranker import ScipyRanker
from adapters.embedded.vectors import QdrantEdgeIndex
from adapters.embedding.http import HttpEmbedder
from adapters.embedding.minilm import MiniLM
from service.bootstrap.clients import open_neo4j, open_opensearch, open_qdrant
from service.bootstrap.migrating import ConfiguredMigrator
from service.bootstrap.profile import edge_weights
from service.observation import Readings
from service.ports import Embedder, GraphRanker, GraphReader, GraphStore, LexicalIndex, Migrator, VectorIndex
from service.publishing.linking import link
from service.settings import Settings


@asynccontextmanager
async def open_migrators(settings: Settings) -> AsyncIterator[list[Migrator]]:
    """The migrators of the engines that the settings name, for as long as the context lasts."""
    async with AsyncExitStack() as opened:
        found: list[Migrator] = []
        if settings.neo4j_url:
            from adapters.neo4j.migrator import Neo4jMigrator

            neo4j = Neo4jMigrator(open_neo4j(settings, opened))
            found.append(ConfiguredMigrator(neo4j, "neo4j_url", settings.neo4j_url))
        if settings.opensearch_url:
            from adapters.opensearch.migrator import OpenSearchMigrator

            opensearch = OpenSearchMigrator(open_opensearch(settings, opened), prefix=settings.engine_prefix)
            found.append(ConfiguredMigrator(opensearch, "opensearch_url", settings.opensearch_url))
        if settings.qdrant_url:
            from adapters.qdrant.migrator import QdrantMigrator

            embedder = await open_embedder(settings)
            opened.push_async_callback(embedder.close)
            client = open_qdrant(settings, opened)
            model, dimensions, prefix = embedder.model, embedder.dimensions, settings.engine_prefix
            qdrant = QdrantMigrator(client, model=model, dimensions=dimensions, prefix=prefix)
            found.append(ConfiguredMigrator(qdrant, "qdrant_url", settings.qdrant_url))
        yield found


@dataclass(frozen=True)
class Graph:
    store: GraphStore
    reader: GraphReader
    ranker: GraphRanker
    ranking_engine: str
    migrator: Migrator | None = None
    readings: tuple[Readings, ...] = ()


@dataclass(frozen=True)
class _Lexical:
    index: LexicalIndex
    migrator: Migrator | None = None
    readings: tuple[Readings, ...] = ()


@dataclass(frozen=True)
class _Vectors:
    index: VectorIndex
    migrator: Migrator | None = None
    readings: tuple[Readings, ...] = ()


async def open_graph(settings: Settings, folder: DataFolder, opened: AsyncExitStack) -> Graph:
    weights = edge_weights(settings)
    damping, iterations = settings.page_rank_damping, settings.page_rank_iterations
    rebuild = partial(link, default_locale=settings.default_locale)
    if settings.neo4j_url:
        from adapters.neo4j.migrator import Neo4jMigrator
        from adapters.neo4j.ranker import GdsRanker
        from adapters.neo4j.reader import Neo4jGraphReader
        from adapters.neo4j.store import Neo4jGraphStore

        driver = open_neo4j(settings, opened)
        neo4j = Neo4jGraphReader(driver)
        opened.push_async_callback(neo4j.close)
        kept = settings.page_rank_classes
        gds = GdsRanker(neo4j, weights=weights, damping=damping, iterations=iterations, kept=kept)
        opened.push_async_callback(gds.close)
        neo4j_store = Neo4jGraphStore(driver, rebuild=rebuild, rows_in_transaction=settings.publish_transaction)
        migrator = ConfiguredMigrator(Neo4jMigrator(driver), "neo4j_url", settings.neo4j_url)
        return Graph(neo4j_store, neo4j, gds, "gds", migrator)
    threads, waiting = settings.embedded_threads, settings.embedded_waiting
    store = await asyncio.to_thread(EmbeddedGraphStore.open, folder.graph, rebuild=rebuild, waiting=waiting)
    opened.push_async_callback(store.close)
    reader = EmbeddedGraphReader(lambda: store.live, workers=threads, waiting=waiting)
    opened.push_async_callback(reader.close)
    ranker = ScipyRanker(
        lambda: store.live,
        weights=weights,
        damping=damping,
        iterations=iterations,
        kept=settings.page_rank_classes,
        waiting=waiting,
    )
    opened.push_async_callback(ranker.close)
    queues = store.readings, reader.readings, ranker.readings
    return Graph(store, reader, ranker, "scipy", readings=queues)


async def open_lexical(settings: Settings, folder: DataFolder, opened: AsyncExitStack) -> _Lexical:
    title, heading = settings.title_boost, settings.heading_boost
    if settings.opensearch_url:
        from adapters.opensearch.lexical import OpenSearchIndex
        from adapters.opensearch.migrator import OpenSearchMigrator

        client = open_opensearch(settings, opened)
        prefix = settings.engine_prefix
        index = OpenSearchIndex(client, prefix=prefix, title_boost=title, heading_boost=heading)
        migrator = OpenSearchMigrator(client, prefix=prefix)
        return _Lexical(index, ConfiguredMigrator(migrator, "opensearch_url", settings.opensearch_url))
    embedded = await asyncio.to_thread(
        TantivyIndex.open,
        folder.text,
        title_boost=title,
        heading_boost=heading,
        memory=settings.text_index_memory,
        kept_keys=settings.passage_names,
        kept_passages=settings.passage_cache,
        workers=settings.embedded_threads,
        waiting=settings.embedded_waiting,
    )
    opened.push_async_callback(embedded.close)
    return _Lexical(embedded, readings=(embedded.readings,))


async def open_vectors(settings: Settings, folder: DataFolder, embedder: Embedder, opened: AsyncExitStack) -> _Vectors:
    model, dimensions = embedder.model, embedder.dimensions
    if settings.qdrant_url:
        from adapters.qdrant.migrator import QdrantMigrator
        from adapters.qdrant.vectors import QdrantIndex

        client = open_qdrant(settings, opened)
        prefix = settings.engine_prefix
        index = QdrantIndex(client, model=model, dimensions=dimensions, prefix=prefix)
        migrator = QdrantMigrator(client, model=model, dimensions=dimensions, prefix=prefix)
        return _Vectors(index, ConfiguredMigrator(migrator, "qdrant_url", settings.qdrant_url))
    embedded = await asyncio.to_thread(
        QdrantEdgeIndex.open,
        folder.vectors,
        model=model,
        dimensions=dimensions,
        exact_until=settings.vector_exact_passages,
        index_seconds=settings.vector_graph_deadline,
        reserve=settings.vector_disk_reserve,
        kept_keys=settings.passage_names,
        workers=settings.embedded_threads,
        waiting=settings.embedded_waiting,
    )
    opened.push_async_callback(embedded.close)
    return _Vectors(embedded, readings=(embedded.readings,))


async def open_embedder(settings: Settings) -> Embedder:
    if settings.embedder == "http":
        return await HttpEmbedder.connect(
            settings.embedder_url,
            settings.embedder_model,
            settings.embedder_key,
            dimensions=settings.embedder_dimensions,
            deadline_ms=settings.embedder_deadline,
            batch=settings.embedding_batch,
        )
    return await asyncio.to_thread(MiniLM.load, threads=settings.embedding_threads)
