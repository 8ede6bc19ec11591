"""Estates as writers write them, whole: what is published of each against what a person reads there."""

import json

import pytest

from service.domain.content import BlockKind
from service.domain.graph import EdgeType, NodeKind
from tests.unit.adapters.estates.estate import read, read_folder, write


def docfx(*content: object, **build: object) -> str:
    return json.dumps({"build": {"content": list(content)} | build}, indent=1)


def addresses(estate) -> dict[str, str]:
    return {r.node.path: r.node.url for r in estate.of_kind(NodeKind.PAGE)}


def targets(estate, uid: str, locale: str = "en-us") -> list[str]:
    return [target for _, target in estate.edges(uid, EdgeType.XREF, locale)]


def blocks(estate, uid: str) -> list[tuple[str, str, int]]:
    return [(s.anchor, b.text, b.line) for s in estate.record(uid).sections for b in s.blocks]


def codes(estate) -> list[tuple[str, str, int, int]]:
    return sorted((found.code, found.file, found.line, found.column) for found in estate.diagnostics)


def test_a_site_of_several_sections(tmp_path):
    content = (
        {"files": ["articles/**/*.md"], "dest": "guide"},
        {"files": ["**.md"], "src": "API\\Docs", "dest": "reference/v1"},
        {"files": ["toc.yml", "index.md"]},
        {"files": ["*.md"], "src": "./extra", "dest": "."},
    )
    files = {
        "docfx.json": docfx(*content, sitemap={"baseUrl": "https://docs.example.org"}),
        "index.md": "# Home\n\n[a](articles/a.md) [b](/guide/articles/b) [c](~/api/docs/c.md) "
        "[r](/reference/v1/c.html) [d](extra/d.md) [e](https://docs.example.org/d) [f](http://DOCS.example.org/guide/articles/a#x)\n",
        "articles/a.md": "# A\n\n[c](../api/docs/c.md#sec)\n\n## Same!\n\none\n\n## Same!\n\ntwo\n",
        "articles/b.md": "# B\n\n[a](a) [self](#top) [home](../) [mail](mailto:a@b.c) [x](//other.example.org/d)\n",
        "api/docs/c.md": "# C\n\n[up](../../articles/a.md) [below](sub/e.md)\n",
        "api/docs/sub/e.md": "# E\n",
        "extra/d.md": "# D\n",
        "toc.yml": "- name: B\n  href: articles/b.md\n  items:\n  - name: C\n    href: api/docs/c.md\n"
        "- name: H\n  href: /\n",
    }
    estate = read(tmp_path, files)
    assert addresses(estate) == {
        "index.md": "/",
        "articles/a.md": "/guide/articles/a",
        "articles/b.md": "/guide/articles/b",
        "api/docs/c.md": "/reference/v1/c",
        "api/docs/sub/e.md": "/reference/v1/sub/e",
        "extra/d.md": "/d",
    }
    a, b, c, d = "d/articles/a", "d/articles/b", "d/api/docs/c", "d/extra/d"
    assert targets(estate, "d/index") == [a, b, c, c, d, d, a]
    assert targets(estate, b) == [a, "d/index"]
    assert targets(estate, c) == [a, "d/api/docs/sub/e"]
    assert blocks(estate, a) == [("a", "c", 3), ("same", "one", 7), ("same-1", "two", 11)]
    assert estate.edges(c, EdgeType.PART_OF) == [("toc", b)]
    assert {code for code, *_ in codes(estate)} == {"orphan_page"}


def test_a_folder_of_markdown_with_indexes(tmp_path):
    files = {
        "README.md": "\ufeff# Handbook\r\n\r\n[Guide](./Guide/), [about](%C3%BCber%20uns.md), [same](<über uns.md>), "
        "[case](GUIDE/readme.md), [absolute](/Guide/README.md#set-up), [folder](/Guide), [it](/Guide/)\r\n",
        "Guide/README.md": "Without a heading.\n\n## Set up\n\n[up](..) [root](../README.md)\n",
        "Guide/old.md": "Title\n=====\n\ntext\n",
        "über uns.md": '---\ntitle: "Über: uns"\n---\n\n# Other\n\n- [x](Guide/README.md)\n  - nested\n',
        "sixteen.md": "# Sixteen\n\ntext ü\n".encode("utf-16"),
        "latin.md": "# Ü\n".encode("latin-1"),
        "empty.md": "",
        "a&b (c).md": "# Amp & (paren)\n",
        "sub/index.md": "# Index\n\n[page](page) [amp](../a&b%20(c).md) [too](<../a&b (c).md>)\n",
        "sub/page.md": "# Page\n\n[i](./) [r][r]\n\n[r]: ../README.md 'T'\n\n<a href=\"../Guide/README.md\">html</a>\n",
    }
    write(tmp_path / "d", files)
    (tmp_path / "d" / "round").symlink_to(".")
    (tmp_path / "d" / "out.md").symlink_to("/etc/hostname")
    estate = read_folder(tmp_path / "d")
    assert {r.node.path: r.node.title for r in estate.records} == {
        "README.md": "Handbook",
        "Guide/README.md": "Guide",
        "Guide/old.md": "Title",
        "über uns.md": "Über: uns",
        "sixteen.md": "Sixteen",
        "empty.md": "empty",
        "a&b (c).md": "Amp & (paren)",
        "sub/index.md": "Index",
        "sub/page.md": "Page",
    }
    guide = "d/Guide/README"
    assert estate.edges("d/README", EdgeType.XREF) == [
        ("relative-link", guide),
        ("relative-link", "d/über uns"),
        ("site-link", guide),
    ]
    assert targets(estate, guide) == ["d/README"]
    assert targets(estate, "d/sub/index") == ["d/sub/page", "d/a&b (c)"]
    assert targets(estate, "d/sub/page") == ["d/sub/index", "d/README", guide]
    assert blocks(estate, "d/sixteen") == [("sixteen", "text ü", 3)]
    assert codes(estate) == [
        ("file_not_utf8", "latin.md", 1, 1),
        ("folder_link", "round", 1, 1),
        ("path_outside_estate", "out.md", 1, 1),
    ]


def test_includes_within_includes_and_tabs_within_those(tmp_path):
    files = {
        "docfx.json": docfx({"files": ["**/*.md"], "exclude": ["_shared/**"]}),
        "a/p.md": "---\nuid: p\n---\n# P\n\n[!INCLUDE [x](../_shared/one.md)]\n\n"
        "Inline [!INCLUDE [y](../_shared/word.md)] here.\n\n- item\n\n  [!INCLUDE [x](../_shared/list.md)]\n\n- last\n"
        "\n> [!NOTE]\n> [!INCLUDE [n](../_shared/word.md)]\n\n| a | b |\n|--|--|\n| [!INCLUDE [w](../_shared/word.md)] "
        "| [q](../q.md) |\n\n## [Tab A](#tab/a)\n\nA text\n\n"
        "## [Tab B](#tab/b/x)\n\n[!INCLUDE [x](../_shared/tabs.md)]\n\n---\n\n[!INCLUDE[](~/_shared/two.md)]\n",
        "q.md": "# Q\n",
        "_shared/one.md": "---\nx: y\n---\nOne with [q](../q.md).\n\n## Within\n\n[!INCLUDE [t](deep/two.md)]\n",
        "_shared/deep/two.md": "Two: [q](../../q.md) <xref:p>\n\n[!INCLUDE [back](../one.md)]\n",
        "_shared/two.md": "Tilde [q](~/q.md)\n",
        "_shared/word.md": "a *word* with [q](../q.md)\n",
        "_shared/list.md": "1. first\n1. second\n",
        "_shared/tabs.md": "# [In X](#tab/x)\n\nx\n\n# [In Y](#tab/y)\n\ny\n\n***\n",
    }
    estate = read(tmp_path, files)
    assert [(anchor, text) for anchor, text, _ in blocks(estate, "p")] == [
        ("p", "One with q."),
        ("within", "Two: q P"),
        ("within", "Inline a word with q here."),
        ("within", "- item\n  1. first\n  2. second\n- last"),
        ("within", "Note: a word with q"),
        ("within", "a | b\na word with q | q"),
        ("within", "Tab A:"),
        ("within", "A text"),
        ("within", "Tab B:"),
        ("within", "In X:"),
        ("within", "x"),
        ("within", "In Y:"),
        ("within", "y"),
        ("within", "Tilde q"),
    ]
    assert estate.edges("p", EdgeType.XREF)[0] == ("relative-link", "d/q")
    assert [target for _, target in estate.edges("p", EdgeType.DERIVED_FROM)] == [
        f"d/_shared/{name}" for name in ("one", "deep/two", "word", "list", "tabs", "two")
    ]
    assert [found for found in codes(estate) if found[0] != "orphan_page"] == [
        ("include_cycle", "_shared/deep/two.md", 3, 18)
    ]


def test_a_module_whose_units_are_shared(tmp_path):
    def learn(mime: str, **fields: object) -> str:
        return f"### YamlMime:{mime}\n" + "".join(f"{name}: {json.dumps(value)}\n" for name, value in fields.items())

    unit = "### YamlMime:ModuleUnit\nuid: m1.a\ntitle: A\ncontent: |\n  [!include[](includes/1-a.md)]\n"
    text = (
        '::: zone pivot="cli"\n\n## With CLI\n\nRun it.\n\n::: zone-end\n\n::: zone pivot="portal,cli"\n\n'
        "[back](../2-shared.yml)\n\n::: zone-end\n\n[!include[](./nested/deep.md)]\n"
    )
    question = {
        "content": "What is `x`?",
        "choices": [
            {"content": "One", "isCorrect": False, "explanation": "No."},
            {"content": "Two", "isCorrect": True, "explanation": "Yes."},
        ],
    }
    files = {
        "p1/index.yml": learn("LearningPath", uid="p1", title="P1", modules=["m1", "m2"]),
        "p2/index.yml": learn("LearningPath", uid="p2", title="P2", modules=["m2", "m1", "nope"]),
        "m1/index.yml": learn(
            "Module",
            uid="m1",
            title="M1",
            abstract="- Learn x\n",
            prerequisites="- [M2](/training/modules/m2/)\n- Learn z\n",
            units=["m1.a", "shared"],
        ),
        "m2/index.yml": learn("Module", uid="m2", title="M2", abstract="- Learn z\n", units=["shared", "m2.q"]),
        "m1/1-a.yml": unit,
        "m1/2-shared.yml": learn("ModuleUnit", uid="shared", title="Shared", content="[!include[](includes/gone.md)]"),
        "m1/includes/1-a.md": text,
        "m1/includes/nested/deep.md": "---\nx: y\n---\nDeep [m2](../../../m2/index.yml) and [gone](../gone.md).\n",
        "m2/3-q.yml": learn("ModuleUnit", uid="m2.q", title="Q", quiz={"title": "Check", "questions": [question]}),
        "pivots.yml": "### YamlMime:ZonePivotGroups\ngroups:\n- id: g\n  pivots:\n  - {id: cli, title: The CLI}\n",
    }
    estate = read(tmp_path, files)
    assert [(r.target_uid, r.ordinal) for r in estate.references("shared", EdgeType.PART_OF)] == [("m1", 2), ("m2", 1)]
    assert [(r.target_uid, r.ordinal) for r in estate.references("m1", EdgeType.PART_OF)] == [("p1", 1), ("p2", 2)]
    assert estate.edges("m1", EdgeType.DEPENDS_ON) == [("prerequisites", "m2"), ("prerequisites", "skill:learn z")]
    assert blocks(estate, "m1.a") == [
        ("", "The CLI:", 1),
        ("with-cli", "Run it.", 5),
        ("with-cli", "portal, The CLI:", 9),
        ("with-cli", "back", 11),
        ("with-cli", "Deep m2 and gone.", 4),
    ]
    assert targets(estate, "m1.a") == ["shared", "m2"]
    [quiz] = [b for s in estate.record("m2.q").sections for b in s.blocks]
    assert (quiz.kind, quiz.text) == (BlockKind.QUIZ, "What is `x`?\n- One (incorrect): No.\n- Two (correct): Yes.")
    assert codes(estate) == [
        ("include_missing", "m1/2-shared.yml", 4, 23),
        ("link_broken", "m1/includes/nested/deep.md", 4, 45),
        ("member_missing", "p2/index.yml", 4, 23),
    ]


def test_versions_and_addresses_in_githubs_manner(tmp_path):
    text = (
        "---\ntitle: Quick\nversions:\n  ghes: '>= 3.9 < 3.12'\n---\n[a](/enterprise-server@3.9/start) [b](/start/)\n\n"
        "{% ifversion ghes < 3.10 %}\n## Old way\n\nOld.\n{% endif %}\n"
    )
    files = {
        "content/quick.md": text,
        "content/start.md": "---\ntitle: Start\nversions:\n  ghes: '*'\n  feature: foo\nredirect_from:\n - /old\n---\n",
        "data/features/foo.yml": "versions:\n  ghec: '*'\n",
    }
    estate = read(tmp_path, files)
    quick = estate.record("d/content/quick")
    assert quick.node.moniker_range == ">=ghes-3.9 <ghes-3.12"
    assert targets(estate, "d/content/quick") == ["d/content/start"]
    assert quick.sections[-1].moniker_range == ">=ghes-3.9 <ghes-3.10"
    assert estate.record("d/content/start").node.moniker_range == ">=ghes || >=ghec"
    assert estate.diagnostics == ()


@pytest.mark.parametrize("rule", ["---\n\n# A\n", "---\nJust text.\n\n# A\n", "---\nNote that: it is text.\n\n# A\n"])
def test_a_rule_at_the_top_is_no_front_matter(tmp_path, rule):
    assert read(tmp_path, {"a.md": rule}).diagnostics == ()


def test_a_front_matter_that_is_never_closed_is_reported(tmp_path):
    estate = read(tmp_path, {"a.md": "---\ntitle: Never closed\nms.topic: x\n\n# A\n\ntext\n"})
    assert codes(estate) == [("front_matter_invalid", "a.md", 1, 1)]
    assert estate.record("d/a").node.title == "A"
