"""The public keys of an OpenID provider: fetched with a deadline, kept, and fetched again when they change."""

import asyncio
import contextlib
import json
import time
from collections.abc import Iterator, Mapping
from itertools import chain
from typing import Any
from urllib.parse import urlsplit

import httpx
import structlog
from jwt import PyJWK
from jwt.exceptions import PyJWTError

from service.domain.errors import EngineUnavailable
from service.settings import Settings

ENGINE = "openid provider"

KeyName = tuple[str, str]
"""A key's id, and the algorithm that it is used with: a key that names none may serve several."""

_DISCOVERY = "/.well-known/openid-configuration"
_MOST_BYTES = 262_144


class SigningKeys:
    """Keys by their id. A provider that can't be asked is asked again after a pause; the keys it gave go on counting
    until `oidc_outage` has passed."""

    def __init__(self, settings: Settings, transport: httpx.AsyncBaseTransport | None = None) -> None:
        self._settings = settings
        self._client = httpx.AsyncClient(transport=transport, follow_redirects=False)
        self._keys: Mapping[KeyName, PyJWK] = {}
        self._fetched = self._tried = float("-inf")
        self._fetching = asyncio.Lock()

    async def key(self, name: KeyName) -> PyJWK | None:
        """The key of this name; one that nobody knows is looked for at the provider, at most once a pause.

        Raises EngineUnavailable where the provider never answered, or not for too long.
        """
        if not self._is_fresh(name):
            await self._refresh(name)
        if self._age > self._settings.oidc_outage:
            raise EngineUnavailable(ENGINE, "its keys can't be had, so no token can be checked; try again later")
        return self._keys.get(name)

    async def close(self) -> None:
        await self._client.aclose()

    @property
    def _age(self) -> float:
        return time.monotonic() - self._fetched

    def _is_fresh(self, name: KeyName) -> bool:
        return name in self._keys and self._age <= self._settings.oidc_keys_age

    async def _refresh(self, name: KeyName) -> None:
        """However many wait, one fetches; those after it see what it found, or that the pause has begun."""
        async with self._fetching:
            if self._is_fresh(name) or time.monotonic() - self._tried < self._settings.oidc_pause:
                return
            self._tried = time.monotonic()
            try:
                async with asyncio.timeout(self._settings.oidc_deadline / 1000):
                    self._keys = await self._fetch()
            except (TimeoutError, httpx.HTTPError, httpx.InvalidURL, ValueError, KeyError, TypeError) as error:
                reason = str(error) or type(error).__name__
                structlog.get_logger(__name__).warning("the provider's keys were not fetched", reason=reason)
                return
            self._fetched = time.monotonic()

    async def _fetch(self) -> Mapping[KeyName, PyJWK]:
        issuer = self._settings.oidc_issuer
        address = self._settings.oidc_keys_url
        if not address:
            document = await self._get(issuer.rstrip("/") + _DISCOVERY)
            if document["issuer"] != issuer:
                raise ValueError(f"{issuer} calls itself something else")
            address = str(document["jwks_uri"])
        found = await self._get(address)
        return dict(chain.from_iterable(self._readable(jwk) for jwk in found["keys"]))

    async def _get(self, url: str) -> Any:
        if not is_safe(url):
            raise ValueError(f"{url} is neither https nor of this machine")
        async with self._client.stream("GET", url, headers={"Accept": "application/json"}) as answer:
            answer.raise_for_status()
            body = bytearray()
            async for chunk in answer.aiter_bytes():
                body += chunk
                if len(body) > _MOST_BYTES:
                    raise ValueError(f"{url} answers with more than {_MOST_BYTES} bytes")
        return json.loads(body)

    def _readable(self, jwk: Any) -> Iterator[tuple[KeyName, PyJWK]]:
        """One key for signatures, once for each algorithm that is allowed here and that the key may be used for."""
        if not isinstance(jwk, dict) or jwk.get("use", "sig") != "sig" or not isinstance(jwk.get("kid"), str):
            return
        for algorithm in self._settings.oidc_algorithms:
            if jwk.get("alg", algorithm) == algorithm:
                with contextlib.suppress(PyJWTError):  # of another kind than the algorithm's
                    yield (jwk["kid"], algorithm), PyJWK(jwk, algorithm)


def is_safe(url: str) -> bool:
    """Whether nobody on the way can put keys of his own into the answer."""
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in ("localhost", "127.0.0.1", "::1"))
