"""A TCP proxy that fails on demand: what a network does to a connection."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import Enum

_CHUNK = 65_536
_DELAY_SECONDS = 0.4


class Fault(Enum):
    """NONE passes everything. Open connections feel a fault as well as new ones."""

    NONE = "none"
    DELAY = "delay"
    """Every answer comes late."""
    CUT = "cut"
    """Connections are closed at once."""
    HALF_OPEN = "half open"
    """The connection stands, and nothing comes through."""
    GARBAGE = "garbage"
    """What the server says comes as noise."""


class TcpProxy:
    """Between a client and a server on this machine.

    forwards_close: whether the server learns that a client hung up; behind some middlemen it doesn't.
    """

    def __init__(self, host: str, port: int) -> None:
        self._upstream = (host, port)
        self._open: set[asyncio.StreamWriter] = set()
        self._fault = Fault.NONE
        self.forwards_close = True
        self.port = 0

    @property
    def fault(self) -> Fault:
        return self._fault

    @fault.setter
    def fault(self, fault: Fault) -> None:
        self._fault = fault
        if fault is Fault.CUT:
            self._close_all()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if self._fault is Fault.CUT:
            writer.close()
            return
        try:
            up_reader, up_writer = await asyncio.open_connection(*self._upstream)
        except OSError:
            writer.close()
            return
        self._open |= {writer, up_writer}
        await asyncio.gather(
            self._pump(reader, up_writer, is_answer=False), self._pump(up_reader, writer, is_answer=True)
        )

    async def _pump(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, *, is_answer: bool) -> None:
        with contextlib.suppress(OSError):
            while chunk := await source.read(_CHUNK):
                if self._fault is Fault.HALF_OPEN:
                    continue
                if self._fault is Fault.DELAY and is_answer:
                    await asyncio.sleep(_DELAY_SECONDS)
                if self._fault is Fault.GARBAGE and is_answer:
                    chunk = b"\x00\xffgarbage\r\n" * 8
                sink.write(chunk)
                await sink.drain()
        if is_answer or self.forwards_close:
            sink.close()

    def _close_all(self) -> None:
        for writer in self._open:
            writer.close()
        self._open.clear()

    @classmethod
    @asynccontextmanager
    async def before(cls, host: str, port: int) -> AsyncIterator["TcpProxy"]:
        """Run a proxy on a free port of the loopback."""
        proxy = cls(host, port)
        server = await asyncio.start_server(proxy.serve, "127.0.0.1", 0)
        proxy.port = server.sockets[0].getsockname()[1]
        try:
            yield proxy
        finally:
            server.close()
            proxy._close_all()
