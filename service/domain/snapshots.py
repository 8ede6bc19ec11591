"""Snapshots of the estate, and the steps between two of them."""

import math
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from functools import cached_property
from operator import attrgetter

from service.domain.content import NodeRecord
from service.domain.graph import Edge, Node, NodeIdentity

EMPTY_ROOT = ""
"""The content root of a store that nothing was ever published to."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What answers now. `passages` is how many a complete text engine holds of it."""

    content_root: str = EMPTY_ROOT
    generation: int = 0
    ontology_hash: str = ""
    nodes: int = 0
    edges: int = 0
    passages: int = 0
    published_at: str = ""
    publishing: bool = False
    """Whether a change too large for one transaction is being applied: the graph is of neither snapshot then."""
    unconfirmed: str = field(default="", compare=False)
    """Why the graph could not be asked whether this one still answers; '' where it said so itself."""

    @property
    def notes(self) -> list[str]:
        """What an answer that is read now should say under `degraded`."""
        notes = [f"graph: {self.unconfirmed}; this is of the snapshot that it named last"] if self.unconfirmed else []
        return [*notes, "publishing: the graph is between two snapshots"] if self.publishing else notes

    def as_json(self) -> dict[str, str | int]:
        """What is stored of it: all but what passes."""
        return {name: value for name, value in asdict(self).items() if name not in ("publishing", "unconfirmed")}


class PublishStep(StrEnum):
    """How far a publish has come, in order. Before COMMITTED the old snapshot answers, from it on the new one."""

    BEGUN = "begun"
    LEXICAL_ADDED = "lexicalAdded"
    VECTORS_ADDED = "vectorsAdded"
    COMMITTED = "committed"
    COLLECTED = "collected"


@dataclass(frozen=True, slots=True)
class PublishEntry:
    """A publish in the journal. `silent_seconds` is how long ago its publisher gave a sign of life; where only one
    process can own the store, a publish that it finds unfinished has no publisher any more and is silent for ever."""

    publish_id: str
    generation: int
    previous_root: str
    content_root: str
    step: PublishStep
    started_at: str
    silent_seconds: float = field(default=math.inf, compare=False)


@dataclass(frozen=True)
class LinkedGraph:
    """Every node and edge of one snapshot: a pure function of its records."""

    nodes: Mapping[NodeIdentity, Node]
    edges: tuple[Edge, ...]
    content_hashes: Mapping[NodeIdentity, str]
    """Of the nodes that have a record; a node made by linking (a product, an API stub) has none."""

    @cached_property
    def edge_counts(self) -> dict[str, int]:
        counts = Counter(edge.type for edge in self.edges)
        return {type.value: count for type, count in sorted(counts.items())}

    @cached_property
    def kind_counts(self) -> dict[str, int]:
        counts = Counter(node.kind for node in self.nodes.values())
        return {kind.value: count for kind, count in sorted(counts.items())}


@dataclass(frozen=True, slots=True)
class GraphDifference:
    """What turns one snapshot's graph into another's. An edge is named by its type, its ends and its markup."""

    gone_nodes: tuple[NodeIdentity, ...]
    added_nodes: tuple[Node, ...]
    changed_nodes: tuple[tuple[Node, Node], ...]
    """Each as it was and as it is."""
    gone_edges: tuple[Edge, ...]
    added_edges: tuple[Edge, ...]
    changed_edges: tuple[Edge, ...]

    @classmethod
    def between(cls, before: LinkedGraph, after: LinkedGraph) -> "GraphDifference":
        changed = [
            (before.nodes[identity], node)
            for identity, node in after.nodes.items()
            if identity in before.nodes and _differs(identity, before, after)
        ]
        old_edges = dict(zip(map(_name, before.edges), before.edges, strict=True))
        new_edges = dict(zip(map(_name, after.edges), after.edges, strict=True))
        return cls(
            gone_nodes=tuple(before.nodes.keys() - after.nodes.keys()),
            added_nodes=tuple(node for identity, node in after.nodes.items() if identity not in before.nodes),
            changed_nodes=tuple(changed),
            gone_edges=tuple(edge for name, edge in old_edges.items() if name not in new_edges),
            added_edges=tuple(edge for name, edge in new_edges.items() if name not in old_edges),
            changed_edges=tuple(
                edge for name, edge in new_edges.items() if name in old_edges and _told(edge) != _told(old_edges[name])
            ),
        )

    @property
    def size(self) -> int:
        """Nodes and edges that are written or deleted."""
        return sum(
            map(
                len,
                (
                    self.gone_nodes,
                    self.added_nodes,
                    self.changed_nodes,
                    self.gone_edges,
                    self.added_edges,
                    self.changed_edges,
                ),
            )
        )


# One call without a step into Python: an estate has edges by the hundred thousand.
_name = attrgetter("type", "source", "target", "via")
_told = attrgetter("file", "line", "weight", "ordinal")


def _differs(identity: NodeIdentity, before: LinkedGraph, after: LinkedGraph) -> bool:
    """A content hash is of all that a node says; one without was made by linking, and is looked at itself."""
    was, now = before.content_hashes.get(identity), after.content_hashes.get(identity)
    return was != now or (now is None and before.nodes[identity] != after.nodes[identity])


@dataclass(frozen=True)
class SnapshotChange:
    """All that one commit moves: the store applies it whole, or not at all."""

    entry: PublishEntry
    snapshot: Snapshot
    manifest: Mapping[NodeIdentity, str]
    records: tuple[NodeRecord, ...]
    """Those that the store does not hold yet."""
    graph: LinkedGraph
    previous_graph: Callable[[], Awaitable[LinkedGraph]]
    """Loads and links the snapshot that this one replaces, for a store that applies differences."""
