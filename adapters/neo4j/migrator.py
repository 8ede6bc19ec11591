"""Brings a Neo4j to the schema that this version needs."""

import asyncio
from datetime import UTC, datetime
from typing import Any

from neo4j import AsyncDriver
from neo4j.exceptions import Neo4jError
from tenacity import AsyncRetrying, retry_if_exception, wait_random_exponential

from adapters.neo4j.connection import ENGINE, engine_errors
from migrations import Migration, load_migrations, pending

_OWN_CONSTRAINT = "CREATE CONSTRAINT migration_number IF NOT EXISTS FOR (m:Migration) REQUIRE m.number IS UNIQUE"
_APPLIED = "MATCH (m:Migration) RETURN m.number, m.checksum"
_RECORD = (
    "MERGE (m:Migration {number: $number}) "
    "ON CREATE SET m.name = $name, m.checksum = $checksum, m.appliedAt = $applied_at"
)
_EDITION = "CALL dbms.components() YIELD name, edition WHERE name = 'Neo4j Kernel' RETURN edition"
_AWAIT_INDEXES = "CALL db.awaitIndexes($seconds)"
_MADE_MEANWHILE = "Neo.ClientError.Schema.EquivalentSchemaRuleAlreadyExists"
"""IF NOT EXISTS looks before the lock is held: the slower of two starters may hear this of the very same rule."""


class Neo4jMigrator:
    """Every statement says IF NOT EXISTS and every record is merged: two that start at once do the same work twice."""

    def __init__(self, driver: AsyncDriver, *, database: str = "neo4j", seconds: float = 120.0) -> None:
        self._driver = driver
        self._database = database
        self._seconds = seconds

    @property
    def engine(self) -> str:
        return ENGINE

    async def plan(self) -> tuple[Migration, ...]:
        """What `apply` would do. Raises MigrationConflict."""
        applied = dict(await self._run(_APPLIED))
        ((edition,),) = await self._run(_EDITION)
        return pending(load_migrations(ENGINE), applied, edition=edition)

    async def apply(self) -> tuple[Migration, ...]:
        """Do what is pending, in order, and wait until the indexes answer. Raises MigrationConflict."""
        todo = await self.plan()
        if todo:
            await self._run(_OWN_CONSTRAINT)
        for migration in todo:
            for statement in statements(migration.text):
                await self._run(statement)
            await self._run(
                _RECORD,
                number=migration.number,
                name=migration.name,
                checksum=migration.checksum,
                applied_at=datetime.now(UTC).isoformat(timespec="seconds"),
            )
        await self._run(_AWAIT_INDEXES, seconds=int(self._seconds))
        return todo

    async def _run(self, text: str, **parameters: str | int) -> list[tuple[Any, ...]]:
        """A schema statement has a transaction of its own; where two starters lock each other out, one tries again."""
        again = AsyncRetrying(
            retry=retry_if_exception(lambda error: isinstance(error, Neo4jError) and error.is_retryable()),
            wait=wait_random_exponential(multiplier=0.05, max=1.0),
        )
        with engine_errors():
            async with asyncio.timeout(self._seconds):
                async for attempt in again:
                    with attempt:
                        try:
                            records, _, _ = await self._driver.execute_query(
                                text, dict(parameters), database_=self._database
                            )
                        except Neo4jError as error:
                            if error.code != _MADE_MEANWHILE:
                                raise
                            records = []
        return [tuple(record) for record in records]


def statements(text: str) -> list[str]:
    """The statements of a file: each ends with a semicolon at a line's end; lines of comment are left out."""
    code = "\n".join(line for line in text.splitlines() if not line.startswith("//"))
    return [statement for part in code.split(";\n") if (statement := part.strip().removesuffix(";"))]
