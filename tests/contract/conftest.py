"""Which adapters each port's contract is held against.

To add one: write an async context manager that takes the test's request and yields the adapter, empty; name it in the
port's table; mark it `engines` where it needs a server.
"""

import json
import uuid
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import pytest

from adapters.embedded.embedding_cache import SqliteEmbeddingCache
from adapters.embedded.graph_reader import EmbeddedGraphReader
from adapters.embedded.graph_store import EmbeddedGraphStore
from adapters.embedded.key_store import SqliteKeyStore
from adapters.embedded.lexical import TantivyIndex
from adapters.embedded.ranker import ScipyRanker
from adapters.embedded.run_log import SqliteRunLog
from adapters.embedded.tuning_store import SqliteTuningStore
from adapters.embedded.vectors import QdrantEdgeIndex
from adapters.neo4j.key_store import Neo4jKeyStore
from adapters.neo4j.migrator import Neo4jMigrator
from adapters.neo4j.ranker import GdsRanker
from adapters.neo4j.reader import Neo4jGraphReader
from adapters.neo4j.store import Neo4jGraphStore
from adapters.neo4j.tuning_store import Neo4jTuningStore
from adapters.opensearch.connection import open_client as open_opensearch
from adapters.opensearch.lexical import OpenSearchIndex
from adapters.opensearch.migrator import OpenSearchMigrator
from adapters.qdrant.connection import open_client as open_qdrant
from adapters.qdrant.migrator import QdrantMigrator
from adapters.qdrant.vectors import QdrantIndex
from service.domain.graph import EdgeType
from service.ports import (
    EmbeddingCache,
    GraphRanker,
    GraphReader,
    GraphStore,
    KeyStore,
    LexicalIndex,
    Migrator,
    RunLog,
    TuningStore,
    VectorIndex,
)
from tests.contract.estate import rebuilt
from tests.engines import QdrantAddress
from tests.neo4j_database import empty_database
from tests.opensearch_indexes import own_indexes, remove_indexes
from tests.qdrant_collections import own_collection, remove_collections

Adapter = TypeVar("Adapter")
Factory = Callable[[pytest.FixtureRequest], AbstractAsyncContextManager[Adapter]]

BOOSTS = {"title_boost": 2.0, "heading_boost": 1.5}
VECTOR_DIMENSIONS = 4
CACHED_VECTORS = 100
LOGGED_RUNS = 20

EDGE_WEIGHTS = dict.fromkeys(EdgeType, (1.0, 0.25)) | {EdgeType.PART_OF: (2.0, 1.0)}
DAMPING = 0.85
ITERATIONS = 20


@dataclass(frozen=True)
class Graph:
    """The three ports that one graph engine answers; what the store publishes, the others read.

    reads_whole_snapshots: whether a statement that runs while a commit is applied still reads one snapshot. Neo4j's
    isolation is read committed: such a statement may meet some of the new nodes and some of the old.
    """

    store: GraphStore
    reader: GraphReader
    ranker: GraphRanker
    reads_whole_snapshots: bool = True


@asynccontextmanager
async def tantivy(request: pytest.FixtureRequest) -> AsyncIterator[LexicalIndex]:
    index = TantivyIndex.open(_folder(request), **BOOSTS)
    yield index
    await index.close()


@asynccontextmanager
async def qdrant_edge(request: pytest.FixtureRequest) -> AsyncIterator[VectorIndex]:
    index = QdrantEdgeIndex.open(_folder(request), model="test", dimensions=VECTOR_DIMENSIONS)
    yield index
    await index.close()


@asynccontextmanager
async def kglite(request: pytest.FixtureRequest) -> AsyncIterator[Graph]:
    store = EmbeddedGraphStore.open(_folder(request), rebuild=rebuilt)
    reader = EmbeddedGraphReader(lambda: store.live)
    ranker = ScipyRanker(lambda: store.live, weights=EDGE_WEIGHTS, damping=DAMPING, iterations=ITERATIONS)
    yield Graph(store, reader, ranker)
    await ranker.close()
    await reader.close()
    await store.close()


@asynccontextmanager
async def opensearch(request: pytest.FixtureRequest) -> AsyncIterator[LexicalIndex]:
    async with own_indexes(request.getfixturevalue("opensearch_server")) as (client, prefix):
        yield OpenSearchIndex(client, prefix=prefix, **BOOSTS)


@asynccontextmanager
async def qdrant(request: pytest.FixtureRequest) -> AsyncIterator[VectorIndex]:
    address = request.getfixturevalue("qdrant")
    async with own_collection(address, "test", VECTOR_DIMENSIONS) as client:
        yield QdrantIndex(client, model="test", dimensions=VECTOR_DIMENSIONS, prefix=address.prefix)


@asynccontextmanager
async def neo4j(request: pytest.FixtureRequest) -> AsyncIterator[Graph]:
    async with empty_database(request.getfixturevalue("neo4j_server")) as driver:
        reader = Neo4jGraphReader(driver)
        ranker = GdsRanker(reader, weights=EDGE_WEIGHTS, damping=DAMPING, iterations=ITERATIONS)
        yield Graph(Neo4jGraphStore(driver, rebuild=rebuilt), reader, ranker, reads_whole_snapshots=False)
        await reader.close()


@dataclass(frozen=True)
class MigrationsOf:
    """An engine that was never migrated. broken: a file's text with a step at its end that the engine refuses."""

    engine: str
    migrator: Callable[[], Migrator]
    broken: Callable[[str], str]


@asynccontextmanager
async def neo4j_migrations(request: pytest.FixtureRequest) -> AsyncIterator[MigrationsOf]:
    async with empty_database(request.getfixturevalue("neo4j_server")) as driver:
        # The schema stays, the record of it goes.
        await driver.execute_query("MATCH (m:Migration) DELETE m")
        yield MigrationsOf("neo4j", lambda: Neo4jMigrator(driver), lambda text: f"{text}\nCREATE NONSENSE;\n")
        await driver.execute_query("MATCH (m:Migration) DELETE m")


@asynccontextmanager
async def opensearch_migrations(request: pytest.FixtureRequest) -> AsyncIterator[MigrationsOf]:
    prefix = f"test-{uuid.uuid4().hex[:12]}"
    async with open_opensearch(request.getfixturevalue("opensearch_server")) as client:
        yield MigrationsOf(
            "opensearch",
            lambda: OpenSearchMigrator(client, prefix=prefix),
            lambda text: _with_step(text, {"put": "/_index_template/{prefix}-broken", "body": {"nonsense": 1}}),
        )
        await remove_indexes(client, prefix)


@asynccontextmanager
async def qdrant_migrations(request: pytest.FixtureRequest) -> AsyncIterator[MigrationsOf]:
    address: QdrantAddress = request.getfixturevalue("qdrant")
    model, dimensions = "test", VECTOR_DIMENSIONS
    client = open_qdrant(address.url)
    await remove_collections(client, address.prefix, model, dimensions)
    yield MigrationsOf(
        "qdrant",
        lambda: QdrantMigrator(client, model=model, dimensions=dimensions, prefix=address.prefix),
        lambda text: _with_step(text, {"index": "", "schema": {"type": "keyword"}}),
    )
    await remove_collections(client, address.prefix, model, dimensions)
    await client.close()


def _with_step(text: str, step: dict[str, Any]) -> str:
    return json.dumps([*json.loads(text), step])


@asynccontextmanager
async def sqlite_cache(request: pytest.FixtureRequest) -> AsyncIterator[EmbeddingCache]:
    cache = SqliteEmbeddingCache.open(_folder(request) / "cache.sqlite", kept=CACHED_VECTORS)
    yield cache
    cache.close()


@asynccontextmanager
async def sqlite_log(request: pytest.FixtureRequest) -> AsyncIterator[RunLog]:
    log = SqliteRunLog.open(_folder(request) / "runs.sqlite", kept=LOGGED_RUNS)
    yield log
    log.close()


@asynccontextmanager
async def sqlite_keys(request: pytest.FixtureRequest) -> AsyncIterator[KeyStore]:
    store = SqliteKeyStore.open(_folder(request) / "keys.sqlite")
    yield store
    await store.close()


@asynccontextmanager
async def neo4j_keys(request: pytest.FixtureRequest) -> AsyncIterator[KeyStore]:
    async with empty_database(request.getfixturevalue("neo4j_server")) as driver:
        yield Neo4jKeyStore(driver)


@asynccontextmanager
async def sqlite_tunings(request: pytest.FixtureRequest) -> AsyncIterator[TuningStore]:
    store = SqliteTuningStore.open(_folder(request) / "tuning.sqlite")
    yield store
    await store.close()


@asynccontextmanager
async def neo4j_tunings(request: pytest.FixtureRequest) -> AsyncIterator[TuningStore]:
    async with empty_database(request.getfixturevalue("neo4j_server")) as driver:
        yield Neo4jTuningStore(driver)


LEXICAL_INDEXES: dict[str, Factory[LexicalIndex]] = {"tantivy": tantivy, "opensearch": opensearch}
VECTOR_INDEXES: dict[str, Factory[VectorIndex]] = {"qdrant-edge": qdrant_edge, "qdrant": qdrant}
GRAPHS: dict[str, Factory[Graph]] = {"kglite": kglite, "neo4j": neo4j}
EMBEDDING_CACHES: dict[str, Factory[EmbeddingCache]] = {"sqlite": sqlite_cache}
MIGRATIONS: dict[str, Factory[MigrationsOf]] = {
    "neo4j": neo4j_migrations,
    "opensearch": opensearch_migrations,
    "qdrant": qdrant_migrations,
}
RUN_LOGS: dict[str, Factory[RunLog]] = {"sqlite": sqlite_log}
KEY_STORES: dict[str, Factory[KeyStore]] = {"sqlite": sqlite_keys, "neo4j": neo4j_keys}
TUNING_STORES: dict[str, Factory[TuningStore]] = {"sqlite": sqlite_tunings, "neo4j": neo4j_tunings}

SERVERS = frozenset({"opensearch", "neo4j", "qdrant"})
"""The names above that need a server."""


def engines_of(names: Iterable[str], table: dict[str, Factory[Any]]) -> list[Any]:
    """What a fixture of this table is parametrized with."""
    return [
        pytest.param(table[name], id=name, marks=[pytest.mark.engines] if name in SERVERS else [])
        for name in sorted(names)
    ]


def _each(table: dict[str, Factory[Any]]) -> list[Any]:
    return engines_of(table, table)


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(params=_each(LEXICAL_INDEXES))
async def lexical_index(request: pytest.FixtureRequest) -> AsyncIterator[LexicalIndex]:
    async with request.param(request) as index:
        yield index


@pytest.fixture(params=_each(VECTOR_INDEXES))
async def vector_index(request: pytest.FixtureRequest) -> AsyncIterator[VectorIndex]:
    async with request.param(request) as index:
        yield index


@pytest.fixture(params=_each(GRAPHS))
async def graph(request: pytest.FixtureRequest) -> AsyncIterator[Graph]:
    async with request.param(request) as graph:
        yield graph


@pytest.fixture(params=_each(MIGRATIONS))
async def migrations_of(request: pytest.FixtureRequest) -> AsyncIterator[MigrationsOf]:
    async with request.param(request) as engine:
        yield engine


@pytest.fixture(params=_each(EMBEDDING_CACHES))
async def embedding_cache(request: pytest.FixtureRequest) -> AsyncIterator[EmbeddingCache]:
    async with request.param(request) as cache:
        yield cache


@pytest.fixture(params=_each(KEY_STORES))
async def key_store(request: pytest.FixtureRequest) -> AsyncIterator[KeyStore]:
    async with request.param(request) as store:
        yield store


@pytest.fixture(params=_each(TUNING_STORES))
async def tuning_store(request: pytest.FixtureRequest) -> AsyncIterator[TuningStore]:
    async with request.param(request) as store:
        yield store


@pytest.fixture(params=_each(RUN_LOGS))
async def run_log(request: pytest.FixtureRequest) -> AsyncIterator[RunLog]:
    async with request.param(request) as log:
        yield log


def _folder(request: pytest.FixtureRequest) -> Path:
    folder: Path = request.getfixturevalue("tmp_path")
    return folder
