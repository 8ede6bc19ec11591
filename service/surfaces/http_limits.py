"""What one HTTP request may cost, before any route sees it: bytes, time, and no work for a caller who has gone."""

import asyncio
from collections.abc import Collection

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.domain.deadline import Deadline
from service.surfaces.problems import BodyLate, BodyTooLarge, ProblemResponses, RequestLate


class ClientGone(Exception):
    """The connection closed before the request was whole."""


class HttpLimits:
    """Reads the body whole, at most `body_bytes`; stops the work at the deadline, or when the caller disconnects.

    milliseconds: from the first byte of the headers to the first of the answer; paths in `untimed` may take longer
    once their body is there. A bug of the application below ends here as a problem, too.
    """

    def __init__(
        self, app: ASGIApp, *, problems: ProblemResponses, body_bytes: int, milliseconds: int, untimed: Collection[str]
    ) -> None:
        self.app = app
        self.problems = problems
        self.body_bytes = body_bytes
        self.milliseconds = milliseconds
        self.untimed = untimed

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        deadline = Deadline.after(self.milliseconds)
        attempt = _Attempt(send)
        try:
            body = await self._read_body(scope, receive, deadline)
            seconds = None if scope["path"] in self.untimed else deadline.seconds_left
            await self._work(scope, body, receive, attempt, seconds)
        except ClientGone:
            return
        except Exception as error:
            if attempt.answered:
                raise
            await self.problems.of(error)(scope, receive, send)

    async def _read_body(self, scope: Scope, receive: Receive, deadline: Deadline) -> bytes:
        """A body above the cap is read to its end but not kept: who is still writing would not hear the answer."""
        headers = dict(scope["headers"])
        length = headers.get(b"content-length", b"")
        if b"expect" in headers and length.isdigit() and int(length[:20]) > self.body_bytes:
            raise BodyTooLarge(self.body_bytes)
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
                    if size <= self.body_bytes:
                        body += chunk
                    more = message.get("more_body", False)
        except TimeoutError:
            if size <= self.body_bytes:
                raise BodyLate(self.milliseconds) from None
        if size > self.body_bytes:
            raise BodyTooLarge(self.body_bytes)
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
