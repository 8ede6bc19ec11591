"""What a graph may hold beyond JSON, and how it leaves: the same on both engines, as far as both can hold it."""

import asyncio
import json
from typing import Any

import pytest

from adapters.embedded.graph_reader import EmbeddedGraphReader
from adapters.embedded.live_graph import LiveGraph
from adapters.embedded.projection import GraphProjection
from adapters.neo4j.connection import open_driver
from adapters.neo4j.reader import Neo4jGraphReader
from service.domain.results import GraphQueryResult
from service.domain.snapshots import LinkedGraph, Snapshot
from service.statements import ServiceStatement
from service.surfaces.encoding import encode
from tests.contract.estate import node, soon
from tests.engines import Neo4jAddress

pytestmark = [pytest.mark.engines, pytest.mark.timeout(240)]

ON_BOTH: list[tuple[str, Any]] = [
    ("date('2026-01-02')", "2026-01-02"),
    ("datetime('2026-01-02T03:04:05Z')", "2026-01-02T03:04:05+00:00"),
    ("datetime('2026-01-02T03:04:05.125+02:00')", "2026-01-02T03:04:05.125+02:00"),
    ("localdatetime('2026-01-02T03:04:05')", "2026-01-02T03:04:05"),
    ("time('03:04:05Z')", "03:04:05+00:00"),
    ("localtime('03:04:05')", "03:04:05"),
    ("[date('2026-01-02'), null]", ["2026-01-02", None]),
    ("{day: date('2026-01-02')}", {"day": "2026-01-02"}),
    ("{latitude: 1.5, longitude: 2.5}", {"latitude": 1.5, "longitude": 2.5}),
    ("9223372036854775807", 9223372036854775807),
]

ON_NEO4J: list[tuple[str, Any]] = [
    ("point({longitude: 1.5, latitude: 2.5})", {"type": "Point", "coordinates": [1.5, 2.5]}),
    ("point({longitude: 1, latitude: 2, height: 3})", {"type": "Point", "coordinates": [1.0, 2.0, 3.0]}),
    ("point({x: 1, y: 2})", {"type": "Point", "coordinates": [1.0, 2.0], "srid": 7203}),
    ("point({x: 1, y: 2, z: 3})", {"type": "Point", "coordinates": [1.0, 2.0, 3.0], "srid": 9157}),
    ("duration('P1Y2M3DT4H5M6.5S')", "P1Y2M3DT4H5M6.5S"),
    ("datetime('2026-01-02T03:04:05.123456789Z')", "2026-01-02T03:04:05.123456789+00:00"),
    ("0.0 / 0.0", None),
    ("1.0 / 0.0", None),
]


def as_sent(value: Any) -> Any:
    """The value after a query's whole way to the caller."""
    result = GraphQueryResult(columns=["v"], rows=[[value]], truncated=False, cypher="", content_root="", took_ms=1.0)
    return json.loads(encode(result))["rows"][0][0]


def read(expression: str) -> ServiceStatement:
    return ServiceStatement("value", f"MATCH (n:Node) RETURN {expression} AS v LIMIT 1", {})


@pytest.fixture(scope="module")
def from_neo4j(neo4j_server: Neo4jAddress) -> dict[str, Any]:
    async def ask() -> dict[str, Any]:
        async with open_driver(neo4j_server.uri, *neo4j_server.auth) as driver:
            reader = Neo4jGraphReader(driver)
            found = {}
            for expression, _ in ON_BOTH + ON_NEO4J:
                statement = ServiceStatement("value", f"RETURN {expression} AS v", {})
                found[expression] = (await reader.run(statement, deadline=soon())).rows[0][0]
            return found

    return asyncio.run(ask())


@pytest.mark.parametrize(("expression", "expected"), ON_BOTH + ON_NEO4J)
def test_a_value_of_neo4j_leaves_as_json(from_neo4j: dict[str, Any], expression: str, expected: Any) -> None:
    assert as_sent(from_neo4j[expression]) == expected


@pytest.mark.parametrize(("expression", "expected"), ON_BOTH)
def test_a_value_of_the_embedded_graph_leaves_the_same(expression: str, expected: Any) -> None:
    async def ask() -> Any:
        one = node("a")
        graph = LinkedGraph(nodes={one.identity: one}, edges=(), content_hashes={})
        live = LiveGraph(Snapshot(), GraphProjection.build(graph, "p"))
        reader = EmbeddedGraphReader(lambda: live)
        try:
            return (await reader.run(read(expression), deadline=soon())).rows[0][0]
        finally:
            await reader.close()

    assert as_sent(asyncio.run(ask())) == expected
