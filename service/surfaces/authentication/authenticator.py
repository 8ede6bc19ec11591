"""Credentials of one request → the principal that they stand for."""

import hmac
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass

import httpx
from starlette.datastructures import Headers
from starlette.requests import cookie_parser

from service.domain.errors import SettingInvalid
from service.domain.keys import PREFIX
from service.domain.principal import OWNER, Principal, Scope
from service.ports import KeyStore
from service.settings import Settings
from service.surfaces.authentication.keys import KeyRing, utc_now
from service.surfaces.authentication.sessions import COOKIE, Sessions
from service.surfaces.authentication.signing_keys import SigningKeys, is_safe
from service.surfaces.authentication.tokens import Tokens
from service.surfaces.problems import CredentialsInvalid
from service.surfaces.remote import OWNER_HEADER

UNAUTHENTICATED_SCOPES = frozenset({Scope.SEARCH, Scope.GRAPH, Scope.OPERATE})
"""What anyone may on a loopback address without authentication: read."""


@dataclass(frozen=True)
class Authenticator:
    """Credentials that are presented are checked; `is_required` says whether there must be some.

    keys, sessions, tokens: None where this server takes none of that kind.
    """

    anonymous: Principal
    is_required: bool
    owner_token: str | None = None
    keys: KeyRing | None = None
    sessions: Sessions | None = None
    tokens: Tokens | None = None

    async def principal(self, headers: Headers) -> Principal:
        """Raises CredentialsInvalid for wrong credentials, whatever a caller without any might do; Unavailable where
        nobody can say."""
        if token := headers.get(OWNER_HEADER):
            return self._owner(token)
        scheme, _, credentials = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return await self._bearer(credentials.strip())
        return await self._session(headers) or self.anonymous

    def _owner(self, token: str) -> Principal:
        if self.owner_token is None or not hmac.compare_digest(token.encode(), self.owner_token.encode()):
            raise CredentialsInvalid
        return OWNER

    async def _bearer(self, credentials: str) -> Principal:
        """Without authentication, what is neither a key nor from our issuer was meant for a proxy before us."""
        if credentials.startswith(PREFIX) and self.keys is not None:
            return (await self.keys.key_of(credentials)).principal
        if self.tokens is not None:
            return await self.tokens.principal(credentials)
        if self.is_required:
            raise CredentialsInvalid
        return self.anonymous

    async def _session(self, headers: Headers) -> Principal | None:
        """A session that has ended is none: its holder is asked to sign in again."""
        cookie = cookie_parser(headers.get("cookie", "")).get(COOKIE)
        if self.sessions is None or cookie is None:
            return None
        key = await self.sessions.key_of(cookie, utc_now())
        return None if key is None else key.principal


def anonymous(settings: Settings) -> Principal:
    """Who brings no credentials."""
    is_required = settings.authentication == "required"
    return Principal(scopes=frozenset(settings.anonymous_scopes) if is_required else UNAUTHENTICATED_SCOPES)


def check(settings: Settings) -> None:
    """Raises SettingInvalid for settings of access that leave a gap together."""
    if not settings.oidc_issuer:
        return
    if not is_safe(settings.oidc_issuer):
        raise SettingInvalid("oidc_issuer: it must be an https URL, or its keys could be anyone's.")
    for name in ("oidc_audiences", "public_url"):
        if not getattr(settings, name):
            raise SettingInvalid(f"{name}: it must be set where oidc_issuer is, or tokens for others were taken.")


@asynccontextmanager
async def open_authenticator(
    settings: Settings,
    store: KeyStore | None = None,
    *,
    owner_token: str | None = None,
    transport: httpx.AsyncBaseTransport | None = None,
) -> AsyncIterator[Authenticator]:
    """All that the settings ask for, until the context is left. transport: the way to the issuer of tokens.

    Raises SettingInvalid.
    """
    check(settings)
    async with AsyncExitStack() as opened:
        keys = sessions = tokens = None
        if store is not None:
            keys = KeyRing(store, settings)
            opened.push_async_callback(keys.close)
            sessions = Sessions(settings, keys)
        if settings.oidc_issuer:
            tokens = Tokens(settings, SigningKeys(settings, transport))
            opened.push_async_callback(tokens.close)
        is_required = settings.authentication == "required"
        yield Authenticator(anonymous(settings), is_required, owner_token, keys, sessions, tokens)
