"""What the service relies on in any graph ranker: the equation of DESIGN's graph prior, to the last iteration."""

import random
from collections.abc import Mapping

import numpy as np
import pytest

from service.domain.content import NodeRecord
from service.domain.errors import EngineLate
from service.domain.graph import EVERYONE, EdgeType, NodeIdentity
from tests.contract.conftest import DAMPING, EDGE_WEIGHTS, ITERATIONS, Graph
from tests.contract.estate import gone, linked, publish, record, refers, soon

pytestmark = pytest.mark.anyio

ANYONE = frozenset({EVERYONE})
STAFF = frozenset({EVERYONE, "staff"})


def page(uid: str) -> NodeIdentity:
    return NodeIdentity(uid, "en-us")


def estate() -> list[NodeRecord]:
    """Two edge types, weighted edges, two edges between one pair, a node for staff, and one that nothing touches."""
    return [
        record("a", refers(EdgeType.XREF, "b"), refers(EdgeType.XREF, "c", weight=0.5), refers(EdgeType.PART_OF, "d")),
        record("b", refers(EdgeType.XREF, "c"), refers(EdgeType.DEPENDS_ON, "c")),
        record("c", refers(EdgeType.XREF, "secret")),
        record("d", refers(EdgeType.XREF, "a")),
        record("secret", refers(EdgeType.XREF, "b"), visible_to=("staff",)),
        record("alone"),
    ]


def expected(seeds: Mapping[NodeIdentity, float] | None, audiences: frozenset[str]) -> dict[NodeIdentity, float]:
    """The same by dense matrices: rows normalised per type and direction, mixed, normalised again; then the sum
    (1−d)·Σ_k (d·Pᵀ)^k·s up to the last iteration."""
    graph = linked(estate())
    nodes = [node.identity for node in graph.nodes.values() if audiences & set(node.visible_to)]
    size = len(nodes)
    mixed = np.zeros((size, size))
    for type, (forward, backward) in EDGE_WEIGHTS.items():
        matrix = np.zeros((size, size))
        for edge in graph.edges:
            if edge.type is type and edge.source in nodes and edge.target in nodes:
                matrix[nodes.index(edge.source), nodes.index(edge.target)] += edge.weight
        mixed += forward * normalised(matrix) + backward * normalised(matrix.T)
    walk = DAMPING * normalised(mixed).T
    source = np.array([1.0 if seeds is None else seeds.get(node, 0.0) for node in nodes])
    total, step = np.zeros(size), (1 - DAMPING) * source
    for _ in range(ITERATIONS + 1):
        total, step = total + step, walk @ step
    return {node: score for node, score in zip(nodes, total, strict=True) if score > 0}


def normalised(matrix: np.ndarray) -> np.ndarray:
    sums = matrix.sum(axis=1, keepdims=True)
    return np.divide(matrix, sums, out=np.zeros_like(matrix), where=sums > 0)


def close(scores: Mapping[NodeIdentity, float], other: Mapping[NodeIdentity, float]) -> bool:
    return {node for node, score in scores.items() if score > 0} == set(other) and all(
        score == pytest.approx(other.get(node, 0.0), abs=1e-6) for node, score in scores.items()
    )


@pytest.mark.parametrize("audiences", [ANYONE, STAFF])
async def test_the_global_scores(graph: Graph, audiences: frozenset[str]) -> None:
    await publish(graph.store, estate())
    scores = (await graph.ranker.global_scores(audiences, deadline=soon())).by_node()
    assert close(scores, expected(None, audiences))
    assert scores[page("alone")] == pytest.approx(1 - DAMPING, abs=1e-6)
    assert (page("secret") in scores) == (audiences == STAFF)


@pytest.mark.parametrize("audiences", [ANYONE, STAFF])
@pytest.mark.parametrize("seeds", [{"a": 1.0}, {"c": 1.0}, {"a": 0.5, "d": 0.5}, {"b": 0.2, "alone": 0.8}])
async def test_the_personalized_scores(graph: Graph, seeds: dict[str, float], audiences: frozenset[str]) -> None:
    await publish(graph.store, estate())
    weights = {page(uid): weight for uid, weight in seeds.items()}
    scores = (await graph.ranker.personalized(weights, audiences, deadline=soon())).by_node()
    assert close(scores, expected(weights, audiences))


async def test_the_scores_are_linear_in_their_seeds(graph: Graph) -> None:
    await publish(graph.store, estate())
    one = (await graph.ranker.personalized({page("a"): 1.0}, ANYONE, deadline=soon())).by_node()
    two = (await graph.ranker.personalized({page("b"): 1.0}, ANYONE, deadline=soon())).by_node()
    both = (await graph.ranker.personalized({page("a"): 0.25, page("b"): 2.0}, ANYONE, deadline=soon())).by_node()
    assert both == pytest.approx(
        {node: 0.25 * one.get(node, 0.0) + 2.0 * two.get(node, 0.0) for node in {*one, *two}}, abs=1e-6
    )


async def test_seeds_that_do_not_show_count_nothing(graph: Graph) -> None:
    await publish(graph.store, estate())
    alone = (await graph.ranker.personalized({page("a"): 0.5}, ANYONE, deadline=soon())).by_node()
    with_others = {page("a"): 0.5, page("secret"): 0.3, page("nobody"): 0.2}
    assert (await graph.ranker.personalized(with_others, ANYONE, deadline=soon())).by_node() == pytest.approx(alone)
    assert (await graph.ranker.personalized({page("secret"): 1.0}, ANYONE, deadline=soon())).by_node() == {}
    assert (await graph.ranker.personalized({}, ANYONE, deadline=soon())).by_node() == {}


@pytest.mark.parametrize("bound", [0.3, 0.03, 0.003])
async def test_an_answer_within_a_bound_says_what_it_lies_off_at_most(graph: Graph, bound: float) -> None:
    draw = random.Random(5)
    links = [[refers(EdgeType.XREF, f"p{draw.randrange(120)}") for _ in range(4)] for _ in range(120)]
    await publish(graph.store, [record(f"p{number}", *those) for number, those in enumerate(links)])
    for seeds in ({page("p0"): 1.0}, {page("p1"): 0.25, page("p2"): 0.75, page("stranger"): 0.1}):
        exact = await graph.ranker.personalized(seeds, ANYONE, deadline=soon())
        near = await graph.ranker.personalized(seeds, ANYONE, bound=bound, deadline=soon())
        nodes = list(exact.by_node())
        assert exact.error == 0
        assert np.abs(exact.at(nodes) - near.at(nodes)).sum() <= near.error + 1e-5
        assert near.error <= bound * exact.total


async def test_the_scores_follow_the_snapshot(graph: Graph) -> None:
    await publish(graph.store, estate(), publish_id="p1")
    assert page("b") in (await graph.ranker.personalized({page("a"): 1.0}, ANYONE, deadline=soon())).by_node()
    await publish(graph.store, [record("a"), record("b")], publish_id="p2", held=estate())
    scores = (await graph.ranker.personalized({page("a"): 1.0}, ANYONE, deadline=soon())).by_node()
    assert scores == pytest.approx({page("a"): 1 - DAMPING}, abs=1e-6)


async def test_an_empty_graph_has_no_scores(graph: Graph) -> None:
    assert (await graph.ranker.global_scores(ANYONE, deadline=soon())).by_node() == {}
    assert (await graph.ranker.personalized({page("a"): 1.0}, ANYONE, deadline=soon())).by_node() == {}


async def test_a_deadline_that_has_passed_is_kept(graph: Graph) -> None:
    await publish(graph.store, estate())
    with pytest.raises(EngineLate):
        await graph.ranker.global_scores(ANYONE, deadline=gone())
    with pytest.raises(EngineLate):
        await graph.ranker.personalized({page("a"): 1.0}, ANYONE, deadline=gone())
