"""Making a graph that has drifted from its records what they say again."""

import pytest

import service.statements as statements
from service.domain.graph import EVERYONE, EdgeType
from tests.contract.conftest import Graph
from tests.contract.estate import linked, publish, record, refers, soon

pytestmark = pytest.mark.anyio

ANYONE = frozenset({EVERYONE})


async def test_the_graph_is_replaced_whole_and_nothing_else(graph: Graph) -> None:
    records = [record("a", refers(EdgeType.XREF, "b")), record("b")]
    other = [record("a", title="Drifted"), record("c", refers(EdgeType.XREF, "a"))]
    snapshot = await publish(graph.store, records)
    manifest = await graph.store.manifest()
    for shown, expected in ((other, {"a", "c"}), (records, {"a", "b"})):
        await graph.store.restore(linked(shown))
        rows = await graph.reader.run(statements.nodes_by_uid(["a", "b", "c"], ANYONE), deadline=soon())
        assert {row[1] for row in rows.rows} == expected
        edges = await graph.reader.run(statements.count_edges(ANYONE), deadline=soon())
        assert edges.rows == (("xref", 1),)
        assert await graph.store.snapshot() == snapshot
        assert await graph.store.manifest() == manifest
        assert await graph.store.unfinished() is None
