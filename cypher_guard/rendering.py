"""The canonical tree as text. Every literal becomes a reserved parameter; every name is quoted where needed."""

import re
from collections.abc import Callable
from typing import Any

from cypher_guard.binder import VisibilityShape
from cypher_guard.functions import FUNCTIONS
from cypher_guard.tree import (
    Arithmetic,
    Call,
    Case,
    Clause,
    Comparison,
    Constant,
    CountAll,
    Expression,
    Index,
    Item,
    LabelChain,
    LabelExpression,
    LabelName,
    LabelTest,
    ListComprehension,
    ListOf,
    Literal,
    Logical,
    MapOf,
    MapProjection,
    Match,
    Negate,
    NodePattern,
    Not,
    NullTest,
    Parameter,
    Path,
    PatternComprehension,
    Predicate,
    Projection,
    Property,
    Quantifier,
    RelationshipPattern,
    Slice,
    Subquery,
    TypeTest,
    Unwind,
    Variable,
    VisibilityTest,
)
from cypher_guard.vocabulary import RESERVED

_PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\Z")
_PLAIN_PARAMETER = re.compile(r"(?:[A-Za-z_][A-Za-z0-9_]*|0|[1-9][0-9]*)\Z")
# How tightly operators bind, loosest first, as in Cypher's grammar.
_LOGICAL = {"OR": 1, "XOR": 2, "AND": 3}
_NOT, _COMPARISON, _PREDICATE = 4, 5, 6
_ARITHMETIC = {"+": 7, "-": 7, "*": 8, "/": 8, "%": 8, "^": 9}
_SIGN, _LOOK_UP, _ATOM = 10, 11, 12
_ARROWS = {"left": ("<-", "-"), "right": ("-", "->"), "both": ("-", "-")}


def quote(name: str) -> str:
    """A name as Cypher reads it back."""
    if _PLAIN_NAME.match(name) and name.upper() not in RESERVED:
        return name
    return f"`{name.replace('`', '``')}`"


def quote_parameter(name: str) -> str:
    """A parameter's name as Cypher reads it back behind the dollar; digits alone are a name there."""
    return name if _PLAIN_PARAMETER.match(name) else f"`{name.replace('`', '``')}`"


class Renderer:
    """Writes one query; `literals` holds the values that its reserved parameters carry."""

    def __init__(self, visibility: VisibilityShape | None) -> None:
        self.visibility = visibility
        self.literals: dict[str, object] = {}
        self._names: dict[tuple[type, str], str] = {}

    def query(self, clauses: tuple[Clause, ...]) -> str:
        """All clauses on one line."""
        return " ".join([self.clause(clause) for clause in clauses])

    def clause(self, clause: Clause) -> str:
        if isinstance(clause, Match):
            return f"{'OPTIONAL MATCH' if clause.optional else 'MATCH'} {self._match_body(clause)}"
        if isinstance(clause, Unwind):
            return f"UNWIND {self.expression(clause.source)} AS {quote(clause.variable)}"
        return self._projection(clause)

    def _match_body(self, match: Match) -> str:
        paths = ", ".join([self._path(path) for path in match.paths])
        return paths if match.where is None else f"{paths} WHERE {self.expression(match.where)}"

    def _projection(self, clause: Projection) -> str:
        text = "RETURN " if clause.final else "WITH "
        if clause.distinct:
            text += "DISTINCT "
        text += ", ".join([self._item(item) for item in clause.items])
        if clause.order:
            keys = [self.expression(key.expression) + (" DESC" if key.descending else "") for key in clause.order]
            text += " ORDER BY " + ", ".join(keys)
        for keyword, bound in (("SKIP", clause.skip), ("LIMIT", clause.limit)):
            if isinstance(bound, Literal):
                text += f" {keyword} {int(str(bound.value))}"
            elif bound is not None:
                text += f" {keyword} {self.expression(bound)}"
        return text if clause.where is None else f"{text} WHERE {self.expression(clause.where)}"

    def _item(self, item: Item) -> str:
        return f"{self.expression(item.expression)} AS {quote(item.name)}"

    def _path(self, path: Path) -> str:
        pieces = [] if path.variable is None else [quote(path.variable), " = "]
        pieces.append(self._node(path.nodes[0]))
        for relationship, node in zip(path.relationships, path.nodes[1:], strict=True):
            pieces.append(self._relationship(relationship))
            pieces.append(self._node(node))
        return "".join(pieces)

    def _node(self, node: NodePattern) -> str:
        text = "" if node.variable is None else quote(node.variable)
        if node.labels is not None:
            text += f":{self._labels(node.labels)}"
        if node.properties is not None:
            text += (" " if text else "") + self._map(node.properties)
        return f"({text})"

    def _labels(self, labels: LabelExpression) -> str:
        """Only names, all of them (`A:B`) or one of them (`A|B`): the binder moved the rest into WHERE."""
        if isinstance(labels, LabelName):
            return quote(labels.name)
        assert isinstance(labels, LabelChain), labels
        separator = "|" if labels.operator == "|" else ":"
        return separator.join([self._labels(operand) for operand in labels.operands])

    def _relationship(self, relationship: RelationshipPattern) -> str:
        before, after = _ARROWS[relationship.direction]
        text = "" if relationship.variable is None else quote(relationship.variable)
        text += ":" + "|".join([quote(name.name) for name in relationship.types])
        length = relationship.length
        if length is not None:
            text += f"*{length.minimum}..{length.maximum}"
        if relationship.properties is not None:
            text += f" {self._map(relationship.properties)}"
        return f"{before}[{text}]{after}"

    def expression(self, node: Expression) -> str:
        """An expression that may stand anywhere."""
        return _WRITERS[node.__class__](self, node)

    def operand(self, node: Expression, level: int) -> str:
        """An expression beside an operator: in parentheses unless it binds more tightly than `level`."""
        text = _WRITERS[node.__class__](self, node)
        if binding(node) > level:
            return text
        # An engine of ours takes `(COUNT {` for a pattern.
        return f"(0 + {text})" if text.startswith("COUNT {") else f"({text})"

    def constant(self, value: object) -> str:
        """A literal as its reserved parameter; equal literals share one, so that equal expressions stay equal."""
        if value is None:
            return "null"
        if value is True:
            return "true"
        if value is False:
            return "false"
        key = (value.__class__, repr(value))
        name = self._names.get(key)
        if name is None:
            name = f"__s{len(self._names)}"
            self._names[key] = name
            self.literals[name] = value
        return f"${name}"

    def _map(self, node: MapOf) -> str:
        return "{" + ", ".join([f"{quote(key)}: {self.expression(value)}" for key, value in node.entries]) + "}"

    def _case(self, node: Case) -> str:
        text = "CASE" if node.subject is None else f"CASE {self.expression(node.subject)}"
        for test, result in node.branches:
            text += f" WHEN {self.expression(test)} THEN {self.expression(result)}"
        if node.otherwise is not None:
            text += f" ELSE {self.expression(node.otherwise)}"
        return text + " END"

    def _chain(self, node: Arithmetic | Comparison) -> str:
        level = binding(node)
        pieces = [self.operand(node.first, level)]
        for operator, operand in node.rest:
            pieces.append(operator)
            pieces.append(self.operand(operand, level))
        return " ".join(pieces)

    def _call(self, node: Call) -> str:
        name = node.name
        if name.lower() not in FUNCTIONS:
            name = ".".join([quote(part) for part in name.split(".")])
        arguments = ", ".join([self.expression(argument) for argument in node.arguments])
        return f"{name}({'DISTINCT ' if node.distinct else ''}{arguments})"

    def _projection_map(self, node: MapProjection) -> str:
        entries = [".*" if key is None else f"{quote(key)}: {self.expression(value)}" for key, value in node.entries]
        return f"{quote(node.subject.name)} {{{', '.join(entries)}}}"

    def _slice(self, node: Slice) -> str:
        start = "" if node.start is None else self.expression(node.start)
        end = "" if node.end is None else self.expression(node.end)
        return f"{self.operand(node.subject, _LOOK_UP)}[{start}..{end}]"

    def _comprehension(self, node: ListComprehension) -> str:
        text = f"{quote(node.variable)} IN {self.expression(node.source)}"
        if node.where is not None:
            text += f" WHERE {self.expression(node.where)}"
        if node.result is not None:
            text += f" | {self.expression(node.result)}"
        return f"[{text}]"

    def _pattern_comprehension(self, node: PatternComprehension) -> str:
        where = "" if node.where is None else f" WHERE {self.expression(node.where)}"
        return f"[{self._path(node.path)}{where} | {self.expression(node.result)}]"

    def _subquery(self, node: Subquery) -> str:
        clauses = node.clauses
        if len(clauses) == 1 and not clauses[0].optional:
            return f"{node.kind} {{ MATCH {self._match_body(clauses[0])} }}"
        return f"{node.kind} {{ {' '.join([self.clause(clause) for clause in clauses])} }}"

    def _visibility(self, node: VisibilityTest) -> str:
        assert self.visibility is not None
        holder, parameter = quote(self.visibility.property), quote_parameter(self.visibility.parameter)
        return f"any(__a IN {self.operand(node.subject, _LOOK_UP)}.{holder} WHERE __a IN ${parameter})"

    def _quantifier(self, node: Quantifier) -> str:
        source, where = self.expression(node.source), self.expression(node.where)
        return f"{node.kind}({quote(node.variable)} IN {source} WHERE {where})"


def _null_test(renderer: Renderer, node: NullTest) -> str:
    return f"{renderer.operand(node.operand, _PREDICATE)} IS {'NOT ' if node.negated else ''}NULL"


def _type_test(renderer: Renderer, node: TypeTest) -> str:
    return f"{renderer.operand(node.operand, _PREDICATE)} IS {'NOT ' if node.negated else ''}:: {node.type_name}"


def _property(renderer: Renderer, node: Property) -> str:
    return f"{renderer.operand(node.subject, _LOOK_UP)}.{quote(node.key)}"


def _index(renderer: Renderer, node: Index) -> str:
    return f"{renderer.operand(node.subject, _LOOK_UP)}[{renderer.expression(node.index)}]"


def _label_test(renderer: Renderer, node: LabelTest) -> str:
    assert isinstance(node.labels, LabelName), node.labels
    return f"{renderer.operand(node.subject, _LOOK_UP)}:{quote(node.labels.name)}"


def _logical(renderer: Renderer, node: Logical) -> str:
    level = _LOGICAL[node.operator]
    return f" {node.operator} ".join([renderer.operand(operand, level) for operand in node.operands])


def _predicate(renderer: Renderer, node: Predicate) -> str:
    left, right = renderer.operand(node.left, _PREDICATE), renderer.operand(node.right, _PREDICATE)
    # An engine of ours reads any bracket behind IN as a list of values.
    right = f"({right})" if isinstance(node.right, (ListComprehension, PatternComprehension)) else right
    return f"{left} {node.operator} {right}"


def _list(renderer: Renderer, node: ListOf) -> str:
    return "[" + ", ".join([renderer.expression(item) for item in node.items]) + "]"


_WRITERS: dict[type, Callable[[Renderer, Any], str]] = {
    Literal: lambda renderer, node: renderer.constant(node.value),
    Constant: lambda renderer, node: renderer.constant(node.value),
    Parameter: lambda _, node: f"${quote_parameter(node.name)}",
    Variable: lambda _, node: quote(node.name),
    Property: _property,
    Index: _index,
    Slice: Renderer._slice,
    LabelTest: _label_test,
    ListOf: _list,
    MapOf: Renderer._map,
    MapProjection: Renderer._projection_map,
    Call: Renderer._call,
    CountAll: lambda _renderer, _node: "count(*)",
    Case: Renderer._case,
    Not: lambda renderer, node: f"NOT {renderer.operand(node.operand, _NOT)}",
    Negate: lambda renderer, node: f"-{renderer.operand(node.operand, _SIGN)}",
    Logical: _logical,
    Arithmetic: Renderer._chain,
    Comparison: Renderer._chain,
    Predicate: _predicate,
    NullTest: _null_test,
    TypeTest: _type_test,
    ListComprehension: Renderer._comprehension,
    Quantifier: Renderer._quantifier,
    PatternComprehension: Renderer._pattern_comprehension,
    Subquery: Renderer._subquery,
    VisibilityTest: Renderer._visibility,
}
_LEVELS: dict[type, int] = {
    Case: 0,
    MapProjection: 0,
    Not: _NOT,
    Comparison: _COMPARISON,
    Predicate: _PREDICATE,
    NullTest: _PREDICATE,
    TypeTest: _PREDICATE,
    LabelTest: _PREDICATE,
    Negate: _SIGN,
}


def binding(node: Expression) -> int:
    """How tightly an expression's own operator binds; words and brackets bind tightest."""
    if isinstance(node, Logical):
        return _LOGICAL[node.operator]
    if isinstance(node, Arithmetic):
        return _ARITHMETIC[node.rest[0][0]]
    return _LEVELS.get(node.__class__, _ATOM)
