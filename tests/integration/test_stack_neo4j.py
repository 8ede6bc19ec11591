"""The real Neo4j as the stack starts it."""

import neo4j
import pytest

from tests.engines import Neo4jAddress

pytestmark = [pytest.mark.engines, pytest.mark.timeout(300)]


def test_neo4j_answers_only_to_its_password(neo4j_server: Neo4jAddress) -> None:
    with neo4j.GraphDatabase.driver(neo4j_server.uri, auth=neo4j_server.auth) as driver:
        records, _, _ = driver.execute_query(
            "CALL dbms.components() YIELD versions, edition RETURN versions[0], edition"
        )
    assert records[0].values() == ["2026.08.1", "community"]
    stranger = neo4j.GraphDatabase.driver(neo4j_server.uri, auth=("neo4j", "neo4j"))
    with stranger, pytest.raises(neo4j.exceptions.AuthError):
        stranger.verify_connectivity()
