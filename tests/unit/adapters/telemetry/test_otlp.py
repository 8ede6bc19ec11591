"""Traces: what a span says of work, what waits to be sent, and what never holds a request up."""

import threading
import time

import pytest
from opentelemetry.sdk.trace.export import SpanExporter, SpanExportResult
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from adapters.telemetry.otlp import OtlpTraces
from service.domain.errors import EngineLate, EngineUnavailable, QueryEmpty
from service.observation import Kind, Work

pytestmark = pytest.mark.anyio

TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@pytest.fixture
def anyio_backend():
    return "asyncio"


def traces(exporter, *, share=1.0, texts=False, queue=1_000, patience=5.0):
    return OtlpTraces(exporter, share=share, texts=texts, queue=queue, patience=patience)


async def test_work_inside_work_is_a_child_and_a_callers_trace_goes_on():
    exporter = InMemorySpanExporter()
    observer = traces(exporter)
    parent = {"traceparent": f"00-{TRACE}-{SPAN}-01"}
    with observer.observe(Work(Kind.REQUEST, "POST", parent=parent)) as request:
        with observer.observe(Work(Kind.ENGINE, "tantivy", "search")):
            pass
        request.note("http.route", "/v1/search")
        request.note("http.response.status_code", 200)
    await observer.close()
    call, served = exporter.get_finished_spans()
    assert (call.name, served.name) == ("tantivy search", "POST /v1/search")
    assert call.parent.span_id == served.context.span_id
    assert dict(call.attributes) == {"db.system.name": "tantivy", "db.operation.name": "search"}
    assert (f"{served.context.trace_id:032x}", f"{served.parent.span_id:016x}") == (TRACE, SPAN)
    assert served.attributes["http.response.status_code"] == 200


@pytest.mark.parametrize("said", ["", "00-zz-zz-01", "00-" + "0" * 32 + "-" + "0" * 16 + "-01", "x" * 5_000])
async def test_a_trace_context_that_is_none_begins_a_trace_of_ours(said):
    exporter = InMemorySpanExporter()
    observer = traces(exporter)
    with observer.observe(Work(Kind.REQUEST, "GET", parent={"traceparent": said})):
        pass
    await observer.close()
    [span] = exporter.get_finished_spans()
    assert span.parent is None


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (EngineLate("qdrant"), "late"),
        (EngineUnavailable("qdrant", "the secret reason"), "unavailable"),
        (QueryEmpty("the secret reason"), "refused"),
        (RuntimeError("the secret reason"), "failed"),
    ],
)
async def test_a_failure_is_told_by_its_kind_and_never_by_its_words(error, kind):
    exporter = InMemorySpanExporter()
    observer = traces(exporter)
    with pytest.raises(type(error)), observer.observe(Work(Kind.STAGE, "vector")):
        raise error
    await observer.close()
    [span] = exporter.get_finished_spans()
    assert span.attributes["error.type"] == kind
    assert not span.status.is_ok
    assert "secret" not in span.to_json()


@pytest.mark.parametrize(("texts", "kept"), [(False, None), (True, "how do I fuse ranks?")])
async def test_a_callers_words_are_kept_where_the_setting_says_so(texts, kept):
    exporter = InMemorySpanExporter()
    observer = traces(exporter, texts=texts)
    with observer.observe(Work(Kind.TOOL, "docs_search")) as piece:
        piece.quote("how do I fuse ranks?")
    await observer.close()
    [span] = exporter.get_finished_spans()
    assert span.attributes.get("cogitave_query.text") == kept


async def test_a_caller_cannot_make_us_keep_a_trace():
    exporter = InMemorySpanExporter()
    observer = traces(exporter, share=0.0)
    with observer.observe(Work(Kind.REQUEST, "GET", parent={"traceparent": f"00-{TRACE}-{SPAN}-01"})):
        pass
    await observer.close()
    assert exporter.get_finished_spans() == ()


class Stuck(SpanExporter):
    """Takes one batch and never ends it."""

    def __init__(self):
        self.taking = threading.Event()
        self.release = threading.Event()
        self.batches = []

    def export(self, spans):
        self.batches.append(len(spans))
        self.taking.set()
        self.release.wait(60)
        return SpanExportResult.SUCCESS

    def shutdown(self):
        self.release.set()


async def test_a_receiver_that_hangs_costs_spans_and_never_time():
    exporter = Stuck()
    observer = traces(exporter, queue=16, patience=0.2)

    def work(times):
        for _ in range(times):
            with observer.observe(Work(Kind.STAGE, "lexical")):
                pass

    work(16)
    assert exporter.taking.wait(10)
    began = time.monotonic()
    work(1_000)
    assert time.monotonic() - began < 5
    await observer.close()
    assert time.monotonic() - began < 10
    # What waited when it hung, and at most the queue's length after it.
    assert sum(exporter.batches) <= 16 + 16
