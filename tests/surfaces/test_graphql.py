"""GraphQL over tools whose answers are known: what is asked of them, how often, and what comes of it."""

import json
from typing import get_origin

import anyio
import httpx
import pytest
from graphql import (
    GraphQLObjectType,
    get_introspection_query,
    get_named_type,
)

from service.domain.errors import AllLegsDown, EngineUnavailable
from service.domain.filters import NodeFilter
from service.domain.principal import ANONYMOUS
from service.domain.requests import GraphQueryRequest, ListRequest, NodeRequest, NodesRequest, SearchRequest
from service.domain.results import GraphQueryResult
from service.settings import Settings
from service.surfaces.application import application
from service.tools import catalogue
from tests.surfaces.fake_toolbox import ROOT, hit, search_result
from tests.surfaces.graphql_requests import SCHEMA, entry_of, field_name
from tests.surfaces.serving import PATIENT, served

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(60)]

MODERN = "application/graphql-response+json"


@pytest.fixture
def ask(client):
    async def ask(query, variables=None, **more):
        answer = await client.post("/graphql", json={"query": query, "variables": variables, **more})
        assert answer.status_code == 200
        return answer.json()

    return ask


def code_of(answer):
    (error,) = answer["errors"]
    return error["extensions"]["code"]


# The schema


def test_every_tool_of_the_catalogue_is_a_field_and_says_when_not_to_use_it():
    fields = SCHEMA.query_type.fields
    assert fields.keys() == {field_name(tool) for tool in catalogue.TOOLS} | {"facets"}
    for tool in catalogue.TOOLS:
        assert fields[field_name(tool)].description == f"{tool.description} {tool.not_for}"


@pytest.mark.parametrize("tool", catalogue.TOOLS, ids=lambda tool: tool.name)
def test_every_field_of_a_request_is_an_argument(tool):
    taken = SCHEMA.query_type.fields[field_name(tool)].args
    wire = {"limit": "first", "cursor": "after"} if "next_cursor" in tool.result.model_fields else {}
    asked = {about.alias: about for about in tool.request.model_fields.values()}
    assert taken.keys() == {wire.get(name, name) for name in asked}
    for name, about in asked.items():
        argument = taken[wire.get(name, name)]
        assert str(argument.type).endswith("!") == about.is_required()
        assert argument.description == about.description


def test_every_filter_is_a_field_of_the_filter():
    assert SCHEMA.type_map["NodeFilterInput"].fields.keys() == set(NodeFilter.__dataclass_fields__)


@pytest.mark.parametrize("tool", catalogue.TOOLS, ids=lambda tool: tool.name)
def test_every_field_of_a_result_is_a_field_of_its_type(tool):
    """Through all results within results: a field added in the domain that is missing here fails."""
    missing = list(differences(tool.result, get_named_type(SCHEMA.query_type.fields[field_name(tool)].type), set()))
    assert missing == []


def differences(model, kind, seen):
    if model in seen:
        return
    seen.add(model)
    has_pages = "pageInfo" in kind.fields
    for about in model.model_fields.values():
        within = entry_of(about.annotation)
        if has_pages and get_origin(about.annotation) is list and within:
            edge = get_named_type(kind.fields["edges"].type)
            yield from differences(within, get_named_type(edge.fields["node"].type), seen)
        elif about.alias not in kind.fields and not (has_pages and about.alias == "nextCursor"):
            yield f"{kind.name}.{about.alias}"
        elif within and about.alias in kind.fields:
            yield from differences(within, get_named_type(kind.fields[about.alias].type), seen)


def test_whatever_names_a_node_leads_to_it():
    for name, kind in SCHEMA.type_map.items():
        if isinstance(kind, GraphQLObjectType) and {"uid", "locale"} <= kind.fields.keys() and name != "Node":
            assert str(kind.fields["node"].type) == "Node", name


# Answers


async def test_a_body_holds_what_the_specification_names_and_nothing_else(client):
    """`extensions` may be there; a misspelt `variables` must not be a document without any."""
    asked = {"query": "{ __typename }"}
    assert (await client.post("/graphql", json={**asked, "extensions": {"a": 1}})).status_code == 200
    answer = await client.post("/graphql", json={**asked, "variable": {}})
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["extensions"]["code"] == "request_invalid"


async def test_a_search_is_a_connection_that_goes_on_by_the_tools_own_cursor(ask, toolbox):
    query = """query($after: String) {
      search(text: "fusion", first: 10, after: $after) {
        edges { cursor node { uid passage { highlights } } } pageInfo { hasNextPage hasPreviousPage endCursor } total
      }
    }"""
    uids, after = [], None
    while True:
        page = (await ask(query, {"after": after}))["data"]["search"]
        assert toolbox.asked[-1] == SearchRequest(text="fusion", limit=10, cursor=after)
        assert page["total"] == 25
        assert page["pageInfo"]["hasPreviousPage"] == bool(after)
        uids += [edge["node"]["uid"] for edge in page["edges"]]
        assert page["edges"][-1]["cursor"] == page["pageInfo"]["endCursor"]
        after = page["pageInfo"]["endCursor"]
        if not page["pageInfo"]["hasNextPage"]:
            break
    assert after is None
    assert uids == [f"manual.page-{number}" for number in range(1, 26)]


async def test_every_argument_reaches_the_tool_as_it_was_given(ask, toolbox):
    query = """query($profile: CallerProfileInput, $filter: NodeFilterInput) {
      search(text: "a", filter: $filter, profile: $profile, currentDocument: "p", products: ["x"], facets: ["kind"],
             withoutSignals: ["prior"], explain: true) {
        facets { name values { name count } } edges { node { explain { legs { leg rank } } } }
      }
    }"""
    variables = {"profile": {"role": "developer", "monikers": ["a-1"]}, "filter": {"kind": ["page", "unit"]}}
    answer = await ask(query, variables)
    assert toolbox.asked == [
        SearchRequest.model_validate(
            {
                "text": "a",
                **variables,
                "currentDocument": "p",
                "products": ["x"],
                "facets": ["kind"],
                "withoutSignals": ["prior"],
                "explain": True,
            }
        )
    ]
    assert answer["data"]["search"]["facets"] == [
        {"name": "kind", "values": [{"name": "page", "count": 13}, {"name": "unit", "count": 12}]}
    ]
    assert answer["data"]["search"]["edges"][0]["node"]["explain"]["legs"][0] == {"leg": "lexical", "rank": 1}


async def test_facets_alone(ask, toolbox):
    await ask('{ facets(names: ["kind"], filter: {product: ["a"]}) { name } }')
    assert toolbox.asked == [ListRequest(limit=1, facets=["kind"], filter={"product": ["a"]})]


async def test_rows_are_whatever_the_graph_holds(ask, toolbox):
    row = [None, 1.5, True, "ü", {"a": [1]}, 2**60]
    toolbox.answer = GraphQueryResult(
        columns=list("abcdef"), rows=[row], truncated=False, cypher="", content_root=ROOT, took_ms=1.0
    )
    query = 'query($given: JSON) { queryGraph(cypher: "RETURN 1", parameters: $given) { rows } }'
    answer = await ask(query, {"given": {"a": [None, {"b": 2**60}]}})
    assert answer["data"]["queryGraph"]["rows"] == [row]
    assert toolbox.asked == [GraphQueryRequest(cypher="RETURN 1", parameters={"a": [None, {"b": 2**60}]})]


ODD_UIDS = [
    "with space",
    "C#",
    "100%",
    "a/b//c",
    "why?q=1&x=y",
    "日本 🦀",
    "quote\"'\\",
    "line\nbreak",
    "*",
    "..",
    "{}",
]


@pytest.mark.parametrize("uid", ODD_UIDS)
async def test_a_uid_round_trips(ask, toolbox, uid):
    answer = await ask("query($uid: String!) { node(uid: $uid) { uid } }", {"uid": uid})
    assert answer == {"data": {"node": {"uid": uid}}}
    literal = await ask(f"{{ node(uid: {json.dumps(uid, ensure_ascii=False)}) {{ uid }} }}")
    assert literal == answer
    assert toolbox.asked == [NodeRequest(uid=uid)] * 2


async def test_half_a_surrogate_pair_in_an_estate_is_no_error(ask, toolbox):
    toolbox.answer = search_result([hit(1, title="half \ud800 a pair")])
    answer = await ask('{ search(text: "a") { edges { node { title } } } }')
    assert answer["data"]["search"]["edges"][0]["node"]["title"] == "half \ufffd a pair"


async def test_a_link_asks_too(client):
    answer = await client.get(
        "/graphql", params={"query": "query($t: String!) { search(text: $t) { total } }", "variables": '{"t": "a"}'}
    )
    assert answer.json() == {"data": {"search": {"total": 25}}}


async def test_who_asks_is_handed_on(ask, toolbox):
    await ask('{ search(text: "a") { total } node(uid: "b") { uid } }')
    assert len(toolbox.principals) == 2
    assert {principal.audiences for principal in toolbox.principals} == {ANONYMOUS.audiences}


# Calls


async def test_the_same_question_is_asked_once(ask, toolbox):
    aliases = " ".join(f'a{n}: node(uid: "same") {{ uid }} ' for n in range(50))
    answer = await ask(f"{{ {aliases} }}")
    assert len(answer["data"]) == 50
    assert toolbox.asked == [NodeRequest(uid="same")]


async def test_nodes_of_hits_are_fetched_together(ask, toolbox):
    query = '{ search(text: "a", first: 25) { edges { node { uid node { uid title edges { node { title } } } } } } }'
    answer = await ask(query)
    assert "errors" not in answer
    nodes = [edge["node"] for edge in answer["data"]["search"]["edges"]]
    assert [node["node"]["uid"] for node in nodes] == [node["uid"] for node in nodes]
    batch = Settings().fetch_batch
    assert [len(request.uids) for request in toolbox.asked if isinstance(request, NodesRequest)] == [batch, 25 - batch]
    # And one for the module that all of them are part of.
    assert toolbox.asked[-1] == NodeRequest(uid="manual", locale="en-us")
    assert len(toolbox.asked) == 4


async def test_one_node_that_there_is_not_leaves_the_others(ask):
    answer = await ask('{ a: node(uid: "nobody") { uid } b: node(uid: "x") { uid } c: node(uid: "y") { uid } }')
    assert answer["data"] == {"a": None, "b": {"uid": "x"}, "c": {"uid": "y"}}
    (error,) = answer["errors"]
    assert error["path"] == ["a"]
    assert error["extensions"] == {"code": "node_unknown", "suggestion": "manual.page-1"}


async def test_calls_are_bounded(ask, toolbox):
    most = Settings().graphql_calls
    aliases = " ".join(f'a{n}: search(text: "{n}") {{ total }}' for n in range(most + 10))
    answer = await ask(f"{{ {aliases} }}")
    assert len(toolbox.asked) == most
    assert sum(value is not None for value in answer["data"].values()) == most
    assert {error["extensions"]["code"] for error in answer["errors"]} == {"query_over_limit"}
    assert len(answer["errors"]) == 10


# Refusals

REFUSED = {
    "no document": ("", "request_invalid"),
    "no syntax": ("{ search(", "request_invalid"),
    "an unknown field": ("{ drop }", "request_invalid"),
    "an unknown argument": ('{ search(text: "a", txt: "b") { total } }', "request_invalid"),
    "a missing argument": ("{ search { total } }", "request_invalid"),
    "an unknown filter": ('{ search(text: "a", filter: {kin: ["page"]}) { total } }', "request_invalid"),
    "an unknown level": ('{ search(text: "a", profile: {level: "wizard"}) { total } }', "level_unknown"),
    "an empty filter": ('{ search(text: "a", filter: {product: [""]}) { total } }', "filter_value_unknown"),
    "an unknown kind": ('{ search(text: "a", filter: {kind: ["pages"]}) { total } }', "filter_value_unknown"),
    "a limit in words": ('{ search(text: "a", first: "ten") { total } }', "request_invalid"),
    "a fractional limit": ('{ search(text: "a", first: 1.5) { total } }', "request_invalid"),
    "a limit of 10^400": ('{ search(text: "a", first: 1' + "0" * 400 + ") { total } }", "request_invalid"),
    "a limit of 10^9": ('{ search(text: "a", first: 1000000000) { total } }', "limit_out_of_range"),
    "limit zero": ('{ search(text: "a", first: 0) { total } }', "limit_out_of_range"),
    "null for a list": ('{ search(text: "a", facets: null) { total } }', "request_invalid"),
    "a blank text": ('{ search(text: " ") { total } }', "query_empty"),
    "a NUL": ('{ search(text: "a\\u0000b") { total } }', "query_malformed"),
    "a cursor of another surface": ('{ search(text: "a", after: "YXJyYXk6MQ==") { total } }', "cursor_foreign"),
    "an unknown uid": ('{ node(uid: "nobody") { uid } }', "node_unknown"),
    "no uids": ("{ resolveXref(uids: []) { contentRoot } }", "request_invalid"),
    "a write": ('{ queryGraph(cypher: "MATCH (n) DELETE n") { rows } }', "read_only"),
    "a mutation": ("mutation { publish }", "request_invalid"),
    "a subscription": ("subscription { runs }", "request_invalid"),
    "no operation": ("fragment F on Query { __typename }", "request_invalid"),
    "a type definition": ("type Query { a: Int }", "request_invalid"),
    "an unused fragment": ("{ __typename } fragment F on Query { __typename }", "request_invalid"),
}


@pytest.mark.parametrize("case", REFUSED)
async def test_what_is_refused_says_what_to_do(client, case):
    query, code = REFUSED[case]
    answer = await client.post("/graphql", json={"query": query})
    error = answer.json()["errors"][0]
    assert error["extensions"]["code"] == code
    assert len(error["message"]) > 10
    assert "data" not in answer.json() or set(answer.json()["data"].values()) == {None}


async def test_a_violation_has_its_place_and_suggestion(ask):
    answer = await ask('{ queryGraph(cypher: "MATCH (n) DELETE n") { rows } search(text: "a") { total } }')
    (error,) = answer["errors"]
    assert error["extensions"] == {
        "code": "read_only",
        "line": 1,
        "column": 11,
        "excerpt": "MATCH (n) DELETE n",
        "suggestion": "Ask with MATCH … RETURN alone.",
    }
    assert answer["data"] == {"queryGraph": None, "search": {"total": 25}}


@pytest.mark.parametrize(
    "failure",
    [AllLegsDown("No leg."), EngineUnavailable("tantivy", "closed"), RuntimeError("secret"), KeyError("secret")],
    ids=lambda failure: type(failure).__name__,
)
async def test_what_fails_tells_no_secret(ask, toolbox, caplog, failure):
    toolbox.failure = failure
    answer = await ask('{ search(text: "a") { total } }')
    assert code_of(answer) == getattr(failure, "code", "internal")
    assert "secret" not in json.dumps(answer)
    assert "Traceback" not in json.dumps(answer)
    assert [record for record in caplog.records if not record.name.startswith("service.")] == []


async def test_what_a_type_cannot_hold_is_a_fault_of_ours_and_shows_no_value(ask, toolbox):
    toolbox.answer = search_result([]).model_copy(update={"total": "secret"})
    answer = await ask('{ search(text: "a") { total } }')
    assert code_of(answer) == "internal"
    assert "secret" not in json.dumps(answer)


HOSTILE_BODIES = {
    "nothing": b"",
    "no JSON": b"query=1",
    "a batch": b'[{"query": "{ __typename }"}, {"query": "{ __typename }"}]',
    "no object": b'"{ __typename }"',
    "a query that is a number": b'{"query": 1}',
    "variables that are a list": b'{"query": "{ __typename }", "variables": [1]}',
    "endless nesting": b'{"query": "{ __typename }", "variables": {"a": ' + b"[" * 100_000,
    "NaN": b'{"query": "{ __typename }", "variables": {"a": NaN}}',
    "no UTF-8": b'{"query": "\xff"}',
    "a lone surrogate": b'{"query": "{ \\ud800 }"}',
}


@pytest.mark.parametrize("case", HOSTILE_BODIES)
async def test_a_body_that_is_no_operation_is_refused(client, toolbox, case):
    answer = await client.post("/graphql", content=HOSTILE_BODIES[case], headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert code_of(answer.json()) == "request_invalid"
    assert toolbox.asked == []


@pytest.mark.parametrize("content_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
async def test_only_json_is_read(client, content_type):
    """A page of another site can send the others through its reader's browser without asking first."""
    body = b'{"query": "{ __typename }"}'
    answer = await client.post("/graphql", content=body, headers={"Content-Type": content_type})
    assert answer.status_code == 415
    assert code_of(answer.json()) == "media_type_refused"


async def test_ten_megabytes_are_too_large(client):
    answer = await client.post("/graphql", content=b" " * 10_000_000, headers={"Content-Type": "application/json"})
    assert answer.status_code == 413


async def test_the_status_tells_modern_clients_that_nothing_was_executed(client):
    for query, status in [("{ nothing }", 400), ("{ __typename }", 200), ('{ node(uid: "nobody") { uid } }', 200)]:
        answer = await client.post("/graphql", json={"query": query}, headers={"Accept": MODERN})
        assert answer.status_code == status
        assert answer.headers["content-type"] == MODERN
        older = await client.post("/graphql", json={"query": query}, headers={"Accept": "application/json"})
        assert older.status_code == 200
        assert older.headers["content-type"] == "application/json"


async def test_several_operations_need_a_name(ask):
    document = "query A { __typename } query B { again: __typename }"
    assert (await ask(document, operationName="B"))["data"] == {"again": "Query"}
    assert code_of(await ask(document)) == "request_invalid"
    assert code_of(await ask(document, operationName="C")) == "request_invalid"


# Introspection


async def test_the_schema_describes_itself(ask):
    answer = await ask(get_introspection_query(descriptions=True, input_value_deprecation=True))
    assert "errors" not in answer
    names = {kind["name"] for kind in answer["data"]["__schema"]["types"]}
    assert {"Query", "HitConnection", "Node"} <= names


async def test_introspection_can_be_switched_off(toolbox):
    app = application(toolbox, Settings(graphql_introspection=False))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service") as client:
        for query in (
            "{ __schema { types { name } } }",
            '{ ...F } fragment F on Query { __type(name: "Node") { name } }',
        ):
            answer = await client.post("/graphql", json={"query": query})
            assert code_of(answer.json()) == "introspection_off"
        assert (await client.post("/graphql", json={"query": "{ __typename }"})).json() == {
            "data": {"__typename": "Query"}
        }


# Cancelling


async def test_who_hangs_up_stops_the_work(toolbox):
    toolbox.hang = True
    app = application(toolbox, PATIENT)
    with served(app) as url:
        async with httpx.AsyncClient(timeout=60) as client:
            with anyio.move_on_after(1):
                await client.post(f"{url}/graphql", json={"query": '{ search(text: "a") { total } }'})
        with anyio.fail_after(30):
            while not toolbox.stopped.is_set():  # noqa: ASYNC110 it is set in the server's own loop
                await anyio.sleep(0.01)


async def test_what_is_late_is_said_and_its_work_stops(toolbox):
    app = application(toolbox, Settings(request_deadline=1_000))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service") as client:
        toolbox.hang = True
        answer = await client.post("/graphql", json={"query": '{ node(uid: "a") { uid } b: node(uid: "b") { uid } }'})
    assert answer.status_code == 504
    assert answer.json()["code"] == "request_late"
    with anyio.fail_after(5):
        await toolbox.stopped.wait()
