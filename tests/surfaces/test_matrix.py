"""The same requests through every surface that can say them: the same answers, and the same refusals.

Requests are made from the catalogue: of each tool a good one, and that with each field missing, unknown, or holding
what it should not. A tool of the catalogue that has no row in a table here fails the test.
"""

import asyncio
import io
import json
import threading
from collections.abc import Iterator
from contextlib import asynccontextmanager, redirect_stdout
from dataclasses import dataclass, field
from urllib.parse import quote

import httpx
import pytest
from mcp import Client
from pydantic import ValidationError

from cypher_guard.violation import Violation
from service import bootstrap
from service.domain.errors import PublishFailed, Refused, Unavailable
from service.domain.principal import ANONYMOUS
from service.domain.requests import PublishRequest
from service.surfaces.application import application
from service.surfaces.command_line import access, main
from service.surfaces.mcp.server import AgentSurface
from service.tools import catalogue
from tests.application import PAGES, write_estate
from tests.surfaces.graphql_requests import over_graphql
from tests.surfaces.serving import PATIENT

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300)]

MODULE = """### YamlMime:Module
uid: course.first
title: First steps
summary: Begin here.
abstract: |
  - Install the tool
units:
- course.first.unit
"""

GOOD = {
    "docs_search": {
        "text": "query the graph",
        "limit": 3,
        "filter": {"product": ["graph", "tool"]},
        "facets": ["kind"],
    },
    "why_not": {"search": {"text": "query the graph"}, "uid": "colours"},
    "list_nodes": {"limit": 2, "filter": {"kind": ["page"]}},
    "docs_fetch": {"uid": "query"},
    "docs_fetch_batch": {"uids": ["query", "there is none", "install"], "maxTokens": 20},
    "code_sample_search": {"text": "install"},
    "get_related": {"uid": "query", "limit": 5},
    "get_learning_path": {"goal": "query", "knownSkills": ["install"], "minutes": 30},
    "resolve_xref": {"uids": ["Query", "instal"]},
    "suggest": {"text": "quer", "limit": 3},
    "query_graph": {
        "cypher": "MATCH (p:Page)-[:xref]->(q:Page) WHERE p.uid = $uid RETURN q.uid ORDER BY q.uid",
        "parameters": {"uid": "query"},
    },
    "describe_schema": {},
}

STRINGS = (7, ["a"], None, "", " ", "a\0b", "there is no such ü*", "x" * 3000)
INTEGERS = ("ten", 1.5, True, None, 0, -1, 3, 10**9)
BOOLEANS = ("yes", 1, None, True)
ARRAYS = ("a", {"a": 1}, None, [], [7], ["there is no such ü*"], ["a\0b"], ["a"] * 300)
OBJECTS = ("a", [], None, {}, {"kin": ["page"]}, {"kind": ["pages"]}, {"kind": "page"}, {"kind": ["page", "a\0b"]})
WRITES = (
    "MATCH (n) DELETE n",
    "MATCH (n)-[*]->(m) RETURN m",
    "RETURN 1 +",
    "CALL dbms.components()",
    "MATCH (n) RETURN n",
)


def requests(tool) -> Iterator[dict]:
    good = GOOD[tool.name]
    yield good
    yield {**good, "unknown": 1}
    schema = tool.request.model_json_schema()
    for name, about in schema.get("properties", {}).items():
        yield {key: value for key, value in good.items() if key != name}
        for value in odd_values(about):
            yield {**good, name: value}
    if tool is catalogue.GRAPH_QUERY:
        yield from ({"cypher": cypher} for cypher in WRITES)


def odd_values(about):
    kinds = kinds_of(about)
    table = {"string": STRINGS, "integer": INTEGERS, "boolean": BOOLEANS, "array": ARRAYS, "object": OBJECTS}
    return [value for kind in sorted(kinds - {"null"}) for value in table[kind]]


@dataclass(frozen=True)
class Command:
    """How a tool is called on the command line: the fields that are arguments, and the options of the others."""

    name: str
    arguments: tuple[str, ...] = ()
    options: dict[str, str] = field(default_factory=dict)
    least: int = 0
    """Of fewer words than these, another tool is meant."""

    def words(self, request):
        """None for what the command line can't say."""
        given = {name: value for name, value in request.items() if value is not None}
        if not given.keys() <= {*self.arguments, *self.options} or any(value in ([], {}) for value in given.values()):
            return None
        words = [self.name]
        for name, option in self.options.items():
            said = as_json(given.get(name)) if name == "parameters" else spread(given.get(name))
            words += [option if one is True else f"{option}={one}" for one in said]
        asked = [one for name in self.arguments for one in spread(given.get(name))]
        return [*words, "--", *asked] if len(asked) >= self.least else None


def spread(value):
    if value is None or value is False:
        return []
    if isinstance(value, dict):
        pairs = ((key, values if isinstance(values, list) else [values]) for key, values in value.items())
        return [f"{key}={one}" for key, values in pairs for one in values]
    return value if isinstance(value, list) else [value]


def as_json(parameters):
    return [f"{name}={json.dumps(value)}" for name, value in (parameters or {}).items()]


SEARCHING = {
    "limit": "--limit",
    "filter": "--filter",
    "currentDocument": "--current-document",
    "facets": "--facet",
    "cursor": "--cursor",
    "explain": "--explain",
}
FETCHING = {"locale": "--locale", "section": "--section", "maxTokens": "--max-tokens", "cursor": "--cursor"}
COMMANDS = {
    "docs_search": Command("search", ("text",), SEARCHING),
    "why_not": Command("search", ("text",), {**SEARCHING, "uid": "--why-not"}),
    "list_nodes": Command("nodes", (), {name: SEARCHING[name] for name in ("limit", "filter", "facets", "cursor")}),
    "docs_fetch": Command("fetch", ("uid",), FETCHING),
    "docs_fetch_batch": Command(
        "fetch", ("uids",), {name: FETCHING[name] for name in ("locale", "maxTokens")}, least=2
    ),
    "code_sample_search": Command(
        "samples",
        ("text",),
        {"language": "--language", **{one: SEARCHING[one] for one in ("limit", "filter", "cursor")}},
    ),
    "get_related": Command("related", ("uid",), {"locale": "--locale", "limit": "--limit"}),
    "get_learning_path": Command(
        "learning-path",
        ("goal",),
        {"knownSkills": "--known", "level": "--level", "minutes": "--minutes", "locale": "--locale"},
    ),
    "resolve_xref": Command("xref", ("uids",), {"locale": "--locale", "moniker": "--moniker"}),
    "suggest": Command("suggest", ("text",), {"limit": "--limit"}),
    "query_graph": Command("query-graph", ("cypher",), {"parameters": "--param"}),
    "describe_schema": Command("schema"),
}


NARROWED = {"limit": "limit", "filter": "filter", "facets": "facet", "cursor": "cursor"}
LINKS = {
    "docs_search": ("/v1/search", {"text": "q", "explain": "explain", **NARROWED}),
    "list_nodes": ("/v1/nodes", NARROWED),
    "docs_fetch": ("/v1/nodes/{uid}", {"locale": "locale"}),
    "suggest": ("/v1/suggest", {"text": "q", "limit": "limit"}),
}
"""Tools that have a link, and the parameter of each field that fits into one."""

LISTS = {"page": "pages", "module": "modules", "unit": "units", "learningPath": "learningPaths"}


class Elsewhere:
    """The real toolbox in a loop of its own: callers of any loop ask it."""

    def __init__(self, toolbox, loop):
        self.toolbox = toolbox
        self.loop = loop

    async def call(self, tool, request, principal):
        work = asyncio.run_coroutine_threadsafe(self.toolbox.call(tool, request, principal), self.loop)
        return await asyncio.wrap_future(work)


@pytest.fixture(scope="module")
def toolbox(tmp_path_factory):
    folder = tmp_path_factory.mktemp("matrix")
    estate = write_estate(folder / "estate", PAGES | {"course/index.yml": MODULE})
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    def do(work):
        return asyncio.run_coroutine_threadsafe(work, loop).result(120)

    opened = bootstrap.open_toolbox(PATIENT, folder / "data")
    held = do(opened.__aenter__())
    do(held.publish(PublishRequest(paths=[str(estate)])))
    yield Elsewhere(held, loop)
    do(opened.__aexit__(None, None, None))
    loop.call_soon_threadsafe(loop.stop)
    thread.join(10)
    loop.close()


@pytest.fixture(scope="module")
def anyio_backend():
    return "asyncio"


async def in_process(toolbox, tool, request):
    try:
        result = await toolbox.call(tool, tool.request.model_validate(request), ANONYMOUS)
    except ValidationError:
        return "request_invalid"
    except (Refused, Violation, Unavailable, PublishFailed) as error:
        return error.code
    return lasting(result.model_dump(mode="json", by_alias=True))


async def over_rest(client, tool, request):
    answer = await client.post(f"/v1/{tool.path}", json=request)
    return lasting(answer.json()) if answer.is_success else answer.json()["code"]


async def over_mcp(agent, tool, request):
    answer = await agent.call_tool(tool.name, request)
    return answer.structured_content["error"]["code"] if answer.is_error else lasting(answer.structured_content)


async def over_a_link(client, tool, request):
    """None for what a link can't say: it holds nothing but text, and refuses what is none by other words."""
    path, parameters = link(tool, request) or (None, None)
    if path is None:
        return None
    answer = await client.get(path, params=parameters)
    return lasting(answer.json()) if answer.is_success else answer.json()["code"]


def link(tool, request):
    if tool.name not in LINKS:
        return None
    path, names = LINKS[tool.name]
    given = {name: value for name, value in request.items() if value is not None}
    uid = given.pop("uid", None) if "{uid}" in path else ""
    schema = tool.request.model_json_schema()["properties"]
    if not isinstance(uid, str) or not given.keys() <= names.keys() | {"unknown"}:
        return None
    parameters = []
    if any(value is None and "null" not in kinds_of(schema.get(name, {})) for name, value in request.items()):
        return None
    for name, value in given.items():
        if name in schema and not is_text_of(value, schema[name]):
            return None
        said = [str(one).lower() if isinstance(one, bool) else one for one in spread(value)]
        parameters += [(names.get(name, name), one) for one in said]
    return path.format(uid=quote(uid, safe="")), parameters


def kinds_of(about):
    return {one.get("type", "object") for one in about.get("anyOf", [about])}


def is_text_of(value, about):
    """Whether the value, as text, is read back as what it was."""
    kinds = kinds_of(about)
    held = {str: "string", bool: "boolean", int: "integer", list: "array", dict: "object"}.get(type(value))
    if held == "object":
        return held in kinds and all(is_text_of(one, {"type": "array"}) for one in value.values())
    if held == "array":
        return held in kinds and all(isinstance(one, str) for one in value)
    return held in kinds


async def over_content(client, tool, request):
    """What the content API says of the same node or listing: its identity and text, or the code of its refusal."""
    if tool is catalogue.FETCH and isinstance(request.get("uid"), str) and request.keys() <= {"uid", "locale"}:
        found = link(tool, request)
        if found is None:
            return None
        answer = await client.get(found[0].replace("/v1/nodes", "/content"), params=found[1])
        return essence(answer.json(), tool) if answer.is_success else answer.json()["code"]
    if tool is catalogue.LIST and request.keys() == {"limit", "filter"} and link(tool, request) is not None:
        kinds = (request["filter"] or {}).get("kind", [])
        limit = 10 if request["limit"] is None else request["limit"]
        if len(kinds) != 1 or not 1 <= limit <= 100:
            return None
        others = {"subject" if name == "topic" else name: v for name, v in request["filter"].items() if name != "kind"}
        asked = {"type": LISTS.get(kinds[0], "none"), "limit": limit, **others}
        answer = await client.get("/catalog", params=asked)
        return essence(answer.json(), tool) if answer.is_success else answer.json()["code"]
    return None


def essence(answer, tool):
    if tool is catalogue.FETCH:
        shown = {name: answer[name] for name in ("uid", "locale", "kind", "title", "contentHash", "contentRoot")}
        return shown | {"text": [section["text"] for section in answer["sections"]]}
    entries = answer.get("nodes") or [one for name in LISTS.values() for one in answer.get(name, [])]
    return [(entry["uid"], entry["locale"], entry["kind"], entry["title"]) for entry in entries]


async def on_the_command_line(tool, request):
    """Not for requests of the wrong shape: there the command line has its own words."""
    if tool is catalogue.WHY_NOT:
        request = {**request["search"], **{name: value for name, value in request.items() if name != "search"}}
    words = COMMANDS[tool.name].words(request)
    if words is None:
        return None
    printed = io.StringIO()
    with redirect_stdout(printed):
        await asyncio.to_thread(main, ["--json", *words])
    document = json.loads(printed.getvalue())
    return document["error"]["code"] if "error" in document else lasting(document)


def lasting(value):
    """Without what differs from call to call: times, the run's name, and a cursor, which holds a time."""
    if isinstance(value, dict):
        passing = {"tookMs", "runId", "asOf", "timingsMs", "nextCursor"}
        return {key: lasting(one) for key, one in value.items() if key not in passing}
    return [lasting(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize("tool", catalogue.TOOLS, ids=lambda tool: tool.name)
async def test_every_surface_answers_the_same(tool, toolbox, monkeypatch):
    @asynccontextmanager
    async def open_toolbox(_settings, _data):
        yield toolbox

    monkeypatch.setattr(access, "open_toolbox", open_toolbox)
    app = application(toolbox, PATIENT)
    said_on_the_command_line = said_in_graphql = said_on_links = said_in_content = 0
    async with (
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service", timeout=60) as client,
        Client(AgentSurface(toolbox, PATIENT).server(), mode="2026-07-28") as agent,
    ):
        for number, request in enumerate(requests(tool)):
            expected = await in_process(toolbox, tool, request)
            assert number > 0 or isinstance(expected, dict), "the good request is refused"
            assert await over_rest(client, tool, request) == expected, request
            assert await over_mcp(agent, tool, request) == expected, request
            in_graphql = await over_graphql(client, tool, request)
            if in_graphql is not None:
                said_in_graphql += 1
                assert lasting(in_graphql) == expected, request
            on_a_link = await over_a_link(client, tool, request)
            if on_a_link is not None:
                said_on_links += 1
                assert on_a_link == expected, request
            in_content = await over_content(client, tool, request)
            if in_content is not None:
                said_in_content += 1
                assert in_content == (expected if isinstance(expected, str) else essence(expected, tool)), request
            if expected == "request_invalid":
                continue
            on_command_line = await on_the_command_line(tool, request)
            if on_command_line is not None:
                said_on_the_command_line += 1
                assert on_command_line == expected, request
    assert said_on_the_command_line > 0
    assert said_in_graphql > number / 2
    assert said_on_links > 5 or tool.name not in LINKS
    assert said_in_content > 1 or tool not in (catalogue.FETCH, catalogue.LIST)


async def test_a_cursor_of_one_surface_goes_on_at_any_other(toolbox, monkeypatch):
    """And a cursor of another request is refused by all of them alike."""

    @asynccontextmanager
    async def open_toolbox(_settings, _data):
        yield toolbox

    monkeypatch.setattr(access, "open_toolbox", open_toolbox)
    app = application(toolbox, PATIENT)
    async with (
        httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service", timeout=60) as client,
        Client(AgentSurface(toolbox, PATIENT).server(), mode="2026-07-28") as agent,
    ):
        surfaces = {
            "rest": lambda request: client.post("/v1/nodes", json=request),
            "link": lambda request: client.get("/v1/nodes", params=link(catalogue.LIST, request)[1]),
            "mcp": lambda request: agent.call_tool("list_nodes", request),
            "graphql": lambda request: over_graphql(client, catalogue.LIST, request),
            "command line": lambda request: on_the_command_line(catalogue.LIST, request),
        }
        first = {"limit": 1, "filter": {"kind": ["page"]}}
        cursors = {
            "rest": (await surfaces["rest"](first)).json()["nextCursor"],
            "link": (await surfaces["link"](first)).json()["nextCursor"],
            "mcp": (await surfaces["mcp"](first)).structured_content["nextCursor"],
        }
        foreign = {
            "search": (await client.get("/v1/search?q=query&limit=1")).json()["nextCursor"],
            "catalog": (await client.get("/catalog?limit=1")).json()["nextCursor"],
            "other filter": (await client.post("/v1/nodes", json={"limit": 1})).json()["nextCursor"],
            "nonsense": "AAAA",
        }
        for name, ask in surfaces.items():
            for made_by, cursor in cursors.items():
                page = await over(name, await ask({**first, "cursor": cursor}))
                assert page["nodes"][0]["uid"] == "colours", (name, made_by)
            for made_for, cursor in foreign.items():
                refused = await over(name, await ask({**first, "cursor": cursor}))
                assert refused == "cursor_foreign", (name, made_for)


async def over(surface, answer):
    if surface in ("rest", "link"):
        return answer.json() if answer.is_success else answer.json()["code"]
    if surface == "mcp":
        return answer.structured_content["error"]["code"] if answer.is_error else answer.structured_content
    return answer


def test_the_matrix_is_large():
    assert sum(len(list(requests(tool))) for tool in catalogue.TOOLS) >= 200
