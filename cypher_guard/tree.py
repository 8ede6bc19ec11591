"""The typed tree of a query: what the parser builds, the binder rewrites and the renderer writes.

Positions are offsets into the caller's text; they take no part in equality, so that the same expression
written twice is equal.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import Literal as OneOf

Scalar = str | int | float | bool | None


@dataclass(frozen=True, slots=True)
class Literal:
    value: Scalar
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Constant:
    """A literal list or map without anything variable in it; hoisted whole."""

    value: object
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Parameter:
    name: str
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Variable:
    name: str
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Property:
    subject: "Expression"
    key: str
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Index:
    subject: "Expression"
    index: "Expression"
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Slice:
    subject: "Expression"
    start: "Expression | None"
    end: "Expression | None"
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class LabelTest:
    subject: "Expression"
    labels: "LabelExpression"
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class ListOf:
    items: "tuple[Expression, ...]"
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class MapOf:
    entries: "tuple[tuple[str, Expression], ...]"
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class MapProjection:
    """`n {.title, .*, x: 1}`: an entry with key None stands for `.*`."""

    subject: Variable
    entries: "tuple[tuple[str | None, Expression], ...]"
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    name: str
    arguments: "tuple[Expression, ...]"
    distinct: bool
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class CountAll:
    """`count(*)`."""

    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Case:
    subject: "Expression | None"
    branches: "tuple[tuple[Expression, Expression], ...]"
    otherwise: "Expression | None"
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Not:
    operand: "Expression"
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Negate:
    operand: "Expression"
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Logical:
    """AND, OR or XOR of two or more operands: a flat chain, however long."""

    operator: str
    operands: "tuple[Expression, ...]"
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Arithmetic:
    """A flat chain of operators of one precedence, read from the left."""

    first: "Expression"
    rest: "tuple[tuple[str, Expression], ...]"
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Comparison:
    """`a < b <= c`: each pair must hold."""

    first: "Expression"
    rest: "tuple[tuple[str, Expression], ...]"
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Predicate:
    """IN, STARTS WITH, ENDS WITH, CONTAINS or =~."""

    operator: str
    left: "Expression"
    right: "Expression"
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class NullTest:
    operand: "Expression"
    negated: bool
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class TypeTest:
    operand: "Expression"
    type_name: str
    negated: bool
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class ListComprehension:
    variable: str
    source: "Expression"
    where: "Expression | None"
    result: "Expression | None"
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Quantifier:
    """any, all, none or single of a list's items."""

    kind: str
    variable: str
    source: "Expression"
    where: "Expression"
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class PatternComprehension:
    path: "Path"
    where: "Expression | None"
    result: "Expression"
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class PatternTest:
    """A pattern that stands as a predicate; leaves the binder as EXISTS {}."""

    path: "Path"
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Subquery:
    """EXISTS {}, COUNT {} or COLLECT {}."""

    kind: str
    clauses: "tuple[Match, ...]"
    result: "Expression | None"
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class VisibilityTest:
    """The principal may see this node; only the binder makes one."""

    subject: "Expression"


Expression = (
    Literal
    | Constant
    | Parameter
    | Variable
    | Property
    | Index
    | Slice
    | LabelTest
    | ListOf
    | MapOf
    | MapProjection
    | Call
    | CountAll
    | Case
    | Not
    | Negate
    | Logical
    | Arithmetic
    | Comparison
    | Predicate
    | NullTest
    | TypeTest
    | ListComprehension
    | Quantifier
    | PatternComprehension
    | PatternTest
    | Subquery
    | VisibilityTest
)


@dataclass(frozen=True, slots=True)
class LabelName:
    name: str
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class AnyLabel:
    """`%`: at least one label."""

    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class NotLabel:
    operand: "LabelExpression"
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class LabelChain:
    """Labels joined by & or by |."""

    operator: str
    operands: "tuple[LabelExpression, ...]"
    position: int = field(compare=False)


LabelExpression = LabelName | AnyLabel | NotLabel | LabelChain


@dataclass(frozen=True, slots=True)
class NodePattern:
    variable: str | None
    labels: LabelExpression | None
    properties: MapOf | None
    where: Expression | None
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Length:
    """Hops of a variable-length relationship; None as maximum means that the caller set no bound."""

    minimum: int
    maximum: int | None
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Quantified:
    """The inside of `((x)-[r]->(y) WHERE …){1,3}`, whose variables are lists outside it."""

    left: NodePattern
    right: NodePattern
    where: Expression | None
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class RelationshipPattern:
    """types: empty when the caller named none. bare: written without brackets."""

    variable: str | None
    types: tuple[LabelName, ...]
    properties: MapOf | None
    where: Expression | None
    direction: OneOf["left", "right", "both"]
    length: Length | None
    quantified: Quantified | None
    bare: bool
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Path:
    """nodes[i] -relationships[i]- nodes[i + 1]."""

    variable: str | None
    nodes: tuple[NodePattern, ...]
    relationships: tuple[RelationshipPattern, ...]
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Match:
    optional: bool
    paths: tuple[Path, ...]
    where: Expression | None
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Unwind:
    source: Expression
    variable: str
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Item:
    """One column. name: its alias, or its text where the caller gave none."""

    expression: Expression
    name: str
    aliased: bool
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Order:
    expression: Expression
    descending: bool
    position: int = field(compare=False)


@dataclass(frozen=True, slots=True)
class Projection:
    """WITH or RETURN. everything: a `*` stands before the items."""

    distinct: bool
    everything: bool
    items: tuple[Item, ...]
    order: tuple[Order, ...]
    skip: Expression | None
    limit: Expression | None
    where: Expression | None
    final: bool
    position: int = field(compare=False)


Clause = Match | Unwind | Projection


@dataclass(frozen=True, slots=True)
class Query:
    clauses: tuple[Clause, ...]


def parts(node: object) -> Iterator[object]:
    """The tree nodes directly under one."""
    kind = node.__class__
    names = _PART_NAMES.get(kind)
    if names is None:
        plain = ("str", "str | None", "bool", "int", "int | None", "object", str, bool, int, object)
        names = tuple([part.name for part in fields(node) if part.type not in plain])  # type: ignore[arg-type]
        _PART_NAMES[kind] = names
    for name in names:
        value = getattr(node, name)
        if value.__class__ is tuple:
            yield from _nodes(value)
        elif hasattr(value, "__dataclass_fields__"):
            yield value


# The fields of each class that hold tree nodes; filled as classes are met.
_PART_NAMES: dict[type, tuple[str, ...]] = {}


def _nodes(values: tuple[object, ...]) -> Iterator[object]:
    for value in values:
        if value.__class__ is tuple:
            yield from _nodes(value)
        elif hasattr(value, "__dataclass_fields__"):
            yield value
