"""The operands of expressions: literals, names, calls, lists, maps, CASE, subqueries and patterns."""

from collections.abc import Callable

from cypher_guard.cursor import Cursor, is_name
from cypher_guard.lexer import LARGEST_INTEGER
from cypher_guard.match_parser import read_subquery, refuse_clause
from cypher_guard.pattern_parser import SHORTEST_FUNCTIONS, read_map, read_named_path, read_path, starts_path
from cypher_guard.tree import (
    Call,
    Case,
    Constant,
    CountAll,
    Expression,
    ListComprehension,
    ListOf,
    Literal,
    MapProjection,
    Match,
    NullTest,
    Parameter,
    PatternComprehension,
    PatternTest,
    Property,
    Quantifier,
    Subquery,
    Variable,
)
from cypher_guard.violation import Refusal
from cypher_guard.vocabulary import FOLLOWS_A_VARIABLE, SELDOM_A_VARIABLE, WRITING

_QUANTIFIERS = frozenset({"ANY", "ALL", "NONE", "SINGLE"})
_SUBQUERIES = frozenset({"EXISTS", "COUNT", "COLLECT"})


def read_atom(cursor: Cursor) -> Expression:
    """One operand, without what may follow it (`.key`, `[0]`, `:Label`)."""
    cursor.steps += 1
    kind = cursor.kinds[cursor.index]
    special = _READERS.get(kind)
    if special is not None:
        return special(cursor)
    if is_name(kind):
        return _read_named(cursor, kind)
    raise cursor.unexpected("an expression")


def _read_literal(cursor: Cursor) -> Expression:
    position = cursor.position
    value = cursor.values[cursor.index]
    if value == LARGEST_INTEGER and cursor.kind == "integer":
        raise Refusal("syntax", "this integer is beyond 64 bits", position)
    cursor.advance()
    return Literal(value, position)


def _read_parameter(cursor: Cursor) -> Expression:
    position = cursor.position
    name = str(cursor.values[cursor.index])
    cursor.advance()
    return Parameter(name, position)


def _read_parenthesis(cursor: Cursor) -> Expression:
    position = cursor.position
    if starts_path(cursor):
        return PatternTest(read_path(cursor, None), position)
    cursor.advance()
    inner = _nested(cursor)
    cursor.expect(")", "that closes the parenthesis")
    return inner


def _nested(cursor: Cursor) -> Expression:
    cursor.enter()
    inner = cursor.read_expression(cursor)
    cursor.leave()
    return inner


def _read_bracket(cursor: Cursor) -> Expression:
    position = cursor.position
    named = cursor.names(1) and cursor.ahead(2) == "=" and starts_path(cursor, 3)
    if named or starts_path(cursor, 1):
        return _read_pattern_comprehension(cursor, position)
    cursor.advance()
    if cursor.names() and cursor.ahead(1) == "IN":
        return _read_list_comprehension(cursor, position)
    items: list[Expression] = []
    while cursor.kind != "]":
        if items:
            cursor.expect(",", "between items of a list")
        items.append(_nested(cursor))
    cursor.advance()
    if all(isinstance(item, (Literal, Constant)) for item in items):
        return Constant([item.value for item in items if isinstance(item, (Literal, Constant))], position)
    return ListOf(tuple(items), position)


def _read_pattern_comprehension(cursor: Cursor, position: int) -> Expression:
    cursor.advance()
    cursor.enter()
    path = read_named_path(cursor)
    where = cursor.read_expression(cursor) if cursor.accept("WHERE") else None
    cursor.expect("|", "before the result of a pattern comprehension")
    result = cursor.read_expression(cursor)
    cursor.leave()
    cursor.expect("]", "that closes the comprehension")
    return PatternComprehension(path, where, result, position)


def _read_list_comprehension(cursor: Cursor, position: int) -> Expression:
    variable = cursor.variable()
    cursor.advance()
    cursor.enter()
    source = cursor.read_expression(cursor)
    where = cursor.read_expression(cursor) if cursor.accept("WHERE") else None
    result = cursor.read_expression(cursor) if cursor.accept("|") else None
    cursor.leave()
    cursor.expect("]", "that closes the comprehension")
    return ListComprehension(variable, source, where, result, position)


def _read_map(cursor: Cursor) -> Expression:
    cursor.enter()
    entries = read_map(cursor)
    cursor.leave()
    values = [value for _, value in entries.entries]
    if all(isinstance(value, (Literal, Constant)) for value in values):
        constant = {key: value.value for key, value in entries.entries if isinstance(value, (Literal, Constant))}
        return Constant(constant, entries.position)
    return entries


def _read_case(cursor: Cursor) -> Expression:
    position = cursor.position
    cursor.advance()
    cursor.enter()
    subject = None if cursor.kind == "WHEN" else cursor.read_expression(cursor)
    branches: list[tuple[Expression, Expression]] = []
    while cursor.accept("WHEN"):
        tests = [cursor.read_expression(cursor)]
        while subject is not None and cursor.accept(","):
            tests.append(cursor.read_expression(cursor))
        cursor.expect("THEN", "after WHEN")
        result = cursor.read_expression(cursor)
        branches.extend((test, result) for test in tests)
    if not branches:
        raise cursor.unexpected("WHEN")
    otherwise = cursor.read_expression(cursor) if cursor.accept("ELSE") else None
    cursor.expect("END", "that closes CASE")
    cursor.leave()
    return Case(subject, tuple(branches), otherwise, position)


def _read_named(cursor: Cursor, kind: str) -> Expression:
    following = cursor.ahead(1)
    position = cursor.position
    if following == "(":
        return _read_call(cursor, kind, str(cursor.values[cursor.index]), 1, position)
    if following == "{":
        if kind in _SUBQUERIES and cursor.ahead(2) not in (".", "}"):
            return read_subquery(cursor)
        return _read_map_projection(cursor, position)
    if following == "." and (dotted := _dotted_call(cursor)):
        name, length = dotted
        return _read_call(cursor, "", name, length, position)
    if kind == "NOT" or (kind in SELDOM_A_VARIABLE and following not in FOLLOWS_A_VARIABLE):
        raise (refuse_clause(cursor) if kind in WRITING else None) or cursor.unexpected("an expression")
    return Variable(cursor.variable(), position)


def _dotted_call(cursor: Cursor) -> tuple[str, int] | None:
    """`date.truncate(` as its name and length in tokens; None for a chain of property keys."""
    length = 1
    while cursor.ahead(length) == "." and cursor.names(length + 1):
        length += 2
        cursor.steps += 1
    if cursor.ahead(length) != "(":
        return None
    start = cursor.index
    return ".".join(str(value) for value in cursor.values[start : start + length : 2]), length


def _read_call(cursor: Cursor, kind: str, name: str, length: int, position: int) -> Expression:
    if kind in _QUANTIFIERS and cursor.names(2) and cursor.ahead(3) == "IN":
        return _read_quantifier(cursor, kind, position)
    if kind in SHORTEST_FUNCTIONS:
        read_path(cursor, None)
    if kind == "EXISTS" or kind == "SIZE":
        special = _read_exists_or_size(cursor, kind, position)
        if special is not None:
            return special
    if kind == "REDUCE":
        raise Refusal(
            "unknown_function",
            "reduce is left out: it can compute without bound",
            position,
            "Use a list comprehension, or an aggregate such as sum().",
        )
    for _ in range(length + 1):
        cursor.advance()
    if cursor.kind == "*" and kind == "COUNT":
        cursor.advance()
        cursor.expect(")", "that closes the call")
        return CountAll(position)
    cursor.enter()
    distinct = cursor.accept("DISTINCT")
    arguments: list[Expression] = []
    while cursor.kind != ")":
        if arguments:
            cursor.expect(",", "between arguments")
        arguments.append(cursor.read_expression(cursor))
    cursor.leave()
    cursor.advance()
    return Call(name, tuple(arguments), distinct, position)


def _read_quantifier(cursor: Cursor, kind: str, position: int) -> Expression:
    cursor.advance()
    cursor.advance()
    cursor.enter()
    variable = cursor.variable()
    cursor.advance()
    source = cursor.read_expression(cursor)
    cursor.expect("WHERE", f"in {kind.lower()}()")
    where = cursor.read_expression(cursor)
    cursor.leave()
    cursor.expect(")", f"that closes {kind.lower()}()")
    return Quantifier(kind.lower(), variable, source, where, position)


def _read_exists_or_size(cursor: Cursor, kind: str, position: int) -> Expression | None:
    """`exists((a)-->(b))` and `size((a)-->(b))`, and the old `exists(n.key)`, in their forms of today."""
    if starts_path(cursor, 2):
        cursor.advance()
        cursor.advance()
        path = read_path(cursor, None)
        cursor.expect(")", "that closes the call")
        if kind == "EXISTS":
            return PatternTest(path, position)
        return Subquery("COUNT", (Match(False, (path,), None, position),), None, position)
    if kind == "SIZE":
        return None
    cursor.advance()
    cursor.advance()
    operand = _nested(cursor)
    if not isinstance(operand, Property):
        raise Refusal(
            "bad_arguments", "exists() takes a pattern", position, "Write x IS NOT NULL, or EXISTS { pattern }."
        )
    cursor.expect(")", "that closes the call")
    return NullTest(operand, True, position)


def _read_map_projection(cursor: Cursor, position: int) -> Expression:
    subject = Variable(cursor.variable(), position)
    cursor.advance()
    cursor.enter()
    entries: list[tuple[str | None, Expression]] = []
    seen: set[str | None] = set()
    while cursor.kind != "}":
        if entries:
            cursor.expect(",", "between entries of a map projection")
        at = cursor.position
        key, value = _read_projection_entry(cursor, subject)
        if key in seen:
            raise Refusal("duplicate_name", f"the key {key or '*'} stands twice in this map projection", at)
        seen.add(key)
        entries.append((key, value))
    cursor.leave()
    cursor.advance()
    return MapProjection(subject, tuple(entries), position)


def _read_projection_entry(cursor: Cursor, subject: Variable) -> tuple[str | None, Expression]:
    position = cursor.position
    if cursor.accept("."):
        if cursor.accept("*"):
            return None, subject
        key = cursor.name("a key")
        return key, Property(subject, key, position)
    if cursor.ahead(1) == ":":
        key = cursor.name("a key")
        cursor.advance()
        return key, cursor.read_expression(cursor)
    name = cursor.variable()
    return name, Variable(name, position)


def _read_word_literal(value: bool | None) -> Callable[[Cursor], Expression]:
    def read(cursor: Cursor) -> Expression:
        position = cursor.position
        if cursor.ahead(1) in ("(", "{"):
            raise cursor.unexpected("an expression")
        cursor.advance()
        return Literal(value, position)

    return read


_READERS: dict[str, Callable[[Cursor], Expression]] = {
    "string": _read_literal,
    "integer": _read_literal,
    "float": _read_literal,
    "parameter": _read_parameter,
    "TRUE": _read_word_literal(True),
    "FALSE": _read_word_literal(False),
    "NULL": _read_word_literal(None),
    "(": _read_parenthesis,
    "[": _read_bracket,
    "{": _read_map,
    "CASE": _read_case,
}
