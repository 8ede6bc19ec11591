"""Connections: no more than the settings allow, and none kept by who never says what it wants."""

import asyncio
import time
from collections.abc import Collection
from typing import Any

from fastapi import FastAPI
from starlette.types import Receive, Scope, Send

from service.settings import Settings
from service.surfaces.problems import ProblemResponses, TooManyConnections, TwoLengths

_LOOK_SECONDS = 0.5
_LENGTHS = {b"content-length", b"transfer-encoding"}


class Crowd:
    """The application behind its limit of connections: what uvicorn's own limit answers has no Retry-After.

    Whoever says in two ways where a request ends (RFC 9112, 6.1) is not believed in what follows, either.

    connections: uvicorn's protocols, one a connection, as its server keeps them.
    """

    def __init__(self, app: FastAPI, settings: Settings) -> None:
        self.app = app
        self.most = settings.connections
        self.first_patience = settings.request_deadline / 1000
        self.patience = max(self.first_patience, settings.keep_alive)
        self.connections: Collection[Any] = ()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        refusal: Exception | None = None
        if len(self.connections) > self.most:
            refusal = TooManyConnections(self.most)
        elif {name for name, _ in scope["headers"]} >= _LENGTHS:
            refusal = TwoLengths()
        if refusal is None:
            await self.app(scope, receive, send)
            return
        problems: ProblemResponses = self.app.state.problems
        answer = problems.of(refusal)
        answer.headers["Connection"] = "close"
        await answer(scope, receive, send)

    async def close_silent(self) -> None:
        """Until cancelled, close connections whose first request is not there, headers and all, within the deadline of
        a request, or a later one within the time that connections are kept: else a few hundred that send a byte now and
        then would keep everyone else out."""
        waiting: dict[tuple[Any, Any], float] = {}
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            now = time.monotonic()
            waiting = {
                (one, one.cycle): waiting.get((one, one.cycle), now)
                for one in self.connections
                if one.cycle is None or one.cycle.response_complete
            }
            for (one, answered), since in waiting.items():
                patience = self.first_patience if answered is None else self.patience
                if now - since >= patience and one.transport is not None:
                    one.transport.close()
