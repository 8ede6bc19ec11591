"""The service's graph prior over a linked estate from which edges are withheld, one query after the other."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import cast

import numpy as np

from adapters.embedded.adjacency import Adjacency
from adapters.embedded.live_graph import LiveGraph
from adapters.embedded.ranker import ScipyRanker
from service.bootstrap import edge_weights
from service.domain.deadline import Deadline
from service.domain.graph import EVERYONE, EdgeType, NodeIdentity
from service.domain.snapshots import LinkedGraph
from service.retrieval.prior import PriorCache
from service.settings import Settings

Pairs = frozenset[tuple[NodeIdentity, NodeIdentity]]
"""Source and target of edges, of whatever type."""

Priors = Mapping[NodeIdentity, float]

_AUDIENCES = frozenset({EVERYONE})


class Walks:
    """The service's prior over a graph from which edges can be withheld, one query after the other."""

    def __init__(self, graph: LinkedGraph, settings: Settings) -> None:
        self._whole = _adjacency(graph)
        self._position = {node: place for place, node in enumerate(self._whole.nodes)}
        self._live = SimpleNamespace(adjacency=self._whole)
        self._generation = 0
        self._ranker = ScipyRanker(
            lambda: cast(LiveGraph, self._live),
            weights=edge_weights(settings),
            damping=settings.page_rank_damping,
            iterations=settings.page_rank_iterations,
        )
        self._cache = PriorCache(self._ranker, settings)

    async def priors(self, anchor: NodeIdentity, nodes: Sequence[NodeIdentity], withheld: Pairs) -> Priors:
        if withheld:
            self._live = SimpleNamespace(adjacency=self._without(withheld))
            self._generation += 1
        return await self._cache.priors([anchor], nodes, self._generation, _AUDIENCES, deadline=Deadline.after(600_000))

    def neighbours(self, anchor: NodeIdentity, withheld: Pairs) -> frozenset[NodeIdentity]:
        """At either end of an edge with the anchor."""
        here, found = self._position[anchor], set()
        for sources, targets, _ in self._whole.edges.values():
            for source, target in zip(sources[sources == here], targets[sources == here], strict=True):
                found.add((self._whole.nodes[source], self._whole.nodes[target]))
            for source, target in zip(sources[targets == here], targets[targets == here], strict=True):
                found.add((self._whole.nodes[source], self._whole.nodes[target]))
        return frozenset(node for pair in found - withheld for node in pair if node != anchor)

    async def close(self) -> None:
        await self._cache.close()
        await self._ranker.close()

    def _without(self, withheld: Pairs) -> Adjacency:
        size = len(self._whole.nodes)
        position = self._position
        names = [position[a] * size + position[b] for a, b in withheld if a in position and b in position]
        edges = {}
        for type, (sources, targets, strengths) in self._whole.edges.items():
            kept = ~np.isin(sources.astype(np.int64) * size + targets, names)
            edges[type] = (sources[kept], targets[kept], strengths[kept])
        return replace(self._whole, edges=edges)


def _adjacency(graph: LinkedGraph) -> Adjacency:
    nodes = sorted(graph.nodes)
    position = {node: place for place, node in enumerate(nodes)}
    edges = {}
    for type in EdgeType:
        of_type = [edge for edge in graph.edges if edge.type is type]
        edges[type] = (
            np.fromiter((position[edge.source] for edge in of_type), np.int32, len(of_type)),
            np.fromiter((position[edge.target] for edge in of_type), np.int32, len(of_type)),
            np.fromiter((edge.weight for edge in of_type), np.float32, len(of_type)),
        )
    return Adjacency(tuple(nodes), tuple(frozenset(graph.nodes[node].visible_to) for node in nodes), edges)
