"""Every bound by its code, with a place and, where one is known, a way out."""

from dataclasses import replace

import pytest

from tests.unit.cypher_guard.rendered import PROFILE, ask, refused, rendered


@pytest.mark.parametrize(
    ("text", "code", "suggestion"),
    [
        ("MATCH (a)-[:CALL]->(b) RETURN 1 AS x", "unknown_relationship", "Did you mean CALLS?"),
        ("MATCH (a)-[:calls]->(b) RETURN 1 AS x", "unknown_relationship", "Did you mean CALLS?"),
        ("MATCH (a)-[:CALLS|SECRET]->(b) RETURN 1 AS x", "unknown_relationship", "The types are CALLS, READS."),
        ("MATCH (a) WHERE (a)-[:SECRET]->() RETURN 1 AS x", "unknown_relationship", "The types are CALLS, READS."),
        ("MATCH (a)-[r]->() WHERE r:SECRET RETURN 1 AS x", "unknown_relationship", "The types are CALLS, READS."),
        ("MATCH (a:a) RETURN 1 AS x", "unknown_label", "Did you mean A?"),
        ("MATCH (a) WHERE a:A|D RETURN 1 AS x", "unknown_label", None),
        ("MATCH (a) RETURN a.nam AS x", "unknown_property", "Did you mean name?"),
        ("MATCH (a) RETURN tolowr(a.name) AS x", "unknown_function", "Did you mean toLower?"),
        ("MATCH (a) RETURN id(a) AS x", "unknown_function", "Use elementId(x), or the property uid."),
        ("MATCH (a) RETURN apoc.util.sleep(1) AS x", "unknown_function", None),
        (
            "RETURN reduce(s = 0, x IN [1] | s + x) AS x",
            "unknown_function",
            "Use a list comprehension, or an aggregate such as sum().",
        ),
        ("MATCH (a) WHERE a.name =~ 'x' RETURN 1 AS x", "unknown_function", "Use STARTS WITH, ENDS WITH or CONTAINS."),
        ("MATCH (a)-[:CALLS*]->(b) RETURN 1 AS x", "unbounded", "Write *1..4 at most."),
        ("MATCH (a)-[:CALLS]->+(b) RETURN 1 AS x", "unbounded", "Write *1..4 at most."),
        ("MATCH (a) RETURN [(a)-[:CALLS*2..]->(b) | 1] AS x", "unbounded", "Write *2..4 at most."),
        ("MATCH (a)-[:CALLS*1..5]->(b) RETURN 1 AS x", "too_deep", "Write *1..4."),
        ("MATCH (a)-[:CALLS*3..2]->(b) RETURN 1 AS x", "syntax", None),
        (
            "MATCH (a), (b) RETURN 1 AS x",
            "cartesian",
            "Connect them by a relationship or a shared variable, or ask in two queries.",
        ),
        (
            "MATCH (a) MATCH (b) RETURN 1 AS x",
            "cartesian",
            "Connect them by a relationship or a shared variable, or ask in two queries.",
        ),
        ("MATCH (node) RETURN nod.name AS x", "unknown_variable", "Did you mean node?"),
        (
            "MATCH (a) WHERE (a)-->(b) RETURN 1 AS x",
            "unknown_variable",
            "Leave the name out, or write EXISTS { pattern }.",
        ),
        ("MATCH (a) RETURN DISTINCT a.name AS n ORDER BY a.size", "unknown_variable", "Return it as a column."),
        ("MATCH (a) WITH a.name AS n RETURN a.size AS s", "unknown_variable", None),
        ("MATCH (a) RETURN a.name AS n, a.size AS n", "duplicate_name", "Give one another name with AS."),
        ("MATCH (a)-[r:CALLS]->(b)-[r:CALLS]->(c) RETURN 1 AS x", "duplicate_name", "Use another name."),
        ("MATCH (a) UNWIND [1] AS a RETURN 1 AS x", "duplicate_name", None),
        ("RETURN {k: 1, k: 2} AS x", "duplicate_name", None),
        ("RETURN toUpper() AS x", "bad_arguments", None),
        ("RETURN left('a') AS x", "bad_arguments", None),
        ("RETURN pi(1) AS x", "bad_arguments", None),
        ("MATCH (a) WHERE count(a) > 1 RETURN 1 AS x", "bad_aggregate", None),
        ("MATCH (a) RETURN sum(count(a)) AS x", "bad_aggregate", None),
        (
            "MATCH (a) RETURN a.size + count(*) AS x",
            "bad_aggregate",
            "Return a.size as a column too, or move it into the aggregate.",
        ),
        ("MATCH (a) RETURN [x IN [1] | count(a)] AS x", "bad_aggregate", None),
        ("MATCH (a) RETURN a.name AS n ORDER BY count(*)", "bad_aggregate", None),
        ("MATCH (a) RETURN toUpper(DISTINCT a.name) AS x", "bad_aggregate", None),
        ("MATCH (a) WHERE a RETURN 1 AS x", "bad_type", None),
        ("MATCH (a) WHERE a.size > 1 AND 'x' RETURN 1 AS x", "bad_type", None),
        ("MATCH (a) RETURN a + 1 AS x", "bad_type", None),
        ("RETURN 'a' - 1 AS x", "bad_type", None),
        ("RETURN 1 + true AS x", "bad_type", None),
        ("RETURN -'a' AS x", "bad_type", None),
        ("MATCH (a) RETURN toUpper(a) AS x", "bad_type", None),
        ("RETURN toUpper(1) AS x", "bad_type", None),
        ("MATCH (a) RETURN labels(a.name) AS x", "bad_type", None),
        ("RETURN [1, 2].x AS x", "bad_type", None),
        ("RETURN [1, 2]['a'] AS x", "bad_type", None),
        ("RETURN 1 IN 2 AS x", "bad_type", None),
        ("MATCH p = (a)-->(b) RETURN size(p) AS x", "bad_type", None),
        ("MATCH (a) RETURN 1 AS x LIMIT -1", "bad_type", None),
        ("MATCH (a) RETURN 1 AS x LIMIT 'a'", "bad_type", None),
        ("MATCH (a) RETURN 1 AS x LIMIT 1.5", "bad_type", None),
        ("MATCH (a) RETURN 1 AS x SKIP a.size", "bad_type", None),
        ("UNWIND 1 AS x RETURN x", "bad_type", None),
        ("RETURN date() * 2 AS x", "bad_type", None),
        ("MATCH (a) RETURN point(a.name) AS x", "bad_type", None),
        ("MATCH (a) WHERE a.size / 2 RETURN 1 AS x", "bad_type", None),
        (
            "RETURN replace(replace($a, 'x', $b), 'y', $c) AS x",
            "too_costly",
            "Replace in your own code, or with shorter strings.",
        ),
        ("WITH 1 AS a WITH a AS b RETURN $__x AS x", "bad_parameter", None),
    ],
)
def test_refused(text: str, code: str, suggestion: str | None) -> None:
    violation = refused(text)
    assert (violation.code, violation.suggestion if suggestion else None) == (code, suggestion)
    assert violation.line == 1


def test_total_hops_count_every_part_of_the_query() -> None:
    part = "EXISTS { (a)-[:CALLS*1..4]->() }"
    assert ask(f"MATCH (a {{name: 'x'}}) WHERE {part} AND {part} RETURN 1 AS x").hops == 8
    assert refused(f"MATCH (a {{name: 'x'}})-[:CALLS]->() WHERE {part} AND {part} RETURN 1 AS x").code == "too_deep"


def test_patterns_may_connect_through_a_third_or_an_earlier_clause() -> None:
    rendered("MATCH (a:A)-->(b), (c:B)-->(d), (b)-->(c) RETURN 1 AS x")
    rendered("MATCH (a:A)-->(b) MATCH (c)-->(b) RETURN 1 AS x")
    rendered("MATCH (a:A), (a)-->(b) RETURN 1 AS x")


def test_a_search_from_values_is_no_product() -> None:
    rendered("UNWIND $names AS name MATCH (a:A {name: name}) RETURN a.size AS s")
    rendered("MATCH (a:A) WITH count(a) AS n MATCH (b:B) WHERE b.size > n RETURN b.name AS name")


def test_disconnected_patterns_are_a_matter_of_the_profile() -> None:
    assert ask("MATCH (a:A), (b:B) RETURN 1 AS x", None, replace(PROFILE, allow_disconnected=True)).hops == 0


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (a)-[:CALLS*1..4]-(b) RETURN 1 AS x",
        "MATCH (a)--(b)--(c)--(d)--(e) RETURN 1 AS x",
        "MATCH (a)-[:CALLS*4]->()-[:CALLS*4]->(b) RETURN 1 AS x",
        "UNWIND $a AS x UNWIND $b AS y UNWIND $c AS z RETURN x",
        "RETURN [x IN $a | [y IN $b | [z IN $c | x + y + z]]] AS s",
    ],
)
def test_what_would_touch_too_much_is_refused(text: str) -> None:
    assert refused(text).code == "too_costly"


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (a {name: $n})-[:CALLS*1..4]-(b) RETURN 1 AS x",
        "MATCH (a:A)-->(b)-->(c)-->(d) RETURN 1 AS x",
        "MATCH (a) WHERE a.name = 'x' MATCH (a)--(b)--(c)--(d) RETURN 1 AS x",
        "MATCH (a)-[:CALLS*1..1]->()-[:CALLS*1..3]->(b) RETURN 1 AS x",
    ],
)
def test_what_starts_from_something_known_is_not(text: str) -> None:
    rendered(text)


def test_the_text_has_a_size() -> None:
    assert refused("RETURN '" + "ä" * 8200 + "' AS x").code == "too_large"
    assert refused("RETURN 1 AS x" + " " * 16384).code == "too_large"


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (a:" + "&".join(["A"] * 65) + ") RETURN 1 AS x",
        "MATCH " + ", ".join(["(a)"] * 65) + " RETURN 1 AS x",
        "MATCH (a) " + "WITH a " * 64 + "RETURN 1 AS x",
        "MATCH (a) WHERE " + " AND ".join(["EXISTS { (a) }"] * 65) + " RETURN 1 AS x",
        "MATCH (a) WHERE " + " XOR ".join(["a.size = 1"] * 10) + " RETURN 1 AS x",
        "MATCH (a) WHERE " + "a.size = 1 OR a.size = 2 AND (" * 13 + "a.size = 3" + ")" * 13 + " RETURN 1 AS x",
        "MATCH (a) WHERE " + "NOT (a.size = 1 AND " * 13 + "a.size = 3" + ")" * 13 + " RETURN 1 AS x",
        "MATCH (a) WHERE "
        + "(" * 2
        + "a.size = 1 OR (" * 20
        + " OR ".join(["a.size = 2"] * 250)
        + ")" * 22
        + " RETURN 1 AS x",
        "MATCH (a) RETURN CASE " + "WHEN a.size = 1 THEN 1 " * 129 + "END AS x",
        "MATCH (a) RETURN " + ", ".join(f"1 AS c{number}" for number in range(257)),
    ],
)
def test_what_a_planner_could_not_bear_is_too_large(text: str) -> None:
    assert refused(text).code == "too_large"


def test_brackets_round_the_same_operator_do_not_nest() -> None:
    text = "MATCH (a:A) WHERE " + "(a.size = 1 OR " * 25 + "a.size = 2" + ")" * 25 + " RETURN 1 AS x"
    assert rendered(text).count("OR") == 25
    assert "(a.size" not in rendered(text)


def test_a_violation_points_at_its_place() -> None:
    violation = refused("MATCH (a:A)\r\nWHERE a.nam = 1\nRETURN 1 AS x")
    assert (violation.line, violation.column, violation.excerpt) == (2, 8, "WHERE a.nam = 1")
    assert violation.as_dict()["suggestion"] == "Did you mean name?"


@pytest.mark.parametrize("text", ["RETURN '\ud800' AS x", "MATCH (\udfff) RETURN 1", None, 7, b"RETURN 1", ["x"]])
def test_what_is_no_text_is_a_violation(text: object) -> None:
    assert refused(text).code == "syntax"  # type: ignore[arg-type]
