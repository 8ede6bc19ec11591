"""A sign-in to the console: a cookie that names a key for some hours, and is worth nothing once the key is not."""

import hashlib
import hmac
import secrets
from datetime import datetime, timedelta

from service.domain.keys import ApiKey
from service.settings import Settings
from service.surfaces.authentication.keys import KeyRing

COOKIE = "cogitave_query_session"

_LONGEST = 256


class Sessions:
    """`ID.EXPIRES.SIGNATURE`, signed over the key's hash too: nothing is stored, and no key stands in the cookie."""

    def __init__(self, settings: Settings, keys: KeyRing) -> None:
        self._keys = keys
        self._lifetime = timedelta(seconds=settings.session_lifetime)
        self._secret = settings.session_secret.get_secret_value().encode() or secrets.token_bytes(32)

    @property
    def seconds(self) -> int:
        return int(self._lifetime.total_seconds())

    def begin(self, key: ApiKey, now: datetime) -> str:
        """The cookie's value for the holder of a valid key."""
        until = str(int((now + self._lifetime).timestamp()))
        return f"{key.id}.{until}.{self._signature(key, until)}"

    async def key_of(self, cookie: str, now: datetime) -> ApiKey | None:
        """The key that a session was begun with; None where it has ended, for whatever reason."""
        id, _, rest = cookie[:_LONGEST].partition(".")
        until, _, signature = rest.partition(".")
        if not (until.isascii() and until.isdigit() and signature.isascii() and int(until) > now.timestamp()):
            return None
        key = await self._keys.find(id)
        if key is None or not key.is_valid(now):
            return None
        return key if hmac.compare_digest(signature, self._signature(key, until)) else None

    def _signature(self, key: ApiKey, until: str) -> str:
        signed = b"|".join((key.id.encode(), until.encode(), key.hash))
        return hmac.new(self._secret, signed, hashlib.sha256).hexdigest()
