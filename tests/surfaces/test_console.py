"""What the console's pages are made of, without a browser."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.datastructures import QueryParams

from service.domain.results import FactorResult, HitExplanation, LegRank, LegReport, SearchExplanation, WhyNotResult
from service.surfaces.console.bars import bars, moved
from service.surfaces.console.links import link, safe_url
from service.surfaces.console.passage import Part, Stretch, excerpt, fenced, marked, pointed
from service.surfaces.console.search_page import Chip, SearchLink, chips, degradations
from service.surfaces.console.verdict import rungs
from tests.surfaces.fake_toolbox import GAIN, explanation, hit, search_result, vote

TEXT = st.text(max_size=400)
HIGHLIGHTS = st.lists(st.tuples(st.integers(-5, 420), st.integers(-5, 420)), max_size=8)


def test_marked_stretches_are_the_highlights():
    assert marked("rank fusion adds", [(5, 11)]) == [
        Stretch("rank ", False),
        Stretch("fusion", True),
        Stretch(" adds", False),
    ]


def test_highlights_count_characters_not_bytes_or_code_units():
    assert [part.text for part in marked("🦀é fusion", [(3, 9)]) if part.marked] == ["fusion"]


@given(TEXT, HIGHLIGHTS)
def test_marking_changes_no_character(text, highlights):
    parts = marked(text, highlights)
    assert "".join(part.text for part in parts) == text
    covered = {at for start, end in highlights for at in range(max(start, 0), min(end, len(text)))}
    at, seen = 0, set()
    for part in parts:
        if part.marked:
            seen |= set(range(at, at + len(part.text)))
        at += len(part.text)
    assert seen == covered


@given(TEXT, HIGHLIGHTS, st.integers(20, 100))
def test_an_excerpt_is_a_stretch_of_the_text(text, highlights, length):
    shown = "".join(part.text for part in excerpt(text, highlights, length))
    if len(text) <= length:
        assert shown == text
    else:
        core = shown.removeprefix("… ").removesuffix(" …")
        assert core in text
        assert len(core) <= length


def test_an_excerpt_goes_where_the_highlights_are():
    text = "word " * 200 + "rank fusion adds votes. " + "word " * 200
    start = text.index("rank")
    parts = excerpt(text, [(start, start + 4), (start + 5, start + 11)], 100)
    assert [part.text for part in parts if part.marked] == ["rank", "fusion"]
    assert (parts[0].text, parts[-1].text) == ("… ", " …")


def test_bars_add_up_to_the_fused_score_on_one_scale():
    lexical, vector, fused, moniker, final = bars(explanation(3, 1), GAIN)
    best = 2 * vote(1) * max(1, (vote(3) + vote(1)) / (2 * vote(1)) * 1.05)
    assert (lexical.start, lexical.width) == pytest.approx((0, vote(3) / best))
    assert (vector.start, vector.width) == pytest.approx((vote(3) / best, vote(1) / best))
    assert fused.width == pytest.approx((vote(3) + vote(1)) / best)
    assert fused.width == pytest.approx(vector.start + vector.width)
    assert lexical.note == "rank 3 · vote 0.01587 · score 12.500"
    assert (moniker.kind, moniker.note) == ("signal up", "× 1.050 · for net-8.0 · 2 places up")
    assert moniker.start == pytest.approx(fused.width)
    assert (final.label, final.width) == ("final", pytest.approx(fused.width + moniker.width))


def test_a_single_leg_of_two_earns_half():
    told = HitExplanation(
        legs=[LegRank(leg="vector", rank=1, score=0.5, vote=vote(1))],
        rrf=vote(1),
        rrf_normalised=0.5,
        prior=0.0,
        prior_places=0,
        factors=[],
        final=0.5,
    )
    assert [(bar.label, bar.start, pytest.approx(bar.width)) for bar in bars(told, GAIN)] == [
        ("vector", 0.0, 0.5),
        ("fused", 0.0, 0.5),
    ]


def test_places_are_said_in_words():
    assert (moved(0), moved(1), moved(-3)) == ("", " · 1 place up", " · 3 places down")


@pytest.mark.parametrize("url", ["https://example.org/a?b#c", "http://example.org"])
def test_web_addresses_are_followed(url):
    assert safe_url(url) == url


@pytest.mark.parametrize(
    "url",
    [
        None,
        "",
        "javascript:alert(1)",
        " javascript:alert(1)",
        "java\tscript:alert(1)",
        "JAVASCRIPT:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "//example.org",
        "/docs/page",
        "page.md",
        "https:/example.org",
        "https://[",
    ],
)
def test_anything_else_is_no_link(url):
    assert safe_url(url) is None


def test_links_carry_any_uid():
    assert link("/node", uid="a b/c#d&e=f*", locale=None) == "/node?uid=a%20b%2Fc%23d%26e%3Df%2A"
    assert link("/node", uid="\ud800") == "/node?uid=%3F"
    assert link("/node", "a b#c", uid="x") == "/node?uid=x#a%20b%23c"


def test_an_address_is_read_back_to_itself():
    address = SearchLink(text="C# & more", filters=(("kind", "page"), ("product", "a=b")), cursor="x/y+z")
    assert SearchLink.read(QueryParams(str(address).removeprefix("/?"))) == address


def test_an_address_becomes_a_request():
    address = SearchLink.read(QueryParams("q=fusion&filter=kind%3Dpage&filter=kind%3Dunit&filter=kin&uid=%20a%20"))
    request = address.request()
    assert request.filter == {"kind": ["page", "unit"], "kin": [""]}
    assert request.explain
    assert address.uid == "a"


def test_facets_become_chips_largest_first_and_what_is_chosen_stays():
    address = SearchLink(text="fusion", filters=(("level", "beginner"), ("kind", "unit")))
    result = search_result([], facets={"kind": {"unit": 2, "page": 7}, "unknown": {"x": 1}})
    assert chips(address, result) == {
        "kind": [Chip("kind", "unit", True, 2), Chip("kind", "page", False, 7)],
        "level": [Chip("level", "beginner", True, None)],
    }


def test_what_narrows_nothing_is_not_offered():
    result = search_result([], facets={"product": {"manual": 9}, "docset": {"": 4, "manual": 9}})
    assert chips(SearchLink(text="fusion"), result) == {}


def test_without_facets_the_hits_say_what_they_are():
    result = search_result([hit(1), hit(2)], facets={})
    assert chips(SearchLink(text="fusion"), result) == {
        "kind": [Chip("kind", "page", False, None), Chip("kind", "unit", False, None)]
    }


def test_a_guards_place_is_marked_to_the_end_of_its_word():
    assert [part.text for part in pointed("MATCH (n) DELETE n", 11) if part.marked] == ["DELETE"]
    assert [part.text for part in pointed("RETURN *", 8) if part.marked] == ["*"]
    cut = "x" * 40 + "DELETE n"  # an excerpt that begins 40 characters before the place
    assert [part.text for part in pointed(cut, 5_000) if part.marked] == ["DELETE"]


def test_a_section_is_prose_and_code():
    text = "Before.\n\n```python\nx = 1\n\ny = 2\n```\n\nAfter."
    assert fenced(text) == [Part("Before.", False), Part("x = 1\n\ny = 2", True), Part("After.", False)]


def test_a_longer_fence_holds_a_shorter_one():
    assert fenced("````md\n```\nx\n```\n````") == [Part("```\nx\n```", True)]


def test_an_open_fence_ends_with_the_text():
    assert fenced("```\nx") == [Part("x", True)]
    assert fenced("") == []


def test_a_leg_that_is_down_and_one_that_sees_a_part_are_told_apart():
    legs = [
        LegReport(leg="lexical", engine="tantivy", state="down", hits=0, took_ms=0.0, reason="closed"),
        LegReport(leg="vector", engine="qdrant-edge", state="degraded", hits=3, took_ms=1.0, reason="filling"),
    ]
    explain = SearchExplanation(legs=legs, anchors=[], timings_ms={}, k=60, as_of="2026-11-30T12:00:00Z")
    result = search_result([], degraded=["lexical: closed", "vector: filling: 3 of 9", "facets"], explain=explain)
    assert degradations(result) == [
        ("Answered without lexical.", "closed"),
        ("Only a part of vector.", "filling: 3 of 9"),
        ("Answered without facets.", ""),
    ]


def test_only_what_was_at_work_is_a_step():
    factors = [
        FactorResult(signal="age", input=None, factor=1.0, places=0),
        FactorResult(signal="role", input="developer", factor=1.0002, places=0),
        FactorResult(signal="authority", input=0.1, factor=1.0002, places=1),
        FactorResult(signal="moniker", input="net-8.0", factor=0.35, places=0),
    ]
    told = explanation(1, 1).model_copy(update={"factors": factors, "final": 0.35})
    assert [bar.label for bar in bars(told, GAIN)][3:] == ["authority", "moniker", "final"]


def test_the_priors_step_is_what_it_adds_and_the_clamps_what_it_takes():
    told = explanation(1, 1).model_copy(update={"prior": 0.5, "prior_places": -1, "final": 1.0})
    prior, moniker, clamp = bars(told, GAIN)[3:6]
    highest = (1 + GAIN * 0.5) * 1.05
    assert (prior.kind, prior.note) == ("prior up", f"× {1 + GAIN * 0.5:.3f} · prior 0.500 · 1 place down")
    assert prior.width == pytest.approx(GAIN * 0.5 / highest)
    assert moniker.start + moniker.width == pytest.approx(1)
    assert (clamp.kind, clamp.width) == ("clamp down", pytest.approx((highest - 1) / highest))


@pytest.mark.parametrize(
    ("reason", "states"),
    [
        ("filter", ["stopped", *["unreached"] * 4]),
        ("leg", ["passed", "stopped", *["unreached"] * 3]),
        ("depth", ["passed", "passed", "stopped", "unreached", "unreached"]),
        ("unsupported", [*["passed"] * 3, "stopped", "unreached"]),
        ("hit", ["passed"] * 5),
    ],
)
def test_the_ladder_stops_where_the_node_was_left_out(reason, states):
    verdict = WhyNotResult(uid="a", locale="en-us", reason=reason, rank=21 if reason == "hit" else None, detail="So.")
    steps = rungs(verdict)
    assert [rung.state for rung in steps] == states
    assert steps[-1].said == ("Among the hits, at rank 21" if reason == "hit" else "Among the hits")
