"""A Neo4j as a test finds it: migrated and empty."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from neo4j import AsyncDriver

from adapters.neo4j.connection import open_driver
from adapters.neo4j.migrator import Neo4jMigrator
from tests.engines import Neo4jAddress


@asynccontextmanager
async def empty_database(address: Neo4jAddress) -> AsyncIterator[AsyncDriver]:
    """A driver whose database holds the schema and no node but the record of it."""
    async with open_driver(address.uri, *address.auth) as driver:
        async with driver.session() as session:
            result = await session.run(
                "MATCH (n) WHERE NOT n:Migration CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 10000 ROWS"
            )
            await result.consume()
        await driver.execute_query(
            "CALL gds.graph.list() YIELD graphName CALL gds.graph.drop(graphName) YIELD nodeCount RETURN count(*)"
        )
        await Neo4jMigrator(driver).apply()
        yield driver
