"""MCP over streamable HTTP. Nothing is kept from request to request, so any replica answers any of them.

A call whose caller lacks its scope is answered 403, WWW-Authenticate naming the scope and where tokens are to be had,
as MCP's authorization asks for (Scope Challenge Handling, revisions 2025-11-25 and 2026-07-28): a client that can get
a token with more asks its user for it. The body is a JSON-RPC error, for clients that can't.
"""

import json
from collections.abc import Callable
from typing import Any

from mcp.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp_types import INVALID_REQUEST
from starlette.datastructures import Headers
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Message, Receive, Scope, Send

from service.settings import Settings
from service.surfaces.authentication.metadata import challenge
from service.surfaces.mcp.server import AgentSurface
from service.surfaces.problems import AccessRefused, MediaTypeRefused, ProblemResponses
from service.surfaces.strict_json import is_json

PATHS = ("/mcp", "/mcp/")


def routes(surface: AgentSurface, problems: ProblemResponses) -> list[Route]:
    """POST alone: a server that never speaks first has no stream to open, and no session to end."""
    endpoint = StatelessEndpoint(surface.server(), surface.settings, problems)
    return [Route(path, endpoint, methods=["POST"]) for path in PATHS]


class StatelessEndpoint:
    """One POST, one JSON answer. The work lives in the request's own task: a caller who leaves ends it."""

    def __init__(self, server: Server[Any], settings: Settings, problems: ProblemResponses) -> None:
        self._server = server
        self._settings = settings
        self._problems = problems

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not is_json(Headers(scope=scope)):
            await self._problems.of(MediaTypeRefused())(scope, receive, send)
            return
        manager = StreamableHTTPSessionManager(
            self._server,
            json_response=True,
            stateless=True,
            max_request_body_size=self._settings.request_bytes,
        )
        answer = _Answer(scope, send, self._forbidden)
        async with manager.run():
            await manager.handle_request(scope, receive, answer.send)

    def _forbidden(self, refusal: AccessRefused, scope: Scope, body: bytes) -> Response:
        """In place of `body`, the answer that says so to a model."""
        told = self._problems.of(refusal)
        headers = {"WWW-Authenticate": told.headers["WWW-Authenticate"]}
        if where := challenge(self._settings, scope["path"]):
            headers["WWW-Authenticate"] += f", {where}"
        error = {"code": INVALID_REQUEST, "message": refusal.message, "data": {"code": refusal.code}}
        named = json.loads(body).get("id") if body else None
        return JSONResponse({"jsonrpc": "2.0", "id": named, "error": error}, told.status_code, headers)


class _Answer:
    """The SDK's answer as it is, unless access was refused meanwhile: then one that HTTP's clients understand."""

    def __init__(self, scope: Scope, send: Send, forbidden: Callable[[AccessRefused, Scope, bytes], Response]) -> None:
        self._scope = scope
        self._send = send
        self._forbidden = forbidden

    async def send(self, message: Message) -> None:
        refusal = self._scope.get("state", {}).get("refusal")
        if refusal is None:
            await self._send(message)
        elif message["type"] == "http.response.body" and not message.get("more_body"):
            await self._forbidden(refusal, self._scope, message.get("body", b""))(self._scope, _nothing, self._send)


async def _nothing() -> Message:
    return {"type": "http.disconnect"}
