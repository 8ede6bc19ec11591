"""What may stand beside an aggregate, and what may order its rows."""

from collections.abc import Container
from dataclasses import fields, replace

from cypher_guard.functions import FUNCTIONS
from cypher_guard.tree import (
    Call,
    CountAll,
    Expression,
    Item,
    ListComprehension,
    NodePattern,
    Path,
    Property,
    Quantifier,
    RelationshipPattern,
    Variable,
    parts,
)
from cypher_guard.violation import Refusal


def is_aggregate(node: object) -> bool:
    """Whether this node itself aggregates."""
    if isinstance(node, CountAll):
        return True
    if not isinstance(node, Call):
        return False
    function = FUNCTIONS.get(node.name.lower())
    return function is not None and function.aggregate


def check_grouping(expression: Expression, keys: list[Expression], names: Container[str], position: int) -> None:
    """Beside an aggregate stand constants and columns alone: Neo4j could not tell what else to group by.

    keys: the columns that do not aggregate. names: the variables in scope before the clause.
    """
    simple = [key for key in keys if isinstance(key, Variable) or _is_look_up(key)]
    loose = _ungrouped(expression, simple, names)
    if loose is not None:
        raise Refusal(
            "bad_aggregate",
            f"{loose} stands beside an aggregate but is no column of its own",
            position,
            f"Return {loose} as a column too, or move it into the aggregate.",
        )


def _is_look_up(node: object) -> bool:
    return isinstance(node, Property) and isinstance(node.subject, Variable)


def _ungrouped(node: object, keys: list[Expression], names: Container[str]) -> str | None:
    """The first name or property that no column fixes; names that the expression itself binds are free."""
    if is_aggregate(node) or node in keys:
        return None
    if isinstance(node, Property) and isinstance(node.subject, Variable):
        loose = _ungrouped(node.subject, keys, names)
        return None if loose is None else f"{loose}.{node.key}"
    if isinstance(node, (Variable, NodePattern, RelationshipPattern)):
        name = node.name if isinstance(node, Variable) else node.variable
        if name is not None and name in names and Variable(name, 0) not in keys:
            return name
    for part in parts(node):
        loose = _ungrouped(part, keys, names)
        if loose is not None:
            return loose
    return None


def substitute(expression: Expression, items: list[Item], names: Container[str]) -> tuple[Expression, str | None]:
    """The expression in terms of the columns, and a name of `names` left in it that is no column, if any is."""
    columns = [(item.expression, Variable(item.name, item.position)) for item in items]
    shown = _substitute(expression, columns)
    return shown, _foreign(shown, frozenset([item.name for item in items]), names)


def _substitute(node: Expression, columns: list[tuple[Expression, Variable]]) -> Expression:
    for expression, column in columns:
        if node == expression:
            return column
    changed: dict[str, object] = {}
    for part in fields(node):
        value = getattr(node, part.name)
        shown = _substitute_value(value, columns)
        if shown is not value:
            changed[part.name] = shown
    return replace(node, **changed) if changed else node  # type: ignore[arg-type]


def _substitute_value(value: object, columns: list[tuple[Expression, Variable]]) -> object:
    if isinstance(value, tuple):
        shown = tuple(_substitute_value(each, columns) for each in value)
        return shown if any(new is not old for new, old in zip(shown, value, strict=True)) else value
    if hasattr(value, "__dataclass_fields__") and not isinstance(value, Path):
        return _substitute(value, columns)  # type: ignore[arg-type]
    return value


def _foreign(node: object, known: frozenset[str], names: Container[str]) -> str | None:
    """A variable of before the clause, or an aggregate; what the expression binds itself is in neither."""
    if is_aggregate(node):
        return "an aggregate"
    if isinstance(node, (Variable, NodePattern, RelationshipPattern)):
        name = node.name if isinstance(node, Variable) else node.variable
        if name is not None and name in names and name not in known:
            return name
    if isinstance(node, (ListComprehension, Quantifier)):
        inner = [each for each in (node.where, getattr(node, "result", None)) if each is not None]
        found = [_foreign(node.source, known, names)]
        found.extend(_foreign(each, known | {node.variable}, names) for each in inner)
        return next((name for name in found if name is not None), None)
    for part in parts(node):
        name = _foreign(part, known, names)
        if name is not None:
            return name
    return None
