"""One snapshot's graph in kglite, in memory, with its file: the only module that knows kglite's quirks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import kglite

from adapters.indexing.stored_passage import engine_text
from service.domain.errors import EngineUnavailable
from service.domain.graph import Edge, Node
from service.domain.snapshots import LinkedGraph

ENGINE = "kglite"

UNSOUND_PASSES = ("fuse_match_return_aggregate",)
"""Optimizer passes that are off for every statement: this one returns wrong counts, silently."""

STORED_TYPE = "contentType"
"""Where `type` is read: kglite answers `n.type` with the node's label where the property is null."""

_ROWS_AT_ONCE = 5_000

# Advice about labels that no node has yet would go to stderr, process-wide; it is in the results as well.
kglite.set_query_warning_policy("silent")


@dataclass(frozen=True, slots=True)
class Answer:
    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]


class GraphProjection:
    """An immutable graph that any number of threads may read at once."""

    def __init__(self, graph: Any) -> None:
        self._graph = graph

    @classmethod
    def build(cls, linked: LinkedGraph, publish_id: str) -> "GraphProjection":
        """Write the snapshot's nodes and edges into a new graph. Raises kglite's errors."""
        graph = kglite.KnowledgeGraph()
        by_kind: dict[str, list[dict[str, Any]]] = {}
        for identity, node in linked.nodes.items():
            row = node_properties(node, linked.content_hashes.get(identity))
            by_kind.setdefault(node.kind.label, []).append(row)
        for label, rows in sorted(by_kind.items()):
            _write(graph, f"UNWIND $rows AS row CREATE (n:Node:{label}) SET n = row", rows)
        if by_kind:
            for name in ("key", "uid"):
                _cypher(graph, f"CREATE INDEX FOR (n:Node) ON (n.{name})", {}, writes=True)
        by_type: dict[str, list[dict[str, Any]]] = {}
        for edge in linked.edges:
            by_type.setdefault(edge.type.value, []).append(_edge_row(edge, publish_id))
        for name, rows in sorted(by_type.items()):
            _write(
                graph,
                "UNWIND $rows AS row MATCH (a:Node {key: row.source}) MATCH (b:Node {key: row.target}) "
                f"CREATE (a)-[r:{name}]->(b) SET r = row.properties",
                rows,
            )
        return cls(graph)

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
    lists: dict[str, Sequence[str]] = {
        "products": node.products,
        "topics": node.topics,
        "roles": node.roles,
        "audience": node.audience,
        "region": node.region,
        "monikers": node.monikers,
        "aliases": node.aliases,
        "visibleTo": node.visible_to,
    }
    properties = {**node.extra, **scalars, **{name: list(values) for name, values in lists.items()}}
    return {name: _storable(value) for name, value in properties.items() if value is not None}


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
        "properties": properties,
    }


def _storable(value: Any) -> Any:
    if isinstance(value, str):
        return engine_text(value)
    return [engine_text(item) for item in value] if isinstance(value, list) else value


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
