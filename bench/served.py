"""A service as `serve` runs it, in a process of its own, with an estate in which some pages are only for some."""

import asyncio
import json
import os
import signal
import socket
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import httpx

COMMAND = Path(sys.executable).parent / "cogitave-query"
READER, STAFF = "reader", "staff"
"""Two callers; the second sees what only the class of its name may see."""

MARK = "zircon"
"""Stands in everything that only staff may see, and in nothing else."""

_START_SECONDS = 120

RESTRICTED = {
    "cogitave-query.yml": f"visibility:\n  default: [{STAFF}]\n",
    "plan.md": f"""---
title: The {MARK} plan for rank fusion
uid: {MARK}.plan
ms.topic: concept
---
# The {MARK} plan for rank fusion

How the ranking of two legs is fused is decided in the {MARK} plan. A breaker leaves a leg out, and a stale cursor is
refused.

## Publishing

A folder is published by the {MARK} team alone.
""",
    "notes.md": f"""---
title: {MARK.capitalize()} notes on deadlines
uid: {MARK}.notes
ms.topic: how-to
---
# {MARK.capitalize()} notes on deadlines

Every engine has a deadline, says [the plan](plan.md).

```python
client = open_{MARK}()
client.search("rank fusion")
client.close()
```
""",
}


def write_restricted(folder: Path) -> Path:
    folder.mkdir(parents=True)
    for name, text in RESTRICTED.items():
        (folder / name).write_text(text)
    return folder


@dataclass(frozen=True)
class Served:
    """A running service. `keys` are API keys by caller; `log` is what it wrote."""

    url: str
    pid: int
    keys: Mapping[str, str]
    log: Path
    data: Path
    environment: Mapping[str, str]

    @property
    def resident(self) -> float:
        """MiB."""
        return int(Path(f"/proc/{self.pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

    @property
    def files(self) -> int:
        """Open files and connections."""
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    async def command(self, *arguments: str | Path, seconds: float = 120) -> tuple[int, str]:
        """Exit code and output of a command beside the running service."""
        return await _run(self.environment, self.data, *arguments, seconds=seconds)


async def _run(
    environment: Mapping[str, str], data: Path, *arguments: str | Path, seconds: float = 300
) -> tuple[int, str]:
    running = await asyncio.create_subprocess_exec(
        COMMAND, "--data", data, "--json", *arguments, env=environment, stdout=-1, stderr=-1
    )
    try:
        async with asyncio.timeout(seconds):
            out, err = await running.communicate()
    finally:
        if running.returncode is None:
            running.kill()
            await running.wait()
    return running.returncode or 0, (out or err).decode()


@asynccontextmanager
async def served(folder: Path, settings: Mapping[str, str], *estates: Path) -> AsyncIterator[Served]:
    """Publish the estates and serve them until the context is left."""
    data = folder / "data"
    needed = {"authentication": "required", "caller_rate": "1000000", **settings}
    environment = {**os.environ, **{f"COGITAVE_QUERY_{name.upper()}": value for name, value in needed.items()}}
    for arguments in (["migrate"], ["publish", *estates]):
        code, told = await _run(environment, data, *arguments)
        if code not in (0, 4):
            raise SystemExit(f"{arguments[0]} ended with {code}: {told}")
    keys = {}
    for caller in (READER, STAFF):
        classes = ["--class", STAFF] if caller == STAFF else []
        code, told = await _run(
            environment, data, "keys", "create", caller, "--scope", "search", "--scope", "graph", *classes
        )
        keys[caller] = json.loads(told)["key"]
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = folder / "service.log"
    with log.open("wb") as console:
        serving = await asyncio.create_subprocess_exec(
            COMMAND, "--data", data, "serve", "--port", str(port), env=environment, stdout=console, stderr=console
        )
    url = f"http://127.0.0.1:{port}"
    try:
        await _until_ready(url)
        yield Served(url, serving.pid, keys, log, data, environment)
    finally:
        if serving.returncode is None:
            serving.send_signal(signal.SIGTERM)
        await serving.wait()


async def _until_ready(url: str) -> None:
    async with httpx.AsyncClient() as client, asyncio.timeout(_START_SECONDS):
        while True:
            try:
                if (await client.get(f"{url}/readyz")).status_code == 200:
                    return
            except httpx.HTTPError:
                pass
            await asyncio.sleep(0.1)
