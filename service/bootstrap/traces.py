"""Where the spans of a run go."""

from contextlib import AsyncExitStack
from dataclasses import replace

from service.bootstrap.engines import Graph
from service.domain.errors import SettingInvalid
from service.observation import Both, Observer
from service.observed_engines import ObservedGraphRanker, ObservedGraphReader, ObservedGraphStore
from service.settings import Settings


def open_observer(settings: Settings, watching: Observer, opened: AsyncExitStack) -> Observer:
    """The traces' library takes long to import, so it is imported where a setting asks for traces."""
    if not settings.trace_endpoint:
        return watching
    from adapters.telemetry.otlp import OtlpTraces

    traces = OtlpTraces.open(
        settings.trace_endpoint,
        trace_headers(settings),
        share=settings.trace_share,
        texts=settings.trace_texts,
        queue=settings.trace_queue,
        deadline=settings.trace_deadline / 1000,
    )
    opened.push_async_callback(traces.close)
    return Both(traces, watching)


def trace_headers(settings: Settings) -> dict[str, str]:
    """`name=value,name=value`, as OpenTelemetry writes headers. Raises SettingInvalid."""
    pairs = [pair.partition("=") for pair in settings.trace_headers.get_secret_value().split(",") if pair.strip()]
    if not all(name.strip() and equals for name, equals, _ in pairs):
        raise SettingInvalid("'trace_headers' takes NAME=VALUE, several of them with commas between.")
    return {name.strip(): value.strip() for name, _, value in pairs}


def observed(graph: Graph, observer: Observer) -> Graph:
    return replace(
        graph,
        store=ObservedGraphStore(graph.store, graph.reader.engine, observer),
        reader=ObservedGraphReader(graph.reader, observer),
        ranker=ObservedGraphRanker(graph.ranker, graph.ranking_engine, observer),
    )
