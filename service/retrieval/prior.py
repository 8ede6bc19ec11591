"""The graph prior: Personalized PageRank from the query's anchors, as the lift over the global PageRank.

p = (1−d)·Σ_s w_s·e_s + d·Pᵀ·p (Haveliwala, WWW 2002) is linear in its seeds, so one vector an anchor, kept by snapshot
and visibility class, adds up to every query's. Seeded mass alone favours hubs; the lift over the unseeded scores does
not.
"""

import asyncio
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from service.domain.deadline import Deadline
from service.domain.graph import NodeIdentity
from service.domain.scores import NodeScores
from service.observation import Lookups
from service.ports import GraphRanker
from service.retrieval.computations import Computations
from service.settings import Settings

LIFT_SCALE = 100.0
"""A lift of this much, or more, is a prior of 1."""

_WALK_SHARE = 0.5
"""Of a vector's bound, what the walk may use up; the rest is for leaving the smallest scores out."""


def prior_of(seeded: float, unseeded: float) -> float:
    """clip(log(seeded / unseeded) / log 100, 0, 1); a node that either leaves out has none."""
    if seeded <= 0 or unseeded <= 0:
        return 0.0
    return min(1.0, max(0.0, math.log(seeded / unseeded) / math.log(LIFT_SCALE)))


def percentiles(scores: NodeScores) -> dict[NodeIdentity, float]:
    """Each node's place among all, in [0, 1]: the share of nodes that score lower; equals share a place."""
    lower = np.searchsorted(np.sort(scores.values), scores.values)
    shares = lower / max(1, len(scores.values) - 1)
    nodes = scores.numbering.nodes
    return {nodes[number]: share for number, share in zip(scores.numbers.tolist(), shares.tolist(), strict=True)}


@dataclass(frozen=True, slots=True)
class Unseeded:
    """Global PageRank of one snapshot as one visibility class sees it.

    share: what a score counts beside a seeded one. Every node is a source of weight 1 here; a walk that starts anywhere
    has as much mass as one that starts at the anchors, 1 in all.
    """

    scores: NodeScores
    share: float
    percentiles: Mapping[NodeIdentity, float]


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
    _vectors: Computations[tuple[frozenset[str], NodeIdentity], NodeScores] = field(init=False)
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
            self._vectors.begin((audiences, anchor), partial(self._compute_vector, anchor, audiences))

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
            await self._vectors.get((audiences, anchor), partial(self._compute_vector, anchor, audiences), deadline)
            for anchor in anchors
        ]
        seeded = np.sum([vector.at(nodes) for vector in vectors], axis=0) / len(anchors)
        unseeded = base.scores.at(nodes) * base.share
        pairs = zip(seeded.tolist(), unseeded.tolist(), strict=True)
        return {node: prior_of(*pair) for node, pair in zip(nodes, pairs, strict=True)}

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
        # Of many nodes: it would hold up the queries that share the event loop.
        places = await asyncio.to_thread(percentiles, scores)
        return Unseeded(scores, 1 / max(1, len(scores.values)), places)

    async def _compute_vector(self, anchor: NodeIdentity, audiences: frozenset[str]) -> NodeScores:
        """The vector within its bound, of which the walk may use a part and what is left out the rest."""
        due = Deadline.after(self.settings.prior_compute_deadline)
        bound = self.settings.prior_l1_bound
        scores = await self.ranker.personalized({anchor: 1.0}, audiences, bound=bound * _WALK_SHARE, deadline=due)
        return scores.truncated(bound)
