"""Engines that go on running: brought up once, used by many commands, taken down when nobody needs them."""

import contextlib
import os
import signal
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from filelock import FileLock

from stack.engine import START_WITHIN_SECONDS, STOP_WITHIN_SECONDS
from stack.home import Home
from stack.servers import HOST, Neo4jServer, OpenSearchServer

_SCHEMES = {"neo4j": "bolt", "opensearch": "http"}
_LOOK_EVERY_SECONDS = 0.05


class EngineState(StrEnum):
    """`starting` lives but doesn't answer yet; `crashed` ended without being asked to."""

    RUNNING = "running"
    STARTING = "starting"
    STOPPED = "stopped"
    CRASHED = "crashed"


@dataclass(frozen=True)
class EngineStatus:
    """How one engine stands. `url` is None unless it is running; `password_file` where the engine has a password."""

    name: str
    state: EngineState
    url: str | None
    home: Path
    log: Path
    password_file: Path | None


def up(data: Path) -> list[EngineStatus]:
    """Start whatever isn't running, in `data`/stack, and return when all answer. Raises StackError."""
    folder = _folder(data)
    folder.mkdir(parents=True, exist_ok=True)
    with FileLock(folder / "up.lock", timeout=2 * START_WITHIN_SECONDS):
        stopped = [name for name in _SCHEMES if not Home(folder / name).is_claimed]
        with ThreadPoolExecutor() as pool:
            for start in [pool.submit(_start, folder / name, name) for name in stopped]:
                start.result()
    return status(data)


def down(data: Path) -> list[EngineStatus]:
    """Stop whatever runs in `data`/stack; its data stays. Raises nothing when nothing runs."""
    for name in _SCHEMES:
        _stop(Home(_folder(data) / name))
    return status(data)


def status(data: Path) -> list[EngineStatus]:
    return [_status(name, Home(_folder(data) / name)) for name in _SCHEMES]


def wait_until_ended(home: Path, within: float = STOP_WITHIN_SECONDS) -> bool:
    """Whether the engine of this home has ended, waiting so many seconds for it."""
    deadline = time.monotonic() + within
    while Home(home).is_claimed and time.monotonic() < deadline:
        time.sleep(_LOOK_EVERY_SECONDS)
    return not Home(home).is_claimed


def _folder(data: Path) -> Path:
    return data.absolute() / "stack"


def _start(home: Path, name: str) -> None:
    server = Neo4jServer(home, detached=True) if name == "neo4j" else OpenSearchServer(home, detached=True)
    server.start()


def _stop(home: Home) -> None:
    if home.is_claimed:
        pid = int(home.pid.read_text())
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(pid, number)
            if wait_until_ended(home.path):
                break
    home.pid.unlink(missing_ok=True)


def _status(name: str, home: Home) -> EngineStatus:
    state, url = _state(name, home)
    password = home.password if home.password.exists() else None
    return EngineStatus(name, state, url, home.path, home.console, password)


def _state(name: str, home: Home) -> tuple[EngineState, str | None]:
    if not home.is_claimed:
        return (EngineState.CRASHED if home.pid.exists() else EngineState.STOPPED), None
    if not home.port.exists():
        return EngineState.STARTING, None
    return EngineState.RUNNING, f"{_SCHEMES[name]}://{HOST}:{home.port.read_text()}"
