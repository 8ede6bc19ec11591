"""What a running service exports: everything that is watched, by names and labels from closed sets."""

import re
from collections import Counter
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families

from cypher_guard import CODES
from service.observation import OUTCOMES
from service.tools.local import _FUNCTIONS
from tests.surfaces.monitored import WORDS, exposition, series


@pytest.fixture(scope="module")
def text(tmp_path_factory):
    return exposition(tmp_path_factory.mktemp("monitored"))


def value(text, name, **labels):
    values = [
        sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    ]
    return sum(values)


def test_what_was_done_is_counted(text):
    search = {"http_request_method": "GET", "http_route": "/v1/search", "http_response_status_code": "200"}
    assert value(text, "http_server_request_duration_seconds_count", **search) == 3
    assert value(text, "cogitave_query_search_duration_seconds_count") == 3
    assert value(text, "cogitave_query_search_empty_total") == 1
    assert value(text, "cogitave_query_tool_duration_seconds_count", tool="docs_search", outcome="done") == 3
    assert value(text, "cogitave_query_tool_duration_seconds_count", tool="publish", outcome="done") == 1
    assert value(text, "cogitave_query_stage_duration_seconds_count", stage="lexical", outcome="done") == 3
    calls = "db_client_operation_duration_seconds_count"
    assert value(text, calls, db_system_name="tantivy", db_operation_name="search", outcome="done") == 3
    assert value(text, calls, db_system_name="qdrant-edge", db_operation_name="search", outcome="done") == 3
    assert value(text, calls, db_system_name="embedder", db_operation_name="query") == 2
    assert value(text, calls, db_system_name="kglite", db_operation_name="commit") == 1
    lookups = "cogitave_query_cache_lookups_total"
    assert value(text, lookups, cache="query_vectors", result="hit") == 1
    assert value(text, lookups, cache="query_vectors", result="miss") == 2
    assert value(text, "cogitave_query_guard_refusals_total", code="read_only") == 1
    assert value(text, "cogitave_query_problems_total", code="node_unknown") == 1
    assert value(text, "cogitave_query_ready") == 1
    assert value(text, "cogitave_query_generation") == 1
    assert value(text, "cogitave_query_vectors") == value(text, "cogitave_query_passages") > 0
    assert value(text, "cogitave_query_breaker_open") == 0
    assert value(text, "cogitave_query_run_log_lost_total") == 0
    assert value(text, "cogitave_query_engine_queue_limit", engine="tantivy", role="reading") == 66
    assert value(text, "process_resident_memory_bytes") > 1e6


def test_labels_come_from_closed_sets_and_no_word_of_a_caller_is_there(text):
    found = series(text)
    assert WORDS not in text.lower()
    told = _FUNCTIONS.keys() | {"publish", "rollback", "doctor"}
    assert {labels["tool"] for labels in found["cogitave_query_tool_duration_seconds_count"]} <= told
    for labels in (one for many in found.values() for one in many):
        assert labels.get("outcome", "done") in OUTCOMES
        assert len(set(labels) - {"le"}) <= 4
    methods = {labels["http_request_method"] for labels in found["http_server_request_duration_seconds_count"]}
    assert methods == {"GET", "POST", "_OTHER"}
    routes = {labels["http_route"] for labels in found["http_server_request_duration_seconds_count"]}
    assert "unmatched" in routes
    assert {labels["code"] for labels in found["cogitave_query_guard_refusals_total"]} == set(CODES)


def test_one_life_makes_a_bounded_number_of_series(text):
    """A histogram of 15 buckets a label set: what a Prometheus of one service holds with ease."""
    counts = Counter({name: len(many) for name, many in series(text).items()})
    assert sum(counts.values()) < 4_000, counts.most_common(5)


def test_series_that_alerts_wait_for_are_there_before_the_first_event(text):
    found = series(text)
    assert {"part": "vector"} in found["cogitave_query_search_degraded_total"]
    assert {"code": "internal"} in found["cogitave_query_problems_total"]
    assert {"tool": "publish", "outcome": "failed"} in found["cogitave_query_tool_duration_seconds_count"]


def test_every_metric_is_in_the_manual(text):
    """By the names that a query uses; a histogram goes by its family's."""
    article = (Path(__file__).parents[2] / "docs" / "articles" / "observability.md").read_text(encoding="utf-8")
    told = {
        name
        for line in article.splitlines()
        if line.startswith("| `")
        for name in re.findall(r"`([^`]+)`", line.split("|")[1])
    }
    exported = {
        f"{family.name}_total" if family.type == "counter" else family.name
        for family in text_string_to_metric_families(text)
        if not family.name.endswith("_created")  # when a series began, which the library adds
    }
    ours = {name for name in exported if not name.startswith("process_")}
    assert ours == {name for name in told if not name.startswith("process_")}
    assert told <= exported
