"""What one HTTP request may cost, before any route sees it: bytes, time, and no work for a caller who has gone."""

import asyncio
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.domain.deadline import Deadline
from service.domain.principal import Principal
from service.domain.principal import Scope as Permission
from service.surfaces.problems import BodyLate, BodyTooLarge, ProblemResponses, RequestLate


class ClientGone(Exception):
    """The connection closed before the request was whole."""


@dataclass(frozen=True, slots=True)
class BodyBounds:
    """The largest body, and the time in which it must be there."""

    size: int
    milliseconds: int


@dataclass(frozen=True, slots=True)
class Upload:
    """A larger body that callers with `permission` may send; from others it is not even read."""

    permission: Permission
    bounds: BodyBounds


class HttpLimits:
    """Reads the body whole, at most `body_bytes`; stops the work at the deadline, or when the caller disconnects.

    milliseconds: from the first byte of the headers to the first of the answer; paths in `untimed` may take longer
    once their body is there. uploads: paths that take more. A bug of the application below ends here as a problem, too.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        problems: ProblemResponses,
        body_bytes: int,
        milliseconds: int,
        untimed: Collection[str],
        uploads: Mapping[str, Upload] | None = None,
    ) -> None:
        self.app = app
        self.problems = problems
        self.body_bytes = body_bytes
        self.milliseconds = milliseconds
        self.untimed = untimed
        self.uploads = uploads or {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        bounds = self._bounds(scope)
        deadline = Deadline.after(bounds.milliseconds)
        attempt = _Attempt(send)
        try:
            body = await self._read_body(scope, receive, deadline, bounds)
            seconds = None if scope["path"] in self.untimed else deadline.seconds_left
            await self._work(scope, body, receive, attempt, seconds)
        except ClientGone:
            return
        except Exception as error:
            if attempt.answered:
                raise
            await self.problems.of(error, scope)(scope, receive, send)

    def _bounds(self, scope: Scope) -> BodyBounds:
        upload = self.uploads.get(scope["path"])
        caller: Principal | None = scope.get("state", {}).get("principal")
        if upload is not None and caller is not None and upload.permission in caller.scopes:
            return upload.bounds
        return BodyBounds(self.body_bytes, self.milliseconds)

    async def _read_body(self, scope: Scope, receive: Receive, deadline: Deadline, bounds: BodyBounds) -> bytes:
        """A body above the cap is read to its end but not kept: who is still writing would not hear the answer."""
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"")
        if b"expect" in headers and length.isdigit() and int(length[:20]) > bounds.size:
            raise BodyTooLarge(bounds.size)
        body, size = bytearray(), 0
        try:
            async with asyncio.timeout(deadline.seconds_left):
                more = True
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise ClientGone
                    chunk = message.get("body", b"")
                    size += len(chunk)
                    if size <= bounds.size:
                        body += chunk
                    more = message.get("more_body", False)
        except TimeoutError:
            if size <= bounds.size:
                raise BodyLate(bounds.milliseconds) from None
        if size > bounds.size:
            raise BodyTooLarge(bounds.size)
        return bytes(body)

    async def _work(
        self, scope: Scope, body: bytes, receive: Receive, attempt: "_Attempt", seconds: float | None
    ) -> None:
        gone = asyncio.create_task(_disconnected(receive))
        work = asyncio.create_task(_run(self.app, scope, _replay(body, gone), attempt.send))
        try:
            await asyncio.wait({work, gone}, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                work.result()
                return
            raise ClientGone if gone.done() else RequestLate(self.milliseconds)
        finally:
            work.cancel()
            gone.cancel()
            await asyncio.gather(work, gone, return_exceptions=True)


class _Attempt:
    """Knows whether an answer has begun: a second one can't follow it."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.answered = False

    async def send(self, message: Message) -> None:
        self.answered = True
        await self._send(message)


async def _run(app: ASGIApp, scope: Scope, receive: Receive, send: Send) -> None:
    await app(scope, receive, send)


async def _disconnected(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


def _replay(body: bytes, gone: "asyncio.Task[None]") -> Receive:
    """The body that was read as one message, then silence until the caller disconnects."""
    unread = True

    async def receive() -> Message:
        nonlocal unread
        if unread:
            unread = False
            return {"type": "http.request", "body": body, "more_body": False}
        await asyncio.wait({gone})
        return {"type": "http.disconnect"}

    return receive
