"""An application on a real socket, in a thread and an event loop of its own."""

import asyncio
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from service import bootstrap
from service.domain.requests import PublishRequest
from service.settings import Settings
from service.surfaces.application import application

PATIENT = Settings(
    request_deadline=60_000,
    lexical_deadline=30_000,
    vector_deadline=30_000,
    graph_deadline=30_000,
    graph_query_deadline=30_000,
    prior_deadline=30_000,
    facet_deadline=30_000,
)
"""On a machine that does much else at once, what is late is the machine's fault: a test of answers waits for them."""

_START_SECONDS = 60.0
_STOP_SECONDS = 10.0


@contextmanager
def served(app: ASGIApp) -> Iterator[str]:
    """The base URL at which `app` answers, on a free port of loopback."""
    with served_opening(nullcontext(app)) as url:
        yield url


@contextmanager
def served_estate(data: Path, estate: Path) -> Iterator[str]:
    """The base URL of the real application over `data`, into which `estate` is published first."""
    with served_opening(_published(data, estate)) as url:
        yield url


@asynccontextmanager
async def _published(data: Path, estate: Path) -> AsyncIterator[ASGIApp]:
    async with bootstrap.open_toolbox(PATIENT, data) as toolbox:
        await toolbox.publish(PublishRequest(paths=[str(estate)]))
        yield application(toolbox, PATIENT)


@contextmanager
def served_opening(opening: AbstractAsyncContextManager[ASGIApp]) -> Iterator[str]:
    """The base URL of the application that `opening` opens, in the loop that serves it."""
    servers: list[uvicorn.Server] = []

    async def serve() -> None:
        async with opening as app:
            server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_config=None, lifespan="off"))
            servers.append(server)
            await server.serve()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), daemon=True)
    thread.start()
    give_up = time.monotonic() + _START_SECONDS
    while not (servers and servers[0].started):
        if time.monotonic() > give_up or not thread.is_alive():
            raise AssertionError("the server did not start")
        thread.join(0.01)
    try:
        port = servers[0].servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        servers[0].should_exit = True
        thread.join(_STOP_SECONDS)
