"""The graph tools from end to end on the embedded engines, over a small course and its articles."""

from collections.abc import Iterator
from typing import Any

import pytest

from service.domain.errors import LimitOutOfRange, NodeUnknown
from service.domain.principal import ANONYMOUS
from service.tools import catalogue
from tests.application import Application, running, write_estate

MODULE = """### YamlMime:Module
uid: course.{name}
metadata:
  title: {title}
  description: {title} from the ground up.
title: {title}
summary: {title} from the ground up.
abstract: |
  By the end of this module, you're able to:
  - {skill}
prerequisites: |
  {prerequisites}
levels: [{level}]
roles: [developer]
products: [tool]
units:
- course.{name}.introduction
badge:
  uid: course.{name}.badge
  title: Badge of {title}
"""

UNIT = """### YamlMime:ModuleUnit
uid: course.{name}.introduction
metadata:
  title: Introduction to {title}
title: Introduction to {title}
durationInMinutes: {minutes}
content: |
  [!include[](includes/introduction.md)]
"""

PATH = """### YamlMime:LearningPath
uid: course.path
metadata:
  title: The whole course
title: The whole course
summary: Everything in order.
levels: [beginner]
roles: [developer]
products: [tool]
modules:
- course.second
- course.first
trophy:
  uid: course.trophy
  title: Trophy of the course
"""


def module(name: str, title: str, skill: str, prerequisites: str, minutes: int, level: str) -> dict[str, str]:
    folder = f"course/{name}"
    fields = {"name": name, "title": title, "skill": skill, "prerequisites": prerequisites, "level": level}
    code = f"var client = new {title}Client();\nclient.Open();\nclient.Close();"
    return {
        f"{folder}/index.yml": MODULE.format(**fields),
        f"{folder}/1-introduction.yml": UNIT.format(**fields, minutes=minutes),
        f"{folder}/includes/introduction.md": f"{title} is explained here.\n\n```csharp\n{code}\n```\n",
    }


ESTATE = {
    **module("first", "Storage", "Store a blob", "None", 10, "beginner"),
    **module("second", "Queries", "Query a table", "[Storage](xref:course.first)", 20, "intermediate"),
    "course/path/index.yml": PATH,
}


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    folder = tmp_path_factory.mktemp("tools")
    with running(folder / "data") as opened:
        opened.publish(write_estate(folder / "estate", ESTATE))
        yield opened


def call(application: Application, tool: catalogue.Tool, **fields: Any) -> Any:
    return application.run(application.tools.call(tool, tool.request(**fields), ANONYMOUS))


def test_a_way_leads_through_what_is_required(application: Application) -> None:
    found = call(application, catalogue.LEARNING_PATH, goal="course.second")
    assert [step.uid for step in found.steps] == ["course.first", "course.second"]
    assert found.minutes == 30
    assert found.reachable
    assert found.steps[0].required_by == ["course.second"]


def test_a_goal_may_be_a_skill_by_its_words(application: Application) -> None:
    found = call(application, catalogue.LEARNING_PATH, goal="Query a table", minutes=15, level="beginner")
    assert [step.uid for step in found.steps] == ["course.first", "course.second"]
    assert found.within_budget is False
    assert any("Queries" in notice for notice in found.notices)


def test_what_the_learner_knows_is_left_out(application: Application) -> None:
    found = call(application, catalogue.LEARNING_PATH, goal="course.second", known_skills=["course.first"])
    assert [step.uid for step in found.steps] == ["course.second"]


def test_a_path_puts_prerequisites_before_its_own_order(application: Application) -> None:
    found = call(application, catalogue.LEARNING_PATH, goal="course.path")
    assert [step.uid for step in found.steps] == ["course.first", "course.second"]


def test_a_goal_that_is_nothing_is_refused(application: Application) -> None:
    with pytest.raises(NodeUnknown):
        call(application, catalogue.LEARNING_PATH, goal="world peace")


def test_related_nodes_come_with_the_path_that_relates_them(application: Application) -> None:
    found = call(application, catalogue.RELATED, uid="course.first")
    paths = {node.uid: [(step.type, step.direction) for step in node.path] for node in found.related}
    assert paths["course.second"] == [("dependsOn", "in")]
    assert paths["course.path"] == [("partOf", "out")]
    assert "course.first" not in paths
    assert found.degraded == []


def test_awards_do_not_crowd_what_is_taught(application: Application) -> None:
    """Each module has a badge of its own, the path a trophy; what a module teaches is a skill too, and stays."""
    awarded = {node.title for node in application.nodes(filter={"kind": ["skill"]}, limit=100).nodes}
    assert {"Badge of Storage", "Badge of Queries", "Trophy of the course"} <= awarded
    found = call(application, catalogue.RELATED, uid="course.first", limit=100)
    assert {node.title for node in found.related if node.kind == "skill"} == {"Store a blob", "Query a table"}


def test_hubs_relate_nothing(application: Application) -> None:
    found = call(application, catalogue.RELATED, uid="course.first.introduction")
    assert all(step.uid not in ("product:tool", "role:developer") for node in found.related for step in node.path[:-1])


@pytest.mark.parametrize(
    ("asked", "via", "uid"),
    [
        ("course.first", "exact", "course.first"),
        ("Course.FIRST", "case", "course.first"),
        ("product:tool", "exact", "product:tool"),
        ("store a blob", "alias", None),
    ],
)
def test_a_uid_is_resolved_as_a_writer_puts_it(application: Application, asked: str, via: str, uid: str | None) -> None:
    (found,) = call(application, catalogue.XREF, uids=[asked]).resolutions
    assert (found.found, found.via) == (True, via)
    assert uid is None or found.uid == uid


def test_a_near_miss_has_suggestions(application: Application) -> None:
    (found,) = call(application, catalogue.XREF, uids=["course.frist"]).resolutions
    assert not found.found
    assert "course.first" in found.suggestions


def test_many_uids_come_back_in_order_and_too_many_are_refused(application: Application) -> None:
    asked = ["course.second", "nothing at all", "course.first"]
    assert [one.asked for one in call(application, catalogue.XREF, uids=asked).resolutions] == asked
    with pytest.raises(LimitOutOfRange):
        call(application, catalogue.XREF, uids=["x"] * 501)


@pytest.mark.parametrize("language", [None, "c#", "csharp", "cs"])
def test_code_is_found_by_identifier_with_its_owner(application: Application, language: str | None) -> None:
    found = call(application, catalogue.SAMPLES, text="StorageClient", language=language)
    assert "StorageClient" in found.samples[0].code
    assert found.samples[0].language == "csharp"
    assert found.samples[0].owner_uid == "course.first.introduction"
    assert found.languages == {"csharp": 2}


def test_code_of_another_language_is_not_found(application: Application) -> None:
    assert call(application, catalogue.SAMPLES, text="StorageClient", language="python").samples == []


def test_the_schema_counts_what_is_there(application: Application) -> None:
    found = call(application, catalogue.SCHEMA)
    assert found.labels["module"] == 2
    assert found.labels["unit"] == 2
    assert found.edge_types["dependsOn"] >= 1
    assert set(found.edge_types) == {
        "partOf", "dependsOn", "xref", "appliesTo", "forRole", "teachesSkill", "supersededBy", "implementedBy",
        "derivedFrom",
    }  # fmt: skip


def test_the_schemas_examples_are_queries_that_run(application: Application) -> None:
    for example in call(application, catalogue.SCHEMA).examples:
        parameters = {"uid": "course.first"} if "$uid" in example else {}
        assert call(application, catalogue.GRAPH_QUERY, cypher=example, parameters=parameters).columns


def test_a_facet_counts_what_a_graph_query_counts(application: Application) -> None:
    facets = call(application, catalogue.LIST, facets=["kind", "level", "role", "product"]).facets
    tests = {"kind": "n.kind = $v", "level": "n.level = $v", "role": "$v IN n.roles", "product": "$v IN n.products"}
    for name, test in tests.items():
        for value, total in facets[name].items():
            query = f"MATCH (n:Node) WHERE {test} RETURN count(n) AS total"
            rows = call(application, catalogue.GRAPH_QUERY, cypher=query, parameters={"v": value}).rows
            assert rows == [[total]]
            assert call(application, catalogue.LIST, filter={name: [value]}).total == total


def test_every_tool_of_the_catalogue_is_run(application: Application) -> None:
    assert {tool.name for tool in catalogue.TOOLS} == {
        "docs_search", "code_sample_search", "get_related", "get_learning_path", "resolve_xref", "query_graph",
        "docs_fetch", "docs_fetch_batch", "describe_schema", "list_nodes", "why_not", "suggest",
    }  # fmt: skip
    assert call(application, catalogue.SEARCH, text="storage").hits
    assert call(application, catalogue.FETCH, uid="course.first").title == "Storage"
    assert call(application, catalogue.WHY_NOT, search={"text": "storage"}, uid="course.first").reason == "hit"
