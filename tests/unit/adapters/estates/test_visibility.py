"""Who may see what is read: the estate's own rules, and that nothing tells of a page to those who may not see it."""

import pytest

from adapters.estates import ReadingRules, reader_for
from service.domain.content import NodeRecord
from service.domain.diagnostics import EstateRefused
from service.domain.graph import EdgeType, NodeKind
from service.publishing.estates import read_estates
from service.publishing.linking import link
from tests.unit.adapters.estates.estate import read, write
from tests.unit.adapters.estates.test_docfx import DOCFX, page, redirections

RULES = """visibility:
  rules:
  - files: ["docs/internal/**"]
    visibleTo: [staff]
  - audience: [partner]
    visibleTo: [partners, staff]
  - metadata:
      classification: [secret]
    visibleTo: [legal]
"""
ADAPTERS = {"docs/docfx.json": DOCFX}


def site(tmp_path, files, rules=RULES):
    return read(tmp_path, ADAPTERS | {"cogitave-query.yml": rules} | files)


def visible(estate, uid):
    return estate.record(uid).node.visible_to


def test_without_settings_everyone_sees_everything(tmp_path):
    estate = read(tmp_path, ADAPTERS | {"docs/a.md": page("a", audience="partner")})
    assert visible(estate, "a") == ("*",)


def test_folder_audience_and_front_matter_decide(tmp_path):
    files = {
        "docs/open.md": page("open"),
        "docs/internal/x.md": page("x"),
        "docs/p.md": page("p", audience="Partner"),
        "docs/s.md": page("s", Classification="SECRET"),
        "docs/listed.md": "---\nuid: listed\naudience: [customer, partner]\n---\n",
    }
    estate = site(tmp_path, files)
    assert {uid: visible(estate, uid) for uid in ("open", "x", "p", "s", "listed")} == {
        "open": ("*",),
        "x": ("staff",),
        "p": ("partners", "staff"),
        "s": ("legal",),
        "listed": ("partners", "staff"),
    }


def test_of_several_rules_all_must_let_a_reader_in(tmp_path):
    files = {
        "docs/internal/p.md": page("p", audience="partner"),
        "docs/internal/s.md": page("s", classification="secret"),
    }
    estate = site(tmp_path, files)
    assert visible(estate, "p") == ("staff",)
    assert estate.found("visibility_nobody") == [("docs/internal/s.md", 1)]
    assert [record.node.identity.uid for record in estate.records] == ["p"]


def test_a_default_is_for_the_pages_that_no_rule_names(tmp_path):
    rules = "visibility:\n  default: staff\n  rules:\n  - files: 'docs/public/**'\n    visibleTo: '*'\n"
    estate = site(tmp_path, {"docs/a.md": page("a"), "docs/public/b.md": page("b")}, rules)
    assert (visible(estate, "a"), visible(estate, "b")) == (("staff",), ("*",))


def test_a_rule_holds_where_all_its_conditions_do(tmp_path):
    rules = "visibility:\n  rules:\n  - files: docs/a/**\n    audience: partner\n    visibleTo: partners\n"
    files = {
        "docs/a/x.md": page("x", audience="partner"),
        "docs/a/y.md": page("y"),
        "docs/z.md": page("z", audience="partner"),
    }
    estate = site(tmp_path, files, rules)
    assert [visible(estate, uid) for uid in "xyz"] == [("partners",), ("*",), ("*",)]


def test_defaults_of_the_site_count_as_the_pages_own(tmp_path):
    docfx = DOCFX.replace('"fileMetadata": {', '"fileMetadata": {"audience": {"core/**": "partner"},')
    estate = site(tmp_path, {"docs/docfx.json": docfx, "docs/core/a.md": page("a"), "docs/b.md": page("b")})
    assert (visible(estate, "a"), visible(estate, "b")) == (("partners", "staff"), ("*",))


@pytest.mark.parametrize(
    "text",
    [
        "---\nuid: a\naudience: [partner\n---\n# A\n",
        "---\nuid: a\naudience: partner\n# never closed\n",
        "---\nuid: a\naudience:\n  of: partner\n---\n# A\n",
        "---\nuid: a\nclassification:\n- level: secret\n---\n# A\n",
    ],
)
def test_a_page_whose_metadata_cannot_be_compared_is_left_out(tmp_path, text):
    estate = site(tmp_path, {"docs/a.md": text, "docs/b.md": page("b")})
    assert estate.found("visibility_undecidable") == [("docs/a.md", 1)]
    assert [record.node.identity.uid for record in estate.records] == ["b"]


def test_where_folders_alone_decide_a_broken_front_matter_hides_nothing(tmp_path):
    rules = "visibility:\n  rules:\n  - files: docs/internal/**\n    visibleTo: staff\n"
    estate = site(tmp_path, {"docs/internal/a.md": "---\ntitle: [\n---\n# A\n"}, rules)
    assert [record.node.visible_to for record in estate.records] == [("staff",)]


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("visibilty:\n  default: staff\n", 2, "Did you mean visibility?"),
        ("visibility:\n  rules:\n  - files: a/**\n    visible_to: staff\n", 4, "Did you mean visibleTo?"),
        ("visibility:\n  rules:\n  - files: a/**\n", 3, "Name the classes"),
        ("visibility:\n  rules:\n  - visibleTo: staff\n", 3, "Give it files"),
        ("visibility:\n  rules:\n  - files: '[ab]/**'\n    visibleTo: staff\n", 3, "folder/**"),
        ("visibility:\n  rules:\n  - files: ../x/**\n    visibleTo: staff\n", 3, "folder/**"),
        ("visibility:\n  rules:\n  - files: a/**\n    visibleTo: []\n", 4, "Write one"),
        ("visibility:\n  rules:\n  - files: a/**\n    visibleTo: staff, partners\n", 4, "as a list"),
        ("visibility:\n  rules:\n  - files: {a: b}\n    visibleTo: staff\n", 3, "Write one"),
        ("visibility:\n  rules: staff\n", 2, "Begin each entry"),
        ("visibility:\n  default: ~\n", 2, "Write one"),
        ("visibility: staff\n", 1, "a colon"),
        ("visibility:\n", 1, "a colon"),
        ("visibility:\n  default: a\n  default: '*'\n", 3, "Keep one"),
        ("- visibility\n", 1, "a colon"),
        ("visibility: [\n", 1, "Correct the YAML."),
        ("products:\n- name: a\n- A\n", 3, "stand once"),
        ("a: &a [x, x]\nb: &b [" + "*a, " * 2_000 + "]\nc: [" + "*b, " * 500 + "]\n", 3, "Correct the YAML."),
    ],
)
def test_settings_that_cannot_be_understood_refuse_the_estate(tmp_path, text, line, said):
    root = write(tmp_path, ADAPTERS | {"cogitave-query.yml": text, "docs/a.md": page("a")})
    with pytest.raises(EstateRefused) as refused:
        list(reader_for(root, ReadingRules()).read(root, "d"))
    found = [found for found in refused.value.diagnostics if found.line == line and said in found.fix]
    assert [(found.code, found.file) for found in found] == [("estate_settings_invalid", "cogitave-query.yml")]


@pytest.mark.parametrize("place", ["docs/cogitave-query.yml", "docs/deep/Cogitave-Query.YAML"])
def test_settings_that_lie_elsewhere_refuse_the_estate_too(tmp_path, place):
    root = write(tmp_path, ADAPTERS | {place: RULES, "docs/a.md": page("a")})
    with pytest.raises(EstateRefused) as refused:
        list(reader_for(root, ReadingRules()).read(root, "d"))
    assert refused.value.diagnostics[0].file == place


def test_a_part_of_an_estate_with_settings_is_not_published_without_them(tmp_path):
    root = write(tmp_path / "estate", ADAPTERS | {"cogitave-query.yml": RULES, "docs/internal/a.md": page("a")})
    with pytest.raises(EstateRefused) as refused:
        list(reader_for(root / "docs" / "internal", ReadingRules()).read(root / "docs" / "internal", "d"))
    assert str(root) in refused.value.diagnostics[0].message
    own = read(root / "docs" / "internal", {"cogitave-query.yml": "visibility:\n  default: staff\n"})
    assert [record.node.visible_to for record in own.records] == [("staff",)]


def test_settings_too_large_or_out_of_the_estate_refuse_it(tmp_path):
    (tmp_path / "elsewhere.yml").write_text(RULES)
    linked = write(tmp_path / "linked", {"a.md": "# A"})
    (linked / "cogitave-query.yml").symlink_to(tmp_path / "elsewhere.yml")
    large = write(tmp_path / "large", {"a.md": "# A", "cogitave-query.yml": "#" * 300_000})
    for root, code in ((linked, "path_outside_estate"), (large, "file_too_large")):
        with pytest.raises(EstateRefused) as refused:
            list(reader_for(root, ReadingRules()).read(root, "d"))
        assert [found.code for found in refused.value.diagnostics] == [code]


def test_a_broken_configuration_refuses_an_estate_whose_rules_ask_for_metadata(tmp_path):
    root = write(tmp_path, {"docs/docfx.json": "{", "cogitave-query.yml": RULES, "docs/a.md": page("a")})
    with pytest.raises(EstateRefused):
        list(reader_for(root, ReadingRules()).read(root, "d"))


def test_a_refused_estate_is_not_read_as_empty(tmp_path):
    good = write(tmp_path / "good", {"a.md": "# A"})
    bad = write(tmp_path / "bad", {"b.md": "# B", "cogitave-query.yml": "visibility: {}"})
    rules = ReadingRules()
    reading = read_estates([str(good), str(bad)], [reader_for(good, rules)])
    assert reading.docsets == {"good"}
    assert [(found.code, found.file) for found in reading.diagnostics] == [
        ("estate_settings_invalid", "bad/cogitave-query.yml")
    ]


# What is made of pages


def test_a_unit_is_no_more_visible_than_the_modules_that_hold_it(tmp_path):
    def module(uid, audience, *units):
        listed = "".join(f"- {unit}\n" for unit in units)
        return f"### YamlMime:Module\nuid: {uid}\ntitle: {uid}\nmetadata:\n  audience: {audience}\nunits:\n{listed}"

    def unit(uid):
        return f"### YamlMime:ModuleUnit\nuid: {uid}\ntitle: {uid}\n"

    files = {
        "one/index.yml": module("one", "partner", "u1", "shared"),
        "two/index.yml": module("two", "all", "u2", "shared"),
        "bad/index.yml": module("bad", "[{of: partner}]", "u3"),
        **{f"units/{uid}.yml": unit(uid) for uid in ("u1", "u2", "u3", "shared", "alone")},
    }
    estate = read(tmp_path, {"cogitave-query.yml": RULES} | files)
    found = {record.node.identity.uid: record.node.visible_to for record in estate.records}
    assert found == {
        "one": ("partners", "staff"),
        "two": ("*",),
        "u1": ("partners", "staff"),
        "u2": ("*",),
        "shared": ("*",),
    }
    assert estate.found("visibility_undecidable") == [("bad/index.yml", 1), ("units/alone.yml", 1)]
    assert estate.found("visibility_nobody") == [("units/u3.yml", 1)]


def test_a_title_stands_only_where_all_readers_may_see_its_page(tmp_path):
    body = "<xref:secret> [](xref:secret) [own words](xref:secret) @secret [AUTOTITLE](/site/internal/s)"
    files = {
        "docs/a.md": page("a", body),
        "docs/internal/b.md": page("b", body),
        "docs/internal/s.md": page("secret", title="Project Falcon"),
    }
    estate = site(tmp_path, files)
    assert "Falcon" not in repr(estate.record("a").as_json())
    assert estate.record("b").sections[0].blocks[0].text.count("Project Falcon") == 4
    assert [target for _, target in estate.edges("a", EdgeType.XREF)] == ["secret"] * 3


def test_a_redirected_page_shows_to_those_who_may_see_where_it_led(tmp_path):
    files = {
        "docs/internal/s.md": page("s", title="Project Falcon"),
        "docs/a.md": page("a"),
        ".openpublishing.redirection.json": redirections(
            ("docs/falcon.md", "/site/internal/s"),
            ("docs/older-falcon.md", "/site/falcon"),
            ("docs/internal/was.md", "/site/a"),
            ("docs/old.md", "/site/a"),
            ("docs/away.md", "https://example.org/x"),
            ("docs/internal/loop.md", "/site/internal/loop"),
        ),
    }
    estate = site(tmp_path, files)
    retired = {record.node.path: record.node.visible_to for record in estate.of_kind(NodeKind.RETIRED)}
    assert retired == {
        "docs/falcon.md": ("staff",),
        "docs/older-falcon.md": ("staff",),
        "docs/internal/was.md": ("staff",),
        "docs/old.md": ("*",),
        "docs/away.md": ("*",),
        "docs/internal/loop.md": ("staff",),
    }


def test_a_group_of_the_toc_shows_to_whoever_sees_a_page_in_it(tmp_path):
    toc = (
        "- name: Mixed\n  items:\n  - name: Hidden\n    items:\n    - name: X\n      href: internal/x.md\n"
        "  - name: A\n    href: a.md\n- name: Links\n  items:\n  - name: Out\n    href: https://example.org\n"
    )
    estate = site(tmp_path, {"docs/toc.yml": toc, "docs/a.md": page("a"), "docs/internal/x.md": page("x")})
    assert {record.node.title: record.node.visible_to for record in estate.of_kind(NodeKind.TOPIC)} == {
        "Mixed": ("*",),
        "Hidden": ("staff",),
        "Links": ("*",),
    }


def test_a_sample_belongs_to_the_readers_of_its_page(tmp_path):
    code = "```python\na = 1\nb = 2\nc = 3\n```\n\n[!code-python[](~/x.py)]\n"
    files = {
        "docs/internal/first.md": page("first", code, title="Project Falcon"),
        "docs/second.md": page("second", code, title="Second"),
        "docs/x.py": "print(1)\n",
    }
    estate = site(tmp_path, files)
    samples = {
        (record.node.title, record.node.visible_to, record.node.url) for record in estate.of_kind(NodeKind.CODE_SAMPLE)
    }
    assert samples == {
        ("Project Falcon", ("staff",), "/site/internal/first"),
        ("Second", ("*",), "/site/second"),
        ("x.py", ("staff",), "/site/internal/first"),
        ("x.py", ("*",), "/site/second"),
    }
    own = {uid for _, uid in estate.edges("first", EdgeType.IMPLEMENTED_BY)}
    shared = {uid for _, uid in estate.edges("second", EdgeType.IMPLEMENTED_BY)}
    known = {record.node.identity.uid for record in estate.of_kind(NodeKind.CODE_SAMPLE)}
    assert own | shared == known
    assert not own & shared


@pytest.mark.parametrize("reader", [frozenset({"*"}), frozenset({"*", "partners"}), frozenset({"*", "staff"})])
def test_the_graph_that_a_reader_sees_tells_of_no_page_that_it_may_not(tmp_path, reader):
    """Every word of the restricted pages is marked: none may stand on a node, or an edge between nodes, that shows."""
    secret = page(
        "zz-uid",
        "# zz\n\n[zz link](xref:Shared.Type) <xref:Only.zz> [zz](https://github.com/o/zz-samples)\n\n"
        "[!INCLUDE [](zz-inc.md)]\n",
        title="zz title",
        description="zz",
        products="[shared, zz-product]",
        roles="[ZZ-Shared-Role]",
    )
    shared = page(
        "open",
        "[](xref:zz-uid) <xref:zz-uid> [x](internal/zz.md) <xref:Shared.Type> [old](zz-old.md)",
        products="[shared]",
        roles="[zz-shared-role]",
    )
    files = {
        "docs/internal/zz.md": secret,
        "docs/internal/zz-inc.md": "zz words",
        "docs/open.md": shared.replace("zz-shared-role", "reader"),
        "docs/toc.yml": "- name: All\n  items:\n  - name: zz\n    items:\n    - name: zz\n      href: internal/zz.md\n"
        "  - name: Open\n    href: open.md\n",
        ".openpublishing.redirection.json": redirections(("docs/zz-old.md", "/site/internal/zz")),
    }
    estate = site(tmp_path, files)
    graph = link([r for r in estate.records if isinstance(r, NodeRecord)], default_locale="en-us")
    shown = {identity: node for identity, node in graph.nodes.items() if reader & set(node.visible_to)}
    edges = [edge for edge in graph.edges if edge.source in shown and edge.target in shown]
    told = repr((shown, edges))
    if "staff" in reader:
        assert told.count("zz") > 10
    else:
        assert "zz" not in told
        assert {identity.uid for identity in shown} >= {"open", "product:shared", "Shared.Type"}
