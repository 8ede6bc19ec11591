"""What is told of work as it is done: one port, behind which metrics count and traces show.

Work is named from closed sets, so that it can be a label. What a caller said reaches an observer by `quote` alone.
"""

import asyncio
import uuid
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import Protocol

from cypher_guard import Violation
from service.domain.diagnostics import Severity
from service.domain.errors import EngineLate, Refused, Unavailable

Fact = str | int | float | bool


class Kind(StrEnum):
    """From the outside in: a request is answered by tools, a tool works in stages, a stage calls engines."""

    REQUEST = "request"
    TOOL = "tool"
    STAGE = "stage"
    ENGINE = "engine"


@dataclass(frozen=True, slots=True)
class Work:
    """A piece of work. `operation` is what an engine is asked to do; `parent` the W3C trace context, as headers, of
    whoever asks from outside."""

    kind: Kind
    name: str
    operation: str = ""
    parent: Mapping[str, str] | None = None


class Piece(Protocol):
    """A piece of work under way."""

    def note(self, name: str, value: Fact) -> None:
        """A fact of ours, by its name in OpenTelemetry's conventions where they have one."""
        ...

    def quote(self, text: str) -> None:
        """The caller's own words, which nothing keeps unless a setting says so."""
        ...


class Observer(Protocol):
    """Told when work begins and how it ends. Never blocks, never raises, and lets every exception pass."""

    def observe(self, work: Work) -> AbstractContextManager[Piece]: ...


def findings_fact(severity: Severity) -> str:
    """The name under which a publish notes how many findings of one severity it had."""
    return f"cogitave_query.findings.{severity.value}"


def outcome(error: type[BaseException] | None) -> str:
    """How work ended, from a closed set, by what it raised."""
    if error is None:
        return "done"
    return next((name for kind, name in _OUTCOMES if issubclass(error, kind)), "failed")


_OUTCOMES: tuple[tuple[type[BaseException], str], ...] = (
    (EngineLate, "late"),
    (TimeoutError, "late"),
    (Unavailable, "unavailable"),
    (Refused, "refused"),
    (Violation, "refused"),
    (asyncio.CancelledError, "cancelled"),
    (GeneratorExit, "cancelled"),
)

OUTCOMES = ("done", *dict.fromkeys(name for _, name in _OUTCOMES), "failed")


class _Unobserved:
    """Work that nobody watches."""

    def note(self, name: str, value: Fact) -> None: ...

    def quote(self, text: str) -> None: ...

    def __enter__(self) -> Piece:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...


class _Silent:
    _PIECE = _Unobserved()

    def observe(self, work: Work) -> AbstractContextManager[Piece]:  # noqa: ARG002
        return self._PIECE


SILENT: Observer = _Silent()
"""Watches nothing."""


class Both:
    """Two observers as one; the second stands inside the first."""

    def __init__(self, first: Observer, second: Observer) -> None:
        self._first = first
        self._second = second

    def observe(self, work: Work) -> AbstractContextManager[Piece]:
        return _Pair(self._first.observe(work), self._second.observe(work))


class _Pair:
    __slots__ = ("_first", "_pieces", "_second")

    def __init__(self, first: AbstractContextManager[Piece], second: AbstractContextManager[Piece]) -> None:
        self._first = first
        self._second = second

    def __enter__(self) -> Piece:
        self._pieces = self._first.__enter__(), self._second.__enter__()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._second.__exit__(kind, error, trace)
        self._first.__exit__(kind, error, trace)

    def note(self, name: str, value: Fact) -> None:
        for piece in self._pieces:
            piece.note(name, value)

    def quote(self, text: str) -> None:
        for piece in self._pieces:
            piece.quote(text)


@dataclass(frozen=True, slots=True)
class Reading:
    """A number that is read off when somebody asks, such as a queue's length. A total only ever grows."""

    name: str
    value: float
    labels: tuple[tuple[str, str], ...] = ()
    is_total: bool = False


Readings = Callable[[], Iterable[Reading]]


@dataclass(slots=True)
class Lookups:
    """How often a cache held what was looked up, and how often not."""

    found: int = 0
    missed: int = 0

    def readings(self, cache: str) -> Iterator[Reading]:
        for result, times in (("hit", self.found), ("miss", self.missed)):
            yield Reading("cogitave_query_cache_lookups", times, (("cache", cache), ("result", result)), is_total=True)


class _Run:
    __slots__ = ("claimed", "id")

    def __init__(self, *, claimed: bool) -> None:
        self.id = uuid.uuid4().hex
        self.claimed = claimed


_run: ContextVar[_Run | None] = ContextVar("run", default=None)


def run_id() -> str:
    """The run that this work belongs to; a new one's where it belongs to none."""
    current = _run.get()
    return current.id if current is not None else uuid.uuid4().hex


def known_run_id() -> str | None:
    """The same for a log, which makes up none."""
    current = _run.get()
    return current.id if current is not None else None


@contextmanager
def request_run() -> Iterator[None]:
    """All that is done inside belongs to one run, until a second tool is called."""
    token = _run.set(_Run(claimed=False))
    try:
        yield
    finally:
        _run.reset(token)


@contextmanager
def tool_run() -> Iterator[None]:
    """One tool's call: the first of a request goes by the request's run, every other by one of its own."""
    current = _run.get()
    if current is not None and not current.claimed:
        current.claimed = True
        yield
        return
    token = _run.set(_Run(claimed=True))
    try:
        yield
    finally:
        _run.reset(token)
