"""The composition root: the only place that chooses adapters."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import structlog

from adapters.embedded.data_folder import DataFolder, Owner
from adapters.embedded.embedding_cache import SqliteEmbeddingCache
from adapters.embedded.graph_reader import EmbeddedGraphReader
from adapters.embedded.graph_store import EmbeddedGraphStore
from adapters.embedded.lexical import TantivyIndex
from adapters.embedded.ranker import ScipyRanker
from adapters.embedded.run_log import SqliteRunLog
from adapters.embedded.vectors import QdrantEdgeIndex
from adapters.embedding.http import HttpEmbedder
from adapters.embedding.minilm import MiniLM
from adapters.estates import ReadingRules, readers
from cypher_guard import Profile
from service.domain.errors import PublishInProgress, Unavailable
from service.domain.graph import EdgeType, NodeKind
from service.ports import Embedder, RunLog
from service.publishing.doctor import Doctor
from service.publishing.linking import link
from service.publishing.projection import Projections
from service.publishing.publisher import Publisher
from service.retrieval.cards import CardCache
from service.retrieval.engines import Retrieval
from service.retrieval.facets import FacetCounter
from service.retrieval.prior import PriorCache
from service.retrieval.query_vectors import QueryVectors
from service.retrieval.ranker import Ranker
from service.settings import Settings
from service.tools.local import LocalToolbox

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


@asynccontextmanager
async def open_toolbox(settings: Settings, data: Path) -> AsyncIterator[LocalToolbox]:
    """The tools of a data folder that this process owns until the context is left; raises what `open_owned` raises."""
    async with open_owned(settings, data) as owned:
        yield owned.toolbox


@asynccontextmanager
async def open_owned(settings: Settings, data: Path) -> AsyncIterator[Owned]:
    """Own the data folder and everything in it until the context is left.

    An unfinished publish is ended first: at once when it only has to be taken back, in the background when vectors are
    still to be filled in. Raises DataFolderHeld, DataFolderUnwritable, DataFolderVersionUnknown or EngineUnavailable.
    """
    async with AsyncExitStack() as opened:
        folder = opened.enter_context(await asyncio.to_thread(DataFolder.open, data))
        embedder = await _open_embedder(settings)
        opened.push_async_callback(embedder.close)
        store = await asyncio.to_thread(
            EmbeddedGraphStore.open, folder.graph, rebuild=partial(link, default_locale=settings.default_locale)
        )
        opened.push_async_callback(store.close)
        graph = EmbeddedGraphReader(lambda: store.live)
        opened.push_async_callback(graph.close)
        lexical = await asyncio.to_thread(
            TantivyIndex.open,
            folder.text,
            title_boost=settings.title_boost,
            heading_boost=settings.heading_boost,
        )
        opened.push_async_callback(lexical.close)
        vectors = await asyncio.to_thread(
            QdrantEdgeIndex.open, folder.vectors, model=embedder.model, dimensions=embedder.dimensions
        )
        opened.push_async_callback(vectors.close)
        cache = SqliteEmbeddingCache.open(folder.embeddings, kept=settings.embedding_cache)
        opened.callback(cache.close)
        run_log = SqliteRunLog.open(folder.runs, kept=settings.run_log_records)
        opened.callback(run_log.close)
        scipy = ScipyRanker(
            lambda: store.live,
            weights=edge_weights(settings),
            damping=settings.page_rank_damping,
            iterations=settings.page_rank_iterations,
        )
        opened.push_async_callback(scipy.close)
        priors = PriorCache(scipy, settings)
        opened.push_async_callback(priors.close)
        retrieval = Retrieval(
            lexical=lexical,
            vectors=vectors,
            graph=graph,
            store=store,
            query_vectors=QueryVectors(embedder, settings.query_cache),
            tokens=embedder.tokens,
            facets=FacetCounter(graph, graph_profile(settings), settings),
            cards=CardCache(graph, settings.node_cards),
            ranker=Ranker(priors, settings),
            profile=graph_profile(settings),
            run_log=run_log,
            settings=settings,
        )
        projections = Projections(lexical, vectors, embedder, cache, settings)
        publisher = Publisher(
            store=store,
            projections=projections,
            readers=readers(reading_rules(settings)),
            settings=settings,
        )
        recovery = asyncio.create_task(_recover(publisher))
        opened.push_async_callback(_stop, recovery)
        yield Owned(
            LocalToolbox(retrieval, publisher, Doctor(store, graph, projections, settings)),
            run_log,
            folder.announce,
        )


def edge_weights(settings: Settings) -> dict[EdgeType, tuple[float, float]]:
    """What the random walk's step along and against an edge of each type is worth."""
    return {EdgeType(name): (forward, backward) for name, (forward, backward) in settings.edge_weights.items()}


def reading_rules(settings: Settings) -> ReadingRules:
    return ReadingRules(
        default_locale=settings.default_locale,
        page_bytes=settings.page_bytes,
        code_sample_lines=settings.code_sample_lines,
        site_hosts=settings.site_hosts,
    )


def graph_profile(settings: Settings) -> Profile:
    """The bounds of a query_graph over this service's graph."""
    return Profile(
        edge_types=frozenset(edge.value for edge in EdgeType),
        labels=frozenset({"Node", *(kind.label for kind in NodeKind)}),
        properties=GRAPH_PROPERTIES,
        default_rows=settings.graph_query_rows,
        max_rows=settings.graph_query_rows_cap,
        timeout_ms=settings.graph_query_deadline,
    )


async def _recover(publisher: Publisher) -> None:
    """What another publisher has in hand is not ours to end; what fails now, the next publish tries again."""
    try:
        await publisher.recover()
    except (PublishInProgress, Unavailable) as error:
        structlog.get_logger().warning("recovery_put_off", reason=str(error))


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
