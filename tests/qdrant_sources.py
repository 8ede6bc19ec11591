"""Where a test's Qdrant comes from: a server, a server that is recorded, or the record."""

import gzip
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

import httpx

from tests.qdrant_exchanges import (
    HOW_TO_RECORD,
    UPSTREAM_SECONDS,
    Exchange,
    ExchangeServer,
    OrderedTape,
    RecordingTape,
    RepeatingTape,
    Tape,
)

RECORDINGS = Path(__file__).parent / "recordings" / "qdrant.json.gz"


@dataclass
class Recordings:
    """What the file holds: the version of the server that was asked, and each test's exchanges."""

    version: str
    recorded: str
    tests: dict[str, list[Exchange]]

    @classmethod
    def load(cls, file: Path = RECORDINGS) -> "Recordings":
        if not file.exists():
            return cls("none", "never", {})
        held = json.loads(gzip.decompress(file.read_bytes()))
        tests = {name: [Exchange(**each) for each in exchanges] for name, exchanges in held["tests"].items()}
        return cls(held["version"], held["recorded"], tests)

    def save(self, file: Path = RECORDINGS) -> None:
        held = {
            "version": self.version,
            "recorded": self.recorded,
            "tests": {name: [asdict(each) for each in self.tests[name]] for name in sorted(self.tests)},
        }
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(gzip.compress(json.dumps(held).encode(), mtime=0))


class RequestsDiffer(AssertionError):
    """A test did not ask what it asked when it was recorded. `unknown`: some request had no answer."""

    def __init__(self, test: str, unknown: list[str], rest: list[Exchange]) -> None:
        told = [f"not recorded: {each}" for each in unknown]
        told += [f"recorded and not asked: {each.method} {each.path} {each.body}"[:300] for each in rest]
        super().__init__("\n".join([f"Qdrant's recorded exchanges are not those of {test}; {HOW_TO_RECORD}", *told]))
        self.unknown = bool(unknown)


@dataclass
class Real:
    """A server, asked directly."""

    url: str
    version: str

    @property
    def said(self) -> str:
        return f"Qdrant: a real server, version {self.version}"

    @contextmanager
    def during(self, test: str, *, in_order: bool) -> Iterator[str]:
        yield self.url


@dataclass
class Recorded:
    """A server, with all that it says kept."""

    server: ExchangeServer
    upstream: httpx.Client
    recordings: Recordings

    @classmethod
    @contextmanager
    def of(cls, url: str) -> Iterator["Recorded"]:
        """Adds to what is recorded of the same version, or begins anew; the file is written at the end."""
        version, held = server_version(url), Recordings.load()
        tests = held.tests if held.version == version else {}
        recordings = Recordings(version, datetime.now(UTC).date().isoformat(), tests)
        with ExchangeServer.running() as server, httpx.Client(base_url=url, timeout=UPSTREAM_SECONDS) as upstream:
            yield cls(server, upstream, recordings)
        recordings.save()

    @property
    def said(self) -> str:
        return f"Qdrant: a real server, version {self.recordings.version}; {len(self.recordings.tests)} tests RECORDED"

    @contextmanager
    def during(self, test: str, *, in_order: bool) -> Iterator[str]:
        tape = RecordingTape(self.upstream)
        with self.server.playing(tape):
            yield self.server.url
        self.recordings.tests[test] = tape.exchanges if in_order else _last_of_each(tape.exchanges)


@dataclass
class Replayed:
    """No server: what one said once."""

    server: ExchangeServer
    recordings: Recordings
    played: int = 0

    @property
    def said(self) -> str:
        return (
            f"NO QDRANT SERVER: {self.played} tests were answered by exchanges recorded with version "
            f"{self.recordings.version} on {self.recordings.recorded}; for a real one set "
            "COGITAVE_QUERY_TEST_QDRANT_URL or start Docker"
        )

    @contextmanager
    def during(self, test: str, *, in_order: bool) -> Iterator[str]:
        exchanges = self.recordings.tests.get(test, [])
        tape: Tape = OrderedTape(exchanges) if in_order else RepeatingTape(exchanges)
        with self.server.playing(tape):
            yield self.server.url
            self.played += 1
            if self.server.errors or tape.rest():
                raise RequestsDiffer(test, self.server.errors, tape.rest())


def server_version(url: str) -> str:
    return str(httpx.get(url, timeout=UPSTREAM_SECONDS).json()["version"])


def _last_of_each(exchanges: list[Exchange]) -> list[Exchange]:
    """What was said last of everything that was asked: how the test left the server."""
    kept: list[Exchange] = []
    for exchange in reversed(exchanges):
        if not any(each.is_of(exchange) for each in kept):
            kept.append(exchange)
    return kept
