"""Learning paths, modules, units."""

import pytest

from adapters.estates import ReadingRules, reader_for
from service.domain.content import BlockKind
from service.domain.graph import NEUTRAL_LOCALE, EdgeType, NodeKind
from tests.unit.adapters.estates.estate import read, write

PATH = """### YamlMime:LearningPath
uid: l.path
title: The path
summary: A path.
levels:
- beginner
roles:
- developer
products:
- azure
modules:
- l.two
- l.one
- l.gone
"""
MODULE = """### YamlMime:Module
uid: l.one
metadata:
  title: One - Learn
  ms.date: 09/24/2018
  ms.topic: interactive-tutorial
title: Module one
summary: About one.
abstract: |
  In this module, you will:
  - Create a thing
  - Delete a thing.
prerequisites: |
  - Do [module two](../two/index.yml) first
  - An [editor](https://example.org)
levels:
- intermediate
roles:
- developer
products:
- azure
units:
- l.one.a
- l.one.b
achievement: l.one.badge
"""
OTHER = """### YamlMime:Module
uid: l.two
title: Module two
abstract: |
  - CREATE  a   thing
prerequisites: |
  - Delete a thing
units: []
"""
UNIT = """### YamlMime:ModuleUnit
uid: l.one.a
title: Unit a
durationInMinutes: 5
content: |
  [!include[](includes/a.md)]
quiz:
  title: Check your knowledge
  questions:
  - content: "What is it?"
    choices:
    - content: "A thing"
      isCorrect: true
      explanation: "Yes."
    - content: "No thing"
      isCorrect: false
"""
UNIT_B = """### YamlMime:ModuleUnit
uid: l.one.b
title: Unit b
content: |
  Text of b.

  [!include[](includes/gone.md)]
"""
ACHIEVEMENTS = "### YamlMime:Achievements\nachievements:\n- uid: l.one.badge\n  type: badge\n  title: Master of one\n"
FILES = {
    "paths/p/index.yml": PATH,
    "m/one/index.yml": MODULE,
    "m/one/a.yml": UNIT,
    "m/one/b.yml": UNIT_B,
    "m/one/includes/a.md": "Hello [two](../../two/index.yml).\n\n## Learning objectives\n\n- Create a thing\n",
    "m/two/index.yml": OTHER,
    "achievements.yml": ACHIEVEMENTS,
}


@pytest.fixture
def estate(tmp_path):
    return read(tmp_path, dict(FILES))


def test_learn_documents_make_a_learn_estate(tmp_path):
    assert reader_for(write(tmp_path, {"index.yml": MODULE}), ReadingRules()).format == "learn"


def test_kinds(estate):
    assert {record.node.identity.uid: record.node.kind for record in estate.records} == {
        "l.path": NodeKind.LEARNING_PATH,
        "l.one": NodeKind.MODULE,
        "l.two": NodeKind.MODULE,
        "l.one.a": NodeKind.UNIT,
        "l.one.b": NodeKind.UNIT,
    }


def test_members_are_part_of_their_collection_in_its_order(estate):
    [reference] = estate.references("l.one.b", EdgeType.PART_OF)
    assert (reference.target_uid, reference.via, reference.ordinal, reference.file, reference.line) == (
        "l.one",
        "units",
        2,
        "m/one/index.yml",
        24,
    )
    assert [(r.target_uid, r.ordinal) for r in estate.references("l.one", EdgeType.PART_OF)] == [("l.path", 2)]
    assert [(r.target_uid, r.ordinal) for r in estate.references("l.two", EdgeType.PART_OF)] == [("l.path", 1)]


def test_a_member_that_is_not_there_is_reported_where_it_is_listed(estate):
    assert estate.found("member_missing") == [("paths/p/index.yml", 14)]


def test_a_module_shared_by_two_paths_has_an_ordinal_in_each(tmp_path):
    second = PATH.replace("l.path", "l.other").replace("- l.two\n", "")
    estate = read(tmp_path, FILES | {"paths/q/index.yml": second})
    assert {(r.target_uid, r.ordinal) for r in estate.references("l.one", EdgeType.PART_OF)} == {
        ("l.path", 2),
        ("l.other", 1),
    }


def test_a_unit_holds_its_include_as_text_and_its_quiz_apart(estate):
    sections = estate.record("l.one.a").sections
    assert [b.text for b in sections[0].blocks] == ["Hello two."]
    assert [(s.heading, s.blocks[0].kind) for s in sections[-1:]] == [("Check your knowledge", BlockKind.QUIZ)]
    assert sections[-1].blocks[0].text == "What is it?\n- A thing (correct): Yes.\n- No thing (incorrect)"
    assert sections[-1].blocks[0].line == 10


def test_an_include_that_is_missing_is_reported_and_the_rest_kept(estate):
    assert estate.found("include_missing") == [("m/one/b.yml", 7)]
    assert [b.text for s in estate.record("l.one.b").sections for b in s.blocks] == ["Text of b."]


def test_links_stand_in_the_included_file(estate):
    [reference] = estate.references("l.one.a", EdgeType.XREF)
    assert (reference.target_uid, reference.file, reference.line) == ("l.two", "m/one/includes/a.md", 1)


def test_links_in_prerequisites_are_dependencies_if_they_resolve(estate):
    [reference] = estate.references("l.one", EdgeType.DEPENDS_ON)
    assert (reference.target_uid, reference.via, reference.file, reference.line) == (
        "l.two",
        "prerequisites",
        "m/one/index.yml",
        14,
    )


def test_a_prerequisite_that_names_a_taught_skill_depends_on_it(estate):
    assert estate.edges("l.two", EdgeType.DEPENDS_ON) == [("prerequisites", "skill:delete a thing")]


def test_skills_come_from_abstracts_checklists_and_achievements(estate):
    assert estate.edges("l.one", EdgeType.TEACHES_SKILL) == [
        ("abstract", "skill:create a thing"),
        ("abstract", "skill:delete a thing"),
        ("achievement", "skill:master of one"),
    ]
    assert estate.edges("l.one.a", EdgeType.TEACHES_SKILL) == [("checklist", "skill:create a thing")]
    assert estate.edges("l.two", EdgeType.TEACHES_SKILL) == [("abstract", "skill:create a thing")]


def test_products_and_roles_are_neutral_nodes_with_the_estates_spelling(estate):
    [product] = estate.references("l.one", EdgeType.APPLIES_TO)
    assert (product.target_uid, product.target_locale, product.target_kind, product.target_title) == (
        "product:azure",
        NEUTRAL_LOCALE,
        NodeKind.PRODUCT,
        "azure",
    )
    assert estate.edges("l.one", EdgeType.FOR_ROLE) == [("roles", "role:developer")]


def test_a_unit_takes_its_modules_profile_as_properties_only(estate):
    node = estate.record("l.one.a").node
    assert (node.level, node.roles, node.products) == ("intermediate", ("developer",), ("azure",))
    assert node.extra == {"durationMinutes": 5}
    assert estate.references("l.one.a", EdgeType.FOR_ROLE) == []


def test_a_modules_own_fields(estate):
    node = estate.record("l.one").node
    assert (node.title, node.summary, node.type, node.last_modified, node.level) == (
        "Module one",
        "About one.",
        "tutorial",
        "2018-09-24",
        "intermediate",
    )


def test_a_translation_is_derived_from_its_source(tmp_path):
    german = MODULE.replace(
        "  title: One - Learn\n", "  title: Eins\n  ms.translationtype: HT\n  ms.contentlocale: de-DE\n"
    )
    estate = read(tmp_path, {"index.yml": german})
    [reference] = estate.references("l.one", EdgeType.DERIVED_FROM, "de-de")
    assert (reference.target_uid, reference.target_locale, reference.via, reference.line) == (
        "l.one",
        "en-us",
        "translation",
        5,
    )
    assert estate.record("l.one", "de-de").node.extra == {"translationType": "HT"}


def test_yaml_that_is_broken_leaves_out_its_file_alone(tmp_path):
    estate = read(tmp_path, FILES | {"m/one/b.yml": "### YamlMime:ModuleUnit\nuid: x\n\ttitle: tab\n"})
    assert estate.found("yaml_invalid") == [("m/one/b.yml", 3)]
    assert estate.record("l.one.a").node.title == "Unit a"


def test_a_module_is_found_at_its_address_whatever_the_site_calls_its_root(tmp_path):
    module = OTHER.replace("- Delete a thing", "- [One](/learn/modules/one/?x=y) and [a](/training/modules/one/a)")
    estate = read(tmp_path, FILES | {"m/two/index.yml": module})
    assert estate.edges("l.two", EdgeType.DEPENDS_ON) == [("prerequisites", "l.one"), ("prerequisites", "l.one.a")]


def test_a_product_that_only_one_page_names_so_is_probably_misspelt(tmp_path):
    def module(number: int, product: str) -> str:
        return f"### YamlMime:Module\nuid: l.{number}\ntitle: T\nproducts:\n- {product}\n"

    files = {f"{number}/index.yml": module(number, "azure-functions") for number in range(3)}
    files |= {"x/index.yml": module(8, "azure-funtions"), "y/index.yml": module(9, "teapot")}
    estate = read(tmp_path, files)
    assert estate.found("unknown_product") == [("x/index.yml", 5)]
    [found] = [found for found in estate.diagnostics if found.code == "unknown_product"]
    assert found.fix == "Did you mean azure-functions?"
    assert estate.found("products_undeclared") == [("0/index.yml", 5)]
