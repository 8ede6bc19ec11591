"""A real HTTP server on a free port that speaks the embeddings API as a test tells it to."""

import hashlib
import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler
from typing import Any

from tests.http_server import answering

DIMENSIONS = 8


@dataclass
class Reply:
    """What the server says to one request. `body` None is the honest answer; `before` runs before it is sent."""

    status: int = 200
    body: bytes | None = None
    headers: dict[str, str] = field(default_factory=dict)
    before: Callable[[], object] | None = None
    hang_up: bool = False


@dataclass
class Endpoint:
    """`script` is used up reply by reply; after it, every answer is honest."""

    url: str = ""
    script: list[Reply] = field(default_factory=list)
    requests: list[dict[str, Any]] = field(default_factory=list)
    authorizations: list[str | None] = field(default_factory=list)


def honest_vector(text: str) -> list[float]:
    """Numbers that depend on the text alone; not of unit length."""
    return [byte / 16 + 0.1 for byte in hashlib.sha256(text.encode()).digest()[:DIMENSIONS]]


def honest_answer(texts: list[str]) -> dict[str, Any]:
    """As the API gives it; in no set order, since each vector says whose it is."""
    data = [{"object": "embedding", "index": n, "embedding": honest_vector(text)} for n, text in enumerate(texts)]
    return {"object": "list", "model": "test-model", "data": data[::-1]}


@contextmanager
def serve_endpoint() -> Iterator[Endpoint]:
    endpoint = Endpoint()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            endpoint.requests.append(request | {"path": self.path})
            endpoint.authorizations.append(self.headers.get("Authorization"))
            reply = endpoint.script.pop(0) if endpoint.script else Reply()
            if reply.before is not None:
                reply.before()
            if reply.hang_up:
                self.close_connection = True
                return
            body = json.dumps(honest_answer(request["input"])).encode() if reply.body is None else reply.body
            self.send_response(reply.status)
            for name, value in {"Content-Length": str(len(body)), **reply.headers}.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with answering(Handler) as url:
        endpoint.url = f"{url}/v1"
        yield endpoint
