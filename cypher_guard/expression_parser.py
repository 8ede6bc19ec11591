"""Expressions by precedence: each level is one number, each chain one flat node."""

from collections.abc import Callable

from cypher_guard.atom_parser import read_atom
from cypher_guard.cursor import Cursor
from cypher_guard.lexer import LARGEST_INTEGER
from cypher_guard.pattern_parser import read_labels
from cypher_guard.planner_weight import LONGEST_ARITHMETIC_CHAIN, LONGEST_LOGICAL_CHAIN, check_chain
from cypher_guard.tree import (
    Arithmetic,
    Comparison,
    Expression,
    Index,
    LabelTest,
    Literal,
    Logical,
    Negate,
    Not,
    NullTest,
    Predicate,
    Property,
    Slice,
    TypeTest,
)
from cypher_guard.violation import Refusal
from cypher_guard.vocabulary import TYPE_NAMES

_NOT, _COMPARISON, _PREDICATE, _SUM, _UNARY = 4, 5, 6, 7, 10
_LEVELS = {
    "OR": 1,
    "XOR": 2,
    "AND": 3,
    "=": _COMPARISON,
    "<>": _COMPARISON,
    "<": _COMPARISON,
    ">": _COMPARISON,
    "<=": _COMPARISON,
    ">=": _COMPARISON,
    "!=": _COMPARISON,
    "IN": _PREDICATE,
    "STARTS": _PREDICATE,
    "ENDS": _PREDICATE,
    "CONTAINS": _PREDICATE,
    "=~": _PREDICATE,
    "IS": _PREDICATE,
    "::": _PREDICATE,
    "+": _SUM,
    "-": _SUM,
    "||": _SUM,
    "*": 8,
    "/": 8,
    "%": 8,
    "^": 9,
}
_TYPE_PAIRS = frozenset(
    {("LOCAL", "TIME"), ("ZONED", "TIME"), ("LOCAL", "DATETIME"), ("ZONED", "DATETIME"), ("SIGNED", "INTEGER")}
)


def read_expression(cursor: Cursor, minimum: int = 1) -> Expression:
    """An expression of operators that bind at least as tightly as `minimum`."""
    cursor.steps += 1
    cursor.frames += 1
    if cursor.frames > cursor.max_frames:
        raise Refusal("too_large", f"the query nests deeper than {cursor.max_nesting} levels", cursor.position)
    kinds = cursor.kinds
    kind = kinds[cursor.index]
    if kind == "NOT" and minimum <= _NOT:
        left = _read_not(cursor)
    elif kind == "-" or kind == "+":
        left = _read_sign(cursor)
    else:
        left = read_atom(cursor)
        if kinds[cursor.index] in _POSTFIX:
            left = _read_postfix(cursor, left)
    level = _LEVELS.get(kinds[cursor.index], 0)
    while level >= minimum:
        left = _CHAINS[level](cursor, left, level)
        level = _LEVELS.get(kinds[cursor.index], 0)
    cursor.frames -= 1
    return left


def _read_not(cursor: Cursor) -> Expression:
    position = cursor.position
    cursor.advance()
    cursor.enter()
    operand = read_expression(cursor, _NOT)
    cursor.leave()
    return Not(operand, position)


def _read_sign(cursor: Cursor) -> Expression:
    position = cursor.position
    negative = cursor.kind == "-"
    cursor.advance()
    if negative and cursor.kind == "integer" and cursor.values[cursor.index] == LARGEST_INTEGER:
        cursor.advance()
        return Literal(-LARGEST_INTEGER, position)
    cursor.enter()
    operand = read_expression(cursor, _UNARY)
    cursor.leave()
    if isinstance(operand, Literal) and type(operand.value) in (int, float):
        value = operand.value
        assert isinstance(value, (int, float))
        return Literal(-value if negative and value != -LARGEST_INTEGER else value, position)
    return Negate(operand, position) if negative else operand


def _read_logical(cursor: Cursor, left: Expression, level: int) -> Expression:
    position = cursor.position
    operator = cursor.kind
    operands = [left]
    while cursor.accept(operator):
        operands.append(read_expression(cursor, level + 1))
    check_chain(len(operands), LONGEST_LOGICAL_CHAIN, position)
    return Logical(operator, tuple(operands), position)


def _read_pairs(cursor: Cursor, level: int, position: int) -> tuple[tuple[str, Expression], ...]:
    rest: list[tuple[str, Expression]] = []
    while _LEVELS.get(cursor.kind) == level:
        operator = cursor.kind
        if operator == "!=":
            raise Refusal("syntax", "!= is no operator here", cursor.position, "Write <> for inequality.")
        cursor.advance()
        rest.append((operator, read_expression(cursor, level + 1)))
    check_chain(len(rest), LONGEST_ARITHMETIC_CHAIN, position)
    return tuple(rest)


def _read_comparison(cursor: Cursor, left: Expression, level: int) -> Expression:
    position = cursor.position
    return Comparison(left, _read_pairs(cursor, level, position), position)


def _read_arithmetic(cursor: Cursor, left: Expression, level: int) -> Expression:
    position = cursor.position
    return Arithmetic(left, _read_pairs(cursor, level, position), position)


def _read_predicate(cursor: Cursor, left: Expression, level: int) -> Expression:
    position = cursor.position
    kind = cursor.kind
    cursor.advance()
    if kind == "IS":
        return _read_is(cursor, left, position)
    if kind == "::":
        return TypeTest(left, _read_type_name(cursor), False, position)
    if kind in ("STARTS", "ENDS"):
        cursor.expect("WITH", f"after {kind}")
        kind += " WITH"
    return Predicate(kind, left, read_expression(cursor, level + 1), position)


def _read_is(cursor: Cursor, left: Expression, position: int) -> Expression:
    negated = cursor.accept("NOT")
    if cursor.accept("NULL"):
        return NullTest(left, negated, position)
    if cursor.accept("::") or cursor.accept("TYPED"):
        return TypeTest(left, _read_type_name(cursor), negated, position)
    raise cursor.unexpected("NULL after IS")


def _read_type_name(cursor: Cursor) -> str:
    first = cursor.kind
    if (first, cursor.ahead(1)) in _TYPE_PAIRS:
        name = f"{first} {cursor.ahead(1)}"
        cursor.advance()
    elif first in TYPE_NAMES:
        name = first
    else:
        raise cursor.unexpected("the name of a type")
    cursor.advance()
    if cursor.kind == "NOT" and cursor.ahead(1) == "NULL":
        cursor.advance()
        cursor.advance()
        name += " NOT NULL"
    return name


_CHAINS: tuple[Callable[[Cursor, Expression, int], Expression], ...] = (
    _read_logical,
    _read_logical,
    _read_logical,
    _read_logical,
    _read_logical,
    _read_comparison,
    _read_predicate,
    _read_arithmetic,
    _read_arithmetic,
    _read_arithmetic,
)
_POSTFIX = frozenset({".", "[", ":"})


def _read_postfix(cursor: Cursor, subject: Expression) -> Expression:
    """`.key`, `[index]`, `[from..to]` and `:Label`, as many as follow."""
    count = 0
    while cursor.kind in _POSTFIX:
        count += 1
        if count > cursor.max_nesting:
            raise Refusal("too_large", f"more than {cursor.max_nesting} look-ups in a row", cursor.position)
        position = cursor.position
        if cursor.accept("."):
            subject = Property(subject, cursor.name("a property key"), position)
        elif cursor.accept(":"):
            subject = LabelTest(subject, read_labels(cursor, in_value=True), position)
        else:
            subject = _read_index(cursor, subject, position)
    return subject


def _read_index(cursor: Cursor, subject: Expression, position: int) -> Expression:
    cursor.advance()
    cursor.enter()
    start = None if cursor.kind == ".." else read_expression(cursor)
    if cursor.accept(".."):
        end = None if cursor.kind == "]" else read_expression(cursor)
        if start is None and end is None:
            raise cursor.unexpected("a bound of the slice")
        result: Expression = Slice(subject, start, end, position)
    elif start is None:
        raise cursor.unexpected("an index")
    else:
        result = Index(subject, start, position)
    cursor.leave()
    cursor.expect("]", "that closes the index")
    return result
