"""Expressions by precedence."""

import pytest

from cypher_guard import tree
from cypher_guard.cursor import Cursor
from cypher_guard.expression_parser import read_expression
from cypher_guard.lexer import read_tokens
from cypher_guard.tree import Arithmetic, Comparison, Constant, Literal, Logical, Not, Property, Variable
from cypher_guard.violation import Refusal


def read(text: str) -> tree.Expression:
    cursor = Cursor(read_tokens(text, max_nesting=64), read_expression, max_nesting=64, max_subqueries=4)
    expression = read_expression(cursor)
    assert cursor.kind == "end", cursor.kind
    return expression


def name(letter: str) -> Variable:
    return Variable(letter, 0)


def number(value: float) -> Literal:
    return Literal(value, 0)


def test_and_binds_tighter_than_xor_and_xor_than_or() -> None:
    assert read("a OR b XOR c AND d") == Logical(
        "OR", (name("a"), Logical("XOR", (name("b"), Logical("AND", (name("c"), name("d")), 0)), 0)), 0
    )


def test_a_flat_chain_is_one_node() -> None:
    chain = read(" OR ".join(["a"] * 150))
    assert chain == Logical("OR", (name("a"),) * 150, 0)


def test_not_takes_a_comparison() -> None:
    assert read("NOT a = b") == Not(Comparison(name("a"), (("=", name("b")),), 0), 0)


def test_arithmetic_reads_from_the_left_by_precedence() -> None:
    assert read("a - b * c ^ d + e") == Arithmetic(
        name("a"),
        (
            ("-", Arithmetic(name("b"), (("*", Arithmetic(name("c"), (("^", name("d")),), 0)),), 0)),
            ("+", name("e")),
        ),
        0,
    )


def test_signs_fold_into_numbers() -> None:
    assert read("- -5") == number(5)
    assert read("-9223372036854775808") == number(-(2**63))
    # A sign binds tighter than a power, as in Neo4j: -2 ^ 2 is 4.
    assert read("-2 ^ 2") == Arithmetic(number(-2), (("^", number(2)),), 0)


def test_the_largest_magnitude_needs_its_minus() -> None:
    with pytest.raises(Refusal):
        read("9223372036854775808")


def test_a_comparison_with_a_negative_number() -> None:
    assert read("r.w<-0.5") == Comparison(Property(name("r"), "w", 0), (("<", number(-0.5)),), 0)


def test_a_chain_of_comparisons() -> None:
    assert read("1 < a <= 3") == Comparison(number(1), (("<", name("a")), ("<=", number(3))), 0)


def test_look_ups_follow_each_other() -> None:
    assert read("a.b[0].c") == Property(tree.Index(Property(name("a"), "b", 0), number(0), 0), "c", 0)
    assert read("a[..2]") == tree.Slice(name("a"), None, number(2), 0)
    assert read("a[-2..]") == tree.Slice(name("a"), number(-2), None, 0)


def test_lists_and_maps_of_literals_are_constants() -> None:
    assert read("[1, 'a', [true, null]]") == Constant([1, "a", [True, None]], 0)
    assert read("{a: 1, b: {c: 'x'}}") == Constant({"a": 1, "b": {"c": "x"}}, 0)
    assert read("[1, a]") == tree.ListOf((number(1), name("a")), 0)


def test_a_list_comprehension_is_told_from_a_list() -> None:
    assert read("[x IN xs WHERE x > 1 | x]") == tree.ListComprehension(
        "x", name("xs"), Comparison(name("x"), ((">", number(1)),), 0), name("x"), 0
    )


def test_a_pattern_is_told_from_a_parenthesis() -> None:
    assert isinstance(read("(a)-[:T]->(b)"), tree.PatternTest)
    assert isinstance(read("(a)<--(b)"), tree.PatternTest)
    assert read("(a)-(b)") == Arithmetic(name("a"), (("-", name("b")),), 0)
    assert read("(a)<-(b)") == Comparison(name("a"), (("<", tree.Negate(name("b"), 0)),), 0)
    assert read("(a.x)<-0.5") == Comparison(Property(name("a"), "x", 0), (("<", number(-0.5)),), 0)


def test_keywords_are_names_where_a_name_stands() -> None:
    assert read("set.match") == Property(name("set"), "match", 0)
    assert read("n.order.limit") == Property(Property(name("n"), "order", 0), "limit", 0)


def test_count_is_a_subquery_a_function_or_a_name() -> None:
    assert isinstance(read("COUNT { (a)-->(b) }"), tree.Subquery)
    assert isinstance(read("count(*)"), tree.CountAll)
    assert isinstance(read("count {.x}"), tree.MapProjection)


def test_old_forms_are_read_as_what_they_mean() -> None:
    assert isinstance(read("exists((a)-->(b))"), tree.PatternTest)
    assert read("exists(a.b)") == tree.NullTest(Property(name("a"), "b", 0), True, 0)
    size = read("size((a)-->())")
    assert isinstance(size, tree.Subquery)
    assert size.kind == "COUNT"


def test_a_dotted_call_is_told_from_a_chain_of_keys() -> None:
    call = read("date . truncate('day', d)")
    assert isinstance(call, tree.Call)
    assert call.name == "date.truncate"


@pytest.mark.parametrize(
    "text", ["", "a b", "a AND", "= 1", "[1,]", "{a: 1, b}", "a IS 1", "a STARTS 'x'", "CASE END", "f(", "a[..]", "NOT"]
)
def test_broken_expressions(text: str) -> None:
    with pytest.raises((Refusal, AssertionError)):
        read(text)


def test_inequality_is_suggested() -> None:
    with pytest.raises(Refusal) as refused:
        read("a != 1")
    assert refused.value.suggestion == "Write <> for inequality."


@pytest.mark.parametrize(
    "text", ["(" * 65 + "a" + ")" * 65, "NOT " * 65 + "a", "-" * 65 + "a", "[" * 66 + "]" * 66, "a" + ".b" * 65]
)
def test_nesting_has_a_limit(text: str) -> None:
    with pytest.raises(Refusal) as refused:
        read(text)
    assert refused.value.code == "too_large"


def test_nesting_up_to_the_limit_is_read() -> None:
    assert read("(" * 60 + "a" + ")" * 60) == name("a")


@pytest.mark.parametrize(("operator", "most"), [("+", 65), ("<", 65), ("^", 65), (" OR ", 256), (" AND ", 256)])
def test_a_chain_has_a_limit(operator: str, most: int) -> None:
    read(operator.join(["a"] * most))
    with pytest.raises(Refusal) as refused:
        read(operator.join(["a"] * (most + 1)))
    assert refused.value.code == "too_large"
