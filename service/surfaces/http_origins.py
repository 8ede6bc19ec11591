"""Requests that a web page of elsewhere makes in its reader's name: by another host's name, or from another origin."""

import ipaddress
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from service.settings import Settings
from service.surfaces.problems import HostForbidden, OriginForbidden, ProblemResponses, SurfaceRefused

_SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
"""What they answer can't be read by a page of another origin: no answer here ever allows it to."""

_ELSEWHERE = frozenset({"cross-site", "same-site"})
"""What a browser says in Sec-Fetch-Site of another origin's page: that counts where it names no origin."""


class OwnOrigins:
    """Refuses names that are not this server's (DNS rebinding), and posts from pages that are not its own."""

    def __init__(self, app: ASGIApp, *, settings: Settings, problems: ProblemResponses) -> None:
        self.app = app
        self.problems = problems
        self._origins = frozenset(settings.allowed_origins)
        self._hosts = frozenset(name.lower() for name in settings.allowed_hosts)
        public = _name_of(settings.public_url)
        self._takes_any = settings.authentication == "required" and not self._hosts
        if public:
            self._hosts |= {public}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and (refusal := self._refusal(scope["method"], Headers(scope=scope))):
            await self.problems.of(refusal, scope)(scope, receive, send)
            return
        await self.app(scope, receive, send)

    def _refusal(self, method: str, headers: Headers) -> SurfaceRefused | None:
        host = headers.get("host", "")
        if not (self._takes_any or self._is_own_name(_name_of(f"//{host}"))):
            return HostForbidden()
        origin = headers.get("origin")
        if method in _SAFE_METHODS:
            return None
        if origin is None:
            return OriginForbidden() if headers.get("sec-fetch-site", "").lower() in _ELSEWHERE else None
        if self._is_own_origin(origin, host):
            return None
        return OriginForbidden()

    def _is_own_name(self, name: str) -> bool:
        """A name without a dot is nobody's on the internet: it can't have been made to point here."""
        is_local = name != "" and "." not in name and ":" not in name
        return is_local or name in self._hosts or is_loopback(name)

    def _is_own_origin(self, origin: str, host: str) -> bool:
        if origin in self._origins:
            return True
        scheme, _, place = origin.partition("://")
        return scheme in ("http", "https") and (place == host or is_loopback(_name_of(origin)))


def is_loopback(name: str) -> bool:
    """Whether a host's name means the machine that it is said on."""
    try:
        return name == "localhost" or ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False


def _name_of(url: str) -> str:
    """The host of a URL in small letters, without its port; nothing where there is none, or no port is a number."""
    try:
        parts = urlsplit(url)
        return parts.hostname or "" if (parts.port or 0) >= 0 else ""
    except ValueError:
        return ""
