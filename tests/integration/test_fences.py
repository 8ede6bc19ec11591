"""Each fence before Neo4j, with the others taken away: none of them relies on its neighbour."""

import asyncio
import threading
import time
from collections.abc import Awaitable, Callable
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import TypeVar
from urllib.parse import urlsplit

import pytest
from neo4j import READ_ACCESS, AsyncDriver, AsyncSession, Query
from neo4j.exceptions import Neo4jError

from adapters.neo4j.connection import open_driver
from adapters.neo4j.reader import Neo4jGraphReader
from service.domain.deadline import Deadline
from service.domain.errors import EngineLate
from service.statements import ServiceStatement
from tests.engines import Neo4jAddress
from tests.tcp_proxy import TcpProxy

pytestmark = [pytest.mark.engines, pytest.mark.timeout(240)]

Answer = TypeVar("Answer")

# Counts for hours, reads nothing, takes no memory.
ENDLESS = "UNWIND range(1, 1000000) AS a UNWIND range(1, 1000000) AS b WITH a, b WHERE a + b = 1 RETURN count(*)"
DEADLINE_MS = 250

# 400 pages, each linked to the next 60: a walk of four hops has 60⁴ = 13 million ends from every page.
DENSE = """
UNWIND range(0, 399) AS i
CREATE (:Node:Page:Dense {key: 'dense:' + i, uid: 'dense' + i, locale: 'dense', title: 't' + i, visibleTo: ['*']})
"""
LINKS = """
UNWIND range(0, 399) AS i UNWIND range(1, 60) AS step
MATCH (a:Node {key: 'dense:' + i}) MATCH (b:Node {key: 'dense:' + (i + step) % 400})
CREATE (a)-[:xref {weight: 1.0}]->(b)
"""
# What the guard refuses, it can't test: these go as statements of our own, which nothing looks through.
RUNAWAYS = [
    ENDLESS,
    "MATCH (a:Dense)-[:xref*4]->(b:Dense) RETURN count(b.uid) AS n",
    "MATCH (a:Dense)-[:xref]->()-[:xref]->()-[:xref]->()-[:xref]->(e) WHERE a.uid + e.uid = 'x' RETURN e.uid AS uid",
    "MATCH (a:Dense), (b:Dense), (c:Dense), (d:Dense) WHERE a.uid + b.uid + c.uid + d.uid = 'x' RETURN a.uid",
]


def runaway(number: int) -> ServiceStatement:
    return ServiceStatement("runaway", RUNAWAYS[number % len(RUNAWAYS)], {})


def on(address: Neo4jAddress, work: Callable[[AsyncDriver], Awaitable[Answer]]) -> Answer:
    async def run() -> Answer:
        async with open_driver(address.uri, *address.auth) as driver:
            return await work(driver)

    return asyncio.run(run())


def reading(address: Neo4jAddress, text: str, *, seconds: float | None = None) -> str:
    """The error's code of a query sent by the bare driver in READ access mode, empty if it is answered."""

    async def work(driver: AsyncDriver) -> str:
        async with driver.session(default_access_mode=READ_ACCESS) as session:
            return await code_of(session, Query(text, timeout=seconds))  # type: ignore[arg-type]

    return on(address, work)


async def code_of(session: AsyncSession, query: Query) -> str:
    try:
        await (await session.run(query)).consume()
    except Neo4jError as error:
        return error.code or ""
    return ""


@pytest.mark.parametrize(
    "text",
    [
        "CREATE (:Written)",
        "MATCH (n) DETACH DELETE n",
        "MERGE (n:Written {a: 1})",
        "CREATE INDEX written IF NOT EXISTS FOR (n:Written) ON (n.a)",
    ],
)
def test_read_access_mode_refuses_to_write(neo4j_server: Neo4jAddress, text: str):
    assert reading(neo4j_server, text) == "Neo.ClientError.Statement.AccessMode"


def test_the_servers_own_timeout_ends_a_query_soon(neo4j_server: Neo4jAddress):
    """The median of five: left to the default, which looks every 2 s, it would be 1.25 s."""

    async def work(driver: AsyncDriver) -> list[float]:
        async with driver.session(default_access_mode=READ_ACCESS) as session:
            await code_of(session, Query("RETURN 1"))
            taken = []
            for _ in range(5):
                started = time.perf_counter()
                code = await code_of(session, Query(ENDLESS, timeout=DEADLINE_MS / 1000))
                taken.append(time.perf_counter() - started)
                assert code == "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration"
            return sorted(taken)

    assert on(neo4j_server, work)[2] < 0.5


def test_a_query_that_piles_up_memory_is_refused_and_the_server_goes_on(neo4j_server: Neo4jAddress):
    code = reading(neo4j_server, "UNWIND range(1, 50000000) AS x RETURN size(collect(toString(x)))", seconds=60)
    assert code == "Neo.TransientError.General.MemoryPoolOutOfMemoryError"
    assert reading(neo4j_server, "RETURN 1") == ""


def test_files_are_not_imported(neo4j_server: Neo4jAddress, neo4j_default_server: Neo4jAddress):
    """READ access mode lets it pass: the vendor's settings hand out the file, ours don't."""
    text = "LOAD CSV FROM 'file:///etc/passwd' AS line RETURN count(line)"
    assert reading(neo4j_default_server, text) == ""
    assert reading(neo4j_server, text) == "Neo.ClientError.Statement.ExternalResourceFailed"


def test_nothing_is_imported_over_the_network(neo4j_server: Neo4jAddress, neo4j_default_server: Neo4jAddress):
    """The vendor's settings let a reader ask whatever server the database can reach."""
    asked: list[str] = []

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            self.send_response(200)
            self.end_headers()
            self.wfile.write(b"secret\n")

        def log_message(self, *_: object) -> None: ...

    with HTTPServer(("127.0.0.1", 0), Answering) as internal:
        threading.Thread(target=internal.serve_forever, daemon=True).start()
        text = f"LOAD CSV FROM 'http://127.0.0.1:{internal.server_port}/' AS line RETURN count(line)"
        assert reading(neo4j_default_server, text) == ""
        assert asked == ["/"]
        assert reading(neo4j_server, text) != ""
        assert asked == ["/"]
        internal.shutdown()


@pytest.mark.parametrize("procedure", ["gds.graph.export", "gds.pageRank.write", "gds.graph.drop.all", "gds.backup"])
def test_procedures_beyond_the_allowlist_are_not_there(neo4j_server: Neo4jAddress, procedure: str):
    assert reading(neo4j_server, f"CALL {procedure}()") == "Neo.ClientError.Procedure.ProcedureNotFound"


def test_the_clients_clock_alone_frees_the_caller_and_ends_the_work(neo4j_default_server: Neo4jAddress):
    """Through a middleman that tells the server nothing of the hang-up, on a server that looks every 2 s."""
    address = urlsplit(neo4j_default_server.uri)

    async def run() -> tuple[float, float]:
        async with (
            open_driver(neo4j_default_server.uri, *neo4j_default_server.auth) as watch,
            TcpProxy.before(address.hostname or "", address.port or 0) as proxy,
            open_driver(f"bolt://127.0.0.1:{proxy.port}", *neo4j_default_server.auth) as driver,
        ):
            await fill(watch)
            proxy.forwards_close = False
            reader = Neo4jGraphReader(driver)
            await reader.check(Deadline.after(10_000))
            await running(watch)
            caller, server = [], []
            for number in range(5):
                started = time.perf_counter()
                with pytest.raises(EngineLate):
                    await reader.run(runaway(number), deadline=Deadline.after(DEADLINE_MS))
                caller.append(time.perf_counter() - started)
                await until_idle(watch)
                server.append(time.perf_counter() - started)
            await reader.close()
            return max(caller), sorted(server)[2]

    caller, server = asyncio.run(run())
    assert caller < 0.4
    # Left to the server's own clock, it would be between 0.25 and 2.25 s, at random.
    assert server < 1.0


async def until_idle(driver: AsyncDriver) -> None:
    """The server tells nobody when a transaction ends."""
    async with asyncio.timeout(10):
        while await running(driver):  # noqa: ASYNC110
            await asyncio.sleep(0.02)


async def running(driver: AsyncDriver) -> int:
    """Transactions at work on the server, this one apart."""
    rows, _, _ = await driver.execute_query(
        "SHOW TRANSACTIONS YIELD currentQuery, status "
        "WHERE status = 'Running' AND NOT currentQuery STARTS WITH 'SHOW' RETURN count(*) AS n"
    )
    return int(rows[0]["n"])


async def fill(driver: AsyncDriver) -> None:
    await driver.execute_query("MATCH (n:Dense) DETACH DELETE n")
    await driver.execute_query("CREATE CONSTRAINT node_key IF NOT EXISTS FOR (n:Node) REQUIRE n.key IS UNIQUE")
    await driver.execute_query(DENSE)
    await driver.execute_query(LINKS)


def p99_of_a_hundred_aborts(address: Neo4jAddress) -> float:
    """Seconds as the caller sees them, each query with a deadline of 250 ms.

    A thread that sleeps beside each query tells how late this machine wakes anybody up; that much is not ours.
    """

    async def work(driver: AsyncDriver) -> tuple[list[float], list[float]]:
        await fill(driver)
        reader = Neo4jGraphReader(driver)
        taken, overslept = [], []
        for number in range(100):
            sleeper = asyncio.create_task(asyncio.to_thread(oversleep))
            started = time.perf_counter()
            with pytest.raises(EngineLate):
                await reader.run(runaway(number), deadline=Deadline.after(DEADLINE_MS))
            taken.append(time.perf_counter() - started)
            overslept.append(await sleeper)
        await driver.execute_query("MATCH (n:Dense) DETACH DELETE n")
        await reader.close()
        return sorted(taken), sorted(overslept)

    taken, overslept = on(address, work)
    said = f"p50 {taken[49] * 1000:.0f} ms, p99 {taken[98] * 1000:.0f} ms, of it late {overslept[98] * 1000:.0f} ms"
    print(f"\nabort of 100 runaway queries: {said}")
    return taken[98] - overslept[98]


def oversleep() -> float:
    """How many seconds too late a thread wakes that asked for the deadline's time."""
    started = time.perf_counter()
    time.sleep(DEADLINE_MS / 1000)
    return time.perf_counter() - started - DEADLINE_MS / 1000


def test_a_hundred_runaway_queries_are_aborted_in_time(neo4j_server: Neo4jAddress):
    assert p99_of_a_hundred_aborts(neo4j_server) <= 0.3


def test_a_hundred_runaway_queries_are_aborted_in_time_on_a_default_server(neo4j_default_server: Neo4jAddress):
    assert p99_of_a_hundred_aborts(neo4j_default_server) <= 0.4
