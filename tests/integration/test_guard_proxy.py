"""`cypher-guard mcp` before a real Neo4j, spoken to by the official client over standard input and output."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import Client, StdioServerParameters
from neo4j import GraphDatabase

from tests.engines import Neo4jAddress

pytestmark = [pytest.mark.engines, pytest.mark.anyio]
COMMAND = (sys.executable, "-m", "cypher_guard.command_line", "mcp")
DEADLINE_SECONDS = 30

GRAPH = """
    CREATE (a:Book {isbn: '1', title: 'Graphs', visibleTo: ['*']})
    CREATE (b:Book {isbn: '2', title: 'Draft', visibleTo: ['staff']})
    CREATE (w:Writer {name: 'Ada', born: date('1815-12-10'), visibleTo: ['*']})
    CREATE (w)-[:WROTE {year: 1842}]->(a), (w)-[:WROTE {year: 1843}]->(b)
    CREATE (:`Odd ``label` {`a key`: 1, visibleTo: ['*']})
    FOREACH (number IN range(1, 300) | CREATE (:Leaf {number: number, visibleTo: ['*']}))
"""


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
def library(neo4j_server: Neo4jAddress) -> Iterator[Neo4jAddress]:
    """A graph of books in the real server."""
    with GraphDatabase.driver(neo4j_server.uri, auth=neo4j_server.auth) as driver:
        driver.execute_query("MATCH (n) DETACH DELETE n")
        driver.execute_query(GRAPH)
        yield neo4j_server
        driver.execute_query("MATCH (n) DETACH DELETE n")


@pytest.fixture(scope="module")
def suggested(library: Neo4jAddress, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The profile that --write-profile suggests, with time enough for a machine that does other things."""
    path = tmp_path_factory.mktemp("suggested") / "profile.json"
    ended = run([*arguments(library), "--write-profile", str(path)], {**os.environ, "NEO4J_PASSWORD": library.password})
    assert ended.returncode == 0, ended.stderr
    profile: dict[str, Any] = json.loads(path.read_text())
    assert profile["edge_types"] == ["WROTE"]
    assert {"Book", "Writer", "Odd `label"} <= set(profile["labels"])
    assert profile["timeout_ms"] == 250
    return {**profile, "timeout_ms": 20_000}


@pytest.fixture
def profile_file(suggested: dict[str, Any], tmp_path: Path) -> Callable[..., str]:
    """Writes it down with some fields changed, as a person would."""

    def write(**fields: Any) -> str:
        path = tmp_path / "profile.json"
        path.write_text(json.dumps({**suggested, **fields}))
        return str(path)

    return write


def arguments(server: Neo4jAddress, *more: str) -> list[str]:
    return [*COMMAND[1:], "--uri", server.uri, "--user", server.user, *more]


@asynccontextmanager
async def proxy(server: Neo4jAddress, *more: str) -> AsyncIterator[Client]:
    process = StdioServerParameters(
        command=COMMAND[0], args=arguments(server, *more), env={"NEO4J_PASSWORD": server.password}
    )
    with anyio.fail_after(DEADLINE_SECONDS):
        async with Client(process) as client:
            yield client


async def ask(client: Client, cypher: str, **params: Any) -> dict[str, Any]:
    result = await client.call_tool("query_graph", {"cypher": cypher, "params": params})
    assert not result.is_error, result.content
    assert json.loads(result.content[0].text) == result.structured_content  # type: ignore[union-attr]
    return dict(result.structured_content)


async def refusal(client: Client, cypher: str, **params: Any) -> dict[str, Any]:
    result = await client.call_tool("query_graph", {"cypher": cypher, "params": params})
    assert result.is_error
    return dict(result.structured_content["error"])


async def test_it_describes_the_graph_with_a_profile_of_its_own(library: Neo4jAddress) -> None:
    async with proxy(library) as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == {"describe_schema", "query_graph"}
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools.values())

        schema = (await client.call_tool("describe_schema", {})).structured_content
        labels = {kind["name"]: kind for kind in schema["labels"]}
        assert labels["Book"] == {"name": "Book", "count": 2, "properties": ["isbn", "title", "visibleTo"]}
        assert labels["Odd `label"]["count"] == 1
        assert schema["relationshipTypes"] == [{"name": "WROTE", "count": 2, "properties": ["year"]}]

        assert (await refusal(client, "MATCH (b:Secret) RETURN b.title"))["code"] == "unknown_label"


async def test_it_answers_in_plain_values(library: Neo4jAddress, profile_file: Callable[..., str]) -> None:
    async with proxy(library, "--profile", profile_file()) as client:
        answer = await ask(
            client, "MATCH (w:Writer)-[r:WROTE]->(b:Book {title: $t}) RETURN w.name, w.born, r.year", t="Graphs"
        )
        assert answer["rows"] == [["Ada", "1815-12-10", 1842]]
        assert answer["truncated"] is False
        assert answer["cypher"].startswith("CYPHER 5 ")

        whole = await ask(client, "MATCH (b:Book {isbn: '1'}) RETURN b")
        assert whole["rows"][0][0]["title"] == "Graphs"
        assert whole["rows"][0][0]["labels"] == ["Book"]


async def test_rows_beyond_the_limit_are_said_to_be_missing(
    library: Neo4jAddress, profile_file: Callable[..., str]
) -> None:
    async with proxy(library, "--profile", profile_file()) as client:
        answer = await ask(client, "MATCH (n:Leaf) RETURN n.number")
        assert len(answer["rows"]) == 100
        assert answer["truncated"] is True
        exact = await ask(client, "MATCH (n:Leaf) RETURN n.number LIMIT 300")
        assert len(exact["rows"]) == 300
        assert exact["truncated"] is False


async def test_bytes_beyond_the_limit_are_said_to_be_missing(
    library: Neo4jAddress, profile_file: Callable[..., str]
) -> None:
    async with proxy(library, "--profile", profile_file(max_result_bytes=100)) as client:
        answer = await ask(client, "MATCH (n:Leaf) RETURN n.number")
        assert 0 < len(answer["rows"]) < 100
        assert answer["truncated"] is True


async def test_a_refusal_carries_what_to_change(library: Neo4jAddress, profile_file: Callable[..., str]) -> None:
    async with proxy(library, "--profile", profile_file()) as client:
        written = await refusal(client, "MATCH (b:Book) DETACH DELETE b")
        assert written["code"] == "read_only"
        assert written["column"] == 16
        misspelt = await refusal(client, "MATCH (w:Writer)-[:WROTEE]->(b) RETURN b.title")
        assert misspelt["code"] == "unknown_relationship"
        assert "WROTE" in misspelt["suggestion"]
        assert (await refusal(client, "CALL db.labels()"))["code"] in ("unsupported_clause", "read_only")
        unknown = await client.call_tool("drop_everything", {})
        assert unknown.is_error
        books = await ask(client, "MATCH (b:Book) RETURN count(b) AS n")
        assert books["rows"] == [[2]]


async def test_a_slow_query_ends_on_our_own_clock(library: Neo4jAddress, profile_file: Callable[..., str]) -> None:
    """300⁴ combinations: minutes, if nobody stopped it."""
    fields = {"allow_disconnected": True, "cost_limit": 10**15, "timeout_ms": 1500}
    async with proxy(library, "--profile", profile_file(**fields)) as client:
        await ask(client, "MATCH (n:Leaf {number: 1}) RETURN n.number")
        started = time.perf_counter()
        error = await refusal(
            client,
            "MATCH (a:Leaf), (b:Leaf), (c:Leaf), (d:Leaf) "
            "WHERE a.number + b.number + c.number + d.number = -1 RETURN count(*) AS n",
        )
        assert error["code"] == "timeout"
        assert time.perf_counter() - started < 10
        after = await ask(client, "MATCH (n:Leaf {number: 2}) RETURN n.number")
        assert after["rows"] == [[2]]


async def test_a_principal_sees_and_counts_what_is_theirs(
    library: Neo4jAddress, profile_file: Callable[..., str]
) -> None:
    async with proxy(library, "--audience", "*", "--profile", profile_file()) as client:
        schema = (await client.call_tool("describe_schema", {})).structured_content
        assert {kind["name"]: kind["count"] for kind in schema["labels"]}["Book"] == 1
        answer = await ask(client, "MATCH (w:Writer)-[:WROTE]->(b:Book) RETURN b.title")
        assert answer["rows"] == [["Graphs"]]


async def test_a_tightened_profile_holds(library: Neo4jAddress, profile_file: Callable[..., str]) -> None:
    async with proxy(library, "--profile", profile_file(properties=["title"])) as client:
        schema = (await client.call_tool("describe_schema", {})).structured_content
        assert {kind["name"]: kind["properties"] for kind in schema["labels"]}["Book"] == ["title"]
        assert (await refusal(client, "MATCH (b:Book) RETURN b.isbn"))["code"] == "unknown_property"
        assert (await ask(client, "MATCH (b:Book) RETURN b ORDER BY b.title LIMIT 1"))["rows"] == [
            [{"title": "Draft", "labels": ["Book"]}]
        ]


def test_the_password_is_asked_for_and_never_shown(library: Neo4jAddress) -> None:
    without = {name: value for name, value in os.environ.items() if name != "NEO4J_PASSWORD"}
    ended = run(arguments(library), without)
    assert ended.returncode == 2
    assert "NEO4J_PASSWORD" in ended.stderr
    wrong = run(arguments(library), {**without, "NEO4J_PASSWORD": "not-the-one"})
    assert wrong.returncode == 1
    assert "not-the-one" not in wrong.stdout + wrong.stderr
    assert "Traceback" not in wrong.stderr


def test_a_bad_profile_is_refused_by_its_field(library: Neo4jAddress, tmp_path: Path) -> None:
    path = tmp_path / "profile.json"
    path.write_text('{"hops": 3}')
    ended = run([*arguments(library), "--profile", str(path)], {**os.environ, "NEO4J_PASSWORD": library.password})
    assert ended.returncode == 2
    assert "hops" in ended.stderr


def run(command: list[str], environment: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *command],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=DEADLINE_SECONDS,
        check=False,
    )
