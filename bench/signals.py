"""What the signals cost: quality where nobody asked for them, and time.

python -m bench.signals                    the final order beside the fused one, without anchors and profile
python -m bench.signals --sets SET…        on these sets of bench.relevance
python -m bench.signals --cost             the time of prior, signals and facets over 50,000 nodes
"""

import argparse
import asyncio
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import cast

import numpy as np

from adapters.embedded.adjacency import Adjacency
from adapters.embedded.graph_reader import EmbeddedGraphReader
from adapters.embedded.live_graph import LiveGraph
from adapters.embedded.projection import GraphProjection
from adapters.embedded.ranker import ScipyRanker
from bench.corpora import LOCALE, published, records_of
from bench.perturbed import PerturbedReader
from bench.relevance import CASES, Case
from bench.report import Measurement, say, say_stack
from bench.windows import PATIENT, request_of, whole_window
from service.bootstrap import graph_profile
from service.domain.deadline import Deadline
from service.domain.filters import NodeFilter
from service.domain.graph import EVERYONE, EdgeType, Node, NodeIdentity, NodeKind
from service.domain.principal import ANONYMOUS
from service.domain.requests import CallerProfile
from service.domain.snapshots import LinkedGraph, Snapshot
from service.evaluation.comparison import compare
from service.evaluation.measures import PerQuery, score
from service.evaluation.runs import Run
from service.evaluation.sets import EvaluationSet
from service.ports import GraphReader
from service.publishing.linking import link
from service.retrieval.cards import Card, Requirement
from service.retrieval.facets import FACETS, FacetCounter
from service.retrieval.fusion import Fused
from service.retrieval.pipeline import rank_window
from service.retrieval.prior import PriorCache
from service.retrieval.ranker import Caller, Ranker
from service.retrieval.signals import SIGNALS
from service.settings import Settings

MEASURE = "nDCG@10"
DEPTH = 100
SETS = ("learn-quiz", "link-text", "cranfield", "cosqa-dev")
AS_OF = datetime(2026, 11, 30, tzinfo=UTC)

UNASKED: Mapping[str, frozenset[str]] = {
    "all signals": frozenset({"prior"}),
    "age alone": frozenset(SIGNALS) - {"age"} | {"prior"},
    "authority alone": frozenset(SIGNALS) - {"authority"} | {"prior"},
    "all signals, and the prior where the words name an anchor": frozenset(),
}
"""What speaks, and what is switched off for it."""

NODES, EDGES, WINDOW, QUERIES, NEW_ANCHORS = 50_000, 400_000, 200, 300, 30
ZIPF = 1.5
"""Exponent of how unequally anchors are drawn in the mix, assumed and not observed: ten of them have three in four."""

LEGS = 0.03
"""Seconds that the legs of a search take while a vector is computed beside them."""

BUDGET = 8.0
"""Milliseconds a query."""


async def measure(case: Case) -> None:
    async with published(case.collection, case.paths, PATIENT) as toolbox:
        judged = case.judge()
        found: dict[str, dict[str, list[str]]] = {name: {} for name in ("fused", *UNASKED)}
        for query in judged.queries:
            request = request_of(case, query.text)
            window = await whole_window(request, toolbox)
            found["fused"][query.id] = _without(case, query.current_document, [n.identity.uid for n in window.nodes])
            for name, off in UNASKED.items():
                ranked, degraded = await rank_window(
                    window,
                    request.model_copy(update={"without_signals": list(off)}),
                    ANONYMOUS,
                    toolbox.retrieval,
                    AS_OF.isoformat(),
                    Deadline.after(60_000),
                )
                if degraded:
                    raise SystemExit(f"What is measured has to be whole, and it is not: {'; '.join(degraded)}")
                uids = [node.identity.uid for node in ranked]
                found[name][query.id] = _without(case, query.current_document, uids)
    scores = {name: _scores(judged, rankings) for name, rankings in found.items()}
    for name in UNASKED:
        paired = compare(scores["fused"], scores[name])
        say(
            Measurement(f"{case.name}, {name} − fused", paired.difference, MEASURE),
            f"{paired.baseline:.4f} → {paired.candidate:.4f}, 95 % in [{paired.low:+.4f}, {paired.high:+.4f}], "
            f"p = {paired.p_value:.4f}, {paired.wins} won, {paired.losses} lost",
        )


def _without(case: Case, current: str | None, uids: Sequence[str]) -> list[str]:
    return list(uids) if case.keep_current else [uid for uid in uids if uid != current]


def _scores(judged: EvaluationSet, rankings: Mapping[str, Sequence[str]]) -> PerQuery:
    cut = {query: tuple(uids[:DEPTH]) for query, uids in rankings.items()}
    return score(Run(judged.name, "", cut, 0.0), judged).per_query[MEASURE]


async def measure_cost() -> None:
    """One window of both legs' full depth; every node of it has something to say to the caller's profile."""
    random = np.random.default_rng(7)
    live = cast(LiveGraph, SimpleNamespace(adjacency=_graph(random)))
    settings = Settings(prior_deadline=60_000)
    walks = ScipyRanker(lambda: live, weights={EdgeType(name): worth for name, worth in settings.edge_weights.items()})
    priors = PriorCache(walks, settings)
    ranker = Ranker(priors, settings)
    window = [Fused(_node(place), 1 / (61 + rank), 61 / (61 + rank), ()) for rank, place in enumerate(range(WINDOW))]
    cards = {node.identity: _card(node.identity) for node in window}
    anchors = [_node(int(place)) for place in random.integers(0, NODES, QUERIES)]
    popular = [_node(int(place) - 1) for place in np.minimum(random.zipf(ZIPF, QUERIES), NODES)]
    known, new = [_caller(0)] * QUERIES, [_caller(number) for number in range(1, QUERIES + 1)]
    try:
        for claim, seeds, callers, legs in (
            ("without anchors, a caller met before", [[] for _ in anchors], known, 0.0),
            ("three anchors, a caller met before", [anchors[:3] for _ in anchors], known, 0.0),
            ("three anchors, each caller new", [anchors[:3] for _ in anchors], new, 0.0),
            ("each anchor new", [[anchor] for anchor in anchors[3:][:NEW_ANCHORS]], known, 0.0),
            (
                f"each anchor new, begun {LEGS * 1000:.0f} ms before",
                [[anchor] for anchor in anchors[3 + NEW_ANCHORS :][:NEW_ANCHORS]],
                known,
                LEGS,
            ),
            ("a mix of anchors, Zipf-drawn, each new at first", [[anchor] for anchor in popular], known, 0.0),
        ):
            await ranker.rank(window, cards, seeds[0], 1, _caller(0), Deadline.after(60_000))
            taken, worked = [], []
            missed = priors.lookups.missed
            for seed, caller in zip(seeds[1:], callers, strict=False):
                work = time.process_time()
                if legs:
                    ranker.begin(seed, 1, caller.audiences, ())
                    await asyncio.sleep(legs)
                clock = time.perf_counter()
                await ranker.rank(window, cards, seed, 1, caller, Deadline.after(60_000))
                taken.append((time.perf_counter() - clock) * 1000)
                worked.append((time.process_time() - work) * 1000)
            p50, p95 = np.percentile(worked, (50, 95))
            say(
                Measurement(f"prior and signals, {claim}", float(p50), "ms of processor time, p50", BUDGET),
                f"p95 {p95:.1f} ms, p50 by the clock {np.median(taken):.1f} ms; "
                f"{priors.lookups.missed - missed} of {len(taken)} queries waited for a vector; "
                f"{WINDOW} nodes of {NODES:,}, {EDGES:,} links",
            )
    finally:
        await priors.close()
        await walks.close()


async def measure_facets() -> None:
    """All facets at once over a graph of the embedded engine; what was counted before, and what was not.

    Once over copies of two estates, whose nodes share some hundred combinations of values; once over nodes that all
    differ, where each facet is a query.
    """
    random = np.random.default_rng(11)
    estates = [record for name in ("learn-en-us", "entity-framework") for record in records_of(name)]
    copies = link(list(PerturbedReader(estates, COPIES).read(Path(), "")), default_locale=LOCALE)
    products = Counter(product for node in copies.nodes.values() for product in node.products)
    chosen = [NodeFilter(product=(product,)) for product, _ in products.most_common(FACET_FILTERS)]
    await facets_of(f"copies of two estates, {len(copies.nodes):,} nodes", copies, chosen)
    nodes = {node.identity: node for node in (_node_of(place, random) for place in range(NODES))}
    different = LinkedGraph(nodes=nodes, edges=(), content_hashes={})
    chosen = [NodeFilter(product=(f"product-{number}",), level=("beginner",)) for number in range(FACET_FILTERS)]
    await facets_of(f"{NODES:,} nodes that all differ", different, chosen)


async def facets_of(name: str, graph: LinkedGraph, filters: Sequence[NodeFilter]) -> None:
    live = LiveGraph(Snapshot(), GraphProjection.build(graph, "bench"))
    reader = EmbeddedGraphReader(lambda: live)
    try:
        await time_facets(name, reader, filters)
    finally:
        await reader.close()


async def time_facets(name: str, reader: GraphReader, filters: Sequence[NodeFilter], generation: int = 1) -> None:
    """Nine facets at once, for the first time in a snapshot and later; and what a search does that can't wait."""
    settings = Settings(facet_deadline=60_000)
    counter = FacetCounter(reader, graph_profile(settings), settings)
    everyone = frozenset({EVERYONE})

    async def nine(filter: NodeFilter) -> float:
        started = time.perf_counter()
        await counter.count(NINE, filter, generation, everyone, deadline=Deadline.after(60_000))
        return (time.perf_counter() - started) * 1000

    say(Measurement(f"{name}: nine facets, the first of a snapshot", await nine(NodeFilter()), "ms", 400.0))
    for known, budget in (("not counted before", 400.0), ("counted before", 1.0)):
        p50, p95 = np.percentile([await nine(filter) for filter in filters], (50, 95))
        remark = f"p95 {p95:.1f} ms; {len(filters)} filters"
        say(Measurement(f"{name}: nine facets, {known}", float(p50), "ms, p50", budget), remark)
    impatient = FacetCounter(reader, graph_profile(settings), Settings(facet_deadline=1))
    started = time.perf_counter()
    _, late = await impatient.count(NINE, filters[0], generation, everyone, deadline=Deadline.after(60_000))
    taken = (time.perf_counter() - started) * 1000
    say(Measurement(f"{name}: a search waits for facets that are late", taken, "ms", 1.0), f"degraded: {late}")
    while late:
        await asyncio.sleep(0.1)
        counts, late = await impatient.count(NINE, filters[0], generation, everyone, deadline=Deadline.after(60_000))
    print(f"  and a later one finds {len(counts)}, {time.perf_counter() - started:.1f} s after the first asked")


NINE = [name for name in FACETS if name != "language"]
FACET_FILTERS = 25
COPIES = 9
"""Of two estates of 5,422 nodes: about as many as NODES."""


def _node_of(place: int, random: np.random.Generator) -> Node:
    """Values as unequal as an estate's: few are everywhere, most are rare."""

    def rare(name: str, different: int) -> str:
        return f"{name}-{int(different * random.random() ** 3)}"

    return Node(
        _node(place),
        (NodeKind.PAGE, NodeKind.UNIT, NodeKind.MODULE)[place % 3],
        "A page",
        docset=f"site-{place % 4}",
        level=("beginner", "intermediate", "advanced", None)[place % 4],
        products=tuple({rare("product", 60), rare("product", 60)}),
        topics=(rare("topic", 200),),
        roles=(rare("role", 12),),
        audience=(rare("audience", 5),),
        monikers=tuple(f"net-{version}.0" for version in range(6, 6 + place % 5)),
    )


def _caller(number: int) -> Caller:
    """Somebody to whom every signal speaks, and like whom nobody else is."""
    profile = CallerProfile(
        role="developer",
        level="beginner",
        audience="it",
        region="eu",
        locale="en-us",
        monikers=["net-8.0"],
        skills=["skill:a", f"skill:{number}"],
    )
    return Caller(profile, frozenset({EVERYONE}), frozenset(), AS_OF)


def _node(place: int) -> NodeIdentity:
    return NodeIdentity(f"page-{place:06}", "en-us")


def _graph(random: np.random.Generator) -> Adjacency:
    """Links whose targets are as unequal as real ones', and as many parents."""
    popular = (NODES * random.random(EDGES) ** 3).astype(np.int32)
    links = (random.integers(0, NODES, EDGES, dtype=np.int32), popular, np.ones(EDGES, np.float32))
    parents = (np.arange(NODES, dtype=np.int32), np.arange(NODES, dtype=np.int32) // 8, np.ones(NODES, np.float32))
    return Adjacency(
        tuple(_node(place) for place in range(NODES)),
        (frozenset({EVERYONE}),) * NODES,
        {EdgeType.XREF: links, EdgeType.PART_OF: parents},
    )


def _card(identity: NodeIdentity) -> Card:
    return Card(
        identity=identity,
        kind="page",
        title=identity.uid,
        type="concept",
        url=None,
        summary=None,
        docset="site",
        content_hash=None,
        level="beginner",
        roles=("developer",),
        audience=("it",),
        region=("eu",),
        moniker_range=">=net-7.0 <=net-9.0 || vs-2022",
        last_modified="2024-05-01",
        successor=None,
        requirements=(Requirement("skill:a", frozenset()), Requirement("module", frozenset({"skill:b", "skill:c"}))),
    )


async def main(names: Sequence[str], cost: bool) -> None:
    say_stack("cogitave-query", "scipy", "numpy", "ir-measures")
    if cost:
        await measure_cost()
        await measure_facets()
        return
    for case in CASES:
        if case.name in names:
            await measure(case)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", nargs="+", default=SETS, metavar="SET")
    parser.add_argument("--cost", action="store_true")
    arguments = parser.parse_args()
    asyncio.run(main(arguments.sets, arguments.cost))
