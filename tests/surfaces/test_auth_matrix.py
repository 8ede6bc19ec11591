"""Every endpoint, tool and GraphQL field, for every kind of caller: made from the live listings.

A route that is new here is closed to callers who may not search, or this fails: its need is named in a table below.
"""

import asyncio
from datetime import timedelta

import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.exceptions import MCPError

from service.domain.keys import split
from service.domain.principal import Scope
from service.surfaces.authentication.middleware import is_open
from service.surfaces.openapi import EXAMPLES
from service.tools import catalogue
from tests.surfaces.access import OWNER_TOKEN, REQUIRED, WITH_TOKENS, bearer, listed_routes, service
from tests.surfaces.fake_toolbox import FakeToolbox
from tests.surfaces.graphql_requests import SCHEMA, field_of, selection

pytestmark = pytest.mark.anyio

SETTINGS = REQUIRED.model_copy(update={"caller_rate": 100_000, "address_rate": 100_000, "key_staleness": 0})

KNOWN = "anyone who is known"
OWNER = "the owner"
NEEDS = {
    "/openapi.json": KNOWN,
    "/sign-out": KNOWN,
    "/graph": KNOWN,  # the page is a form; what is typed into it needs `graph`
    "/graphql": KNOWN,  # each field says for itself
    "/mcp": KNOWN,  # each tool says for itself
    "/mcp/": KNOWN,
    "/": KNOWN,
    "/node": Scope.SEARCH,
    "/metrics": Scope.OPERATE,
    "/diagnostics": Scope.OPERATE,
    "/judge": Scope.OPERATE,
    "/tuning": Scope.OPERATE,
    "/v1/tuning": Scope.OPERATE,
    "/runs": Scope.OPERATE,
    "/status": Scope.OPERATE,
    "/v1/publish": OWNER,
    "/v1/rollback": OWNER,
    "/v1/doctor": OWNER,
    "/v1/roots": OWNER,
    "/v1/diagnostics": OWNER,
    "/v1/support": OWNER,
    "/v1/publish/missing": Scope.PUBLISH,
    "/v1/publish/records": Scope.PUBLISH,
    **{f"/v1/{tool.path}": tool.scope for tool in (*catalogue.TOOLS, *catalogue.OPERATOR_TOOLS)},
}
"""What each path needs, beside the open ones; `search` where none is named."""

BODIES = {
    **{f"/v1/{tool.path}": next(iter(EXAMPLES[tool.name].values()))["value"] for tool in catalogue.TOOLS},
    "/v1/runs/show": {"runId": "run-1"},
    "/v1/tuning/replace": {"version": 3},
    "/v1/tuning/rollback": {"to": 1, "version": 3},
    "/v1/runs/replay": {"runId": "run-1", "text": "fusion"},
    "/v1/publish": {"paths": ["/estate"]},
    "/v1/rollback": {"contentRoot": "c0ffee" * 10 + "c0ff"},
    "/v1/doctor": {"repair": False},
}
QUERIES = {
    "/v1/search": "?q=fusion",
    "/v1/suggest": "?q=fusion",
    "/": "?q=fusion",
    "/node": "?uid=manual.page-1",
    "/compare": "?q=fusion",
    "/neighbourhood": "?uid=manual.page-1",
    "/learning-path": "?goal=manual.page-1",
}
REFUSED = {"credentials_missing", "credentials_invalid", "scope_missing", "owner_required"}


async def code_of(running, method, path, headers):
    """The code of a refusal, or None for an answer of any other kind."""
    url = path.replace("{uid:uid}", "manual.page-1") + (QUERIES.get(path, "") if method == "GET" else "")
    body = BODIES.get(path, {}) if method in ("POST", "PUT") else None
    answer = await running.client.request(method, url, json=body, headers=headers)
    if answer.status_code in (401, 403):
        found = [code for code in REFUSED if code in answer.text]
        assert len(found) == 1, (method, path, answer.text)
        return found[0]
    assert answer.status_code != 404, (method, path)
    return None


async def outsiders(running):
    """Whoever may do nothing at all, and why."""
    revoked = running.keys.issue(*Scope)
    await running.keys.revoke(split(revoked)[0], running.keys.keys[split(revoked)[0]].created_at, deadline=None)
    return {
        "none": ({}, "credentials_missing"),
        "wrong key": (bearer(running.keys.issue(*Scope) + "a"), "credentials_invalid"),
        "unknown key": (bearer("cq_000000000000_a"), "credentials_invalid"),
        "expired key": (bearer(running.keys.issue(*Scope, lasts=timedelta(seconds=-1))), "credentials_invalid"),
        "revoked key": (bearer(revoked), "credentials_invalid"),
        "key without a scope": (bearer(running.keys.issue()), "credentials_missing"),
        "wrong owner": ({"Cogitave-Query-Owner": "guessed"}, "credentials_invalid"),
        "no token": (bearer("a.b.c"), "credentials_invalid"),
        "basic": ({"Authorization": "Basic YTpi"}, "credentials_missing"),
        "wrong cookie": ({"Cookie": "cogitave_query_session=a.99999999999.b"}, "credentials_missing"),
    }


async def test_nobody_unknown_gets_past_the_door():
    toolbox = FakeToolbox()
    async with service(toolbox, SETTINGS) as running:
        routes = sorted({*listed_routes(running.app.routes), ("GET", "/nowhere"), ("POST", "/nowhere")})
        assert len(routes) > 35
        for name, (headers, expected) in (await outsiders(running)).items():
            for method, path in routes:
                if is_open(path):
                    continue
                assert await code_of(running, method, path, headers) == expected, (name, method, path)
    assert toolbox.asked == []


def allowed(need, scopes, is_owner):
    if need == KNOWN:
        return True
    return is_owner if need == OWNER else need in scopes


async def test_each_scope_opens_its_own_routes_and_no_other():
    async with service(FakeToolbox(), SETTINGS) as running:
        callers = {scope.value: (bearer(running.keys.issue(scope)), {scope}, False) for scope in Scope}
        callers["owner"] = ({"Cogitave-Query-Owner": OWNER_TOKEN}, set(Scope), True)
        for name, (headers, scopes, is_owner) in callers.items():
            for method, path in sorted(set(listed_routes(running.app.routes))):
                if is_open(path):
                    assert await code_of(running, method, path, headers) is None or path == "/sign-in"
                    continue
                need = NEEDS.get(path, Scope.SEARCH)
                need = Scope.SEARCH if method == "GET" and path in ("/v1/search", "/v1/suggest", "/v1/nodes") else need
                need = Scope.SEARCH if path == "/" else need  # with a question
                expected = None if allowed(need, scopes, is_owner) else "scope_missing"
                expected = "owner_required" if need == OWNER and expected else expected
                assert await code_of(running, method, path, headers) == expected, (name, method, path)


async def test_each_scope_opens_its_own_tools_over_mcp():
    async with service(FakeToolbox(), SETTINGS) as running:
        for scope in Scope:
            running.client.headers.update(bearer(running.keys.issue(scope)))
            transport = streamable_http_client("http://localhost/mcp", http_client=running.client)
            async with Client(transport, mode="2026-07-28") as agent:
                listed = {tool.name for tool in (await agent.list_tools()).tools}
                assert listed >= {tool.name for tool in catalogue.TOOLS}
                generic = {"search": {"query": "fusion"}, "fetch": {"id": "manual.page-1"}}
                for name in listed:
                    arguments = generic.get(name) or next(iter(EXAMPLES[name].values()))["value"]
                    need = next((tool.scope for tool in catalogue.TOOLS if tool.name == name), Scope.SEARCH)
                    try:
                        answer = await agent.call_tool(name, arguments)
                        code = answer.structured_content["error"]["code"] if answer.is_error else None
                    except MCPError as error:
                        code = error.error.data["code"]
                    assert code == (None if need is scope else "scope_missing"), (scope, name)


@pytest.mark.parametrize("revision", ["2025-06-18", "2025-11-25", "2026-07-28"])
@pytest.mark.parametrize(
    ("method", "params"),
    [
        ("tools/call", {"name": "docs_search", "arguments": {"text": "fusion"}}),
        ("resources/list", {}),
        ("resources/read", {"uri": "cogitave://page/manual.page-1"}),
    ],
)
async def test_over_mcp_a_missing_scope_is_a_challenge(revision, method, params):
    """MCP's authorization, Scope Challenge Handling: 403, the scope, and where a token can be had."""
    about = {"clientInfo": {"name": "t", "version": "1"}, "protocolVersion": revision, "clientCapabilities": {}}
    meta = {f"io.modelcontextprotocol/{name}": value for name, value in about.items()}
    message = {"jsonrpc": "2.0", "id": "seven", "method": method, "params": {**params, "_meta": meta}}
    headers = {
        "Accept": "application/json, text/event-stream",
        "MCP-Protocol-Version": revision,
        "Mcp-Method": method,
        "Mcp-Name": params.get("name") or params.get("uri") or "",
    }
    settings = WITH_TOKENS.model_copy(update={"allowed_hosts": ("localhost",)})
    async with service(FakeToolbox(), settings) as running:
        lacking = headers | bearer(running.keys.issue(Scope.GRAPH))
        refused = await running.client.post("/mcp", json=message, headers=lacking)
        assert (refused.status_code, refused.headers["content-type"]) == (403, "application/json")
        assert refused.headers["WWW-Authenticate"] == (
            'Bearer error="insufficient_scope", scope="search", '
            'resource_metadata="https://docs.example.org/.well-known/oauth-protected-resource/mcp"'
        )
        told = refused.json()
        assert (told["id"], told["error"]["data"]) == ("seven", {"code": "scope_missing"})
        assert [event["code"] for event in running.audit.events if event.get("code")] == ["scope_missing"]
        enough = headers | bearer(running.keys.issue(Scope.SEARCH))
        assert (await running.client.post("/mcp", json=message, headers=enough)).status_code == 200


async def test_each_scope_opens_its_own_fields_in_graphql():
    of_field = {id(field_of(tool)): tool for tool in catalogue.TOOLS if field_of(tool)}
    async with service(FakeToolbox(), SETTINGS) as running:
        for scope in Scope:
            headers = bearer(running.keys.issue(scope))
            for name, field in SCHEMA.query_type.fields.items():
                tool = of_field.get(id(field), catalogue.SEARCH)
                values = ARGUMENTS[name]
                declared = ", ".join(f"${one}: {field.args[one].type}" for one in values)
                passed = ", ".join(f"{one}: ${one}" for one in values)
                query = (
                    f"query{f'({declared})' if declared else ''} "
                    f"{{ {name}{f'({passed})' if passed else ''} {{ {selection(named(field.type))} }} }}"
                )
                answer = await running.client.post(
                    "/graphql", json={"query": query, "variables": values}, headers=headers
                )
                codes = [error["extensions"]["code"] for error in answer.json().get("errors", [])]
                assert codes == ([] if tool.scope is scope else ["scope_missing"]), (scope, name, answer.text)


ARGUMENTS = {
    "search": {"text": "fusion"},
    "samples": {"text": "fusion"},
    "related": {"uid": "manual.page-1"},
    "learningPath": {"goal": "manual.page-1"},
    "resolveXref": {"uids": ["manual.page-1"]},
    "suggest": {"text": "fu"},
    "queryGraph": {"cypher": "MATCH (n:Page) RETURN n.uid"},
    "node": {"uid": "manual.page-1"},
    "docsFetchBatch": {"uids": ["manual.page-1"]},
    "schema": {},
    "nodes": {},
    "whyNot": {"search": {"text": "fusion"}, "uid": "manual.page-1"},
    "facets": {"names": ["kind"]},
}
"""For each field of the schema: one that lacks a row fails."""


def named(kind):
    while hasattr(kind, "of_type"):
        kind = kind.of_type
    return kind


async def test_principals_do_not_mix_under_concurrency():
    """Many callers at once, over REST and MCP: each tool is asked by the one whose request it answers."""
    toolbox = FakeToolbox()
    async with service(toolbox, SETTINGS) as running:
        keys = {
            f"class-{number}": running.keys.issue(Scope.SEARCH, classes=(f"class-{number}",)) for number in range(8)
        }

        async def ask(name, text, number):
            headers = bearer(text) | {"Accept": "application/json, text/event-stream"}
            arguments = {"text": f"{name} {number}"}
            if number % 2:
                call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call"}
                body = call | {"params": {"name": "docs_search", "arguments": arguments}}
                answer = await running.client.post("/mcp", json=body, headers=headers)
            else:
                answer = await running.client.post("/v1/search", json=arguments, headers=headers)
            assert answer.status_code == 200

        await asyncio.gather(*(ask(name, text, number) for name, text in keys.items() for number in range(6)))
    asked = list(zip(toolbox.asked, toolbox.principals, strict=True))
    assert len(asked) == 48
    for request, principal in asked:
        assert principal.audiences == {request.text.split()[0], "*"}
