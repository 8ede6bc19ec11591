"""The real engines of a bench: those that the environment names, else those that `stack` starts for the run.

COGITAVE_QUERY_TEST_NEO4J_URL, COGITAVE_QUERY_TEST_OPENSEARCH_URL and COGITAVE_QUERY_TEST_QDRANT_URL name them; a Neo4j
is emptied first. No package brings Qdrant: without its URL and without Docker there is none.
"""

import asyncio
import os
import tempfile
import time
import uuid
from collections.abc import Awaitable, Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from qdrant_client import AsyncQdrantClient, models

from bench.report import Measurement, say
from stack.servers import Neo4jServer, OpenSearchServer
from tests import containers
from tests.engines import Neo4jAddress, QdrantAddress
from tests.qdrant_sources import server_version

_INDEXED_WITHIN_SECONDS = 1_800


@dataclass(frozen=True)
class RealEngines:
    neo4j: Neo4jAddress
    opensearch: str
    qdrant: QdrantAddress | None

    @property
    def versions(self) -> str:
        """What a bench's first line says beside the clients' versions."""
        return f"qdrant {server_version(self.qdrant.url)}" if self.qdrant else "no qdrant"


@contextmanager
def real_engines() -> Iterator[RealEngines]:
    with ExitStack() as opened:
        folder = Path(opened.enter_context(tempfile.TemporaryDirectory(prefix="cogitave-query-engines-")))
        if uri := os.environ.get("COGITAVE_QUERY_TEST_NEO4J_URL"):
            neo4j = Neo4jAddress(uri, "neo4j", os.environ["COGITAVE_QUERY_TEST_NEO4J_PASSWORD"])
        else:
            server = opened.enter_context(Neo4jServer(folder / "neo4j"))
            neo4j = Neo4jAddress(server.uri, *server.auth)
        opensearch = os.environ.get("COGITAVE_QUERY_TEST_OPENSEARCH_URL")
        if opensearch is None:
            opensearch = opened.enter_context(OpenSearchServer(folder / "opensearch")).url
        url = os.environ.get("COGITAVE_QUERY_TEST_QDRANT_URL")
        if url is None and containers.docker_answers():
            url = opened.enter_context(containers.qdrant())
        yield RealEngines(neo4j, opensearch, QdrantAddress(url, f"bench-{uuid.uuid4().hex[:8]}") if url else None)


async def indexed(vectors: AsyncQdrantClient, collection: str) -> None:
    """Wait until Qdrant has built its graphs."""
    started = time.perf_counter()
    while (info := await vectors.get_collection(collection)).status != models.CollectionStatus.GREEN:
        if time.perf_counter() - started > _INDEXED_WITHIN_SECONDS:
            raise SystemExit(f"Qdrant is still {info.status} after {_INDEXED_WITHIN_SECONDS} s.")
        await asyncio.sleep(0.5)
    remark = f"{info.indexed_vectors_count:,} of {info.points_count:,} vectors are in graphs"
    say(Measurement("until Qdrant's graphs were built", time.perf_counter() - started, "s"), remark)


async def timed(work: Callable[[], Awaitable[Any]]) -> tuple[Any, float]:
    """The answer, and how many milliseconds it took."""
    started = time.perf_counter()
    answer = await work()
    return answer, (time.perf_counter() - started) * 1000


def percentile(values: list[float], rank: int) -> float:
    return float(np.percentile(values, rank))
