"""PageRank by Graph Data Science: a graph of ten nodes solved by hand's method, and what a caller may see."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import TypeVar

import numpy as np
import pytest

from adapters.embedded.live_graph import LiveGraph
from adapters.embedded.projection import GraphProjection
from adapters.embedded.ranker import ScipyRanker
from adapters.estates import ReadingRules, readers
from adapters.neo4j.ranker import GdsRanker
from adapters.neo4j.reader import Neo4jGraphReader
from adapters.neo4j.store import Neo4jGraphStore
from service.domain.content import NodeRecord
from service.domain.deadline import Deadline
from service.domain.graph import EVERYONE, EdgeType, Node, NodeIdentity, NodeKind, Reference
from service.domain.scores import NodeScores
from service.domain.snapshots import Snapshot
from service.ports import GraphRanker
from service.publishing.estates import read_estates
from service.publishing.linking import link
from tests.contract.estate import rebuilt
from tests.engines import Neo4jAddress
from tests.integration.test_neo4j_graph import publish
from tests.neo4j_database import empty_database
from tests.shared_data import ESTATES

pytestmark = pytest.mark.engines

Answer = TypeVar("Answer")

EVERYBODY = frozenset({EVERYONE})
DAMPING = 0.85
ITERATIONS = 20
WEIGHTS = {EdgeType.XREF: (1.0, 0.5), EdgeType.PART_OF: (2.0, 0.0)}

# Ten nodes: a module 9 with the units 0 to 3, a chain of links 0→1→2→3→0, a fan 4→(5, 6, 7) and 8 that stands alone.
LINKS = [(0, 1, 1.0), (1, 2, 1.0), (2, 3, 1.0), (3, 0, 1.0), (4, 5, 1.0), (4, 6, 3.0), (4, 7, 1.0), (3, 4, 1.0)]
PARTS = [(unit, 9, 1.0) for unit in range(4)]


def identity(number: int) -> NodeIdentity:
    return NodeIdentity(f"n{number}", "en-us")


def records(hidden: frozenset[int] = frozenset()) -> list[NodeRecord]:
    def references(number: int) -> tuple[Reference, ...]:
        edges = [(EdgeType.XREF, *edge) for edge in LINKS] + [(EdgeType.PART_OF, *edge) for edge in PARTS]
        return tuple(
            Reference(type, f"n{target}", "markup", "file.md", 1, weight=weight)
            for type, source, target, weight in edges
            if source == number
        )

    return [
        NodeRecord(
            Node(
                identity(number),
                NodeKind.PAGE,
                f"n{number}",
                visible_to=("members",) if number in hidden else (EVERYONE,),
            ),
            references=references(number),
        )
        for number in range(10)
    ]


def solved(sources: Mapping[int, float], hidden: frozenset[int] = frozenset()) -> dict[NodeIdentity, float]:
    """p = (1−d)·s + d·Pᵀ·p by 20 steps, P written out from the tables above: the definition, without any shortcut."""
    steps = np.zeros((10, 10))
    for edges, (along, against) in ((LINKS, WEIGHTS[EdgeType.XREF]), (PARTS, WEIGHTS[EdgeType.PART_OF])):
        for worth, turned in ((along, False), (against, True)):
            ways = [(t, s, w) if turned else (s, t, w) for s, t, w in edges if not {s, t} & hidden]
            for start, end, weight in ways:
                steps[start, end] += worth * weight / sum(w for s, _, w in ways if s == start)
    totals = steps.sum(axis=1, keepdims=True)
    transitions = np.divide(steps, totals, out=np.zeros_like(steps), where=totals > 0)
    taken = (1 - DAMPING) * np.array([sources.get(number, 0.0) for number in range(10)])
    scores = taken
    for _ in range(ITERATIONS):
        scores = taken + DAMPING * transitions.T @ scores
    return {identity(number): score for number, score in enumerate(scores) if score > 0}


def ranked(
    address: Neo4jAddress, estate: list[NodeRecord], work: Callable[[GdsRanker], Awaitable[Answer]], kept: int = 8
) -> Answer:
    async def run() -> Answer:
        async with empty_database(address) as driver:
            await publish(Neo4jGraphStore(driver, rebuild=rebuilt), estate)
            reader = Neo4jGraphReader(driver)
            ranker = GdsRanker(reader, weights=WEIGHTS, damping=DAMPING, iterations=ITERATIONS, kept=kept)
            return await work(ranker)

    return asyncio.run(run())


def due() -> Deadline:
    return Deadline.after(60_000)


def test_ten_nodes_score_as_the_definition_says(neo4j_server: Neo4jAddress):
    async def work(ranker: GdsRanker) -> list[NodeScores]:
        return [
            await ranker.global_scores(EVERYBODY, deadline=due()),
            await ranker.personalized({identity(0): 1.0}, EVERYBODY, deadline=due()),
            await ranker.personalized({identity(4): 0.25, identity(9): 2.0}, EVERYBODY, deadline=due()),
        ]

    everywhere, one, two = (scores.by_node() for scores in ranked(neo4j_server, records(), work))
    assert everywhere == pytest.approx(solved(dict.fromkeys(range(10), 1.0)), abs=1e-6)
    assert one == pytest.approx(solved({0: 1.0}), abs=1e-6)
    assert two == pytest.approx(solved({4: 0.25, 9: 2.0}), abs=1e-6)


def test_what_does_not_show_takes_no_part(neo4j_server: Neo4jAddress):
    hidden = frozenset({2, 5})

    async def work(ranker: GdsRanker) -> list[NodeScores]:
        seeds = {identity(0): 1.0, identity(5): 1.0, NodeIdentity("stranger", "en-us"): 1.0}
        return [
            await ranker.personalized(seeds, EVERYBODY, deadline=due()),
            await ranker.personalized({identity(5): 1.0}, EVERYBODY, deadline=due()),
            await ranker.personalized({identity(5): 1.0}, EVERYBODY | {"members"}, deadline=due()),
        ]

    public, nothing, members = (scores.by_node() for scores in ranked(neo4j_server, records(hidden), work))
    assert public == pytest.approx(solved({0: 1.0}, hidden), abs=1e-6)
    assert nothing == {}
    assert members == pytest.approx(solved({5: 1.0}), abs=1e-6)


def test_vectors_of_single_seeds_add_up(neo4j_server: Neo4jAddress):
    async def work(ranker: GdsRanker) -> list[NodeScores]:
        a, b = {identity(0): 0.5}, {identity(4): 0.5}
        return [await ranker.personalized(seeds, EVERYBODY, deadline=due()) for seeds in (a, b, a | b)]

    first, second, both = (scores.by_node() for scores in ranked(neo4j_server, records(), work))
    summed = {node: first.get(node, 0.0) + second.get(node, 0.0) for node in first.keys() | second.keys()}
    assert both == pytest.approx(summed, abs=1e-6)


def test_projections_are_few_and_shared(neo4j_server: Neo4jAddress):
    async def work(ranker: GdsRanker) -> list[str]:
        for audience in ("a", "b", "c", "d"):
            both = [ranker.global_scores(frozenset({EVERYONE, audience}), deadline=due()) for _ in range(2)]
            first, second = await asyncio.gather(*both)
            assert first.by_node() == second.by_node()
        return await ranker.held(due())

    assert len(ranked(neo4j_server, records(), work, kept=2)) == 2


def test_an_empty_store_ranks_nothing(neo4j_server: Neo4jAddress):
    async def run() -> Mapping[NodeIdentity, float]:
        async with empty_database(neo4j_server) as driver:
            ranker = GdsRanker(Neo4jGraphReader(driver), weights=WEIGHTS)
            return (await ranker.global_scores(EVERYBODY, deadline=due())).by_node()

    assert asyncio.run(run()) == {}


def test_gds_and_scipy_agree_on_an_estate(neo4j_server: Neo4jAddress):
    """Within 10⁻⁵ of the largest score, scipy iterating in single precision; and within their bounds, given one."""
    estate = [*read_estates([str(ESTATES / "entity-framework")], readers(ReadingRules())).records]
    linked = link(estate, default_locale="en-us")
    live = LiveGraph(Snapshot("estate", 1), GraphProjection.build(linked, "p1"))
    seeds = dict.fromkeys(sorted(linked.content_hashes)[::700], 0.5)
    bound = 0.01

    async def both(ranker: GraphRanker) -> list[NodeScores]:
        return [
            await ranker.global_scores(EVERYBODY, deadline=due()),
            await ranker.personalized(seeds, EVERYBODY, deadline=due()),
            await ranker.personalized(seeds, EVERYBODY, bound=bound, deadline=due()),
        ]

    by_gds = ranked(neo4j_server, estate, both)
    scipy = ScipyRanker(lambda: live, weights=WEIGHTS, damping=DAMPING, iterations=ITERATIONS)
    by_scipy = asyncio.run(both(scipy))
    nodes = list(linked.nodes)
    for theirs, ours in zip(by_gds[:2], by_scipy[:2], strict=True):
        assert len(ours.values) > 1_000
        assert np.abs(theirs.at(nodes) - ours.at(nodes)).max() < 1e-5 * ours.values.max()
    exact = by_gds[1]
    for near in (by_gds[2], by_scipy[2]):
        assert 0 < near.error <= bound * exact.total
        assert np.abs(near.at(nodes) - exact.at(nodes)).sum() <= near.error + 1e-5 * exact.total
