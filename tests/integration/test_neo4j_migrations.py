"""The schema on a real Neo4j."""

import asyncio

import neo4j
import pytest

from adapters.neo4j.connection import open_driver
from adapters.neo4j.migrator import Neo4jMigrator, statements
from migrations import MigrationConflict, load_migrations
from tests.engines import Neo4jAddress

pytestmark = pytest.mark.engines


def test_two_that_start_at_once_leave_one_schema(neo4j_server: Neo4jAddress):
    async def work() -> tuple[list[int], int]:
        async with open_driver(neo4j_server.uri, *neo4j_server.auth) as driver:
            await forget(driver)
            await asyncio.gather(*(Neo4jMigrator(driver).apply() for _ in range(4)))
            rows, _, _ = await driver.execute_query("MATCH (m:Migration) RETURN m.number AS number ORDER BY number")
            return [row["number"] for row in rows], len(await Neo4jMigrator(driver).plan())

    recorded, left = asyncio.run(work())
    assert recorded == [m.number for m in load_migrations("neo4j") if not m.edition]
    assert left == 0


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


def test_a_file_changed_after_it_was_applied_is_noticed(neo4j_server: Neo4jAddress):
    async def work() -> None:
        async with open_driver(neo4j_server.uri, *neo4j_server.auth) as driver:
            await Neo4jMigrator(driver).apply()
            await driver.execute_query("MATCH (m:Migration {number: 1}) SET m.checksum = 'other'")
            try:
                await Neo4jMigrator(driver).plan()
            finally:
                await forget(driver)

    with pytest.raises(MigrationConflict, match=r"migration 1 \(graph\) was changed"):
        asyncio.run(work())


def test_comments_and_semicolons_part_a_file_into_its_statements():
    text = "// a; b\nCREATE INDEX a;\n\nCREATE INDEX b\nOPTIONS {};\n"
    assert statements(text) == ["CREATE INDEX a", "CREATE INDEX b\nOPTIONS {}"]


async def forget(driver: neo4j.AsyncDriver) -> None:
    """The schema stays, the record of it goes: as after a start that was killed half way."""
    await driver.execute_query("MATCH (m:Migration) DELETE m")
