"""A receiver of traces over OTLP/HTTP, as small as it can be: it keeps every span that arrives."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.proto.trace.v1.trace_pb2 import Span

from tests.http_server import answering


@dataclass
class Receiver:
    """`held`, while it is not set, lets nobody's request end."""

    url: str
    spans: list[Span] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    held: threading.Event = field(default_factory=threading.Event)

    def named(self, name: str) -> Span:
        [found] = [span for span in self.spans if span.name == name]
        return found


@contextmanager
def receiving() -> Iterator[Receiver]:
    """A receiver on a free port of loopback; its requests end at once until `held` is cleared."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.held.wait(60)
            receiver.headers.append(dict(self.headers))
            for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
                for scope in resource.scope_spans:
                    receiver.spans.extend(scope.spans)
            self.send_response(200)
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            return None

    with answering(Handler) as url:
        receiver = Receiver(url)
        receiver.held.set()
        try:
            yield receiver
        finally:
            receiver.held.set()
