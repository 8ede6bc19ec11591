"""API keys beside the graph in Neo4j: no query of a caller reaches them, and no publish touches them."""

from datetime import UTC, datetime

import pytest
from pydantic import SecretStr

from cypher_guard.violation import Violation
from service import bootstrap
from service.domain.deadline import Deadline
from service.domain.keys import mint
from service.domain.principal import Principal, Scope
from service.domain.requests import GraphQueryRequest, PublishRequest, SchemaRequest
from service.tools import catalogue
from tests.application import PAGES, write_estate
from tests.neo4j_database import empty_database
from tests.surfaces.serving import PATIENT

pytestmark = [pytest.mark.engines, pytest.mark.anyio, pytest.mark.timeout(300)]

EVERYTHING = Principal("all", frozenset({"staff", "*", "null", ""}), frozenset(Scope))
REACHING = (
    "MATCH (n) RETURN properties(n)",
    "MATCH (n) RETURN n",
    "MATCH (n) RETURN count(n), collect(labels(n))",
    "MATCH (n) WHERE n.uid IS NULL RETURN n",
    "OPTIONAL MATCH (n) WHERE n.uid IS NULL RETURN labels(n), n",
    "MATCH (n) WHERE NOT n:Node RETURN labels(n)",
    "MATCH (a)--(b) RETURN a, b",
    "MATCH (a:Page) WHERE EXISTS { MATCH (k) WHERE k.uid IS NULL } RETURN a.uid",
    "MATCH (a:Page) RETURN COUNT { MATCH (k) WHERE k.uid IS NULL } AS n",
)
REFUSED = (
    "MATCH (k:ApiKey) RETURN k",
    "MATCH (k:Node|ApiKey) RETURN k",
    "MATCH (n) WHERE n:ApiKey RETURN n",
    "MATCH (n) RETURN n.body",
    "MATCH (n) RETURN n.id",
    "MATCH (n) RETURN n['body']",
)


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def test_no_query_reaches_a_key_and_no_publish_takes_one_away(neo4j_server, tmp_path):
    settings = PATIENT.model_copy(
        update={
            "neo4j_url": neo4j_server.uri,
            "neo4j_user": neo4j_server.user,
            "neo4j_password": SecretStr(neo4j_server.password),
        }
    )
    soon = Deadline.after(60_000)
    key, _ = mint("reachable", frozenset({Scope.SEARCH}), frozenset({"staff"}), now=datetime.now(UTC), expires_at=None)
    async with (
        empty_database(neo4j_server),
        bootstrap.open_keys(settings, tmp_path / "data") as keys,
        bootstrap.open_toolbox(settings, tmp_path / "data") as toolbox,
    ):
        await keys.add(key, deadline=soon)
        estate = write_estate(tmp_path / "estate", PAGES)
        published = await toolbox.publish(PublishRequest(paths=[str(estate)]))
        for cypher in REACHING:
            answer = await toolbox.call(catalogue.GRAPH_QUERY, GraphQueryRequest(cypher=cypher), EVERYTHING)
            told = str(answer.rows)
            for secret in (key.id, key.hash.hex(), "reachable", "ApiKey"):
                assert secret not in told, cypher
            if "IS NULL" in cypher and "COUNT {" not in cypher:
                assert answer.rows in ([], [[None, None]]), cypher
        for cypher in REFUSED:
            with pytest.raises(Violation):
                await toolbox.call(catalogue.GRAPH_QUERY, GraphQueryRequest(cypher=cypher), EVERYTHING)
        schema = await toolbox.call(catalogue.SCHEMA, SchemaRequest(), EVERYTHING)
        assert "ApiKey" not in str(schema)
        (estate / "colours.md").unlink()
        await toolbox.publish(PublishRequest(paths=[str(estate)]))
        await toolbox.rollback(published.content_root)
        assert (await toolbox.doctor(repair=True)).healthy
        assert await keys.all(deadline=soon) == [key]
