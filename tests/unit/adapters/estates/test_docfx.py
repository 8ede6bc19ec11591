"""Sites built from docfx.json."""

import json

import pytest

from adapters.estates import ReadingRules, reader_for
from service.domain.content import BlockKind
from service.domain.graph import NEUTRAL_LOCALE, EdgeType, NodeKind
from tests.unit.adapters.estates.estate import read, write

CONFIGURATION = {
    "build": {
        "content": [
            {"files": ["**/*.md", "**/*.yml"], "exclude": ["**/includes/**", "guides/**"]},
            {"src": "guides", "files": ["**.md"], "dest": "handbook"},
        ],
        "globalMetadata": {
            "breadcrumb_path": "/site/breadcrumb/toc.json",
            "ms.service": "svc",
            "ms.topic": "concept-article",
        },
        "fileMetadata": {"ms.subservice": {"core/**/**.md": "svc-core"}, "ms.devlang": {"**/*.md": "csharp"}},
    }
}
DOCFX = json.dumps(CONFIGURATION, indent=1)


def site(tmp_path, files, **options):
    return read(tmp_path, {"docs/docfx.json": DOCFX} | files, **options)


def page(uid: str, body: str = "", **metadata: str) -> str:
    lines = [f"uid: {uid}", *(f"{name}: {value}" for name, value in metadata.items())]
    return "---\n" + "\n".join(lines) + "\n---\n\n" + body


def test_a_docfx_json_makes_a_docfx_estate(tmp_path):
    assert reader_for(write(tmp_path, {"a/docfx.json": DOCFX}), ReadingRules()).format == "docfx"


def test_content_sections_decide_what_is_a_page_and_where(tmp_path):
    files = {
        "docs/core/a.md": "# A",
        "docs/guides/b/index.md": "# B",
        "docs/core/includes/i.md": "i",
        "README.md": "# R",
    }
    estate = site(tmp_path, files)
    assert {r.node.path: r.node.url for r in estate.records} == {
        "docs/core/a.md": "/site/core/a",
        "docs/guides/b/index.md": "/site/handbook/b/",
    }


def test_default_metadata_holds_where_the_page_says_nothing(tmp_path):
    estate = site(
        tmp_path, {"docs/core/a.md": "# A", "docs/b.md": "---\nms.service: other\nms.topic: tutorial\n---\n# B"}
    )
    assert estate.record("d/docs/core/a").node.products == ("svc", "svc-core")
    assert estate.record("d/docs/core/a").node.type == "concept"
    assert (estate.record("d/docs/b").node.products, estate.record("d/docs/b").node.type) == (("other",), "tutorial")
    [service, subservice, language] = estate.references("d/docs/core/a", EdgeType.APPLIES_TO)
    assert (service.target_uid, service.via, service.file) == ("product:svc", "ms.service", "docs/docfx.json")
    assert (subservice.target_uid, language.target_uid) == ("product:svc-core", "topic:csharp")


def test_xrefs_by_uid_in_every_spelling(tmp_path):
    body = (
        "<xref:b> and [text](xref:b#part) and @b and @nobody\n"
        "<xref:Name.Space.Type`1.Method*?displayProperty=nameWithType>\n"
        "[a](xref:Name.Space.Type%601.%23ctor)\n"
    )
    estate = site(tmp_path, {"docs/a.md": page("a", body), "docs/b.md": page("b", "# The page B", title="Page B")})
    assert [(r.via, r.target_uid, r.line) for r in estate.references("a", EdgeType.XREF)] == [
        ("xref", "b", 5),
        ("@uid", "b", 5),
        ("xref", "Name.Space.Type`1.Method*", 6),
        ("xref", "Name.Space.Type`1.#ctor", 7),
    ]
    text = estate.record("a").sections[0].blocks[0].text
    assert text == "Page B and text and Page B and @nobody Type.Method a"


@pytest.mark.parametrize(
    ("markup", "uid", "title"),
    [
        ("<xref:Data.Context.Set%60%601>", "Data.Context.Set``1", "Set"),
        ("<xref:Data.Context.Set%60>", "Data.Context.Set`", "Set"),
        ("<xref:Data.Context.Set%2A>", "Data.Context.Set*", "Set"),
        ("<xref:Data.List%601.Add%2A?displayProperty=nameWithType>", "Data.List`1.Add*", "List.Add"),
        ("<xref:Data.Context.Find%28System.Object%29>", "Data.Context.Find(System.Object)", "Find"),
        (
            "<xref:Data.Context.Find%28System.Object%29?displayProperty=fullName>",
            "Data.Context.Find(System.Object)",
            "Data.Context.Find(System.Object)",
        ),
        ("<xref:Data.List%601?text=List%3CT%3E>", "Data.List`1", "List<T>"),
        ("[](xref:Data.Context.Set%60%601)", "Data.Context.Set``1", "Set"),
        ('<a href="xref:Data.Context.Set%60%601"></a>', "Data.Context.Set``1", "Set"),
        ("[as it is](xref:Data.Context.Set%60%601)", "Data.Context.Set``1", "as it is"),
        ("<xref:Data.Context.Set``1>", "Data.Context.Set``1", "Set"),
    ],
)
def test_a_uid_written_for_an_address_is_shown_as_what_it_names(tmp_path, markup, uid, title):
    estate = site(tmp_path, {"docs/a.md": page("a", f"See {markup} now.")})
    [reference] = estate.references("a", EdgeType.XREF)
    assert (reference.target_uid, reference.target_title) == (uid, title)
    assert estate.record("a").sections[0].blocks[0].text == f"See {title} now."


def test_a_page_whose_uid_is_written_for_an_address_lends_its_title(tmp_path):
    pages = {"docs/a.md": page("a", "See <xref:b%20c>."), "docs/b.md": page('"b c"', "# The page", title="The page")}
    estate = site(tmp_path, pages)
    assert estate.record("a").sections[0].blocks[0].text == "See The page."


def test_uids_may_hold_anything(tmp_path):
    uid = "a b (c)* #d é"
    estate = site(tmp_path, {"docs/a.md": page("x", f'<xref:{uid}> @"{uid}"'), "docs/b.md": page(f'"{uid}"')})
    assert {r.target_uid for r in estate.references("x", EdgeType.XREF)} == {uid}


def test_a_broken_xref_names_the_nearest_uid(tmp_path):
    files = {
        "docs/a.md": page("core/start", "<xref:core/instal>\n<xref:System.String>"),
        "docs/b.md": page("core/install"),
    }
    estate = site(tmp_path, files)
    [found] = estate.diagnostics
    assert (found.code, found.file, found.line, found.fix) == (
        "xref_broken",
        "docs/a.md",
        5,
        "Did you mean core/install?",
    )
    assert estate.edges("core/start", EdgeType.XREF) == [("xref", "core/instal"), ("xref", "System.String")]


def test_links_by_path_by_address_and_related(tmp_path):
    body = "[b](../b.md) [b](~/b.md) [site](/site/b) [out](/elsewhere/x#y)\n\n## See also\n\n- [b](../b.md)\n"
    estate = site(tmp_path, {"docs/core/a.md": page("a", body), "docs/b.md": page("b")})
    assert estate.edges("a", EdgeType.XREF) == [
        ("relative-link", "b"),
        ("site-link", "b"),
        ("site-link", "/elsewhere/x"),
        ("related-link", "b"),
    ]


def test_absolute_links_to_the_sites_own_hosts_are_site_links(tmp_path):
    body = "[b](https://docs.example.org/en-us/site/b?view=x#y) [z](https://other.example.org/site/b)"
    rules = ReadingRules(site_hosts=("docs.example.org",))
    estate = site(tmp_path, {"docs/a.md": page("a", body), "docs/b.md": page("b")}, rules=rules)
    assert estate.edges("a", EdgeType.XREF) == [("docs-link", "b")]


def test_an_address_means_the_same_however_it_is_escaped(tmp_path):
    links = "[x](https://docs.example.org/api/list%601) [x](/api/set%601) [p](https://docs.example.org/site/b%2Dc)"
    redirections = {"redirections": [{"source_path": "docs/old.md", "redirect_url": "/api/bag%601"}]}
    files = {
        "docs/a.md": page("a", links),
        "docs/b-c.md": page("b"),
        ".openpublishing.redirection.json": json.dumps(redirections),
    }
    estate = site(tmp_path, files, rules=ReadingRules(site_hosts=("docs.example.org",)))
    assert estate.edges("a", EdgeType.XREF) == [
        ("docs-link", "/api/list`1"),
        ("site-link", "/api/set`1"),
        ("docs-link", "b"),
    ]
    [retired] = [record for record in estate.records if record.node.kind is NodeKind.RETIRED]
    assert [reference.target_uid for reference in retired.references] == ["/api/bag`1"]


def test_prerequisite_sections_hold_dependencies(tmp_path):
    body = "[c](xref:c)\n\n## Prerequisites\n\n- <xref:b>\n- [shop](https://example.org)\n\n"
    body += "### More\n\n[c](c.md)\n\n## Steps\n\n[b](b.md)\n"
    estate = site(tmp_path, {"docs/a.md": page("a", body), "docs/b.md": page("b"), "docs/c.md": page("c")})
    assert estate.edges("a", EdgeType.DEPENDS_ON) == [("prerequisites", "b"), ("prerequisites", "c")]
    assert estate.edges("a", EdgeType.XREF) == [("xref", "c"), ("relative-link", "b")]


def test_includes_stand_in_place_and_are_what_the_page_derives_from(tmp_path):
    files = {
        "docs/core/a.md": page(
            "a", "Before.\n\n[!INCLUDE [x](../includes/x.md)]\n\nInline [!INCLUDE [y](../includes/y.md)] end."
        ),
        "docs/includes/x.md": "---\nms.topic: include\n---\nIncluded [a](../core/a.md).\n",
        "docs/includes/y.md": "phrase",
    }
    estate = site(tmp_path, files)
    record = estate.record("a")
    assert [(b.text, b.line) for b in record.sections[0].blocks] == [
        ("Before.", 5),
        ("Included a.", 4),
        ("Inline phrase end.", 9),
    ]
    [first, second] = estate.references("a", EdgeType.DERIVED_FROM)
    assert (first.target_uid, first.target_kind, first.via, first.line) == (
        "d/docs/includes/x",
        NodeKind.TOPIC,
        "include",
        7,
    )
    assert second.target_uid == "d/docs/includes/y"


def test_snippets_with_regions_lines_and_missing_sources(tmp_path):
    body = (
        "[!code-csharp[Main](../samples/P.cs?name=Part&highlight=1)]\n\n"
        ':::code language="csharp" source="../samples/P.cs" id="tagged":::\n\n'
        ':::code language="csharp" source="../samples/P.cs" range="1-2,9":::\n\n'
        "[!code-sql[](../samples/gone.sql)]\n"
    )
    source = "using A;\nclass P\n{\n    #region Part\n    int x;\n    #endregion\n"
    source += "    // <tagged>\n    int y;\n    // </tagged>\n}\n"
    estate = site(tmp_path, {"docs/a.md": page("a", body), "samples/P.cs": source})
    code = [b.text for b in estate.record("a").sections[0].blocks if b.kind is BlockKind.CODE]
    assert code == ["int x;", "int y;", "using A;\nclass P\n    // </tagged>"]
    assert estate.edges("a", EdgeType.IMPLEMENTED_BY) == [
        ("snippet", "d/samples/P.cs#Part"),
        ("snippet", "d/samples/P.cs#tagged"),
        ("snippet", "d/samples/P.cs#1-2,9"),
        ("snippet", "d/samples/gone.sql"),
    ]
    assert estate.found("snippet_missing") == [("docs/a.md", 11)]
    sample = estate.record("d/samples/P.cs#Part")
    assert (sample.node.kind, sample.node.language, sample.node.path) == (
        NodeKind.CODE_SAMPLE,
        "csharp",
        "samples/P.cs",
    )


def test_sample_links(tmp_path):
    body = "[Get it](https://github.com/o/r/tree/main/samples/x#readme) [gallery](/samples/o/x) [code](https://github.com/o/r)"
    estate = site(tmp_path, {"docs/a.md": page("a", body)})
    references = estate.references("a", EdgeType.IMPLEMENTED_BY)
    assert [(r.via, r.target_uid, r.target_kind, r.target_title) for r in references] == [
        ("sample-link", "https://github.com/o/r/tree/main/samples/x", NodeKind.CODE_SAMPLE, "Get it"),
        ("sample-link", "/samples/o/x", NodeKind.CODE_SAMPLE, "gallery"),
    ]


def test_moniker_ranges_expand_to_the_monikers_that_the_estate_knows(tmp_path):
    files = {
        "docs/a.md": page("a", monikerRange="'>=net-8.0 <net-10.0 || old-1.0'"),
        "docs/b.md": page(
            "b", '::: moniker range=">=net-10.0"\n\nNew.\n\n::: moniker-end\n\nAll.\n', monikerRange="'>=net-8.0'"
        ),
        "docs/c.md": page("c", monikerRange="net-9.0"),
    }
    estate = site(tmp_path, files)
    node = estate.record("a").node
    assert (node.moniker_range, node.monikers) == (">=net-8.0 <net-10.0 || old-1.0", ("net-8.0", "net-9.0", "old-1.0"))
    monikers = [r for r in estate.references("a", EdgeType.APPLIES_TO) if r.target_kind is NodeKind.MONIKER]
    assert [(m.target_uid, m.via, m.target_locale) for m in monikers] == [
        (f"moniker:{name}", "monikerRange", NEUTRAL_LOCALE) for name in ("net-8.0", "net-9.0", "old-1.0")
    ]
    assert monikers[0].target_extra["family"] == "net"
    assert monikers[0].target_extra["order"] < monikers[1].target_extra["order"]
    assert [(s.moniker_range, [b.text for b in s.blocks]) for s in estate.record("b").sections] == [
        (">=net-10.0", ["New."]),
        (None, ["All."]),
    ]
    zones = [r for r in estate.references("b", EdgeType.APPLIES_TO) if r.via == "moniker-zone"]
    assert [(z.target_uid, z.line) for z in zones] == [("moniker:net-10.0", 6)]


def test_a_moniker_range_that_is_none_is_reported(tmp_path):
    estate = site(tmp_path, {"docs/a.md": page("a", monikerRange="'>= || x'")})
    assert estate.found("moniker_range_invalid") == [("docs/a.md", 3)]
    assert estate.record("a").node.monikers == ()


def test_tabs_pivots_and_pictures_are_readable(tmp_path):
    body = (
        "# [Linux](#tab/linux)\n\nRun it.\n\n# [Windows](#tab/win)\n\nStart it.\n\n---\n\n"
        '::: zone pivot="one,two"\n\nZoned.\n\n::: zone-end\n\n'
        ':::image type="content" source="x.png" alt-text="A picture.":::\n'
    )
    pivots = "### YamlMime:ZonePivotGroups\ngroups:\n- id: g\n  pivots:\n  - id: one\n    title: First\n"
    estate = site(tmp_path, {"docs/a.md": page("a", body), "docs/zone-pivot-groups.yml": pivots})
    assert [b.text for s in estate.record("a").sections for b in s.blocks] == [
        "Linux:",
        "Run it.",
        "Windows:",
        "Start it.",
        "First, two:",
        "Zoned.",
        "A picture.",
    ]


TOC = """- name: Home
  href: index.md
- name: Basics
  items:
  - name: A
    href: a.md
  - name: Deep
    href: deep/
  - name: Gone
    href: gone.md
"""


def test_pages_are_part_of_what_the_toc_puts_them_under(tmp_path):
    files = {
        "docs/toc.yml": TOC,
        "docs/deep/toc.yml": "items:\n- name: B\n  href: b.md\n  items:\n  - name: C\n    href: ../c.md?x=y\n",
        "docs/breadcrumb/toc.yml": "- name: Site\n  href: /site\n",
        **{f"docs/{name}.md": page(name) for name in ("index", "a", "c", "orphan")},
        "docs/deep/b.md": page("b"),
    }
    estate = site(tmp_path, files)
    topic = "topic:d/docs/toc.yml/Basics"
    [a] = estate.references("a", EdgeType.PART_OF)
    assert (a.target_uid, a.target_kind, a.via, a.file, a.line, a.ordinal) == (
        topic,
        NodeKind.TOPIC,
        "toc",
        "docs/toc.yml",
        5,
        1,
    )
    assert estate.edges("b", EdgeType.PART_OF) == [("toc", f"{topic}/Deep")]
    assert estate.edges("c", EdgeType.PART_OF) == [("toc", "b")]
    assert estate.edges(f"{topic}/Deep", EdgeType.PART_OF) == [("toc", topic)]
    assert estate.record("c").node.topics == ("csharp", "Basics", "Deep")
    assert estate.found("orphan_page") == [("docs/orphan.md", 1)]
    assert estate.found("toc_target_missing") == [("docs/toc.yml", 9)]


def test_tocs_that_refer_to_each_other_end(tmp_path):
    files = {"docs/toc.yml": "- name: X\n  href: x/toc.yml\n", "docs/x/toc.yml": "- name: Back\n  href: ../toc.yml\n"}
    assert site(tmp_path, files).found("toc_cycle") == [("docs/x/toc.yml", 1)]


def redirections(*pairs: tuple[str, str], key: str = "source_path") -> str:
    return json.dumps({"redirections": [{key: source, "redirect_url": target} for source, target in pairs]}, indent=1)


def test_redirected_paths_are_retired_nodes_with_their_successor(tmp_path):
    files = {
        "docs/a.md": page("a", "[old](old.md) [older](/site/older)"),
        ".openpublishing.redirection.json": redirections(
            ("docs/old.md", "/site/a"), ("docs/older.md", "/site/old"), ("docs/away.md", "https://example.org/x")
        ),
    }
    estate = site(tmp_path, files)
    old = estate.record("d/docs/old")
    assert (old.node.kind, old.node.url, old.node.path) == (NodeKind.RETIRED, "/site/old", "docs/old.md")
    assert (old.node.title, old.node.aliases) == ("old", ("/site/old", "docs/old.md"))
    assert [estate.record(f"d/docs/{name}").node.summary for name in ("old", "older", "away")] == [
        estate.record("a").node.title,
        estate.record("a").node.title,
        "https://example.org/x",
    ]
    [successor] = old.references
    assert (successor.type, successor.target_uid, successor.via, successor.file, successor.line) == (
        EdgeType.SUPERSEDED_BY,
        "a",
        "redirection",
        ".openpublishing.redirection.json",
        4,
    )
    assert estate.edges("d/docs/older", EdgeType.SUPERSEDED_BY) == [("redirection", "d/docs/old")]
    assert estate.edges("d/docs/away", EdgeType.SUPERSEDED_BY) == [("redirection", "https://example.org/x")]
    assert estate.found("superseded_target") == [("docs/a.md", 5), ("docs/a.md", 5)]
    assert estate.edges("a", EdgeType.XREF) == [("relative-link", "d/docs/old"), ("site-link", "d/docs/older")]


def test_redirections_in_a_circle_are_reported_and_lead_nowhere(tmp_path):
    files = {
        "docs/a.md": page("a"),
        ".openpublishing.redirection.json": redirections(
            ("/docs/x.md", "/site/y"), ("/docs/y.md", "/site/x"), key="source_path_from_root"
        ),
    }
    estate = site(tmp_path, files)
    assert estate.found("redirect_loop") == [
        (".openpublishing.redirection.json", 4),
        (".openpublishing.redirection.json", 8),
    ]
    assert estate.record("d/docs/x").references == ()


def test_a_redirected_page_that_is_still_there_stays(tmp_path):
    files = {"docs/a.md": page("a"), ".openpublishing.redirection.json": redirections(("docs/a.md", "/site/b"))}
    estate = site(tmp_path, files)
    assert estate.found("redirection_of_page") == [(".openpublishing.redirection.json", 4)]
    assert estate.record("a").node.kind is NodeKind.PAGE


def test_an_imported_xref_map_gives_outside_uids_a_name_and_an_address(tmp_path):
    xref_map = (
        "### YamlMime:XRefMap\nreferences:\n- uid: System.String\n  name: String\n  href: https://example.org/string\n"
    )
    estate = site(tmp_path, {"docs/a.md": page("a", "@System.String"), "docs/xrefmap.yml": xref_map})
    [reference] = estate.references("a", EdgeType.XREF)
    assert (reference.target_uid, reference.target_kind, reference.target_title, reference.target_extra) == (
        "System.String",
        NodeKind.API,
        "String",
        {"url": "https://example.org/string"},
    )
    assert estate.record("a").sections[0].blocks[0].text == "String"


XREF_MAP = "references:\n- {uid: Far.Away, name: Away, href: away.html}\nbaseUrl: https://example.org/api/\n"


@pytest.mark.parametrize(
    ("named", "copy"),
    [
        ("maps/far.yml", "docs/maps/far.yml"),
        ("../maps/far.yml", "maps/far.yml"),
        ("https://example.org/maps/far.yml", "vendor/far.yml"),
        ("https://example.org/Far.yml?v=1", "docs/far.yml"),
        ("https://example.org/xrefmap.yml", "docs/xrefmap.yml"),
        ("https://example.org/query", "docs/xrefmap.yml"),
    ],
)
def test_a_copy_of_an_outside_map_names_its_uids(tmp_path, named, copy):
    configuration = {"build": CONFIGURATION["build"] | {"xref": [named]}}
    files = {"docs/docfx.json": json.dumps(configuration), "docs/a.md": page("a", "<xref:Far.Away>")}
    estate = read(tmp_path, files | {copy: XREF_MAP})
    [reference] = estate.references("a", EdgeType.XREF)
    assert (reference.target_title, reference.target_extra) == ("Away", {"url": "https://example.org/api/away.html"})
    assert estate.found("xref_map_elsewhere") == ([("docs/docfx.json", 1)] if named.endswith("query") else [])


@pytest.mark.parametrize(
    ("address", "name"),
    [
        ("https://example.org/maps/far.yml?v=1", "far.yml"),
        ("https://example.org/query", "xrefmap.yml"),
        ("https://example.org/", "xrefmap.yml"),
    ],
)
def test_a_map_at_an_address_is_not_fetched_and_the_note_says_what_to_do(tmp_path, address, name):
    configuration = {"build": CONFIGURATION["build"] | {"xref": [address]}}
    [found] = read(tmp_path, {"docfx.json": json.dumps(configuration, indent=1), "a.md": page("a")}).diagnostics
    assert (found.code, found.file, found.line, found.column) == ("xref_map_elsewhere", "docfx.json", 36, 4)
    assert f"into the estate as {name}:" in found.fix


def test_landing_pages_hold_their_texts_and_links(tmp_path):
    hub = "### YamlMime:Hub\ntitle: Hub\nsummary: All of it.\nsections:\n- items:\n  - title: Page B\n    url: b.md\n"
    estate = site(tmp_path, {"docs/index.yml": hub, "docs/b.md": page("b")})
    record = estate.record("d/docs/index")
    assert [b.text for b in record.sections[0].blocks] == ["Page B"]
    assert [(r.target_uid, r.line) for r in estate.references("d/docs/index", EdgeType.XREF)] == [("b", 7)]


@pytest.mark.parametrize("configuration", ["{", "[]", "null", '{"build": 3}', '{"build": {"content": "x"}}'])
def test_a_docfx_json_that_is_none_still_lets_the_pages_be_read(tmp_path, configuration):
    estate = read(tmp_path, {"docfx.json": configuration, "a.md": "# A"})
    assert estate.record("d/a").node.title == "A"


def test_two_docfx_json_are_two_content_roots(tmp_path):
    other = json.dumps(
        {"build": {"content": [{"files": ["**/*.md"]}], "globalMetadata": {"breadcrumb_path": "/b/toc.json"}}}
    )
    estate = read(
        tmp_path,
        {"x/docfx.json": DOCFX, "x/p.md": page("x"), "y/docfx.json": other, "y/q.md": page("y", "[x](../x/p.md)")},
    )
    assert {r.node.identity.uid: r.node.url for r in estate.records} == {"x": "/site/p", "y": "/b/q"}
    assert estate.edges("y", EdgeType.XREF) == [("relative-link", "x")]


def test_a_page_without_uid_shares_it_with_its_translation(tmp_path):
    translated = "---\nms.translationtype: MT\nms.contentlocale: de-DE\n---\n# Seite\n"
    source = read(tmp_path / "en", {"docfx.json": DOCFX, "x/a.md": "# Page\n"}, docset="site")
    german = read(tmp_path / "de", {"docfx.json": DOCFX, "x/a.md": translated}, docset="site.de-de")
    folders = read(tmp_path / "both", {"docfx.json": DOCFX, "de-de/a.md": translated, "en-us/a.md": "# Page\n"})
    assert source.record("site/x/a").node.title == "Page"
    [edge] = german.references("site/x/a", EdgeType.DERIVED_FROM, "de-de")
    assert (edge.target_uid, edge.target_locale) == ("site/x/a", "en-us")
    assert {r.node.identity.key for r in folders.records} == {"de-de:d/a", "en-us:d/a"}


def test_redirections_tell_the_address_that_no_configuration_names(tmp_path):
    bare = json.dumps({"build": {"content": [{"files": ["**/*.md"]}]}})
    entries = redirections(*((f"old{n}.md", f"/site/en/{name}") for n, name in enumerate(("a", "sub/b", "c"))))
    files = {
        "docfx.json": bare,
        "redirection.json": entries,
        "a.md": "[b](/site/en/sub/b)",
        "sub/b.md": "# B",
        "c.md": "# C",
    }
    estate = read(tmp_path, files)
    assert estate.record("d/sub/b").node.url == "/site/en/sub/b"
    assert estate.edges("d/a", EdgeType.XREF) == [("site-link", "d/sub/b")]
    assert estate.edges("d/old1", EdgeType.SUPERSEDED_BY) == [("redirection", "d/sub/b")]


def test_a_finding_stands_at_the_column_of_what_it_is_about(tmp_path):
    body = (
        "See <xref:core/instal>, then [there](gone.md).\n\n[!INCLUDE [x](../inc/gone.md)]\n\n"
        "Old: [was](old.md), and [!code-sql[](none.sql)]\n"
    )
    files = {
        "docs/core/a.md": page("core/start", body),
        "docs/core/b.md": page("core/install"),
        ".openpublishing.redirection.json": redirections(("docs/core/old.md", "/site/core/b")),
    }
    estate = site(tmp_path, files)
    assert [(found.code, found.line, found.column) for found in sorted(estate.diagnostics)] == [
        ("link_broken", 5, 38),
        ("xref_broken", 5, 11),
        ("include_missing", 7, 15),
        ("superseded_target", 9, 12),
    ]


def test_metadata_may_stand_in_files_of_its_own(tmp_path):
    configuration = json.loads(DOCFX)
    configuration["build"] |= {"globalMetadataFiles": ["meta/all.json"], "fileMetadataFiles": ["meta/some.json"]}
    files = {
        "docs/docfx.json": json.dumps(configuration),
        "docs/meta/all.json": '{"ms.service": "late", "audience": "partner"}',
        "docs/meta/some.json": '{"level": {"core/**": "advanced"}}',
        "docs/core/a.md": "# A",
        "docs/b.md": "# B",
    }
    estate = read(tmp_path, files)
    a, b = estate.record("d/docs/core/a").node, estate.record("d/docs/b").node
    assert (a.level, b.level) == ("advanced", None)
    assert (a.audience, a.products) == (("partner",), ("svc", "svc-core"))


def test_a_site_says_where_it_is_served(tmp_path):
    configuration = {
        "build": {"content": [{"files": ["**/*.md"]}], "sitemap": {"baseUrl": "https://docs.example.org/x/"}}
    }
    body = "[b](https://docs.example.org/x/b) [c](https://other.example.org/x/b) [d](/x/b)\n"
    files = {"docfx.json": json.dumps(configuration), "a.md": page("a", body), "b.md": page("b")}
    estate = read(tmp_path, files)
    assert estate.record("b").node.url == "/x/b"
    assert estate.edges("a", EdgeType.XREF) == [("docs-link", "b"), ("site-link", "b")]
    named = read(tmp_path, files | {"docfx.json": DOCFX, "cogitave-query.yml": "siteHosts: other.example.org\n"})
    assert named.edges("a", EdgeType.XREF) == [("docs-link", "/x/b"), ("site-link", "/x/b")]


def test_an_xref_map_that_the_configuration_names_is_read_whatever_it_is_called(tmp_path):
    configuration = json.loads(DOCFX)
    configuration["build"]["xref"] = ["../maps/outside.yml"]
    outside = "baseUrl: https://example.org/\nreferences:\n- uid: A.B\n  name: B\n  href: b.html\n"
    files = {"docs/docfx.json": json.dumps(configuration), "maps/outside.yml": outside, "docs/a.md": page("a", "@A.B")}
    [reference] = read(tmp_path, files).references("a", EdgeType.XREF)
    assert (reference.target_title, reference.target_extra) == ("B", {"url": "https://example.org/b.html"})


DECLARED = "products:\n- name: tool\n  title: The Tool\n  aliases: [toolkit]\nroles: [writer]\n"


def test_declared_names_stand_for_their_aliases(tmp_path):
    files = {
        "cogitave-query.yml": DECLARED,
        "docs/a.md": page("a", products="[Toolkit, tol]", roles="writer"),
        "docs/b.md": page("b", products="gadget", role="reader"),
    }
    estate = site(tmp_path, files)
    assert estate.record("a").node.products[:2] == ("tool", "tol")
    [tool, *_] = estate.references("a", EdgeType.APPLIES_TO)
    assert (tool.target_uid, tool.target_title, tool.target_aliases) == ("product:tool", "The Tool", ("toolkit",))
    assert [(f.code, f.file, f.line, f.fix) for f in sorted(estate.diagnostics)] == [
        ("unknown_product", "docs/a.md", 3, "Did you mean tool?"),
        ("unknown_product", "docs/b.md", 3, "Declare it below `products` in the estate's settings."),
        ("unknown_role", "docs/b.md", 4, "Declare it below `roles` in the estate's settings."),
    ]


def test_without_declared_names_it_is_said_once(tmp_path):
    files = {f"docs/{name}.md": page(name, products="tool", roles="writer") for name in "ab"}
    estate = site(tmp_path, files)
    assert [(f.code, f.file, f.line) for f in sorted(estate.diagnostics)] == [
        ("products_undeclared", "docs/a.md", 3),
        ("roles_undeclared", "docs/a.md", 4),
    ]
