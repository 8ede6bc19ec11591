"""The canonical form: what a query becomes when nothing needs to be hidden."""

from dataclasses import replace

import pytest

from tests.unit.cypher_guard.rendered import PROFILE, ask, refused, rendered


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("match (a:A) return a.name as n limit 5 // done", "MATCH (a:A) RETURN a.name AS n LIMIT 6"),
        ("MATCH (a) RETURN a.name LIMIT 5;", "MATCH (a) RETURN a.name AS `a.name` LIMIT 6"),
        ("MATCH (a:A:B) RETURN a.size AS s", "MATCH (a:A:B) RETURN a.size AS s LIMIT 101"),
        ("MATCH (a:A|B) RETURN a.size AS s", "MATCH (a:A|B) RETURN a.size AS s LIMIT 101"),
        (
            "MATCH (a:A&!B) RETURN a.size AS s",
            "MATCH (a) WHERE a:A AND NOT a:B RETURN a.size AS s LIMIT 101",
        ),
        ("MATCH (:%) RETURN 1 AS s", "MATCH (__n0) WHERE size(labels(__n0)) > $__s0 RETURN $__s1 AS s LIMIT 101"),
        (
            "MATCH (a)-[r]->(b) RETURN r.size AS s",
            "MATCH (a)-[r:CALLS|READS]->(b) RETURN r.size AS s LIMIT 101",
        ),
        ("MATCH (a)<--(b) RETURN b.size AS s", "MATCH (a)<-[:CALLS|READS]-(b) RETURN b.size AS s LIMIT 101"),
        (
            "MATCH (a:A WHERE a.size > 1)-[r:CALLS WHERE r.size < 2]->(b) RETURN a.name AS n",
            "MATCH (a:A)-[r:CALLS]->(b) WHERE a.size > $__s0 AND r.size < $__s1 RETURN a.name AS n LIMIT 101",
        ),
        (
            "MATCH (a {name: 'x', size: $s}) RETURN a.name AS n",
            "MATCH (a) WHERE a.name = $__s0 AND a.size = $s RETURN a.name AS n LIMIT 101",
        ),
        (
            "MATCH (a:A), (a)-[:CALLS]->(b {name: a.name}) RETURN b.size AS s",
            "MATCH (a:A), (a)-[:CALLS]->(b) WHERE b.name = a.name RETURN b.size AS s LIMIT 101",
        ),
        (
            "MATCH (a:A)-[:CALLS]->{1,2}(b) RETURN b.size AS s",
            "MATCH (a:A)-[:CALLS*1..2]->(b) RETURN b.size AS s LIMIT 101",
        ),
        (
            "MATCH (a:A)-[r:CALLS WHERE r.size > 1]->{1,2}(b) RETURN b.size AS s",
            "MATCH (a:A)-[r:CALLS*1..2]->(b) WHERE all(__x0 IN r WHERE __x0.size > $__s0) RETURN b.size AS s LIMIT 101",
        ),
        (
            "MATCH (a:A) ((x)<-[:CALLS]-(y:B)){1,2} (b) RETURN [n IN y | n.name] AS names",
            "MATCH (a:A)<-[__r0:CALLS*1..2]-(b) WHERE all(__x1 IN __r0 WHERE $__s0 IN labels(startNode(__x1))) "
            "RETURN [n IN [__x3 IN __r0 | startNode(__x3)] | n.name] AS names LIMIT 101",
        ),
        (
            "MATCH (a:A) WHERE (a)-[:CALLS]->(:B) AND NOT (a)-->() RETURN a.name AS n",
            "MATCH (a:A) WHERE EXISTS { MATCH (a)-[:CALLS]->(:B) } AND NOT EXISTS { MATCH (a)-[:CALLS|READS]->() } "
            "RETURN a.name AS n LIMIT 101",
        ),
        (
            "MATCH (a:A) WHERE COUNT { (a)-[:CALLS]->(b) WHERE b.size > 1 RETURN b } >= 2 RETURN a.name AS n",
            "MATCH (a:A) WHERE $__s0 <= COUNT { MATCH (a)-[:CALLS]->(b) WHERE b.size > $__s1 } "
            "RETURN a.name AS n LIMIT 101",
        ),
        (
            "MATCH (a:A) RETURN COLLECT { MATCH (a)-[:CALLS]->(b) RETURN b.name } AS names",
            "MATCH (a:A) RETURN [(a)-[:CALLS]->(b) | b.name] AS names LIMIT 101",
        ),
        (
            "MATCH (a) WHERE 1 < a.size <= 3 RETURN 1 AS s",
            "MATCH (a) WHERE $__s0 < a.size AND a.size <= $__s1 RETURN $__s0 AS s LIMIT 101",
        ),
        (
            "MATCH (a) RETURN a.size - (1 - 2) * 3 AS s",
            "MATCH (a) RETURN a.size - ($__s0 - $__s1) * $__s2 AS s LIMIT 101",
        ),
        ("MATCH (a) RETURN (a.size - 1) - 2 AS s", "MATCH (a) RETURN (a.size - $__s0) - $__s1 AS s LIMIT 101"),
        ("MATCH (a) RETURN 'a' || a.name AS s", "MATCH (a) RETURN $__s0 + a.name AS s LIMIT 101"),
        ("MATCH (a) RETURN UPPER(a.name) AS s", "MATCH (a) RETURN toUpper(a.name) AS s LIMIT 101"),
        ("MATCH (a) RETURN a['name'] AS s", "MATCH (a) RETURN a.name AS s LIMIT 101"),
        (
            "MATCH (a:A) WHERE EXISTS { MATCH p = (a)-[:CALLS]->(b) } RETURN a.name IN [x IN a.tags | x] AS n",
            "MATCH (a:A) WHERE EXISTS { MATCH (a)-[:CALLS]->(b) } RETURN a.name IN ([x IN a.tags | x]) AS n LIMIT 101",
        ),
        (
            "MATCH (a:A) RETURN [(a)-[:CALLS]->(b) WHERE b:A|B | b.name] AS n",
            "MATCH (a:A) RETURN [(a)-[:CALLS]->(b) WHERE b:A OR b:B | b.name] AS n LIMIT 101",
        ),
        (
            "MATCH (a:A) WITH a, count(*) AS c WHERE EXISTS { (a)-[:CALLS]->(b) WHERE b.size > c } RETURN c",
            "MATCH (a:A) WITH a AS a, count(*) AS c WHERE EXISTS { MATCH (a)-[:CALLS]->(b) WHERE b.size > c } "
            "RETURN c AS c LIMIT 101",
        ),
        ("MATCH (limit:A) RETURN limit.name AS n LIMIT 3", "MATCH (`limit`:A) RETURN `limit`.name AS n LIMIT 4"),
        (
            "MATCH (where:A) WHERE where.size = 1 RETURN where.name AS end ORDER BY end DESC",
            "MATCH (`where`:A) WHERE `where`.size = $__s0 RETURN `where`.name AS `end` ORDER BY `end` DESC LIMIT 101",
        ),
        ("MATCH (set:A) RETURN set.name AS order", "MATCH (`set`:A) RETURN `set`.name AS `order` LIMIT 101"),
        ("MATCH (`a``b`) RETURN `a``b`.name AS `x y`", "MATCH (`a``b`) RETURN `a``b`.name AS `x y` LIMIT 101"),
        ("MATCH (a) RETURN *, 1 AS one ORDER BY one", None),
        ("UNWIND [1, 2] AS x RETURN x ORDER BY x DESC", "UNWIND $__s0 AS x RETURN x AS x ORDER BY x DESC LIMIT 101"),
        (
            "MATCH (a:A) WITH a, count(*) AS c WHERE c > 1 RETURN a.name AS n, c",
            "MATCH (a:A) WITH a AS a, count(*) AS c WHERE c > $__s0 RETURN a.name AS n, c AS c LIMIT 101",
        ),
    ],
)
def test_canonical_form(text: str, canonical: str | None) -> None:
    if canonical is None:
        assert ask(text).columns == ("a", "one")
    else:
        assert rendered(text) == canonical


def test_a_rendering_is_its_own_canonical_form() -> None:
    # Reserved names aside: a query without any of them comes back as it is.
    text = "MATCH (a:A)-[:CALLS]->(b) WHERE a.name = $x RETURN b.size AS s"
    assert rendered(rendered(text).removesuffix(" LIMIT 101")) == rendered(text)


def test_equal_literals_share_a_parameter_and_unlike_ones_do_not() -> None:
    query = ask("RETURN 1 AS a, 1 AS b, 1.0 AS c, '1' AS d, true AS e, null AS f, [1, 'x'] AS g, {k: 2} AS h")
    assert query.text.removeprefix("CYPHER 5 ") == (
        "RETURN $__s0 AS a, $__s0 AS b, $__s1 AS c, $__s2 AS d, true AS e, null AS f, $__s3 AS g, $__s4 AS h LIMIT 101"
    )
    assert dict(query.params) == {"__s0": 1, "__s1": 1.0, "__s2": "1", "__s3": [1, "x"], "__s4": {"k": 2}}


def test_a_string_never_shows_in_the_text() -> None:
    query = ask("MATCH (a {name: 'x\\' DETACH DELETE a //'}) WHERE a.size = \"`\" RETURN '*/' AS s")
    assert "DETACH" not in query.text
    assert sorted(map(str, query.params.values())) == ["*/", "`", "x' DETACH DELETE a //"]


def test_columns_are_named_in_order() -> None:
    query = ask("MATCH (a:A) RETURN a.name, count( * ), toUpper( 'x' ) AS u, a.size + 1")
    assert query.columns == ("a.name", "count( * )", "u", "a.size + 1")


def test_a_column_without_a_safe_text_gets_a_number() -> None:
    assert ask(r"RETURN 'a\\b', 1 AS x").columns == ("column_1", "x")


def test_bare_arrows_are_a_matter_of_the_profile() -> None:
    strict = replace(PROFILE, allow_bare_arrows=False)
    assert refused("MATCH (a)-->(b) RETURN b.name", profile=strict).code == "unknown_relationship"
    assert "CALLS|READS" in rendered("MATCH (a)-[]->(b) RETURN b.name", strict)
