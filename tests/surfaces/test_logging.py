"""What the log says, and what it never says."""

import io
import json
import logging

import pytest
import structlog

from cypher_guard.violation import Violation
from service.domain.errors import AllLegsDown, PublishFailed, QueryEmpty
from service.domain.principal import ANONYMOUS
from service.domain.requests import GraphQueryRequest, NodeRequest, PublishRequest, SearchRequest
from service.surfaces.logging import LoggedToolbox, configure_logging
from service.tools import catalogue
from tests.surfaces.fake_toolbox import ROOT, FakeToolbox

pytestmark = pytest.mark.anyio

SECRET = "what-nobody-else-may-read"


@pytest.fixture
def lines():
    """The log's lines so far, each parsed; the process's own logging comes back afterwards."""
    root = logging.getLogger()
    handlers, level = root.handlers, root.level
    stream = io.StringIO()
    configure_logging("info", stream)
    yield lambda: [json.loads(line) for line in stream.getvalue().splitlines()]
    root.handlers, root.level = handlers, level
    structlog.reset_defaults()


async def test_a_search_names_its_run_and_not_its_question(lines):
    result = await LoggedToolbox(FakeToolbox()).call(catalogue.SEARCH, SearchRequest(text=SECRET, limit=2), ANONYMOUS)
    [line] = lines()
    assert (line["event"], line["outcome"], line["run_id"]) == ("docs_search", "done", result.run_id)
    assert (line["hits"], line["degraded"], line["content_root"]) == (2, [], ROOT)
    assert SECRET not in json.dumps(line)


@pytest.mark.parametrize(
    ("failure", "outcome", "level"),
    [
        (QueryEmpty(SECRET), "refused", "info"),
        (Violation("read_only", SECRET, excerpt=SECRET), "refused", "info"),
        (AllLegsDown("No retriever can answer."), "failed", "warning"),
        (PublishFailed("Findings."), "failed", "warning"),
    ],
)
async def test_a_refusal_is_told_by_its_code(lines, failure, outcome, level):
    logged = LoggedToolbox(FakeToolbox(failure=failure))
    calls = [
        lambda: logged.call(catalogue.SEARCH, SearchRequest(text=SECRET), ANONYMOUS),
        lambda: logged.call(catalogue.FETCH, NodeRequest(uid=SECRET), ANONYMOUS),
        lambda: logged.call(catalogue.GRAPH_QUERY, GraphQueryRequest(cypher=SECRET), ANONYMOUS),
        lambda: logged.publish(PublishRequest(paths=["/" + SECRET])),
        lambda: logged.rollback(SECRET),
    ]
    for call in calls:
        with pytest.raises(type(failure)):
            await call()
    told = lines()
    assert [line["event"] for line in told] == ["docs_search", "docs_fetch", "query_graph", "publish", "rollback"]
    assert {(line["outcome"], line["level"], line["code"]) for line in told} == {(outcome, level, failure.code)}
    assert SECRET not in json.dumps(told)


async def test_a_trace_holds_no_local_variables(lines):
    def fail(password):
        raise RuntimeError("boom")

    try:
        fail(SECRET)
    except RuntimeError as error:
        structlog.get_logger("test").error("failed", exc_info=error)
    [line] = lines()
    assert line["exception"][0]["exc_value"] == "boom"
    assert SECRET not in json.dumps(line)


async def test_libraries_log_in_the_same_shape_and_not_each_request(lines):
    logging.getLogger("uvicorn.error").info("Started server process [%d]", 7)
    logging.getLogger("httpx").info("HTTP Request: POST %s", SECRET)
    [line] = lines()
    assert (line["event"], line["logger"], line["level"]) == ("Started server process [7]", "uvicorn.error", "info")
