"""The real engines for tests: from the environment, else from Docker, else started by `stack`.

An engine that can't start fails the tests that need it. The one exception is Qdrant's server, which no package
registry holds: without COGITAVE_QUERY_TEST_QDRANT_URL and Docker its tests are skipped, and the summary says so.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TypeVar

import pytest

from stack.servers import Neo4jServer, OpenSearchServer
from stack.settings import NEO4J_DEFAULT_SETTINGS
from tests import containers

_NO_QDRANT = (
    "NO QDRANT SERVER: set COGITAVE_QUERY_TEST_QDRANT_URL or start Docker; what needs a real one was NOT tested"
)
Server = TypeVar("Server", Neo4jServer, OpenSearchServer)

_qdrant_skipped = pytest.StashKey[bool]()


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
    """The first start on a machine fetches the engine: its progress is shown past pytest's capture."""
    capture = request.config.pluginmanager.getplugin("capturemanager")
    with capture.global_and_fixture_disabled() if capture else nullcontext():
        server.start()
    try:
        yield server
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


@pytest.fixture(scope="session")
def qdrant_url(request: pytest.FixtureRequest) -> Iterator[str]:
    """The URL of a Qdrant server, where there is one."""
    if url := os.environ.get("COGITAVE_QUERY_TEST_QDRANT_URL"):
        yield url
    elif containers.docker_answers():
        with containers.qdrant() as url:
            yield url
    else:
        request.config.stash[_qdrant_skipped] = True
        pytest.skip(_NO_QDRANT)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    if config.stash.get(_qdrant_skipped, False):
        terminalreporter.write_line(_NO_QDRANT, yellow=True, bold=True)
