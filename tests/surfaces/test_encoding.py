import json

import pytest

from service.domain.results import GraphQueryResult
from service.surfaces.encoding import encode


def result(value: object) -> GraphQueryResult:
    return GraphQueryResult(
        columns=["value"], rows=[[value]], truncated=False, cypher="…", content_root="", took_ms=1.0
    )


def cell(value: object) -> object:
    return json.loads(encode(result(value)).decode("utf-8"))["rows"][0][0]


@pytest.mark.parametrize(
    "value", [None, True, 7, -(2**70), 0.5, "", "naïve", "日本", "🦀", "\u0000", "‮", ["a", ["b"]], {"k": [1]}]
)
def test_plain_values_come_back_as_they_were(value):
    assert cell(value) == value


@pytest.mark.parametrize(
    ("value", "shown"),
    [
        ("\ud800", "\ufffd"),
        ("a\udfffb", "a\ufffdb"),
        ("\ud83e\udd80", "🦀"),
        (["\ud800"], ["\ufffd"]),
        ({"\ud800": "\udc00"}, {"\ufffd": "\ufffd"}),
        (float("nan"), None),
        (float("inf"), None),
        ([float("nan"), "\ud800"], [None, "\ufffd"]),
        (b"\xff", "\ufffd"),
    ],
)
def test_what_json_can_not_hold_leaves_in_its_nearest_form(value, shown):
    assert cell(value) == shown


def test_names_are_the_wires():
    assert {"contentRoot", "tookMs"} < json.loads(encode(result(1))).keys()
