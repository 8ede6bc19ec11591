"""Many callers at once: a server as `serve` runs it, and a second process that makes the load over loopback.

python -m bench.load [ESTATE] [--requests N]        default: the project's own docs/, 4,000 requests a level

Each caller keeps a connection and sends its next request once it has the answer. Memory is the server's resident set,
before and after all of it.
"""

import argparse
import asyncio
import contextlib
import json
import os
import re
import signal
import socket
import statistics
import sys
import tempfile
import time
import urllib.request
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from bench.report import Measurement, say, say_stack

_DOCS = Path(__file__).resolve().parents[1] / "docs"
_QUERIES = ("how are two rankings fused", "stale cursor", "publish a folder", "read-only data folder", "rank")
_CALLERS = (1, 8, 64)
_START_SECONDS = 120
_ANSWER_SECONDS = 60
_LENGTH = re.compile(rb"content-length: (\d+)", re.IGNORECASE)


@dataclass(frozen=True)
class Load:
    """What is sent, in turn."""

    name: str
    requests: Sequence[bytes]


def _post(path: str, body: object, headers: str = "") -> bytes:
    text = json.dumps(body).encode()
    head = f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n{headers}"
    return f"{head}Content-Length: {len(text)}\r\n\r\n".encode() + text


def _get(path: str, headers: str = "") -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n{headers}\r\n".encode()


def _mcp(text: str, revision: str) -> bytes:
    about = {"clientInfo": {"name": "load", "version": "1"}, "protocolVersion": revision, "clientCapabilities": {}}
    params = {
        "name": "docs_search",
        "arguments": {"text": text},
        "_meta": {f"io.modelcontextprotocol/{name}": value for name, value in about.items()},
    }
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": revision,
        "Mcp-Method": "tools/call",
        "Mcp-Name": "docs_search",
    }
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    return _post("/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, lines)


SEARCH = Load("POST /v1/search", [_post("/v1/search", {"text": text}) for text in _QUERIES])
MCP = tuple(
    Load(f"MCP docs_search, {revision}", [_mcp(text, revision) for text in _QUERIES])
    for revision in ("2026-07-28", "2025-11-25")
)
LIVE = Load("GET /livez", [_get("/livez")])


async def main(estate: Path, requests: int) -> None:
    say_stack("fastapi", "uvicorn", "pydantic", "mcp")
    with tempfile.TemporaryDirectory() as data:
        async with _server(Path(data), estate) as (port, pid):
            loads = (SEARCH, *MCP, *await _by_uid(port), LIVE)
            for load in loads:
                await _run(port, load, 8, 400)  # caches and threads
            before = _resident(pid)
            sent = 0
            for load in loads:
                for callers in _CALLERS:
                    times, seconds = await _run(port, load, callers, requests)
                    sent += len(times)
                    _tell(load, callers, times, seconds)
            after = _resident(pid)
            say(
                Measurement(f"memory after {sent:,} requests", after, "MiB", before),
                "against the same after warming up",
            )


async def _run(port: int, load: Load, callers: int, requests: int) -> tuple[list[float], float]:
    """Milliseconds of each request, and seconds of all."""
    each = max(1, requests // callers)
    began = time.perf_counter()
    told = await asyncio.gather(*(_caller(port, load.requests, each, number) for number in range(callers)))
    return [one for times in told for one in times], time.perf_counter() - began


async def _caller(port: int, requests: Sequence[bytes], count: int, first: int) -> list[float]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    times = []
    try:
        for number in range(first, first + count):
            began = time.perf_counter()
            writer.write(requests[number % len(requests)])
            async with asyncio.timeout(_ANSWER_SECONDS):
                head = await reader.readuntil(b"\r\n\r\n")
                length = _LENGTH.search(head)
                await reader.readexactly(int(length[1]) if length else 0)
            if not head.startswith((b"HTTP/1.1 200", b"HTTP/1.1 304")):
                raise AssertionError(head.decode())
            times.append((time.perf_counter() - began) * 1000)
    finally:
        writer.close()
    return times


async def _by_uid(port: int) -> tuple[Load, Load, Load]:
    """Pages of the estate as nodes and as documents, and one that the caller has already."""

    def ask(path: str) -> tuple[bytes, str]:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}") as answer:
            return answer.read(), answer.headers["ETag"]

    listed, _ = await asyncio.to_thread(ask, "/v1/nodes?filter=kind%3Dpage&limit=20")
    uids = [node["uid"] for node in json.loads(listed)["nodes"]]
    paths = [f"/content/{quote(uid, safe='')}" for uid in uids]
    _, tag = await asyncio.to_thread(ask, paths[0])
    return (
        Load("POST /v1/fetch", [_post("/v1/fetch", {"uid": uid}) for uid in uids]),
        Load("GET /content/{uid}", [_get(path) for path in paths]),
        Load("GET /content/{uid}, unchanged", [_get(paths[0], f"If-None-Match: {tag}\r\n")]),
    )


def _tell(load: Load, callers: int, times: list[float], seconds: float) -> None:
    cuts = statistics.quantiles(times, n=100)
    name = f"{load.name}, {callers} {'caller' if callers == 1 else 'callers'}"
    say(Measurement(f"{name}, p50", cuts[49], "ms"), f"p99 {cuts[98]:.3g} ms, {len(times) / seconds:.0f} requests/s")


@contextlib.asynccontextmanager
async def _server(data: Path, estate: Path) -> AsyncIterator[tuple[int, int]]:
    """The port and the process of a server over the estate."""
    command = Path(sys.executable).parent / "cogitave-query"
    publish = await asyncio.create_subprocess_exec(command, "--data", data, "publish", estate, stdout=-3, stderr=-3)
    await publish.wait()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
    serving = await asyncio.create_subprocess_exec(
        command, "--data", data, "serve", "--port", str(port), stdout=-3, stderr=-3
    )
    try:
        async with asyncio.timeout(_START_SECONDS):
            while True:
                with contextlib.suppress(OSError):
                    await asyncio.to_thread(urllib.request.urlopen, f"http://127.0.0.1:{port}/readyz")
                    break
                await asyncio.sleep(0.1)
        yield port, serving.pid
    finally:
        serving.send_signal(signal.SIGTERM)
        await serving.wait()


def _resident(pid: int) -> float:
    """MiB."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("estate", nargs="?", type=Path, default=_DOCS)
    parser.add_argument("--requests", type=int, default=4_000)
    options = parser.parse_args()
    asyncio.run(main(options.estate, options.requests))
