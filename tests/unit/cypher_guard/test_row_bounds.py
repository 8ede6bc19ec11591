"""SKIP and LIMIT: clamped, computed, and one row above the cap."""

import pytest

from tests.unit.cypher_guard.rendered import ask, refused, rendered


@pytest.mark.parametrize(("clause", "limit"), [("", 100), (" LIMIT 7", 7), (" LIMIT 1000", 1000), (" LIMIT 0", 0)])
def test_one_row_more_than_the_limit_is_fetched(clause: str, limit: int) -> None:
    query = ask(f"MATCH (a:A) RETURN a.name AS n{clause}")
    assert query.limit == limit
    assert query.text.endswith(f" LIMIT {limit + 1}")


@pytest.mark.parametrize("limit", [1001, 10**6, 9223372036854775807])
def test_a_limit_above_the_cap_is_clamped(limit: int) -> None:
    query = ask(f"MATCH (a:A) RETURN a.name AS n LIMIT {limit}")
    assert query.limit == 1000
    assert query.text.endswith(" LIMIT 1001")


def test_a_limit_by_parameter_is_clamped_when_it_is_bound() -> None:
    text = "MATCH (a:A) RETURN a.name AS n LIMIT $n"
    assert (ask(text, {"n": 5}).limit, ask(text, {"n": 5}).params["__limit"]) == (5, 6)
    assert (ask(text, {"n": 5000}).limit, ask(text, {"n": 5000}).params["__limit"]) == (1000, 1001)
    assert ask(text, None).params["__limit"] == 1001
    assert ask(text, {"n": 5}).text.endswith(" LIMIT $__limit")


def test_pages_are_computed_from_parameters() -> None:
    query = ask("MATCH (a:A) RETURN a.name AS n ORDER BY n SKIP $page * 20 LIMIT $size + 1", {"page": 3, "size": 20})
    assert (query.params["__c0"], query.params["__limit"], query.limit) == (60, 22, 21)


@pytest.mark.parametrize(
    ("text", "number"), [("7 / 2", 3), ("7 % 4", 3), ("2 + 3 * 4", 14), ("- -5", 5), ("10 - 2 - 3", 5)]
)
def test_arithmetic_of_whole_numbers(text: str, number: int) -> None:
    assert ask(f"MATCH (a:A) RETURN a.name AS n LIMIT {text}").limit == number


@pytest.mark.parametrize("params", [{"n": -2}, {"n": True}, {"n": "5"}, {"n": 1.5}, {"n": None}, {"n": 2**63 - 1}])
def test_a_parameter_that_is_no_number_of_rows(params: dict[str, object]) -> None:
    violation = refused("MATCH (a:A) RETURN a.name AS n LIMIT $n + 1", params)
    assert violation.code == "bad_parameter"


@pytest.mark.parametrize(
    "clause", ["LIMIT 1 / 0", "LIMIT 1 - 2", "SKIP toInteger('1')", "LIMIT rand()", "LIMIT null", "LIMIT 2 ^ 2"]
)
def test_a_bound_that_is_no_number_of_rows(clause: str) -> None:
    assert refused(f"MATCH (a:A) RETURN a.name AS n {clause}").code == "bad_type"


def test_paging_without_an_order_gets_a_total_one() -> None:
    assert rendered("MATCH (a:A) RETURN a.name AS n, a.size AS s SKIP 5") == (
        "MATCH (a:A) RETURN a.name AS n, a.size AS s ORDER BY n, s SKIP 5 LIMIT 101"
    )
    assert "WITH a AS a, a.name AS n ORDER BY elementId(a), n SKIP 5 LIMIT 101" in rendered(
        "MATCH (a:A) RETURN a, a.name AS n SKIP 5"
    )
    assert "ORDER BY n SKIP 5" in rendered("MATCH (a:A) RETURN a.name AS n, a.size AS s ORDER BY n SKIP 5")
    assert "ORDER BY" not in rendered("MATCH (a:A) RETURN a.name AS n LIMIT 5")


def test_only_the_outermost_return_is_bounded() -> None:
    text = rendered("MATCH (a:A) WITH a LIMIT 5000 RETURN COUNT { (a)-->() } AS n, [(a)-->(b) | b.name] AS names")
    assert text.count("LIMIT") == 2
    assert "WITH a AS a LIMIT 5000 RETURN COUNT {" in text
    assert text.endswith(" LIMIT 101")


def test_order_names_a_column_where_it_repeats_one() -> None:
    assert rendered("MATCH (a:A) RETURN a.name AS n, count(*) AS c ORDER BY count(*) DESC, toLower(a.name)").endswith(
        "ORDER BY c DESC, toLower(n) LIMIT 101"
    )
