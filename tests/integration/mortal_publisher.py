"""A publishing process that kills itself: a program for the tests beside it.

    python -m tests.integration.mortal_publisher DATA ESTATE STEP

Publishes ESTATE into DATA and ends itself by SIGKILL at the STEP-th border between two things that it writes (before
the first: 1). Meanwhile it searches without a pause, and prints each answer as a line of JSON. Ends with 0 where there
are fewer borders than that.
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from service import bootstrap
from service.domain.errors import Unavailable
from service.domain.principal import ANONYMOUS
from service.domain.requests import PublishRequest, SearchRequest
from service.settings import Settings
from service.tools import catalogue
from service.tools.local import LocalToolbox

WRITES = frozenset(
    "begin advance commit abandon restore keep keep_diagnostics add remove remove_after remove_others".split()
)
"""What the stores' ports have that changes something."""

QUESTION = "page written for a version"


@dataclass
class Life:
    """Ends at one of the borders that are passed."""

    left: int

    def pass_border(self) -> None:
        self.left -= 1
        if self.left == 0:
            sys.stdout.flush()
            os.kill(os.getpid(), signal.SIGKILL)


class Mortal:
    """A store under which each write has a border before and after it."""

    def __init__(self, store: Any, life: Life) -> None:
        self._store = store
        self._life = life

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._store, name)
        return self._bordered(value) if name in WRITES else value

    def _bordered(self, write: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        async def bordered(*arguments: Any, **named: Any) -> Any:
            self._life.pass_border()
            # Readers get their turn at every border, and see what a killed publish would leave to them.
            await asyncio.sleep(0.01)
            result = await write(*arguments, **named)
            self._life.pass_border()
            return result

        return bordered


async def search(tools: LocalToolbox) -> None:
    """Print what is found now: the snapshot that the answer names, and the passages by uid."""
    try:
        result = await tools.call(catalogue.SEARCH, SearchRequest(text=QUESTION, limit=50), ANONYMOUS)
    except Unavailable:
        return
    found = {hit.uid: hit.passage.text for hit in result.hits if hit.passage is not None}
    print(json.dumps({"root": result.content_root, "found": found, "degraded": result.degraded}), flush=True)


async def read_on(tools: LocalToolbox) -> None:
    while True:
        await search(tools)
        await asyncio.sleep(0)


async def publish(data: Path, estate: Path, step: int) -> None:
    settings = Settings(publish_batch=4, publish_text_batch=4, request_deadline=60_000)
    async with bootstrap.open_toolbox(settings, data) as tools:
        life = Life(step)
        projections = tools.publisher.projections
        publisher = replace(
            tools.publisher,
            store=Mortal(tools.publisher.store, life),
            projections=replace(
                projections, lexical=Mortal(projections.lexical, life), vectors=Mortal(projections.vectors, life)
            ),
        )
        await search(tools)
        reading = asyncio.create_task(read_on(tools))
        await publisher.publish(PublishRequest(paths=[str(estate)]))
        reading.cancel()
        await asyncio.gather(reading, return_exceptions=True)
        await search(tools)


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(publish(Path(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])))
