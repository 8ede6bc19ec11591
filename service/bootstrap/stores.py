"""A data folder opened whole: its engines, and the tools that stand on them."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from pathlib import Path

import structlog
from tenacity import AsyncRetrying, retry_if_exception_type, wait_random_exponential

from adapters.embedded.data_folder import DataFolder, Owner
from adapters.embedded.embedding_cache import SqliteEmbeddingCache
from adapters.embedded.run_log import SqliteRunLog
from service.bootstrap.engines import open_embedder, open_graph, open_lexical, open_vectors
from service.bootstrap.profile import estate_readers, graph_profile
from service.bootstrap.records import open_tunings
from service.bootstrap.traces import observed, open_observer
from service.domain.errors import PublishInProgress, Unavailable
from service.observation import SILENT, Observer, Reading, Readings
from service.observed_engines import ObservedEmbedder, ObservedLexicalIndex, ObservedVectorIndex
from service.ports import RunLog
from service.publishing.doctor import Doctor
from service.publishing.projection import Projections
from service.publishing.publisher import Publisher
from service.retrieval.cards import CardCache
from service.retrieval.engines import Retrieval
from service.retrieval.facets import FacetCounter
from service.retrieval.known_graph import KnownGraphReader, KnownSnapshots
from service.retrieval.prior import PriorCache
from service.retrieval.query_vectors import QueryVectors
from service.retrieval.ranker import Ranker
from service.retrieval.tuning import KnownTunings
from service.settings import Settings
from service.tools.local import LocalToolbox


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
        observer = open_observer(settings, watching, opened)
        embedder = ObservedEmbedder(await open_embedder(settings), observer)
        opened.push_async_callback(embedder.close)
        graph = observed(await open_graph(settings, folder, opened), observer)
        lexical = await open_lexical(settings, folder, opened)
        lexical = replace(lexical, index=ObservedLexicalIndex(lexical.index, observer))
        vectors = await open_vectors(settings, folder, embedder, opened)
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
            tunings=KnownTunings(await open_tunings(settings, folder, opened), lexical.index.terms, settings),
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


def _own_or_share(settings: Settings, data: Path) -> DataFolder:
    """With every engine elsewhere the folder holds caches alone, which any number of processes may use."""
    elsewhere = settings.neo4j_url and settings.opensearch_url and settings.qdrant_url
    return DataFolder.share(data) if elsewhere else DataFolder.open(data)


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
