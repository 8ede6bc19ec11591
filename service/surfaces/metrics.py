"""What /metrics tells: OpenTelemetry's names in Prometheus' spelling, labels from closed sets, no word of a caller."""

import time

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service.domain.results import ReadinessResult, Result, SearchResult
from service.surfaces.problems import Problem

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


class Metrics:
    """The instruments of one application, in a registry of its own."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        self._requests = Histogram(
            "http_server_request_duration_seconds",
            "Time from a request's headers to the end of its answer.",
            ("http_request_method", "http_route", "http_response_status_code"),
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._searches = Histogram(
            "cogitave_query_search_duration_seconds",
            "Time of the pipeline alone.",
            buckets=_SECONDS,
            registry=self._registry,
        )
        self._degraded = Counter(
            "cogitave_query_search_degraded",
            "Searches answered without a leg or stage.",
            ("part",),
            registry=self._registry,
        )
        self._empty = Counter("cogitave_query_search_empty", "Searches without a hit.", registry=self._registry)
        self._problems = Counter(
            "cogitave_query_problems", "Refusals and failures.", ("code",), registry=self._registry
        )
        self._serving = Gauge("cogitave_query_ready", "1: the service can answer.", registry=self._registry)
        self._ready = Gauge(
            "cogitave_query_engine_ready", "1: the engine can answer.", ("engine", "role"), registry=self._registry
        )
        self._generation = Gauge(
            "cogitave_query_generation", "Generation of the snapshot that answers.", registry=self._registry
        )
        self._passages = Gauge("cogitave_query_passages", "Passages in the snapshot.", registry=self._registry)
        self._vectors = Gauge("cogitave_query_vectors", "Passages that have a vector.", registry=self._registry)

    def request(self, method: str, route: str, status: str, seconds: float) -> None:
        self._requests.labels(method if method in _METHODS else "_OTHER", route, status).observe(seconds)

    def problem(self, problem: Problem) -> None:
        self._problems.labels(problem.code).inc()

    def answer(self, result: Result) -> None:
        """What a tool answered, whichever it is."""
        if isinstance(result, SearchResult):
            self.search(result)

    def search(self, result: SearchResult) -> None:
        self._searches.observe(result.took_ms / 1000)
        for note in result.degraded:
            part, _, _reason = note.partition(":")
            self._degraded.labels(part).inc()
        if not result.hits:
            self._empty.inc()

    def readiness(self, result: ReadinessResult) -> None:
        self._serving.set(result.ready)
        for engine in result.engines:
            self._ready.labels(engine.engine, engine.role).set(engine.ready)
        self._generation.set(result.generation)
        self._passages.set(result.passages)
        self._vectors.set(result.vectors)

    def unready(self) -> None:
        """Nobody could say how the engines are."""
        self._serving.set(0)

    def exposition(self) -> bytes:
        return generate_latest(self._registry)


class RequestMetrics:
    """Times every HTTP request. The route is its template; a path of no route is `unmatched`."""

    def __init__(self, app: ASGIApp, *, metrics: Metrics) -> None:
        self.app = app
        self.metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        status = "aborted"

        async def send_and_note(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = str(message["status"])
            await send(message)

        began = time.perf_counter()
        try:
            await self.app(scope, receive, send_and_note)
        finally:
            route = str(getattr(scope.get("route"), "path", "unmatched"))
            self.metrics.request(scope["method"], route, status, time.perf_counter() - began)
