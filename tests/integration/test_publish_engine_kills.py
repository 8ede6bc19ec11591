"""An engine that is killed while a publish is under way: the next publish completes, the doctor finds nothing, and who
read all the while saw one snapshot or the other."""

import asyncio
import random
import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import SecretStr

from service.domain.errors import PublishInProgress, Unavailable
from service.domain.principal import ANONYMOUS
from service.domain.requests import PublishRequest, SearchRequest
from service.domain.results import PublishResult
from service.settings import Settings
from service.tools import catalogue
from service.tools.local import LocalToolbox
from stack.servers import Neo4jServer, OpenSearchServer
from tests.application import running, write_estate

pytestmark = [pytest.mark.engines, pytest.mark.long, pytest.mark.timeout(1_800)]

KILLS = 6
PAGES = 12
PATIENCE_SECONDS = 120
QUESTION = SearchRequest(text="page written for a version", limit=50)


def version(number: int) -> dict[str, str]:
    pages = {f"p{page}.md": f"# Page {page}\n\nPage {page}, written for version {number}.\n" for page in range(PAGES)}
    return pages | {f"new{number}.md": f"# New {number}\n\nA new page, written for version {number}.\n"}


def said_by(number: int) -> dict[str, str]:
    """What each page of a version says, by uid."""
    return {
        f"estate/{name.removesuffix('.md')}": text.split("\n\n")[1].strip() for name, text in version(number).items()
    }


def renew(estate: Path, number: int) -> None:
    for page in estate.glob("*.md"):
        page.unlink()
    write_estate(estate, version(number))


@pytest.fixture
def neo4j(tmp_path: Path) -> Iterator[Neo4jServer]:
    with Neo4jServer(tmp_path / "neo4j") as server:
        yield server


@pytest.fixture
def opensearch(tmp_path: Path) -> Iterator[OpenSearchServer]:
    with OpenSearchServer(tmp_path / "opensearch") as server:
        yield server


async def search(tools: LocalToolbox, snapshots: dict[str, dict[str, str]]) -> bool:
    """Whether there was an answer; one that claims a snapshot holds all its pages and no other's."""
    try:
        result = await tools.call(catalogue.SEARCH, QUESTION, ANONYMOUS)
    except Unavailable:
        return False
    if any(hit.unverified for hit in result.hits):
        return True  # without the graph nobody can tell which snapshot answers, and the hits say so
    found = {hit.uid: hit.passage.text for hit in result.hits if hit.passage is not None}
    assert found == snapshots[result.content_root], result.degraded
    return True


async def publish_soon(tools: LocalToolbox, request: PublishRequest) -> PublishResult:
    """As an operator would: again until it is done."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            try:
                return await tools.publish(request)
            except (Unavailable, PublishInProgress):
                await asyncio.sleep(1)


async def kill_during_publishes(
    tools: LocalToolbox, victim: Neo4jServer | OpenSearchServer, estate: Path, roots: list[str], seed: int
) -> tuple[int, int]:
    """How many publishes a kill broke off, and how many answers there were."""
    chance = random.Random(seed)
    request = PublishRequest(paths=[str(estate)])
    snapshots = {root: said_by(number) for number, root in enumerate(roots)}
    broken = answers = 0

    async def read_on() -> None:
        nonlocal answers
        while True:
            answers += await search(tools, snapshots)
            await asyncio.sleep(0.02)

    async with asyncio.timeout(PATIENCE_SECONDS):
        await publish_soon(tools, request)
    reading = asyncio.create_task(read_on())
    for number in range(1, KILLS + 1):
        renew(estate, number)
        publishing = asyncio.create_task(tools.publish(request))
        await asyncio.sleep(chance.uniform(0.0, 1.0) * 0.6)
        await asyncio.to_thread(victim.kill)
        (outcome,) = await asyncio.gather(publishing, return_exceptions=True)
        if isinstance(outcome, BaseException):
            assert isinstance(outcome, Unavailable | PublishInProgress), repr(outcome)
            broken += 1
        await asyncio.to_thread(victim.start)
        result = await publish_soon(tools, request)
        assert result.content_root == roots[number]
        assert (await tools.doctor(repair=False)).findings == []
        assert not reading.done(), reading.exception()
    assert await search(tools, snapshots)
    reading.cancel()
    await asyncio.gather(reading, return_exceptions=True)
    return broken, answers


def kill(tmp_path: Path, neo4j: Neo4jServer, opensearch: OpenSearchServer, victim: str) -> None:
    estate = write_estate(tmp_path / "estate", version(0))
    roots = []
    with running(tmp_path / "expected") as local:
        for number in range(KILLS + 1):
            renew(estate, number)
            roots.append(local.publish(estate).content_root)
    renew(estate, 0)
    user, password = neo4j.auth
    settings = Settings(
        neo4j_url=neo4j.uri,
        neo4j_user=user,
        neo4j_password=SecretStr(password),
        opensearch_url=opensearch.url,
        engine_prefix=f"test-{uuid.uuid4().hex[:8]}",
        publish_batch=4,
        publish_text_batch=4,
        publish_lease=4,
        request_deadline=60_000,
        lexical_deadline=20_000,
        vector_deadline=20_000,
        graph_deadline=20_000,
    )
    with running(tmp_path / "data", settings) as real:
        server = neo4j if victim == "neo4j" else opensearch
        work = kill_during_publishes(real.tools, server, estate, roots, seed=7)
        broken, answers = real.runner.run(work)
    print(f"{victim}: {KILLS} kills, {broken} publishes broken off, {answers} answers")
    assert broken
    assert answers


def test_neo4j(tmp_path: Path, neo4j: Neo4jServer, opensearch: OpenSearchServer) -> None:
    kill(tmp_path, neo4j, opensearch, "neo4j")


def test_opensearch(tmp_path: Path, neo4j: Neo4jServer, opensearch: OpenSearchServer) -> None:
    kill(tmp_path, neo4j, opensearch, "opensearch")
