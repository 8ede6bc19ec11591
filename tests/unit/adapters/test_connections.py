"""A bounded pool that an engine which hangs can't use up."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import httpx

from adapters.connections import BoundedTransport

CONNECTIONS = 4
ROUNDS = 30


@dataclass
class Server:
    """Answers every request, unless it hangs."""

    hangs: bool = False
    url: str = ""
    opened: int = 0
    open: int = 0
    most: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.opened += 1
        self.open += 1
        self.most = max(self.most, self.open)
        try:
            while await reader.readline():
                while (await reader.readline()).strip():
                    pass
                if not self.hangs:
                    await asyncio.sleep(0.01)
                    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        except ConnectionError:
            pass
        finally:
            self.open -= 1
            writer.close()


@asynccontextmanager
async def client_of(server: Server) -> AsyncIterator[httpx.AsyncClient]:
    listening = await asyncio.start_server(server.serve, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    async with httpx.AsyncClient(transport=BoundedTransport(CONNECTIONS), base_url=server.url) as client:
        yield client
    listening.close()


def run(work: Callable[[httpx.AsyncClient, Server], Awaitable[None]]) -> Server:
    server = Server()

    async def story() -> None:
        async with client_of(server) as client:
            await work(client, server)

    asyncio.run(story())
    return server


async def ask(client: httpx.AsyncClient, seconds: float) -> str:
    async with asyncio.timeout(seconds):
        return (await client.get("/")).text


def test_no_more_connections_than_allowed_and_each_is_used_again() -> None:
    async def work(client: httpx.AsyncClient, _: Server) -> None:
        for _ in range(3):
            answers = await asyncio.gather(*(ask(client, 10) for _ in range(5 * CONNECTIONS)))
            assert set(answers) == {"ok"}

    server = run(work)
    assert server.most == CONNECTIONS
    assert server.opened == CONNECTIONS


def test_callers_that_give_up_at_once_leave_every_connection_free() -> None:
    async def work(client: httpx.AsyncClient, server: Server) -> None:
        for _ in range(ROUNDS):
            server.hangs = True
            outcomes = await asyncio.gather(
                *(ask(client, 0.02) for _ in range(10 * CONNECTIONS)), return_exceptions=True
            )
            assert all(isinstance(outcome, TimeoutError) for outcome in outcomes)
            server.hangs = False
            answers = await asyncio.gather(*(ask(client, 10) for _ in range(2 * CONNECTIONS)))
            assert set(answers) == {"ok"}

    run(work)
