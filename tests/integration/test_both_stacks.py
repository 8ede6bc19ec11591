"""One estate on the embedded engines and on the real ones: the same nodes, counts, rows and refusals.

Real are Neo4j and OpenSearch, and Qdrant where there is a server; else the real stack keeps its vectors in qdrant-edge.
"""

import asyncio
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from pydantic import SecretStr

from cypher_guard import Violation
from service.domain.principal import ANONYMOUS
from service.domain.requests import CatalogRequest, EstateRequest, PublishRequest, SearchRequest
from service.settings import Settings
from service.surfaces import openapi
from service.tools import catalogue, estate
from tests.application import Application, running
from tests.engines import Neo4jAddress
from tests.neo4j_database import empty_database

pytestmark = [pytest.mark.engines, pytest.mark.timeout(600)]

URLS = ("neo4j_url", "opensearch_url", "qdrant_url")
MANUAL = Path(__file__).resolve().parents[2] / "docs"

QUESTIONS = [
    "how do I publish an estate",
    "what is a visibility class",
    "reciprocal rank fusion",
    "which limits does a graph query have",
    "run beside Neo4j and OpenSearch",
    "exit codes of the command line",
    "query_graph",
    "why is a page not found",
]

QUERIES = [
    "MATCH (n:Node) RETURN n.kind AS kind, count(n) AS total ORDER BY kind",
    "MATCH (u:Unit)-[:partOf]->(m:Module) RETURN m.uid, u.uid ORDER BY m.uid, u.uid",
    "MATCH (p:Page)-[:xref]->(q) RETURN p.uid, q.uid ORDER BY p.uid, q.uid LIMIT 50",
    "MATCH (m:Module) WHERE EXISTS { (m)-[:teachesSkill]->(:Skill) } RETURN m.title ORDER BY m.title",
    "MATCH (a:Unit)-[:partOf*1..2]->(b) RETURN a.uid, b.uid ORDER BY a.uid, b.uid",
    "MATCH (n) WHERE n.title STARTS WITH 'The' RETURN n.uid ORDER BY n.uid",
]


@dataclass(frozen=True)
class Stacks:
    embedded: Application
    real: Application


@pytest.fixture(scope="module")
def stacks(
    tmp_path_factory: pytest.TempPathFactory,
    neo4j_server: Neo4jAddress,
    opensearch_server: str,
    real_qdrant_url: str | None,
) -> Iterator[Stacks]:
    folder = tmp_path_factory.mktemp("stacks")
    asyncio.run(_emptied(neo4j_server))
    settings = Settings(
        neo4j_url=neo4j_server.uri,
        neo4j_user=neo4j_server.user,
        neo4j_password=SecretStr(neo4j_server.password),
        opensearch_url=opensearch_server,
        qdrant_url=real_qdrant_url or "",
        engine_prefix=f"test-{uuid.uuid4().hex[:8]}",
        request_deadline=60_000,
        facet_deadline=20_000,
        prior_deadline=20_000,
        graph_deadline=20_000,
        graph_query_deadline=5_000,
        lexical_deadline=20_000,
        vector_deadline=20_000,
    )
    with running(folder / "embedded", settings.model_copy(update=dict.fromkeys(URLS, ""))) as embedded:
        embedded.publish(MANUAL)
        with running(folder / "real", settings) as real:
            real.publish(MANUAL)
            yield Stacks(embedded, real)


async def _emptied(address: Neo4jAddress) -> None:
    async with empty_database(address):
        pass


def listed(application: Application, **fields: object) -> list[tuple[str, str, str]]:
    found, cursor = [], None
    while True:
        page = application.nodes(limit=100, cursor=cursor, **fields)
        found += [(node.uid, node.locale, node.kind) for node in page.nodes]
        cursor = page.next_cursor
        if cursor is None:
            return found


def test_the_same_nodes_in_the_same_order(stacks: Stacks) -> None:
    assert listed(stacks.real) == listed(stacks.embedded)
    assert len(listed(stacks.real)) > 50


def test_the_same_facets(stacks: Stacks) -> None:
    names = ["kind", "product", "role", "level", "topic", "docset", "locale", "language"]
    real = stacks.real.nodes(facets=names)
    assert real.facets == stacks.embedded.nodes(facets=names).facets
    assert real.facets["kind"]["unit"] > 0


@pytest.mark.parametrize("cypher", QUERIES)
def test_the_same_rows(stacks: Stacks, cypher: str) -> None:
    real, embedded = (
        application.run(
            application.tools.call(catalogue.GRAPH_QUERY, catalogue.GRAPH_QUERY.request(cypher=cypher), ANONYMOUS)
        )
        for application in (stacks.real, stacks.embedded)
    )
    assert real.rows == embedded.rows
    assert real.columns == embedded.columns
    assert real.rows


@pytest.mark.parametrize(
    "cypher", ["MATCH (n) DETACH DELETE n", "CALL db.labels()", "LOAD CSV FROM 'file:///x' AS r RETURN r"]
)
def test_the_same_refusals(stacks: Stacks, cypher: str) -> None:
    codes = []
    for application in (stacks.real, stacks.embedded):
        request = catalogue.GRAPH_QUERY.request(cypher=cypher)
        with pytest.raises(Violation) as refused:
            application.run(application.tools.call(catalogue.GRAPH_QUERY, request, ANONYMOUS))
        codes.append(refused.value.code)
    assert codes[0] == codes[1]


@pytest.mark.parametrize("question", QUESTIONS)
def test_searches_agree_on_most_of_their_heads(stacks: Stacks, question: str) -> None:
    real, embedded = stacks.real.search(question), stacks.embedded.search(question)
    assert real.degraded == []
    assert embedded.degraded == []
    assert real.content_root == embedded.content_root
    both = {hit.uid for hit in real.hits} & {hit.uid for hit in embedded.hits}
    assert len(both) >= 0.7 * len(embedded.hits)


ANSWERS = {
    "docs_search": "hits",
    "list_nodes": "nodes",
    "docs_fetch": "sections",
    "docs_fetch_batch": "nodes",
    "code_sample_search": "samples",
    "get_related": "related",
    "get_learning_path": "steps",
    "suggest": "suggestions",
    "query_graph": "rows",
    "describe_schema": "labels",
}
"""Where a tool's answer lies; the others are never empty."""


@pytest.mark.parametrize("tool", catalogue.TOOLS, ids=lambda tool: tool.name)
def test_the_examples_of_the_rest_document_are_answered_from_the_manual(stacks: Stacks, tool: catalogue.Tool) -> None:
    for example in openapi.EXAMPLES[tool.name].values():
        for application in (stacks.real, stacks.embedded):
            result = application.run(
                application.tools.call(tool, tool.request.model_validate(example["value"]), ANONYMOUS)
            )
            assert tool.name not in ANSWERS or getattr(result, ANSWERS[tool.name]), example


def test_the_graph_tools_agree(stacks: Stacks) -> None:
    module = next(uid for uid, _, kind in listed(stacks.real) if kind == "module")
    for tool, fields in (
        (catalogue.RELATED, {"uid": module}),
        (catalogue.LEARNING_PATH, {"goal": module}),
        (catalogue.XREF, {"uids": [module, module.upper(), "nothing like it"]}),
        (catalogue.SCHEMA, {}),
    ):
        real, embedded = (
            application.run(application.tools.call(tool, tool.request(**fields), ANONYMOUS)).model_dump(
                exclude={"took_ms", "grammar"}
            )
            for application in (stacks.real, stacks.embedded)
        )
        if tool is catalogue.RELATED:
            assert {node["uid"] for node in real["related"]} & {node["uid"] for node in embedded["related"]}
        elif tool is catalogue.XREF:
            assert [one["uid"] for one in real["resolutions"]] == [one["uid"] for one in embedded["resolutions"]]
        else:
            assert real == embedded


def documents(application: Application) -> list[dict[str, object]]:
    found, cursor = [], None
    while True:
        request = EstateRequest(cursor=cursor)
        page = application.run(application.tools.call(estate.DOCUMENTS, request, ANONYMOUS))
        found += [document.model_dump() for document in page.documents]
        cursor = page.next_cursor
        if cursor is None:
            return found


def test_the_same_documents(stacks: Stacks) -> None:
    real = documents(stacks.real)
    assert real == documents(stacks.embedded)
    assert [(one["uid"], one["locale"], one["kind"]) for one in real] == listed(stacks.real)
    assert any(one["quiz"] for one in real)


@pytest.mark.parametrize(
    "fields",
    [
        {"vocabularies": ["product", "role", "level", "topic"]},
        {"filter": {"kind": ["module"]}},
        {"filter": {"kind": ["unit"], "role": ["developer"]}, "limit": 3},
        {"since": "2026-01-01", "before": "2027-01-01"},
        {"before": "1970-01-01"},
        {"uids": ["cogitave.query.fusion", "nobody"]},
    ],
)
def test_the_same_catalog(stacks: Stacks, fields: dict[str, object]) -> None:
    real, embedded = (
        application.run(application.tools.call(estate.CATALOG, CatalogRequest(**fields), ANONYMOUS))
        for application in (stacks.real, stacks.embedded)
    )
    assert real == embedded
    assert real.degraded == []


def test_the_real_stores_hold_one_snapshot(stacks: Stacks) -> None:
    assert stacks.real.run(stacks.real.tools.doctor(repair=False)).findings == []


def test_a_change_and_a_rollback_on_the_real_engines(stacks: Stacks, tmp_path: Path) -> None:
    before = listed(stacks.real)
    first = stacks.real.search("publish").content_root
    extra = tmp_path / "extra"
    extra.mkdir()
    (extra / "a.md").write_text("# Zeppelins\n\nThe zeppelin is an airship with a rigid frame.\n")
    stacks.real.publish(extra)
    assert stacks.real.search("rigid airship frame").hits[0].title == "Zeppelins"
    stacks.real.run(stacks.real.tools.rollback(first))
    assert listed(stacks.real) == before
    assert stacks.real.run(stacks.real.tools.doctor(repair=False)).findings == []


def test_no_page_is_missing_while_the_real_engines_are_published_to(stacks: Stacks, tmp_path: Path) -> None:
    extra = tmp_path / "moving"
    extra.mkdir()
    page = extra / "a.md"
    page.write_text("# Zeppelins\n\nThe zeppelin is an airship, version 0.\n")
    stacks.real.publish(extra)
    tools = stacks.real.tools

    async def read_while_publishing() -> list[bool]:
        publishing = asyncio.create_task(tools.publish(PublishRequest(paths=[str(extra)])))
        seen = []
        while not publishing.done():
            result = await tools.call(catalogue.SEARCH, SearchRequest(text="zeppelin airship"), ANONYMOUS)
            seen.append(any(hit.title == "Zeppelins" for hit in result.hits))
        await publishing
        return seen

    for version in range(1, 3):
        page.write_text(f"# Zeppelins\n\nThe zeppelin is an airship, version {version}.\n")
        seen = stacks.real.run(read_while_publishing())
        assert seen
        assert all(seen)
    page.unlink()
    (extra / "b.md").write_text("# Nothing\n")
    stacks.real.publish(extra)
