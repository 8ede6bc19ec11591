"""Redirections: every way to write where a page was and where it went."""

import json

import pytest

from service.domain.graph import EdgeType, NodeKind
from tests.unit.adapters.estates.estate import read

SITE = "https://docs.example.org/site"
WHOLE = ["**/*.md", "**/*.yml"]


def docfx(**build: object) -> str:
    return json.dumps({"build": {"content": [{"files": WHOLE}]} | build})


SERVED = docfx(sitemap={"baseUrl": SITE})
NOWHERE = docfx()
"""Nothing tells at which address the site is served."""


def redirection(source: str, target: str, key: str = "source_path") -> str:
    return json.dumps({"redirections": [{key: source, "redirect_url": target}]})


def redirection_entry(name: str) -> dict[str, str]:
    return {"source_path": f"guide/{name}.md", "redirect_url": "/site/guide/x"}


def successors(estate, uid: str) -> list[str]:
    return [target for _, target in estate.edges(uid, EdgeType.SUPERSEDED_BY)]


@pytest.mark.parametrize(
    "target",
    [
        "/site/guide/x",
        "/site/guide/x/",
        "/site/guide/x.md",
        "/site/guide/x.html",
        "/site/Guide/X",
        "/en-us/site/guide/x",
        "/site/guide/x?view=a-1.0&tabs=b",
        "/site/guide/x#part",
        "/site/guide/%78",
        f"{SITE}/guide/x",
        "https://docs.example.org/en-us/site/guide/x?a=b#c",
        "HTTPS://DOCS.example.org/site/guide/x",
        "//docs.example.org/site/guide/x",
        "x",
        "x.md",
        "./x.md#part",
        "../guide/x",
        "~/guide/x.md",
        "/docs/guide/x.md",
        "the.uid",
        "xref:the.uid",
    ],
)
def test_a_target_in_any_spelling_is_the_page(tmp_path, target):
    files = {
        "docs/docfx.json": SERVED,
        "docs/guide/x.md": "---\nuid: the.uid\n---\n# X",
        "redirections.json": redirection("docs/guide/old.md", target),
    }
    estate = read(tmp_path, files)
    assert successors(estate, "d/docs/guide/old") == ["the.uid"]
    assert estate.record("d/docs/guide/old").node.summary == "X"
    assert estate.diagnostics == ()


@pytest.mark.parametrize("target", ["/guide/x", "/d/guide/x", "/en-us/guide/x", "/guide/x/?a=b#c", "/Guide/x.md"])
@pytest.mark.parametrize("configuration", [{"docfx.json": NOWHERE}, {}], ids=["docfx", "plain"])
def test_where_nothing_tells_the_sites_address_a_target_counts_from_its_root(tmp_path, target, configuration):
    files = configuration | {"guide/x.md": "# X", "redirections.json": redirection("guide/old.md", target)}
    estate = read(tmp_path, files)
    assert estate.record("d/guide/x").node.url == "/d/guide/x"
    assert successors(estate, "d/guide/old") == ["d/guide/x"]


@pytest.mark.parametrize("first", ["/guide/b", "/d/guide/b", "b.md", "~/guide/b", "/en-us/guide/b.md#x"])
@pytest.mark.parametrize("second", ["/guide/a", "/d/guide/a/", "../guide/a"])
def test_a_circle_is_found_however_it_is_written(tmp_path, first, second):
    entries = [
        {"source_path": "guide/a.md", "redirect_url": first},
        {"source_path": "guide/b.md", "redirect_url": second},
    ]
    files = {"docfx.json": NOWHERE, "x.md": "# X", "redirections.json": json.dumps({"redirections": entries}, indent=1)}
    assert read(tmp_path, files).found("redirect_loop") == [("redirections.json", 4), ("redirections.json", 8)]


@pytest.mark.parametrize(
    ("source", "key"),
    [
        ("docs/guide/old.md", "source_path"),
        ("./docs/guide/old.md", "source_path"),
        ("/docs/guide/old.md", "source_path"),
        ("docs\\guide\\old.md", "source_path"),
        ("Docs/Guide/Old.md", "source_path"),
        ("docs/guide/old", "source_path"),
        ("docs/guide/old/", "source_path"),
        ("docs/guide/old.md", "source_path_from_root"),
        ("/docs/guide/old.md", "source_path_from_root"),
    ],
)
@pytest.mark.parametrize(
    "link", ["/site/guide/old", "/site/guide/old.md", "old.md", "../guide/old.md", f"{SITE}/guide/old?x=y"]
)
def test_a_source_in_any_spelling_is_what_links_mean(tmp_path, source, key, link):
    files = {
        "docs/docfx.json": SERVED,
        "docs/guide/x.md": f"[was]({link})",
        "redirections.json": redirection(source, "/site/guide/x", key),
    }
    estate = read(tmp_path, files)
    [retired] = estate.of_kind(NodeKind.RETIRED)
    assert (retired.node.url or "").lower() == "/site/guide/old"
    assert [target for _, target in estate.edges("d/docs/guide/x", EdgeType.XREF)] == [retired.node.identity.uid]
    assert estate.found("superseded_target") == [("docs/guide/x.md", 1)]


@pytest.mark.parametrize("target", ["https://example.org/x", "//example.org/guide/x", "/elsewhere/x", "http://[x"])
def test_a_target_on_another_site_is_kept_as_it_is_written(tmp_path, target):
    files = {
        "docs/docfx.json": SERVED,
        "docs/guide/x.md": "# X",
        "redirections.json": redirection("docs/a.md", target),
    }
    estate = read(tmp_path, files)
    [reference] = estate.references("d/docs/a", EdgeType.SUPERSEDED_BY)
    assert (reference.target_uid, reference.target_kind) == (target, NodeKind.API)
    assert reference.target_extra == {"url": target}


@pytest.mark.parametrize("name", ["redirections.json", "redirections.yml"])
@pytest.mark.parametrize(
    "incomplete",
    [
        {"redirect_url": "/site/guide/x"},
        {"redirect_uid": "the.uid"},
        {"redirect_url": "/site/guide/x", "redirect_document_id": False},
        {"source_path": "", "redirect_url": "/site/guide/x"},
        {"source_path": "guide/b.md"},
        {"source_path_from_root": "guide/b.md", "redirect_url": ""},
    ],
    ids=json.dumps,
)
def test_an_entry_without_path_or_target_is_reported_where_it_stands(tmp_path, name, incomplete):
    entries = [redirection_entry("a"), incomplete, redirection_entry("c")]
    lines = ",\n".join(json.dumps(entry) for entry in entries)
    files = {"docfx.json": SERVED, "guide/x.md": "# X", name: f'{{"redirections": [\n{lines}\n]}}'}
    estate = read(tmp_path, files)
    assert estate.found("redirection_invalid") == [(name, 3)]
    assert [record.node.path for record in estate.of_kind(NodeKind.RETIRED)] == ["guide/a.md", "guide/c.md"]
    assert [reference.line for reference in estate.references("d/guide/a", EdgeType.SUPERSEDED_BY)] == [2]
    assert [reference.line for reference in estate.references("d/guide/c", EdgeType.SUPERSEDED_BY)] == [4]


def test_a_path_that_leads_to_no_page_is_reported(tmp_path):
    files = {"docfx.json": SERVED, "guide/install.md": "# X", "redirections.json": redirection("guide/a.md", "instal")}
    estate = read(tmp_path, files)
    [found] = estate.diagnostics
    assert (found.code, found.file, found.line) == ("redirection_target_missing", "redirections.json", 1)
    assert found.fix == "Did you mean guide/install.md?"
    assert successors(estate, "d/guide/a") == ["/site/guide/instal"]


@pytest.mark.parametrize(
    ("name", "text", "lines"),
    [
        ("redirections.yml", "redirections:\n  old.md: /site/x\n  sub/old.md: x.md\n", [2, 3]),
        ("redirections.yml", "renames:\n  old.md: /site/x\n  sub/old.md:\n    redirect_url: /site/x\n", [2, 4]),
        (
            "redirections.yml",
            "redirections:\n- source_path: old.md\n  redirect_url: x\n- {source_path_from_root: /sub/old.md, "
            "redirect_url: /site/x}\n",
            [2, 4],
        ),
        ("redirection.yaml", "redirections: {old.md: x}\nrenames: {sub/old.md: ../x}\n", [1, 2]),
        ("redirection.json", '{"redirections": {"old.md": "x",\n"sub/old.md": "/site/x"}}', [1, 2]),
        (
            ".openpublishing.redirection.sub.json",
            '{\n// moved\n"redirections": [\n{"source_path": "old.md", "redirect_url": "x"},\n'
            '{"source_path": "sub/old.md", "redirect_url": "/site/x"},\n]}',
            [4, 5],
        ),
        (
            ".openpublishing.redirection.json",
            '\ufeff{"redirections": [\r\n{"redirect_url": "/site/x", "source_path": "old.md", '
            '"source_path_from_root": "/old.md"},\r\n{"source_path_from_root": "/sub/old.md", "redirect_url": '
            '"/site/x"}]}',
            [2, 3],
        ),
    ],
)
def test_files_of_every_kind_are_read(tmp_path, name, text, lines):
    estate = read(tmp_path, {"docfx.json": SERVED, "x.md": "# X", "sub/x.md": "# S", name: text})
    retired = estate.of_kind(NodeKind.RETIRED)
    assert [record.node.identity.uid for record in retired] == ["d/old", "d/sub/old"]
    assert [record.references[0].line for record in retired] == lines
    assert all(target in ("d/x", "d/sub/x") for uid in ("d/old", "d/sub/old") for target in successors(estate, uid))


def test_a_source_path_counts_from_its_files_folder(tmp_path):
    files = {"docfx.json": SERVED, "x.md": "# X", "sub/redirections.yml": "redirections:\n  old.md: ../x\n"}
    assert successors(read(tmp_path, files), "d/sub/old") == ["d/x"]


def test_a_link_to_a_chain_is_told_its_end(tmp_path):
    entries = [{"source_path": f"{n}.md", "redirect_url": f"/site/{n + 1}"} for n in range(1, 4)]
    entries += [{"source_path": "out.md", "redirect_url": "/site/away"}]
    entries += [{"source_path": "away.md", "redirect_url": "https://example.org/x"}]
    entries += [{"source_path": "ring.md", "redirect_url": "/site/ring"}]
    body = "[a](/site/1) [b](2.md)\n[c](out.md)\n[d](ring.md)\n"
    files = {"docfx.json": SERVED, "4.md": body, ".openpublishing.redirection.json": json.dumps(entries)}
    estate = read(tmp_path, files)
    assert [(f.line, f.column, f.fix) for f in estate.diagnostics if f.code == "superseded_target"] == [
        (1, 5, "Link to /site/4."),
        (1, 18, "Link to /site/4."),
        (2, 5, "Link to https://example.org/x."),
        (3, 5, "Link to a page: the redirections go round in a circle."),
    ]


def test_links_on_one_line_have_each_their_column(tmp_path):
    body = "[a](old.md) [b](old.md), [c](old.md#x) and [d](very-old.md) <a href='old.md'>e</a>\n"
    entries = [{"source_path": name, "redirect_url": "/site/x"} for name in ("old.md", "very-old.md")]
    files = {"docfx.json": SERVED, "x.md": body, "redirections.json": json.dumps({"redirections": entries})}
    estate = read(tmp_path, files)
    found = [f for f in estate.diagnostics if f.code == "superseded_target"]
    assert sorted(f.column for f in found) == [5, 17, 30, 48, 70]
    assert len({(f.line, f.column) for f in found}) == len(found)


def test_what_is_wrong_in_an_include_is_wrong_once(tmp_path):
    files = {
        "docfx.json": docfx(content=[{"files": WHOLE, "exclude": ["inc/**"]}], sitemap={"baseUrl": SITE}),
        "a.md": "[!INCLUDE [i](inc/i.md)]",
        "b.md": "[!INCLUDE [i](inc/i.md)]",
        "inc/i.md": "See [it](../old.md).",
        "redirections.json": redirection("old.md", "a.md"),
    }
    estate = read(tmp_path, files)
    [found] = estate.diagnostics
    assert (found.code, found.file, found.line, found.column) == ("superseded_target", "inc/i.md", 1, 10)


def test_two_entries_for_one_page_are_one_node(tmp_path):
    entries = [{"source_path": name, "redirect_url": "/site/x"} for name in ("old.md", "OLD.md", "old", "old.yml")]
    files = {"docfx.json": SERVED, "x.md": "# X", "redirections.json": json.dumps({"redirections": entries}, indent=1)}
    estate = read(tmp_path, files)
    assert [record.node.path for record in estate.of_kind(NodeKind.RETIRED)] == ["old.md"]
    assert [line for _, line in estate.found("redirection_duplicate")] == [8, 12, 16]


@pytest.mark.parametrize("source", ["x.md", "x", "x.yml", "X.md", "~/x.md"])
def test_a_page_that_is_there_is_not_redirected(tmp_path, source):
    files = {"docfx.json": SERVED, "x.md": "# X", "y.md": "# Y", "redirections.json": redirection(source, "/site/y")}
    estate = read(tmp_path, files)
    assert estate.found("redirection_of_page") == [("redirections.json", 1)]
    assert estate.of_kind(NodeKind.RETIRED) == []


def test_each_locales_folder_has_its_own_redirections(tmp_path):
    entries = [
        {"source_path": f"{locale}/old.md", "redirect_url": f"/{locale}/site/{locale}/x"}
        for locale in ("de-de", "en-us")
    ]
    files = {
        "docfx.json": SERVED,
        "de-de/x.md": "# X",
        "en-us/x.md": "# X",
        "en-us/old.yml": "no page",
        "redirections.json": json.dumps({"redirections": entries}),
    }
    estate = read(tmp_path, files)
    assert {record.node.identity.key for record in estate.of_kind(NodeKind.RETIRED)} == {"de-de:d/old", "en-us:d/old"}


def test_addresses_that_pages_once_had_are_checked_against_the_whole_estate(tmp_path):
    def page(*former: str) -> str:
        return "---\nredirect_from:\n" + "".join(f"- {address}\n" for address in former) + "---\n# P"

    files = {"a.md": page("/was", "before", "/b"), "b.md": page("/was"), "c.md": "[x](was.md) [y](/before)"}
    estate = read(tmp_path, files)
    assert {(r.node.url, successors(estate, r.node.identity.uid)[0]) for r in estate.of_kind(NodeKind.RETIRED)} == {
        ("/was", "d/a"),
        ("/before", "d/a"),
    }
    assert estate.found("redirection_duplicate") == [("b.md", 3)]
    assert estate.found("redirection_of_page") == [("a.md", 5)]
    assert estate.found("superseded_target") == [("c.md", 1), ("c.md", 1)]
