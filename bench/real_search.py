"""A search of the whole service on Neo4j, OpenSearch and Qdrant, beside each engine asked bare in the same run.

python -m bench.real_search             two estates, about 11,000 passages
python -m bench.real_search --scale     the two perturbed to 100,000 passages

Engines as in bench/real_engines.py; Qdrant has to be among them. Passages' vectors are the model's with noise, a
query's are its own. The bare requests are those that the service sends, by the same clients, without what it does
before, between and after; each is asked in turn with the service, so that a busy machine slows both.
"""

import argparse
import asyncio
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import SecretStr
from qdrant_client import models

from adapters.opensearch.connection import open_client as open_opensearch
from adapters.opensearch.lexical import OpenSearchIndex
from adapters.qdrant.connection import open_client as open_qdrant
from adapters.qdrant.vectors import collection_name
from bench.corpora import PATIENT, records_of
from bench.latency import DOCS, SCALE, questions
from bench.perturbed import PerturbedReader, PerturbedVectors
from bench.real_engines import RealEngines, indexed, percentile, real_engines, timed
from bench.report import Measurement, say, say_stack
from bench.signals import time_facets
from bench.vector_cache import embedded
from service.bootstrap import open_toolbox
from service.domain.deadline import Deadline
from service.domain.filters import READ_KINDS, NodeFilter, SearchScope
from service.domain.graph import EVERYONE, NodeIdentity
from service.domain.principal import ANONYMOUS
from service.domain.requests import CallerProfile, PublishRequest, SearchRequest
from service.publishing.passages import cut
from service.retrieval.fusion import Fused
from service.retrieval.ranker import Caller
from service.settings import Settings
from service.statements import list_nodes
from service.tools import catalogue
from service.tools.local import LocalToolbox
from tests.neo4j_database import empty_database
from tests.opensearch_indexes import remove_indexes
from tests.qdrant_collections import remove_collections

NAMES = ("learn-en-us", "entity-framework")
NODES = 10

EVERYBODY = frozenset({EVERYONE})
READ = NodeFilter(kind=READ_KINDS)
WINDOW, ANCHORS = 200, 30
NOW = datetime(2026, 11, 30, tzinfo=UTC)
PRODUCTS = (
    "entity-framework",
    "entity-framework-core",
    "entity-framework-6",
    "learning-azure",
    *(f"none-{n}" for n in range(8)),
)
"""What facets are filtered by: the commonest products, and some that nothing is of."""

BUDGET = 8.0
"""Milliseconds that prior and signals may take."""


def due() -> Deadline:
    return Deadline.after(60_000)


Ask = Callable[[], Awaitable[Any]]


async def publish(toolbox: LocalToolbox, scale: bool) -> int:
    """Publish the estates, perturbed to 100,000 passages where asked; how many passages there are."""
    records = [record for name in NAMES for record in records_of(name)]
    embedder = toolbox.publisher.projections.embedder
    passages = [p for record in records for p in cut(record, embedder.tokens, embedder.passage_tokens)]
    vectors = await embedded([passage.embedded_text for passage in passages])
    copies = -(-SCALE // len(passages)) if scale else 1
    projections = replace(toolbox.publisher.projections, embedder=PerturbedVectors(vectors))
    publisher = replace(toolbox.publisher, readers=[PerturbedReader(records, copies)], projections=projections)
    started = time.perf_counter()
    done = await publisher.publish(PublishRequest(paths=[str(DOCS)]))
    seconds = time.perf_counter() - started
    remark = f"{done.passages:,} passages, {sum(done.nodes.values()):,} nodes, {sum(done.edges.values()):,} edges"
    say(Measurement("publishing to the three engines", done.passages / seconds, "passages/s"), remark)
    return done.passages


async def measure(name: str, toolbox: LocalToolbox, bare: Mapping[str, Callable[[str], Awaitable[Ask]]]) -> None:
    texts = questions()

    async def search(text: str) -> Any:
        result = await toolbox.call(catalogue.SEARCH, SearchRequest(text=text), ANONYMOUS)
        if result.degraded:
            raise SystemExit(f"What is measured has to be whole, and it is not: {'; '.join(result.degraded)}")
        return result

    for text in texts[:30]:
        await search(f"warming up: {text}")
        for prepare in bare.values():
            await (await prepare(text))()
    first = [(await timed(lambda text=text: search(text)))[1] for text in texts]
    service: list[float] = []
    engines: dict[str, list[float]] = {engine: [] for engine in bare}
    for text in texts * 2:
        for engine, prepare in bare.items():
            engines[engine].append((await timed(await prepare(text)))[1])
        service.append((await timed(lambda text=text: search(text)))[1])
    for stage, milliseconds in (await stages(toolbox, texts)).items():
        say(Measurement(f"{name}: {stage}, a stage of the search, p50", milliseconds, "ms"))
    for rank in (50, 99):
        slowest = max(percentile(times, rank) for times in engines.values())
        say(
            Measurement(
                f"{name}: a question's first search, its embedding included, p{rank}", percentile(first, rank), "ms"
            )
        )
        remark = "against the slowest bare engine"
        say(Measurement(f"{name}: search, p{rank}", percentile(service, rank), "ms", slowest), remark)
        for engine, times in engines.items():
            say(Measurement(f"{name}: {engine} asked bare, p{rank}", percentile(times, rank), "ms"))


async def stages(toolbox: LocalToolbox, texts: Sequence[str]) -> dict[str, float]:
    """What each stage of a search takes, in the middle; legs and anchors run side by side, the rest in turn."""
    times: defaultdict[str, list[float]] = defaultdict(list)
    for text in texts:
        result = await toolbox.call(catalogue.SEARCH, SearchRequest(text=text, explain=True), ANONYMOUS)
        for stage, milliseconds in result.explain.timings_ms.items():
            times[stage].append(milliseconds)
    return {stage: percentile(each, 50) for stage, each in times.items()}


async def ranking(name: str, toolbox: LocalToolbox) -> None:
    """Prior and signals of a window as deep as both legs', from anchors that are new to the process and known to it."""
    retrieval = toolbox.retrieval
    snapshot = await retrieval.store.snapshot()
    rows = await retrieval.graph.run(list_nodes(READ, EVERYBODY, after="", limit=WINDOW), deadline=due())
    nodes = [NodeIdentity(row["uid"], row["locale"]) for row in rows.by_column()]
    cards = await retrieval.cards.of(nodes, snapshot.generation, EVERYBODY, deadline=due())
    window = [Fused(node, 1 / (60 + rank), 61 / (60 + rank), ()) for rank, node in enumerate(nodes, start=1)]
    caller = Caller(CallerProfile(role="developer", level="beginner", locale="en-us"), EVERYBODY, frozenset(), NOW)

    async def rank(anchors: Sequence[NodeIdentity]) -> tuple[float, float]:
        work = time.process_time()
        ranked = retrieval.ranker.rank(window, cards, anchors, snapshot.generation, caller, due())
        (_, degraded), milliseconds = await timed(lambda: ranked)
        if degraded:
            raise SystemExit(f"What is measured has to be whole, and it is not: {'; '.join(degraded)}")
        return milliseconds, (time.process_time() - work) * 1000

    cold, _ = await rank([])
    say(Measurement(f"{name}: the first ranking of a snapshot, which projects the graph", cold, "ms"))
    for claim, anchors in (
        ("without anchors", [[]] * ANCHORS),
        ("each anchor new", [[node] for node in nodes[:ANCHORS]]),
        ("each anchor known", [[node] for node in nodes[:ANCHORS]]),
        ("three known anchors", [nodes[start : start + 3] for start in range(ANCHORS - 3)]),
    ):
        times = [await rank(each) for each in anchors]
        clock, work = ([each[side] for each in times] for side in (0, 1))
        remark = f"p95 {percentile(clock, 95):.1f} ms; of the service's processor {percentile(work, 50):.2f} ms, p50"
        say(Measurement(f"{name}: prior and signals, {claim}, p50", percentile(clock, 50), "ms", BUDGET), remark)


async def run(engines: RealEngines, *, scale: bool) -> None:
    if engines.qdrant is None:
        raise SystemExit("Set COGITAVE_QUERY_TEST_QDRANT_URL or start Docker: the real stack has a Qdrant.")
    prefix = engines.qdrant.prefix
    settings = Settings.model_validate(
        PATIENT.model_dump()
        | {
            "neo4j_url": engines.neo4j.uri,
            "neo4j_user": engines.neo4j.user,
            "neo4j_password": SecretStr(engines.neo4j.password),
            "opensearch_url": engines.opensearch,
            "qdrant_url": engines.qdrant.url,
            "engine_prefix": prefix,
        }
    )
    async with AsyncExitStack() as opened:
        folder = opened.enter_context(tempfile.TemporaryDirectory(prefix="cogitave-query-search-"))
        driver = await opened.enter_async_context(empty_database(engines.neo4j))
        client = await opened.enter_async_context(open_opensearch(engines.opensearch))
        vectors = open_qdrant(engines.qdrant.url)
        opened.push_async_callback(vectors.close)
        toolbox = await opened.enter_async_context(open_toolbox(settings, Path(folder)))
        embedder = toolbox.publisher.projections.embedder
        collection = collection_name(prefix, embedder.model, embedder.dimensions)
        opened.push_async_callback(remove_collections, vectors, prefix, embedder.model, embedder.dimensions)
        opened.push_async_callback(remove_indexes, client, prefix)
        count = await publish(toolbox, scale)
        await indexed(vectors, collection)
        snapshot = await toolbox.retrieval.store.snapshot()
        scope = SearchScope.of(ANONYMOUS, snapshot.generation, NodeFilter(kind=READ_KINDS))
        index = OpenSearchIndex(client, prefix=prefix)
        keys = [key for (key,) in (await driver.execute_query("MATCH (n:Page) RETURN n.key LIMIT 1000")).records]

        async def opensearch(text: str) -> Ask:
            body = index.search_body(text, scope, settings.leg_depth)
            return lambda: client.search(index=f"{prefix}-passages", body=body)

        async def qdrant(text: str) -> Ask:
            vector = (await toolbox.retrieval.query_vectors.vector(text)).tolist()
            depth = settings.leg_depth
            return lambda: vectors.query_points(collection, query=vector, limit=depth, with_payload=["key"])

        async def qdrant_filtered(text: str) -> Ask:
            vector = (await toolbox.retrieval.query_vectors.vector(text)).tolist()
            match = {"visibleTo": sorted(scope.audiences), "kind": sorted(READ_KINDS)}
            conditions = [models.FieldCondition(key=k, match=models.MatchAny(any=v)) for k, v in match.items()]
            query, depth = models.Filter(must=conditions), settings.leg_depth
            return lambda: vectors.query_points(
                collection, query=vector, query_filter=query, limit=depth, with_payload=["key"]
            )

        async def neo4j(text: str) -> Ask:
            start = hash(text) % (len(keys) - NODES)
            some = keys[start : start + NODES]
            return lambda: driver.execute_query("MATCH (n:Node) WHERE n.key IN $keys RETURN n.title", keys=some)

        bare = {"OpenSearch": opensearch, "Qdrant": qdrant, "Qdrant, filtered": qdrant_filtered, "Neo4j": neo4j}
        name = f"{count:,} passages"
        await measure(name, toolbox, bare)
        await ranking(name, toolbox)
        products = [NodeFilter(product=(product,)) for product in PRODUCTS]
        await time_facets(name, toolbox.retrieval.graph, products, snapshot.generation)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", action="store_true")
    arguments = parser.parse_args()
    with real_engines() as engines:
        say_stack("cogitave-query", "neo4j", "opensearch-py", "qdrant-client")
        print(f"# {engines.versions}", flush=True)
        asyncio.run(run(engines, scale=arguments.scale))


if __name__ == "__main__":
    main()
