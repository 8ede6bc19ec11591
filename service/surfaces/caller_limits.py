"""What one caller may ask for beside others, and what all may together: beyond, requests are refused at once, before
any work is done for them."""

import ipaddress
from collections import Counter

from starlette.types import ASGIApp, Receive, Scope, Send

from service.domain.principal import Principal
from service.settings import Settings
from service.surfaces.problems import Overloaded, ProblemResponses, RateExceeded, SurfaceRefused, TooManyAtOnce
from service.surfaces.rates import Rates

_PROBES = frozenset({"/livez", "/readyz", "/metrics"})
"""Answered under any load: an operator who is blind then can't help."""

_SHARED_BITS = 64
"""What one holder of IPv6 addresses has at the least: an address alone would be no name for it."""


class Shedding:
    """At most `requests_at_once` are worked on; one more is answered 503. Work that waits for ever helps nobody."""

    def __init__(self, app: ASGIApp, *, settings: Settings, problems: ProblemResponses) -> None:
        self.app = app
        self.problems = problems
        self.most = settings.requests_at_once
        self.running = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] in _PROBES:
            await self.app(scope, receive, send)
            return
        if self.running >= self.most:
            await self.problems.of(Overloaded(self.most), scope)(scope, receive, send)
            return
        self.running += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.running -= 1


class CallerLimits:
    """Rate and concurrency of each principal; callers without credentials are told apart by their address.

    They hold where callers must say who they are: on a loopback address without authentication there is one of them.
    The owner is never kept out.
    """

    def __init__(self, app: ASGIApp, *, settings: Settings, rates: Rates, problems: ProblemResponses) -> None:
        self.app = app
        self.settings = settings
        self.rates = rates
        self.problems = problems
        self.running: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        is_limited = scope["type"] == "http" and self.settings.authentication == "required"
        if not is_limited or scope["path"] in _PROBES or scope["state"]["principal"].is_owner:
            await self.app(scope, receive, send)
            return
        name, a_minute = self._share(scope["state"]["principal"], scope)
        refusal = await self._refusal(name, a_minute)
        if refusal is not None:
            await self.problems.of(refusal, scope)(scope, receive, send)
            return
        self.running[name] += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.running[name] -= 1
            if not self.running[name]:
                del self.running[name]

    async def _refusal(self, name: str, a_minute: int) -> SurfaceRefused | None:
        if self.running[name] >= self.settings.caller_requests:
            return TooManyAtOnce(self.settings.caller_requests)
        seconds = await self.rates.wait(name, a_minute)
        return None if seconds is None else RateExceeded(a_minute, seconds)

    def _share(self, principal: Principal, scope: Scope) -> tuple[str, int]:
        if principal.name != "anonymous":
            return principal.name, self.settings.caller_rate
        client = scope.get("client")
        return f"address:{_holder(client[0] if client else '')}", self.settings.address_rate


def _holder(address: str) -> str:
    try:
        place = ipaddress.ip_address(address)
    except ValueError:
        return address
    return str(ipaddress.ip_network((place, _SHARED_BITS), strict=False)) if place.version == 6 else address
