"""Engines that are killed, paused and slowed, and brought back: each behind a proxy at an address that stays."""

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol
from urllib.parse import urlsplit

from stack.servers import Neo4jServer, OpenSearchServer
from tests.tcp_proxy import Fault, TcpProxy

NEO4J, OPENSEARCH, QDRANT = "neo4j", "opensearch", "qdrant"
_START_SECONDS = 60


class Harm(StrEnum):
    """What is done to an engine."""

    KILLED = "killed"
    PAUSED = "paused"
    SLOWED = "slowed"


class Process(Protocol):
    """An engine as processes of this machine."""

    @property
    def pid(self) -> int:
        """The leader of its process group."""
        ...

    def start(self) -> None:
        """On the port that it had; returns once it answers."""
        ...

    def kill(self) -> None: ...

    def stop(self) -> None: ...


class QdrantServer:
    """A Qdrant of its own, from the executable that COGITAVE_QUERY_TEST_QDRANT_BINARY names."""

    def __init__(self, executable: Path, home: Path) -> None:
        self._executable = executable
        self._home = home
        self._process: subprocess.Popen[bytes] | None = None
        self.port, self._grpc = _free_port(), _free_port()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def start(self) -> None:
        self._home.mkdir(parents=True, exist_ok=True)
        with (self._home / "console.log").open("ab") as console:
            self._process = subprocess.Popen(
                [self._executable, "--disable-telemetry"],
                cwd=self._home,
                env={
                    **os.environ,
                    "QDRANT__SERVICE__HOST": "127.0.0.1",
                    "QDRANT__SERVICE__HTTP_PORT": str(self.port),
                    "QDRANT__SERVICE__GRPC_PORT": str(self._grpc),
                    "QDRANT__STORAGE__STORAGE_PATH": str(self._home / "storage"),
                },
                stdout=console,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        until = time.monotonic() + _START_SECONDS
        while time.monotonic() < until:
            with contextlib.suppress(OSError), urllib.request.urlopen(f"{self.url}/readyz", timeout=1):
                return
            time.sleep(0.05)
        raise SystemExit(f"Qdrant did not start; see {self._home / 'console.log'}.")

    def kill(self) -> None:
        os.killpg(self.pid, signal.SIGKILL)
        assert self._process is not None
        self._process.wait(_START_SECONDS)

    stop = kill


@dataclass
class Victim:
    """An engine that can be harmed. `url` is the proxy's; `process` is None where only its network can be harmed: then
    killed is cut off, and paused is a network in which nothing comes through."""

    name: str
    proxy: TcpProxy
    scheme: str
    process: Process | None = None
    harms: list[Harm] = field(default_factory=list)

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.proxy.port}"

    async def suffer(self, harm: Harm) -> None:
        if harm is Harm.SLOWED:
            self.proxy.fault = Fault.DELAY
        elif self.process is None:
            self.proxy.fault = Fault.CUT if harm is Harm.KILLED else Fault.HALF_OPEN
        elif harm is Harm.KILLED:
            await asyncio.to_thread(self.process.kill)
        else:
            os.killpg(self.process.pid, signal.SIGSTOP)

    async def come_back(self, harm: Harm) -> None:
        """Returns once the engine itself answers again."""
        self.proxy.fault = Fault.NONE
        if self.process is not None and harm is Harm.KILLED:
            await asyncio.to_thread(self.process.start)
        elif self.process is not None and harm is Harm.PAUSED:
            os.killpg(self.process.pid, signal.SIGCONT)


@dataclass(frozen=True)
class Victims:
    """The engines of one run, by name, and the settings by which a service finds them."""

    by_name: Mapping[str, Victim]
    settings: Mapping[str, str]


@asynccontextmanager
async def own_engines(folder: Path) -> AsyncIterator[Victims]:
    """Engines that are this run's alone; without an executable of Qdrant the vectors are embedded."""
    async with AsyncExitStack() as opened:
        neo4j, opensearch = Neo4jServer(folder / NEO4J), OpenSearchServer(folder / OPENSEARCH)
        await asyncio.gather(*(asyncio.to_thread(server.start) for server in (neo4j, opensearch)))
        opened.callback(neo4j.stop)
        opened.callback(opensearch.stop)
        user, password = neo4j.auth
        found: list[tuple[str, str, Process]] = [(NEO4J, neo4j.uri, neo4j), (OPENSEARCH, opensearch.url, opensearch)]
        if executable := os.environ.get("COGITAVE_QUERY_TEST_QDRANT_BINARY"):
            qdrant = QdrantServer(Path(executable), folder / QDRANT)
            await asyncio.to_thread(qdrant.start)
            opened.callback(qdrant.stop)
            found.append((QDRANT, qdrant.url, qdrant))
        yield await behind_proxies(opened, found, user, password)


async def behind_proxies(
    opened: AsyncExitStack,
    found: Sequence[tuple[str, str, Process | None]],
    user: str,
    password: str,
) -> Victims:
    """Each engine (name, URL, process) behind a proxy for as long as `opened` lasts."""
    victims = {}
    for name, url, process in found:
        place = urlsplit(url)
        proxy = await opened.enter_async_context(TcpProxy.before(place.hostname or "", place.port or 0))
        victims[name] = Victim(name, proxy, place.scheme, process)
    settings = {f"{name}_url": victim.url for name, victim in victims.items()}
    return Victims(victims, {**settings, "neo4j_user": user, "neo4j_password": password})


def _free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port: int = free.getsockname()[1]
        return port
