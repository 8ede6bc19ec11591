"""Questions to a published estate that hang on what the readers made of it: versions, skills, names, what was
redirected, and who may see what. On the embedded engines, through the tools as every surface calls them."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from service.domain.principal import ANONYMOUS, OWNER, Principal
from service.domain.requests import (
    GraphQueryRequest,
    RelatedRequest,
    SuggestRequest,
    XrefRequest,
)
from service.tools import catalogue
from tests.application import Application, running, write_estate

DOCFX = {
    "build": {
        "content": [{"files": ["**/*.md"]}],
        "globalMetadata": {"breadcrumb_path": "/site/breadcrumb/toc.json"},
    }
}
SETTINGS = """visibility:
  rules:
  - files: internal/**
    visibleTo: staff
products:
- name: tool
  title: The Tool
  aliases: [the-tool, toolkit]
"""


def page(uid: str, title: str, body: str = "", **metadata: str) -> str:
    lines = [f"uid: {uid}", f"title: {title}", *(f"{name}: {value}" for name, value in metadata.items())]
    return "---\n" + "\n".join(lines) + f"\n---\n# {title}\n\n{body}\n"


SITE = {
    "docfx.json": json.dumps(DOCFX),
    "cogitave-query.yml": SETTINGS,
    "old.md": page("v1", "Widgets of old", "Widgets are made by hand.", monikerRange="tool-1.0"),
    "mid.md": page(
        "v2", "Widgets today", "Widgets are made by machine.", monikerRange="'>=tool-2.0'", products="toolkit"
    ),
    "new.md": page("v3", "Widgets tomorrow", "Widgets make themselves.", monikerRange="'>=tool-2.1 <tool-9.0'"),
    "far.md": page("v9", "Gadgets", "Gadgets are no widgets.", monikerRange="tool-10.0", products="tool"),
    "linking.md": page("linking", "Linking", "See <xref:falcon> and [the other](/handbook/oncall)."),
    "internal/falcon.md": page(
        "falcon",
        "Project Falcon",
        "The falconry of widgets, told [Falcon's own way](xref:Shared.Type).",
        products="peregrine",
        monikerRange="peregrine-1.0",
        topics="[falconry]",
    ),
    ".openpublishing.redirection.json": json.dumps(
        {
            "redirections": [
                {"source_path": "machine-made-widgets.md", "redirect_url": "/site/mid"},
                {"source_path": "falconry-handbook.md", "redirect_url": "/site/internal/falcon"},
            ]
        }
    ),
}
HANDBOOK = {
    "docfx.json": json.dumps({"build": DOCFX["build"] | {"globalMetadata": {"breadcrumb_path": "/handbook/toc.json"}}}),
    "oncall.md": page(
        "oncall", "Being on call", "Back to [widgets](/site/mid), once [these](/site/machine-made-widgets)."
    ),
}
MODULE = """### YamlMime:Module
uid: course.{name}
title: Course {name}
abstract: |
  - {skill}
units: []
"""
STAFF = Principal("someone", frozenset({"staff"}))


@pytest.fixture(scope="module")
def application(tmp_path_factory) -> Iterator[Application]:
    root = tmp_path_factory.mktemp("published")
    site = write_estate(root / "site", SITE)
    handbook = write_estate(root / "handbook", HANDBOOK)
    course = write_estate(root / "course", {"a/index.yml": MODULE.format(name="a", skill="Make a widget")})
    other = write_estate(root / "other", {"b/index.yml": MODULE.format(name="b", skill="make a  WIDGET.")})
    with running(root / "data") as application:
        application.publish(site, handbook, course, other)
        yield application


def rows(application: Application, cypher: str, principal: Principal = ANONYMOUS, **parameters: Any) -> list[list[Any]]:
    request = GraphQueryRequest(cypher=cypher, parameters=parameters)
    return [
        list(row) for row in application.run(application.tools.call(catalogue.GRAPH_QUERY, request, principal)).rows
    ]


def test_from_a_version_on_is_a_traversal(application):
    """2.0 and later: by family and order, whether or not a page names just that version."""
    asked = "MATCH (p:Page)-[:appliesTo]->(m:Moniker) WHERE m.family = $family AND m.order >= $order "
    found = rows(application, asked + "RETURN DISTINCT p.uid AS uid ORDER BY uid", family="tool", order=2 * 10**11)
    assert found == [["v2"], ["v3"], ["v9"]]
    later = rows(application, asked + "RETURN DISTINCT p.uid AS uid ORDER BY uid", family="tool", order=10 * 10**11)
    assert later == [["v2"], ["v9"]]


def test_a_skill_met_in_two_estates_is_one_node(application):
    found = rows(application, "MATCH (m:Module)-[:teachesSkill]->(s:Skill) RETURN s.uid, m.uid ORDER BY m.uid")
    assert found == [["skill:make a widget", "course.a"], ["skill:make a widget", "course.b"]]


def test_a_product_goes_by_its_declared_name_whatever_its_pages_call_it(application):
    [[title, aliases]] = rows(application, "MATCH (p:Product {uid: 'product:tool'}) RETURN p.title, p.aliases")
    assert title == "The Tool"
    assert set(aliases) == {"the tool", "the-tool", "tool", "toolkit"}
    assert {hit.uid for hit in application.search("widgets", filter={"product": ["tool"]}).hits} == {"v2", "v9"}


def test_a_redirected_page_is_found_and_names_its_successor(application):
    found = application.search("machine made widgets", filter={"kind": ["retired"]}).hits
    assert [(hit.uid, hit.superseded_by) for hit in found] == [("site/machine-made-widgets", "v2")]
    everything = [hit.uid for hit in application.search("machine made widgets").hits]
    assert everything.index("v2") < everything.index("site/machine-made-widgets")
    asked = XrefRequest(uids=["site/machine-made-widgets", "/site/machine-made-widgets", "machine-made-widgets.md"])
    resolved = application.run(application.tools.call(catalogue.XREF, asked, ANONYMOUS)).resolutions
    assert [(one.uid, one.via, one.redirects) for one in resolved] == [
        ("v2", "redirect", ["site/machine-made-widgets"])
    ] * 3


def test_an_address_that_another_estate_serves_leads_to_its_page(application):
    found = rows(
        application,
        "MATCH (p:Page)-[r:xref]->(n:Node) WHERE r.via = 'site-link' RETURN p.uid, n.uid ORDER BY p.uid, n.uid",
    )
    assert found == [["linking", "oncall"], ["oncall", "site/machine-made-widgets"], ["oncall", "v2"]]


def test_the_publish_said_what_its_writers_can_mend(application):
    told = application.run(application.tools.diagnostics(OWNER))
    assert told.docsets == ["course", "handbook", "other", "site"]
    found = {(one.code, one.file, one.line) for one in told.diagnostics}
    assert ("superseded_target", "handbook/oncall.md", 7) in found
    assert ("unknown_product", "site/internal/falcon.md", 4) in found


# What nobody but the staff may learn of


def told_to(application: Application, principal: Principal) -> dict[str, str]:
    """Everything that the tools say to a principal, by the tool."""

    def call(tool: Any, request: Any) -> str:
        return application.run(application.tools.call(tool, request, principal)).model_dump_json()

    asked = XrefRequest(
        uids=["falcon", "falco", "site/falconry-handbook", "/site/falconry-handbook", "product:peregrine"]
    )
    everything = "MATCH (n:Node) RETURN n.uid, n.title, n.url, n.path, n.aliases, n.topics, n.products"
    edges = "MATCH (n:Node)-[r]->(m:Node) RETURN n.uid, r.via, r.file, m.uid"
    return {
        "search": application.search("project falcon falconry widgets", principal).model_dump_json(),
        "retired": application.search("falconry handbook", principal, filter={"kind": ["retired"]}).model_dump_json(),
        "facets": application.search(
            "widgets", principal, facets=["kind", "product", "topic", "moniker", "docset"]
        ).model_dump_json(),
        "list": application.nodes(principal, limit=100, facets=["product", "topic", "moniker"]).model_dump_json(),
        "linking page": application.fetch("linking", principal).model_dump_json(),
        "xref": call(catalogue.XREF, asked),
        "related": call(catalogue.RELATED, RelatedRequest(uid="linking")),
        "suggest": call(catalogue.SUGGEST, SuggestRequest(text="falc")),
        "nodes": json.dumps(rows(application, everything + " LIMIT 500", principal)),
        "edges": json.dumps(rows(application, edges + " LIMIT 500", principal)),
    }


def test_nothing_tells_of_a_page_to_those_who_may_not_see_it(application):
    asked_for = {"xref": ('"asked":"falcon"', '"asked":"falco"', '"asked":"site/falconry-handbook"',
                          '"asked":"/site/falconry-handbook"', '"asked":"product:peregrine"')}  # fmt: skip
    for tool, said in told_to(application, ANONYMOUS).items():
        for own in asked_for.get(tool, ()):
            said = said.replace(own, "")
        # A page that everyone may read says by itself which uid it links to.
        said = said.replace("See falcon and", "")
        lowered = said.lower()
        for word in ("falcon", "peregrine", "staff"):
            assert word not in lowered, (tool, word, said[max(0, lowered.find(word) - 200) : lowered.find(word) + 80])


def test_those_who_may_see_it_see_all_of_it(application):
    for tool, said in told_to(application, STAFF).items():
        assert "falcon" in said.lower(), tool


def test_no_cypher_reads_who_may_see_what(application):
    from cypher_guard.violation import Violation

    with pytest.raises(Violation):
        rows(application, "MATCH (n:Node) RETURN n.visibleTo")
