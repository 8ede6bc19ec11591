"""Whole queries, their clauses, and the work that reading them takes."""

from contextlib import suppress

import pytest

from cypher_guard.query_parser import count_steps, parse
from cypher_guard.tree import Match, Projection, Query, Unwind
from cypher_guard.violation import Refusal


def read(text: str, *, extended: bool = True) -> Query:
    return parse(text, extended=extended, max_nesting=64, max_subqueries=4)[0]


def steps(text: str) -> int:
    return parse(text, extended=True, max_nesting=64, max_subqueries=4)[1]


def test_clauses_in_order() -> None:
    query = read(
        "OPTIONAL MATCH (a) UNWIND [1] AS x WITH a, x WHERE x > 0 "
        "RETURN DISTINCT a.n AS n ORDER BY n DESC SKIP 1 LIMIT 2;"
    )
    assert [type(clause) for clause in query.clauses] == [Match, Unwind, Projection, Projection]
    last = query.clauses[-1]
    assert isinstance(last, Projection)
    assert last.final
    assert last.distinct
    assert last.order[0].descending


def test_an_unnamed_column_is_called_by_its_text() -> None:
    last = read("RETURN  count( * ), toUpper('a'),  'LIMIT 1'").clauses[0]
    assert isinstance(last, Projection)
    assert [item.name for item in last.items] == ["count( * )", "toUpper('a')", "'LIMIT 1'"]


def test_a_text_that_another_reader_could_misread_is_no_column_name() -> None:
    last = read(r"RETURN 'a\\u0060b', `x``y` AS z").clauses[0]
    assert isinstance(last, Projection)
    assert [item.name for item in last.items] == ["", "z"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("MATCH (f) SET f.a = 1", "read_only"),
        ("MATCH (f) DETACH/**/DELETE f", "read_only"),
        ("CREATE (n)", "read_only"),
        ("MERGE (n) RETURN n", "read_only"),
        ("MATCH (n) REMOVE n.x RETURN n", "read_only"),
        ("MATCH (n) FOREACH (x IN [1] | SET n.a = x)", "read_only"),
        ("DROP INDEX x", "read_only"),
        ("MATCH (f) WHERE COUNT { CREATE (:X) } > 0 RETURN f", "read_only"),
        ("CALL db.labels()", "unsupported_clause"),
        ("OPTIONAL CALL db.labels() YIELD label RETURN label", "unsupported_clause"),
        ("LOAD CSV FROM 'x' AS l RETURN l", "unsupported_clause"),
        ("USE neo4j MATCH (f) RETURN f", "unsupported_clause"),
        ("SHOW USERS", "unsupported_clause"),
        ("EXPLAIN MATCH (n) RETURN n", "unsupported_clause"),
        ("CYPHER 5 MATCH (n) RETURN n", "unsupported_clause"),
        ("MATCH (a) RETURN a.x AS x UNION MATCH (b) RETURN b.x AS x", "unsupported_clause"),
        ("MATCH (f) RETURN f; MATCH (g) RETURN g", "unsupported_clause"),
        ("MATCH (f) FINISH", "unsupported_clause"),
        ("MATCH (f)", "syntax"),
        ("", "syntax"),
        (";", "syntax"),
        ("MATCH (f) RETURN", "syntax"),
        ("MATCH (f) RETURN f LIMIT", "syntax"),
        ("MATCH (f) WHERE RETURN f", "syntax"),
        ("MATCH (f) WITH f.x RETURN f", "syntax"),
        (":play x", "syntax"),
    ],
)
def test_refused_by_name(text: str, code: str) -> None:
    with pytest.raises(Refusal) as refused:
        read(text)
    assert refused.value.code == code


@pytest.mark.parametrize("clause", ["WITH 1 AS x RETURN x", "UNWIND [1] AS x RETURN x"])
def test_with_and_unwind_are_extended(clause: str) -> None:
    with pytest.raises(Refusal) as refused:
        read(clause, extended=False)
    assert refused.value.code == "unsupported_clause"


def test_subqueries_have_a_depth() -> None:
    def nested(depth: int) -> str:
        return "MATCH (a) WHERE " + "EXISTS { MATCH (a) WHERE " * depth + "true" + " }" * depth + " RETURN a"

    read(nested(4))
    with pytest.raises(Refusal) as refused:
        read(nested(5))
    assert refused.value.code == "too_large"


@pytest.mark.parametrize(
    "unit",
    [
        "(a.x = 1) OR ",
        "a.b.c.d = 1 OR ",
        "((((a.x)))) = 1 OR ",
        "[x IN [1, 2] | x] = a.x OR ",
        "(a)-[:T]->(b) OR ",
        "CASE WHEN a.x THEN 1 ELSE 2 END = 1 OR ",
        "a[0][1][..2] = 'x' OR ",
        "f(f(f(a))) OR ",
    ],
)
def test_steps_are_linear_in_the_length(unit: str) -> None:
    short, long = (steps(f"MATCH (a) WHERE {unit * count} true RETURN a") for count in (20, 200))
    assert long <= 11 * short


@pytest.mark.parametrize(
    "bomb",
    [
        "RETURN " + "[" * 8000,
        "RETURN " + "NOT " * 4000 + "true",
        "RETURN " + "1+" * 8000 + "1",
        "RETURN " + "CASE WHEN true THEN " * 800,
        "MATCH (f) WHERE " + "EXISTS { MATCH (f) WHERE " * 600,
        "RETURN " + "[(a)-[:T]->(b) | " * 900,
        "MATCH " + "((" * 4000,
        "MATCH (n:" + "!" * 8000 + "A) RETURN n",
        "MATCH (n:" + "(" * 4000 + "A",
        "RETURN " + "a." * 8000 + "b",
        "RETURN " + "{a: " * 4000,
        "RETURN -" + "-" * 16000 + "1",
        "RETURN " + "(a)<" * 4000 + "1",
        "RETURN " + "f(" * 5000,
        "/*" * 8000,
        "RETURN " + "all(x IN " * 1800,
    ],
)
def test_bombs_end_within_a_linear_number_of_steps(bomb: str) -> None:
    with suppress(Refusal):
        assert count_steps(bomb, max_nesting=64, max_subqueries=4) <= 3 * len(bomb)
    with pytest.raises(Refusal):
        read(bomb)
