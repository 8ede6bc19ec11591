"""A walk's scores, whole and extrapolated, beside the sum that defines them."""

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adapters.embedded.walk import walk

DAMPING = 0.85
ITERATIONS = 20


class Counted:
    """A matrix that counts its products."""

    def __init__(self, matrix: npt.NDArray[np.float32]) -> None:
        self.matrix = matrix
        self.products = 0

    def __matmul__(self, vector: Any) -> Any:
        self.products += 1
        return self.matrix @ vector


def defined(transposed: npt.NDArray[np.float64], sources: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
    """(1−d)·Σ d^k·(Pᵀ)^k·s, in double precision."""
    total, step = np.zeros(len(sources)), (1 - DAMPING) * sources
    for _ in range(ITERATIONS + 1):
        total, step = total + step, DAMPING * transposed @ step
    return total


def steps_of(edges: list[tuple[int, int]], size: int) -> npt.NDArray[np.float64]:
    """Pᵀ of a walk along these edges, equally often."""
    along = np.zeros((size, size))
    for source, target in edges:
        along[source, target] += 1
    totals = along.sum(axis=1, keepdims=True)
    return np.divide(along, totals, out=np.zeros_like(along), where=totals > 0).T


def test_without_a_bound_it_is_the_iterate() -> None:
    """a ⇄ b: half of 20 steps end at either, a's the even ones."""
    scores, error = walk(
        steps_of([(0, 1), (1, 0)], 2).astype(np.float32), np.float32([1, 0]), damping=0.5, iterations=3
    )
    assert scores == pytest.approx([0.5 + 0.125, 0.25 + 0.0625])
    assert error == 0


SIZES = st.integers(2, 24)
GRAPHS = SIZES.flatmap(
    lambda size: st.tuples(
        st.just(size),
        st.lists(st.tuples(st.integers(0, size - 1), st.integers(0, size - 1)), max_size=4 * size),
        st.dictionaries(st.integers(0, size - 1), st.floats(0.125, 2, width=32), min_size=1, max_size=3),
    )
)
"""Any graph: with cycles of every length, ends, islands and nodes that lead to themselves; and who sets out where."""


@given(GRAPHS, st.sampled_from([0.3, 0.05, 0.005, 0.0005]))
def test_it_lies_off_no_more_than_it_says_and_says_no_more_than_its_bound(
    graph: tuple[int, list[tuple[int, int]], dict[int, float]], bound: float
) -> None:
    size, edges, seeds = graph
    sources = np.zeros(size)
    sources[list(seeds)] = list(seeds.values())
    transposed = steps_of(edges, size)
    exact = defined(transposed, sources)
    scores, error = walk(
        transposed.astype(np.float32), sources.astype(np.float32), damping=DAMPING, iterations=ITERATIONS, bound=bound
    )
    assert np.abs(scores - exact).sum() <= error + 1e-5 * exact.sum()
    assert error <= bound * exact.sum() * (1 + 1e-5)
    assert (scores >= 0).all()


@pytest.mark.parametrize(
    ("links", "back"), [(6, 0), (3, 1), (1, 1)], ids=["well mixed", "both ways", "a tree, walked up and down"]
)
def test_a_bound_of_a_hundredth_takes_two_thirds_of_the_products_at_most(links: int, back: int) -> None:
    random = np.random.default_rng(3)
    size = 400
    pairs = [(page, int(target)) for page in range(1, size) for target in random.integers(0, page, links)]
    edges = pairs + [(target, page) for page, target in pairs] * back + [(0, 1)]
    matrix = Counted(steps_of(edges, size).astype(np.float32))
    sources = np.zeros(size, dtype=np.float32)
    sources[size // 2] = 1
    walk(matrix, sources, damping=DAMPING, iterations=ITERATIONS, bound=0.01)
    assert matrix.products <= 2 * ITERATIONS // 3
