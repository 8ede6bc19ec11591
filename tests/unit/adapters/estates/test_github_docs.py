"""GitHub-docs style estates: versions, Liquid, redirect_from, children, learning tracks."""

import pytest

from adapters.estates import ReadingRules, reader_for
from service.domain.graph import EdgeType, NodeKind
from tests.unit.adapters.estates.estate import read, write

INDEX = """---
title: Acme docs
versions: '*'
children:
  - /start
  - /gone
---
"""
START = """---
title: 'Start with {% data variables.product.name %}'
intro: 'How to start.'
versions:
  fpt: '*'
  ghes: '>=3.1 <3.3'
type: how_to
topics:
  - Basics
product: 'Acme'
redirect_from:
  - /old/start
  - /older
---
Hello {% data variables.product.name %}, see [AUTOTITLE](/guides/deep).

{% data reusables.start.note %}

{% ifversion ghes > 3.1 %}

Only there.

{% else %}

Elsewhere.

{% endif %}

{% raw %}{{ kept }}{% endraw %}{{ gone }}
"""
DEEP = "---\ntitle: Deep guide\nversions:\n  feature: shiny\n---\nBack to [old](/old/start).\n"
FILES = {
    "content/index.md": INDEX,
    "content/start.md": START,
    "content/guides/deep.md": DEEP,
    "data/variables/product.yml": "name: 'Acme {% data variables.product.kind %}'\nkind: Hub\n",
    "data/reusables/start/note.md": "A note of {% data variables.product.kind %}.\n",
    "data/features/shiny.yml": "versions:\n  ghes: '>=3.2'\n",
    "data/learning-tracks/acme.yml": (
        "first_steps:\n  title: First steps in {% data variables.product.kind %}\n  description: Learn it.\n"
        "  guides:\n    - /start\n    - /guides/deep\n    - /guides/gone\n"
    ),
}


@pytest.fixture
def estate(tmp_path):
    return read(tmp_path, dict(FILES))


def test_versions_in_the_front_matter_tell_the_format(tmp_path):
    assert (
        reader_for(write(tmp_path, {"a.md": "---\nversions:\n  fpt: '*'\n---\n"}), ReadingRules()).format
        == "github-docs"
    )


def test_pages_lie_at_their_path_below_content(estate):
    node = estate.record("d/content/start").node
    assert (node.title, node.summary, node.url, node.type) == (
        "Start with Acme Hub",
        "How to start.",
        "/start",
        "how-to",
    )
    assert (node.products, node.topics) == (("Acme",), ("Basics",))
    assert estate.record("d/content/index").node.url == "/"


def test_versions_are_moniker_ranges(estate):
    node = estate.record("d/content/start").node
    assert node.moniker_range == ">=fpt || >=ghes-3.1 <ghes-3.3"
    assert node.monikers == ("fpt", "ghes-3.1", "ghes-3.2")
    versions = [r for r in estate.references("d/content/start", EdgeType.APPLIES_TO) if r.via == "versions"]
    assert [(r.target_uid, r.line) for r in versions] == [
        ("moniker:fpt", 5),
        ("moniker:ghes-3.1", 5),
        ("moniker:ghes-3.2", 5),
    ]
    assert estate.record("d/content/guides/deep").node.moniker_range == ">=ghes-3.2"


def test_liquid_gives_text_and_zones_and_keeps_the_lines(estate):
    record = estate.record("d/content/start")
    assert [(s.moniker_range, [(b.text, b.line) for b in s.blocks]) for s in record.sections] == [
        (None, [("Hello Acme Hub, see Deep guide.", 15), ("A note of Hub.", 1)]),
        (">ghes-3.1 <ghes-3.3", [("Only there.", 21)]),
        (None, [("Elsewhere.", 25), ("{{ kept }}", 29)]),
    ]
    assert estate.edges("d/content/start", EdgeType.DERIVED_FROM) == [("include", "d/data/reusables/start/note")]


def test_old_addresses_are_retired_nodes(estate):
    old = estate.record("d/old/start")
    assert (old.node.kind, old.node.url) == (NodeKind.RETIRED, "/old/start")
    [successor] = old.references
    assert (successor.type, successor.target_uid, successor.via, successor.file, successor.line) == (
        EdgeType.SUPERSEDED_BY,
        "d/content/start",
        "redirect_from",
        "content/start.md",
        12,
    )
    assert estate.found("superseded_target") == [("content/guides/deep.md", 6)]


def test_children_are_part_of_their_index(estate):
    references = estate.references("d/content/start", EdgeType.PART_OF)
    assert ("children", "d/content/index", 1, 5) in [(r.via, r.target_uid, r.ordinal, r.line) for r in references]
    assert estate.found("toc_target_missing") == [("content/index.md", 6)]


def test_learning_tracks_are_paths_of_their_guides(estate):
    track = estate.record("d/learning-tracks/acme/first_steps")
    assert (track.node.kind, track.node.title, track.node.summary) == (
        NodeKind.LEARNING_PATH,
        "First steps in Hub",
        "Learn it.",
    )
    [reference] = estate.references("d/content/guides/deep", EdgeType.PART_OF)
    assert (reference.target_uid, reference.via, reference.ordinal) == (track.node.identity.uid, "learning-track", 2)
    assert estate.found("member_missing") == [("data/learning-tracks/acme.yml", 7)]
