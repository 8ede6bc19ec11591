"""Scores of an estate's nodes as arrays: a map of fifty thousand takes longer to make than the scores themselves."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from service.domain.graph import NodeIdentity

Floats: TypeAlias = npt.NDArray[np.float64]


class Numbering:
    """Nodes by number from 0, and back: made once for a graph, shared by all scores over it."""

    __slots__ = ("nodes", "number")

    def __init__(self, nodes: Iterable[NodeIdentity]) -> None:
        self.nodes: tuple[NodeIdentity, ...] = tuple(nodes)
        self.number: Mapping[NodeIdentity, int] = {node: number for number, node in enumerate(self.nodes)}

    def __len__(self) -> int:
        return len(self.nodes)


@dataclass(frozen=True, slots=True, eq=False)
class NodeScores:
    """Scores above 0 of some nodes, eight bytes each: thousands of these are kept.

    numbers: of the nodes in `numbering`, ascending. values: beside them. error: what all values together may lie off
    the exact ones, those left out counted as 0 (the L1 distance), rounding aside.
    """

    numbering: Numbering
    numbers: npt.NDArray[np.int32]
    values: npt.NDArray[np.float32]
    error: float = 0.0

    @classmethod
    def of(cls, scores: Mapping[NodeIdentity, float]) -> "NodeScores":
        """Exact ones."""
        values = np.fromiter(scores.values(), np.float32, len(scores))
        return cls.dense(Numbering(scores), values)

    @classmethod
    def dense(cls, numbering: Numbering, values: npt.NDArray[np.float32], error: float = 0.0) -> "NodeScores":
        """values: of every node of the numbering; those of 0 and below are left out."""
        held = np.flatnonzero(values > 0)
        return cls(numbering, held.astype(np.int32), values[held], error)

    @property
    def total(self) -> float:
        """The sum of all."""
        return float(self.values.sum(dtype=np.float64))

    def at(self, nodes: Sequence[NodeIdentity]) -> Floats:
        """The score of each of these nodes, 0 where it has none."""
        if not len(self.numbers):
            return np.zeros(len(nodes))
        number = self.numbering.number
        wanted = np.fromiter((number.get(node, -1) for node in nodes), np.int32, len(nodes))
        found = np.minimum(np.searchsorted(self.numbers, wanted), len(self.numbers) - 1)
        return np.where(self.numbers[found] == wanted, self.values[found], 0.0).astype(np.float64)

    def by_node(self) -> dict[NodeIdentity, float]:
        nodes = self.numbering.nodes
        return {nodes[number]: value for number, value in zip(self.numbers.tolist(), self.values.tolist(), strict=True)}

    def truncated(self, bound: float) -> "NodeScores":
        """Without the smallest, as long as the error stays within `bound` of the exact scores' sum.

        Of equal scores all stay or none do. Sums of scores so truncated keep the bound.
        """
        spare = bound * (self.total - self.error) - self.error
        if spare <= 0 or not len(self.values):
            return self
        ordered = np.sort(self.values)
        sums = np.cumsum(ordered, dtype=np.float64)
        least = ordered[min(int(np.searchsorted(sums, spare, side="right")), len(ordered) - 1)]
        dropped = int(np.searchsorted(ordered, least))
        kept = self.values >= least
        error = self.error + (float(sums[dropped - 1]) if dropped else 0.0)
        return NodeScores(self.numbering, self.numbers[kept], self.values[kept], error)
