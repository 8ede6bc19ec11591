"""A caller who hangs up stops the engine's work: asked of Neo4j itself, whatever surface the question came by."""

import asyncio
import json
import socket
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager

import pytest
from neo4j import GraphDatabase
from starlette.types import ASGIApp

from adapters.neo4j.connection import open_driver
from adapters.neo4j.reader import Neo4jGraphReader
from service.domain.deadline import Deadline
from service.settings import Settings
from service.statements import ServiceStatement
from service.surfaces.application import application
from service.tools import estate
from tests.engines import Neo4jAddress
from tests.surfaces.fake_toolbox import FakeToolbox
from tests.surfaces.serving import served_opening

pytestmark = [pytest.mark.engines, pytest.mark.timeout(240)]

MARK = 7_919
ENDLESS = ServiceStatement(
    "endless",
    f"UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b WITH a, b WHERE a + b = {MARK} - {MARK} "
    "RETURN count(*)",
    {},
)

MCP_CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "docs_fetch", "arguments": {"uid": "a"}},
}
GRAPHQL = {"query": '{ node(uid: "a") { uid } }'}


def post(path: str, body: object, *headers: str) -> bytes:
    text = json.dumps(body).encode()
    lines = [f"POST {path} HTTP/1.1", "Host: 127.0.0.1", "Content-Type: application/json", *headers]
    return "\r\n".join([*lines, f"Content-Length: {len(text)}", "", ""]).encode() + text


def get(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


REQUESTS = {
    "REST": post("/v1/query-graph", {"cypher": "MATCH (n:Page) RETURN n.uid"}),
    "a link": get("/v1/search?q=a"),
    "a document": get("/content/a"),
    "the stream of documents": get("/content"),
    "the catalog": get("/catalog"),
    "the cross-reference map": get("/xrefmap.yml"),
    "the console": get("/?q=a"),
    "MCP": post("/mcp", MCP_CALL, "Accept: application/json, text/event-stream", "MCP-Protocol-Version: 2025-11-25"),
    "GraphQL": post("/graphql", GRAPHQL),
}


class Endless(FakeToolbox):
    """Whatever it is asked, the graph works at it for hours."""

    def __init__(self, reader: Neo4jGraphReader) -> None:
        super().__init__()
        self.reader = reader

    async def call(self, tool, request, principal):
        if tool is not estate.SNAPSHOT:
            await self.reader.run(ENDLESS, deadline=Deadline.after(100_000))
        return await super().call(tool, request, principal)


@pytest.fixture(scope="module")
def url(neo4j_server: Neo4jAddress) -> Iterator[str]:
    @asynccontextmanager
    async def opening() -> AsyncIterator[ASGIApp]:
        async with open_driver(neo4j_server.uri, *neo4j_server.auth) as driver:
            reader = Neo4jGraphReader(driver)
            yield application(Endless(reader), Settings(request_deadline=100_000, graph_query_deadline=100_000))
            await reader.close()

    with served_opening(opening()) as url:
        yield url


@pytest.mark.parametrize("surface", REQUESTS)
def test_hanging_up_ends_the_transaction(url: str, neo4j_server: Neo4jAddress, surface: str) -> None:
    host, port = url.removeprefix("http://").split(":")
    with GraphDatabase.driver(neo4j_server.uri, auth=neo4j_server.auth) as driver:
        wait_until(driver, running=False, seconds=20)
        with socket.create_connection((host, int(port)), timeout=10) as connection:
            connection.sendall(REQUESTS[surface])
            wait_until(driver, running=True, seconds=20)
        wait_until(driver, running=False, seconds=10)


def wait_until(driver, *, running: bool, seconds: float) -> None:
    give_up = time.monotonic() + seconds
    while time.monotonic() < give_up:
        found = driver.execute_query("SHOW TRANSACTIONS YIELD currentQuery RETURN currentQuery AS text").records
        if any(f"{MARK} - {MARK}" in row["text"] and "SHOW" not in row["text"] for row in found) is running:
            return
        time.sleep(0.05)
    raise AssertionError(f"after {seconds} s the transaction {'has not begun' if running else 'still runs'}")


def test_a_caller_who_is_cancelled_takes_the_transaction_along(neo4j_server: Neo4jAddress) -> None:
    async def story() -> None:
        async with open_driver(neo4j_server.uri, *neo4j_server.auth) as driver:
            reader = Neo4jGraphReader(driver)
            asking = asyncio.create_task(reader.run(ENDLESS, deadline=Deadline.after(100_000)))
            await asyncio.sleep(0.5)
            asking.cancel()
            with pytest.raises(asyncio.CancelledError):
                await asking
            await reader.close()

    with GraphDatabase.driver(neo4j_server.uri, auth=neo4j_server.auth) as driver:
        asyncio.run(story())
        wait_until(driver, running=False, seconds=10)
