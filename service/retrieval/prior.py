"""The graph prior: Personalized PageRank from the query's anchors, as the lift over the global PageRank.

p = (1−d)·Σ_s w_s·e_s + d·Pᵀ·p (Haveliwala, WWW 2002) is linear in its seeds, so one vector an anchor, kept by snapshot
and visibility class, adds up to every query's. Seeded mass alone favours hubs; the lift over the unseeded scores does
not.
"""

import asyncio
import math
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from service.domain.deadline import Deadline
from service.domain.graph import NodeIdentity
from service.observation import Lookups
from service.ports import GraphRanker
from service.retrieval.computations import Computations
from service.settings import Settings

Scores = Mapping[NodeIdentity, float]
Floats = npt.NDArray[np.float64]

LIFT_SCALE = 100.0
"""A lift of this much, or more, is a prior of 1."""


def prior_of(seeded: float, unseeded: float) -> float:
    """clip(log(seeded / unseeded) / log 100, 0, 1); a node that either leaves out has none."""
    if seeded <= 0 or unseeded <= 0:
        return 0.0
    return min(1.0, max(0.0, math.log(seeded / unseeded) / math.log(LIFT_SCALE)))


def largest(scores: Floats, bound: float) -> npt.NDArray[np.bool_]:
    """Which scores stay when the smallest go, as long as what goes sums to at most `bound` of the whole.

    Of equal scores all stay or none do. A sum of vectors so truncated lies within `bound` of the true one in L1,
    relative to its mass.
    """
    if not len(scores):
        return np.zeros(0, dtype=np.bool_)
    ordered = np.sort(scores)
    dropped = np.searchsorted(np.cumsum(ordered), bound * scores.sum(), side="right")
    kept: npt.NDArray[np.bool_] = scores >= ordered[min(int(dropped), len(ordered) - 1)]
    return kept


@dataclass(frozen=True, slots=True)
class Vector:
    """What a walk from one anchor leaves where, eight bytes a node: thousands are kept.

    position: node → its number in `places`, which ascend; all vectors of a snapshot and visibility class share it.
    """

    position: Mapping[NodeIdentity, int]
    places: npt.NDArray[np.int32]
    scores: npt.NDArray[np.float32]

    @classmethod
    def of(cls, scores: Scores, position: Mapping[NodeIdentity, int], bound: float) -> "Vector":
        """The largest of these scores, without the nodes that have no position."""
        values = np.fromiter(scores.values(), np.float64, len(scores))
        places = np.fromiter((position.get(node, -1) for node in scores), np.int32, len(scores))
        kept = np.flatnonzero(largest(values, bound) & (places >= 0))
        kept = kept[np.argsort(places[kept], kind="stable")]
        return cls(position, places[kept], values[kept].astype(np.float32))

    def at(self, nodes: Sequence[NodeIdentity]) -> Floats:
        """The score of each of these nodes, 0 where it has none."""
        if not len(self.places):
            return np.zeros(len(nodes))
        wanted = np.fromiter((self.position.get(node, -1) for node in nodes), np.int32, len(nodes))
        found = np.minimum(np.searchsorted(self.places, wanted), len(self.places) - 1)
        return np.where(self.places[found] == wanted, self.scores[found], 0.0).astype(np.float64)


def percentiles(scores: Scores) -> dict[NodeIdentity, float]:
    """Each node's place among all, in [0, 1]: the share of nodes that score lower; equals share a place."""
    ordered = sorted(scores.values())
    lower: dict[float, int] = {}
    for place, score in enumerate(ordered):
        lower.setdefault(score, place)
    most = max(1, len(ordered) - 1)
    return {identity: lower[score] / most for identity, score in scores.items()}


@dataclass(frozen=True, slots=True)
class Unseeded:
    """Global PageRank of one snapshot as one visibility class sees it."""

    scores: Scores
    percentiles: Scores
    position: Mapping[NodeIdentity, int]


@dataclass
class PriorCache:
    """Per-anchor vectors and global scores of the current snapshot, the longest unused given up first.

    A vector that isn't there is computed within the query's deadline; a query that can't wait leaves it to be ready for
    the next one.
    """

    ranker: GraphRanker
    settings: Settings
    lookups: Lookups = field(default_factory=Lookups, init=False)
    _generation: int = field(default=-1, init=False)
    _vectors: Computations[tuple[frozenset[str], NodeIdentity], Vector] = field(init=False)
    _unseeded: Computations[frozenset[str], Unseeded] = field(init=False)

    def __post_init__(self) -> None:
        self._vectors = Computations("prior", self.settings.prior_vectors, self.lookups)
        self._unseeded = Computations("prior", self.settings.prior_classes)

    async def unseeded(self, generation: int, audiences: frozenset[str], *, deadline: Deadline) -> Unseeded:
        """Raises EngineLate or EngineUnavailable."""
        self._settle(generation)
        return await self._unseeded.get(audiences, lambda: self._compute_unseeded(audiences), deadline)

    def begin(self, anchors: Sequence[NodeIdentity], generation: int, audiences: frozenset[str]) -> None:
        """Set going what isn't there yet, for a query that will ask for it later and has other things to wait for."""
        self._settle(generation)
        self._unseeded.begin(audiences, partial(self._compute_unseeded, audiences))
        for anchor in anchors:
            self._vectors.begin((audiences, anchor), self._computing(anchor, audiences))

    async def priors(
        self,
        anchors: Sequence[NodeIdentity],
        nodes: Sequence[NodeIdentity],
        generation: int,
        audiences: frozenset[str],
        *,
        deadline: Deadline,
    ) -> dict[NodeIdentity, float]:
        """The prior of each node, seeded with every anchor alike (w = 1/|anchors|). Raises EngineLate or
        EngineUnavailable."""
        if not anchors:
            return {}
        self.begin(anchors, generation, audiences)
        base = await self.unseeded(generation, audiences, deadline=deadline)
        vectors = [
            await self._vectors.get((audiences, anchor), self._computing(anchor, audiences), deadline)
            for anchor in anchors
        ]
        seeded = np.sum([vector.at(nodes) for vector in vectors], axis=0) / len(anchors)
        return {
            node: prior_of(score, base.scores.get(node, 0.0))
            for node, score in zip(nodes, seeded.tolist(), strict=True)
        }

    def forget(self) -> None:
        """For when the graph of a generation was mended."""
        self._generation = -1

    async def close(self) -> None:
        """Stop what is still being computed."""
        await self._vectors.clear()
        await self._unseeded.clear()

    def _settle(self, generation: int) -> None:
        """Vectors of a snapshot that no longer answers are of no use, and would lie after a rollback to it."""
        if generation != self._generation:
            self._generation = generation
            self._vectors = Computations("prior", self.settings.prior_vectors, self.lookups)
            self._unseeded = Computations("prior", self.settings.prior_classes)

    async def _compute_unseeded(self, audiences: frozenset[str]) -> Unseeded:
        due = Deadline.after(self.settings.prior_compute_deadline)
        scores = await self.ranker.global_scores(audiences, deadline=due)
        # There every node is a source of weight 1, so no seeded score could exceed it. A walk that starts anywhere has
        # as much mass as one that starts at the anchors: 1 in all.
        scores = {node: score / len(scores) for node, score in scores.items()}
        return Unseeded(scores, percentiles(scores), {node: place for place, node in enumerate(scores)})

    def _computing(self, anchor: NodeIdentity, audiences: frozenset[str]) -> Callable[[], Coroutine[Any, Any, Vector]]:
        """What computes a vector, by the positions of the snapshot that answers now, whichever answers then."""
        return partial(self._compute_vector, anchor, audiences, self._unseeded)

    async def _compute_vector(
        self, anchor: NodeIdentity, audiences: frozenset[str], kept: Computations[frozenset[str], Unseeded]
    ) -> Vector:
        due = Deadline.after(self.settings.prior_compute_deadline)
        base = await kept.get(audiences, partial(self._compute_unseeded, audiences), due)
        scores = await self.ranker.personalized({anchor: 1.0}, audiences, deadline=due)
        # An estate has many nodes: they would hold up the queries that share the event loop.
        return await asyncio.to_thread(Vector.of, scores, base.position, self.settings.prior_l1_bound)
