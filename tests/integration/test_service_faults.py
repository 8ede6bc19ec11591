"""The whole service beside real engines that go and come back: answers in time, and no restart.

Vectors come from an endpoint that makes them of a text's hash, the same on every machine, so that Qdrant's part can be
answered from a record where there is no server.
"""

import asyncio
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from pydantic import SecretStr

from adapters.opensearch.connection import open_client as open_opensearch
from adapters.qdrant.connection import open_client as open_qdrant
from service import bootstrap
from service.domain.errors import Unavailable
from service.domain.principal import ANONYMOUS
from service.domain.requests import PublishRequest, SearchRequest
from service.domain.results import SearchResult
from service.settings import Settings
from service.tools import catalogue
from service.tools.local import LocalToolbox
from tests.application import PAGES
from tests.engines import Neo4jAddress, QdrantAddress
from tests.neo4j_database import empty_database
from tests.opensearch_indexes import remove_indexes
from tests.qdrant_collections import remove_collections
from tests.tcp_proxy import Fault, TcpProxy
from tests.unit.adapters.embedding.endpoint import DIMENSIONS, serve_endpoint

pytestmark = [pytest.mark.engines, pytest.mark.anyio, pytest.mark.timeout(240)]

REQUEST_SECONDS = 5.0
MODEL = f"test-model/{DIMENSIONS}"
"""As the embedder names itself to the vector index."""
BREAKER_PAUSE_MS = 300
FAULTS = pytest.mark.parametrize("fault", [Fault.CUT, Fault.HALF_OPEN, Fault.GARBAGE], ids=lambda fault: fault.name)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass(frozen=True)
class Service:
    tools: LocalToolbox
    graph: TcpProxy
    text: TcpProxy
    vectors: TcpProxy

    def all_at_once(self, fault: Fault) -> None:
        self.graph.fault = self.text.fault = self.vectors.fault = fault

    async def reasons(self) -> dict[str, str]:
        """Why each engine that is not ready isn't, by its role."""
        readiness = await self.tools.readiness()
        return {report.role: report.reason or "" for report in readiness.engines if not report.ready}

    async def search(self) -> SearchResult:
        """Answered, or refused, within the time that a request may take."""
        async with asyncio.timeout(REQUEST_SECONDS):
            return await self.tools.call(catalogue.SEARCH, SearchRequest(text="query the graph"), ANONYMOUS)

    async def search_until_whole(self, seconds: float = 30) -> SearchResult:
        """Ask until nothing is missing any more."""
        until = time.monotonic() + seconds
        while True:
            try:
                result = await self.search()
                if not result.degraded:
                    return result
                missing: object = result.degraded
            except Unavailable as error:
                missing = error
            assert time.monotonic() < until, missing
            await asyncio.sleep(0.05)


@dataclass(frozen=True)
class Engines:
    neo4j: Neo4jAddress
    opensearch: str
    qdrant: QdrantAddress


@pytest.fixture
def engines(neo4j_server: Neo4jAddress, opensearch_server: str, qdrant_in_any_order: QdrantAddress) -> Engines:
    return Engines(neo4j_server, opensearch_server, qdrant_in_any_order)


def proxy_before(url: str) -> AbstractAsyncContextManager[TcpProxy]:
    place = urlsplit(url)
    return TcpProxy.before(place.hostname or "", place.port or 0)


@asynccontextmanager
async def service(folder: Path, engines: Engines, *, start_with: Fault = Fault.NONE) -> AsyncIterator[Service]:
    prefix = engines.qdrant.prefix
    async with AsyncExitStack() as opened:
        endpoint = opened.enter_context(serve_endpoint())
        await opened.enter_async_context(empty_database(engines.neo4j))
        text_engine = await opened.enter_async_context(open_opensearch(engines.opensearch))
        vector_engine = open_qdrant(engines.qdrant.url)
        opened.push_async_callback(vector_engine.close)
        await remove_indexes(text_engine, prefix)
        await remove_collections(vector_engine, prefix, MODEL, DIMENSIONS)
        graph = await opened.enter_async_context(proxy_before(engines.neo4j.uri))
        text = await opened.enter_async_context(proxy_before(engines.opensearch))
        vectors = await opened.enter_async_context(proxy_before(engines.qdrant.url))
        settings = Settings(
            neo4j_url=f"bolt://127.0.0.1:{graph.port}",
            neo4j_user=engines.neo4j.user,
            neo4j_password=SecretStr(engines.neo4j.password),
            opensearch_url=f"http://127.0.0.1:{text.port}",
            qdrant_url=f"http://127.0.0.1:{vectors.port}",
            engine_prefix=prefix,
            embedder="http",
            embedder_url=endpoint.url,
            embedder_model="test-model",
            embedder_dimensions=DIMENSIONS,
            breaker_pause=BREAKER_PAUSE_MS,
            # Kept cards and anchors would answer in the graph's place.
            node_cards=1,
            query_cache=0,
        )
        for proxy in (graph, text, vectors):
            proxy.fault = start_with
        async with bootstrap.open_toolbox(settings, folder / "data") as tools:
            running = Service(tools, graph, text, vectors)
            yield running
            running.all_at_once(Fault.NONE)
        await remove_indexes(text_engine, prefix)
        await remove_collections(vector_engine, prefix, MODEL, DIMENSIONS)


@pytest.fixture
def estate(tmp_path: Path) -> Path:
    folder = tmp_path / "estate"
    folder.mkdir()
    for name, page in PAGES.items():
        (folder / name).write_text(page)
    return folder


async def publish(service: Service, estate: Path) -> None:
    await service.tools.publish(PublishRequest(paths=[str(estate)]))


@FAULTS
async def test_without_the_graph_hits_are_served_unverified(
    engines: Engines, tmp_path: Path, estate: Path, fault: Fault
) -> None:
    async with service(tmp_path, engines) as running:
        await publish(running, estate)
        whole = await running.search_until_whole()
        running.graph.fault = fault
        partial = await running.search()
        assert any(note.startswith("graph") for note in partial.degraded)
        assert {hit.uid for hit in partial.hits} >= {whole.hits[0].uid}
        assert (await running.reasons()).keys() == {"graph"}
        running.graph.fault = Fault.NONE
        again = await running.search_until_whole()
        assert [hit.uid for hit in again.hits] == [hit.uid for hit in whole.hits]
        assert await running.reasons() == {}


@pytest.mark.parametrize(("leg", "proxy"), [("lexical", "text"), ("vector", "vectors")], ids=["text", "vectors"])
@FAULTS
async def test_without_one_text_engine_the_other_answers(
    engines: Engines, tmp_path: Path, estate: Path, fault: Fault, leg: str, proxy: str
) -> None:
    async with service(tmp_path, engines) as running:
        await publish(running, estate)
        whole = await running.search_until_whole()
        getattr(running, proxy).fault = fault
        for _ in range(8):
            partial = await running.search()
            assert any(note.startswith(leg) for note in partial.degraded)
            assert partial.hits
        assert (await running.reasons()).keys() == {leg}
        assert (await running.tools.readiness()).ready
        getattr(running, proxy).fault = Fault.NONE
        again = await running.search_until_whole()
        assert [hit.uid for hit in again.hits] == [hit.uid for hit in whole.hits]
        assert await running.reasons() == {}


async def test_the_service_starts_before_its_engines(engines: Engines, tmp_path: Path, estate: Path) -> None:
    async with service(tmp_path, engines, start_with=Fault.CUT) as running:
        with pytest.raises(Unavailable):
            await running.search()
        assert (await running.reasons()).keys() == {"graph", "lexical", "vector"}
        running.all_at_once(Fault.NONE)
        await publish(running, estate)
        assert (await running.search_until_whole()).hits


@pytest.mark.parametrize("first", ["graph", "text", "vectors"])
async def test_the_engines_may_come_in_any_order(engines: Engines, tmp_path: Path, estate: Path, first: str) -> None:
    async with service(tmp_path, engines, start_with=Fault.CUT) as running:
        getattr(running, first).fault = Fault.NONE
        with pytest.raises(Unavailable):
            await publish(running, estate)
        running.all_at_once(Fault.NONE)
        await publish(running, estate)
        assert (await running.search_until_whole()).hits
