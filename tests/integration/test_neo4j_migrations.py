"""The schema on a real Neo4j."""

import asyncio

import neo4j
import pytest

from adapters.neo4j.connection import open_driver
from adapters.neo4j.migrator import Neo4jMigrator, statements
from migrations import Migration
from tests.engines import Neo4jAddress

pytestmark = pytest.mark.engines


def test_an_identity_is_one_node(neo4j_server: Neo4jAddress):
    async def work() -> None:
        async with open_driver(neo4j_server.uri, *neo4j_server.auth) as driver:
            await Neo4jMigrator(driver).apply()
            await driver.execute_query("CREATE (:Node {key: 'twice', uid: 'twice', locale: 'en-us'})")
            try:
                await driver.execute_query("CREATE (:Node {key: 'other', uid: 'twice', locale: 'en-us'})")
            finally:
                await driver.execute_query("MATCH (n:Node {uid: 'twice'}) DELETE n")

    with pytest.raises(neo4j.exceptions.ConstraintError):
        asyncio.run(work())


def test_comments_and_semicolons_part_a_file_into_its_statements():
    text = "// a; b\nCREATE INDEX a;\n\nCREATE INDEX b\nOPTIONS {};\n"
    assert statements(text) == ["CREATE INDEX a", "CREATE INDEX b\nOPTIONS {}"]


def test_a_rule_that_another_starter_made_in_between_is_as_good_as_ones_own(
    neo4j_server: Neo4jAddress, monkeypatch: pytest.MonkeyPatch
):
    """Without IF NOT EXISTS the server says of a rule that is there what it says of one that was made meanwhile."""
    rules = "CREATE INDEX raced FOR (r:Raced) ON (r.name);\n"
    raced = Migration(9_999, "raced", "", rules)
    monkeypatch.setattr("adapters.neo4j.migrator.load_migrations", lambda _engine: (raced,))
    monkeypatch.setattr("adapters.neo4j.migrator.pending", lambda *_known, **_more: (raced,))

    async def work() -> None:
        async with open_driver(neo4j_server.uri, *neo4j_server.auth) as driver:
            try:
                await driver.execute_query(rules.removesuffix(";\n"))
                assert await Neo4jMigrator(driver).apply() == (raced,)
            finally:
                await driver.execute_query("DROP INDEX raced IF EXISTS")
                await driver.execute_query("MATCH (m:Migration {number: 9999}) DELETE m")

    asyncio.run(work())
