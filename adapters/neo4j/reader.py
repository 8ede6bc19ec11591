"""GraphReader over Bolt: read access mode, a timeout on the server, and a wall clock of our own that needs neither."""

import asyncio
import contextlib
import uuid
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from neo4j import READ_ACCESS, AsyncDriver, Query

from adapters.indexing.analysis import query_terms
from adapters.indexing.stored_passage import engine_text
from adapters.neo4j.connection import ENGINE, engine_errors
from adapters.neo4j.values import NAME_AUDIENCES, NAME_BEGINNINGS, to_parameter, to_plain, whole_word
from cypher_guard import GuardedQuery
from service.domain.deadline import Deadline
from service.domain.errors import EngineLate, EngineUnavailable
from service.domain.names import edits_forgiven, typed_words
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
            if query.name in FULL_TEXT:
                parameters = {**parameters, "text": FULL_TEXT[query.name](parameters)}
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


def title_query(parameters: Mapping[str, Any]) -> str:
    """The text's terms as a Lucene query without syntax: each is quoted, any of them suffices."""
    forms: Sequence[str] = [form for term in query_terms(parameters["text"]) for form in term.forms]
    return " ".join('"' + engine_text(form).replace("\\", "\\\\").replace('"', '\\"') + '"' for form in forms)


def name_query(parameters: Mapping[str, Any]) -> str:
    """A Lucene query that every word of the text must begin a word of, and that the audiences must be let see.

    Typed words are folded letters and digits, and audiences hexadecimal: neither can be syntax.
    """
    words = [_beginning(word, typos=parameters["typos"]) for word in typed_words(parameters["text"])]
    audiences = " ".join(map(whole_word, parameters["audiences"]))
    return f"{' '.join(words)} +{NAME_AUDIENCES}:({audiences})" if words and audiences else ""


def _beginning(word: str, *, typos: bool) -> str:
    edits = edits_forgiven(word) if typos else 0
    near = f" {word}~{edits}" if edits else ""
    return f"+{NAME_BEGINNINGS}:({word}{near})"


def alias_query(parameters: Mapping[str, Any]) -> str:
    """Hexadecimal words, any of which suffices."""
    return " ".join(map(whole_word, parameters["aliases"]))


FULL_TEXT: Mapping[str, Callable[[Mapping[str, Any]], str]] = {
    "nodes_by_title": title_query,
    "nodes_by_name": name_query,
    "nodes_by_alias": alias_query,
}
"""Statements that stand on a full-text index, with what makes its query from their parameters."""
