"""Traces by OpenTelemetry: a span a piece of work, sent to an OTLP/HTTP receiver behind the requests' backs."""

import asyncio
import threading
from collections.abc import Mapping
from contextlib import AbstractContextManager
from importlib.metadata import version
from types import TracebackType
from typing import Self

from opentelemetry import context, trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
from opentelemetry.trace import SpanKind, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from service.observation import Fact, Kind, Piece, Work, known_run_id, outcome

_BATCH = 512
"""Spans sent at once."""

_PAUSE_MILLISECONDS = 1_000
"""How long a span waits for others to be sent with."""

_SPAN_KIND = {Kind.REQUEST: SpanKind.SERVER, Kind.ENGINE: SpanKind.CLIENT}

_PROPAGATOR = TraceContextTextMapPropagator()


class OtlpTraces:
    """Observer. At most `queue` spans wait to be sent: what a slow receiver doesn't take is dropped, never waited for.

    Which traces are kept is decided by their identifiers alone, so a caller can't make us keep more than `share`.
    """

    def __init__(self, exporter: SpanExporter, *, share: float, texts: bool, queue: int, patience: float) -> None:
        by_share = TraceIdRatioBased(share)
        self._provider = TracerProvider(
            sampler=ParentBased(by_share, remote_parent_sampled=by_share),
            resource=Resource({"service.name": "cogitave-query", "service.version": version("cogitave-query")}),
            shutdown_on_exit=False,
        )
        self._provider.add_span_processor(
            BatchSpanProcessor(
                exporter,
                max_queue_size=queue,
                schedule_delay_millis=_PAUSE_MILLISECONDS,
                max_export_batch_size=min(_BATCH, queue),
            )
        )
        self._exporter = exporter
        self._tracer = self._provider.get_tracer("cogitave-query")
        self._texts = texts
        self._patience = patience

    @classmethod
    def open(
        cls, endpoint: str, headers: Mapping[str, str], *, share: float, texts: bool, queue: int, deadline: float
    ) -> "OtlpTraces":
        """endpoint: the receiver's base URL; texts: whether spans hold callers' words; deadline: seconds that sending
        one batch may take."""
        exporter = OTLPSpanExporter(f"{endpoint.rstrip('/')}/v1/traces", headers=headers or None, timeout=deadline)
        return cls(exporter, share=share, texts=texts, queue=queue, patience=deadline)

    def observe(self, work: Work) -> AbstractContextManager[Piece]:
        return _Spanned(self._tracer, work, self._texts)

    async def close(self) -> None:
        """Send what waits, as far as the receiver takes it within `patience` seconds."""
        last = threading.Thread(target=self._provider.shutdown, name="traces", daemon=True)
        last.start()
        await asyncio.to_thread(last.join, self._patience)
        if last.is_alive():
            self._exporter.shutdown()


class _Spanned:
    __slots__ = ("_span", "_texts", "_token", "_tracer", "_work")

    def __init__(self, tracer: trace.Tracer, work: Work, texts: bool) -> None:
        self._tracer = tracer
        self._work = work
        self._texts = texts

    def __enter__(self) -> Self:
        work = self._work
        self._token = None
        above = trace.get_current_span()
        if not work.parent and above.get_span_context().is_valid and not above.get_span_context().trace_flags.sampled:
            self._span = above  # nothing of this trace is kept: what is inside costs nothing
            return self
        parent = _PROPAGATOR.extract(work.parent) if work.parent else None
        self._span = self._tracer.start_span(
            _name(work), parent, _SPAN_KIND.get(work.kind, SpanKind.INTERNAL), _attributes(work)
        )
        self._token = context.attach(trace.set_span_in_context(self._span))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, stack: TracebackType | None
    ) -> None:
        if self._token is None:
            return
        context.detach(self._token)
        if kind is not None:
            # By its class alone: a message may quote the caller.
            self._span.set_attribute("error.type", outcome(kind))
            self._span.set_status(StatusCode.ERROR)
        self._span.end()

    def note(self, name: str, value: Fact) -> None:
        self._span.set_attribute(name, value)
        if name == "http.route":
            self._span.update_name(f"{self._work.name} {value}")

    def quote(self, text: str) -> None:
        if self._texts:
            self._span.set_attribute("cogitave_query.text", text)


def _name(work: Work) -> str:
    return f"{work.name} {work.operation}" if work.operation else work.name


def _attributes(work: Work) -> dict[str, str]:
    match work.kind:
        case Kind.ENGINE:
            return {"db.system.name": work.name, "db.operation.name": work.operation}
        case Kind.REQUEST:
            return {"http.request.method": work.name}
        case Kind.TOOL:
            return {"gen_ai.tool.name": work.name, "cogitave_query.run_id": known_run_id() or ""}
        case Kind.STAGE:
            return {"cogitave_query.stage": work.name}
