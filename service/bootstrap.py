"""The composition root: the only place that chooses adapters.

The clients of engines that are reached by URL take longer to import than all else together, so they are imported where
a setting names such an engine, and every other command starts without them.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from contextlib import AsyncExitStack, asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import structlog
from tenacity import AsyncRetrying, retry_if_exception_type, wait_random_exponential

from adapters.embedded import backup
from adapters.embedded.audit_log import JsonLinesAuditLog
from adapters.embedded.data_folder import DataFolder, Owner
from adapters.embedded.embedding_cache import SqliteEmbeddingCache
from adapters.embedded.graph_reader import EmbeddedGraphReader
from adapters.embedded.graph_store import EmbeddedGraphStore
from adapters.embedded.judgments import JudgmentFolder
from adapters.embedded.key_store import SqliteKeyStore
from adapters.embedded.lexical import TantivyIndex
from adapters.embedded.ranker import ScipyRanker
from adapters.embedded.record_source import SharedRecords
from adapters.embedded.run_log import SqliteRunLog
from adapters.embedded.vectors import QdrantEdgeIndex
from adapters.embedding.http import HttpEmbedder
from adapters.embedding.minilm import MiniLM
from adapters.estates import ReadingRules, readers
from cypher_guard import Profile
from service.domain.errors import BackupImpossible, PublishInProgress, SettingInvalid, Unavailable
from service.domain.graph import EdgeType, NodeKind
from service.domain.progress import Progress, silent
from service.domain.results import DoctorResult
from service.domain.upkeep import BackupResult
from service.observation import SILENT, Both, Observer, Reading, Readings
from service.observed_engines import (
    ObservedEmbedder,
    ObservedGraphRanker,
    ObservedGraphReader,
    ObservedGraphStore,
    ObservedLexicalIndex,
    ObservedVectorIndex,
)
from service.ports import (
    AuditLog,
    Embedder,
    EstateReader,
    GraphRanker,
    GraphReader,
    GraphStore,
    Judgments,
    KeyStore,
    LexicalIndex,
    Migrator,
    RunLog,
    VectorIndex,
)
from service.publishing.doctor import Doctor
from service.publishing.linking import link
from service.publishing.projection import Projections
from service.publishing.publisher import Publisher
from service.publishing.reembedding import RecordSource, Reembedding
from service.publishing.vector_projection import VectorProjection
from service.retrieval.cards import CardCache
from service.retrieval.engines import Retrieval
from service.retrieval.facets import FacetCounter
from service.retrieval.known_graph import KnownGraphReader, KnownSnapshots
from service.retrieval.prior import PriorCache
from service.retrieval.query_vectors import QueryVectors
from service.retrieval.ranker import Ranker
from service.settings import Settings
from service.tools.local import LocalToolbox

if TYPE_CHECKING:
    from neo4j import AsyncDriver
    from opensearchpy import AsyncOpenSearch
    from qdrant_client import AsyncQdrantClient

EDGE_PROPERTIES = frozenset("weight via file line ordinal publishId".split())
GRAPH_PROPERTIES = frozenset(
    """uid locale kind title type url summary path docset workspace products topics roles audience region level
    monikerRange monikers aliases lastModified contentHash language durationMinutes family order
    weight via file line ordinal publishId""".split()
)
"""What a query_graph may read of nodes and edges: everything but access control and the store's own key."""


def owner(data: Path) -> Owner | None:
    """Who owns the data folder now, if anyone does."""
    return DataFolder.owner(data)


@dataclass(frozen=True)
class Owned:
    """A data folder of this process's: its tools, and `announce(url)`, which tells other commands where we serve."""

    toolbox: LocalToolbox
    run_log: RunLog
    announce: Callable[[str], Owner]
    observer: Observer
    readings: Readings


@asynccontextmanager
async def open_toolbox(settings: Settings, data: Path) -> AsyncIterator[LocalToolbox]:
    """The tools of a data folder that this process owns until the context is left; raises what `open_owned` raises."""
    async with open_owned(settings, data) as owned:
        yield owned.toolbox


@asynccontextmanager
async def open_owned(settings: Settings, data: Path, watching: Observer = SILENT) -> AsyncIterator[Owned]:
    """As `open_stores`, and end what an earlier publish left unfinished: at once when it only has to be taken back, in
    the background when vectors are still to be filled in.
    """
    async with open_stores(settings, data, watching) as owned:
        preparing = asyncio.create_task(_prepare(owned.toolbox.publisher))
        try:
            yield owned
        finally:
            await _stop(preparing)


@asynccontextmanager
async def open_stores(settings: Settings, data: Path, watching: Observer = SILENT) -> AsyncIterator[Owned]:
    """Own the data folder and everything in it until the context is left.

    watching: is told of all that is done, besides the traces that the settings may ask for.

    Raises DataFolderHeld, DataFolderUnwritable, DataFolderVersionUnknown or EngineUnavailable.
    """
    async with AsyncExitStack() as opened:
        folder = opened.enter_context(await asyncio.to_thread(_own_or_share, settings, data))
        observer = _observer(settings, watching, opened)
        embedder = ObservedEmbedder(await _open_embedder(settings), observer)
        opened.push_async_callback(embedder.close)
        graph = _observed(await _open_graph(settings, folder, opened), observer)
        lexical = await _open_lexical(settings, folder, opened)
        lexical = replace(lexical, index=ObservedLexicalIndex(lexical.index, observer))
        vectors = await _open_vectors(settings, folder, embedder, opened)
        vectors = replace(vectors, index=ObservedVectorIndex(vectors.index, observer))
        cache = SqliteEmbeddingCache.open(folder.embeddings, kept=settings.embedding_cache)
        opened.callback(cache.close)
        run_log = SqliteRunLog.open(
            folder.runs, kept=settings.run_log_records, days=settings.run_log_days, size=settings.run_log_bytes
        )
        opened.callback(run_log.close)
        priors = PriorCache(graph.ranker, settings)
        opened.push_async_callback(priors.close)
        profile = graph_profile(settings)
        known = KnownSnapshots(graph.store, graph.reader.engine, settings.graph_deadline, settings.breaker_pause / 1000)
        reader = KnownGraphReader(graph.reader, known)
        retrieval = Retrieval(
            lexical=lexical.index,
            vectors=vectors.index,
            graph=reader,
            store=known,
            query_vectors=QueryVectors(embedder, settings.query_cache),
            tokens=embedder.tokens,
            facets=FacetCounter(reader, profile, settings),
            cards=CardCache(reader, settings.node_cards),
            ranker=Ranker(priors, settings),
            profile=profile,
            run_log=run_log,
            settings=settings,
            observer=observer,
        )
        projections = Projections(lexical.index, vectors.index, embedder, cache, settings)
        publisher = Publisher(
            store=graph.store,
            projections=projections,
            readers=estate_readers(settings),
            settings=settings,
            migrators=[part.migrator for part in (graph, lexical, vectors) if part.migrator is not None],
        )
        toolbox = LocalToolbox(retrieval, publisher, Doctor(graph.store, graph.reader, projections, settings))
        sources = (*graph.readings, *lexical.readings, *vectors.readings, run_log.readings, retrieval.readings)
        yield Owned(toolbox, run_log, folder.announce, observer, partial(_read_off, sources))


@asynccontextmanager
async def open_keys(settings: Settings, data: Path) -> AsyncIterator[KeyStore]:
    """API keys: in Neo4j where the settings name one, so that every server knows the same; else in the data folder,
    whoever owns it. Raises DataFolderUnwritable, DataFolderVersionUnknown or EngineUnavailable.
    """
    async with AsyncExitStack() as opened:
        if settings.neo4j_url:
            from adapters.neo4j.key_store import Neo4jKeyStore

            yield Neo4jKeyStore(_neo4j(settings, opened))
            return
        folder = await asyncio.to_thread(DataFolder.share, data)
        store = await asyncio.to_thread(SqliteKeyStore.open, folder.keys, waiting=settings.embedded_waiting)
        opened.push_async_callback(store.close)
        yield store


@contextmanager
def open_audit_log(settings: Settings, data: Path) -> Iterator[AuditLog]:
    """The audit log of this machine, which several processes may write. Raises DataFolderUnwritable."""
    folder = DataFolder.share(data)
    log = JsonLinesAuditLog.open(folder.audit, file_bytes=settings.audit_bytes, files=settings.audit_files)
    try:
        yield log
    finally:
        log.close()


def open_judgments(settings: Settings, data: Path) -> Judgments:
    """What people judged on this machine, in a folder that `evaluate` reads. Raises DataFolderUnwritable."""
    return JudgmentFolder(DataFolder.share(data).judgments, settings.judgments_kept)


async def back_up(settings: Settings, data: Path, file: Path) -> BackupResult:
    """Write the data folder's records and vectors into a file, whoever owns the folder and whatever it does meanwhile.
    Raises BackupImpossible, EngineUnavailable or DataFolderUnwritable."""
    _require_own_records(settings)
    started = time.perf_counter()
    written = await asyncio.to_thread(backup.write, data, file)
    return BackupResult(
        file=str(file),
        content_root=written.content_root,
        generation=written.generation,
        nodes=written.nodes,
        size=sum(size for size, _ in written.parts.values()),
        seconds=time.perf_counter() - started,
    )


async def restore(settings: Settings, data: Path, file: Path, progress: Progress = silent) -> DoctorResult:
    """Make a new data folder of a backup, fill its engines, and examine them. Raises BackupImpossible, BackupInvalid,
    DataFolderUsed, EngineUnavailable or DataFolderUnwritable."""
    _require_own_records(settings)
    await asyncio.to_thread(backup.place, file, data)
    async with open_stores(settings, data) as owned:
        await owned.toolbox.publisher.recover(progress)
        return await owned.toolbox.doctor(repair=False, progress=progress)


def _require_own_records(settings: Settings) -> None:
    if settings.neo4j_url:
        raise BackupImpossible(
            "The records are in Neo4j: back it up and restore it by its own means, then run doctor --repair."
        )


@asynccontextmanager
async def open_reembedding(settings: Settings, data: Path) -> AsyncIterator[Reembedding]:
    """The index of the settings' model, to be filled beside the one that answers, whoever owns the data folder.

    Raises EngineUnavailable, also where the folder's owner answers with this very model.
    """
    async with AsyncExitStack() as opened:
        folder = opened.enter_context(await asyncio.to_thread(DataFolder.share, data))
        embedder = await _open_embedder(settings)
        opened.push_async_callback(embedder.close)
        source: RecordSource
        if settings.neo4j_url:
            source = (await _open_graph(settings, folder, opened)).store
        else:
            source = records = await asyncio.to_thread(SharedRecords.open, folder.graph)
            opened.push_async_callback(records.close)
        vectors = await _open_vectors(settings, folder, embedder, opened)
        if vectors.migrator is not None:
            await vectors.migrator.apply()
        cache = SqliteEmbeddingCache.open(folder.embeddings, kept=settings.embedding_cache)
        opened.callback(cache.close)
        yield Reembedding(source, VectorProjection(vectors.index, embedder, cache, settings))


@asynccontextmanager
async def open_migrators(settings: Settings) -> AsyncIterator[list[Migrator]]:
    """The migrators of the engines that the settings name, for as long as the context lasts."""
    async with AsyncExitStack() as opened:
        found: list[Migrator] = []
        if settings.neo4j_url:
            from adapters.neo4j.migrator import Neo4jMigrator

            found.append(Neo4jMigrator(_neo4j(settings, opened)))
        if settings.opensearch_url:
            from adapters.opensearch.migrator import OpenSearchMigrator

            found.append(OpenSearchMigrator(_opensearch(settings, opened), prefix=settings.engine_prefix))
        if settings.qdrant_url:
            from adapters.qdrant.migrator import QdrantMigrator

            embedder = await _open_embedder(settings)
            opened.push_async_callback(embedder.close)
            client = _qdrant(settings, opened)
            model, dimensions, prefix = embedder.model, embedder.dimensions, settings.engine_prefix
            found.append(QdrantMigrator(client, model=model, dimensions=dimensions, prefix=prefix))
        yield found


@dataclass(frozen=True)
class _Graph:
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


def _observer(settings: Settings, watching: Observer, opened: AsyncExitStack) -> Observer:
    """The traces' library takes long to import, so it is imported where a setting asks for traces."""
    if not settings.trace_endpoint:
        return watching
    from adapters.telemetry.otlp import OtlpTraces

    traces = OtlpTraces.open(
        settings.trace_endpoint,
        trace_headers(settings),
        share=settings.trace_share,
        texts=settings.trace_texts,
        queue=settings.trace_queue,
        deadline=settings.trace_deadline / 1000,
    )
    opened.push_async_callback(traces.close)
    return Both(traces, watching)


def trace_headers(settings: Settings) -> dict[str, str]:
    """`name=value,name=value`, as OpenTelemetry writes headers. Raises SettingInvalid."""
    pairs = [pair.partition("=") for pair in settings.trace_headers.get_secret_value().split(",") if pair.strip()]
    if not all(name.strip() and equals for name, equals, _ in pairs):
        raise SettingInvalid("'trace_headers' takes NAME=VALUE, several of them with commas between.")
    return {name.strip(): value.strip() for name, _, value in pairs}


def _observed(graph: _Graph, observer: Observer) -> _Graph:
    return replace(
        graph,
        store=ObservedGraphStore(graph.store, graph.reader.engine, observer),
        reader=ObservedGraphReader(graph.reader, observer),
        ranker=ObservedGraphRanker(graph.ranker, graph.ranking_engine, observer),
    )


def _own_or_share(settings: Settings, data: Path) -> DataFolder:
    """With every engine elsewhere the folder holds caches alone, which any number of processes may use."""
    elsewhere = settings.neo4j_url and settings.opensearch_url and settings.qdrant_url
    return DataFolder.share(data) if elsewhere else DataFolder.open(data)


async def _open_graph(settings: Settings, folder: DataFolder, opened: AsyncExitStack) -> _Graph:
    weights = edge_weights(settings)
    damping, iterations = settings.page_rank_damping, settings.page_rank_iterations
    rebuild = partial(link, default_locale=settings.default_locale)
    if settings.neo4j_url:
        from adapters.neo4j.migrator import Neo4jMigrator
        from adapters.neo4j.ranker import GdsRanker
        from adapters.neo4j.reader import Neo4jGraphReader
        from adapters.neo4j.store import Neo4jGraphStore

        driver = _neo4j(settings, opened)
        neo4j = Neo4jGraphReader(driver)
        opened.push_async_callback(neo4j.close)
        kept = settings.page_rank_classes
        gds = GdsRanker(neo4j, weights=weights, damping=damping, iterations=iterations, kept=kept)
        opened.push_async_callback(gds.close)
        neo4j_store = Neo4jGraphStore(driver, rebuild=rebuild, rows_in_transaction=settings.publish_transaction)
        return _Graph(neo4j_store, neo4j, gds, "gds", Neo4jMigrator(driver))
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
    return _Graph(store, reader, ranker, "scipy", readings=queues)


async def _open_lexical(settings: Settings, folder: DataFolder, opened: AsyncExitStack) -> _Lexical:
    title, heading = settings.title_boost, settings.heading_boost
    if settings.opensearch_url:
        from adapters.opensearch.lexical import OpenSearchIndex
        from adapters.opensearch.migrator import OpenSearchMigrator

        client = _opensearch(settings, opened)
        prefix = settings.engine_prefix
        index = OpenSearchIndex(client, prefix=prefix, title_boost=title, heading_boost=heading)
        return _Lexical(index, OpenSearchMigrator(client, prefix=prefix))
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


async def _open_vectors(settings: Settings, folder: DataFolder, embedder: Embedder, opened: AsyncExitStack) -> _Vectors:
    model, dimensions = embedder.model, embedder.dimensions
    if settings.qdrant_url:
        from adapters.qdrant.migrator import QdrantMigrator
        from adapters.qdrant.vectors import QdrantIndex

        client = _qdrant(settings, opened)
        prefix = settings.engine_prefix
        index = QdrantIndex(client, model=model, dimensions=dimensions, prefix=prefix)
        return _Vectors(index, QdrantMigrator(client, model=model, dimensions=dimensions, prefix=prefix))
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


def _neo4j(settings: Settings, opened: AsyncExitStack) -> "AsyncDriver":
    from adapters.neo4j.connection import open_driver

    driver = open_driver(
        settings.neo4j_url,
        settings.neo4j_user,
        settings.neo4j_password.get_secret_value(),
        connections=settings.engine_connections,
    )
    opened.push_async_callback(driver.close)
    return driver


def _opensearch(settings: Settings, opened: AsyncExitStack) -> "AsyncOpenSearch":
    from adapters.opensearch.connection import open_client

    client = open_client(
        settings.opensearch_url,
        settings.opensearch_user,
        settings.opensearch_password.get_secret_value(),
        connections=settings.engine_connections,
    )
    opened.push_async_callback(client.close)
    return client


def _qdrant(settings: Settings, opened: AsyncExitStack) -> "AsyncQdrantClient":
    from adapters.qdrant.connection import open_client

    client = open_client(
        settings.qdrant_url, settings.qdrant_key.get_secret_value(), connections=settings.engine_connections
    )
    opened.push_async_callback(client.close)
    return client


def edge_weights(settings: Settings) -> dict[EdgeType, tuple[float, float]]:
    """What the random walk's step along and against an edge of each type is worth."""
    return {EdgeType(name): (forward, backward) for name, (forward, backward) in settings.edge_weights.items()}


def estate_readers(settings: Settings) -> tuple[EstateReader, ...]:
    """Every documentation format. They remember what they read for as long as the process lasts: a watch opens the
    stores anew for each publish."""
    return _remembering_readers(reading_rules(settings))


@lru_cache(maxsize=4)
def _remembering_readers(rules: ReadingRules) -> tuple[EstateReader, ...]:
    return readers(rules)


def reading_rules(settings: Settings) -> ReadingRules:
    return ReadingRules(
        default_locale=settings.default_locale,
        page_bytes=settings.page_bytes,
        code_sample_lines=settings.code_sample_lines,
        site_hosts=settings.site_hosts,
        remembered_pages=settings.remembered_pages,
    )


def graph_profile(settings: Settings) -> Profile:
    """The bounds of a query_graph over this service's graph."""
    return Profile(
        edge_types=frozenset(edge.value for edge in EdgeType),
        labels=frozenset({"Node", *(kind.label for kind in NodeKind)}),
        properties=GRAPH_PROPERTIES,
        edge_properties=EDGE_PROPERTIES,
        allow_bare_arrows=True,
        default_rows=settings.graph_query_rows,
        max_rows=settings.graph_query_rows_cap,
        timeout_ms=settings.graph_query_deadline,
    )


def _read_off(sources: Iterable[Readings]) -> Iterable[Reading]:
    return chain.from_iterable(read() for read in sources)


async def _prepare(publisher: Publisher) -> None:
    """Make the stores fit to be read, and fill in what another model's settings published; engines may come up later.

    What another publisher has in hand is not ours to end.
    """
    log = structlog.get_logger()
    try:
        async for attempt in AsyncRetrying(
            retry=retry_if_exception_type(Unavailable),
            wait=wait_random_exponential(multiplier=0.5, max=15),
            before_sleep=lambda state: log.warning(
                "engines_not_ready", reason=str(state.outcome and state.outcome.exception())
            ),
        ):
            with attempt:
                await publisher.recover()
                await publisher.catch_up()
    except PublishInProgress as error:
        log.info("recovery_left_to_another", reason=str(error))


async def _stop(task: "asyncio.Task[None]") -> None:
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def _open_embedder(settings: Settings) -> Embedder:
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
