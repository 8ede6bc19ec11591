from types import SimpleNamespace
from typing import Any, cast

import numpy as np
import pytest

from adapters.embedded.adjacency import Adjacency, Transitions, transitions
from adapters.embedded.live_graph import LiveGraph
from adapters.embedded.ranker import ScipyRanker
from service.domain.graph import EdgeType, NodeIdentity
from service.domain.snapshots import Snapshot
from tests.contract.estate import soon

pytestmark = pytest.mark.anyio

ANYONE = frozenset({"*"})
A, B, C, D = (NodeIdentity(uid, "en-us") for uid in "abcd")


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


def adjacency(*edges: tuple[EdgeType, int, int, float], size: int = 4, hidden: tuple[int, ...] = ()) -> Adjacency:
    def columns(type: EdgeType) -> Any:
        own = [edge for edge in edges if edge[0] is type]
        return (
            np.array([edge[1] for edge in own], dtype=np.int32),
            np.array([edge[2] for edge in own], dtype=np.int32),
            np.array([edge[3] for edge in own], dtype=np.float32),
        )

    return Adjacency(
        nodes=(A, B, C, D)[:size],
        visible_to=tuple(frozenset({"staff"} if place in hidden else {"*"}) for place in range(size)),
        edges={type: columns(type) for type in EdgeType},
    )


def ranker(edges: Adjacency, **options: Any) -> ScipyRanker:
    live = SimpleNamespace(snapshot=Snapshot("root", 1), adjacency=edges)
    return ScipyRanker(lambda: cast(LiveGraph, live), **options)


def steps(walk: Transitions) -> Any:
    """P, its rows and columns in the order of their nodes."""
    places = [walk.numbering.number[node] for node in sorted(walk.numbering.nodes)]
    return walk.transposed.toarray().T[np.ix_(places, places)]


def test_types_are_mixed_by_their_weights_not_by_how_many_edges_they_have() -> None:
    """a has two xrefs (to b and c, the second half as strong) and one partOf (to d) that counts twice as much."""
    edges = adjacency((EdgeType.XREF, 0, 1, 1.0), (EdgeType.XREF, 0, 2, 0.5), (EdgeType.PART_OF, 0, 3, 1.0))
    weights = {EdgeType.XREF: (1.0, 0.0), EdgeType.PART_OF: (2.0, 0.0)}
    walk = steps(transitions(edges, ANYONE, weights))
    # xref: 1/3 · (2/3, 1/3); partOf: 2/3 · 1.
    np.testing.assert_allclose(walk[0], [0, 2 / 9, 1 / 9, 2 / 3], atol=1e-6)
    np.testing.assert_allclose(walk[1:], 0)


def test_a_backward_weight_lets_siblings_meet() -> None:
    """b and c are part of a: with a backward weight of 1/4 a walk from b reaches c through a."""
    edges = adjacency((EdgeType.PART_OF, 1, 0, 1.0), (EdgeType.PART_OF, 2, 0, 1.0), size=3)
    walk = steps(transitions(edges, ANYONE, {EdgeType.PART_OF: (1.0, 0.25)}))
    np.testing.assert_allclose(walk, [[0, 0.5, 0.5], [1, 0, 0], [1, 0, 0]], atol=1e-6)


def test_a_type_of_no_weight_leads_nowhere() -> None:
    edges = adjacency((EdgeType.XREF, 0, 1, 1.0), (EdgeType.APPLIES_TO, 0, 2, 1.0))
    walk = steps(transitions(edges, ANYONE, {EdgeType.XREF: (1.0, 0.0)}))
    np.testing.assert_allclose(walk[0], [0, 1, 0, 0])


def test_what_does_not_show_is_not_walked_through() -> None:
    """Its share goes to the neighbours that show."""
    edges = adjacency((EdgeType.XREF, 0, 1, 1.0), (EdgeType.XREF, 0, 2, 1.0), (EdgeType.XREF, 2, 3, 1.0), hidden=(2,))
    seen = transitions(edges, ANYONE, {EdgeType.XREF: (1.0, 0.0)})
    assert sorted(seen.numbering.nodes) == [A, B, D]
    np.testing.assert_allclose(steps(seen), [[0, 1, 0], [0, 0, 0], [0, 0, 0]])


def test_where_most_ways_lead_comes_first() -> None:
    edges = adjacency((EdgeType.XREF, 0, 3, 1.0), (EdgeType.XREF, 1, 3, 1.0), (EdgeType.XREF, 0, 2, 1.0))
    assert transitions(edges, ANYONE, {EdgeType.XREF: (1.0, 0.0)}).numbering.nodes == (D, C, A, B)


async def test_enough_iterations_solve_the_equation() -> None:
    """(I − d·Pᵀ)·p = (1−d)·s, on a cycle a → b → c → a with a branch c → d that ends there."""
    edges = adjacency(
        (EdgeType.XREF, 0, 1, 1.0), (EdgeType.XREF, 1, 2, 1.0), (EdgeType.XREF, 2, 0, 1.0), (EdgeType.XREF, 2, 3, 3.0)
    )
    weights = {EdgeType.XREF: (1.0, 0.0)}
    walk = np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0.25, 0, 0, 0.75], [0, 0, 0, 0]])
    solved = np.linalg.solve(np.eye(4) - 0.85 * walk.T, 0.15 * np.array([0.75, 0.25, 0, 0]))
    scores = await ranker(edges, weights=weights, iterations=200).personalized(
        {A: 0.75, B: 0.25}, ANYONE, deadline=soon()
    )
    assert scores.at([A, B, C, D]) == pytest.approx(solved, abs=1e-6)
    assert scores.total < 1, "what reaches d is dropped there"


async def test_no_iteration_leaves_the_seeds() -> None:
    edges = adjacency((EdgeType.XREF, 0, 1, 1.0))
    one = ranker(edges, weights={EdgeType.XREF: (1.0, 0.0)}, damping=0.5, iterations=1)
    assert (await one.personalized({A: 1.0}, ANYONE, deadline=soon())).by_node() == pytest.approx({A: 0.5, B: 0.25})
    none = ranker(edges, weights={EdgeType.XREF: (1.0, 0.0)}, damping=0.5, iterations=0)
    assert (await none.personalized({A: 1.0}, ANYONE, deadline=soon())).by_node() == pytest.approx({A: 0.5})
