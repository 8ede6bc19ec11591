"""A folder of Markdown and nothing else."""

from adapters.estates import ReadingRules, reader_for
from service.domain.content import BlockKind
from service.domain.graph import EdgeType, NodeKind
from tests.unit.adapters.estates.estate import read, write


def test_a_folder_of_markdown_is_plain(tmp_path):
    assert reader_for(write(tmp_path, {"a.md": "# A"}), ReadingRules()).format == "plain"


def test_a_page_takes_its_uid_from_its_path_and_its_title_from_its_heading(tmp_path):
    estate = read(tmp_path, {"guide/start.md": "# Getting started\n\nHello.\n"})
    node = estate.record("d/guide/start").node
    assert (node.title, node.kind, node.path, node.url) == (
        "Getting started",
        NodeKind.PAGE,
        "guide/start.md",
        "/d/guide/start",
    )
    assert node.identity.locale == "en-us"


def test_front_matter_fills_the_node(tmp_path):
    page = (
        "---\ntitle: T\ndescription: S\nuid: my uid (x)\nms.date: 10/24/2018\nms.topic: concept-article\n---\nText.\n"
    )
    node = read(tmp_path, {"a.md": page}).record("my uid (x)").node
    assert (node.title, node.summary, node.last_modified, node.type) == ("T", "S", "2018-10-24", "concept")


def test_sections_follow_headings_with_their_anchors_and_lines(tmp_path):
    estate = read(tmp_path, {"a.md": "# A\n\nIntro.\n\n## What's next?\n\nMore.\n\n## What's next?\n\nAgain.\n"})
    sections = estate.record("d/a").sections
    assert [(s.heading, s.anchor, s.level) for s in sections] == [
        ("A", "a", 1),
        ("What's next?", "whats-next", 2),
        ("What's next?", "whats-next-1", 2),
    ]
    assert [(s.blocks[0].text, s.blocks[0].line) for s in sections] == [("Intro.", 3), ("More.", 7), ("Again.", 11)]


def test_relative_links_become_xrefs_with_file_and_line(tmp_path):
    estate = read(
        tmp_path,
        {"x/a.md": "# A\n\nSee\n[b](../y/b.md#part) and [folder](../y).\n", "y/b.md": "# B", "y/index.md": "# Y"},
    )
    references = estate.references("d/x/a", EdgeType.XREF)
    assert [(r.target_uid, r.via, r.file, r.line) for r in references] == [
        ("d/y/b", "relative-link", "x/a.md", 4),
        ("d/y/index", "relative-link", "x/a.md", 4),
    ]


def test_a_link_to_nothing_names_the_nearest_file(tmp_path):
    estate = read(tmp_path, {"a.md": "# A\n\n[b](guide/instal.md)\n", "guide/install.md": "# I"})
    [found] = estate.diagnostics
    assert (found.code, found.file, found.line) == ("link_broken", "a.md", 3)
    assert "guide/install.md" in found.fix


def test_links_elsewhere_are_no_edges(tmp_path):
    estate = read(tmp_path, {"a.md": "[x](https://example.org/a.md) [m](mailto:a@b.c) [h](#here) ![i](pic.png)\n"})
    assert estate.record("d/a").references == ()
    assert estate.diagnostics == ()


def test_code_is_a_block_with_its_language_and_long_code_a_sample(tmp_path):
    estate = read(
        tmp_path,
        {"a.md": "# A\n\n```C#\nvar a;\nvar b;\nvar c;\n```\n", "b.md": "```cs\nvar a;\nvar b;\nvar c;\n```\n"},
    )
    [block] = estate.record("d/a").sections[0].blocks
    assert (block.kind, block.language, block.line) == (BlockKind.CODE, "csharp", 4)
    [sample] = estate.of_kind(NodeKind.CODE_SAMPLE)
    assert (sample.node.title, sample.node.language) == ("A", "csharp")
    assert estate.edges("d/a", EdgeType.IMPLEMENTED_BY) == [("fenced-code", sample.node.identity.uid)]
    assert estate.edges("d/b", EdgeType.IMPLEMENTED_BY) == [("fenced-code", sample.node.identity.uid)]


def test_tables_alerts_and_lists_are_readable_text(tmp_path):
    page = "> [!NOTE]\n> Mind **this**.\n\n| A | B |\n|---|---|\n| 1 | `2` |\n\n- one\n- two\n  1. inner\n"
    blocks = read(tmp_path, {"a.md": page}).record("d/a").sections[0].blocks
    assert [(b.kind, b.text) for b in blocks] == [
        (BlockKind.PROSE, "Note: Mind this."),
        (BlockKind.TABLE, "A | B\n1 | 2"),
        (BlockKind.PROSE, "- one\n- two\n  1. inner"),
    ]


def test_bom_and_crlf_change_nothing(tmp_path):
    estate = read(tmp_path, {"a.md": b"\xef\xbb\xbf---\r\ntitle: T\r\n---\r\n# A\r\n\r\nText.\r\n"})
    record = estate.record("d/a")
    assert record.node.title == "T"
    assert [(b.text, b.line) for b in record.sections[0].blocks] == [("Text.", 6)]


def test_a_front_matter_that_is_no_yaml_is_reported_and_the_page_published(tmp_path):
    estate = read(tmp_path, {"a.md": "---\ntitle: [a\n---\n# Heading\n"})
    assert estate.found("front_matter_invalid") == [("a.md", 2)]
    assert estate.record("d/a").node.title == "Heading"


def test_two_pages_with_one_uid(tmp_path):
    estate = read(tmp_path, {"a.md": "---\nuid: u\n---\n# A", "b.md": "---\nuid: u\n---\n# B"})
    assert estate.record("u").node.title == "A"
    assert estate.found("duplicate_identity") == [("b.md", 1)]
