"""What a principal may not see takes no part in a match, a count, a path or an error."""

import pickle

import pytest

from cypher_guard import Violation, Visibility, guard
from tests.unit.cypher_guard.rendered import PRINCIPAL, PROFILE, ask, rendered


def sees(node: str) -> str:
    return f"any(__a IN {node}.visibleTo WHERE __a IN $__audiences)"


def crossing(item: str, relationships: str) -> str:
    ends = f"{sees(f'startNode({item})')} AND {sees(f'endNode({item})')}"
    return f"all({item} IN {relationships} WHERE {ends})"


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        (
            "MATCH (a:A)-[:CALLS]->() RETURN count(*) AS n",
            f"MATCH (a:A)-[:CALLS]->(__n0) WHERE {sees('a')} AND {sees('__n0')} RETURN count(*) AS n LIMIT 101",
        ),
        (
            "MATCH (a:A) OPTIONAL MATCH (a)-[:CALLS]->(b) WHERE b.size > 1 RETURN b.name AS n",
            f"MATCH (a:A) WHERE {sees('a')} OPTIONAL MATCH (a)-[:CALLS]->(b) WHERE {sees('b')} AND b.size > $__s0 "
            "RETURN b.name AS n LIMIT 101",
        ),
        (
            "MATCH (a:A)-[:CALLS*1..2]->(b) RETURN b.name AS n",
            f"MATCH (a:A)-[__r0:CALLS*1..2]->(b) WHERE {sees('a')} AND {sees('b')} AND {crossing('__x1', '__r0')} "
            "RETURN b.name AS n LIMIT 101",
        ),
        (
            "MATCH (a:A)-[r:CALLS*0..1]->(b) RETURN size(r) AS n",
            f"MATCH (a:A)-[r:CALLS*0..1]->(b) WHERE {sees('a')} AND {sees('b')} RETURN size(r) AS n LIMIT 101",
        ),
        (
            "MATCH (a:A) WHERE NOT (a)-[:CALLS]->() RETURN a.name AS n",
            f"MATCH (a:A) WHERE {sees('a')} AND NOT EXISTS {{ MATCH (a)-[:CALLS]->(__n0) WHERE {sees('__n0')} }} "
            "RETURN a.name AS n LIMIT 101",
        ),
        (
            "MATCH (a:A) RETURN COUNT { (a)-[:CALLS]->(:B) } AS n",
            f"MATCH (a:A) WHERE {sees('a')} RETURN COUNT {{ MATCH (a)-[:CALLS]->(__n0:B) WHERE {sees('__n0')} }} AS n "
            "LIMIT 101",
        ),
        (
            "MATCH (a:A) RETURN [(a)-[:CALLS]->(b) WHERE b.size > 1 | b.name] AS n",
            f"MATCH (a:A) WHERE {sees('a')} RETURN [(a)-[:CALLS]->(b) WHERE {sees('b')} AND b.size > $__s0 | b.name] "
            "AS n LIMIT 101",
        ),
        (
            "MATCH (a:A) WHERE a.size > 1 OR a.size < 0 RETURN a.name AS n",
            f"MATCH (a:A) WHERE {sees('a')} AND (a.size > $__s0 OR a.size < $__s1) RETURN a.name AS n LIMIT 101",
        ),
        (
            "MATCH (a:A) MATCH (a)-[:CALLS]->(a) RETURN a.name AS n",
            f"MATCH (a:A) WHERE {sees('a')} MATCH (a)-[:CALLS]->(a) RETURN a.name AS n LIMIT 101",
        ),
    ],
)
def test_each_clause_guards_the_nodes_that_it_introduces(text: str, canonical: str) -> None:
    assert rendered(text, visibility=PRINCIPAL) == canonical


def test_a_predicate_that_can_fail_waits_for_visibility() -> None:
    # AND fixes no order: a division by zero on a hidden node would tell that it exists.
    assert rendered("MATCH (a:A) WHERE 1 / a.size > 2 AND a.name = 'x' RETURN 1 AS n", visibility=PRINCIPAL) == (
        f"MATCH (a:A) WHERE {sees('a')} AND a.name = $__s2 AND "
        f"(CASE WHEN {sees('a')} THEN $__s0 / a.size > $__s1 ELSE false END) RETURN $__s0 AS n LIMIT 101"
    ).replace("$__s2", "$t").replace("$__s1", "$__s2").replace("$__s0", "$__s1").replace("$t", "$__s0")


@pytest.mark.parametrize(
    "predicate",
    [
        "toUpper(a.name) = 'X'",
        "a.tags[0] = 'x'",
        "a.size - 1 = 2",
        "any(t IN a.tags WHERE t = 'x')",
        "'x' IN a.tags",
        "NOT a.flag",
        "EXISTS { (a)-[:CALLS]->(b) WHERE b.size / a.size > 1 }",
        "a.flag",
    ],
)
def test_predicates_that_can_fail(predicate: str) -> None:
    text = f"MATCH (a:A) WHERE {predicate} RETURN 1 AS n".replace("a.flag", "a.size")
    assert f"CASE WHEN {sees('a')} THEN" in rendered(text, visibility=PRINCIPAL)


@pytest.mark.parametrize(
    "predicate",
    [
        "a.name = 'x'",
        "a.size > 1 OR NOT a.name IN ['x']",
        "a.name STARTS WITH $x",
        "a:B",
        "EXISTS { (a)-->(:B) }",
        "a.name IS NULL",
    ],
)
def test_predicates_that_cannot_fail_stay_open_to_an_index(predicate: str) -> None:
    assert "CASE" not in rendered(f"MATCH (a:A) WHERE {predicate} RETURN 1 AS n", visibility=PRINCIPAL)


def test_audiences_are_bound_and_never_spelt() -> None:
    query = ask("MATCH (a:A) RETURN a.name AS n", {}, visibility=PRINCIPAL)
    assert query.params["__audiences"] == ["*", "staff"]
    assert "staff" not in query.text
    other = ask("MATCH (a:A) RETURN a.name AS n", {}, visibility=Visibility(frozenset({"guest"})))
    assert (other.text, other.fingerprint) == (query.text, query.fingerprint)
    assert other.params["__audiences"] == ["guest"]


def test_no_audience_sees_nothing() -> None:
    query = ask("MATCH (a:A) RETURN a.name AS n", {}, visibility=Visibility(frozenset()))
    assert query.params["__audiences"] == []


def test_property_and_parameter_may_have_other_names() -> None:
    view = Visibility(frozenset({"x"}), property="read by", parameter="__groups")
    query = ask("MATCH (a:A) RETURN a.name AS n", {}, visibility=view)
    assert "any(__a IN a.`read by` WHERE __a IN $__groups)" in query.text


@pytest.mark.parametrize("name", ["a\\u0060b", "", "a\nb"])
def test_names_that_could_break_out_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match="no name"):
        Visibility(frozenset({"x"}), property=name)


def test_a_callers_parameter_cannot_stand_in_for_the_audiences() -> None:
    with pytest.raises(Violation) as refused:
        guard("MATCH (a:A) RETURN a.name AS n", {"__audiences": ["staff"]}, PROFILE, visibility=PRINCIPAL)
    assert refused.value.code == "bad_parameter"


def test_a_violation_survives_a_process_boundary() -> None:
    with pytest.raises(Violation) as refused:
        ask("MATCH (a:D) RETURN 1 AS x")
    copy = pickle.loads(pickle.dumps(refused.value))
    assert copy.as_dict() == refused.value.as_dict()
