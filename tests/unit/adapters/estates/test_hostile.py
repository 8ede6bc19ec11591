"""Sources that lie, climb, loop or swell: refused or bounded, each with a diagnostic, and the rest is read."""

import json
import os

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adapters.estates import ReadingRules
from adapters.estates.markdown.parser import markdown_parser, parse_markdown
from adapters.estates.markdown.reading import ReadingContext, read_document
from service.domain.graph import NodeKind
from tests.unit.adapters.estates.estate import read, read_folder, write

DOCFX = json.dumps({"build": {"content": [{"files": ["**/*.md", "**/*.yml"]}]}})


def test_a_page_over_the_limit_is_left_out(tmp_path):
    estate = read(tmp_path, {"big.md": "word " * 1000, "small.md": "# Small"}, ReadingRules(page_bytes=2048))
    assert estate.found("file_too_large") == [("big.md", 1)]
    assert [record.node.title for record in estate.records] == ["Small"]


def test_bytes_that_are_no_utf8_are_reported(tmp_path):
    estate = read(tmp_path, {"a.md": b"# A\n\xff\xfe\xfa", "b.md": "# B"})
    assert estate.found("file_not_utf8") == [("a.md", 1)]
    assert [record.node.title for record in estate.records] == ["B"]


@pytest.mark.parametrize("href", ["../secret.md", "../../../../etc/passwd", "~/../../secret.md", "..\\secret.md"])
def test_includes_and_snippets_never_leave_the_estate(tmp_path, href):
    (tmp_path / "secret.md").write_text("SECRET")
    body = f"[!INCLUDE [x]({href})]\n\n[!code-sql[]({href})]\n\n[link]({href})\n"
    estate = read(tmp_path / "estate", {"docfx.json": DOCFX, "a.md": body})
    assert estate.found("path_outside_estate") == [("a.md", 1), ("a.md", 3), ("a.md", 5)]
    assert "SECRET" not in repr(estate.records)
    assert [reference for record in estate.records for reference in record.references] == []


def test_a_link_of_the_file_system_that_leads_out_is_not_followed(tmp_path):
    (tmp_path / "secret.md").write_text("SECRET")
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "page.md").write_text("SECRET")
    root = write(tmp_path / "estate", {"a.md": "[!INCLUDE [x](link.md)]\n\nText.\n", "real.md": "# Real"})
    os.symlink(tmp_path / "secret.md", root / "link.md")
    os.symlink(tmp_path / "folder", root / "sub")
    os.symlink(root / "real.md", root / "inside.md")
    os.symlink("loop.md", root / "loop.md")
    estate = read_folder(root)
    assert "SECRET" not in repr(estate)
    assert {record.node.path for record in estate.records} == {"a.md", "real.md", "inside.md"}
    assert ("link.md", 1) in estate.found("path_outside_estate")


def test_a_pipe_is_no_file(tmp_path):
    root = write(tmp_path, {"a.md": "# A"})
    os.mkfifo(root / "pipe.md")
    estate = read_folder(root)
    assert estate.found("file_unreadable") == [("pipe.md", 1)]


def test_includes_that_include_each_other_end(tmp_path):
    files = {"docfx.json": DOCFX, "a.md": "[!include[](b.md)]\n", "b.md": "B.\n\n[!include[](a.md)]\n"}
    estate = read(tmp_path, files)
    assert estate.found("include_cycle") == [("b.md", 3), ("a.md", 1)]


def test_includes_of_includes_are_bounded(tmp_path):
    files = {f"i{n}.md": f"[!include[](i{n + 1}.md)]\n\n" * 10 for n in range(12)}
    estate = read(tmp_path, {"docfx.json": DOCFX, "i12.md": "x"} | files)
    assert estate.found("include_too_deep")
    assert len(estate.records) == 13


def test_a_toc_fifty_deep_and_tocs_in_a_chain(tmp_path):
    toc = "".join(f"{'  ' * n}- name: n{n}\n{'  ' * n}  href: p{n}.md\n{'  ' * n}  items:\n" for n in range(50))
    pages = {f"p{n}.md": f"# P{n}" for n in range(50)}
    estate = read(tmp_path, {"docfx.json": DOCFX, "toc.yml": toc} | pages)
    parents = [record.references[0].target_uid for record in estate.records if record.references]
    assert sorted(parents) == sorted(f"d/p{n}" for n in range(49))


def test_tocs_that_double_at_every_level_are_read_once_each(tmp_path):
    files = {f"t{n}/toc.yml": f"- name: n{n}\n  href: ../t{n + 1}/toc.yml\n" * 2 for n in range(30)}
    files |= {"docfx.json": DOCFX, "toc.yml": "- name: top\n  href: t0/toc.yml\n", "a.md": "# A"}
    estate = read(tmp_path, files | {"t30/toc.yml": "- name: A\n  href: ../a.md\n"})
    assert len(estate.of_kind(NodeKind.TOPIC)) == 31


def test_a_page_of_twenty_megabytes_is_left_out_by_its_size(tmp_path):
    estate = read(tmp_path, {"big.md": "# Big\n" + "word " * 4_000_000, "a.md": "[!INCLUDE [x](big.md)]\n\nText.\n"})
    assert sorted(estate.found("file_too_large")) == [("a.md", 1), ("big.md", 1)]
    assert [record.node.path for record in estate.records] == ["a.md"]


def test_a_page_takes_in_no_more_than_a_page_holds(tmp_path):
    code = "\n".join(f"line {n}" for n in range(1_000))
    many = ':::code language="python" source="x.py":::\n\n' * 5_000
    files = {
        "docfx.json": DOCFX,
        "big.md": "word " * 10_000,
        "a.md": "[!INCLUDE [x](big.md)]\n\n" * 5_000,
        "b.md": many,
        "x.py": code,
    }
    estate = read(tmp_path, files, ReadingRules(page_bytes=400_000))
    assert [file for file, _ in estate.found("include_too_much")] == ["a.md", "b.md"]
    for uid in ("d/a", "d/b"):
        assert sum(len(b.text) for s in estate.record(uid).sections for b in s.blocks) <= 400_000


BOMB = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n" + "".join(
    f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]\n" for n in range(1, 9)
)


@pytest.mark.parametrize(
    ("path", "text", "code"),
    [
        ("b.md", f"---\n{BOMB}---\n# B\n", "front_matter_invalid"),
        ("docfx.json", BOMB, "yaml_invalid"),
        ("toc.yml", BOMB, "yaml_invalid"),
        ("b.yml", f"### YamlMime:Hub\n{BOMB}", "yaml_invalid"),
        ("b.yml", f"### YamlMime:Module\n{BOMB}", "yaml_invalid"),
        ("pivots.yml", f"### YamlMime:ZonePivotGroups\n{BOMB}", "yaml_invalid"),
        ("achievements.yml", f"### YamlMime:Achievements\n{BOMB}", "yaml_invalid"),
        ("xrefmap.yml", BOMB, "yaml_invalid"),
        ("b.md", "---\n" + "[" * 100_000 + "\n---\n# B\n", "front_matter_invalid"),
        ("toc.yml", "- items:\n" + "".join("  " * n + "- items:\n" for n in range(1, 300)), "yaml_invalid"),
    ],
)
def test_a_bomb_of_aliases_costs_its_own_file_alone(tmp_path, path, text, code):
    estate = read(tmp_path, {"docfx.json": DOCFX, "a.md": "# A"} | {path: text})
    assert path in [file for file, _ in estate.found(code)]
    assert "A" in [record.node.title for record in estate.records]


def test_configuration_never_leads_out_of_the_estate(tmp_path):
    write(
        tmp_path, {"other/secret.md": "# SECRET", "secret.json": '{"description": "SECRET"}', "s.yml": "references: []"}
    )
    configuration = {
        "build": {
            "content": [{"files": ["**/*.md"], "src": "pages"}, {"files": ["**/*.md"], "src": "../other"}],
            "globalMetadataFiles": ["../secret.json"],
            "fileMetadataFiles": ["/secret.json"],
            "xref": ["../s.yml", "https://example.org/xrefmap.yml"],
        }
    }
    files = {"docfx.json": json.dumps(configuration, indent=1), "pages/a.md": "# A", "b.md": "# B"}
    estate = read(tmp_path / "estate", files)
    assert [record.node.title for record in estate.records] == ["A"]
    assert "SECRET" not in repr(estate)
    assert len(estate.found("path_outside_estate")) == 4
    assert [file for file, _ in estate.found("xref_map_elsewhere")] == ["docfx.json"]


@pytest.mark.parametrize("path", ["docfx.json", "toc.yml", "redirection.json", "xrefmap.yml", "part.yml", "x.py"])
def test_a_link_that_leads_out_is_not_read_whatever_it_is_for(tmp_path, path):
    (tmp_path / "secret").write_text(
        '{"redirections": [{"source_path": "SECRET.md", "redirect_url": "/d/a"}], "uid": "SECRET"}'
    )
    files = {
        "docfx.json": DOCFX,
        "a.md": "[!code-python[](x.py)]\n\n# A",
        "sub/toc.yml": "- name: B\n  href: ../a.md\n",
    }
    root = write(tmp_path / "estate", files)
    (root / path).unlink(missing_ok=True)
    (root / path).symlink_to(tmp_path / "secret")
    estate = read_folder(root)
    assert "SECRET" not in repr(estate)
    assert "A" in [record.node.title for record in estate.records]
    if path != "part.yml":
        assert estate.found("path_outside_estate")


@pytest.mark.parametrize("href", ["../outside/toc.yml", "../../../../etc/passwd", "~/../outside/a.md", "../outside/"])
def test_a_toc_never_leads_out_of_the_estate(tmp_path, href):
    write(tmp_path / "outside", {"toc.yml": "- name: SECRET\n  href: a.md\n", "a.md": "# SECRET"})
    toc = f"- name: Out\n  href: {href}\n- name: A\n  href: a.md\n"
    estate = read(tmp_path / "estate", {"docfx.json": DOCFX, "toc.yml": toc, "a.md": "# A"})
    assert "SECRET" not in repr(estate)
    assert estate.found("path_outside_estate") == [("toc.yml", 1)]


def test_links_to_folders_and_names_that_are_no_text_are_passed_over_and_said(tmp_path):
    root = write(tmp_path / "estate", {"a.md": "# A", "real/b.md": "# B"})
    (root / "sub").symlink_to(root / "real")
    (root / "round").symlink_to(root)
    with open(os.fsencode(root) + b"/\xff.md", "w") as file:
        file.write("# C")
    os.mkdir(os.fsencode(root) + b"/d\xff")
    estate = read_folder(root)
    assert [record.node.title for record in estate.records] == ["A", "B"]
    assert estate.found("folder_link") == [("round", 1), ("sub", 1)]
    assert estate.found("file_name_unreadable") == [("d?", 1), ("?.md", 1)]


def test_a_hundred_thousand_redirections_in_a_chain_are_followed_once(tmp_path):
    steps = 100_000
    entries = [
        {"source_path": f"old/{n}.md", "redirect_url": f"/d/old/{n + 1}" if n + 1 < steps else "/d/a"}
        for n in range(steps)
    ]
    files = {"docfx.json": DOCFX, "a.md": "# A", "redirection.json": json.dumps({"redirections": entries}, indent=1)}
    estate = read(tmp_path, files)
    retired = estate.of_kind(NodeKind.RETIRED)
    assert len(retired) == steps
    assert retired[-1].references[0].target_uid == "d/a"
    assert [r.references[0].line for r in retired[:2]] == [4, 8]


@pytest.mark.parametrize(
    "text",
    [
        "[",
        '{"redirections": 3}',
        '{"redirections": [3, {}, {"source_path": 1}]}',
        "[" * 50_000,
        "[" + "1" * 5_000 + "]",
        '{"redirections": [{"source_path": "a\\ud800.md", "redirect_url": "/x"}]}',
        '{"redirections": [{"source_path": "../../a.md", "redirect_url": "/x"}]}',
    ],
)
def test_redirections_that_are_none(tmp_path, text):
    estate = read(tmp_path, {"docfx.json": DOCFX, "a.md": "# A", "redirection.json": text})
    assert [record.node.title for record in estate.records] == ["A"]
    json.dumps([record.as_json() for record in estate.records]).encode()


MARKS = "[ ] ( ) ! < > xref: @ ` * _ | ::: <!-- --> <br> </a> a é \\ &amp; :::image [!NOTE] [!include[](x.md)]"
LINES = [
    "```",
    "# ",
    "- ",
    "1. ",
    "> ",
    "",
    '::: moniker range="a-1"',
    "::: moniker-end",
    "::: zone",
    "---",
    "    ",
    "\t",
]
MARKUP = st.sampled_from(
    [*MARKS.split(), "<a href='", "[!code-a[](b)]", " ", "\t", "\n", *(f"\n{line}" for line in LINES)]
)


@settings(deadline=None)
@given(st.lists(MARKUP, max_size=40).map("".join), st.booleans())
def test_any_markdown_is_read(text, shows_zones):
    context = ReadingContext(
        lambda *_: None,
        lambda _: None,
        lambda _: None,
        lambda pivot: pivot,
        lambda zone, _: zone.expression if shows_zones else None,
    )
    document = read_document(parse_markdown(markdown_parser(), text), "a.md", 1, context)
    lines = text.count("\n") + 1
    assert all(1 <= block.line <= lines for section in document.sections for block in section.blocks)
    assert all(1 <= link.line <= lines for link in document.links)


@pytest.mark.parametrize(
    "piece", ["[", "[!a[b](", "![a](", "<a ", "<!-- ", "*a ", "> ", ":::image ", "@a", "<xref:", "- ", "|a", "`"]
)
def test_markup_repeated_without_end_costs_time_in_proportion(piece, tmp_path):
    estate = read(tmp_path, {"a.md": piece * (20_000 // len(piece))})
    assert len(estate.of_kind(NodeKind.PAGE)) == 1
