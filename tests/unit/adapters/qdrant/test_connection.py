"""What every request to Qdrant says of itself, as a server hears it."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from email.message import Message
from http.server import BaseHTTPRequestHandler

import pytest

from adapters.qdrant.connection import engine_errors, open_client
from service.domain.errors import EngineUnavailable
from tests.http_server import answering


@contextmanager
def hearing(headers: list[Message]) -> Iterator[str]:
    """A server that answers nothing well and keeps what it was told."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            headers.append(self.headers)
            self.send_error(503)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with answering(Handler) as url:
        yield url


async def ask(url: str, key: str) -> None:
    client = open_client(url, key)
    try:
        async with engine_errors(10):
            await client.get_collections()
    finally:
        await client.close()


@pytest.mark.filterwarnings("ignore:Api key is used with an insecure connection")
def test_answers_are_asked_for_as_they_are_and_the_key_goes_along() -> None:
    heard: list[Message] = []
    with hearing(heard) as url, pytest.raises(EngineUnavailable, match="503"):
        asyncio.run(ask(url, "a key"))
    assert [(each["Accept-Encoding"], each["api-key"]) for each in heard] == [("identity", "a key")]
