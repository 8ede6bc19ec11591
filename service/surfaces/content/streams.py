"""Answers that are made as they are read: a page of the estate at a time, and no faster than the reader takes them."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import aclosing
from typing import TypeVar

import structlog
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from service.domain.documents import DocumentPage, SummaryPage
from service.domain.errors import CursorStale, SnapshotReplaced
from service.domain.principal import Principal
from service.domain.requests import EstateRequest
from service.surfaces.http_limits import ClientGone
from service.tools.catalogue import Tool
from service.tools.toolbox import Toolbox

Page = TypeVar("Page", DocumentPage, SummaryPage)


class EstatePages(AsyncIterator[Page]):
    """The pages of one snapshot, the first of which was read already. Raises SnapshotReplaced."""

    def __init__(
        self, toolbox: Toolbox, tool: Tool[EstateRequest, Page], request: EstateRequest, caller: Principal, first: Page
    ) -> None:
        self._toolbox = toolbox
        self._tool: Tool[EstateRequest, Page] = tool
        self._request = request
        self._caller = caller
        self._next: Page | None = first
        self._cursor: str | None = None
        self.content_root = first.content_root

    @classmethod
    async def open(
        cls, toolbox: Toolbox, tool: Tool[EstateRequest, Page], request: EstateRequest, caller: Principal
    ) -> "EstatePages[Page]":
        """Raises what the tool raises: what is refused keeps its own status."""
        return cls(toolbox, tool, request, caller, await toolbox.call(tool, request, caller))

    async def __anext__(self) -> Page:
        page, self._next = self._next, None
        if page is None:
            if self._cursor is None:
                raise StopAsyncIteration
            following = self._request.model_copy(update={"cursor": self._cursor})
            try:
                page = await self._toolbox.call(self._tool, following, self._caller)
            except CursorStale:
                raise SnapshotReplaced(
                    "The estate was published anew while it was read: what came so far is of the snapshot before. "
                    "Ask again."
                ) from None
        self._cursor = page.next_cursor
        return page


class Stream(Response):
    """Sends chunks as the reader takes them: one that takes nothing for `silence` seconds is given up.

    A stream that breaks off ends without its last chunk, so that no reader takes it for whole.
    """

    def __init__(
        self, chunks: AsyncIterator[bytes], *, media_type: str, headers: Mapping[str, str], silence: float
    ) -> None:
        self._chunks = chunks
        self._silence = silence
        self.status_code = 200
        self.media_type = media_type
        self.background = None
        self.init_headers(headers)

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        async with aclosing(self._chunks) as chunks:  # type: ignore[type-var]
            try:
                async for chunk in chunks:
                    async with asyncio.timeout(self._silence):
                        await send({"type": "http.response.body", "body": chunk, "more_body": True})
                    # Who is gone takes everything at once: here the loop gets to stop the work for nobody.
                    await asyncio.sleep(0)
            except (SnapshotReplaced, TimeoutError) as error:
                structlog.get_logger(__name__).warning("stream broken off", path=scope["path"], reason=str(error))
                raise ClientGone from None
        await send({"type": "http.response.body", "body": b""})
