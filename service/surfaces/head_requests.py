"""HEAD for every path that answers GET (RFC 9110, 9.3.2): the same headers, no body."""

from starlette.types import ASGIApp, Message, Receive, Scope, Send


class HeadAnswered(Exception):
    """The headers of a stream have left: nobody waits for what would follow."""


class HeadRequests:
    """Asks the application for GET and keeps the body back. A stream is stopped at its beginning."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return
        as_get = {**scope, "method": "GET"}

        async def send_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                await send(message)
            elif message["type"] == "http.response.body":
                await send({"type": "http.response.body", "body": b""})
                raise HeadAnswered

        try:
            await self.app(as_get, receive, send_headers)
        except HeadAnswered:
            pass
        finally:
            if "route" in as_get:
                scope["route"] = as_get["route"]
