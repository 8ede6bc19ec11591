"""What may not be seen is not there: the answers to an outsider are those over an estate that never held it.

One estate is published without its hidden part, every surface is asked, the whole is published, and every surface is
asked again. Totals, facets, suggestions, counts of the schema, maps, paths and explanations are in the comparison. What
may differ is named in `PASSING`: times, the names of the snapshot and of a content that links to what is hidden, and
BM25's numbers, which weigh terms by all passages.
"""

import json
import re
import uuid

import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from pydantic import SecretStr

from service import bootstrap
from service.domain.principal import Scope
from service.domain.requests import PublishRequest
from service.tools import catalogue
from tests.neo4j_database import empty_database
from tests.surfaces.access import bearer, listed_routes, service
from tests.surfaces.graphql_requests import over_graphql
from tests.surfaces.hidden_estate import CLASS, MARK, write_shown, write_whole
from tests.surfaces.serving import PATIENT

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300)]

HIDDEN = f"secret.{MARK}"
SETTINGS = PATIENT.model_copy(
    update={
        "authentication": "required",
        "caller_rate": 100_000,
        "related_prior_deadline": 30_000,
        "graph_query_deadline": 5_000,
    }
)

ASKED = {
    "docs_search": [
        {"text": "install the tool", "facets": ["kind", "product", "topic", "role", "docset"], "explain": True},
        {"text": f"the {MARK} plan", "facets": ["product"]},
        {"text": "graph", "products": [f"{MARK}-product"], "explain": True},
        {"text": "graph", "currentDocument": HIDDEN, "explain": True},
        {"text": "graph", "filter": {"product": [f"{MARK}-product"]}},
        {"text": "Smelt", "skills": [MARK], "explain": True},
    ],
    "why_not": [
        {"search": {"text": "install the tool"}, "uid": HIDDEN},
        {"search": {"text": "install the tool"}, "uid": "query"},
    ],
    "list_nodes": [{"limit": 100, "facets": ["kind", "product", "topic", "level"]}, {"filter": {"kind": ["product"]}}],
    "docs_fetch": [{"uid": HIDDEN}, {"uid": "install"}, {"uid": f"product:{MARK}-product"}, {"uid": "product:tool"}],
    "docs_fetch_batch": [{"uids": [HIDDEN, "install", "query"]}],
    "code_sample_search": [{"text": "install client"}, {"text": f"{MARK}_client"}],
    "get_related": [{"uid": "install", "limit": 50}, {"uid": HIDDEN}, {"uid": "product:tool", "limit": 50}],
    "get_learning_path": [
        {"goal": HIDDEN},
        {"goal": "query"},
        {"goal": "course.first"},
        {"goal": f"{HIDDEN}.course"},
        {"goal": "query", "knownSkills": [HIDDEN]},
    ],
    "resolve_xref": [{"uids": [HIDDEN, HIDDEN.upper(), "secret.zirkon", "secret", "install", "instal"]}],
    "suggest": [{"text": text, "limit": 50} for text in ("zi", MARK, "the", "in", "secret", "a", "zirkn")],
    "query_graph": [
        {"cypher": cypher}
        for cypher in (
            "MATCH (n) RETURN n.uid ORDER BY n.uid",
            "MATCH (n) RETURN count(n)",
            "MATCH (a)-[r]->(b) RETURN a.uid, type(r), b.uid ORDER BY a.uid, type(r), b.uid",
            "MATCH (a {uid: 'install'})-[:xref*1..3]-(b) RETURN b.uid ORDER BY b.uid",
            "MATCH (a) WHERE EXISTS { (a)<-[:xref]-(b) WHERE b.uid STARTS WITH 'secret' } RETURN a.uid",
            "MATCH (a) RETURN a.uid, COUNT { (a)--() } AS n ORDER BY a.uid",
            "OPTIONAL MATCH (a {uid: 'secret.zircon'}) RETURN a",
            "MATCH (a:Page) RETURN collect(a.title)",
        )
    ],
    "describe_schema": [{}],
}
"""For each tool of the catalogue: one that lacks a row fails."""

LINKS = {
    "/v1/search": ["?q=install+the+tool&facet=product&explain=true", f"?q={MARK}"],
    "/v1/suggest": ["?q=zi", "?q=the"],
    "/v1/nodes": ["?limit=100&facet=kind&facet=product"],
    "/catalog": ["", "?limit=100", f"?product={MARK}-product"],
    "/content": ["", "?filter=kind%3Dpage"],
    "/": ["?q=install+the+tool", f"?q={MARK}&uid={HIDDEN}"],
    "/node": [f"?uid={HIDDEN}", "?uid=install", "?uid=product%3Atool"],
    "/graph": ["?cypher=MATCH+(n)+RETURN+n.uid,+n.title+ORDER+BY+n.uid"],
    "/graphql": ["?query=%7B+facets(names:+[%22kind%22,+%22product%22])+%7B+name+values+%7B+name+count+%7D+%7D+%7D"],
}
UIDS = (HIDDEN, "install", "product:tool", f"product:{MARK}-product", "course.first")

GENERIC = {"search": [{"query": "install the tool"}, {"query": MARK}], "fetch": [{"id": HIDDEN}, {"id": "install"}]}

PASSING = {
    *("tookMs", "runId", "asOf", "timingsMs", "nextCursor", "contentRoot", "generation", "id", "contentHash"),
    *("score", "rrf", "rrfNormalised", "final", "vote", "prior", "factors", "evidence", "endCursor", "cursor"),
}

_PASSING_IN_PAGES = [
    re.compile(shape)
    for shape in (
        r"<div><dt>\w+</dt><dd>[\d.]+ ms</dd></div>",  # in the order in which they ended
        r"\d+\.\d+",
        r"<code>[0-9a-f]{8,}</code>",
        r"/runs\?id=[0-9a-f]{32}",
    )
]


def lasting(value):
    if isinstance(value, dict):
        return {key: lasting(one) for key, one in value.items() if key not in PASSING}
    return [lasting(one) for one in value] if isinstance(value, list) else value


def read(text):
    """An answer as values where it is JSON or lines of it, else as its text."""
    for parse in (json.loads, lambda text: [json.loads(line) for line in text.splitlines()]):
        try:
            return lasting(parse(text))
        except ValueError:
            continue
    for shape in _PASSING_IN_PAGES:
        text = shape.sub("", text)
    return text


async def answers(running, headers):
    """What a caller is told, by surface and request."""
    client, told = running.client, {}
    for tool in catalogue.TOOLS:
        for number, request in enumerate(ASKED[tool.name]):
            answer = await client.post(f"/v1/{tool.path}", json=request, headers=headers)
            told["rest", tool.name, number] = (answer.status_code, read(answer.text))
            in_graphql = await over_graphql(Sent(client, headers), tool, request)
            told["graphql", tool.name, number] = lasting(in_graphql)
    for method, path in sorted(set(listed_routes(running.app.routes))):
        if method != "GET" or path in ("/metrics", "/openapi.json"):
            continue
        paths = [path.replace("{uid:uid}", uid) for uid in UIDS] if "{uid:uid}" in path else [path]
        for query in LINKS.get(path, [""]):
            for place in paths:
                answer = await client.get(place + query, headers=headers)
                told["link", place + query] = (answer.status_code, read(answer.text))
    client.headers.update(headers)
    transport = streamable_http_client("http://localhost/mcp", http_client=client)
    async with Client(transport, mode="2026-07-28") as agent:
        for name in sorted({tool.name for tool in (await agent.list_tools()).tools}):
            for number, request in enumerate((ASKED | GENERIC)[name]):
                answer = await agent.call_tool(name, request)
                told["mcp", name, number] = lasting(answer.structured_content)
        listed = await agent.list_resources()
        told["mcp", "resources", 0] = sorted(str(resource.uri) for resource in listed.resources)
    for name in headers:
        del client.headers[name]
    return told


class Sent:
    """A client that says who asks."""

    def __init__(self, client, headers):
        self._client = client
        self._headers = headers

    async def post(self, path, **sent):
        return await self._client.post(path, headers=self._headers, **sent)


@pytest.fixture(params=["embedded", pytest.param("real", marks=pytest.mark.engines)])
async def settings(request):
    """Of a stack that holds nothing."""
    if request.param == "embedded":
        return SETTINGS
    neo4j, opensearch = (request.getfixturevalue(name) for name in ("neo4j_server", "opensearch_server"))
    async with empty_database(neo4j):
        return SETTINGS.model_copy(
            update={
                "neo4j_url": neo4j.uri,
                "neo4j_user": neo4j.user,
                "neo4j_password": SecretStr(neo4j.password),
                "opensearch_url": opensearch,
                "engine_prefix": f"test-{uuid.uuid4().hex[:8]}",
            }
        )


async def test_what_may_not_be_seen_is_not_there(settings, tmp_path):
    async with bootstrap.open_toolbox(settings, tmp_path / "data") as toolbox, service(toolbox, settings) as running:
        outsider = bearer(running.keys.issue(Scope.SEARCH, Scope.GRAPH, classes=("sales",)))
        insider = bearer(running.keys.issue(Scope.SEARCH, Scope.GRAPH, classes=(CLASS,)))
        await toolbox.publish(PublishRequest(paths=[str(write_shown(tmp_path / "estate"))]))
        before = await answers(running, outsider)
        result = await toolbox.publish(PublishRequest(paths=[str(write_whole(tmp_path / "estate"))]))
        assert result.added >= 4
        after = await answers(running, outsider)
        inside = await answers(running, insider)
    assert after.keys() == before.keys()
    differing = {asked: (before[asked], after[asked]) for asked in before if before[asked] != after[asked]}
    assert differing == {}
    seen = {asked for asked, answer in inside.items() if answer != after[asked]}
    for tool in catalogue.TOOLS:
        assert {surface for surface, *rest in seen if rest[0] == tool.name} >= {"rest", "mcp", "graphql"}, tool.name
    assert {path for surface, *rest in seen if surface == "link" for path in rest} >= {"/xrefmap.yml", "/llms.txt"}
    assert MARK not in json.dumps([after[asked] for asked in after if MARK not in json.dumps(asked_of(*asked))]).lower()


def asked_of(surface, name, *number):
    """What was asked, to tell an echo from an answer."""
    return [name, (ASKED | GENERIC).get(name, [{}])[number[0] if number else 0]]
