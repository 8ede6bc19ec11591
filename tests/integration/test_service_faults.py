"""The whole service beside real engines that go and come back: answers in time, and no restart."""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from pydantic import SecretStr

from service import bootstrap
from service.domain.errors import Unavailable
from service.domain.principal import ANONYMOUS
from service.domain.requests import PublishRequest, SearchRequest
from service.domain.results import SearchResult
from service.settings import Settings
from service.tools import catalogue
from service.tools.local import LocalToolbox
from tests.application import PAGES
from tests.engines import Neo4jAddress
from tests.neo4j_database import empty_database
from tests.tcp_proxy import Fault, TcpProxy

pytestmark = [pytest.mark.engines, pytest.mark.anyio, pytest.mark.timeout(240)]

REQUEST_SECONDS = 5.0
BREAKER_PAUSE_MS = 300


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@dataclass(frozen=True)
class Service:
    tools: LocalToolbox
    graph: TcpProxy
    text: TcpProxy

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


@asynccontextmanager
async def service(
    folder: Path, neo4j: Neo4jAddress, opensearch: str, *, start_with: Fault = Fault.NONE
) -> AsyncIterator[Service]:
    graph_at, text_at = urlsplit(neo4j.uri), urlsplit(opensearch)
    async with (
        empty_database(neo4j),
        TcpProxy.before(graph_at.hostname or "", graph_at.port or 0) as graph,
        TcpProxy.before(text_at.hostname or "", text_at.port or 0) as text,
    ):
        graph.fault = text.fault = start_with
        settings = Settings(
            neo4j_url=f"bolt://127.0.0.1:{graph.port}",
            neo4j_user=neo4j.user,
            neo4j_password=SecretStr(neo4j.password),
            opensearch_url=f"http://127.0.0.1:{text.port}",
            engine_prefix=f"test-{uuid.uuid4().hex[:8]}",
            breaker_pause=BREAKER_PAUSE_MS,
            # Kept cards and anchors would answer in the graph's place.
            node_cards=1,
            query_cache=0,
        )
        async with bootstrap.open_toolbox(settings, folder / "data") as tools:
            yield Service(tools, graph, text)
            graph.fault = text.fault = Fault.NONE


@pytest.fixture
def estate(tmp_path: Path) -> Path:
    folder = tmp_path / "estate"
    folder.mkdir()
    for name, page in PAGES.items():
        (folder / name).write_text(page)
    return folder


async def publish(service: Service, estate: Path) -> None:
    await service.tools.publish(PublishRequest(paths=[str(estate)]))


@pytest.mark.parametrize("fault", [Fault.CUT, Fault.HALF_OPEN], ids=lambda fault: fault.name)
async def test_without_the_graph_hits_are_served_unverified(
    neo4j_server: Neo4jAddress, opensearch_server: str, tmp_path: Path, estate: Path, fault: Fault
) -> None:
    async with service(tmp_path, neo4j_server, opensearch_server) as running:
        await publish(running, estate)
        whole = await running.search_until_whole()
        running.graph.fault = fault
        partial = await running.search()
        assert any(note.startswith("graph") for note in partial.degraded)
        assert {hit.uid for hit in partial.hits} >= {whole.hits[0].uid}
        running.graph.fault = Fault.NONE
        again = await running.search_until_whole()
        assert [hit.uid for hit in again.hits] == [hit.uid for hit in whole.hits]


@pytest.mark.parametrize("fault", [Fault.CUT, Fault.HALF_OPEN], ids=lambda fault: fault.name)
async def test_without_the_text_engine_vectors_alone_answer(
    neo4j_server: Neo4jAddress, opensearch_server: str, tmp_path: Path, estate: Path, fault: Fault
) -> None:
    async with service(tmp_path, neo4j_server, opensearch_server) as running:
        await publish(running, estate)
        whole = await running.search_until_whole()
        running.text.fault = fault
        for _ in range(8):
            partial = await running.search()
            assert any(note.startswith("lexical") for note in partial.degraded)
            assert partial.hits
        running.text.fault = Fault.NONE
        again = await running.search_until_whole()
        assert [hit.uid for hit in again.hits] == [hit.uid for hit in whole.hits]


async def test_the_service_starts_before_its_engines(
    neo4j_server: Neo4jAddress, opensearch_server: str, tmp_path: Path, estate: Path
) -> None:
    async with service(tmp_path, neo4j_server, opensearch_server, start_with=Fault.CUT) as running:
        with pytest.raises(Unavailable):
            await running.search()
        running.graph.fault = running.text.fault = Fault.NONE
        await publish(running, estate)
        assert (await running.search_until_whole()).hits
