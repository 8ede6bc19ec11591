"""GraphReader over the embedded graph: guarded queries and the service's own statements, and nothing else."""

import datetime
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

import kglite

from adapters.embedded.live_graph import LiveGraph
from adapters.embedded.projection import ENGINE, STORED_TYPE
from adapters.embedded.threads import EngineThreads, engine_failure
from adapters.indexing.moments import shortest_moment
from adapters.indexing.stored_passage import engine_text
from cypher_guard import LANGUAGE_PREFIX, GuardedQuery
from service.domain.deadline import Deadline
from service.domain.errors import EngineLate
from service.observation import Reading
from service.ports import Rows
from service.statements import NODE_COLUMNS, ServiceStatement

_NODES_BY_KEY = (
    "UNWIND $keys AS key MATCH (n:Node {key: key}) WHERE any(a IN n.visibleTo WHERE a IN $audiences) RETURN "
    + ", ".join(f"n.{name} AS {name}" for name in NODE_COLUMNS)
)

# Quoted names, which stay as they are, and the look-up of a property. Neither the guard's renderings nor the catalogue
# hold a string or a comment in which the same could stand.
_NAME_OR_TYPE = re.compile(r"(`(?:[^`]|``)*`)|\.type\b(?!\()")


class EmbeddedGraphReader:
    """Reads what `live` gives at the moment of the call, to the end."""

    def __init__(self, live: Callable[[], LiveGraph], *, workers: int = 2, waiting: int = 64) -> None:
        self._live = live
        self._threads = EngineThreads(ENGINE, workers=workers, waiting=waiting, is_own=_is_own)

    @property
    def engine(self) -> str:
        return ENGINE

    async def run(self, query: GuardedQuery | ServiceStatement, *, deadline: Deadline) -> Rows:
        """TypeError for anything that neither the guard nor the catalogue made: text alone never runs."""
        if isinstance(query, ServiceStatement):
            return await self._threads.run(lambda: _answer(self._live(), query, deadline), deadline)
        if isinstance(query, GuardedQuery):
            return await self._threads.run(lambda: _guarded(self._live(), query, deadline), deadline)
        raise TypeError("the graph runs guarded queries and catalogued statements only")

    async def check(self, deadline: Deadline) -> None:
        await self._threads.run(
            lambda: _rows(self._live(), "MATCH (n:Node) RETURN count(n) AS total", {}, deadline), deadline
        )

    def readings(self) -> Iterator[Reading]:
        """How long its queue is."""
        yield from self._threads.readings("reading")

    async def close(self) -> None:
        await self._threads.close()


def _is_own(error: Exception) -> bool:
    return isinstance(error, kglite.KgError)


def _guarded(live: LiveGraph, query: GuardedQuery, deadline: Deadline) -> Rows:
    """One row more than the limit was asked for: it says that the answer is cut."""
    text = _in_stored_names(query.text.removeprefix(LANGUAGE_PREFIX))
    found = _rows(live, text, query.params, deadline)
    return Rows(query.columns, found.rows[: query.limit], truncated=len(found.rows) > query.limit)


def _answer(live: LiveGraph, statement: ServiceStatement, deadline: Deadline) -> Rows:
    """The catalogue's text as it stands, but for the statements that stand on Neo4j's full-text indexes."""
    match statement.name:
        case "nodes_by_title":
            return _by_title(live, statement.parameters, deadline)
        case "nodes_by_name":
            return _by_name(live, statement.parameters, deadline)
        case "nodes_by_alias":
            return _by_alias(live, statement.parameters, deadline)
        case "node_properties":
            return _properties(live, statement, deadline)
        case _:
            return _rows(live, _in_stored_names(statement.text), statement.parameters, deadline)


def _by_title(live: LiveGraph, parameters: Mapping[str, Any], deadline: Deadline) -> Rows:
    found = live.titles.by_title(parameters["text"], parameters["audiences"], parameters["limit"])
    nodes = _nodes(live, [key for key, _ in found], parameters["audiences"], deadline)
    return Rows((*NODE_COLUMNS, "score"), tuple((*nodes[key], score) for key, score in found if key in nodes))


def _by_name(live: LiveGraph, parameters: Mapping[str, Any], deadline: Deadline) -> Rows:
    text, audiences = parameters["text"], parameters["audiences"]
    found = live.names.by_name(text, audiences, parameters["limit"], typos=parameters["typos"])
    nodes = _nodes(live, [key for key, _ in found], audiences, deadline)
    aliases = live.names.aliases
    return Rows(
        (*NODE_COLUMNS, "aliases", "score"),
        tuple((*nodes[key], aliases(key), score) for key, score in found if key in nodes),
    )


def _by_alias(live: LiveGraph, parameters: Mapping[str, Any], deadline: Deadline) -> Rows:
    found = [
        (key, alias) for alias in parameters["aliases"] for key in live.titles.by_alias(alias, parameters["audiences"])
    ]
    nodes = _nodes(live, [key for key, _ in found], parameters["audiences"], deadline)
    return Rows((*NODE_COLUMNS, "alias"), tuple((*nodes[key], alias) for key, alias in sorted(found) if key in nodes))


def _properties(live: LiveGraph, statement: ServiceStatement, deadline: Deadline) -> Rows:
    """As they are named outside, without the engine's own row number and ours of `type`."""
    rows = _rows(live, statement.text, statement.parameters, deadline)
    inner = ("id", STORED_TYPE)
    return Rows(
        rows.columns,
        tuple(({name: value for name, value in row[0].items() if name not in inner},) for row in rows.rows),
    )


def _nodes(
    live: LiveGraph, keys: Sequence[str], audiences: Sequence[str], deadline: Deadline
) -> dict[str, tuple[Any, ...]]:
    """The display columns of the visible ones among these nodes, by key."""
    if not keys:
        return {}
    parameters = {"keys": list(dict.fromkeys(keys)), "audiences": list(audiences)}
    rows = _rows(live, _in_stored_names(_NODES_BY_KEY), parameters, deadline).rows
    return {row[0]: row for row in rows}


def _rows(live: LiveGraph, text: str, parameters: Mapping[str, Any], deadline: Deadline) -> Rows:
    milliseconds = int(deadline.seconds_left * 1000)
    if milliseconds < 1:
        raise EngineLate(ENGINE)
    try:
        answer = live.projection.run(text, _storable(parameters), milliseconds=milliseconds)
    except kglite.CypherTimeoutError:
        raise EngineLate(ENGINE) from None
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        # What the engine says of a parameter that it can't hold.
        raise engine_failure(ENGINE, error) from error
    return Rows(answer.columns, tuple(tuple(_plain(value) for value in row) for row in answer.rows))


@lru_cache(maxsize=1_024)
def _in_stored_names(text: str) -> str:
    """A rendering of the guard's, or a statement of the catalogue, with `type` read where it is stored."""
    return _NAME_OR_TYPE.sub(lambda found: found[1] or f".{STORED_TYPE}", text)


def _storable(value: Any) -> Any:
    """Parameters as the engine takes them."""
    if isinstance(value, str):
        return engine_text(value)
    if isinstance(value, Mapping):
        return {name: _storable(item) for name, item in value.items()}
    if isinstance(value, Sequence):
        return [_storable(item) for item in value]
    return value


def _plain(value: Any) -> Any:
    """JSON values only."""
    if isinstance(value, datetime.date | datetime.time):
        return shortest_moment(value.isoformat())
    if isinstance(value, datetime.timedelta):
        return value.total_seconds()
    if isinstance(value, dict):
        return {str(name): _plain(item) for name, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value
