"""Patterns: nodes, relationships, their lengths and quantifiers, and comma-separated paths."""

from typing import Literal as OneOf

from cypher_guard.cursor import Cursor, is_name
from cypher_guard.lexer import LARGEST_INTEGER
from cypher_guard.planner_weight import check_count
from cypher_guard.tree import (
    AnyLabel,
    Expression,
    LabelChain,
    LabelExpression,
    LabelName,
    Length,
    MapOf,
    NodePattern,
    NotLabel,
    Path,
    Quantified,
    RelationshipPattern,
)
from cypher_guard.violation import Refusal

SELECTORS = frozenset({"SHORTEST", "ANY", "ALL", "REPEATABLE", "DIFFERENT", "ACYCLIC", "TRAIL", "WALK"})
SHORTEST_FUNCTIONS = frozenset({"SHORTESTPATH", "ALLSHORTESTPATHS"})


def starts_path(cursor: Cursor, offset: int = 0) -> bool:
    """Whether the bracket there opens a node pattern that a relationship follows.

    Decided by a fixed number of tokens: `(a)-[`, `(a)--`, `(a)<-[`, `(a)<--`; in an expression none of these
    means anything else that a query could compute.
    """
    if cursor.ahead(offset) != "(":
        return False
    inside = cursor.ahead(offset + 1)
    if inside not in (")", ":", "{"):
        if not is_name(inside):
            return False
        if cursor.ahead(offset + 2) not in (")", ":", "{", "WHERE", "IS"):
            return False
    after = cursor.partners[cursor.index + offset] + 1
    kinds = cursor.kinds
    if kinds[after] == "<":
        return kinds[after + 1] == "-" and kinds[after + 2] in ("[", "-")
    return kinds[after] == "-" and kinds[after + 1] in ("[", "-")


def read_paths(cursor: Cursor) -> tuple[Path, ...]:
    """Comma-separated paths, each named or not."""
    paths = [read_named_path(cursor)]
    while cursor.accept(","):
        paths.append(read_named_path(cursor))
        check_count("patterns", len(paths), paths[0].position)
    return tuple(paths)


def read_named_path(cursor: Cursor) -> Path:
    """`p = (a)-[:T]->(b)` or the same without a name."""
    name = None
    if cursor.ahead(1) == "=" and cursor.names():
        name = cursor.variable()
        cursor.advance()
    return read_path(cursor, name)


def read_path(cursor: Cursor, name: str | None) -> Path:
    """Nodes and relationships in turn; a quantified group stands for a relationship between two nodes."""
    position = cursor.position
    _refuse_selectors(cursor)
    nodes: list[NodePattern] = []
    relationships: list[RelationshipPattern] = []
    after_group = False
    while True:
        if cursor.kind == "(" and cursor.ahead(1) == "(":
            if len(nodes) == len(relationships):
                nodes.append(_unnamed_node(cursor.position))
            relationships.append(_read_group(cursor))
            after_group = True
            continue
        if cursor.kind == "(" and len(nodes) == len(relationships):
            nodes.append(_read_node(cursor))
            after_group = False
            continue
        if cursor.kind in ("-", "<") and (after_group or len(nodes) > len(relationships)):
            if after_group:
                nodes.append(_unnamed_node(cursor.position))
                after_group = False
            relationships.append(_read_relationship(cursor))
            if cursor.kind != "(":
                raise cursor.unexpected("a node in parentheses")
            continue
        break
    if after_group:
        nodes.append(_unnamed_node(cursor.position))
    if not nodes:
        raise cursor.unexpected("a node in parentheses")
    return Path(name, tuple(nodes), tuple(relationships), position)


def _refuse_selectors(cursor: Cursor) -> None:
    kind = cursor.kind
    if kind in SHORTEST_FUNCTIONS or (kind in SELECTORS and cursor.ahead(1) not in ("=",)):
        raise Refusal(
            "unsupported_clause",
            f"{kind} is left out: a search for shortest paths cannot be bounded here",
            cursor.position,
            "Use a variable length with an upper bound, such as -[:TYPE*1..3]->, and ORDER BY length(p).",
        )


def _unnamed_node(position: int) -> NodePattern:
    return NodePattern(None, None, None, None, position)


def _read_node(cursor: Cursor) -> NodePattern:
    position = cursor.position
    cursor.expect("(", "that opens a node")
    variable = None
    labels = None
    if cursor.kind != "WHERE" or cursor.ahead(1) in (":", ")", "{", "WHERE"):
        variable = cursor.variable() if cursor.names() and not _is_label_test(cursor) else None
    if cursor.accept(":") or cursor.accept("IS"):
        labels = read_labels(cursor)
    properties = read_properties(cursor)
    where = cursor.read_expression(cursor) if cursor.accept("WHERE") else None
    cursor.expect(")", "that closes the node")
    return NodePattern(variable, labels, properties, where, position)


def _is_label_test(cursor: Cursor) -> bool:
    """`(IS Label)`: IS is the keyword when a name follows it."""
    return cursor.kind == "IS" and cursor.names(1) and cursor.ahead(1) != "IS"


def read_properties(cursor: Cursor) -> MapOf | None:
    """A map of properties in a pattern, if one stands here."""
    if cursor.kind == "parameter":
        raise Refusal(
            "syntax",
            "a whole map as a parameter cannot stand in a pattern",
            cursor.position,
            "Name each property: {key: $value}.",
        )
    return read_map(cursor) if cursor.kind == "{" else None


def read_map(cursor: Cursor) -> MapOf:
    """`{key: expression, …}`."""
    position = cursor.position
    cursor.expect("{", "that opens a map")
    entries: list[tuple[str, Expression]] = []
    seen: set[str] = set()
    while cursor.kind != "}":
        if entries:
            cursor.expect(",", "between entries of a map")
        at = cursor.position
        key = cursor.name("a key")
        if key in seen:
            raise Refusal("duplicate_name", f"the key {key} stands twice in this map", at)
        seen.add(key)
        cursor.expect(":", "after a key")
        entries.append((key, cursor.read_expression(cursor)))
    cursor.advance()
    return MapOf(tuple(entries), position)


def read_labels(cursor: Cursor, *, in_value: bool = False) -> LabelExpression:
    """A label expression: names, `&` or `:`, `|`, `!`, `%` and parentheses.

    in_value: in an expression, where a bar may also start a comprehension's result.
    """
    position = cursor.position
    options = [_read_all_labels(cursor)]
    while cursor.kind == "|" and (not in_value or _label_follows(cursor)):
        cursor.advance()
        cursor.accept(":")
        options.append(_read_all_labels(cursor))
    _check_label_count(cursor, len(options), position)
    return options[0] if len(options) == 1 else LabelChain("|", tuple(options), position)


def _label_follows(cursor: Cursor) -> bool:
    """Whether `|` goes on with labels, or starts a comprehension's result: `[x IN xs WHERE x:A | x.name]`."""
    following = cursor.ahead(1)
    if following in (":", "!", "%"):
        return True
    if following == "(":
        return cursor.ahead(2) in ("!", "%", "(") or cursor.names(2)
    return is_name(following) and cursor.ahead(2) not in _FOLLOWS_A_VALUE


_FOLLOWS_A_VALUE = frozenset({".", "(", "[", "{", "+", "-", "*", "/", "^", "||", "<", ">", "IN"})


def _check_label_count(cursor: Cursor, count: int, position: int) -> None:
    """A flat chain here is a deep tree in a database's planner."""
    if count > cursor.max_nesting:
        raise Refusal("too_large", f"more than {cursor.max_nesting} labels in a row", position)


def _read_all_labels(cursor: Cursor) -> LabelExpression:
    position = cursor.position
    operands = [_read_label(cursor)]
    while cursor.accept("&") or cursor.accept(":"):
        operands.append(_read_label(cursor))
    _check_label_count(cursor, len(operands), position)
    return operands[0] if len(operands) == 1 else LabelChain("&", tuple(operands), position)


def _read_label(cursor: Cursor) -> LabelExpression:
    position = cursor.position
    if cursor.accept("!"):
        cursor.enter()
        operand = _read_label(cursor)
        cursor.leave()
        return NotLabel(operand, position)
    if cursor.accept("%"):
        return AnyLabel(position)
    if cursor.accept("("):
        cursor.enter()
        inner = read_labels(cursor)
        cursor.leave()
        cursor.expect(")", "that closes the labels")
        return inner
    if cursor.text.startswith("$", position):
        raise Refusal("unknown_label", "a label must be written out, not computed", position)
    return LabelName(cursor.name("a label"), position)


def _read_types(cursor: Cursor) -> tuple[LabelName, ...]:
    types = [_read_type(cursor)]
    while cursor.accept("|"):
        cursor.accept(":")
        types.append(_read_type(cursor))
    if cursor.kind in ("&", "!", "%", ":"):
        raise Refusal(
            "unknown_relationship",
            f"{cursor.kind} cannot stand between relationship types",
            cursor.position,
            "Name the types one by one: [:A|B].",
        )
    return tuple(types)


def _read_type(cursor: Cursor) -> LabelName:
    position = cursor.position
    if cursor.kind in ("!", "%", "(", "parameter") or cursor.text.startswith("$", position):
        raise Refusal(
            "unknown_relationship",
            "relationship types must be named one by one",
            position,
            "Name the types: [:A|B].",
        )
    return LabelName(cursor.name("a relationship type"), position)


def _read_relationship(cursor: Cursor) -> RelationshipPattern:
    position = cursor.position
    left = cursor.accept("<")
    cursor.expect("-", "of a relationship")
    variable: str | None = None
    types: tuple[LabelName, ...] = ()
    properties, where, length = None, None, None
    bare = not cursor.accept("[")
    if not bare:
        if cursor.names() and not (cursor.kind == "WHERE" and cursor.ahead(1) not in (":", "]", "*", "{")):
            variable = cursor.variable()
        if cursor.accept(":") or (cursor.kind == "IS" and cursor.accept("IS")):
            types = _read_types(cursor)
        length = _read_star(cursor)
        properties = read_properties(cursor)
        where = cursor.read_expression(cursor) if cursor.accept("WHERE") else None
        cursor.expect("]", "that closes the relationship")
    cursor.expect("-", "of a relationship")
    right = cursor.accept(">")
    quantifier = _read_quantifier(cursor)
    if quantifier is not None:
        if length is not None:
            raise Refusal("syntax", "a relationship cannot have both * and a quantifier", quantifier.position)
        length = quantifier
    direction: OneOf["left", "right", "both"] = "both" if left == right else "left" if left else "right"
    return RelationshipPattern(variable, types, properties, where, direction, length, None, bare, position)


def _read_star(cursor: Cursor) -> Length | None:
    """`*`, `*2`, `*1..3`, `*..3` or `*1..`."""
    position = cursor.position
    if not cursor.accept("*"):
        return None
    minimum: int | None = None
    if cursor.kind == "parameter":
        raise Refusal("unbounded", "the bounds of a variable length must be numbers, not parameters", position)
    if cursor.kind == "integer":
        minimum = _read_count(cursor)
        if cursor.kind != "..":
            return Length(minimum, minimum, position)
    if not cursor.accept(".."):
        return Length(1, None, position)
    if cursor.kind == "parameter":
        raise Refusal("unbounded", "the bounds of a variable length must be numbers, not parameters", position)
    maximum = _read_count(cursor) if cursor.kind == "integer" else None
    return Length(1 if minimum is None else minimum, maximum, position)


def _read_quantifier(cursor: Cursor) -> Length | None:
    """`+`, `*`, `{2}`, `{1,3}`, `{,3}` or `{1,}` after a relationship or a group."""
    position = cursor.position
    if cursor.accept("+"):
        return Length(1, None, position)
    if cursor.accept("*"):
        return Length(0, None, position)
    if not cursor.accept("{"):
        return None
    minimum = _read_count(cursor) if cursor.kind == "integer" else None
    if cursor.accept(","):
        maximum = _read_count(cursor) if cursor.kind == "integer" else None
    elif minimum is None:
        raise cursor.unexpected("a number of hops")
    else:
        maximum = minimum
    cursor.expect("}", "that closes the quantifier")
    return Length(minimum or 0, maximum, position)


def _read_count(cursor: Cursor) -> int:
    value = int(cursor.values[cursor.index])
    if value >= LARGEST_INTEGER:
        raise Refusal("syntax", "this integer is beyond 64 bits", cursor.position)
    cursor.advance()
    return value


def _read_group(cursor: Cursor) -> RelationshipPattern:
    """`((x)-[r:T]->(y) WHERE …){1,3}` of exactly one relationship."""
    position = cursor.position
    cursor.advance()
    cursor.enter()
    inner = read_path(cursor, None)
    where = cursor.read_expression(cursor) if cursor.accept("WHERE") else None
    cursor.leave()
    cursor.expect(")", "that closes the group")
    length = _read_quantifier(cursor)
    if length is None:
        raise Refusal("unsupported_clause", "a pattern in parentheses needs a quantifier such as {1,3}", position)
    if len(inner.relationships) != 1 or inner.relationships[0].length is not None:
        raise Refusal(
            "unsupported_clause",
            "a quantified group may hold exactly one relationship",
            position,
            "Write each repetition out, or quantify a single relationship: -[:TYPE]->{1,3}.",
        )
    relationship = inner.relationships[0]
    return RelationshipPattern(
        relationship.variable,
        relationship.types,
        relationship.properties,
        relationship.where,
        relationship.direction,
        length,
        Quantified(inner.nodes[0], inner.nodes[1], where, position),
        relationship.bare,
        position,
    )
