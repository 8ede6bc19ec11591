"""The real engines through our adapters, beside each engine asked bare in the same run.

python -m bench.engines             two estates
python -m bench.engines --quick     one
python -m bench.engines --scale     the two perturbed to 100,000 passages, without the graph

Engines as in bench/real_engines.py; where there is no Qdrant, its figures are left out.
"""

import argparse
import asyncio
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from heapq import nlargest
from pathlib import Path

import numpy as np
from neo4j import AsyncDriver
from qdrant_client import AsyncQdrantClient, models

from adapters.embedded.adjacency import EdgeWeights
from adapters.embedded.lexical import TantivyIndex
from adapters.embedded.live_graph import LiveGraph
from adapters.embedded.projection import GraphProjection
from adapters.embedded.ranker import ScipyRanker
from adapters.embedded.vectors import QdrantEdgeIndex
from adapters.embedding.minilm import MiniLM
from adapters.neo4j.changes import changes, split
from adapters.neo4j.ranker import GdsRanker
from adapters.neo4j.reader import Neo4jGraphReader
from adapters.neo4j.store import Neo4jGraphStore
from adapters.opensearch.lexical import OpenSearchIndex
from adapters.qdrant.vectors import QdrantIndex, collection_name
from bench.corpora import quiz_set, records_of
from bench.perturbed import PerturbedReader, PerturbedVectors
from bench.real_engines import RealEngines, indexed, percentile, real_engines, timed
from bench.report import Measurement, say, say_stack
from bench.vector_cache import embedded
from service.bootstrap import edge_weights
from service.domain.content import NodeRecord, Passage, content_root
from service.domain.deadline import Deadline
from service.domain.filters import NodeFilter, SearchScope
from service.domain.graph import EVERYONE
from service.domain.scores import Floats
from service.domain.snapshots import LinkedGraph, PublishEntry, PublishStep, Snapshot, SnapshotChange
from service.ports import GraphRanker, Vectors
from service.publishing.linking import link
from service.publishing.passages import cut
from service.settings import Settings
from tests.engines import Neo4jAddress, QdrantAddress
from tests.neo4j_database import empty_database
from tests.opensearch_indexes import own_indexes
from tests.qdrant_collections import own_collection

EVERYBODY = frozenset({EVERYONE})
BATCH = 256
QUESTIONS = 300
DEPTH = 100
SEEDS = 20
ANCHORS = 3
TOP = 20
WINDOW = 200
SCALE = 100_000
PASSAGE_TOKENS = 256
BARE_ROWS = 2_000
SAME_SCORE = 1e-6
SAME_COSINE = 1e-5


def due() -> Deadline:
    return Deadline.after(120_000)


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
        say(
            Measurement("a first commit to Neo4j", written / seconds, "nodes and edges/s", await bare(driver, linked)),
            remark,
        )
        gds = GdsRanker(Neo4jGraphReader(driver), weights=weights)
        scipy = ScipyRanker(lambda: live, weights=weights)
        live = LiveGraph(snapshot, GraphProjection.build(linked, "bench"))
        await ranks(gds, scipy, linked)
        await gds.close()
        await scipy.close()
        await store.close()


async def bare(driver: AsyncDriver, linked: LinkedGraph) -> float:
    """Nodes and edges a second of the same rows without records, snapshot or journal, one transaction a batch.

    Under labels and keys of their own, with the same kind of constraint, and gone afterwards.
    """
    nothing = LinkedGraph(nodes={}, edges=(), content_hashes={})
    writes = [write for part in split(changes(nothing, linked, "bare"), BARE_ROWS) for write in part]
    await driver.execute_query("CREATE CONSTRAINT bare FOR (n:Bare) REQUIRE n.key IS UNIQUE")
    started = time.perf_counter()
    for write in writes:
        await driver.execute_query(write.text.replace(":Node", ":Bare"), rows=write.rows)
    seconds = time.perf_counter() - started
    await driver.execute_query("DROP CONSTRAINT bare")
    while (await driver.execute_query("MATCH (n:Bare) WITH n LIMIT 5000 DETACH DELETE n RETURN count(*)")).records[0][
        0
    ]:
        pass
    return (len(linked.nodes) + len(linked.edges)) / seconds


async def ranks(gds: GraphRanker, scipy: GraphRanker, linked: LinkedGraph) -> None:
    """Seeds are pages spread over the estate; a query is anchored to a few of them at once."""
    nodes = list(linked.nodes)
    draw = np.random.default_rng(1)
    started = time.perf_counter()
    theirs, ours = (
        await gds.global_scores(EVERYBODY, deadline=due()),
        await scipy.global_scores(EVERYBODY, deadline=due()),
    )
    say(Measurement("projecting the graph and its global PageRank, cold", time.perf_counter() - started, "s"))
    say(
        Measurement(
            "largest difference of a global score, GDS and scipy",
            difference(theirs.at(nodes), ours.at(nodes)),
            "of the score",
        )
    )
    pages = sorted(linked.content_hashes)
    chosen = [pages[place * len(pages) // (SEEDS * ANCHORS)] for place in range(SEEDS * ANCHORS)]
    queries = [chosen[place::SEEDS] for place in range(SEEDS)]
    bound = Settings().prior_l1_bound
    vectors = {
        seed: (await gds.personalized({seed: 1.0}, EVERYBODY, deadline=due())).truncated(bound) for seed in chosen
    }
    kept = sum(len(vector.values) for vector in vectors.values()) / len(vectors)
    direct, sparse, combined, worst, agree = [], [], [], 0.0, []
    for anchors in queries:
        seeds = dict.fromkeys(anchors, 1 / len(anchors))
        at_gds, milliseconds = await timed(lambda seeds=seeds: gds.personalized(seeds, EVERYBODY, deadline=due()))
        direct.append(milliseconds)
        at_scipy, milliseconds = await timed(lambda seeds=seeds: scipy.personalized(seeds, EVERYBODY, deadline=due()))
        sparse.append(milliseconds)
        window = [nodes[place] for place in draw.integers(0, len(nodes), WINDOW)]
        started = time.perf_counter()
        np.sum([vectors[anchor].at(window) for anchor in anchors], axis=0)
        combined.append((time.perf_counter() - started) * 1000)
        total = np.sum([vectors[anchor].at(nodes) for anchor in anchors], axis=0)
        exact = at_gds.at(nodes)
        worst = max(worst, difference(exact, at_scipy.at(nodes)))
        # By score: of equals either will do. An anchor may reach fewer than TOP nodes.
        wanted = [score for score in nlargest(TOP, exact) if score > 0]
        best = np.argsort(-total, kind="stable")[: len(wanted)]
        agree.append(np.mean(exact[best] >= wanted[-1] * (1 - SAME_SCORE)))
    say(Measurement("largest difference of a personalized score, GDS and scipy", worst, "of the score"))
    say(Measurement(f"PageRank from {ANCHORS} anchors by GDS, p50", median(direct), "ms"))
    say(Measurement("the same by scipy, p50", median(sparse), "ms", median(direct)))
    remark = f"{kept:.0f} of {len(linked.nodes):,} scores kept of each; what is left out is {bound:.0%} at most"
    say(Measurement("the same by vectors kept for each anchor, p50", median(combined), "ms", median(direct)), remark)
    say(Measurement(f"its best {TOP} that are GDS's best {TOP} as well, mean", float(np.mean(agree)), "of all"))
    say(Measurement("the same, of the query that agrees least", min(agree), "of all"))


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


def difference(a: Floats, b: Floats) -> float:
    """The largest difference of a node's two scores, relative to the largest score of all."""
    return float(np.abs(a - b).max() / a.max())


def median(values: Sequence[float]) -> float:
    return percentile(values, 50)


async def dense(address: QdrantAddress, passages: Sequence[Passage], vectors: Vectors) -> None:
    """Bulk, nearest neighbours and their agreement with the embedded engine."""
    model = {"model": "bench", "dimensions": vectors.shape[1]}
    async with own_collection(address, **model) as client:
        index = QdrantIndex(client, **model, prefix=address.prefix)
        collection = collection_name(address.prefix, **model)
        starts = range(0, len(passages), BATCH)
        batches = [(passages[start : start + BATCH], vectors[start : start + BATCH]) for start in starts]
        await index.add(*batches[0], 1)
        ours, bare = 0.0, 0.0
        for batch, rows in batches:
            started = time.perf_counter()
            await index.add(batch, rows, 1)
            ours += time.perf_counter() - started
            points = index.points(batch, rows, 1)
            started = time.perf_counter()
            await client.upsert(collection, points, wait=True)
            bare += time.perf_counter() - started
        say(Measurement("bulk to Qdrant", len(passages) / ours, "passages/s", len(passages) / bare))
        await indexed(client, collection)
        scope = SearchScope(NodeFilter(), EVERYBODY, 1)
        texts = ["warming up", *(query.text for query in quiz_set().queries[:QUESTIONS])]
        asked = await embedded(texts)
        through, alone = [], []
        for vector in asked:
            _, milliseconds = await timed(lambda v=vector: index.search(v, scope, depth=DEPTH, deadline=due()))
            through.append(milliseconds)
            _, milliseconds = await timed(
                lambda v=vector: client.query_points(collection, query=v.tolist(), limit=DEPTH, with_payload=["key"])
            )
            alone.append(milliseconds)
        name = f"nearest of {len(passages):,} passages in Qdrant"
        say(Measurement(f"{name}, {DEPTH} nodes deep, p50", median(through), "ms", median(alone)))
        say(Measurement("the same, p99", percentile(through, 99), "ms", percentile(alone, 99)))
        await neighbours(client, collection, index, passages, vectors, asked[1:], scope)


async def neighbours(
    client: AsyncQdrantClient,
    collection: str,
    real: QdrantIndex,
    passages: Sequence[Passage],
    vectors: Vectors,
    asked: Vectors,
    scope: SearchScope,
) -> None:
    """The ten nearest of both engines, and of the server asked in ways that leave out one cause of difference each."""
    ways = {
        "as it is": models.SearchParams(),
        "without quantization": models.SearchParams(quantization=models.QuantizationSearchParams(ignore=True)),
        "exactly": models.SearchParams(exact=True),
    }
    with tempfile.TemporaryDirectory(prefix="cogitave-query-engines-") as folder:
        edge = QdrantEdgeIndex.open(Path(folder), model="bench", dimensions=vectors.shape[1])
        for start in range(0, len(passages), BATCH):
            await edge.add(passages[start : start + BATCH], vectors[start : start + BATCH], 1)
        nodes: list[float] = []
        as_near: list[float] = []
        by_way: dict[str, list[float]] = {way: [] for way in ways}
        exact = vectors @ asked.T
        for place, vector in enumerate(asked):
            ours = await edge.search(vector, scope, depth=10, deadline=due())
            theirs = await real.search(vector, scope, depth=10, deadline=due())
            nodes.append(len({hit.passage for hit in ours} & {hit.passage for hit in theirs}) / len(theirs))
            as_near.append(sum(hit.score >= theirs[-1].score - SAME_COSINE for hit in ours) / len(theirs))
            truth = np.sort(exact[:, place])[-10]
            for way, parameters in ways.items():
                found = await client.query_points(
                    collection, query=vector.tolist(), limit=10, search_params=parameters, with_payload=False
                )
                # By score: of equals either will do.
                by_way[way].append(sum(point.score >= truth - SAME_COSINE for point in found.points) / 10)
        await edge.close()
    say(Measurement("overlap@10 of nodes, qdrant-edge and Qdrant, mean", float(np.mean(nodes)), "of all"))
    say(Measurement("the same, of the query that agrees least", min(nodes), "of all"))
    remark = "passages of the same text are equally near, and which of them come first is chance"
    say(Measurement("the same, equally near passages counted alike, at least", min(as_near), "of all"), remark)
    for way, shares in by_way.items():
        say(Measurement(f"recall@10 of Qdrant asked {way}", float(np.mean(shares)), "of the exact ten"))


async def run(engines: RealEngines, names: Sequence[str], *, scale: bool) -> None:
    records = [record for name in names for record in records_of(name)]
    tokens = MiniLM.load(threads=1).tokens
    passages = [passage for record in records for passage in cut(record, tokens, PASSAGE_TOKENS)]
    if not scale:
        await graph(engines.neo4j, records, link(records, default_locale="en-us"), edge_weights(Settings()))
        await lexical(engines.opensearch, passages)
        if engines.qdrant:
            await dense(engines.qdrant, passages, await embedded([passage.embedded_text for passage in passages]))
        return
    more = PerturbedReader(records, -(-SCALE // len(passages))).read(Path(), "")
    perturbed = (record for record in more if isinstance(record, NodeRecord))
    many = [passage for record in perturbed for passage in cut(record, tokens, PASSAGE_TOKENS)][:SCALE]
    await lexical(engines.opensearch, many)
    if engines.qdrant:
        model = PerturbedVectors(await embedded([passage.embedded_text for passage in passages]))
        await dense(engines.qdrant, many, await model.embed([passage.embedded_text for passage in many], "passage"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--scale", action="store_true")
    chosen = parser.parse_args()
    estates = ["entity-framework"] if chosen.quick else ["learn-en-us", "entity-framework"]
    with real_engines() as engines:
        say_stack("neo4j", "opensearch-py", "qdrant-client", "qdrant-edge-py", "tantivy", "scipy")
        print(f"# {engines.versions}", flush=True)
        asyncio.run(run(engines, estates, scale=chosen.scale))


if __name__ == "__main__":
    main()
