"""API keys: `cq_ID_SECRET`. The id may be shown; of the secret, nothing but its hash is ever stored.

The secret has 256 random bits, so that one SHA-256 is enough: there is nothing to guess, and a slow hash would only be
a way to keep the server busy.
"""

import hashlib
import hmac
import json
import secrets
from dataclasses import dataclass, field
from datetime import datetime

from service.domain.principal import Principal, Scope

PREFIX = "cq_"

_LONGEST = 128
_NO_HASH = bytes(hashlib.sha256().digest_size)


@dataclass(frozen=True, slots=True)
class ApiKey:
    """One key as it is stored. Times are of UTC; `expires_at` None: never."""

    id: str
    hash: bytes = field(repr=False)
    name: str
    scopes: frozenset[Scope]
    audiences: frozenset[str]
    created_at: datetime
    expires_at: datetime | None = None
    revoked_at: datetime | None = None
    last_used_at: datetime | None = None

    def opens(self, secret: str, now: datetime) -> bool:
        """Whether this secret is the key's, and the key still valid. Takes the same time for any wrong secret."""
        is_right = hmac.compare_digest(self.hash, _hash(secret))
        return is_right and self.is_valid(now)

    def is_valid(self, now: datetime) -> bool:
        return self.revoked_at is None and (self.expires_at is None or now < self.expires_at)

    @property
    def principal(self) -> Principal:
        return Principal(f"key:{self.id}", self.audiences, self.scopes)


def mint(
    name: str, scopes: frozenset[Scope], audiences: frozenset[str], *, now: datetime, expires_at: datetime | None
) -> tuple[ApiKey, str]:
    """A new key, and its text: the only time that anyone sees it."""
    id, secret = secrets.token_hex(6), secrets.token_urlsafe(32)
    return ApiKey(id, _hash(secret), name, scopes, audiences, now, expires_at), f"{PREFIX}{id}_{secret}"


def split(text: str) -> tuple[str, str] | None:
    """The id and the secret of a key's text; None where it is no such text."""
    id, separator, secret = text[: _LONGEST + 1].removeprefix(PREFIX).partition("_")
    is_one = text.startswith(PREFIX) and len(text) <= _LONGEST and id and separator and secret and text.isascii()
    return (id, secret) if is_one else None


def opens_nothing(secret: str) -> bool:
    """What a secret of an unknown id is compared with: the answer takes as long as for a known one."""
    return hmac.compare_digest(_NO_HASH, _hash(secret))


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode()).digest()


def key_to_json(key: ApiKey) -> str:
    """What never changes of a key: all but when it was revoked and last used."""
    return json.dumps(
        {
            "hash": key.hash.hex(),
            "name": key.name,
            "scopes": sorted(key.scopes),
            "audiences": sorted(key.audiences),
            "createdAt": key.created_at.isoformat(),
            "expiresAt": _text(key.expires_at),
        }
    )


def key_from_json(id: str, body: str, revoked_at: str | None, last_used_at: str | None) -> ApiKey:
    value = json.loads(body)
    return ApiKey(
        id=id,
        hash=bytes.fromhex(value["hash"]),
        name=value["name"],
        scopes=frozenset(Scope(scope) for scope in value["scopes"]),
        audiences=frozenset(value["audiences"]),
        created_at=datetime.fromisoformat(value["createdAt"]),
        expires_at=_time(value["expiresAt"]),
        revoked_at=_time(revoked_at),
        last_used_at=_time(last_used_at),
    )


def _text(time: datetime | None) -> str | None:
    return None if time is None else time.isoformat()


def _time(text: str | None) -> datetime | None:
    return None if text is None else datetime.fromisoformat(text)
