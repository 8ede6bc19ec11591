"""What a caller's profile does to an order, on estates in the formats' own markup and in the real embedded application.

Every subject has three texts that say the same, so both legs rank them next to one another in the order of their uids:
1, 61/62 and 61/63 of the best score. So one match, 1.02, lifts a page past one neighbour (1.02 · 61/62 > 1 and
1.02 · 61/63 < 1), 1.05 lifts it past two, and 0.9 or less puts it behind both.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import pytest

from service.domain.results import Hit
from service.settings import Settings
from tests.application import Application, running, write_estate

DOCFX = {
    "build": {
        "content": [{"files": ["**/*.md"], "exclude": ["net/**"]}, {"files": ["net/**/*.md"], "group": "net"}],
        "globalMetadata": {"ms.topic": "concept-article"},
        "fileMetadata": {
            "monikerRange": {"old/**/*.md": "<=net-maui-7.0"},
            "roles": {"operations/**/*.md": ["administrator"]},
        },
        "groups": {"net": {"moniker_range": ">=net-maui-10.0"}},
    }
}

REDIRECTIONS = {
    "redirections": [
        {"source_path": "docs/copper-kettle.md", "redirect_url": "/site/kettle/b"},
        {"source_path": "docs/kettle-round-one.md", "redirect_url": "/site/kettle-round-two"},
        {"source_path": "docs/kettle-round-two.md", "redirect_url": "/site/kettle-round-one"},
    ]
}


def page(uid: str, title: str, body: str, **metadata: str) -> str:
    lines = "".join(f"{name}: {value}\n" for name, value in metadata.items())
    return f"---\ntitle: {title}\nuid: {uid}\n{lines}---\n\n# {title}\n\n{body}\n"


SUBJECTS: dict[str, tuple[str, str, dict[str, dict[str, str]]]] = {
    "carousel": (
        "Swipe through a carousel",
        "A carousel shows photographs that people swipe through.",
        {
            "docs/a.md": {"monikerRange": "'>=net-maui-9.0'"},
            "docs/b.md": {"monikerRange": "=net-maui-8.0"},
            "docs/c.md": {},
        },
    ),
    "shell": (
        "Navigate with a flyout shell",
        "The shell gathers tabs and flyouts of an application in one place.",
        {"docs/net/a.md": {}, "docs/old/b.md": {}, "docs/c.md": {}},
    ),
    "middleware": (
        "Order of the middleware",
        "Requests run through each middleware in turn, and answers run back.",
        {
            "docs/a.md": {"monikerRange": "'>=aspnetcore-3.1 <=aspnetcore-8.0 || net-maui-8.0'"},
            "docs/b.md": {"monikerRange": "'>=aspnetcore-9.0'"},
            "docs/c.md": {},
        },
    ),
    "tides": (
        "Read the tide tables",
        "High water follows the moon by fifty minutes a day.",
        {"docs/a.md": {"roles": "[developer, student]"}, "docs/b.md": {}, "docs/operations/c.md": {}},
    ),
    "harbour": (
        "Moor in the harbour",
        "Two lines at the bow and two at the stern hold a boat along the quay.",
        {"docs/a.md": {"audience": "[sailor]"}, "docs/b.md": {"ms.audience": "pilot"}, "docs/c.md": {}},
    ),
    "vineyard": (
        "Prune a vineyard",
        "Old wood bears no grapes: cut each cane back to two buds in winter.",
        {"docs/a.md": {"region": "[eu, uk]"}, "docs/b.md": {}, "docs/c.md": {"ms.region": "us"}},
    ),
    "violin": (
        "Hold the bow of a violin",
        "The thumb bends under the frog while the little finger balances on top.",
        {
            "docs/a.md": {"level": "advanced"},
            "docs/b.md": {"level": "intermediate"},
            "docs/c.md": {"level": "beginner"},
        },
    ),
    "glacier": (
        "Cross a glacier",
        "Probe the snow bridge with an axe before anyone of the rope steps on it.",
        {
            "docs/a.md": {"roles": "[guide]", "level": "advanced", "monikerRange": "'>=rope-2.0'"},
            "docs/b.md": {"roles": "[guide]", "audience": "[alpinist]", "region": "[alps]"},
            "docs/c.md": {"roles": "[guide]", "audience": "[alpinist]", "region": "[alps]", "level": "beginner"},
        },
    ),
    "kettle": (
        "Descale a kettle",
        "Boil vinegar, let it stand for an hour and rinse twice.",
        {"docs/a.md": {"ms.date": "01/15/2010"}, "docs/b.md": {}, "docs/c.md": {"ms.date": "11/01/2026"}},
    ),
    "lantern": (
        "Trim the wick of a lantern",
        "Cut the burnt edge square; a ragged wick smokes.",
        {"docs/a.md": {}, "docs/b.md": {}, "docs/c.md": {}},
    ),
}
"""Subject → title, text, and for each of its pages a, b and c where it stands and its front matter."""

SITE = {
    "docs/docfx.json": json.dumps(DOCFX),
    ".openpublishing.redirection.json": json.dumps(REDIRECTIONS),
    "docs/oil.md": page("oil", "Choose lamp oil", "See [trimming](lantern/c.md). Paraffin burns clean."),
    "docs/wicks.md": page("wicks", "Weave cotton", "See [trimming](lantern/b.md). Cotton is woven flat."),
    "docs/island.md": page("island", "An island", "No link leads here, and none away."),
    **{
        f"{place.rpartition('/')[0]}/{subject}/{place.rpartition('/')[2]}": page(
            f"{subject}.{place[-4]}", title, text, **metadata
        )
        for subject, (title, text, members) in SUBJECTS.items()
        for place, metadata in members.items()
    },
}


def module(uid: str, unit: str, *, prerequisites: str = "None", teaches: str = "", more: str = "") -> str:
    return (
        f"### YamlMime:Module\nuid: {uid}\ntitle: The module {uid}\nabstract: |\n  In this module you will:\n{teaches}"
        f"prerequisites: |\n  {prerequisites}\n{more}units:\n- {unit}\n"
    )


def unit(uid: str, title: str, text: str, more: str = "") -> str:
    return f"### YamlMime:ModuleUnit\nuid: {uid}\ntitle: {title}\n{more}durationInMinutes: 5\ncontent: |\n  {text}\n"


TRANSLATED = "metadata:\n  ms.translationtype: HT\n  ms.contentlocale: de-DE\n"
STEAM = ("Froth milk with steam", "Hold the nozzle just below the surface until the jug is warm.")
GRIND = ("Grind beans for espresso", "A finer grind slows the water; aim at thirty seconds a shot.")
ROAST = ("Roast green coffee", "Listen for the first crack and take the beans out a minute later.")

COURSE = {
    "learn-pr/steep/index.yml": module("steep", "steep.unit", teaches="  - Steep tea leaves\n"),
    "learn-pr/steep/unit.yml": unit("steep.unit", "Steeping", "Three minutes at eighty degrees."),
    "learn-pr/weigh/index.yml": module("weigh", "weigh.unit", teaches="  - Weigh by the gram\n  - Tare a scale\n"),
    "learn-pr/weigh/unit.yml": unit("weigh.unit", "Weighing", "Put the empty cup on first."),
    # Froth: a requires two skills, b none, c one of them.
    "learn-pr/fa/index.yml": module("froth-a", "froth.a", prerequisites="- Steep tea leaves\n  - Tare a scale"),
    "learn-pr/fa/unit.yml": unit("froth.a", *STEAM),
    "learn-pr/fb/index.yml": module("froth-b", "froth.b"),
    "learn-pr/fb/unit.yml": unit("froth.b", *STEAM),
    "learn-pr/fc/index.yml": module("froth-c", "froth.c", prerequisites="- Steep tea leaves"),
    "learn-pr/fc/unit.yml": unit("froth.c", *STEAM),
    # Grind: a requires a whole module, b and c differ in what they inherit from their modules.
    "learn-pr/ga/index.yml": module("grind-a", "grind.a", prerequisites="- Do [weighing](../weigh/index.yml) first"),
    "learn-pr/ga/unit.yml": unit("grind.a", *GRIND),
    "learn-pr/gb/index.yml": module("grind-b", "grind.b", more="levels:\n- advanced\nroles:\n- barista\n"),
    "learn-pr/gb/unit.yml": unit("grind.b", *GRIND),
    "learn-pr/gc/index.yml": module("grind-c", "grind.c", more="levels:\n- beginner\nroles:\n- owner\n"),
    "learn-pr/gc/unit.yml": unit("grind.c", *GRIND),
    # Roast: one unit in two languages, the German one with a text that nobody has translated yet.
    "learn-pr/r/index.yml": module("roasting", "roast.a"),
    "learn-pr/r/unit.yml": unit("roast.a", *ROAST),
    "learn-pr/de-de/r/unit.yml": unit("roast.a", *ROAST, more=TRANSLATED),
}


@dataclass(frozen=True)
class Asked:
    """A search and the subject's pages in their right order, first to last."""

    subject: str
    fields: dict[str, Any] = field(default_factory=dict)
    order: str = "abc"


def profile(subject: str, order: str, **wishes: object) -> Asked:
    return Asked(subject, {"profile": wishes}, order)


STEEP, TARE, WEIGH = "skill:steep tea leaves", "skill:tare a scale", "skill:weigh by the gram"

MOVED = [
    # A version range inside its bounds, outside them, and none at all; by number, not by the order of the letters.
    profile("carousel", "bca", monikers=["net-maui-8.0"]),
    profile("carousel", "acb", monikers=["net-maui-9.0"]),
    profile("carousel", "acb", monikers=["net-maui-10.0"]),
    profile("carousel", "cab", monikers=["net-maui-7.0"]),
    profile("carousel", "cab", monikers=["net-maui-9.0-preview.1"]),
    profile("carousel", "acb", monikers=["net-maui-10.0", "vs-2022"]),
    # Ranges of docfx.json: a group's, and those of folders.
    profile("shell", "acb", monikers=["net-maui-10.0"]),
    profile("shell", "acb", monikers=["net-maui-11.0"]),
    profile("shell", "bca", monikers=["net-maui-7.0"]),
    profile("shell", "bca", monikers=["net-maui-6.0"]),
    profile("shell", "cab", monikers=["net-maui-8.0"]),
    profile("shell", "cab", monikers=["net-maui-9.0"]),
    # Two families in one range.
    profile("middleware", "acb", monikers=["aspnetcore-6.0"]),
    profile("middleware", "acb", monikers=["aspnetcore-8.0"]),
    profile("middleware", "bca", monikers=["aspnetcore-9.0"]),
    profile("middleware", "bca", monikers=["aspnetcore-10.0"]),
    profile("middleware", "cab", monikers=["aspnetcore-2.1"]),
    profile("middleware", "bca", monikers=["net-maui-9.0", "aspnetcore-9.0"]),
    # Roles, one of them from docfx.json.
    profile("tides", "acb", role="administrator"),
    # Audience and region in both spellings.
    profile("harbour", "bac", audience="pilot"),
    profile("vineyard", "acb", region="us"),
    # Level: the caller's own, one step away, two.
    profile("violin", "cba", level="beginner"),
    profile("violin", "bac", level="intermediate"),
    # One match lifts the second past the first and leaves the third behind it; two lift both.
    profile("glacier", "bac", audience="alpinist"),
    profile("glacier", "bac", region="alps"),
    profile("glacier", "bca", audience="alpinist", region="alps", role="guide"),
    profile("glacier", "cba", audience="alpinist", region="alps", level="beginner"),
    profile("glacier", "bca", monikers=["rope-1.0"]),
    profile("glacier", "cba", monikers=["rope-1.0"], level="beginner"),
    # Prerequisites: all met, some missing, none declared.
    profile("froth", "cba", skills=[STEEP]),
    profile("froth", "acb", skills=[STEEP, TARE]),
    profile("froth", "bac", skills=[TARE]),
    profile("froth", "bca", skills=["skill:juggle"]),
    profile("froth", "acb", skills=[STEEP, TARE, "skill:juggle"]),
    # A required module is met by its own name and by all that it teaches, and not by a part of that.
    profile("grind", "bca", skills=[STEEP]),
    profile("grind", "bca", skills=[TARE]),
    # Units inherit level and role from their module.
    profile("grind", "acb", role="owner"),
    profile("grind", "bac", role="barista"),
    profile("grind", "acb", level="beginner"),
    profile("grind", "bac", level="advanced"),
    profile("grind", "cab", level="beginner", role="owner"),
    # The page that the reader stands on links to one of three; without its place, nothing is known of it.
    Asked("lantern", {"current_document": "oil"}, "cab"),
    Asked("lantern", {"current_document": "wicks"}, "bac"),
    Asked("lantern", {"current_document": "lantern.c"}, "cab"),
    # One signal switched off leaves the others to speak.
    Asked("glacier", {"profile": {"audience": "alpinist", "level": "beginner"}, "without_signals": ["level"]}, "bac"),
    Asked("carousel", {"profile": {"monikers": ["net-maui-8.0"]}, "without_signals": ["role"]}, "bca"),
]

KEPT = [
    # The best one is the one that matches: its score may grow, nothing else.
    profile("carousel", "abc", monikers=["net-maui-8.0", "net-maui-9.0"]),
    profile("tides", "abc", role="developer"),
    profile("tides", "abc", role="student"),
    profile("harbour", "abc", audience="sailor"),
    profile("vineyard", "abc", region="eu"),
    profile("vineyard", "abc", region="uk"),
    profile("violin", "abc", level="advanced"),
    profile("glacier", "abc", role="guide"),
    profile("grind", "abc", skills=["weigh"]),
    profile("grind", "abc", skills=[WEIGH, TARE]),
    profile("glacier", "abc", level="advanced"),
    profile("middleware", "abc", monikers=["aspnetcore-3.1", "aspnetcore-9.0"]),
]

UNTOUCHED = [
    # Versions of another product; a name that is no version; no version.
    profile("carousel", "abc", monikers=["vs-2022"]),
    profile("carousel", "abc", monikers=["banana"]),
    profile("carousel", "abc", monikers=[]),
    profile("middleware", "abc", monikers=["vs-2022", "rope-1.0"]),
    profile("tides", "abc", monikers=["net-maui-8.0"]),
    # Roles, audiences, regions and levels that nothing here is for, or that are spelt otherwise.
    profile("tides", "abc", role="Developer"),
    profile("tides", "abc", role="nurse"),
    profile("tides", "abc", audience="administrator"),
    profile("harbour", "abc", audience="farmer"),
    profile("harbour", "abc", role="sailor"),
    profile("vineyard", "abc", region="mars"),
    profile("tides", "abc", level="beginner"),
    # Skills where no page has prerequisites.
    profile("lantern", "abc", skills=[STEEP, TARE]),
    profile("froth", "abc", skills=[]),
    # Anchors that are unknown, alone, or elsewhere.
    Asked("lantern", {"current_document": "no such page"}),
    Asked("lantern", {"current_document": "island"}),
    Asked("carousel", {"current_document": "oil"}),
    Asked("lantern", {"products": ["no such product"]}),
    Asked("lantern", {"skills": ["no such skill"]}),
    # What is switched off.
    Asked("lantern", {"current_document": "oil", "without_signals": ["prior"]}),
    Asked("carousel", {"profile": {"monikers": ["net-maui-8.0"]}, "without_signals": ["moniker"]}),
    Asked("violin", {"profile": {"level": "beginner"}, "without_signals": ["level"]}),
    Asked("froth", {"profile": {"skills": [STEEP]}, "without_signals": ["prerequisites"]}),
    Asked("harbour", {"profile": {"audience": "pilot"}, "without_signals": ["audience"]}),
    # A date long ago is no reason to put a page behind its like.
    Asked("kettle"),
    # To everyone else, the order is the legs'.
    *(Asked(subject) for subject in ("carousel", "tides", "violin", "glacier", "froth", "grind")),
]


PATIENT = Settings(
    request_deadline=60_000,
    lexical_deadline=30_000,
    vector_deadline=30_000,
    graph_deadline=30_000,
    prior_deadline=30_000,
)
"""On a busy machine, what would be left out of an answer in production is waited for."""


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    folder = tmp_path_factory.mktemp("signals")
    with running(folder / "data", PATIENT) as opened:
        opened.publish(write_estate(folder / "site", SITE), write_estate(folder / "course", COURSE))
        yield opened


def asked_for(subject: str) -> str:
    """The title of a subject's pages."""
    return {"froth": STEAM[0], "grind": GRIND[0], "roast": ROAST[0]}.get(subject) or SUBJECTS[subject][0]


def hits_on(application: Application, asked: Asked) -> list[Hit]:
    result = application.search(asked_for(asked.subject), limit=100, **asked.fields)
    assert result.degraded == []
    return [hit for hit in result.hits if hit.uid.startswith(f"{asked.subject}.")]


def letters(hits: Sequence[Hit]) -> str:
    return "".join(hit.uid.rpartition(".")[2] for hit in hits)


def name(asked: Asked) -> str:
    return f"{asked.subject}-{asked.order}-{json.dumps(asked.fields)}"


@pytest.mark.parametrize("asked", [*MOVED, *KEPT], ids=name)
def test_what_the_caller_needs_comes_first(application: Application, asked: Asked) -> None:
    assert letters(hits_on(application, asked)) == asked.order


@pytest.mark.parametrize("asked", UNTOUCHED, ids=name)
def test_what_says_nothing_changes_nothing(application: Application, asked: Asked) -> None:
    plain = hits_on(application, Asked(asked.subject))
    found = hits_on(application, asked)
    assert letters(found) == letters(plain) == asked.order
    assert [hit.score for hit in found] == [hit.score for hit in plain]


@pytest.mark.parametrize(
    ("locale", "order"),
    [
        ("de-de", ["de-de", "en-us"]),
        ("de-at", ["de-de", "en-us"]),
        ("en-us", ["en-us", "de-de"]),
        ("en-gb", ["en-us", "de-de"]),
        ("fr-fr", ["en-us", "de-de"]),
        (None, ["de-de", "en-us"]),
    ],
)
def test_a_translated_unit_comes_first_to_who_reads_its_language(
    application: Application, locale: str | None, order: list[str]
) -> None:
    """Readers of a third language fall back to the source. To who reads none, the two are alike, and stand in the order
    of their locales."""
    hits = hits_on(application, profile("roast", "aa", locale=locale))
    assert [hit.locale for hit in hits] == order


@pytest.mark.parametrize("text", ["copper kettle", "kettle round one", "kettle round two"])
def test_a_redirected_page_gives_way_to_what_is_there(application: Application, text: str) -> None:
    """Its path says the words of the question; the pages that are left answer it first, in their own order. It names
    its successor, and one that is redirected in a circle has none and is no answer."""
    hits = application.search(text, limit=100).hits
    pages = ["kettle.a", "kettle.b", "kettle.c"]
    assert [hit.uid for hit in hits if "kettle" in hit.uid] == [*pages, "site/docs/copper-kettle"]
    assert [(hit.uid, hit.superseded_by) for hit in hits if hit.kind == "retired"] == [
        ("site/docs/copper-kettle", "kettle.b")
    ]


@pytest.mark.parametrize("asked", [MOVED[0], MOVED[-3], Asked("violin")], ids=name)
@pytest.mark.parametrize("size", [1, 2, 3, 7, 100])
def test_the_order_does_not_hang_on_the_size_of_the_page(application: Application, asked: Asked, size: int) -> None:
    text = asked_for(asked.subject)
    whole = [(hit.uid, hit.locale, hit.score) for hit in application.search(text, limit=100, **asked.fields).hits]
    paged: list[tuple[str, str, float]] = []
    cursor = None
    while len(paged) < len(whole):
        result = application.search(text, limit=size, cursor=cursor, **asked.fields)
        paged += [(hit.uid, hit.locale, hit.score) for hit in result.hits]
        cursor = result.next_cursor
        if cursor is None:
            break
    assert paged == whole
    assert cursor is None
