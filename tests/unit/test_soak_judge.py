"""The soak's own judgement: what it must not overlook."""

import json

import pytest

from bench.process import drift
from bench.soak_callers import Judge, Question
from bench.soak_estate import MARK

SEARCH = Question("search", "/v1/search", {})


def heard(*answers: object, is_classed: bool = False, question: Question = SEARCH) -> list[str]:
    judge = Judge()
    for answer in answers:
        judge.hear(question, json.dumps(answer), is_classed)
    return sorted(judge.wrong)


def hit(printing: int, root: str) -> dict[str, object]:
    return {"contentRoot": root, "hits": [{"title": f"Bulletin of printing {printing}"}]}


def test_an_answer_of_one_snapshot_is_right() -> None:
    assert heard(hit(1, "a"), hit(2, "b"), hit(2, "b"), {"contentRoot": "c"}) == []


def test_two_printings_or_two_roots_in_one_answer_are_seen() -> None:
    mixed = {"contentRoot": "a", "hits": [{"title": "of printing 1"}, {"text": "is of printing 2"}]}
    assert heard(mixed) == ["several snapshots in one answer"]
    assert heard({"a": {"contentRoot": "a"}, "b": [{"contentRoot": "b"}]}) == ["several snapshots in one answer"]


def test_a_page_of_another_snapshot_than_the_answer_says_is_seen() -> None:
    assert heard(hit(1, "a"), hit(2, "a")) == ["one root of two printings"]


def test_a_hidden_name_is_seen_unless_its_reader_may() -> None:
    assert heard({"title": MARK}) == ["a hidden name"]
    assert heard({"title": MARK}, is_classed=True) == []


def test_failures_within_an_answer_are_seen() -> None:
    assert heard({"result": {"isError": True}}) == ["MCP isError"]
    assert heard({"errors": [{}]}, question=Question("q", "/graphql", {})) == ["GraphQL errors"]


def test_drift_compares_the_ends_and_fits_a_line() -> None:
    times = [10.0 * step for step in range(101)]
    grown = drift(times, [100 + step for step in range(101)], window=100)
    assert (grown.first, grown.last) == (105, 195)
    assert grown.growth == pytest.approx(195 / 105 - 1)
    assert grown.slope == pytest.approx(100 / 150)
    assert drift(times, [7.0] * 101, window=100).growth == 0
