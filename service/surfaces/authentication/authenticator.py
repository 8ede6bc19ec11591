"""Credentials of one request → the principal that they stand for."""

import hmac
from collections.abc import Mapping

from service.domain.principal import OWNER, Principal, Scope
from service.settings import Settings
from service.surfaces.problems import CredentialsInvalid
from service.surfaces.remote import OWNER_HEADER

UNAUTHENTICATED_SCOPES = frozenset({Scope.SEARCH, Scope.GRAPH, Scope.OPERATE})
"""What anyone may on a loopback address without authentication: read."""


class Authenticator:
    """Credentials that are presented are checked; `authentication` says whether there must be some."""

    def __init__(self, settings: Settings, *, owner_token: str | None) -> None:
        self._owner_token = owner_token
        self._is_required = settings.authentication == "required"
        scopes = settings.anonymous_scopes if self._is_required else UNAUTHENTICATED_SCOPES
        self._anonymous = Principal(scopes=frozenset(scopes))

    async def principal(self, headers: Mapping[str, str]) -> Principal:
        """Raises CredentialsInvalid for credentials that are wrong, whatever a caller without any might do."""
        if token := headers.get(OWNER_HEADER):
            return self._owner(token)
        scheme, _, token = headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self._is_required:
            raise CredentialsInvalid
        return self._anonymous

    def _owner(self, token: str) -> Principal:
        if self._owner_token is None or not hmac.compare_digest(token.encode(), self._owner_token.encode()):
            raise CredentialsInvalid
        return OWNER
