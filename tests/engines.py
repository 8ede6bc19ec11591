"""The real engines for tests: from the environment, else from Docker, else started by `stack`.

An engine that can't start fails the tests that need it. Qdrant's server is in no package registry: without
COGITAVE_QUERY_TEST_QDRANT_URL and Docker its tests are answered by recorded exchanges with a real one, and the summary
says so, and of which version. With the URL and COGITAVE_QUERY_TEST_QDRANT_RECORD=1 they are recorded.
"""

import hashlib
import os
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import pytest

from stack.servers import Neo4jServer, OpenSearchServer
from stack.settings import NEO4J_DEFAULT_SETTINGS
from tests import containers
from tests.qdrant_exchanges import ExchangeServer
from tests.qdrant_sources import Real, Recorded, Recordings, Replayed, RequestsDiffer, server_version

Server = TypeVar("Server", Neo4jServer, OpenSearchServer)

_failed = pytest.StashKey[bool]()
_said_of_qdrant = pytest.StashKey[str]()


@dataclass(frozen=True)
class Neo4jAddress:
    """Where a Neo4j answers."""

    uri: str
    user: str
    password: str = field(repr=False)

    @property
    def auth(self) -> tuple[str, str]:
        return self.user, self.password


@contextmanager
def _started(request: pytest.FixtureRequest, server: Server) -> Iterator[Server]:
    """The first start on a machine fetches the engine: its progress is shown past pytest's capture.

    An engine that died on the way is an error with the end of its log.
    """
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled() if capture else nullcontext():
        server.start()
    try:
        yield server
        server.check()
    finally:
        server.stop()


@pytest.fixture(scope="session")
def neo4j_server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Neo4jAddress]:
    """Neo4j with Graph Data Science and the settings that the service asks for."""
    if uri := os.environ.get("COGITAVE_QUERY_TEST_NEO4J_URL"):
        user = os.environ.get("COGITAVE_QUERY_TEST_NEO4J_USER", "neo4j")
        yield Neo4jAddress(uri, user, os.environ["COGITAVE_QUERY_TEST_NEO4J_PASSWORD"])
    elif containers.docker_answers():
        with containers.neo4j() as (uri, password):
            yield Neo4jAddress(uri, "neo4j", password)
    else:
        with _started(request, Neo4jServer(tmp_path_factory.mktemp("neo4j"))) as server:
            yield Neo4jAddress(server.uri, *server.auth)


@pytest.fixture(scope="session")
def neo4j_default_server(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Neo4jAddress]:
    """A Neo4j with its vendor's settings, which the service may not change."""
    if uri := os.environ.get("COGITAVE_QUERY_TEST_NEO4J_DEFAULT_URL"):
        yield Neo4jAddress(uri, "neo4j", os.environ["COGITAVE_QUERY_TEST_NEO4J_DEFAULT_PASSWORD"])
        return
    defaults = Neo4jServer(tmp_path_factory.mktemp("neo4j-default"), settings=NEO4J_DEFAULT_SETTINGS)
    with _started(request, defaults) as server:
        yield Neo4jAddress(server.uri, *server.auth)


@pytest.fixture(scope="session")
def opensearch_server(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The URL of an OpenSearch."""
    if url := os.environ.get("COGITAVE_QUERY_TEST_OPENSEARCH_URL"):
        yield url
    elif containers.docker_answers():
        with containers.opensearch() as url:
            yield url
    else:
        with _started(request, OpenSearchServer(tmp_path_factory.mktemp("opensearch"))) as server:
            yield server.url


@dataclass(frozen=True)
class QdrantAddress:
    """Where a Qdrant answers, and what the names of this test's collections begin with: the same in every run."""

    url: str
    prefix: str


class QdrantSource(Protocol):
    """Where a test's Qdrant comes from. `said` is what the run's summary tells of it."""

    @property
    def said(self) -> str: ...

    def during(self, test: str, *, in_order: bool) -> AbstractContextManager[str]:
        """The URL for one test. in_order: its requests come in the same order in every run."""
        ...


@pytest.fixture(scope="session")
def real_qdrant_url() -> Iterator[str | None]:
    """The URL of a Qdrant server, where there is one: for what can't be answered by a record."""
    if url := os.environ.get("COGITAVE_QUERY_TEST_QDRANT_URL"):
        yield url
    elif containers.docker_answers():
        with containers.qdrant() as url:
            yield url
    else:
        yield None


@pytest.fixture(scope="session")
def _qdrant_source(request: pytest.FixtureRequest, real_qdrant_url: str | None) -> Iterator[QdrantSource]:
    with ExitStack() as opened:
        source: QdrantSource
        if real_qdrant_url is None:
            source = Replayed(opened.enter_context(ExchangeServer.running()), Recordings.load())
        elif os.environ.get("COGITAVE_QUERY_TEST_QDRANT_RECORD"):
            source = opened.enter_context(Recorded.of(real_qdrant_url))
        else:
            source = Real(real_qdrant_url, server_version(real_qdrant_url))
        yield source
        request.config.stash[_said_of_qdrant] = source.said


@pytest.fixture
def qdrant(request: pytest.FixtureRequest, _qdrant_source: QdrantSource) -> Iterator[QdrantAddress]:
    """A Qdrant, or exact answers of one to the requests of this test, in the order in which it made them."""
    with _qdrant_for(request, _qdrant_source, in_order=True) as address:
        yield address


@pytest.fixture
def qdrant_in_any_order(request: pytest.FixtureRequest, _qdrant_source: QdrantSource) -> Iterator[QdrantAddress]:
    """A Qdrant for a test whose requests get lost on the way, or are repeated."""
    with _qdrant_for(request, _qdrant_source, in_order=False) as address:
        yield address


@contextmanager
def _qdrant_for(request: pytest.FixtureRequest, source: QdrantSource, *, in_order: bool) -> Iterator[QdrantAddress]:
    name = request.node.nodeid
    prefix = f"test-{hashlib.blake2b(name.encode(), digest_size=6).hexdigest()}"
    try:
        with source.during(name, in_order=in_order) as url:
            yield QdrantAddress(url, prefix)
    except RequestsDiffer as error:
        # A test that failed half way did not come to the rest of its requests.
        if not request.node.stash.get(_failed, False) or error.unknown:
            pytest.fail(str(error))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    item.stash[_failed] = item.stash.get(_failed, False) or report.failed
    return report


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if said := config.stash.get(_said_of_qdrant, ""):
        terminalreporter.write_line(said, yellow=True, bold=True)
