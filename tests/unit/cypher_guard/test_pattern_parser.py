"""Patterns."""

import pytest

from cypher_guard.cursor import Cursor
from cypher_guard.expression_parser import read_expression
from cypher_guard.lexer import read_tokens
from cypher_guard.pattern_parser import read_paths
from cypher_guard.tree import AnyLabel, LabelChain, LabelName, Length, NotLabel, Path, RelationshipPattern
from cypher_guard.violation import Refusal


def read(text: str) -> tuple[Path, ...]:
    cursor = Cursor(read_tokens(text, max_nesting=64), read_expression, max_nesting=64, max_subqueries=4)
    paths = read_paths(cursor)
    if cursor.kind != "end":
        raise cursor.unexpected("the end")
    return paths


def relationship(text: str) -> RelationshipPattern:
    return read(f"(a){text}(b)")[0].relationships[0]


def test_nodes_and_relationships_alternate() -> None:
    (path,) = read("p = (a:A {x: 1})-[:T]->()<-[r:U]-(c)")
    assert path.variable == "p"
    assert [node.variable for node in path.nodes] == ["a", None, "c"]
    assert [each.direction for each in path.relationships] == ["right", "left"]


def test_commas_part_paths() -> None:
    assert len(read("(a)-->(b), q = (b)-->(c)")) == 2


@pytest.mark.parametrize(
    ("text", "direction"),
    [("-->", "right"), ("<--", "left"), ("--", "both"), ("<-->", "both"), ("<-[:T]->", "both"), ("-[]-", "both")],
)
def test_directions(text: str, direction: str) -> None:
    assert relationship(text).direction == direction


@pytest.mark.parametrize(
    ("text", "least", "most"),
    [
        ("-[:T*]->", 1, None),
        ("-[:T*2]->", 2, 2),
        ("-[:T*1..3]->", 1, 3),
        ("-[:T*..3]->", 1, 3),
        ("-[:T*2..]->", 2, None),
        ("-[:T*0..1]->", 0, 1),
        ("-[:T]->+", 1, None),
        ("-->*", 0, None),
        ("-[:T]->{2}", 2, 2),
        ("-[:T]->{1,3}", 1, 3),
        ("-[:T]->{,3}", 0, 3),
        ("-[:T]->{1,}", 1, None),
        ("-[:T* /* .. */ 1 /* x */ .. 9]->", 1, 9),
    ],
)
def test_lengths(text: str, least: int, most: int | None) -> None:
    assert relationship(text).length == Length(least, most, 0)


def test_types_may_repeat_their_colon() -> None:
    assert relationship("-[:A|:B|C]->").types == (LabelName("A", 0), LabelName("B", 0), LabelName("C", 0))


@pytest.mark.parametrize("text", ["-[:!A]->", "-[:A|%]->", "-[:A&B]->", "-[:$($t)]->", "-[:A:B]->", "-[:(A)]->"])
def test_types_are_named_one_by_one(text: str) -> None:
    with pytest.raises(Refusal) as refused:
        relationship(text)
    assert refused.value.code == "unknown_relationship" or refused.value.code == "syntax"


def test_label_expressions() -> None:
    labels = read("(n:A&(B|!C):D|%)")[0].nodes[0].labels
    a, b, c, d = (LabelName(name, 0) for name in "ABCD")
    inner = LabelChain("|", (b, NotLabel(c, 0)), 0)
    assert labels == LabelChain("|", (LabelChain("&", (a, inner, d), 0), AnyLabel(0)), 0)


def test_a_map_may_follow_a_choice_of_labels() -> None:
    node = read("(n:A|B {x: 1})")[0].nodes[0]
    assert node.labels == LabelChain("|", (LabelName("A", 0), LabelName("B", 0)), 0)
    assert node.properties is not None


def test_is_names_a_label_and_may_be_a_variable() -> None:
    node = read("(n IS A)")[0].nodes[0]
    assert (node.variable, node.labels) == ("n", LabelName("A", 0))
    assert read("(is:A)")[0].nodes[0].variable == "is"


def test_a_quantified_group_is_one_relationship() -> None:
    (path,) = read("(s) ((x)-[r:T]->(y) WHERE x.n < y.n){1,3} (t)")
    assert [node.variable for node in path.nodes] == ["s", "t"]
    group = path.relationships[0].quantified
    assert group is not None
    assert (group.left.variable, group.right.variable) == ("x", "y")
    assert path.relationships[0].length == Length(1, 3, 0)


def test_a_group_alone_stands_between_nameless_nodes() -> None:
    (path,) = read("((x)-[:T]->(y)){1,2}")
    assert [node.variable for node in path.nodes] == [None, None]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("shortestPath((a)-[:T*]->(b))", "unsupported_clause"),
        ("SHORTEST 2 (a)-->(b)", "unsupported_clause"),
        ("ANY (a)-->(b)", "unsupported_clause"),
        ("((a)-[:T]->()-[:U]->(b)){1,2}", "unsupported_clause"),
        ("((a)-[:T]->(b))", "unsupported_clause"),
        ("(a)-[:T*$n]->(b)", "unbounded"),
        ("(a $props)", "syntax"),
        ("(a)-[:T]-", "syntax"),
        ("(a)(b)", "syntax"),
        ("(__a)", "syntax"),
        ("(a)-[:T*1..2]->{1,2}(b)", "syntax"),
    ],
)
def test_refused_patterns(text: str, code: str) -> None:
    with pytest.raises(Refusal) as refused:
        read(text)
    assert refused.value.code == code
