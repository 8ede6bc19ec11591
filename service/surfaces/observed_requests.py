"""Every HTTP request as an observer is told of it: method, route, status, and the trace that it belongs to."""

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.observation import Kind, Observer, Work, request_run

_TRACE_CONTEXT = ("traceparent", "tracestate")
"""The headers of W3C Trace Context."""

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})

OTHER = "_OTHER"
"""What OpenTelemetry calls a method that a caller made up."""


class ObservedRequests:
    """The outermost layer. The route is its template: a path of no route has none, and no caller can make one up."""

    def __init__(self, app: ASGIApp, *, observer: Observer) -> None:
        self.app = app
        self.observer = observer

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        parent = {name: headers[name] for name in _TRACE_CONTEXT if name in headers}
        method = scope["method"] if scope["method"] in _METHODS else OTHER
        with request_run(), self.observer.observe(Work(Kind.REQUEST, method, parent=parent)) as piece:

            async def send_and_note(message: Message) -> None:
                if message["type"] == "http.response.start":
                    piece.note("http.response.status_code", message["status"])
                await send(message)

            try:
                await self.app(scope, receive, send_and_note)
            finally:
                route = getattr(scope.get("route"), "path", None)
                if route is not None:
                    piece.note("http.route", str(route))
