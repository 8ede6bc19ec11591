"""Conditional requests (RFC 9110, 13): an answer that a caller still has is not made and not sent again.

An entity tag stands for the snapshot, what the caller may see, the request, and the service's own settings and
version: two callers of one visibility class share tags, and nobody else's can be guessed into a hit.
"""

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Annotated

from fastapi import Depends, Request
from starlette.responses import Response

from service.domain.filters import NodeFilter
from service.domain.requests import SnapshotRequest
from service.retrieval.tuning import workspace_of
from service.settings import Settings
from service.surfaces.dependencies import Caller, Tools
from service.tools import estate

_ENTITY_TAG = re.compile(r'(?:W/)?("[\x21\x23-\x7e\x80-\xff]*")')

_NAMED = {"Cache-Control": "private, no-cache", "Vary": "Authorization, Cookie"}
"""One caller's cache may keep an answer, and asks each time whether it still holds."""


def variant_of(settings: Settings, version: str) -> str:
    """Names what else an answer depends on; secrets are left out by the settings themselves."""
    return hashlib.sha256(f"{version} {settings.model_dump_json()}".encode()).hexdigest()


@dataclass(frozen=True)
class Validator:
    """One request's validators. `wanted` is its If-None-Match, `path` its path and query as they were sent.

    tuning: the version of it that a search counts.
    is_weak: its answers say the same but differ in what passes: times, the name of the run.
    """

    content_root: str
    wanted: str
    path: str
    visibility_class: tuple[str, ...]
    variant: str
    is_weak: bool
    tuning: int = 0
    is_settled: bool = field(default=True)
    """False while a large publish is applied in parts, or the graph can't say what answers: nothing that is read then
    is kept, nor is what is kept confirmed."""

    @property
    def is_fresh(self) -> bool:
        """The caller has the very answer that it would get, and must not be sent it again."""
        return self.is_settled and _opaque(self._tag(self.content_root)) in _ENTITY_TAG.findall(self.wanted)

    def not_modified(self) -> Response:
        return Response(status_code=304, headers=self.headers(self.content_root))

    def headers(self, content_root: str) -> dict[str, str]:
        """Of an answer that is of this snapshot."""
        if not self.is_settled:
            return {**_NAMED, "Cache-Control": "no-store"}
        return {**_NAMED, "ETag": self._tag(content_root)}

    def answer(
        self, body: bytes, media_type: str, *, content_root: str, is_whole: bool = True, more: Mapping[str, str] = {}
    ) -> Response:
        """200 with the body, or 304 to `If-None-Match: *`, which any answer matches.

        is_whole: False for an answer that lacks what was down: the next may have it.
        """
        if not is_whole:
            return Response(body, headers={**_NAMED, "Cache-Control": "no-store", **more}, media_type=media_type)
        headers = self.headers(content_root)
        if self.is_settled and self.wanted.strip() == "*":
            return Response(status_code=304, headers=headers)
        return Response(body, headers={**headers, **more}, media_type=media_type)

    def _tag(self, content_root: str) -> str:
        named: list[object] = [content_root, self.path, self.visibility_class, self.variant]
        named += [_today(), self.tuning] if self.is_weak else []
        digest = hashlib.sha256(json.dumps(named).encode()).digest()
        opaque = f'"{base64.urlsafe_b64encode(digest[:18]).decode()}"'
        return f"W/{opaque}" if self.is_weak else opaque


def _today() -> str:
    """Searches weigh ages, by the day."""
    return datetime.now(UTC).date().isoformat()


def _opaque(tag: str) -> str:
    """A tag as the weak comparison sees it."""
    return tag.removeprefix("W/")


async def _validator(http: Request, toolbox: Tools, caller: Caller, *, is_weak: bool) -> Validator:
    pairs = (pair.partition("=") for pair in http.query_params.getlist("filter"))
    narrowed = NodeFilter(workspace=tuple(value for name, _, value in pairs if name == "workspace"))
    snapshot = await toolbox.call(estate.SNAPSHOT, SnapshotRequest(workspace=workspace_of(narrowed)), caller)
    path = http.scope.get("raw_path") or http.url.path.encode()
    return Validator(
        content_root=snapshot.content_root,
        wanted=", ".join(http.headers.getlist("if-none-match")),
        path=f"{path.decode('latin-1')}?{http.scope['query_string'].decode('latin-1')}",
        visibility_class=caller.visibility_class,
        variant=http.app.state.variant,
        is_weak=is_weak,
        tuning=snapshot.tuning_version,
        is_settled=not (snapshot.publishing or snapshot.degraded),
    )


async def _weak(http: Request, toolbox: Tools, caller: Caller) -> Validator:
    return await _validator(http, toolbox, caller, is_weak=True)


async def _strong(http: Request, toolbox: Tools, caller: Caller) -> Validator:
    return await _validator(http, toolbox, caller, is_weak=False)


WeakValidator = Annotated[Validator, Depends(_weak)]
StrongValidator = Annotated[Validator, Depends(_strong)]
