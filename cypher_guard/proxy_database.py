"""A Neo4j behind the guard: READ access, a server-side timeout, and a wall clock of the client's own."""

import asyncio
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from time import perf_counter
from types import TracebackType
from typing import Any, Self

from neo4j import READ_ACCESS, AsyncDriver, AsyncGraphDatabase, Query
from neo4j.exceptions import DriverError, Neo4jError
from neo4j.graph import Entity, Path
from neo4j.spatial import Point
from neo4j.time import Date, DateTime, Duration, Time

from cypher_guard.guarded_query import GuardedQuery
from cypher_guard.profile import Profile
from cypher_guard.violation import Violation

CONNECTIONS = 8
SCHEMA_BYTES = 4 * 1024 * 1024
CONNECT_TIMEOUT_SECONDS = 10.0


class SchemaStatement(Enum):
    """What is asked of the catalogue; no procedure is open to a caller."""

    LABELS = "CALL db.labels() YIELD label RETURN label ORDER BY label LIMIT $limit"
    EDGE_TYPES = "CALL db.relationshipTypes() YIELD relationshipType AS type RETURN type ORDER BY type LIMIT $limit"


class DatabaseRefused(Exception):
    """The database answered with an error.

    Only its code is kept: a message can quote values of the graph.
    """

    def __init__(self, code: str) -> None:
        super().__init__(f"the database refused the query ({code})")
        self.code = code


@dataclass(frozen=True, slots=True)
class Answer:
    """rows: lists in the order of columns, of JSON values. truncated: more rows, or more bytes, were there."""

    columns: tuple[str, ...]
    rows: list[list[Any]]
    truncated: bool
    took_ms: float


class GuardedDatabase:
    """Runs guarded queries: `async with GuardedDatabase(uri, user, password) as database`."""

    def __init__(self, uri: str, user: str, password: str, *, database: str | None = None) -> None:
        self._driver: AsyncDriver = AsyncGraphDatabase.driver(
            uri,
            auth=(user, password),
            max_connection_pool_size=CONNECTIONS,
            connection_acquisition_timeout=CONNECT_TIMEOUT_SECONDS,
            connection_timeout=CONNECT_TIMEOUT_SECONDS,
            notifications_min_severity="OFF",
        )
        self._database = database

    async def __aenter__(self) -> Self:
        await self._driver.verify_connectivity()
        return self

    async def __aexit__(
        self, _type: type[BaseException] | None, _error: BaseException | None, _trace: TracebackType | None
    ) -> None:
        await self._driver.close()

    async def run(self, query: GuardedQuery, profile: Profile) -> Answer:
        """The answer within the profile's time, rows and bytes.

        Raises Violation (`timeout`) and DatabaseRefused. A query that the server doesn't end in time loses
        its connection: the caller never waits for the server to agree.
        """
        return await self._fetch(
            query.text,
            query.params,
            limit=query.limit,
            timeout_ms=profile.timeout_ms,
            max_bytes=profile.max_result_bytes,
        )

    async def run_statement(self, statement: SchemaStatement, *, limit: int, timeout_ms: int) -> Answer:
        """The answer to one of the statements that this package holds itself."""
        return await self._fetch(
            statement.value, {"limit": limit}, limit=limit, timeout_ms=timeout_ms, max_bytes=SCHEMA_BYTES
        )

    async def _fetch(
        self, text: str, params: Mapping[str, object], *, limit: int, timeout_ms: int, max_bytes: int
    ) -> Answer:
        started = perf_counter()
        rows: list[list[Any]] = []
        columns: tuple[str, ...] = ()
        truncated = False
        # The text is the guard's rendering or a constant of this package, which the type cannot know.
        statement = Query(text, timeout=timeout_ms / 1000)
        try:
            async with asyncio.timeout(timeout_ms / 1000):
                async with self._driver.session(database=self._database, default_access_mode=READ_ACCESS) as session:
                    result = await session.run(statement, dict(params))
                    columns = tuple(result.keys())
                    size = 0
                    async for record in result:
                        row = [plain(value) for value in record.values()]
                        size += len(json.dumps(row, ensure_ascii=False).encode())
                        if len(rows) == limit or size > max_bytes:
                            truncated = True
                            break
                        rows.append(row)
        except TimeoutError:
            raise _timeout(timeout_ms) from None
        except Neo4jError as error:
            code = error.code
            if code.endswith(("TransactionTimedOut", "TransactionTimedOutClientConfiguration", ".Terminated")):
                raise _timeout(timeout_ms) from None
            raise DatabaseRefused(code) from None
        except DriverError as error:
            raise DatabaseRefused(type(error).__name__) from None
        return Answer(columns, rows, truncated, round((perf_counter() - started) * 1000, 3))


def _timeout(timeout_ms: int) -> Violation:
    return Violation(
        "timeout",
        f"the database did not answer within {timeout_ms} ms",
        suggestion="Anchor the pattern on a label and a property, or take fewer hops.",
    )


def plain(value: object) -> Any:
    """A value of the driver as JSON; raises DatabaseRefused for a graph entity, which must leave as a map."""
    if value is None or isinstance(value, (bool, int, str)):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else str(value)
    if isinstance(value, (Entity, Path)):
        raise DatabaseRefused(f"a whole {type(value).__name__} came back")
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (Date, DateTime, Time, Duration)):
        return value.iso_format()
    if isinstance(value, Point):
        return {"srid": value.srid, "coordinates": list(value)}
    if isinstance(value, (bytes, bytearray)):
        return value.hex()
    if isinstance(value, Sequence):
        return [plain(item) for item in value]
    raise DatabaseRefused(f"a {type(value).__name__} has no plain form")
