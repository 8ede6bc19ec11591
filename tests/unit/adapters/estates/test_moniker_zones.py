"""Moniker zones: what stands in one is for the versions that zone and page share."""

import json

import pytest

from service.domain.graph import EdgeType, NodeKind
from tests.unit.adapters.estates.estate import read

VERSIONS = "---\nuid: all\nmonikerRange: net-6.0 || net-7.0 || net-8.0 || net-9.0\n---\n# All\n"


def page(body: str, versions: str | None = ">=net-7.0 <net-9.0") -> str:
    head = "---\nuid: p\n" + (f"monikerRange: '{versions}'\n" if versions else "") + "---\n# P\n\n"
    return head + body


def zone(expression: str, body: str = "Inside.") -> str:
    return f'::: moniker range="{expression}"\n\n{body}\n\n::: moniker-end\n'


def estate_of(tmp_path, body, versions=">=net-7.0 <net-9.0", **files):
    build = {"content": [{"files": ["**/*.md"], "exclude": ["inc/**"]}]}
    texts = {"docfx.json": json.dumps({"build": build}), "all.md": VERSIONS, "p.md": page(body, versions)}
    return read(tmp_path, texts | {name.replace("__", "/") + ".md": text for name, text in files.items()})


def texts(estate):
    return [(s.moniker_range, [b.text for b in s.blocks]) for s in estate.record("p").sections if s.blocks]


def versions(estate) -> list[str]:
    return [target for via, target in estate.edges("p", EdgeType.APPLIES_TO) if via == "moniker-zone"]


@pytest.mark.parametrize(
    ("expression", "shown", "monikers"),
    [
        ("net-8.0", "net-8.0", ["net-8.0"]),
        (">=net-8.0", ">=net-8.0 <net-9.0", ["net-8.0"]),
        ("<=net-7.0", ">=net-7.0 <=net-7.0", ["net-7.0"]),
        ("net-6.0 || net-7.0", "net-7.0", ["net-7.0"]),
        (">=net-6.0", ">=net-7.0 <net-9.0", ["net-7.0", "net-8.0"]),
        (">=net-7.0 <net-9.0", ">=net-7.0 <net-9.0", ["net-7.0", "net-8.0"]),
    ],
)
def test_a_zone_is_cut_to_its_pages_range(tmp_path, expression, shown, monikers):
    estate = estate_of(tmp_path, zone(expression))
    assert texts(estate) == [(shown, ["Inside."])]
    assert versions(estate) == [f"moniker:{name}" for name in monikers]
    assert not [found for found in estate.diagnostics if found.code.startswith("moniker")]


def test_what_stands_in_a_zone_for_no_version_of_the_page_is_nowhere(tmp_path):
    code = "\n".join(f"line {n}" for n in range(20))
    inside = (
        "## Heading\n\nText with [a link](all.md) and <xref:all>.\n\n- item\n\n> quote\n\n| a | b |\n|---|---|\n"
        f'| c | d |\n\n```sql\n{code}\n```\n\n<p>html</p>\n\n[!INCLUDE [i](inc/i.md)]\n\n:::zone pivot="x"\n\n'
    )
    estate = estate_of(tmp_path, "Before.\n\n" + zone(">=net-9.0", inside) + "\nAfter.\n", inc__i="Included.")
    assert texts(estate) == [(None, ["Before.", "After."])]
    assert [section.heading for section in estate.record("p").sections] == ["P"]
    assert estate.of_kind(NodeKind.CODE_SAMPLE) == []
    assert {reference.via for reference in estate.record("p").references} == {"monikerRange"}
    [found] = [found for found in estate.diagnostics if found.code == "moniker_zone_empty"]
    assert (found.file, found.line, found.column) == ("p.md", 9, 20)


def test_the_list_around_a_zone_goes_on_after_it(tmp_path):
    estate = estate_of(tmp_path, f"- one\n\n  {zone('net-9.0').replace(chr(10), chr(10) + '  ')}\n- two\n")
    assert [line.strip() for _, blocks in texts(estate) for text in blocks for line in text.split("\n")] == [
        "- one",
        "- two",
    ]


def test_a_zone_within_a_zone_is_cut_to_both(tmp_path):
    inner = zone("net-8.0 || net-9.0", "Both.")
    estate = estate_of(tmp_path, zone(">=net-8.0", f"Outer.\n\n{inner}\n\nOuter again."), versions=">=net-7.0")
    assert texts(estate) == [
        (">=net-8.0", ["Outer."]),
        ("net-8.0 || net-9.0", ["Both."]),
        (">=net-8.0", ["Outer again."]),
    ]
    estate = estate_of(tmp_path, zone(">=net-8.0", zone("net-7.0", "Never.")), versions=">=net-7.0")
    assert texts(estate) == []
    assert len(estate.found("moniker_zone_empty")) == 1


def test_an_include_for_several_versions_is_no_mistake(tmp_path):
    both = zone("net-6.0", "Six.") + "\n" + zone("net-8.0", "Eight.")
    estate = estate_of(tmp_path, "[!INCLUDE [i](inc/i.md)]", inc__i=both)
    assert texts(estate) == [("net-8.0", ["Eight."])]
    assert estate.found("moniker_zone_empty") == []


def test_a_page_without_a_range_has_its_zones_as_they_are(tmp_path):
    assert texts(estate_of(tmp_path, zone("net-6.0"), versions=None)) == [("net-6.0", ["Inside."])]


def test_the_sites_default_range_cuts_as_the_pages_own_does(tmp_path):
    build = {"content": [{"files": ["**/*.md"]}], "globalMetadata": {"monikerRange": ">=net-8.0"}}
    files = {"docfx.json": json.dumps({"build": build}), "p.md": page(zone("net-7.0") + zone("<=net-8.0"), None)}
    estate = read(tmp_path, files)
    assert texts(estate) == [(">=net-8.0 <=net-8.0", ["Inside."])]


def test_a_range_that_cant_be_read_cuts_nothing(tmp_path):
    assert texts(estate_of(tmp_path, zone("net-6.0"), versions=">= || x")) == [("net-6.0", ["Inside."])]
    estate = estate_of(tmp_path, zone("a b ||"))
    assert texts(estate) == [("a b ||", ["Inside."])]
    assert estate.found("moniker_range_invalid") == [("p.md", 7)]


def test_conditions_of_versions_are_cut_to_the_pages_versions(tmp_path):
    text = (
        "---\ntitle: P\nversions:\n  ghes: '>=3.9 <3.12'\n---\n# P\n\n{% ifversion ghes > 3.10 %}\n\nNew.\n\n{% else %}"
        "\n\nOld.\n\n{% endif %}\n\n{% ifversion fpt %}\n\nElsewhere.\n\n{% endif %}\n"
    )
    estate = read(tmp_path, {"content/p.md": text})
    assert [(s.moniker_range, [b.text for b in s.blocks]) for s in estate.record("d/content/p").sections] == [
        (None, []),
        (">ghes-3.10 <ghes-3.12", ["New."]),
        (None, ["Old."]),
    ]
    assert estate.found("moniker_zone_empty") == [("content/p.md", 18)]
