"""What a caller may give beside the text."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from tests.unit.cypher_guard.rendered import PROFILE, ask, refused

TEXT = "MATCH (a:A) WHERE a.name = $name RETURN a.size AS s"


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


def test_parameters_are_copied() -> None:
    tags = ["x"]
    query = ask("MATCH (a:A) WHERE a.tags = $tags RETURN a.size AS s", {"tags": tags})
    tags.append("y")
    assert query.params["tags"] == ["x"]


@pytest.mark.parametrize(
    "value", [None, True, 1, -(2**63), 2**63 - 1, 1.5, "ä", [], [1, "a", None], {"k": {"l": [1]}}, (1, 2)]
)
def test_json_like_values_pass(value: object) -> None:
    assert ask(TEXT, {"name": value}).params["name"] == (list(value) if isinstance(value, tuple) else value)


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (2**63, "bad_parameter"),
        pytest.param(10**5000, "bad_parameter", id="huge"),
        (float("nan"), "bad_parameter"),
        (float("inf"), "bad_parameter"),
        ("\ud800", "bad_parameter"),
        (b"x", "bad_parameter"),
        ({1: 2}, "bad_parameter"),
        ({"\ud800": 2}, "bad_parameter"),
        (object(), "bad_parameter"),
        ({1, 2}, "bad_parameter"),
        (nested(40), "too_large"),
        (nested(100_000), "too_large"),
        ("x" * 300_000, "too_large"),
        ([0] * 200_000, "too_large"),
    ],
)
def test_other_values_are_refused(value: object, code: str) -> None:
    assert refused(TEXT, {"name": value}).code == code


def test_a_list_that_holds_itself_is_refused() -> None:
    loop: list[object] = []
    loop.append(loop)
    assert refused(TEXT, {"name": loop}).code == "too_large"


def test_missing_and_unused_names_are_told_with_the_nearest() -> None:
    missing = refused(TEXT, {"nme": "x"})
    assert (missing.code, missing.suggestion, missing.column) == ("missing_parameter", "Did you mean nme?", 28)
    unused = refused(TEXT, {"name": "x", "size": 1})
    assert unused.code == "unused_parameter"
    assert refused("RETURN 1 AS x", {"\ud800": 1}).code == "unused_parameter"


@pytest.mark.parametrize("params", [7, "x", ["name"], [("name", 1)], {1: 2}, {"__s0": 1, "name": 2}])
def test_what_is_no_set_of_parameters(params: Mapping[str, object]) -> None:
    assert refused(TEXT, params).code == "bad_parameter"  # type: ignore[arg-type]


def test_the_check_is_skipped_where_the_text_alone_is_asked() -> None:
    assert dict(ask(TEXT, None).params) == {}


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("a.name STARTS WITH $p", 1),
        ("a.name IN $p", "x"),
        ("toUpper($p) = 'X'", 1),
        ("a.tags[$p] = 'x'", "x"),
        ("$p.key = 1", 1),
        ("$p OR a.size > 1", "x"),
        ("-$p > a.size", "x"),
        ("any(x IN $p WHERE x = 1)", 1),
    ],
)
def test_a_value_of_the_wrong_kind_is_refused(expression: str, value: object) -> None:
    text = f"MATCH (a:A) WHERE {expression} RETURN 1 AS x"
    assert refused(text, {"p": value}).code == "bad_parameter"
    assert ask(text, {"p": None}).params["p"] is None


def test_a_numeric_name_is_a_name() -> None:
    assert "$0" in ask("MATCH (a:A) WHERE a.size = $0 RETURN 1 AS x", {"0": 1}).text
    assert "$`01`" in ask("MATCH (a:A) WHERE a.size = $01 RETURN 1 AS x", {"01": 1}).text


def test_what_replace_multiplies_stays_short() -> None:
    text = "MATCH (a:A) RETURN replace(a.name, 'x', $by) AS x"
    assert ask(text, {"by": "y"}).params["by"] == "y"
    assert refused(text, {"by": "y" * 2000}).code == "too_large"


def test_the_size_is_the_profiles() -> None:
    small = replace(PROFILE, max_parameter_bytes=10)
    assert refused(TEXT, {"name": "x" * 9}, small).code == "too_large"
    assert ask(TEXT, {"name": "x" * 8}, small).params["name"] == "x" * 8
