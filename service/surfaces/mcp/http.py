"""MCP over streamable HTTP. Nothing is kept from request to request, so any replica answers any of them."""

from typing import Any

from mcp.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from service.settings import Settings
from service.surfaces.mcp.server import AgentSurface

PATHS = ("/mcp", "/mcp/")


def routes(surface: AgentSurface) -> list[Route]:
    """POST alone: a server that never speaks first has no stream to open, and no session to end."""
    endpoint = StatelessEndpoint(surface.server(), surface.settings)
    return [Route(path, endpoint, methods=["POST"]) for path in PATHS]


class StatelessEndpoint:
    """One POST, one JSON answer. The work lives in the request's own task: a caller who leaves ends it."""

    def __init__(self, server: Server[Any], settings: Settings) -> None:
        self._server = server
        self._settings = settings

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        manager = StreamableHTTPSessionManager(
            self._server,
            json_response=True,
            stateless=True,
            max_request_body_size=self._settings.request_bytes,
        )
        async with manager.run():
            await manager.handle_request(scope, receive, send)
