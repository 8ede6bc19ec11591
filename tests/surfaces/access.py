"""Callers of an application that wants to know who asks: keys, an issuer of tokens, and what both hand out."""

import json
import time
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from fastapi import FastAPI
from starlette.routing import Mount

from service.domain.deadline import Deadline
from service.domain.errors import EngineUnavailable
from service.domain.keys import ApiKey, mint
from service.domain.principal import Scope
from service.settings import Settings
from service.surfaces.application import application
from service.surfaces.authentication import open_authenticator
from service.tools.toolbox import Toolbox

OWNER_TOKEN = "the-owners-token"
ISSUER = "https://login.example.org/tenant"
AUDIENCE = "https://docs.example.org"

REQUIRED = Settings(authentication="required", publish_heartbeat=20)
WITH_TOKENS = REQUIRED.model_copy(
    update={"oidc_issuer": ISSUER, "oidc_audiences": (AUDIENCE,), "public_url": "https://docs.example.org"}
)


def bearer(text: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {text}"}


@dataclass
class MemoryKeyStore:
    """Fulfils KeyStore; counts what it is asked, and is down when told to."""

    keys: dict[str, ApiKey] = field(default_factory=dict)
    asked: int = 0
    is_down: bool = False

    def issue(
        self,
        *scopes: Scope,
        classes: tuple[str, ...] = (),
        name: str = "test",
        lasts: timedelta | None = None,
    ) -> str:
        """The text of a new key."""
        now = datetime.now(UTC)
        expires_at = None if lasts is None else now + lasts
        key, text = mint(name, frozenset(scopes), frozenset(classes), now=now, expires_at=expires_at)
        self.keys[key.id] = key
        return text

    async def add(self, key: ApiKey, *, deadline: Deadline) -> None:
        self.keys[key.id] = key

    async def find(self, id: str, *, deadline: Deadline) -> ApiKey | None:
        self.asked += 1
        if self.is_down:
            raise EngineUnavailable("key store", "down")
        return self.keys.get(id)

    async def all(self, *, deadline: Deadline) -> list[ApiKey]:
        return list(self.keys.values())

    async def revoke(self, id: str, at: datetime, *, deadline: Deadline) -> bool:
        key = self.keys[id]
        self.keys[id] = ApiKey(
            key.id, key.hash, key.name, key.scopes, key.audiences, key.created_at, key.expires_at, at
        )
        return True

    async def used(self, id: str, at: datetime, *, deadline: Deadline) -> None:
        if self.is_down:
            raise EngineUnavailable("key store", "down")
        key = self.keys[id]
        self.keys[id] = ApiKey(
            key.id, key.hash, key.name, key.scopes, key.audiences, key.created_at, key.expires_at, key.revoked_at, at
        )

    async def close(self) -> None:
        return None


@dataclass
class MemoryAuditLog:
    """Fulfils AuditLog."""

    events: list[Mapping[str, Any]] = field(default_factory=list)

    def append(self, event: Mapping[str, Any]) -> None:
        self.events.append(event)

    def close(self) -> None:
        return None


class Issuer:
    """An OpenID provider: its documents over httpx, and tokens by its private keys."""

    def __init__(self) -> None:
        self.private: dict[str, Any] = {"first": rsa.generate_private_key(public_exponent=65537, key_size=2048)}
        self.requests: list[str] = []
        self.is_down = False
        self.discovery: dict[str, Any] = {"issuer": ISSUER, "jwks_uri": f"{ISSUER}/keys"}
        self.extra_keys: list[dict[str, Any]] = []
        self.transport = httpx.MockTransport(self._answer)

    def rotate(self, id: str) -> None:
        self.private = {id: rsa.generate_private_key(public_exponent=65537, key_size=2048)}

    def claims(self, **changed: Any) -> dict[str, Any]:
        """Of a token that is valid; a claim that is given as None is left out."""
        now = int(time.time())
        claims = {"iss": ISSUER, "aud": AUDIENCE, "sub": "someone", "iat": now, "nbf": now, "exp": now + 600, **changed}
        return {name: value for name, value in claims.items() if value is not None}

    def token(self, *, kid: str | None = None, headers: dict[str, Any] | None = None, **changed: Any) -> str:
        kid = kid or next(iter(self.private))
        private = self.private[kid]
        algorithm = "ES256" if isinstance(private, ec.EllipticCurvePrivateKey) else "RS256"
        payload = json.dumps(self.claims(**changed)).encode()  # claims of a wrong kind, too
        return jwt.PyJWS().encode(payload, private, algorithm, headers={"typ": "JWT", "kid": kid} | (headers or {}))

    def jwks(self) -> dict[str, Any]:
        keys = []
        for id, private in self.private.items():
            kind = jwt.algorithms.RSAAlgorithm if isinstance(private, rsa.RSAPrivateKey) else jwt.algorithms.ECAlgorithm
            keys.append({**json.loads(kind.to_jwk(private.public_key())), "kid": id, "use": "sig"})
        return {"keys": [*keys, *self.extra_keys]}

    def _answer(self, request: httpx.Request) -> httpx.Response:
        self.requests.append(str(request.url))
        if self.is_down:
            raise httpx.ConnectError("no route")
        documents = {
            f"{ISSUER}/.well-known/openid-configuration": self.discovery,
            f"{ISSUER}/keys": self.jwks(),
        }
        found = documents.get(str(request.url))
        return httpx.Response(404) if found is None else httpx.Response(200, json=found)


@dataclass
class Service:
    """An application, its callers' keys, the issuer it trusts, and its audit log."""

    app: FastAPI
    client: httpx.AsyncClient
    keys: MemoryKeyStore
    issuer: Issuer
    audit: MemoryAuditLog


@asynccontextmanager
async def service(toolbox: Toolbox, settings: Settings = REQUIRED) -> AsyncIterator[Service]:
    """Over `toolbox`, which the caller closes."""
    keys, issuer, audit = MemoryKeyStore(), Issuer(), MemoryAuditLog()
    async with open_authenticator(settings, keys, owner_token=OWNER_TOKEN, transport=issuer.transport) as authenticator:
        app = application(toolbox, settings, authenticator=authenticator, audit_log=audit)
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=60) as client:
            yield Service(app, client, keys, issuer, audit)


def listed_routes(routes: Iterable[Any]) -> Iterator[tuple[str, str]]:
    """Every (method, path) that an application answers, from its live routes."""
    for route in routes:
        if isinstance(route, Mount):
            yield "GET", f"{route.path}/console.css"
        elif hasattr(route, "effective_candidates"):
            yield from listed_routes(route.effective_candidates())
        else:
            for method in sorted(route.methods - {"HEAD"}):
                yield method, str(route.path)
