"""Small property graphs with secrets in the awkward places, and the bags of rows that queries get from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.hostile.vocabulary import EDGE_TYPES, LABELS

PUBLIC = ("*",)
STAFF = ("staff", "editors")
SECRET = ("board",)
PRINCIPAL = frozenset({"*", "staff"})


@dataclass(frozen=True)
class Node:
    uid: str
    labels: tuple[str, ...]
    properties: Mapping[str, Any]


@dataclass(frozen=True)
class Edge:
    source: str
    type: str
    target: str
    properties: Mapping[str, Any]


@dataclass(frozen=True)
class PropertyGraph:
    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]

    def visible_to(self, audiences: Iterable[str]) -> PropertyGraph:
        """The graph as if the nodes that no audience of these may see, and their edges, had never been."""
        nodes = tuple(node for node in self.nodes if set(node.properties["visibleTo"]) & set(audiences))
        kept = {node.uid for node in nodes}
        return PropertyGraph(nodes, tuple(e for e in self.edges if e.source in kept and e.target in kept))

    def statements(self) -> Iterator[tuple[str, dict[str, Any]]]:
        """CREATE statements that build it; labels and types come from the generator's closed vocabulary."""
        for node in self.nodes:
            yield f"CREATE (n:{':'.join(node.labels)}) SET n = $properties", {"properties": dict(node.properties)}
        for edge in self.edges:
            yield (
                f"MATCH (a {{uid: $source}}), (b {{uid: $target}}) CREATE (a)-[r:{edge.type}]->(b) SET r = $properties",
                {"source": edge.source, "target": edge.target, "properties": dict(edge.properties)},
            )


def graph_with_secrets(seed: int, size: int = 14) -> PropertyGraph:
    """A random graph whose secret nodes are ends, middles of paths, and one hub that touches nearly everything."""
    random = Random(seed)
    nodes = [_node(random, f"n{number}") for number in range(size)]
    edges = [
        _edge(random, random.choice(nodes).uid, random.choice(nodes).uid)
        for _ in range(size * 3)  # loops and parallel edges are wanted
    ]
    hub = _node(random, "hub", visible_to=SECRET)
    bridge = _node(random, "bridge", visible_to=SECRET)
    end = _node(random, "end", visible_to=SECRET)
    for node in nodes:
        if random.random() < 0.6:
            pair = (hub.uid, node.uid) if random.random() < 0.5 else (node.uid, hub.uid)
            edges.append(_edge(random, *pair))
    edges += [_edge(random, nodes[0].uid, bridge.uid), _edge(random, bridge.uid, nodes[1].uid)]
    edges += [_edge(random, nodes[2].uid, end.uid), _edge(random, end.uid, end.uid), _edge(random, hub.uid, bridge.uid)]
    return PropertyGraph((*nodes, hub, bridge, end), tuple(edges))


def _node(random: Random, uid: str, visible_to: Sequence[str] | None = None) -> Node:
    audiences = visible_to or random.choice([PUBLIC, PUBLIC, PUBLIC, STAFF, SECRET])
    properties: dict[str, Any] = {
        "uid": uid,
        "visibleTo": list(audiences),
        "tags": random.sample(["alpha", "beta", "ga", "x"], random.randint(0, 3)),
        "featured": random.random() < 0.5,
    }
    # Absent as often as not: null is where rewritings go wrong.
    if random.random() < 0.8:
        properties["level"] = random.randint(0, 3)
    if random.random() < 0.7:
        properties["minutes"] = random.randint(0, 3)
    if random.random() < 0.7:
        properties["caption"] = random.choice(["alpha", "beta", "p1", "m1", "Alpha Beta", "x-y"])
    return Node(uid, tuple(random.sample(LABELS, random.choice([1, 1, 1, 2]))), properties)


def _edge(random: Random, source: str, target: str) -> Edge:
    properties: dict[str, Any] = {"via": random.choice(["link", "uid"]), "weight": random.choice([0.25, 0.5, 1.0])}
    if random.random() < 0.8:
        properties["ordinal"] = random.randint(0, 3)
    return Edge(source, random.choice(EDGE_TYPES), target, properties)


def bag(rows: Iterable[Mapping[str, Any]]) -> Counter[str]:
    """The rows without their order; lists too, for collect() has none."""
    return Counter(repr([canonical(value) for value in row.values()]) for row in rows)


def canonical(value: Any) -> Any:
    if isinstance(value, float):
        return round(value, 9)
    if isinstance(value, Mapping):
        return sorted((key, canonical(item)) for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return sorted((canonical(item) for item in value), key=repr)
    return value
