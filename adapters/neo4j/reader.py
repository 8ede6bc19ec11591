"""GraphReader over Bolt: read access mode, a timeout on the server, and a wall clock of our own that needs neither."""

import asyncio
import contextlib
import uuid
from collections.abc import Mapping, Sequence
from typing import Any

from neo4j import READ_ACCESS, AsyncDriver, Query

from adapters.indexing.analysis import query_terms
from adapters.indexing.stored_passage import engine_text
from adapters.neo4j.connection import ENGINE, engine_errors
from adapters.neo4j.values import to_parameter, to_plain
from cypher_guard import GuardedQuery
from service.domain.deadline import Deadline
from service.domain.errors import EngineLate, EngineUnavailable
from service.ports import Rows
from service.statements import ServiceStatement

_TERMINATE = (
    "SHOW TRANSACTIONS YIELD transactionId AS id, metaData WHERE metaData.run = $run "
    "TERMINATE TRANSACTIONS id YIELD message RETURN message"
)


class Neo4jGraphReader:
    """Reads in auto-commit transactions, one round trip each.

    terminate_seconds: how long a transaction that the caller gave up may be chased on the server.
    terminations: how many may be chased at once; beyond it the closed connection and the server's timeout must do.
    """

    def __init__(
        self,
        driver: AsyncDriver,
        *,
        database: str = "neo4j",
        terminate_seconds: float = 5.0,
        terminations: int = 8,
    ) -> None:
        self._driver = driver
        self._database = database
        self._terminate_seconds = terminate_seconds
        self._most_terminations = terminations
        self._terminations: set[asyncio.Task[None]] = set()

    @property
    def engine(self) -> str:
        return ENGINE

    async def run(self, query: GuardedQuery | ServiceStatement, *, deadline: Deadline) -> Rows:
        """TypeError for anything that neither the guard nor the catalogue made: text alone never runs."""
        if isinstance(query, GuardedQuery):
            _, rows = await self._read(query.text, query.params, deadline)
            return Rows(query.columns, tuple(rows[: query.limit]), truncated=len(rows) > query.limit)
        if isinstance(query, ServiceStatement):
            parameters = query.parameters
            if query.name == "nodes_by_title":
                parameters = {**parameters, "text": full_text_query(parameters["text"])}
                if not parameters["text"]:
                    return Rows((), ())
            columns, rows = await self._read(query.text, parameters, deadline)
            return Rows(columns, tuple(rows))
        raise TypeError("the graph runs guarded queries and catalogued statements only")

    async def check(self, deadline: Deadline) -> None:
        await self._read("RETURN 1", {}, deadline)

    async def close(self) -> None:
        """Wait for the terminations that are under way; the driver is its opener's to close."""
        await asyncio.gather(*self._terminations, return_exceptions=True)

    async def _read(
        self, text: str, parameters: Mapping[str, Any], deadline: Deadline
    ) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        if deadline.has_passed:
            raise EngineLate(ENGINE)
        run = uuid.uuid4().hex
        # The text is the guard's rendering or the catalogue's, never a caller's.
        query = Query(text, metadata={"run": run}, timeout=deadline.seconds_left)
        with engine_errors():
            try:
                async with asyncio.timeout(deadline.seconds_left):
                    return await self._rows(query, parameters)
            except TimeoutError:
                self._terminate(run)
                raise

    async def _rows(self, query: Query, parameters: Mapping[str, Any]) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Cancelled, it drops the connection at once: no goodbye that the server may be too busy to answer."""
        async with self._driver.session(
            database=self._database, default_access_mode=READ_ACCESS, fetch_size=-1
        ) as session:
            result = await session.run(query, to_parameter(parameters))
            columns = tuple(result.keys())
            return columns, [tuple(to_plain(value) for value in record) async for record in result]

    def _terminate(self, run: str) -> None:
        """Chase the transaction in the background: its caller has waited long enough."""
        if len(self._terminations) < self._most_terminations:
            task = asyncio.create_task(self._terminate_now(run))
            self._terminations.add(task)
            task.add_done_callback(self._terminations.discard)

    async def _terminate_now(self, run: str) -> None:
        with contextlib.suppress(EngineUnavailable), engine_errors():
            async with (
                asyncio.timeout(self._terminate_seconds),
                self._driver.session(database=self._database) as session,
            ):
                await (await session.run(_TERMINATE, run=run)).consume()


def full_text_query(text: str) -> str:
    """The text's terms as a Lucene query without syntax: each is quoted, any of them suffices."""
    forms: Sequence[str] = [form for term in query_terms(text) for form in term.forms]
    return " ".join('"' + engine_text(form).replace("\\", "\\\\").replace('"', '\\"') + '"' for form in forms)
