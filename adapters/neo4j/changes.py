"""Two snapshots' graphs → the statements that turn one into the other."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from adapters.neo4j.rows import Row, edge_row, node_row
from service.domain.graph import Edge, EdgeType
from service.domain.snapshots import GraphDifference, LinkedGraph


@dataclass(frozen=True)
class Write:
    """One statement over many rows. Its text holds our own labels and types only; all else is in the rows."""

    text: str
    rows: Sequence[Row]

    def batches(self, size: int) -> Iterator[Sequence[Row]]:
        for start in range(0, len(self.rows), size):
            yield self.rows[start : start + size]


def changes(before: LinkedGraph, after: LinkedGraph, publish_id: str) -> list[Write]:
    """In the order in which they must run. An edge that didn't change keeps the publish that wrote it."""
    difference = GraphDifference.between(before, after)
    return [
        *_edges(difference.gone_edges, publish_id, "MATCH {edge} DELETE r"),
        *_gone_nodes(difference),
        *_written_nodes(difference, after),
        *_edges(difference.added_edges, publish_id, "MATCH {ends} CREATE (a)-[r:{type}]->(b) SET r = row.properties"),
        *_edges(difference.changed_edges, publish_id, "MATCH {edge} SET r = row.properties"),
    ]


def split(writes: Sequence[Write], rows: int) -> list[list[Write]]:
    """The same writes in the same order, in parts of at most so many rows."""
    parts: list[list[Write]] = [[]]
    room = rows
    for write in writes:
        start = 0
        while start < len(write.rows):
            if not room:
                parts.append([])
                room = rows
            taken = write.rows[start : start + room]
            parts[-1].append(Write(write.text, taken))
            start += len(taken)
            room -= len(taken)
    return parts


def _edges(edges: Sequence[Edge], publish_id: str, pattern: str) -> list[Write]:
    by_type: dict[EdgeType, list[Row]] = defaultdict(list)
    for edge in edges:
        by_type[edge.type].append(edge_row(edge, publish_id))
    writes = []
    for type, rows in sorted(by_type.items()):
        text = pattern.format(
            edge=f"(:Node {{key: row.source}})-[r:{type.value} {{via: row.via}}]->(:Node {{key: row.target}})",
            ends="(a:Node {key: row.source}) MATCH (b:Node {key: row.target})",
            type=type.value,
        )
        writes.append(Write(f"UNWIND $rows AS row {text}", rows))
    return writes


def _gone_nodes(difference: GraphDifference) -> list[Write]:
    gone: list[Row] = [{"key": identity.key} for identity in difference.gone_nodes]
    return [Write("UNWIND $rows AS row MATCH (n:Node {key: row.key}) DETACH DELETE n", gone)]


def _written_nodes(difference: GraphDifference, after: LinkedGraph) -> list[Write]:
    created: dict[str, list[Row]] = defaultdict(list)
    updated: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for node in difference.added_nodes:
        created[node.kind.label].append(node_row(node, after.content_hashes.get(node.identity)))
    for old, node in difference.changed_nodes:
        updated[old.kind.label, node.kind.label].append(node_row(node, after.content_hashes.get(node.identity)))
    return [
        *(
            Write(f"UNWIND $rows AS row CREATE (n:Node:{label}) SET n = row", rows)
            for label, rows in sorted(created.items())
        ),
        *(
            Write(
                f"UNWIND $rows AS row MATCH (n:Node {{key: row.key}}) REMOVE n:{old} SET n:{new}, n = row",
                rows,
            )
            for (old, new), rows in sorted(updated.items())
        ),
    ]
