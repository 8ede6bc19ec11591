"""What /metrics tells: OpenTelemetry's names in Prometheus' spelling, labels from closed sets, no word of a caller."""

import time
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Self

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, ProcessCollector, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily
from prometheus_client.metrics_core import Metric

from cypher_guard import CODES as GUARD_CODES
from service.domain.diagnostics import Severity
from service.domain.results import ReadinessResult, Result, SearchResult
from service.observation import OUTCOMES, Fact, Kind, Piece, Reading, Readings, Work, findings_fact, outcome
from service.surfaces.problems import Problem

MEDIA_TYPE = "text/plain; version=0.0.4; charset=utf-8"

UNMATCHED = "unmatched"
"""The route of a path that has none."""

_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)

_PARTS = (
    "lexical",
    "vector",
    "anchors",
    "graph",
    "evidence",
    "prior",
    "facets",
    "passages",
    "highlights",
    "pins",
    "tuning",
)
"""What a search can go without."""

READINGS: Mapping[str, str] = {
    "cogitave_query_breaker_open": "1: the leg is left out after repeated failures.",
    "cogitave_query_cache_lookups": "Look-ups in a cache of the service.",
    "cogitave_query_engine_queue_calls": "Calls that an embedded engine works on or that wait for it.",
    "cogitave_query_engine_queue_limit": "Most calls that may; one more is refused.",
    "cogitave_query_run_log_waiting": "Runs that wait to be written.",
    "cogitave_query_run_log_lost": "Runs that gave way before they were written.",
}
"""What is read off when somebody asks for it, with its help."""


class Metrics:
    """The instruments of one application, in a registry of its own. Fulfils Observer."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry(auto_describe=False)
        ProcessCollector(registry=self._registry)
        self._requests = self._histogram(
            "http_server_request_duration_seconds",
            "Time from a request's headers to the end of its answer.",
            "http_request_method",
            "http_route",
            "http_response_status_code",
        )
        self._tools = self._histogram(
            "cogitave_query_tool_duration_seconds", "Time of a tool, a publish or a doctor's visit.", "tool", "outcome"
        )
        self._stages = self._histogram(
            "cogitave_query_stage_duration_seconds", "Time of one stage of a search.", "stage", "outcome"
        )
        self._calls = self._histogram(
            "db_client_operation_duration_seconds",
            "Time of one call of an engine.",
            "db_system_name",
            "db_operation_name",
            "outcome",
        )
        self._searches = self._histogram("cogitave_query_search_duration_seconds", "Time of the pipeline alone.")
        self._degraded = self._counter(
            "cogitave_query_search_degraded", "Searches answered without a leg or stage.", "part"
        )
        self._empty = self._counter("cogitave_query_search_empty", "Searches without a hit.")
        self._problems = self._counter("cogitave_query_problems", "Refusals and failures.", "code")
        self._guard = self._counter("cogitave_query_guard_refusals", "Graph queries that the guard refused.", "code")
        self._diagnostics = self._counter(
            "cogitave_query_publish_diagnostics", "Findings of publishes in the sources.", "severity"
        )
        self._serving = self._gauge("cogitave_query_ready", "1: the service can answer.")
        self._ready = self._gauge("cogitave_query_engine_ready", "1: the engine can answer.", "engine", "role")
        self._generation = self._gauge("cogitave_query_generation", "Generation of the snapshot that answers.")
        self._passages = self._gauge("cogitave_query_passages", "Passages in the snapshot.")
        self._vectors = self._gauge("cogitave_query_vectors", "Passages that have a vector.")
        self._begin_at_zero()

    def _begin_at_zero(self) -> None:
        """What an alert waits for is there before it happens: a series that appears with its first event never rose."""
        for part in _PARTS:
            self._degraded.labels(part)
        for code in GUARD_CODES:
            self._guard.labels(code)
        for severity in Severity:
            self._diagnostics.labels(severity.value)
        self._problems.labels("internal")
        for tool in ("publish", "rollback"):
            for how in OUTCOMES:
                self._tools.labels(tool, how)

    def watch(self, readings: Readings) -> None:
        """Read these off whenever somebody asks for the metrics."""
        self._registry.register(_Readings(readings))

    def observe(self, work: Work) -> AbstractContextManager[Piece]:
        return _Timed(self, work)

    def done(self, work: Work, how: str, facts: Mapping[str, Fact], seconds: float) -> None:
        """A piece of work that has ended."""
        match work.kind:
            case Kind.REQUEST:
                route = str(facts.get("http.route", UNMATCHED))
                status = str(facts.get("http.response.status_code", "aborted"))
                self._requests.labels(work.name, route, status).observe(seconds)
            case Kind.TOOL:
                self._tools.labels(work.name, how).observe(seconds)
                for severity in Severity:
                    self._diagnostics.labels(severity.value).inc(float(facts.get(findings_fact(severity), 0)))
            case Kind.STAGE:
                self._stages.labels(work.name, how).observe(seconds)
            case Kind.ENGINE:
                self._calls.labels(work.name, work.operation, how).observe(seconds)

    def problem(self, problem: Problem) -> None:
        self._problems.labels(problem.code).inc()
        if problem.code in GUARD_CODES:
            self._guard.labels(problem.code).inc()

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

    def families(self) -> Iterable[Metric]:
        """The same, for a reader in this process."""
        return self._registry.collect()

    def _histogram(self, name: str, help: str, *labels: str) -> Histogram:
        return Histogram(name, help, labels, buckets=_SECONDS, registry=self._registry)

    def _counter(self, name: str, help: str, *labels: str) -> Counter:
        return Counter(name, help, labels, registry=self._registry)

    def _gauge(self, name: str, help: str, *labels: str) -> Gauge:
        return Gauge(name, help, labels, registry=self._registry)


class _Timed:
    __slots__ = ("_began", "_facts", "_metrics", "_work")

    def __init__(self, metrics: Metrics, work: Work) -> None:
        self._metrics = metrics
        self._work = work
        self._facts: dict[str, Fact] = {}

    def __enter__(self) -> Self:
        self._began = time.perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._metrics.done(self._work, outcome(kind), self._facts, time.perf_counter() - self._began)

    def note(self, name: str, value: Fact) -> None:
        self._facts[name] = value

    def quote(self, text: str) -> None:
        """No word of a caller's is a label."""


class _Readings:
    """A collector of prometheus-client's."""

    def __init__(self, readings: Readings) -> None:
        self._readings = readings

    def describe(self) -> Iterable[Metric]:
        """Nothing beforehand: nobody is asked before somebody asks us."""
        return ()

    def collect(self) -> Iterable[Metric]:
        families: dict[str, CounterMetricFamily | GaugeMetricFamily] = {}
        for reading in self._readings():
            family = families.get(reading.name)
            if family is None:
                families[reading.name] = family = _family(reading)
            family.add_metric([value for _, value in reading.labels], reading.value)
        return families.values()


def _family(reading: Reading) -> CounterMetricFamily | GaugeMetricFamily:
    kind = CounterMetricFamily if reading.is_total else GaugeMetricFamily
    return kind(reading.name, READINGS[reading.name], labels=[name for name, _ in reading.labels])
