"""An application on a real socket, in a thread of its own."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

import uvicorn
from starlette.types import ASGIApp

_START_SECONDS = 10.0


@contextmanager
def served(app: ASGIApp) -> Iterator[str]:
    """The base URL at which `app` answers, on a free port of loopback."""
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="error", lifespan="off"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    give_up = time.monotonic() + _START_SECONDS
    while not server.started:
        if time.monotonic() > give_up or not thread.is_alive():
            raise AssertionError("the server did not start")
        thread.join(0.01)
    try:
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(_START_SECONDS)
