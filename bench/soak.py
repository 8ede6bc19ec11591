"""A server under steady mixed load while what it serves is published again and again: does anything grow, hang or mix?

python -m bench.soak [ESTATE] [--minutes M] [--warm M] [--readings FILE]     default: the project's own docs/, 30 and 15

The server is `serve` in a process of its own, callers with keys required of it. 64 callers ask, each waiting about
`THINKING` seconds between an answer and its next question: readers with and without a visibility class, operators,
some who read slowly, some who hang up. `publish --server --watch` publishes a folder whose every page changes each
`PUBLISHING` seconds. A reading of the process and its folder is taken every `READING` seconds; what grows is judged
after the warm-up. Ends with 1 where something is wrong.
"""

import argparse
import asyncio
import contextlib
import json
import os
import random
import shutil
import signal
import statistics
import sys
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import httpx

from bench.process import Drift, Reading, drift, read
from bench.report import Measurement, say, say_stack
from bench.soak_callers import OPERATORS, READERS, Ask, Judge, Known, Question, learn
from bench.soak_estate import CLASS, write_printing

CALLERS = 64
THINKING = 2.5
PUBLISHING = 15.0
READING = 5.0
PATIENCE = 6.0
"""Seconds: the service's own deadline of a request, and a second for a busy machine."""
LARGEST_DRIFT = 0.05

_DOCS = Path(__file__).resolve().parents[1] / "docs"
_COMMAND = Path(sys.executable).parent / "cogitave-query"
_START_SECONDS = 120
_GATHERED = 5_000


@dataclass(frozen=True, slots=True)
class Kind:
    """So many callers that share a key."""

    name: str
    callers: int
    scopes: tuple[str, ...]
    classes: tuple[str, ...] = ()
    asks: Mapping[Ask, int] = field(default_factory=lambda: READERS)


KINDS = (
    Kind("readers", 20, ("search", "graph")),
    Kind("agents", 16, ("search", "graph")),
    Kind("staff", 12, ("search", "graph"), (CLASS,)),
    Kind("operators", 6, ("search", "graph", "operate"), (CLASS,), OPERATORS),
    Kind("slow", 4, ("search",)),
    Kind("impatient", 6, ("search", "graph")),
)


@dataclass
class Soak:
    """What happened. `late`: answers that took longer than PATIENCE."""

    judge: Judge = field(default_factory=Judge)
    statuses: Counter[int] = field(default_factory=Counter)
    seconds: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))
    shed: int = 0
    hung_up: int = 0
    slow: int = 0
    publishes: list[float] = field(default_factory=list)
    readings: list[Reading] = field(default_factory=list)
    lasted: float = 0.0

    @property
    def answers(self) -> int:
        return self.statuses.total()

    def drifts(self, warm: float) -> dict[str, Drift]:
        """Of all that is read, from `warm` seconds on; the windows are a fifth of the rest at either end."""
        taken = [reading for reading in self.readings if reading.seconds >= warm]
        times = [reading.seconds for reading in taken]
        window = (times[-1] - times[0]) / 5
        names = [name for name in asdict(taken[0]) if name != "seconds"]
        return {name: drift(times, [getattr(reading, name) for reading in taken], window) for name in names}

    def faults(self, warm: float) -> list[str]:
        """All that may not be; empty where it went well."""
        found = [
            f"{kind}: {count} times, such as {self.judge.examples[kind]}" for kind, count in self.judge.wrong.items()
        ]
        grown = self.drifts(warm)
        memory = grown["resident"]
        if max(memory.growth, memory.slope) >= LARGEST_DRIFT:
            found.append(f"memory grew by {memory.growth:.1%}, {memory.slope:.1%} along the line")
        for name, room in (("descriptors", 8), ("threads", 2)):
            if grown[name].last > grown[name].first + room:
                found.append(f"{name} rose from {grown[name].first:.0f} to {grown[name].last:.0f}")
        if not self.publishes:
            found.append("nothing was published")
        if not self.judge.classed:
            found.append("no answer held what only some may see")
        return found


async def soak(estate: Path, seconds: float) -> Soak:
    """Runs one, in a data folder of its own."""
    told = Soak()
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        data, bulletins = Path(folder, "data"), Path(folder, "bulletins")
        shutil.copytree(estate, Path(folder, "estate"))
        write_printing(bulletins, 1)
        await _command(data, "publish", str(Path(folder, "estate")), str(bulletins))
        keys = {kind.name: await _key(data, kind.scopes, kind.classes) for kind in KINDS}
        publisher = await _key(data, ("publish",), ())
        async with _serving(data) as (url, pid), _watching(url, bulletins, publisher):
            uids, skills = await _contents(url, keys["readers"])
            ending = time.monotonic() + seconds
            began = time.monotonic()
            tasks = [_publisher(told, url, keys["operators"], bulletins, ending), _reader(told, pid, data, ending)]
            for kind in KINDS:
                for number in range(kind.callers):
                    known = Known(random.Random(f"{kind.name} {number}"), uids, skills)
                    tasks.append(_caller(told, url, kind, keys[kind.name], known, ending))
            async with asyncio.TaskGroup() as group:
                for task in tasks:
                    group.create_task(task)
            told.lasted = time.monotonic() - began
    return told


async def _caller(told: Soak, url: str, kind: Kind, key: str, known: Known, ending: float) -> None:
    """Asks and thinks, in turn, until the end."""
    asks, weights = list(kind.asks), list(kind.asks.values())
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=PATIENCE * 2) as client:
        await asyncio.sleep(known.chance.uniform(0, THINKING))
        while time.monotonic() < ending:
            if kind.name == "slow":
                await _read_slowly(told, url, key)
            else:
                question = known.chance.choices(asks, weights)[0](known)
                if kind.name == "impatient" and known.chance.random() < 0.5:
                    await _hang_up(told, client, question, known.chance.uniform(0.001, 0.05))
                else:
                    await _ask(told, client, question, bool(kind.classes), known)
            await asyncio.sleep(min(known.chance.expovariate(1 / THINKING), max(0.0, ending - time.monotonic())))


async def _ask(told: Soak, client: httpx.AsyncClient, question: Question, is_classed: bool, known: Known) -> None:
    began = time.perf_counter()
    try:
        answer = await client.request(
            question.method, question.path, json=question.body, headers=dict(question.headers)
        )
    except httpx.HTTPError as error:
        told.judge.fault("no answer", f"{question.name}: {type(error).__name__} {error}")
        return
    took = time.perf_counter() - began
    told.statuses[answer.status_code] += 1
    told.seconds[question.name].append(took)
    if len(told.seconds[question.name]) > 2 * _GATHERED:
        del told.seconds[question.name][:_GATHERED]
    if took > PATIENCE:
        told.judge.fault("late", f"{question.name}: {took:.1f} s")
    if answer.status_code in (429, 503) and "retry-after" in answer.headers:
        told.shed += 1
        told.judge.degraded[f"{answer.status_code} {_code(answer)}"] += 1
        return
    if answer.status_code not in question.statuses:
        told.judge.fault(f"status {answer.status_code}", f"{question.name}: {answer.text}")
        return
    if answer.status_code != 304:
        heard = told.judge.hear(question, answer.text, is_classed)
        learn(known, question, heard, answer.headers.get("etag"))


def _code(answer: httpx.Response) -> str:
    with contextlib.suppress(ValueError):
        return str(answer.json().get("code"))
    return ""


async def _hang_up(told: Soak, client: httpx.AsyncClient, question: Question, after: float) -> None:
    """Asks, and leaves before the answer, often."""
    try:
        async with asyncio.timeout(after):
            await client.request(question.method, question.path, json=question.body, headers=dict(question.headers))
    except (TimeoutError, httpx.HTTPError):
        told.hung_up += 1


async def _read_slowly(told: Soak, url: str, key: str) -> None:
    """Takes the whole estate a little at a time, and leaves before its end now and then."""
    place = httpx.URL(url)
    reader, writer = await asyncio.open_connection(place.host, place.port, limit=4096)
    try:
        writer.write(f"GET /content HTTP/1.1\r\nHost: {place.host}\r\nAuthorization: Bearer {key}\r\n\r\n".encode())
        for _ in range(40):
            async with asyncio.timeout(PATIENCE):
                if not await reader.read(4096):
                    break
            await asyncio.sleep(0.25)
        told.slow += 1
    except (TimeoutError, OSError) as error:
        told.judge.fault("a stream stood still", repr(error))
    finally:
        writer.close()


async def _publisher(told: Soak, url: str, key: str, bulletins: Path, ending: float) -> None:
    """Changes the folder, waits until that answers, rests."""
    printing = 1
    async with httpx.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=30) as client:
        while time.monotonic() + PUBLISHING < ending:
            await asyncio.sleep(PUBLISHING)
            before = (await client.get("/readyz")).json()["contentRoot"]
            printing += 1
            write_printing(bulletins, printing)
            began = time.monotonic()
            while (await client.get("/readyz")).json()["contentRoot"] == before:
                if time.monotonic() - began > 60:
                    told.judge.fault("no publish", f"printing {printing} did not answer within 60 s")
                    break
                await asyncio.sleep(0.1)
            else:
                told.publishes.append(time.monotonic() - began)


async def _reader(told: Soak, pid: int, data: Path, ending: float) -> None:
    began = time.monotonic()
    while time.monotonic() < ending:
        told.readings.append(await asyncio.to_thread(read, pid, data, time.monotonic() - began))
        await asyncio.sleep(READING)


async def _contents(url: str, key: str) -> tuple[list[str], list[str]]:
    headers = {"Authorization": f"Bearer {key}"}
    async with httpx.AsyncClient(base_url=url, headers=headers, timeout=30) as client:
        pages = (await client.get("/v1/nodes?filter=kind%3Dpage&filter=kind%3Dunit&limit=100")).json()["nodes"]
        skills = (await client.get("/v1/nodes?filter=kind%3Dskill&limit=20")).json()["nodes"]
        gone = [node["uid"] for node in pages if not node["uid"].startswith("passing.")]
        return gone, [node["uid"] for node in skills]


async def _command(data: Path, *words: str) -> bytes:
    process = await asyncio.create_subprocess_exec(_COMMAND, "--data", data, "--json", *words, stdout=-1, stderr=-1)
    said, complained = await process.communicate()
    if process.returncode not in (0, 4):
        raise RuntimeError(f"{words} ended with {process.returncode}: {complained.decode()}")
    return said


async def _key(data: Path, scopes: Sequence[str], classes: Sequence[str]) -> str:
    options = [part for scope in scopes for part in ("--scope", scope)]
    options += [part for one in classes for part in ("--class", one)]
    key: str = json.loads(await _command(data, "keys", "create", "soak", *options))["key"]
    return key


@contextlib.asynccontextmanager
async def _serving(data: Path) -> AsyncIterator[tuple[str, int]]:
    """The URL and the process of a server that wants to know who asks."""
    environment = os.environ | {"COGITAVE_QUERY_AUTHENTICATION": "required"}
    log = (data / "served.log").open("wb")
    serving = await asyncio.create_subprocess_exec(
        _COMMAND, "--data", data, "--json", "serve", "--port", "0", stdout=-1, stderr=log, env=environment
    )
    try:
        assert serving.stdout is not None
        async with asyncio.timeout(_START_SECONDS):
            said = await serving.stdout.readuntil(b"}")
        url: str = json.loads(said)["url"]
        yield url, serving.pid
    finally:
        serving.send_signal(signal.SIGTERM)
        await serving.wait()
        log.close()


@contextlib.asynccontextmanager
async def _watching(url: str, estate: Path, key: str) -> AsyncIterator[None]:
    """A publisher that reads the folder itself and sends what has changed."""
    environment = os.environ | {"COGITAVE_QUERY_SERVER_KEY": key}
    command = (_COMMAND, "--json", "publish", "--server", url, "--watch", estate)
    watching = await asyncio.create_subprocess_exec(*command, stdout=-3, stderr=-3, env=environment)
    try:
        yield
    finally:
        with contextlib.suppress(ProcessLookupError):  # it ended by itself, and nothing more was published
            watching.send_signal(signal.SIGINT)
        await watching.wait()


def report(told: Soak, warm: float) -> list[str]:
    """Says all of it; the faults."""
    say(Measurement("answers", told.answers, ""), f"{told.answers / told.lasted:.1f} a second, {told.lasted:.0f} s")
    statuses = dict(sorted(told.statuses.items()))
    print(f"  statuses {statuses}; shed {told.shed}, hung up {told.hung_up}, read slowly {told.slow}")
    print(f"  degraded {dict(told.judge.degraded)}; answers with what only {CLASS} may see {told.judge.classed}")
    if told.publishes:
        middle, longest = statistics.median(told.publishes), max(told.publishes)
        remark = f"from the change until it answers: median {middle:.1f} s, at most {longest:.1f} s"
        say(Measurement("publishes", len(told.publishes), ""), remark)
    for name, times in sorted(told.seconds.items()):
        if len(times) >= 2:
            cuts = [1_000 * cut for cut in statistics.quantiles(times, n=100)]
            worst = 1_000 * max(times)
            print(f"  {name}: {len(times)}, p50 {cuts[49]:.0f} ms, p99 {cuts[98]:.0f} ms, at most {worst:.0f} ms")
    for name, grown in told.drifts(warm).items():
        remark = f"{grown.growth:+.1%} from the first window to the last, {grown.slope:+.1%} along a line"
        say(Measurement(name, grown.last, "", grown.first), remark)
    faults = told.faults(warm)
    for fault in faults:
        print(f"  WRONG: {fault}")
    return faults


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("estate", nargs="?", type=Path, default=_DOCS)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--warm", type=float, default=15)
    parser.add_argument("--readings", type=Path, help="Where to write every reading, as JSON lines.")
    options = parser.parse_args()
    say_stack("fastapi", "uvicorn", "pydantic", "mcp", "tantivy", "qdrant-edge-py", "kglite")
    outcome = asyncio.run(soak(options.estate, options.minutes * 60))
    if options.readings:
        options.readings.write_text("".join(json.dumps(asdict(reading)) + "\n" for reading in outcome.readings))
    sys.exit(1 if report(outcome, options.warm * 60) else 0)
