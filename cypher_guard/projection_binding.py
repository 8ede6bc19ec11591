"""RETURN and WITH: columns, grouping, order, paging, and the bound on rows."""

from dataclasses import dataclass, replace

from cypher_guard.binder import Binder, Scope
from cypher_guard.export import export
from cypher_guard.grouping import check_grouping, substitute
from cypher_guard.row_bounds import RowBound, bind_row_bound
from cypher_guard.tree import Call, Expression, Item, Literal, Order, Parameter, Projection, Variable
from cypher_guard.value_types import ValueType
from cypher_guard.violation import Refusal, suggest
from cypher_guard.visibility_binding import hold_back

LIMIT_PARAMETER = "__limit"


@dataclass(frozen=True, slots=True)
class BoundProjection:
    """clauses: one, or two where whole nodes leave by a second RETURN. columns: names in order.

    limit: rows the caller may have, where the text says; bounds: what parameters decide.
    """

    clauses: tuple[Projection, ...]
    scope: Scope
    columns: tuple[str, ...]
    limit: int | None
    bounds: tuple[RowBound, ...]


def bind_projection(binder: Binder, projection: Projection, scope: Scope) -> BoundProjection:
    """The canonical clause and the scope after it."""
    items, types, grouped = _bind_items(binder, projection, scope)
    aliases = {item.name: value for item, value in zip(items, types, strict=True)}
    stands_for = {name: shown for name, shown in scope.stands_for.items() if name not in aliases}
    merged = Scope({**scope.names, **aliases}, stands_for)
    binder.no_aggregates = None
    closed = projection.distinct or any(grouped)
    if not any(grouped):
        binder.no_aggregates = "in the order of rows that are not aggregated"
    order = tuple([_bind_order(binder, key, items, scope, merged, closed) for key in projection.order])
    binder.no_aggregates = "outside RETURN and WITH"
    if projection.skip is not None and not order:
        order = _total_order(items, types)
        binder.note(projection.position, "a total order, since pages of unordered rows would overlap")
    bounds: list[RowBound] = []
    skip, _ = _bind_bound(binder, projection.skip, "SKIP", projection.final, bounds)
    limit, cap = _bind_limit(binder, projection, bounds)
    where = None
    if projection.where is not None:
        with binder.inside("in WHERE"):
            where = binder.boolean(projection.where, merged, "WHERE")
        where = _in_columns(where, items, scope, projection.position, "be tested") if closed else where
        where = hold_back(binder, where, merged)
    position = projection.position
    bound = Projection(projection.distinct, False, tuple(items), order, skip, limit, where, projection.final, position)
    clauses: tuple[Projection, ...] = (bound,)
    if projection.final and any(value.holds_entity for value in types):
        clauses = _export(binder, bound, items, types)
    columns = tuple([item.name for item in items])
    return BoundProjection(clauses, Scope(aliases), columns, cap, tuple(bounds))


def _bind_items(binder: Binder, projection: Projection, scope: Scope) -> tuple[list[Item], list[ValueType], list[bool]]:
    written = projection.items
    if projection.everything:
        names = sorted(name for name in scope.names if not name.startswith("__"))
        if not names:
            raise Refusal("syntax", "* stands for the variables in scope, and there are none", projection.position)
        at = projection.position
        written = (*[Item(Variable(name, at), name, False, at) for name in names], *written)
        binder.note(projection.position, f"* became {', '.join(names)}")
    binder.weight.add("columns", len(written), projection.position)
    items: list[Item] = []
    types: list[ValueType] = []
    grouped: list[bool] = []
    seen: set[str] = set()
    for number, item in enumerate(written, start=1):
        name = item.name or f"column_{number}"
        if name in seen:
            raise Refusal(
                "duplicate_name", f"two columns are called {name}", item.position, "Give one another name with AS."
            )
        seen.add(name)
        before = binder.aggregates
        binder.no_aggregates = None
        expression, value = binder.expression(item.expression, scope)
        binder.no_aggregates = "outside RETURN and WITH"
        items.append(Item(expression, name, True, item.position))
        types.append(value)
        grouped.append(binder.aggregates > before)
    if any(grouped):
        keys = [item.expression for item, aggregates in zip(items, grouped, strict=True) if not aggregates]
        for item, aggregates in zip(items, grouped, strict=True):
            if aggregates:
                check_grouping(item.expression, keys, scope.names, item.position)
    return items, types, grouped


def _bind_order(binder: Binder, key: Order, items: list[Item], before: Scope, merged: Scope, closed: bool) -> Order:
    expression, _ = binder.expression(key.expression, merged)
    if closed:
        expression = _in_columns(expression, items, before, key.position, "order rows")
    return Order(expression, key.descending, key.position)


def _in_columns(expression: Expression, items: list[Item], before: Scope, position: int, purpose: str) -> Expression:
    """After DISTINCT or an aggregate only the columns remain, so what equals a column's expression names the column."""
    names = [item.name for item in items]
    shown, missing = substitute(expression, items, before.names)
    if missing is not None:
        raise Refusal(
            "unknown_variable",
            f"{missing} is not a column, and after DISTINCT or an aggregate only columns can {purpose}",
            position,
            suggest(missing, names) or "Return it as a column.",
        )
    return shown


def _total_order(items: list[Item], types: list[ValueType]) -> tuple[Order, ...]:
    """By every column; by identity where a column is a node or relationship."""
    keys: list[Order] = []
    for item, value in zip(items, types, strict=True):
        column: Expression = Variable(item.name, item.position)
        if value.kind in ("NODE", "RELATIONSHIP"):
            column = Call("elementId", (column,), False, item.position)
        keys.append(Order(column, False, item.position))
    return tuple(keys)


def _bind_bound(
    binder: Binder, expression: Expression | None, keyword: str, final: bool, bounds: list[RowBound]
) -> tuple[Expression | None, int | None]:
    if expression is None:
        return None, None
    number = bind_row_bound(binder, expression, keyword)
    if number is not None:
        return Literal(number, 0), number
    name = LIMIT_PARAMETER if final and keyword == "LIMIT" else binder.fresh("c")
    bounds.append(RowBound(name, keyword, expression, final))
    return Parameter(name, 0), None


def _bind_limit(binder: Binder, projection: Projection, bounds: list[RowBound]) -> tuple[Expression | None, int | None]:
    """The outermost RETURN fetches one row above its cap, so that a longer answer is known as such."""
    limit, number = _bind_bound(binder, projection.limit, "LIMIT", projection.final, bounds)
    if not projection.final:
        return limit, None
    if projection.limit is None:
        number = binder.profile.default_rows
        binder.note(projection.position, f"LIMIT {number} added, one row more fetched")
    elif number is None:
        return limit, None
    elif number > binder.profile.max_rows:
        number = binder.profile.max_rows
        binder.note(projection.position, f"LIMIT clamped to {number}, one row more fetched")
    return Literal(number + 1, 0), number


def _export(binder: Binder, bound: Projection, items: list[Item], types: list[ValueType]) -> tuple[Projection, ...]:
    """The columns as asked in a WITH, then a RETURN of maps: order and DISTINCT still mean the nodes themselves."""
    at = bound.position
    leaving = tuple(
        Item(export(binder, Variable(item.name, item.position), value, item.position), item.name, True, item.position)
        for item, value in zip(items, types, strict=True)
    )
    binder.note(at, "whole nodes, relationships and paths leave as maps of allowed properties")
    last = Projection(False, False, leaving, (), None, None, None, True, at)
    return replace(bound, final=False), last
