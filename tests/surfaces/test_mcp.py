"""MCP by the official client, in both of the protocol's ways to connect, over HTTP and over standard streams."""

import json
import sys
from contextlib import asynccontextmanager
from string import ascii_letters, digits
from urllib.parse import quote

import anyio
import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from jsonschema import Draft202012Validator
from mcp import Client, MCPError, StdioServerParameters
from mcp_types import INVALID_PARAMS

from service.domain.errors import AllLegsDown, CursorForeign, EngineUnavailable, PublishInProgress
from service.domain.requests import ListRequest, NodeRequest, SearchRequest
from service.domain.results import CutResult, ListResult, NodeSummary
from service.settings import Settings
from service.surfaces import openapi
from service.surfaces.application import application
from service.surfaces.mcp.resources import ResourceName
from service.surfaces.mcp.server import RESOURCE_NOT_FOUND, AgentSurface
from service.tools import catalogue
from tests.application import write_estate
from tests.surfaces.fake_toolbox import FakeToolbox, hit, search_result
from tests.surfaces.serving import PATIENT, served

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(120)]

MODES = ("legacy", "2026-07-28")
"""The handshake of revisions up to 2025-11-25, and the requests of 2026-07-28 that stand alone."""


@asynccontextmanager
async def connected(toolbox, mode, settings=PATIENT):
    async with Client(AgentSurface(toolbox, settings).server(), mode=mode) as client:
        yield client


@pytest.fixture(params=MODES)
def mode(request):
    return request.param


@pytest.fixture
async def agent(toolbox, mode):
    async with connected(toolbox, mode) as client:
        yield client


async def test_every_tool_of_the_catalogue_is_offered_and_says_when_not_to_use_it(agent):
    listed = {tool.name: tool for tool in (await agent.list_tools()).tools}
    assert listed.keys() == {tool.name for tool in catalogue.TOOLS} | {"search", "fetch"}
    for tool in catalogue.TOOLS:
        shown = listed[tool.name]
        assert shown.description == f"{tool.description} {tool.not_for}"
        assert shown.title == tool.title
    for shown in listed.values():
        assert "Not for" in shown.description
        assert shown.annotations.read_only_hint is True
        for schema in (shown.input_schema, shown.output_schema):
            Draft202012Validator.check_schema(schema)
            assert schema["type"] == "object"
        assert shown.input_schema["additionalProperties"] is False


@pytest.mark.parametrize("tool", catalogue.TOOLS, ids=lambda tool: tool.name)
async def test_a_call_is_the_call(agent, tool):
    """The client itself holds the structured content against the tool's output schema."""
    for example in openapi.EXAMPLES[tool.name].values():
        answer = await agent.call_tool(tool.name, example["value"])
        in_process = await FakeToolbox().call(tool, tool.request.model_validate(example["value"]), None)
        assert not answer.is_error
        assert answer.structured_content == in_process.model_dump(mode="json", by_alias=True)
        assert json.loads(answer.content[0].text) == answer.structured_content


async def test_examples_match_the_input_schema(agent):
    for shown in (await agent.list_tools()).tools:
        for example in openapi.EXAMPLES.get(shown.name, {}).values():
            Draft202012Validator(shown.input_schema).validate(example["value"])


REFUSED = {
    "no arguments": ("docs_search", None, "request_invalid"),
    "a missing text": ("docs_search", {}, "request_invalid"),
    "an unknown argument": ("docs_search", {"text": "a", "filters": {}}, "request_invalid"),
    "a limit in words": ("docs_search", {"text": "a", "limit": "ten"}, "request_invalid"),
    "a fractional limit": ("docs_search", {"text": "a", "limit": 1.5}, "request_invalid"),
    "a limit of 10^400": ("docs_search", {"text": "a", "limit": 10**400}, "limit_out_of_range"),
    "limit zero": ("docs_search", {"text": "a", "limit": 0}, "limit_out_of_range"),
    "a text that is a list": ("docs_search", {"text": ["a"]}, "request_invalid"),
    "a blank text": ("docs_search", {"text": " \t"}, "query_empty"),
    "a NUL": ("docs_search", {"text": "a\0b"}, "query_malformed"),
    "an unknown filter": ("docs_search", {"text": "a", "filter": {"kin": ["page"]}}, "filter_unknown"),
    "an unknown level": ("get_learning_path", {"goal": "a", "level": "wizard"}, "level_unknown"),
    "an empty filter": ("list_nodes", {"filter": {"kind": []}}, "filter_value_unknown"),
    "an unknown kind": ("docs_search", {"text": "a", "filter": {"kind": ["pages"]}}, "filter_value_unknown"),
    "a filter that is no list": ("docs_search", {"text": "a", "filter": {"kind": "page"}}, "request_invalid"),
    "deep filters": ("docs_search", {"text": "a", "filter": {"a": {"b": {"c": [[[]]]}}}}, "request_invalid"),
    "an unknown uid": ("docs_fetch", {"uid": "nobody"}, "node_unknown"),
    "no uids": ("resolve_xref", {"uids": []}, "request_invalid"),
    "no time": ("get_learning_path", {"goal": "a", "minutes": 0}, "request_invalid"),
    "a write": ("query_graph", {"cypher": "MATCH (n) DELETE n"}, "read_only"),
    "a schema of something": ("describe_schema", {"of": "x"}, "request_invalid"),
    "a blank generic search": ("search", {"query": ""}, "query_empty"),
    "a generic search by text": ("search", {"text": "a"}, "request_invalid"),
    "an unknown generic id": ("fetch", {"id": "nobody"}, "node_unknown"),
    "a broken generic id": ("fetch", {"id": "cogitave://page"}, "node_unknown"),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_what_is_refused_is_a_result_that_says_what_to_do(agent, case):
    name, arguments, code = REFUSED[case]
    answer = await agent.call_tool(name, arguments)
    failure = answer.structured_content["error"]
    assert answer.is_error
    assert failure["code"] == code
    assert len(failure["message"]) > 10
    assert json.loads(answer.content[0].text) == answer.structured_content
    await holds_to_its_schema(agent, name, answer)


async def holds_to_its_schema(agent, name, answer):
    (shown,) = [tool for tool in (await agent.list_tools()).tools if tool.name == name]
    Draft202012Validator(shown.output_schema).validate(answer.structured_content)


async def test_a_violation_has_its_place_and_suggestion(agent):
    answer = await agent.call_tool("query_graph", {"cypher": "MATCH (n) DELETE n"})
    failure = answer.structured_content["error"]
    assert (failure["line"], failure["column"]) == (1, 11)
    assert failure["suggestion"] == "Ask with MATCH … RETURN alone."


@pytest.mark.parametrize(
    "failure",
    [
        AllLegsDown("No leg."),
        EngineUnavailable("tantivy", "closed"),
        PublishInProgress("Wait."),
        RuntimeError("secret"),
    ],
    ids=lambda failure: type(failure).__name__,
)
async def test_what_fails_is_a_result_too_and_tells_no_secret(agent, toolbox, failure):
    toolbox.failure = failure
    answer = await agent.call_tool("docs_search", {"text": "fusion"})
    assert answer.is_error
    assert answer.structured_content["error"]["code"] == getattr(failure, "code", "internal")
    assert "secret" not in answer.content[0].text
    await holds_to_its_schema(agent, "docs_search", answer)


async def test_what_is_late_is_said_and_its_work_stops(toolbox, mode):
    toolbox.hang = True
    async with connected(toolbox, mode, Settings(request_deadline=50)) as agent:
        answer = await agent.call_tool("docs_search", {"text": "fusion"})
        assert answer.structured_content["error"]["code"] == "request_late"
        assert toolbox.stopped.is_set()


async def test_a_tool_that_there_is_not_is_a_protocol_error(agent):
    with pytest.raises(MCPError) as raised:
        await agent.call_tool("drop_everything", {})
    assert raised.value.error.code == INVALID_PARAMS
    assert "docs_search" in raised.value.error.message


async def test_half_a_surrogate_pair_in_an_estate_is_no_error(agent, toolbox):
    toolbox.answer = search_result([hit(1, title="half \ud800 a pair")])
    answer = await agent.call_tool("docs_search", {"text": "fusion"})
    assert answer.structured_content["hits"][0]["title"] == "half \ufffd a pair"


async def test_generic_clients_find_then_fetch(agent, toolbox):
    found = (await agent.call_tool("search", {"query": "fusion"})).structured_content["results"]
    assert found[1] == {"id": "cogitave://unit/manual.page-2", "title": "Page 2", "url": hit(2).url}
    assert toolbox.asked[-1] == SearchRequest(text="fusion")
    document = (await agent.call_tool("fetch", {"id": found[0]["id"]})).structured_content
    assert toolbox.asked[-1] == NodeRequest(uid="manual.page-1", max_tokens=Settings().agent_tokens)
    assert document["id"] == "cogitave://page/manual.page-1"
    assert document["text"] == "# Page\n\n## Votes\n\nText.\n"
    assert (await agent.call_tool("fetch", {"id": "manual.page-1"})).structured_content == document


ODD_UIDS = [
    "with space",
    "C#",
    "100%",
    "%2F",
    "a/b//c",
    "why?q=1&x=y",
    "日本 🦀",
    "quote\"'\\",
    "line\nbreak",
    "*",
    "..",
]


@pytest.mark.parametrize("uid", ODD_UIDS)
async def test_a_uid_round_trips_through_a_resource(agent, toolbox, uid):
    read = await agent.read_resource(f"cogitave://page/{quote(uid, safe='')}?locale=de-de")
    assert toolbox.asked[-1] == NodeRequest(uid=uid, locale="de-de")
    (content,) = read.contents
    assert content.mime_type == "text/markdown"
    assert content.text == "# Page\n\n## Votes\n\nText.\n"
    assert content.meta["contentHash"] == "ab" * 32
    name = ResourceName("page", uid, "de-de")
    assert ResourceName.read(str(name)) == name


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1), st.none() | st.sampled_from(["de-de", "a&b=c"]))
def test_any_uid_round_trips_through_its_uri(uid, locale):
    """And the URI is one: ASCII, with nothing in it that a URI has another use for."""
    name = ResourceName("page", uid, locale)
    assert ResourceName.read(str(name)) == name
    assert str(name).isascii()
    assert set(str(name).removeprefix("cogitave://page/").partition("?")[0]) <= {*ascii_letters, *digits, *"%-._~"}


async def test_a_listing_goes_on_by_the_tools_own_cursor_and_says_content_hashes(agent, toolbox):
    summary = NodeSummary(
        uid="a b", locale="en-us", kind="page", title="half \ud800", type=None, url=None, summary=None, docset="d",
        content_hash="ab" * 32,
    )  # fmt: skip
    toolbox.answer = ListResult(nodes=[summary], total=2, next_cursor="opaque", content_root="c", took_ms=1.0)
    listed = await agent.list_resources()
    assert listed.next_cursor == "opaque"
    (resource,) = listed.resources
    assert (resource.uri, resource.title) == ("cogitave://page/a%20b", "half \ufffd")
    assert resource.meta == {"contentHash": "ab" * 32}
    await agent.list_resources(cursor="opaque")
    assert toolbox.asked[-1] == ListRequest(cursor="opaque")


async def test_a_foreign_cursor_is_a_protocol_error(agent, toolbox):
    toolbox.failure = CursorForeign("Made elsewhere.")
    with pytest.raises(MCPError) as raised:
        await agent.list_resources(cursor="x")
    assert raised.value.error.code == INVALID_PARAMS
    assert raised.value.error.data["code"] == "cursor_foreign"


async def test_a_resource_that_was_cut_says_so(agent, toolbox):
    cut = CutResult(tokens=0, sections_left=3, next_section="later", next_cursor="opaque")
    toolbox.answer = (await FakeToolbox().call(catalogue.FETCH, NodeRequest(uid="a"), None)).model_copy(
        update={"cut": cut}
    )
    (content,) = (await agent.read_resource("cogitave://page/a")).contents
    assert content.text.endswith("(3 sections are left out, whole or in part; docs_fetch reads on.)\n")
    assert content.meta["cut"] == cut.model_dump(by_alias=True)


@pytest.mark.parametrize(
    ("name", "arguments"),
    [("docs_fetch", {"uid": "a"}), ("docs_fetch_batch", {"uids": ["a"]}), ("docs_search", {"text": "a"})],
)
async def test_an_agent_that_names_no_budget_has_one(agent, toolbox, name, arguments):
    await agent.call_tool(name, arguments)
    assert toolbox.asked[-1].max_tokens == Settings().agent_tokens
    await agent.call_tool(name, {**arguments, "maxTokens": 123_456})
    assert toolbox.asked[-1].max_tokens == 123_456


async def test_one_node_of_several_that_there_is_not_leaves_the_others(agent):
    answer = await agent.call_tool("docs_fetch_batch", {"uids": ["a", "nobody", "b"]})
    assert not answer.is_error
    nodes = answer.structured_content["nodes"]
    assert [one["node"] and one["node"]["uid"] for one in nodes] == ["a", None, "b"]
    assert nodes[1]["refusal"] == {
        "code": "node_unknown", "message": "There is no node 'nobody'.", "suggestion": "manual.page-1"
    }  # fmt: skip


@pytest.mark.parametrize(
    "uri", ["cogitave://page/nobody", "cogitave://unit/manual.page-1", "cogitave://page", "file:///etc/passwd", "x"]
)
async def test_a_resource_that_there_is_not_is_a_protocol_error(agent, mode, uri):
    with pytest.raises(MCPError) as raised:
        await agent.read_resource(uri)
    assert raised.value.error.code == (RESOURCE_NOT_FOUND if mode == "legacy" else INVALID_PARAMS)
    assert raised.value.error.data["code"] == "node_unknown"
    assert raised.value.error.data["uri"] == uri


async def test_resources_are_listed_and_described_by_a_template(agent, toolbox):
    listed = await agent.list_resources()
    assert [(one.uri, one.name, one.title) for one in listed.resources] == [
        ("cogitave://page/manual.page-1", "manual.page-1", "Page 1")
    ]
    assert toolbox.asked[-1] == ListRequest()
    (template,) = (await agent.list_resource_templates()).resource_templates
    assert template.uri_template == "cogitave://{kind}/{uid}{?locale}"


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
async def test_over_http(toolbox, mode, path):
    app = application(toolbox, PATIENT)
    with served(app) as url:
        async with Client(url + path, mode=mode) as agent:
            answer = await agent.call_tool("docs_search", {"text": "rank fusion", "limit": 2})
            assert [one["uid"] for one in answer.structured_content["hits"]] == ["manual.page-1", "manual.page-2"]
            refused = await agent.call_tool("query_graph", {"cypher": "MATCH (n) DELETE n"})
            assert refused.structured_content["error"]["code"] == "read_only"
        async with httpx.AsyncClient(base_url=url, timeout=30) as client:
            metrics = (await client.get("/metrics")).text
    assert 'cogitave_query_problems_total{code="read_only"} 1.0' in metrics
    assert "cogitave_query_search_duration_seconds_count 1.0" in metrics


CALL = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "docs_search", "arguments": {"text": "a"}},
}
HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        (None, 200),
        ("http://127.0.0.1:8080", 200),
        ("http://localhost", 200),
        ("https://[::1]:3000", 200),
        ("https://chat.example.org", 200),
        ("https://chat.example.org.evil.example", 403),
        ("http://localhost.evil.example", 403),
        ("http://127.0.0.1.evil.example:8080", 403),
        ("null", 403),
        ("", 403),
        ("http://[", 403),
    ],
)
async def test_only_pages_of_this_machine_and_those_named_may_ask(toolbox, origin, status):
    app = application(toolbox, Settings(allowed_origins=("https://chat.example.org",)))
    headers = HEADERS if origin is None else HEADERS | {"Origin": origin}
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service") as client:
        answer = await client.post("/mcp", json=CALL, headers=headers)
    assert answer.status_code == status
    if status == 403:
        assert answer.json()["code"] == "origin_forbidden"
        assert toolbox.asked == []


@pytest.mark.parametrize("path", ["/mcp", "/mcp/"])
@pytest.mark.parametrize(
    ("host", "status"),
    [("127.0.0.1:8080", 200), ("localhost", 200), ("[::1]:1", 200), ("docs.example.org", 200),
     ("evil.example", 421), ("127.0.0.1.evil.example:8080", 421), ("docs.example.org.evil.example", 421)],
)  # fmt: skip
async def test_a_name_that_was_made_to_point_here_is_not_answered(toolbox, path, host, status):
    app = application(toolbox, Settings(allowed_hosts=("docs.example.org",)))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service") as client:
        answer = await client.post(path, json=CALL, headers=HEADERS | {"Host": host})
    assert answer.status_code == status
    assert bool(toolbox.asked) == (status == 200)


async def test_both_revisions_are_spoken(client):
    """The older by its handshake, the newer by what a client that keeps no session asks first."""
    greeting = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "a", "version": "1"}}
    call = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": greeting}
    answer = (await client.post("/mcp", json=call, headers=HEADERS)).json()["result"]
    assert answer["protocolVersion"] == "2025-11-25"
    assert "10,000 tokens" in answer["instructions"]
    about = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": greeting["clientInfo"],
        "io.modelcontextprotocol/clientCapabilities": {},
    }
    call = {"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": about}}
    headers = {**HEADERS, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": "server/discover"}
    answer = (await client.post("/mcp", json=call, headers=headers)).json()["result"]
    assert "2026-07-28" in answer["supportedVersions"]
    assert answer["capabilities"].keys() == {"tools", "resources"}


HOSTILE_BODIES = {
    "no JSON": b"search",
    "JSON cut off": b'{"jsonrpc": "2.0", "id": 1, "method": "tools/ca',
    "no UTF-8": b'{"jsonrpc": "2.0", "id": 1, "method": "\xff"}',
    "an array": b"[1, 2]",
    "no method": b'{"jsonrpc": "2.0", "id": 1}',
    "endless nesting": b'{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": ' + b"[" * 100_000,
    "arguments that are a list": b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"arguments":[1]}}',
    "an unknown method": b'{"jsonrpc": "2.0", "id": 1, "method": "tools/drop"}',
    "a number of 5,000 digits": b'{"jsonrpc":"2.0","method":"tools/call","id":' + b"9" * 5000 + b"}",
}


@pytest.mark.parametrize("version", ["2025-11-25", "2026-07-28", "1999-01-01", "\u00e9"])
@pytest.mark.parametrize("case", HOSTILE_BODIES)
async def test_a_hostile_body_is_refused_by_the_protocol(client, toolbox, case, version):
    headers = {**HEADERS, "Content-Type": "application/json", "MCP-Protocol-Version": version.encode()}
    answer = await client.post("/mcp", content=HOSTILE_BODIES[case], headers=headers)
    assert answer.status_code < 500
    assert answer.status_code >= 400 or "error" in answer.json()
    assert toolbox.asked == []


@pytest.mark.parametrize("kind", ["text/plain", "application/x-www-form-urlencoded", "application/jsonp", None])
async def test_a_body_of_another_type_is_refused_as_everywhere(client, toolbox, kind):
    answer = await client.post("/mcp", content=b"{}", headers={**HEADERS, **({"Content-Type": kind} if kind else {})})
    assert (answer.status_code, answer.json()["code"]) == (415, "media_type_refused")
    assert toolbox.asked == []


async def test_ten_megabytes_are_too_large(client):
    answer = await client.post("/mcp", content=b" " * 10_000_000, headers={"Content-Type": "application/json"})
    assert answer.status_code == 413


@pytest.mark.parametrize("method", ["GET", "DELETE", "PUT"])
async def test_there_is_no_stream_to_open_and_no_session_to_end(client, method):
    answer = await client.request(method, "/mcp", headers=HEADERS)
    assert answer.status_code == 405
    assert answer.headers["allow"] == "OPTIONS, POST"


async def test_who_hangs_up_stops_the_work(toolbox):
    toolbox.hang = True
    app = application(toolbox, PATIENT)
    with served(app) as url:
        async with httpx.AsyncClient(timeout=60) as client:
            with anyio.move_on_after(1):
                await client.post(f"{url}/mcp", json=CALL, headers=HEADERS)
        with anyio.fail_after(30):
            while not toolbox.stopped.is_set():  # noqa: ASYNC110 it is set in the server's own loop
                await anyio.sleep(0.01)


async def test_over_standard_streams(tmp_path, mode):
    write_estate(tmp_path / "estate")
    words = ["-c", "import sys; from service.surfaces.command_line import main; sys.exit(main())"]
    data = ["--data", str(tmp_path / "data")]
    await anyio.run_process([sys.executable, *words, *data, "publish", str(tmp_path / "estate")])
    server = StdioServerParameters(command=sys.executable, args=[*words, *data, "mcp"])
    with anyio.fail_after(100):
        async with Client(server, mode=mode) as agent:
            answer = await agent.call_tool("resolve_xref", {"uids": ["Install"]})
            assert answer.structured_content["resolutions"][0]["uid"] == "install"
            read = await agent.read_resource("cogitave://page/install")
            assert "Download the archive" in read.contents[0].text
            refused = await agent.call_tool("query_graph", {"cypher": "MATCH (n) DELETE n"})
            assert refused.structured_content["error"]["code"] == "read_only"
