"""What may stand beside an aggregate, and what may order its rows."""

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


def check_grouping(expression: Expression, keys: list[Expression], position: int) -> None:
    """Beside an aggregate stand constants and columns alone: Neo4j could not tell what else to group by."""
    simple = [key for key in keys if isinstance(key, (Variable, Property))]
    loose = _ungrouped(expression, simple, frozenset())
    if loose is not None:
        raise Refusal(
            "bad_aggregate",
            f"{loose} stands beside an aggregate but is no column of its own",
            position,
            f"Return {loose} as a column too, or move it into the aggregate.",
        )


def _ungrouped(node: object, keys: list[Variable | Property], local: frozenset[str]) -> str | None:
    if is_aggregate(node) or node in keys:
        return None
    if isinstance(node, Variable):
        return None if node.name in local else node.name
    if isinstance(node, Property) and isinstance(node.subject, Variable) and node.subject.name not in local:
        return f"{node.subject.name}.{node.key}"
    if isinstance(node, (ListComprehension, Quantifier)):
        loose = _ungrouped(node.source, keys, local)
        if loose is not None:
            return loose
        local = local | {node.variable}
    if isinstance(node, (NodePattern, RelationshipPattern)) and node.variable is not None:
        if node.variable.startswith("__") or Variable(node.variable, 0) in keys:
            local = local | {node.variable}
        else:
            return node.variable
    for part in parts(node):
        loose = _ungrouped(part, keys, local)
        if loose is not None:
            return loose
    return None


def substitute(
    expression: Expression, items: list[Item], aliases: dict[str, object] | dict[str, object]
) -> tuple[Expression, str | None]:
    """The expression in terms of the columns, and a name in it that is no column, if any is left."""
    columns = [(item.expression, Variable(item.name, item.position)) for item in items]
    shown = _substitute(expression, columns)
    return shown, _foreign(shown, frozenset(aliases))


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


def _foreign(node: object, known: frozenset[str]) -> str | None:
    if is_aggregate(node):
        return "an aggregate"
    if isinstance(node, Variable):
        return None if node.name in known else node.name
    if isinstance(node, (ListComprehension, Quantifier)):
        known_inside = known | {node.variable}
        inner = [node.where, getattr(node, "result", None)]
        sources = [_foreign(node.source, known)]
        sources.extend(_foreign(each, known_inside) for each in inner if each is not None)
        return next((name for name in sources if name is not None), None)
    if isinstance(node, Path):
        known = known | {each.variable for each in node.nodes if each.variable and each.variable.startswith("__")}
    if isinstance(node, (NodePattern, RelationshipPattern)):
        name = node.variable
        if name is not None and not name.startswith("__") and name not in known:
            return name
    for part in parts(node):
        name = _foreign(part, known)
        if name is not None:
            return name
    return None
