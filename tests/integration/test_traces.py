"""Traces of real searches: the spans are what the pipeline did, and they arrive."""

import asyncio
from contextlib import asynccontextmanager

import httpx
import pytest
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from adapters.telemetry.otlp import OtlpTraces
from service import bootstrap
from service.domain.principal import ANONYMOUS
from service.domain.requests import PublishRequest, SearchRequest
from service.surfaces.application import application
from service.tools import catalogue
from tests.application import write_estate
from tests.otlp_receiver import receiving
from tests.surfaces.serving import PATIENT, served_opening

QUESTION = "unmistakable installation question"
TRACE, SPAN = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"

STAGES = {"lexical", "embedding", "vector", "anchors", "verify", "evidence", "ranking", "passages", "highlight"}


def test_the_tree_of_spans_is_what_the_search_did(tmp_path):
    exporter = InMemorySpanExporter()

    async def search():
        traces = OtlpTraces(exporter, share=1.0, texts=False, queue=10_000, patience=10.0)
        async with bootstrap.open_owned(PATIENT, tmp_path / "data", traces) as owned:
            await owned.toolbox.publish(PublishRequest(paths=[str(write_estate(tmp_path / "estate"))]))
            request = SearchRequest(text=QUESTION, explain=True, facets=["kind"])
            result = await owned.toolbox.call(catalogue.SEARCH, request, ANONYMOUS)
        await traces.close()
        return result

    result = asyncio.run(search())
    spans = exporter.get_finished_spans()
    by_id = {span.context.span_id: span for span in spans}
    [tool] = [span for span in spans if span.name == "docs_search"]
    inside = [span for span in spans if span.context.trace_id == tool.context.trace_id]

    def path(span):
        """Names from the tool down to the span."""
        names = [span.name]
        while span.parent is not None:
            span = by_id[span.parent.span_id]
            names.insert(0, span.name)
        return tuple(names)

    paths = {path(span) for span in inside}
    stages = {span.attributes["cogitave_query.stage"] for span in inside if "cogitave_query.stage" in span.attributes}
    assert stages == STAGES & stages | set(result.explain.timings_ms)
    assert set(result.explain.timings_ms) >= STAGES
    assert {
        ("docs_search", "kglite snapshot"),
        ("docs_search", "lexical", "tantivy search"),
        ("docs_search", "embedding", "embedder query"),
        ("docs_search", "vector", "qdrant-edge search"),
        ("docs_search", "anchors", "kglite nodes_by_uid"),
        ("docs_search", "anchors", "kglite nodes_by_alias"),
        ("docs_search", "verify", "kglite cards"),
        ("docs_search", "ranking", "scipy global_page_rank"),
        ("docs_search", "passages", "tantivy passages"),
        ("docs_search", "highlight", "tantivy highlight"),
        ("docs_search", "kglite query_graph"),
    } <= paths
    # Both legs ran side by side: each began before the other ended.
    [lexical] = [span for span in inside if span.name == "lexical"]
    [embedding] = [span for span in inside if span.name == "embedding"]
    assert lexical.start_time < embedding.end_time
    assert embedding.start_time < lexical.end_time
    for span in inside:
        if span is not tool:
            assert tool.start_time <= span.start_time
    assert not any("unmistakable" in span.to_json() for span in spans)


@pytest.mark.parametrize("asks", ["rest", "mcp"])
def test_a_callers_trace_arrives_at_the_receiver(tmp_path, asks):
    settings_of = {"trace_headers": "x-team=docs, authorization=Bearer abc"}
    parent = f"00-{TRACE}-{SPAN}-01"
    with receiving() as receiver:
        settings = PATIENT.model_validate(PATIENT.model_dump() | settings_of | {"trace_endpoint": receiver.url})
        with served_opening(_published(settings, tmp_path)) as url, httpx.Client(timeout=30) as client:
            if asks == "rest":
                answer = client.get(f"{url}/v1/search", params={"q": QUESTION}, headers={"traceparent": parent})
            else:
                answer = client.post(
                    f"{url}/mcp", json=_mcp_call(parent), headers={"Accept": "application/json, text/event-stream"}
                )
            assert answer.status_code == 200, answer.text
            assert "hits" in answer.text
    tool = receiver.named("docs_search")
    assert tool.trace_id.hex() == TRACE
    own = {span.span_id: span for span in receiver.spans}
    if asks == "rest":
        assert own[tool.parent_span_id].name == "GET /v1/search"
        assert own[tool.parent_span_id].parent_span_id.hex() == SPAN
    else:
        assert tool.parent_span_id.hex() == SPAN
    assert receiver.headers[0]["x-team"] == "docs"
    assert receiver.headers[0]["authorization"] == "Bearer abc"
    assert "unmistakable" not in str(receiver.spans)


def test_a_receiver_that_hangs_holds_no_request_up(tmp_path):
    with receiving() as receiver:
        receiver.held.clear()
        settings = PATIENT.model_copy(update={"trace_endpoint": receiver.url, "trace_deadline": 500, "trace_queue": 64})
        with served_opening(_published(settings, tmp_path)) as url, httpx.Client(timeout=30) as client:
            for number in range(20):
                assert client.get(f"{url}/v1/search", params={"q": f"graph {number}"}).status_code == 200


def _mcp_call(parent):
    return {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "docs_search", "arguments": {"text": QUESTION}, "_meta": {"traceparent": parent}},
    }


@asynccontextmanager
async def _published(settings, folder):
    async with bootstrap.open_owned(settings, folder / "data") as owned:
        await owned.toolbox.publish(PublishRequest(paths=[str(write_estate(folder / "estate"))]))
        yield application(owned.toolbox, settings, observer=owned.observer)
