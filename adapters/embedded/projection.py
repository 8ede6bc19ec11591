"""One snapshot's graph in kglite, in memory, with its file: the only module that knows kglite's quirks."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter
from pathlib import Path
from typing import Any

import kglite

from adapters.indexing.stored_passage import engine_text
from service.domain.errors import EngineUnavailable
from service.domain.graph import Edge, Node
from service.domain.snapshots import GraphDifference, LinkedGraph

ENGINE = "kglite"

UNSOUND_PASSES = ("fuse_match_return_aggregate",)
"""Optimizer passes that are off for every statement: this one returns wrong counts, silently."""

STORED_TYPE = "contentType"
"""Where `type` is read: kglite answers `n.type` with the node's label where the property is null."""

_ROWS_AT_ONCE = 5_000

_CHANGED_AT_MOST = 0.2
"""The share of a graph's nodes and edges up to which it is changed in place of being built."""

_EDGE = "(:Node {{key: row.source}})-[r:{name} {{via: row.via}}]->(:Node {{key: row.target}})"

Row = dict[str, Any]

# Advice about labels that no node has yet would go to stderr, process-wide; it is in the results as well.
kglite.set_query_warning_policy("silent")


@dataclass(frozen=True, slots=True)
class Answer:
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


class GraphProjection:
    """An immutable graph that any number of threads may read at once."""

    def __init__(self, graph: Any, linked: LinkedGraph | None = None, *, keeps_names: bool = False) -> None:
        self._graph = graph
        self._linked = linked
        """What it was made of, where it was made here."""
        self.keeps_names = keeps_names
        """Whether its nodes are those of the graph that it was changed from, called the same and seen by the same."""

    @classmethod
    def build(cls, linked: LinkedGraph, publish_id: str) -> "GraphProjection":
        """Write the snapshot's nodes and edges into a new graph. Raises kglite's errors."""
        graph = kglite.KnowledgeGraph()
        _create_nodes(graph, linked.nodes.values(), linked)
        if linked.nodes:
            for name in ("key", "uid"):
                _cypher(graph, f"CREATE INDEX FOR (n:Node) ON (n.{name})", {}, writes=True)
        _create_edges(graph, linked.edges, publish_id)
        return cls(graph, linked)

    def changed(self, linked: LinkedGraph, publish_id: str) -> "GraphProjection":
        """The graph of another snapshot, by the difference where that is small: a copy costs next to nothing.

        An edge that did not change keeps the publish that wrote it. Raises kglite's errors.
        """
        if self._linked is None or not self._linked.nodes:
            return self.build(linked, publish_id)
        difference = GraphDifference.between(self._linked, linked)
        if difference.size > _CHANGED_AT_MOST * (len(linked.nodes) + len(linked.edges)):
            return self.build(linked, publish_id)
        graph = self._graph.copy()
        for text, rows in _deletions(difference):
            _write(graph, text, rows)
        _create_nodes(graph, difference.added_nodes, linked)
        for text, rows in _updates(difference, linked, publish_id):
            _write(graph, text, rows)
        _create_edges(graph, difference.added_edges, publish_id)
        return type(self)(graph, linked, keeps_names=_keeps_names(difference))

    @classmethod
    def load(cls, file: Path) -> "GraphProjection":
        """Raises kglite's errors where the file is missing or broken."""
        return cls(kglite.load(str(file), columns="memory", topology="memory", verify="eager"))

    def save(self, file: Path) -> None:
        """Written beside and renamed, on the disk when this returns."""
        self._graph.save(str(file), fsync=True, layout="compact")

    def run(self, text: str, parameters: Mapping[str, Any], *, milliseconds: int) -> Answer:
        """Read. Raises kglite's errors; CypherTimeoutError once the time is up."""
        return _cypher(self._graph, text, parameters, milliseconds=milliseconds)


def _create_nodes(graph: Any, nodes: Iterable[Node], linked: LinkedGraph) -> None:
    by_kind: dict[str, list[Row]] = defaultdict(list)
    for node in nodes:
        by_kind[node.kind.label].append(node_properties(node, linked.content_hashes.get(node.identity)))
    for label, rows in sorted(by_kind.items()):
        _write(graph, f"UNWIND $rows AS row CREATE (n:Node:{label}) SET n = row", rows)


def _create_edges(graph: Any, edges: Iterable[Edge], publish_id: str) -> None:
    for name, rows in _by_type(edges, publish_id):
        _write(
            graph,
            "UNWIND $rows AS row MATCH (a:Node {key: row.source}) MATCH (b:Node {key: row.target}) "
            f"CREATE (a)-[r:{name}]->(b) SET r = row.properties",
            rows,
        )


_called = attrgetter("kind", "title", "aliases", "visible_to")


def _keeps_names(difference: GraphDifference) -> bool:
    if difference.gone_nodes or difference.added_nodes:
        return False
    return all(_called(old) == _called(new) for old, new in difference.changed_nodes)


def _deletions(difference: GraphDifference) -> Iterator[tuple[str, list[Row]]]:
    for name, rows in _by_type(difference.gone_edges, ""):
        yield f"UNWIND $rows AS row MATCH {_EDGE.format(name=name)} DELETE r", rows
    gone: list[Row] = [{"key": engine_text(identity.key)} for identity in difference.gone_nodes]
    yield "UNWIND $rows AS row MATCH (n:Node {key: row.key}) DETACH DELETE n", gone


def _updates(difference: GraphDifference, linked: LinkedGraph, publish_id: str) -> Iterator[tuple[str, list[Row]]]:
    by_labels: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for old, node in difference.changed_nodes:
        row = node_properties(node, linked.content_hashes.get(node.identity))
        by_labels[old.kind.label, node.kind.label].append(row)
    for (old_label, label), rows in sorted(by_labels.items()):
        labels = "" if old_label == label else f"REMOVE n:{old_label} SET n:{label} "
        yield f"UNWIND $rows AS row MATCH (n:Node {{key: row.key}}) {labels}SET n = row", rows
    for name, rows in _by_type(difference.changed_edges, publish_id):
        yield f"UNWIND $rows AS row MATCH {_EDGE.format(name=name)} SET r = row.properties", rows


def _by_type(edges: Iterable[Edge], publish_id: str) -> list[tuple[str, list[Row]]]:
    by_type: dict[str, list[Row]] = defaultdict(list)
    for edge in edges:
        by_type[edge.type.value].append(_edge_row(edge, publish_id))
    return sorted(by_type.items())


def node_properties(node: Node, content_hash: str | None) -> dict[str, Any]:
    """The node as the graph's schema names its properties; one that is null is left out, a list may be empty."""
    scalars: dict[str, Any] = {
        "key": node.identity.key,
        "uid": node.identity.uid,
        "locale": node.identity.locale,
        "kind": node.kind.value,
        "title": node.title,
        "type": node.type,
        STORED_TYPE: node.type,
        "url": node.url,
        "summary": node.summary,
        "path": node.path,
        "docset": node.docset,
        "workspace": node.workspace,
        "level": node.level,
        "language": node.language,
        "monikerRange": node.moniker_range,
        "lastModified": node.last_modified,
        "contentHash": content_hash,
    }
    lists: dict[str, tuple[str, ...]] = {
        "products": node.products,
        "topics": node.topics,
        "roles": node.roles,
        "audience": node.audience,
        "region": node.region,
        "monikers": node.monikers,
        "aliases": node.aliases,
        "visibleTo": node.visible_to,
    }
    properties: dict[str, Any] = {**node.extra, **scalars}
    stored = {
        name: engine_text(value) if isinstance(value, str) else value
        for name, value in properties.items()
        if value is not None
    }
    return stored | {name: [engine_text(value) for value in values] for name, values in lists.items()}


def _edge_row(edge: Edge, publish_id: str) -> dict[str, Any]:
    properties = {
        "weight": float(edge.weight),
        "via": engine_text(edge.via),
        "file": engine_text(edge.file),
        "line": edge.line,
        "publishId": publish_id,
        **({} if edge.ordinal is None else {"ordinal": edge.ordinal}),
    }
    return {
        "source": engine_text(edge.source.key),
        "target": engine_text(edge.target.key),
        "via": properties["via"],
        "properties": properties,
    }


def _write(graph: Any, text: str, rows: Sequence[Mapping[str, Any]]) -> None:
    for start in range(0, len(rows), _ROWS_AT_ONCE):
        _cypher(graph, text, {"rows": list(rows[start : start + _ROWS_AT_ONCE])}, writes=True)


def _cypher(
    graph: Any, text: str, parameters: Mapping[str, Any], *, milliseconds: int = 0, writes: bool = False
) -> Answer:
    """The one call into the engine: never with the unsound passes, never writing unless we build.

    milliseconds: 0 for no limit. Raises EngineUnavailable where the engine doesn't know the passes to leave out: it
    is another version then, whose answers nobody compared.
    """
    unknown = set(UNSOUND_PASSES) - set(kglite.cypher_pass_names())
    if unknown:
        raise EngineUnavailable(ENGINE, f"this version has no optimizer pass {', '.join(sorted(unknown))} to disable")
    view = graph.cypher(
        text,
        params=dict(parameters),
        timeout_ms=milliseconds,
        disabled_passes=list(UNSOUND_PASSES),
        write_scope=None if writes else [],
        hide_structural_keys=True,
    )
    columns = tuple(view.columns)
    return Answer(columns, [tuple(row[column] for column in columns) for row in view.to_list()])
