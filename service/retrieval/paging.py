"""Opaque cursors: a page's place in a window that is pinned to one snapshot, one request and one set of legs."""

import base64
import hashlib
import json
from dataclasses import dataclass

from pydantic import BaseModel

from service.domain.errors import CursorForeign, CursorStale, LimitOutOfRange
from service.domain.principal import Principal
from service.domain.requests import CatalogRequest, EstateRequest
from service.domain.snapshots import Snapshot
from service.settings import Settings

Paged = CatalogRequest | EstateRequest
"""Listings by key whose pages are pinned to one snapshot."""


@dataclass(frozen=True, slots=True)
class Cursor:
    """`position` is an offset into a search's window, or the last key of a listing. `legs` are those that were live,
    `tuning` the version of it that counted."""

    content_root: str
    request: str
    as_of: str
    legs: tuple[str, ...]
    position: int | str
    tuning: int | None = None

    def encode(self) -> str:
        body = [self.content_root, self.request, self.as_of, list(self.legs), self.position, self.tuning]
        text = json.dumps(body, separators=(",", ":")).encode()
        return base64.urlsafe_b64encode(_checksum(text) + text).decode().rstrip("=")


def decode(text: str, *, request: str, snapshot: Snapshot, longest: int) -> Cursor:
    """Read a cursor back. Raises CursorForeign for one that isn't ours or was made for another request, CursorStale for
    one whose snapshot has been replaced."""
    if len(text) > longest:
        raise CursorForeign("This cursor is longer than any that this service makes; start without a cursor.")
    try:
        raw = base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)
        checksum, body = raw[:8], raw[8:]
        if checksum != _checksum(body):
            raise ValueError
        content_root, pinned, as_of, legs, position, tuning = json.loads(body)
        cursor = Cursor(content_root, pinned, as_of, tuple(legs), position, tuning)
    except ValueError:
        raise CursorForeign("This cursor was not made by this service; start without a cursor.") from None
    if cursor.request != request:
        raise CursorForeign("This cursor belongs to another request; send the request that it came from.")
    if cursor.content_root != snapshot.content_root:
        raise CursorStale("The estate was published anew since this cursor was made; send the request without it.")
    return cursor


def fingerprint(request: BaseModel, visibility_class: tuple[str, ...]) -> str:
    """Names a request apart from its cursor, page size and explanation: pages of one request may differ in those."""
    apart = {"cursor", "limit", "explain", "facets", "logged", "max_tokens"}
    body = request.model_dump_json(exclude=apart)
    return hashlib.sha256(json.dumps([type(request).__name__, body, visibility_class]).encode()).hexdigest()[:16]


def place(request: Paged, principal: Principal, snapshot: Snapshot, settings: Settings) -> str:
    """The key after which a page of a listing begins; '' without a cursor. Raises what `decode` raises."""
    if request.cursor is None:
        return ""
    pinned = fingerprint(request, principal.visibility_class)
    cursor = decode(request.cursor, request=pinned, snapshot=snapshot, longest=settings.cursor_characters)
    return str(cursor.position)


def onwards(request: Paged, principal: Principal, snapshot: Snapshot, key: str) -> str:
    """The cursor of what follows `key` in a listing."""
    pinned = fingerprint(request, principal.visibility_class)
    return Cursor(snapshot.content_root, pinned, "", (), key).encode()


def page_size(limit: int | None, settings: Settings) -> int:
    """The request's limit, or the default. Raises LimitOutOfRange."""
    if limit is None:
        return settings.search_limit
    if not 1 <= limit <= settings.search_limit_cap:
        raise LimitOutOfRange(
            f"The limit must lie between 1 and {settings.search_limit_cap}; page through more with `cursor`."
        )
    return limit


def _checksum(body: bytes) -> bytes:
    return hashlib.blake2b(body, digest_size=8, person=b"cogitave-cursor").digest()
