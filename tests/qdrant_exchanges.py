"""Exchanges with a real Qdrant server, recorded where there is one and given again where there is none.

A small HTTP server stands in Qdrant's place, so the client, its encoding and its connections are the real ones. Each
test has exchanges of its own. A request that was not recorded, comes out of turn, or is missing at the end is an error
that says how to record anew: nothing here knows what an answer means.
"""

import json
import math
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler
from typing import Any, Protocol

import httpx

from tests.http_server import answering

HOW_TO_RECORD = (
    "record it with a server: COGITAVE_QUERY_TEST_QDRANT_URL=http://… COGITAVE_QUERY_TEST_QDRANT_RECORD=1 pytest …"
)
UPSTREAM_SECONDS = 60.0
_TURN_SECONDS = 5.0

# A vector's last digits are the processor's, not the test's.
_SAME_NUMBER = 1e-5
# The one moment of the clock that a request carries: when a migration was applied.
_APPLIED_AT = re.compile(r'("applied_at": ?)"[^"]*"')
# How long the caller still waits is in the query string, and differs from run to run.
_TIMEOUT = re.compile(r"([?&])timeout=\d+&?")


@dataclass(frozen=True)
class Exchange:
    """A request and its answer, the bodies as JSON texts."""

    method: str
    path: str
    body: str
    status: int = 0
    answer: str = ""

    @classmethod
    def asked(cls, method: str, path: str, body: bytes) -> "Exchange":
        path = _TIMEOUT.sub(r"\1", path).rstrip("?&")
        text = json.dumps(json.loads(body), sort_keys=True) if body else ""
        return cls(method, path, _APPLIED_AT.sub(r'\1"then"', text))

    def is_of(self, asked: "Exchange") -> bool:
        """Whether this is the exchange of the same request."""
        if (self.method, self.path) != (asked.method, asked.path):
            return False
        return self.body == asked.body or bool(
            self.body and asked.body and _same(json.loads(self.body), json.loads(asked.body))
        )


class NotRecorded(Exception):
    """No answer is known to this request."""


class Tape(Protocol):
    """Answers one test's requests; called from several threads."""

    def answer(self, asked: Exchange, body: bytes) -> Exchange: ...

    def rest(self) -> list[Exchange]:
        """What was recorded and not asked for."""
        ...


@dataclass
class RecordingTape:
    """Hands requests on to a server and keeps what was said, in the order in which it was asked."""

    upstream: httpx.Client
    exchanges: list[Exchange] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, asked: Exchange, body: bytes) -> Exchange:
        with self.lock:
            place = len(self.exchanges)
            self.exchanges.append(asked)
        said = self.upstream.request(
            asked.method, asked.path, content=body, headers={"Content-Type": "application/json"}
        )
        answer = json.loads(said.content)
        if isinstance(answer, dict) and "time" in answer:
            answer["time"] = 0.0
        exchange = replace(asked, status=said.status_code, answer=json.dumps(answer, sort_keys=True))
        self.exchanges[place] = exchange
        return exchange

    def rest(self) -> list[Exchange]:
        return []


@dataclass
class OrderedTape:
    """Answers in the recorded order: a request that comes early waits until those before it have come."""

    exchanges: list[Exchange]
    taken: set[int] = field(default_factory=set)
    turn: threading.Condition = field(default_factory=threading.Condition)

    def answer(self, asked: Exchange, body: bytes) -> Exchange:
        with self.turn:
            places = (place for place in range(len(self.exchanges)) if place not in self.taken)
            place = next((place for place in places if self.exchanges[place].is_of(asked)), None)
            if place is None:
                raise NotRecorded
            self.taken.add(place)
            self.turn.notify_all()
            if not self.turn.wait_for(lambda: self.taken.issuperset(range(place)), _TURN_SECONDS):
                raise NotRecorded
            return self.exchanges[place]

    def rest(self) -> list[Exchange]:
        return [each for place, each in enumerate(self.exchanges) if place not in self.taken]


@dataclass
class RepeatingTape:
    """Answers a request as often as it comes: for a test whose network, not its requests, is what varies."""

    exchanges: list[Exchange]

    def answer(self, asked: Exchange, body: bytes) -> Exchange:
        for exchange in self.exchanges:
            if exchange.is_of(asked):
                return exchange
        raise NotRecorded

    def rest(self) -> list[Exchange]:
        return []


class ExchangeServer:
    """Stands where a Qdrant would, one test at a time. `errors` are the requests of this test that had no answer."""

    def __init__(self) -> None:
        self.url = ""
        self.errors: list[str] = []
        self._tape: Tape | None = None

    @contextmanager
    def playing(self, tape: Tape) -> Iterator[None]:
        self._tape, self.errors = tape, []
        try:
            yield
        finally:
            self._tape = None

    def answer(self, method: str, path: str, body: bytes) -> Exchange:
        asked = Exchange.asked(method, path, body)
        try:
            if self._tape is None:
                raise NotRecorded
            return self._tape.answer(asked, body)
        except NotRecorded:
            self.errors.append(f"{asked.method} {asked.path} {asked.body}"[:300])
            answer = json.dumps({"status": {"error": f"not recorded; {HOW_TO_RECORD}"}})
            return replace(asked, status=500, answer=answer)

    @classmethod
    @contextmanager
    def running(cls) -> Iterator["ExchangeServer"]:
        """On a free port of the loopback, in threads of its own."""
        exchanges = cls()

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _answer(self) -> None:
                body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
                exchange = exchanges.answer(self.command, self.path, body)
                answer = exchange.answer.encode()
                self.send_response(exchange.status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _answer

            def log_message(self, format: str, *args: object) -> None:
                pass

        with answering(Handler) as url:
            exchanges.url = url
            yield exchanges


def _same(a: Any, b: Any) -> bool:
    """Equal, but for the last digits of numbers."""
    if isinstance(a, float) and isinstance(b, float):
        return math.isclose(a, b, abs_tol=_SAME_NUMBER)
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_same(a[name], b[name]) for name in a)
    return bool(a == b)
