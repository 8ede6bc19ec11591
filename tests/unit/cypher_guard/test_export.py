"""Whole nodes leave as maps of allowed properties, wherever they hide."""

from dataclasses import replace

import pytest

from cypher_guard import Profile
from tests.unit.cypher_guard.rendered import PROFILE, refused, rendered

NODE = (
    "CASE WHEN {0} IS NULL THEN null ELSE {{name: {0}.name, size: {0}.size, tags: {0}.tags, labels: labels({0})}} END"
)
EDGE = "CASE WHEN {0} IS NULL THEN null ELSE {{name: {0}.name, size: {0}.size, tags: {0}.tags, type: type({0})}} END"


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("MATCH (a:A) RETURN a", f"MATCH (a:A) WITH a AS a LIMIT 101 RETURN {NODE.format('a')} AS a"),
        (
            "MATCH (a:A)-[r:CALLS]->(b) RETURN r",
            f"MATCH (a:A)-[r:CALLS]->(b) WITH r AS r LIMIT 101 RETURN {EDGE.format('r')} AS r",
        ),
        (
            "MATCH (a:A) RETURN collect(a) AS l",
            f"MATCH (a:A) WITH collect(a) AS l LIMIT 101 RETURN [__x0 IN l | {NODE.format('__x0')}] AS l",
        ),
        (
            "MATCH p = (a:A)-[:CALLS]->(b) RETURN p",
            "MATCH p = (a:A)-[:CALLS]->(b) WITH p AS p LIMIT 101 RETURN CASE WHEN p IS NULL THEN null ELSE "
            f"{{nodes: [__x0 IN nodes(p) | {NODE.format('__x0')}], "
            f"relationships: [__x1 IN relationships(p) | {EDGE.format('__x1')}]}} END AS p",
        ),
        (
            "MATCH (a:A) RETURN {n: a, k: 1} AS m",
            "MATCH (a:A) WITH {n: a, k: $__s0} AS m LIMIT 101 RETURN CASE WHEN m IS NULL THEN null ELSE "
            f"{{n: {NODE.format('m.n')}, k: m.k}} END AS m",
        ),
        (
            "MATCH (a:A) RETURN DISTINCT a ORDER BY a.size",
            f"MATCH (a:A) WITH DISTINCT a AS a ORDER BY a.size LIMIT 101 RETURN {NODE.format('a')} AS a",
        ),
    ],
)
def test_entities_become_maps(text: str, canonical: str) -> None:
    assert rendered(text) == canonical


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (a:A)-[:CALLS]->(b) RETURN coalesce(a, b) AS x",
        "MATCH (a:A)-[:CALLS]->(b) RETURN CASE WHEN a.size > 1 THEN a ELSE b END AS x",
        "MATCH (a:A) RETURN head(collect(a)) AS x",
        "MATCH (a:A) RETURN collect(a)[0] AS x",
        "MATCH p = (a:A)-[:CALLS]->(b) RETURN nodes(p)[0] AS x",
        "MATCH (a:A)-[r:CALLS]->(b) RETURN endNode(r) AS x",
        "MATCH (a:A) WITH {n: a} AS m RETURN m.n AS x",
        "MATCH (a:A) WITH collect(a) AS l UNWIND l AS x RETURN x",
    ],
)
def test_an_entity_is_known_however_it_was_reached(text: str) -> None:
    assert rendered(text).endswith(f" RETURN {NODE.format('x')} AS x")


def test_values_that_may_be_nodes_are_refused() -> None:
    assert refused("MATCH (a:A) RETURN [a, 1] AS x").code == "bad_type"
    assert refused("MATCH (a:A) RETURN CASE WHEN a.size > 1 THEN a ELSE 'none' END AS x").code == "bad_type"


def test_the_allowlist_cannot_be_stepped_round() -> None:
    shown = "{name: a.name, size: a.size, tags: a.tags}"
    assert shown in rendered("MATCH (a:A) RETURN properties(a) AS x")
    assert shown in rendered("MATCH (a:A) RETURN a {.*} AS x")
    assert "[__x0 IN keys(a) WHERE __x0 IN $__s0]" in rendered("MATCH (a:A) RETURN keys(a) AS x")
    for text in (
        "MATCH (a:A) RETURN a.secret AS x",
        "MATCH (a:A) RETURN a {.secret} AS x",
        "MATCH (a:A) RETURN a['secret'] AS x",
        "MATCH (a:A) RETURN a[$k] AS x",
        "MATCH (a:A {secret: 1}) RETURN 1 AS x",
        "MATCH (a:A) WITH {n: a} AS m RETURN m.n.secret AS x",
        "MATCH (a:A) RETURN [n IN collect(a) | n.secret] AS x",
        "MATCH (a:A)-[r:CALLS*1..2]->(b) RETURN [x IN r | x.secret] AS x",
        "MATCH (a:A) RETURN 1 AS x ORDER BY a.secret",
        "MATCH (a:A) RETURN startNode([(a)-[r:CALLS]->() | r][0]).secret AS x",
    ):
        assert refused(text).code == "unknown_property", text


def test_identity_leaves_with_every_node_and_edges_take_their_own_properties() -> None:
    profile = Profile.from_mapping(
        {"labels": None, "properties": ["title", "weight"], "edge_properties": ["weight"], "edge_types": ["CALLS"]}
    )
    text = rendered("MATCH (a)-[r:CALLS]->(b) RETURN a, r", profile)
    assert "{uid: a.uid, locale: a.locale, title: a.title, weight: a.weight, labels: labels(a)}" in text
    assert "{weight: r.weight, type: type(r)}" in text


def test_without_an_allowlist_every_property_leaves() -> None:
    profile = replace(PROFILE, properties=None)
    assert rendered("MATCH (a:A) RETURN a", profile).endswith(" RETURN a {.*, labels: labels(a)} AS a")
    assert rendered("MATCH (a:A) RETURN properties(a) AS x", profile).startswith("MATCH (a:A) RETURN properties(a)")


def test_data_that_looks_like_properties_is_free() -> None:
    assert rendered("WITH {secret: 1} AS m RETURN m.secret AS x, $p.secret AS y").endswith(
        "RETURN m.secret AS x, $p.secret AS y LIMIT 101"
    )
