import json
from urllib.parse import quote

import httpx
import pytest

from service.domain.errors import AllLegsDown, CursorStale, EngineUnavailable
from service.domain.principal import Principal, Scope
from service.domain.requests import (
    CallerProfile,
    FetchRequest,
    GraphQueryRequest,
    ListRequest,
    NodeRequest,
    SearchRequest,
)
from service.domain.results import PublishResult
from service.surfaces.application import application
from tests.surfaces.conftest import OWNER_TOKEN
from tests.surfaces.fake_toolbox import ROOT, WINDOW, explanation, hit, search_result

pytestmark = pytest.mark.anyio


async def test_a_search_reaches_the_tool_as_it_was_asked(client, toolbox):
    body = {
        "text": "rank fusion",
        "limit": 3,
        "filter": {"kind": ["page", "unit"]},
        "profile": {"role": "developer", "monikers": ["net-8.0"]},
        "currentDocument": "manual.page-1",
        "cursor": "4",
        "explain": True,
    }
    answer = await client.post("/v1/search", json=body)
    assert answer.status_code == 200
    assert toolbox.asked == [
        SearchRequest(
            text="rank fusion",
            limit=3,
            filter={"kind": ["page", "unit"]},
            profile=CallerProfile(role="developer", monikers=["net-8.0"]),
            current_document="manual.page-1",
            cursor="4",
            explain=True,
        )
    ]
    assert toolbox.principals == [Principal("anonymous", scopes=frozenset({Scope.SEARCH, Scope.GRAPH, Scope.OPERATE}))]


async def test_a_result_arrives_whole(client):
    answer = await client.post("/v1/search", json={"text": "rank fusion", "limit": 2, "explain": True})
    expected = search_result([hit(1), hit(2)], next_cursor="3")
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == expected.model_dump(mode="json", by_alias=True)
    first = answer.json()["hits"][0]["explain"]
    assert first["rrf"] == pytest.approx(1 / 61 + 1 / 62)
    assert first["rrfNormalised"] == pytest.approx((1 / 61 + 1 / 62) / (2 / 61))
    assert first == explanation(1, 2).model_dump(mode="json", by_alias=True)


async def test_a_link_asks_the_same_as_a_body(client, toolbox):
    parameters = [
        ("q", "rank fusion"),
        ("limit", "3"),
        ("filter", "product=azure=classic"),
        ("filter", "kind=page"),
        ("filter", "kind=unit"),
        ("facet", "level"),
        ("facet", "kind"),
        ("explain", "true"),
    ]
    by_link = await client.get("/v1/search", params=[*parameters[:2], *parameters[3:]])
    by_body = await client.post(
        "/v1/search",
        json={
            "text": "rank fusion",
            "limit": 3,
            "filter": {"kind": ["page", "unit"]},
            "facets": ["level", "kind"],
            "explain": True,
        },
    )
    assert by_link.json() == by_body.json()
    assert toolbox.asked[0] == toolbox.asked[1]
    await client.get("/v1/search", params=parameters)
    assert toolbox.asked[2].filter == {"product": ["azure=classic"], "kind": ["page", "unit"]}


async def test_paging_by_link_goes_through_the_window_once(client):
    uids, cursor = [], None
    while True:
        parameters = {"q": "fusion", "limit": "10"} | ({"cursor": cursor} if cursor else {})
        page = (await client.get("/v1/search", params=parameters)).json()
        uids += [hit["uid"] for hit in page["hits"]]
        cursor = page["nextCursor"]
        if cursor is None:
            break
    assert uids == [f"manual.page-{number}" for number in range(1, WINDOW + 1)]


async def test_why_not(client):
    answer = await client.post("/v1/search/why-not", json={"search": {"text": "fusion"}, "uid": "manual.page-9"})
    assert answer.json()["reason"] == "depth"


@pytest.mark.parametrize("method", ["GET", "POST"])
async def test_a_listing(client, toolbox, method):
    if method == "GET":
        answer = await client.get("/v1/nodes", params={"filter": "kind=page", "limit": "5"})
    else:
        answer = await client.post("/v1/nodes", json={"filter": {"kind": ["page"]}, "limit": 5})
    assert answer.json()["nodes"][0]["uid"] == "manual.page-1"
    assert toolbox.asked == [ListRequest(filter={"kind": ["page"]}, limit=5)]


ODD_UIDS = [
    "plain",
    "with space",
    "System.Linq.Enumerable.Select*",
    "List`1.Add(T,System.Int32)",
    "C#",
    "100%",
    "%2F",
    "a/b//c",
    "/leading",
    "trailing/",
    "why?q=1&x=y",
    "ünïcødé 日本 🦀",
    "e\u0301",
    "a+b",
    'quote"and\\backslash',
    "colon:semi;comma,",
    "‮right to left",
    "line\nbreak",
    "tab\t",
    "search/why-not",
]


@pytest.mark.parametrize("uid", ODD_UIDS)
async def test_a_uid_round_trips_through_the_path(client, toolbox, uid):
    answer = await client.get(f"/v1/nodes/{quote(uid, safe='')}", params={"locale": "de-de"})
    assert toolbox.asked == [NodeRequest(uid=uid, locale="de-de")]
    assert answer.json()["uid"] == uid


@pytest.mark.parametrize("uid", [*ODD_UIDS, "..", ".", "a/../b", "?"])
async def test_a_uid_round_trips_through_a_body(client, toolbox, uid):
    answer = await client.post("/v1/fetch", json={"uid": uid})
    assert toolbox.asked == [FetchRequest(uid=uid)]
    assert answer.json()["uid"] == uid


async def test_an_unknown_node_is_404_with_a_suggestion(client):
    answer = await client.get("/v1/nodes/nobody")
    assert answer.status_code == 404
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["code"] == "node_unknown"
    assert answer.json()["suggestion"] == "manual.page-1"


async def test_a_graph_query(client, toolbox):
    answer = await client.post(
        "/v1/query-graph",
        json={"cypher": "MATCH (n:Page) WHERE n.uid = $uid RETURN n.uid AS uid", "parameters": {"uid": "a"}},
    )
    assert toolbox.asked == [
        GraphQueryRequest(cypher="MATCH (n:Page) WHERE n.uid = $uid RETURN n.uid AS uid", parameters={"uid": "a"})
    ]
    assert answer.json()["rows"] == [["manual.page-1", 3]]
    assert answer.json()["truncated"] is True


async def test_a_violation_points_at_its_place(client):
    answer = await client.post("/v1/query-graph", json={"cypher": "MATCH (n) DELETE n"})
    problem = answer.json()
    assert answer.status_code == 422
    assert (problem["code"], problem["line"], problem["column"]) == ("read_only", 1, 11)
    assert problem["suggestion"] == "Ask with MATCH … RETURN alone."


async def test_all_legs_down_is_no_empty_list(client, toolbox):
    toolbox.failure = AllLegsDown("No leg can answer: tantivy: closed; qdrant-edge: closed.")
    answer = await client.get("/v1/search", params={"q": "fusion"})
    assert answer.status_code == 503
    assert answer.headers["retry-after"] == "5"
    assert "hits" not in answer.json()


async def test_a_stale_cursor_is_gone(client, toolbox):
    toolbox.failure = CursorStale("The estate was published anew. Ask again without the cursor.")
    answer = await client.get("/v1/search", params={"q": "fusion", "cursor": "x"})
    assert (answer.status_code, answer.json()["code"]) == (410, "cursor_stale")


async def test_a_bug_leaves_no_trace_in_the_answer(client, toolbox):
    toolbox.failure = RuntimeError("secret in a message")
    answer = await client.get("/v1/search", params={"q": "fusion"})
    assert answer.status_code == 500
    assert answer.json()["code"] == "internal"
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text


async def test_readiness_is_said_per_engine(client, toolbox):
    assert (await client.get("/readyz")).status_code == 200
    toolbox.ready = False
    answer = await client.get("/readyz")
    assert answer.status_code == 503
    assert [engine["reason"] for engine in answer.json()["engines"]] == [None, "no shard"]


async def test_the_process_lives_while_an_engine_does_not(client, toolbox):
    toolbox.failure = EngineUnavailable("tantivy", "closed")
    assert (await client.get("/livez")).json() == {"status": "live"}
    assert (await client.get("/readyz")).status_code == 503


@pytest.mark.parametrize("token", [None, "", "wrong", "the-owners-toke", "the-owners-tokén"])
async def test_publishing_is_the_owners(client, toolbox, token):
    headers = {} if token is None else {"Cogitave-Query-Owner": token.encode()}
    answer = await client.post("/v1/publish", json={"paths": ["/estate"]}, headers=headers)
    expected = (401, "credentials_invalid") if token else (403, "owner_required")
    assert (answer.status_code, answer.json()["code"]) == expected
    assert toolbox.asked == []


async def publish(client, **body):
    answer = await client.post(
        "/v1/publish", json={"paths": ["/estate"]} | body, headers={"Cogitave-Query-Owner": OWNER_TOKEN}
    )
    return answer, [json.loads(line) for line in answer.text.splitlines()] if answer.is_success else []


async def test_a_publish_ends_with_its_result(client, toolbox):
    answer, lines = await publish(client, strict=True, dryRun=True)
    assert answer.headers["content-type"] == "application/x-ndjson"
    assert PublishResult.model_validate(lines[-1]["result"]).content_root == ROOT
    assert all(line.keys() == {"progress"} for line in lines[:-1])
    (asked,) = toolbox.asked
    assert (asked.paths, asked.strict, asked.dry_run) == (["/estate"], True, True)


async def test_no_application_publishes_unless_it_has_an_owner(toolbox, settings):
    app = application(toolbox, settings)
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service") as client:
        answer = await client.post("/v1/publish", json={"paths": ["/x"]}, headers={"Cogitave-Query-Owner": ""})
    assert answer.status_code == 403


async def test_every_answer_is_fenced_in_for_browsers(client):
    for path in ("/v1/search?q=fusion", "/nowhere", "/livez", "/openapi.json"):
        headers = (await client.get(path)).headers
        assert "default-src 'none'" in headers["content-security-policy"]
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["cache-control"] == ("private, no-cache" if path.startswith("/v1/") else "no-store")
        assert "access-control-allow-origin" not in headers


async def test_metrics_count_by_route_and_never_by_word(client, toolbox):
    toolbox.answer = search_result([], degraded=["vector: unmistakable reason"])
    await client.get("/v1/search", params={"q": "unmistakable"})
    await client.get("/v1/nodes/nobody")
    await client.get("/unmistakable")
    text = (await client.get("/metrics")).text
    assert 'cogitave_query_search_degraded_total{part="vector"} 1.0' in text
    assert "cogitave_query_search_empty_total 1.0" in text
    assert 'cogitave_query_problems_total{code="node_unknown"} 1.0' in text
    assert 'http_route="/v1/nodes/{uid:uid}"' in text
    assert 'http_response_status_code="404",http_route="unmatched"' in text
    assert 'cogitave_query_engine_ready{engine="qdrant-edge",role="vector"} 1.0' in text
    assert "cogitave_query_vectors 32.0" in text
    assert "unmistakable" not in text
    assert "nobody" not in text


async def test_metrics_outlive_the_stores(client, toolbox):
    toolbox.failure = EngineUnavailable("tantivy", "closed")
    text = (await client.get("/metrics")).text
    assert "cogitave_query_ready 0.0" in text
