"""Where a client of MCP gets a token for this server: its protected-resource metadata (RFC 9728)."""

from typing import Any

from fastapi import APIRouter

from service.domain.principal import Scope
from service.settings import Settings
from service.surfaces.openapi import TITLE

PATH = "/.well-known/oauth-protected-resource"
AGENTS = "/mcp"


def routes(settings: Settings) -> APIRouter:
    """The document of the whole server, and of what agents talk to; none where no issuer is trusted."""
    router = APIRouter(include_in_schema=False)
    if settings.oidc_issuer:
        for below in ("", AGENTS):
            router.add_api_route(PATH + below, _document(settings, below), methods=["GET"])
    return router


def challenge(settings: Settings, path: str) -> str | None:
    """What WWW-Authenticate says of where a token can be had, for a request of `path`."""
    if not settings.oidc_issuer:
        return None
    below = AGENTS if path.rstrip("/") == AGENTS else ""
    return f'resource_metadata="{settings.public_url.rstrip("/")}{PATH}{below}"'


def _document(settings: Settings, below: str) -> Any:
    async def document() -> dict[str, Any]:
        return {
            "resource": settings.public_url.rstrip("/") + below,
            "resource_name": TITLE,
            "authorization_servers": [settings.oidc_issuer],
            "bearer_methods_supported": ["header"],
            "scopes_supported": [scope.value for scope in Scope],
        }

    return document
