"""Connections to an HTTP engine: bounded, and not lost when a caller gives up."""

import asyncio

import httpx

# Many servers hang up after 5 s of silence; a connection that is about to be closed is not to be used.
_KEPT_SECONDS = 3.0


class BoundedTransport(httpx.AsyncHTTPTransport):
    """At most so many requests at once, each on a connection of its own; the others wait here.

    The pool beneath could keep the bound too. But a caller that is cancelled there while it waits, in the moment in
    which a connection falls to it, leaves that connection taken for ever, and after an engine that hung for a while
    none is left. Here nobody waits in the pool.
    """

    def __init__(self, connections: int) -> None:
        limits = httpx.Limits(
            max_connections=None, max_keepalive_connections=connections, keepalive_expiry=_KEPT_SECONDS
        )
        super().__init__(limits=limits)
        self._free = asyncio.Semaphore(connections)

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """The answer, read to its end: only then is its connection free."""
        async with self._free:
            response = await super().handle_async_request(request)
            await response.aread()
            return response
