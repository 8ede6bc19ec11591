"""The engines behind a network that fails: answers in time, and recovery without a new client."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import numpy as np
import pytest

from adapters.neo4j.connection import open_driver
from adapters.neo4j.reader import Neo4jGraphReader
from adapters.neo4j.store import Neo4jGraphStore
from adapters.opensearch.connection import open_client
from adapters.opensearch.lexical import OpenSearchIndex
from adapters.qdrant.connection import open_client as open_qdrant
from adapters.qdrant.vectors import QdrantIndex
from service.domain.deadline import Deadline
from service.domain.errors import EngineUnavailable
from service.domain.filters import NodeFilter
from service.domain.graph import EVERYONE
from service.statements import count_nodes
from tests.contract.estate import change, passage, publish, rebuilt, record, scope
from tests.engines import Neo4jAddress, QdrantAddress
from tests.neo4j_database import empty_database
from tests.opensearch_indexes import own_indexes
from tests.qdrant_collections import own_collection
from tests.tcp_proxy import Fault, TcpProxy

pytestmark = [pytest.mark.engines, pytest.mark.anyio]

DEADLINE_MS = 300
CONNECTIONS = 4

Ask = Callable[[Deadline], Awaitable[object]]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def neo4j_behind(request: pytest.FixtureRequest) -> AsyncIterator[tuple[TcpProxy, Ask]]:
    address: Neo4jAddress = request.getfixturevalue("neo4j_server")
    place = urlsplit(address.uri)
    async with (
        TcpProxy.before(place.hostname or "", place.port or 0) as proxy,
        open_driver(f"bolt://127.0.0.1:{proxy.port}", *address.auth, connections=CONNECTIONS) as driver,
    ):
        reader = Neo4jGraphReader(driver)
        statement = count_nodes(NodeFilter(), frozenset({EVERYONE}))
        yield proxy, lambda deadline: reader.run(statement, deadline=deadline)
        proxy.fault = Fault.CUT
        await reader.close()


@asynccontextmanager
async def opensearch_behind(request: pytest.FixtureRequest) -> AsyncIterator[tuple[TcpProxy, Ask]]:
    url = request.getfixturevalue("opensearch_server")
    place = urlsplit(url)
    async with (
        own_indexes(url) as (direct, prefix),
        TcpProxy.before(place.hostname or "", place.port or 0) as proxy,
        open_client(f"http://127.0.0.1:{proxy.port}", connections=CONNECTIONS) as client,
    ):
        await OpenSearchIndex(direct, prefix=prefix).add([passage("slots", "Swap the staging slot.")], 1)
        index = OpenSearchIndex(client, prefix=prefix)
        yield proxy, lambda deadline: index.search("slot", scope(), depth=3, deadline=deadline)


@asynccontextmanager
async def qdrant_behind(request: pytest.FixtureRequest) -> AsyncIterator[tuple[TcpProxy, Ask]]:
    address: QdrantAddress = request.getfixturevalue("qdrant_in_any_order")
    place = urlsplit(address.url)
    vector = np.array([1, 0], dtype=np.float32)
    async with (
        own_collection(address, "test", len(vector)) as direct,
        TcpProxy.before(place.hostname or "", place.port or 0) as proxy,
    ):
        client = open_qdrant(f"http://127.0.0.1:{proxy.port}", connections=CONNECTIONS)
        model = {"model": "test", "dimensions": len(vector), "prefix": address.prefix}
        await QdrantIndex(direct, **model).add([passage("slots", "Swap the staging slot.")], vector[np.newaxis], 1)
        index = QdrantIndex(client, **model)
        yield proxy, lambda deadline: index.search(vector, scope(), depth=3, deadline=deadline)
        await client.close()


@pytest.fixture(params=[neo4j_behind, opensearch_behind, qdrant_behind], ids=["neo4j", "opensearch", "qdrant"])
async def engine(request: pytest.FixtureRequest) -> AsyncIterator[tuple[TcpProxy, Ask]]:
    async with request.param(request) as behind:
        yield behind


async def recovers(ask: Ask) -> None:
    """Connections that were broken may fail once more each; after that it answers."""
    for _ in range(CONNECTIONS + 1):
        try:
            await ask(Deadline.after(10_000))
            return
        except EngineUnavailable:
            continue
    raise AssertionError("it answers no more")


@pytest.mark.parametrize("fault", [fault for fault in Fault if fault is not Fault.NONE], ids=lambda fault: fault.name)
async def test_a_fault_costs_a_caller_its_deadline_at_most_and_passes(
    engine: tuple[TcpProxy, Ask], fault: Fault
) -> None:
    proxy, ask = engine
    await ask(Deadline.after(10_000))
    proxy.fault = fault
    started = time.perf_counter()
    with pytest.raises(EngineUnavailable):
        await ask(Deadline.after(DEADLINE_MS))
    assert time.perf_counter() - started < DEADLINE_MS / 1000 + 0.2
    proxy.fault = Fault.NONE
    await recovers(ask)


async def test_an_engine_that_comes_later_is_found(engine: tuple[TcpProxy, Ask]) -> None:
    proxy, ask = engine
    proxy.fault = Fault.CUT
    with pytest.raises(EngineUnavailable):
        await ask(Deadline.after(DEADLINE_MS))
    proxy.fault = Fault.NONE
    await recovers(ask)


async def test_more_callers_than_connections_all_hear_in_time_and_leave_none_behind(
    engine: tuple[TcpProxy, Ask],
) -> None:
    proxy, ask = engine
    await ask(Deadline.after(10_000))
    for milliseconds in (DEADLINE_MS, 20, 50, 20, 50, 20):
        proxy.fault = Fault.HALF_OPEN
        started = time.perf_counter()
        outcomes = await asyncio.gather(
            *(ask(Deadline.after(milliseconds)) for _ in range(10 * CONNECTIONS)), return_exceptions=True
        )
        assert time.perf_counter() - started < milliseconds / 1000 + 2  # seconds: none waits for another, or for ever
        assert all(isinstance(outcome, EngineUnavailable) for outcome in outcomes)
        proxy.fault = Fault.NONE
        await recovers(ask)
    await asyncio.gather(*(ask(Deadline.after(10_000)) for _ in range(2 * CONNECTIONS)))


@pytest.mark.parametrize("after_ms", [1, 30, 100])
async def test_a_commit_that_is_cut_off_happened_or_did_not(neo4j_server: Neo4jAddress, after_ms: int) -> None:
    place = urlsplit(neo4j_server.uri)
    async with (
        empty_database(neo4j_server) as direct,
        TcpProxy.before(place.hostname or "", place.port or 0) as proxy,
        open_driver(f"bolt://127.0.0.1:{proxy.port}", *neo4j_server.auth) as driver,
    ):
        store = Neo4jGraphStore(direct, rebuild=rebuilt)
        await publish(store, [record("old")], publish_id="p1")
        before = await store.snapshot()
        new = [record(f"new {number}") for number in range(2_000)]
        moved = change(new, before, publish_id="p2", replaced=[record("old")])
        await store.begin(moved.entry)
        committing = asyncio.create_task(Neo4jGraphStore(driver, rebuild=rebuilt).commit(moved))
        await asyncio.sleep(after_ms / 1000)
        proxy.fault = Fault.CUT
        outcome = (await asyncio.gather(committing, return_exceptions=True))[0]
        # The server may still be rolling back what the cut left behind: the journal's lock says when it is done.
        await store.advance("p2", moved.entry.step)
        counted = await Neo4jGraphReader(direct).run(
            count_nodes(NodeFilter(), frozenset({EVERYONE})), deadline=Deadline.after(20_000)
        )
        snapshot, nodes = await store.snapshot(), counted.rows[0][0]
        assert (snapshot, nodes) in [(before, 1), (moved.snapshot, 2_000)]
        if outcome is None:
            assert snapshot == moved.snapshot
