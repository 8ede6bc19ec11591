"""What the log says, and what it never says."""

import asyncio
import io
import json
import logging

import httpx
import pytest
import structlog

from cypher_guard.violation import Violation
from service.domain.errors import AllLegsDown, PublishFailed, QueryEmpty
from service.domain.principal import ANONYMOUS
from service.domain.requests import GraphQueryRequest, NodeRequest, PublishRequest, SearchRequest
from service.observation import request_run, run_id
from service.settings import Settings
from service.surfaces.application import application
from service.surfaces.logging import LoggedToolbox, configure_logging
from service.tools import catalogue
from tests.surfaces.fake_toolbox import ROOT, FakeToolbox, search_result

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


async def test_every_line_of_a_request_names_its_run_whoever_writes_it(lines):
    """A library's line, ours, and the fault's: all by one run; the next request has another."""

    class Chatty(FakeToolbox):
        async def call(self, tool, request, principal):
            logging.getLogger("somebody.elses").warning("in between")
            await asyncio.create_task(self.elsewhere())
            raise RuntimeError("boom")

        async def elsewhere(self):
            structlog.get_logger("service.test").info("in a task of its own")

    app = application(LoggedToolbox(Chatty()), Settings())
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://127.0.0.1") as client:
        for _ in range(2):
            assert (await client.get("/v1/search", params={"q": SECRET})).status_code == 500
    logging.getLogger("somebody.elses").warning("outside")
    told = [
        line for line in lines() if line["event"] in {"in between", "in a task of its own", "request failed", "outside"}
    ]
    assert [line["event"] for line in told] == [
        *["in between", "in a task of its own", "request failed"] * 2,
        "outside",
    ]
    runs = [line.get("run_id") for line in told]
    assert runs[0] == runs[1] == runs[2] != runs[3] == runs[4] == runs[5]
    assert all(runs[:6])
    assert runs[6] is None


async def test_a_second_tool_of_one_request_has_a_run_of_its_own(lines):
    class Naming(FakeToolbox):
        async def call(self, tool, request, principal):
            return search_result([]).model_copy(update={"run_id": run_id()})

    logged = LoggedToolbox(Naming())
    with request_run():
        structlog.get_logger("service.test").info("before")
        found = [await logged.call(catalogue.SEARCH, SearchRequest(text="a"), ANONYMOUS) for _ in range(3)]
        structlog.get_logger("service.test").info("after")
    before, *searches, after = lines()
    assert [line["run_id"] for line in searches] == [result.run_id for result in found]
    assert len({result.run_id for result in found}) == 3
    assert before["run_id"] == after["run_id"] == found[0].run_id


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
    logging.getLogger("opensearch").warning("PUT %s [status:400 request:0.1s]", SECRET)
    [line] = lines()
    assert (line["event"], line["logger"], line["level"]) == ("Started server process [7]", "uvicorn.error", "info")
