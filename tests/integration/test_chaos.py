"""A part of the chaos bench, on engines of which the network is harmed: no answer is wrong, and all is whole again.

All of it, with engines that are killed and paused themselves: python -m bench.chaos
"""

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from adapters.opensearch.connection import open_client
from bench.chaos import DOCS, SMALL_CACHES, Cell, run
from bench.real_engines import percentile
from bench.victims import NEO4J, OPENSEARCH, Harm, behind_proxies
from service.settings import Settings
from tests.engines import Neo4jAddress
from tests.neo4j_database import empty_database
from tests.opensearch_indexes import remove_indexes
from tests.unit.adapters.embedding.endpoint import DIMENSIONS, serve_endpoint

pytestmark = [pytest.mark.engines, pytest.mark.anyio, pytest.mark.timeout(240)]

PREFIX = "chaos"
CELLS = [
    Cell({NEO4J: Harm.PAUSED}),
    Cell({OPENSEARCH: Harm.KILLED}),
    Cell({NEO4J: Harm.SLOWED, OPENSEARCH: Harm.PAUSED}),
]


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


async def test_no_answer_is_wrong_while_engines_are_away_and_all_is_whole_again(
    neo4j_server: Neo4jAddress, opensearch_server: str, tmp_path: Path
) -> None:
    async with AsyncExitStack() as opened:
        endpoint = opened.enter_context(serve_endpoint())
        await opened.enter_async_context(empty_database(neo4j_server))
        text_engine = await opened.enter_async_context(open_client(opensearch_server))
        await remove_indexes(text_engine, PREFIX)
        opened.push_async_callback(remove_indexes, text_engine, PREFIX)
        found = [(NEO4J, neo4j_server.uri, None), (OPENSEARCH, opensearch_server, None)]
        victims = await behind_proxies(opened, found, *neo4j_server.auth)
        vectors = {
            "embedder": "http",
            "embedder_url": endpoint.url,
            "embedder_model": "test-model",
            "embedder_dimensions": str(DIMENSIONS),
        }
        settings = {**SMALL_CACHES, **vectors, "engine_prefix": PREFIX, "breaker_pause": "500"}
        told, _ = await run(
            victims, CELLS, tmp_path, estate=DOCS, seconds=3, callers=3, settings=settings, each_once=True
        )
    for one in told:
        assert one.wrong == [], str(one.cell)
        assert one.outcomes["named"] > 0, f"{one.cell} was not felt"
        assert percentile(one.times, 99) < Settings().request_deadline
