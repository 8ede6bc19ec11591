"""The graph's edges as arrays, and the transition matrix of one visibility class over them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.sparse import csr_array

from service.domain.graph import EdgeType, NodeIdentity
from service.domain.scores import Numbering

EdgeWeights = Mapping[EdgeType, tuple[float, float]]
"""What an edge of a type is worth walked along, and walked against."""

Matrix = Any
"""Compressed sparse rows of float32, shape (n, n)."""

# scipy's stubs type a matrix made from coordinates as one-dimensional.
_rows: Any = csr_array

Integers = npt.NDArray[np.int32]


@dataclass(frozen=True)
class Adjacency:
    """Nodes by position, and for each type (sources, targets, weights) of its edges."""

    nodes: tuple[NodeIdentity, ...]
    visible_to: tuple[frozenset[str], ...]
    edges: Mapping[EdgeType, tuple[Integers, Integers, npt.NDArray[np.float32]]]


@dataclass(frozen=True)
class Transitions:
    """Where a random walk goes among the nodes that one visibility class sees.

    transposed: Pᵀ, shape (n, n). A row of P sums to one, or to zero for a node that nothing leads away from. Nodes that
    most ways lead to come first: with the rows by length, and the columns that most rows read close together, a product
    takes two thirds of the time.
    """

    numbering: Numbering
    transposed: Matrix


def transitions(adjacency: Adjacency, audiences: frozenset[str], weights: EdgeWeights) -> Transitions:
    """Each type and direction is row-normalised by its edges' weights, the types are mixed by their own, and the row is
    normalised again: so a page's hundred links don't drown the one module that it is part of."""
    seen = [place for place, audience in enumerate(adjacency.visible_to) if not audiences.isdisjoint(audience)]
    size = len(seen)
    renumbered = np.full(len(adjacency.nodes), -1, dtype=np.int32)
    renumbered[seen] = np.arange(size, dtype=np.int32)
    mixed: Matrix = _rows((size, size), dtype=np.float32)
    for type, (sources, targets, strengths) in adjacency.edges.items():
        start, end = renumbered[sources], renumbered[targets]
        kept = (start >= 0) & (end >= 0) & (strengths > 0)
        along: Matrix = _rows((strengths[kept], (start[kept], end[kept])), shape=(size, size), dtype=np.float32)
        forward, backward = weights.get(type, (0.0, 0.0))
        mixed = mixed + forward * _row_normalised(along) + backward * _row_normalised(along.T.tocsr())
    transposed = _row_normalised(mixed).T.tocsr()
    order = np.argsort(-np.diff(transposed.indptr), kind="stable")
    return Transitions(
        numbering=Numbering(adjacency.nodes[seen[place]] for place in order),
        transposed=transposed[order][:, order].tocsr().astype(np.float32),
    )


def _row_normalised(matrix: Matrix) -> Matrix:
    totals = np.asarray(matrix.sum(axis=1), dtype=np.float32).ravel()
    shares = np.divide(1.0, totals, out=np.zeros_like(totals), where=totals > 0)
    lengths = np.diff(matrix.indptr)
    return _rows(
        (matrix.data * np.repeat(shares, lengths), matrix.indices, matrix.indptr), shape=matrix.shape, dtype=np.float32
    )
