"""Tables of contents in Markdown."""

import json

import pytest

from service.domain.graph import EdgeType, NodeKind
from tests.unit.adapters.estates.estate import read

DOCFX = json.dumps({"build": {"content": [{"files": ["**/*.md", "**/*.yml"]}]}})
TOC = """---
title: Contents
---
<!-- a comment
# [Not](gone.md) -->
# [Start](start.md)
## [Install](guide/install.md "how to")
### [By uid](xref:the.uid)
# Reference
### @other.uid
## [Elsewhere](https://example.org/x)
## [More](more/)
# <xref:last>
"""


def page(uid: str) -> str:
    return f"---\nuid: {uid}\n---\n# {uid}\n"


PAGES = {
    "start.md": page("start"),
    "guide/install.md": page("install"),
    "a.md": page("the.uid"),
    "b.md": page("other.uid"),
    "c.md": page("last"),
    "more/deep.md": page("deep"),
    "more/TOC.md": "# [Deep](deep.md)\n# [Gone](gone.md)\n",
}


def test_headings_nest_as_their_levels_say(tmp_path):
    estate = read(tmp_path, {"docfx.json": DOCFX, "toc.md": TOC} | PAGES)
    parents = {uid: estate.references(uid, EdgeType.PART_OF) for uid in ("install", "the.uid", "other.uid", "deep")}
    places = {uid: [(r.target_uid, r.via, r.file, r.line, r.ordinal) for r in found] for uid, found in parents.items()}
    assert places == {
        "install": [("start", "toc", "toc.md", 7, 1)],
        "the.uid": [("install", "toc", "toc.md", 8, 1)],
        "other.uid": [("topic:d/toc.md/Reference", "toc", "toc.md", 10, 1)],
        "deep": [("topic:d/toc.md/Reference/More", "toc", "more/TOC.md", 1, 1)],
    }
    assert [topic.node.title for topic in estate.of_kind(NodeKind.TOPIC)] == ["Reference", "More"]
    assert estate.found("toc_target_missing") == [("more/TOC.md", 2)]
    assert estate.found("orphan_page") == []
    assert not [record for record in estate.records if (record.node.path or "").lower().endswith("toc.md") and
                record.node.kind is NodeKind.PAGE]  # fmt: skip


def test_a_toc_in_markdown_refers_to_one_in_yaml_and_back(tmp_path):
    files = {
        "docfx.json": DOCFX,
        "toc.yml": "- name: Guide\n  href: guide/toc.md\n",
        "guide/toc.md": "\ufeff# [Install](install.md)\r\n## [More](../more/toc.yml)\r\n",
        "guide/install.md": page("install"),
        "more/toc.yml": "- name: Deep\n  href: deep.md\n",
        "more/deep.md": page("deep"),
    }
    estate = read(tmp_path, files)
    assert [r.target_uid for r in estate.references("install", EdgeType.PART_OF)] == ["topic:d/toc.yml/Guide"]
    assert [r.target_uid for r in estate.references("deep", EdgeType.PART_OF)] == ["topic:install/More"]


@pytest.mark.parametrize("text", ["# Contents\n\n- [Start](start.md)\n", "Text.\n", "#hashtag\n", "    # code\n", ""])
def test_a_page_that_is_only_named_so_is_a_page(tmp_path, text):
    estate = read(tmp_path, {"toc.md": text, "start.md": page("start")})
    assert estate.record("d/toc").node.kind is NodeKind.PAGE
    assert estate.references("start", EdgeType.PART_OF) == []


def test_a_level_that_is_left_out_is_no_matter(tmp_path):
    files = {"docfx.json": DOCFX, "toc.md": "### [A](a.md)\n###### [B](b.md)\n## [C](c.md)\n#[D](start.md)"} | PAGES
    estate = read(tmp_path, files)
    assert [r.target_uid for r in estate.references("other.uid", EdgeType.PART_OF)] == ["the.uid"]
    assert estate.references("last", EdgeType.PART_OF) == []
    assert ("start.md", 1) not in estate.found("orphan_page")
