"""The graph that answers now, with what is derived from it once."""

import threading
from functools import cached_property

import numpy as np

from adapters.embedded.adjacency import Adjacency
from adapters.embedded.projection import GraphProjection
from adapters.embedded.titles import TitledNode, TitleIndex
from service.domain.graph import EdgeType, NodeIdentity
from service.domain.snapshots import Snapshot

_EVERY_NODE = "MATCH (n:Node) RETURN n.key, n.visibleTo"

_EVERY_EDGE = {type: f"MATCH (n:Node)-[r:{type}]->(m:Node) RETURN n.key, m.key, r.weight" for type in EdgeType}

_EVERY_TITLE = "MATCH (n:Node) RETURN n.key, n.title, n.aliases, n.visibleTo"


class LiveGraph:
    """One snapshot for readers: whoever holds it reads it to the end, whatever is committed meanwhile."""

    def __init__(self, snapshot: Snapshot, projection: GraphProjection) -> None:
        self.snapshot = snapshot
        self.projection = projection
        self._deriving = threading.Lock()

    @property
    def titles(self) -> TitleIndex:
        """Built at the first use; another thread that needs it waits for the first."""
        with self._deriving:
            return self._titles

    @property
    def adjacency(self) -> Adjacency:
        """Likewise built at the first use."""
        with self._deriving:
            return self._adjacency

    @cached_property
    def _titles(self) -> TitleIndex:
        rows = self.projection.run(_EVERY_TITLE, {}, milliseconds=0).rows
        return TitleIndex(
            TitledNode(key, title, tuple(aliases or ()), tuple(visible_to)) for key, title, aliases, visible_to in rows
        )

    @cached_property
    def _adjacency(self) -> Adjacency:
        nodes = sorted(self.projection.run(_EVERY_NODE, {}, milliseconds=0).rows)
        place = {key: number for number, (key, _) in enumerate(nodes)}
        edges = {}
        for type in EdgeType:
            rows = self.projection.run(_EVERY_EDGE[type], {}, milliseconds=0).rows
            edges[type] = (
                np.fromiter((place[source] for source, _, _ in rows), np.int32, len(rows)),
                np.fromiter((place[target] for _, target, _ in rows), np.int32, len(rows)),
                np.fromiter((weight for _, _, weight in rows), np.float32, len(rows)),
            )
        return Adjacency(
            nodes=tuple(NodeIdentity.from_key(key) for key, _ in nodes),
            visible_to=tuple(frozenset(visible_to) for _, visible_to in nodes),
            edges=edges,
        )
