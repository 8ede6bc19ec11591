"""A graph that is changed in place of being built: the same nodes and edges, whatever lies between two snapshots."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.embedded import projection
from adapters.embedded.projection import GraphProjection
from service.domain.graph import EdgeType, NodeKind, Reference
from service.domain.snapshots import LinkedGraph
from tests.contract.estate import linked, record, refers

UIDS = ["a", "b", "with space", "quote'\"\\", "日本語\ud800"]

RECORDS = st.builds(
    lambda uid, kind, title, summary, products, targets: record(
        uid,
        *(Reference(edge, target, via, "page.md", line) for edge, target, via, line in targets),
        kind=kind,
        title=title,
        summary=summary,
        products=products,
    ),
    st.sampled_from(UIDS),
    st.sampled_from([NodeKind.PAGE, NodeKind.MODULE]),
    st.sampled_from(["One", "Two"]),
    st.sampled_from([None, "Summary"]),
    st.sampled_from([(), ("x",), ("x", "y")]),
    st.lists(
        st.tuples(
            st.sampled_from([EdgeType.XREF, EdgeType.PART_OF]),
            st.sampled_from([*UIDS, "stub"]),
            st.sampled_from(["link", "other"]),
            st.sampled_from([1, 2]),
        ),
        max_size=4,
    ),
)
GRAPHS = st.lists(RECORDS, max_size=6, unique_by=lambda made: made.node.identity).map(linked)


def rows(graph: GraphProjection, text: str) -> list[tuple[Any, ...]]:
    return sorted(graph.run(text, {}, milliseconds=0).rows, key=repr)


def contents(graph: GraphProjection, like: LinkedGraph) -> list[list[tuple[Any, ...]]]:
    """All but the publish that wrote an edge; each node is found by its key, which the engine indexes, too."""
    properties = "n.uid, n.kind, n.title, n.summary, n.products, n.contentHash, n.aliases, n.visibleTo"
    ends = "n.key, m.key, r.via, r.line, r.file, r.weight, r.ordinal"
    return [
        rows(graph, f"MATCH (n:Node) RETURN n.key, labels(n), {properties}"),
        *(rows(graph, f"MATCH (n:{kind.label}) RETURN n.key") for kind in NodeKind),
        *(rows(graph, f"MATCH (n:Node)-[r:{edge.value}]->(m:Node) RETURN {ends}") for edge in EdgeType),
        [
            found
            for identity in like.nodes
            for found in graph.run(
                f"MATCH (n:Node {{key: $key}}) RETURN {properties}",
                {"key": projection.engine_text(identity.key)},
                milliseconds=0,
            ).rows
        ],
    ]


@given(graphs=st.lists(GRAPHS, min_size=2, max_size=5))
@settings(max_examples=60, deadline=None)
def test_changing_step_by_step_ends_where_building_begins(graphs: list[LinkedGraph]) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(projection, "_CHANGED_AT_MOST", 100.0)
        graph = GraphProjection.build(graphs[0], "p0")
        for number, after in enumerate(graphs[1:], start=1):
            before, held = graph, contents(graph, graphs[number - 1])
            graph = graph.changed(after, f"p{number}")
            assert contents(graph, after) == contents(GraphProjection.build(after, "p"), after)
            assert contents(before, graphs[number - 1]) == held


def test_an_edge_that_did_not_change_keeps_the_publish_that_wrote_it() -> None:
    first = linked([record("a", refers(EdgeType.XREF, "b")), *(record(f"n{number}") for number in range(20))])
    second = linked(
        [
            record("a", refers(EdgeType.XREF, "b")),
            record("c", refers(EdgeType.XREF, "a")),
            *(record(f"n{number}") for number in range(20)),
        ]
    )
    changed = GraphProjection.build(first, "p1").changed(second, "p2")
    written = changed.run("MATCH (n:Node)-[r:xref]->(m:Node) RETURN n.uid, r.publishId", {}, milliseconds=0).rows
    assert sorted(written) == [("a", "p1"), ("c", "p2")]
