"""The real engines through our adapters, beside each engine asked bare in the same run.

python -m bench.engines             two estates
python -m bench.engines --quick     one
python -m bench.engines --scale     the two perturbed to 100,000 passages, text alone

Engines come from COGITAVE_QUERY_TEST_NEO4J_URL and COGITAVE_QUERY_TEST_OPENSEARCH_URL, else from `stack`, which starts
them for the run. A Neo4j named by a URL is emptied first.
"""

import argparse
import asyncio
import os
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from adapters.embedded.adjacency import EdgeWeights
from adapters.embedded.lexical import TantivyIndex
from adapters.embedded.live_graph import LiveGraph
from adapters.embedded.projection import GraphProjection
from adapters.embedded.ranker import ScipyRanker
from adapters.embedding.minilm import MiniLM
from adapters.neo4j.ranker import GdsRanker
from adapters.neo4j.reader import Neo4jGraphReader
from adapters.neo4j.store import Neo4jGraphStore
from adapters.opensearch.lexical import OpenSearchIndex
from bench.corpora import quiz_set, records_of
from bench.perturbed import PerturbedReader
from bench.report import Measurement, say, say_stack
from service.bootstrap import edge_weights
from service.domain.content import NodeRecord, Passage, content_root
from service.domain.deadline import Deadline
from service.domain.filters import NodeFilter, SearchScope
from service.domain.graph import EVERYONE, NodeIdentity
from service.domain.snapshots import LinkedGraph, PublishEntry, PublishStep, Snapshot, SnapshotChange
from service.ports import GraphRanker
from service.publishing.linking import link
from service.publishing.passages import cut
from service.settings import Settings
from stack.servers import Neo4jServer, OpenSearchServer
from tests.engines import Neo4jAddress
from tests.neo4j_database import empty_database
from tests.opensearch_indexes import own_indexes

EVERYBODY = frozenset({EVERYONE})
BATCH = 256
QUESTIONS = 300
DEPTH = 100
SEEDS = 20
ANCHORS = 3
TOP = 20
SCALE = 100_000
PASSAGE_TOKENS = 256


def due() -> Deadline:
    return Deadline.after(120_000)


@asynccontextmanager
async def engines() -> AsyncIterator[tuple[Neo4jAddress, str]]:
    async with AsyncExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="cogitave-query-engines-")))
        if uri := os.environ.get("COGITAVE_QUERY_TEST_NEO4J_URL"):
            address = Neo4jAddress(uri, "neo4j", os.environ["COGITAVE_QUERY_TEST_NEO4J_PASSWORD"])
        else:
            server = opened.enter_context(Neo4jServer(folder / "neo4j"))
            address = Neo4jAddress(server.uri, *server.auth)
        url = os.environ.get("COGITAVE_QUERY_TEST_OPENSEARCH_URL")
        yield address, url or opened.enter_context(OpenSearchServer(folder / "opensearch")).url


async def graph(
    address: Neo4jAddress, records: Sequence[NodeRecord], linked: LinkedGraph, weights: EdgeWeights
) -> None:
    async with empty_database(address) as driver:
        store = Neo4jGraphStore(driver, rebuild=partial(link, default_locale="en-us"))
        manifest = {record.node.identity: record.content_hash for record in records}
        entry = PublishEntry("bench", 1, "", content_root(manifest), PublishStep.BEGUN, "")
        snapshot = Snapshot(entry.content_root, 1, nodes=len(linked.nodes), edges=len(linked.edges))

        async def nothing() -> LinkedGraph:
            return LinkedGraph(nodes={}, edges=(), content_hashes={})

        await store.begin(entry)
        started = time.perf_counter()
        await store.commit(SnapshotChange(entry, snapshot, manifest, tuple(records), linked, nothing))
        seconds = time.perf_counter() - started
        written = len(linked.nodes) + len(linked.edges)
        remark = f"{len(linked.nodes):,} nodes, {len(linked.edges):,} edges in one transaction of {seconds:.1f} s"
        say(Measurement("a first commit to Neo4j", written / seconds, "nodes and edges/s"), remark)
        gds = GdsRanker(Neo4jGraphReader(driver), weights=weights)
        scipy = ScipyRanker(lambda: live, weights=weights)
        live = LiveGraph(snapshot, GraphProjection.build(linked, "bench"))
        await ranks(gds, scipy, linked)
        await gds.close()
        await scipy.close()
        await store.close()


async def ranks(gds: GraphRanker, scipy: GraphRanker, linked: LinkedGraph) -> None:
    """Seeds are pages spread over the estate; a query is anchored to a few of them at once."""
    started = time.perf_counter()
    theirs, ours = (
        await gds.global_scores(EVERYBODY, deadline=due()),
        await scipy.global_scores(EVERYBODY, deadline=due()),
    )
    say(Measurement("projecting the graph and its global PageRank, cold", time.perf_counter() - started, "s"))
    say(Measurement("largest difference of a global score, GDS and scipy", difference(theirs, ours), "of the score"))
    pages = sorted(linked.content_hashes)
    chosen = [pages[place * len(pages) // (SEEDS * ANCHORS)] for place in range(SEEDS * ANCHORS)]
    queries = [chosen[place::SEEDS] for place in range(SEEDS)]
    vectors = {
        seed: as_array(await gds.personalized({seed: 1.0}, EVERYBODY, deadline=due()), linked) for seed in chosen
    }
    direct, sparse, combined, worst, agree = [], [], [], 0.0, []
    for anchors in queries:
        seeds = dict.fromkeys(anchors, 1 / len(anchors))
        at_gds, milliseconds = await timed(lambda seeds=seeds: gds.personalized(seeds, EVERYBODY, deadline=due()))
        direct.append(milliseconds)
        at_scipy, milliseconds = await timed(lambda seeds=seeds: scipy.personalized(seeds, EVERYBODY, deadline=due()))
        sparse.append(milliseconds)
        started = time.perf_counter()
        total = sum(vectors[anchor] for anchor in anchors) / len(anchors)
        best = np.argpartition(-total, TOP)[:TOP]
        combined.append((time.perf_counter() - started) * 1000)
        worst = max(worst, difference(at_gds, at_scipy))
        agree.append(len(set(best) & set(np.argpartition(-as_array(at_gds, linked), TOP)[:TOP])) / TOP)
    say(Measurement("largest difference of a personalized score, GDS and scipy", worst, "of the score"))
    say(Measurement(f"PageRank from {ANCHORS} anchors by GDS, p50", median(direct), "ms"))
    say(Measurement("the same by scipy, p50", median(sparse), "ms", median(direct)))
    say(Measurement("the same by vectors kept for each anchor, p50", median(combined), "ms", median(direct)))
    say(Measurement(f"its best {TOP} that are GDS's best {TOP} as well, at least", min(agree), "of all"))


async def lexical(url: str, passages: Sequence[Passage]) -> None:
    async with own_indexes(url) as (client, prefix):
        index = OpenSearchIndex(client, prefix=prefix)
        batches = [passages[start : start + BATCH] for start in range(0, len(passages), BATCH)]
        await index.add(batches[0], 1)
        ours, bare = 0.0, 0.0
        for batch in batches:
            started = time.perf_counter()
            await index.add(batch, 1)
            ours += time.perf_counter() - started
            lines = index.bulk_lines(batch, 1)
            started = time.perf_counter()
            await client.bulk(body=lines, index=f"{prefix}-passages")
            bare += time.perf_counter() - started
        remark = "ours analyses the text and makes it searchable at once"
        say(Measurement("bulk to OpenSearch", len(passages) / ours, "passages/s", len(passages) / bare), remark)
        scope = SearchScope(NodeFilter(), EVERYBODY, 1)
        texts = [query.text for query in quiz_set().queries][:QUESTIONS]
        through, alone = [], []
        for text in ["warming up", *texts]:
            _, milliseconds = await timed(lambda text=text: index.search(text, scope, depth=DEPTH, deadline=due()))
            through.append(milliseconds)
            body = index.search_body(text, scope, DEPTH)
            _, milliseconds = await timed(lambda body=body: client.search(index=f"{prefix}-passages", body=body))
            alone.append(milliseconds)
        say(
            Measurement(
                f"BM25 of {len(passages):,} passages, {DEPTH} nodes deep, p50", median(through), "ms", median(alone)
            )
        )
        say(Measurement("the same, p99", percentile(through, 99), "ms", percentile(alone, 99)))
        await overlap(index, passages, texts, scope)


async def overlap(real: OpenSearchIndex, passages: Sequence[Passage], texts: Sequence[str], scope: SearchScope) -> None:
    """The ten best of the embedded index and of OpenSearch, which count a heading of stop words alone differently."""
    with tempfile.TemporaryDirectory(prefix="cogitave-query-engines-") as folder:
        embedded = TantivyIndex.open(Path(folder))
        await embedded.add(passages, 1)
        shares = []
        for text in texts:
            ours = await embedded.search(text, scope, depth=10, deadline=due())
            theirs = await real.search(text, scope, depth=10, deadline=due())
            if theirs:
                both = {hit.passage.identity for hit in ours} & {hit.passage.identity for hit in theirs}
                shares.append(len(both) / len(theirs))
        await embedded.close()
    say(Measurement("overlap@10 of BM25, tantivy and OpenSearch, mean", sum(shares) / len(shares), "of all"))
    say(Measurement("the same, of the query that agrees least", min(shares), "of all"))


async def timed(work: Callable[[], Awaitable[Any]]) -> tuple[Any, float]:
    started = time.perf_counter()
    answer = await work()
    return answer, (time.perf_counter() - started) * 1000


def difference(a: Mapping[NodeIdentity, float], b: Mapping[NodeIdentity, float]) -> float:
    """The largest difference of a node's two scores, relative to the largest score of all."""
    return max(abs(a.get(node, 0.0) - b.get(node, 0.0)) for node in a.keys() | b.keys()) / max(b.values())


def as_array(scores: Mapping[NodeIdentity, float], linked: LinkedGraph) -> Any:
    return np.array([scores.get(node, 0.0) for node in linked.nodes], dtype=np.float32)


def median(values: Sequence[float]) -> float:
    return percentile(values, 50)


def percentile(values: Sequence[float], rank: int) -> float:
    return float(np.percentile(values, rank))


async def main(names: Sequence[str], *, scale: bool) -> None:
    say_stack("neo4j", "opensearch-py", "scipy")
    records = [record for name in names for record in records_of(name)]
    tokens = MiniLM.load(threads=1).tokens
    passages = [passage for record in records for passage in cut(record, tokens, PASSAGE_TOKENS)]
    async with engines() as (neo4j, opensearch):
        if not scale:
            await graph(neo4j, records, link(records, default_locale="en-us"), edge_weights(Settings()))
            await lexical(opensearch, passages)
            return
        more = PerturbedReader(records, -(-SCALE // len(passages))).read(Path(), "")
        perturbed = (record for record in more if isinstance(record, NodeRecord))
        many = [passage for record in perturbed for passage in cut(record, tokens, PASSAGE_TOKENS)]
        await lexical(opensearch, many[:SCALE])


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--scale", action="store_true")
    chosen = parser.parse_args()
    estates = ["entity-framework"] if chosen.quick else ["learn-en-us", "entity-framework"]
    asyncio.run(main(estates, scale=chosen.scale))
