"""Rules for function calls and map projections: where a property allowlist could be stepped round."""

from cypher_guard.binder import Binder, Bound, Scope
from cypher_guard.checks import check_arguments, check_function
from cypher_guard.export import property_entries, unless_null
from cypher_guard.functions import Function
from cypher_guard.growth import check_growth
from cypher_guard.tree import (
    Call,
    Constant,
    CountAll,
    Expression,
    ListComprehension,
    MapOf,
    MapProjection,
    Predicate,
    Property,
    Variable,
)
from cypher_guard.value_types import (
    ANY,
    BOOLEAN,
    DURATION,
    FLOAT,
    INTEGER,
    MAP,
    NODE,
    NULL,
    NUMBER,
    POINT,
    RELATIONSHIP,
    STRING,
    TEMPORAL,
    UNSURE,
    ValueType,
    join,
    list_of,
    map_of,
)
from cypher_guard.violation import Refusal

_RESULTS = {
    "any": ANY,
    "boolean": BOOLEAN,
    "integer": INTEGER,
    "float": FLOAT,
    "number": NUMBER,
    "string": STRING,
    "temporal": TEMPORAL,
    "duration": DURATION,
    "point": POINT,
    "map": MAP,
    "node": NODE,
    "relationship": RELATIONSHIP,
}
_ALIASES = {"lower": "toLower", "upper": "toUpper", "character_length": "char_length"}


def bind_count_all(binder: Binder, node: CountAll, _: Scope) -> Bound:
    _enter_aggregate(binder, "count", node.position)
    return node, INTEGER


def _enter_aggregate(binder: Binder, name: str, position: int) -> None:
    if binder.no_aggregates is not None:
        raise Refusal(
            "bad_aggregate",
            f"{name}() cannot stand {binder.no_aggregates}",
            position,
            "Aggregate in RETURN or WITH; to count a pattern in a predicate, use COUNT { pattern }.",
        )
    binder.aggregates += 1


def bind_call(binder: Binder, node: Call, scope: Scope) -> Bound:
    """A function of the profile's with the right arguments."""
    function = check_function(binder.profile, node.name, node.position)
    if function is None:
        return _bind_foreign_call(binder, node, scope)
    check_arguments(function, len(node.arguments), node.position)
    if node.distinct and not function.aggregate:
        raise Refusal("bad_aggregate", f"DISTINCT cannot stand in {function.name}()", node.position)
    if function.aggregate:
        _enter_aggregate(binder, function.name, node.position)
        with binder.inside("inside another aggregate"):
            arguments, types = _bind_arguments(binder, function, node, scope)
    else:
        arguments, types = _bind_arguments(binder, function, node, scope)
    name = _ALIASES.get(function.name, function.name)
    if name in ("keys", "properties") and types[0].kind in ("NODE", "RELATIONSHIP"):
        return _bind_bulk_look_up(binder, name, arguments[0], types[0], node.position)
    call = Call(name, arguments, node.distinct, node.position)
    if name == "replace":
        check_growth(call)
    return call, _result(function, types)


def _bind_arguments(
    binder: Binder, function: Function, node: Call, scope: Scope
) -> tuple[tuple[Expression, ...], list[ValueType]]:
    arguments: list[Expression] = []
    types: list[ValueType] = []
    kinds = function.arguments
    for index, argument in enumerate(node.arguments):
        bound, value = binder.expression(argument, scope)
        kind = kinds[min(index, len(kinds) - 1)]
        if function.result in ("join", "same") and kind == "any":
            kind = "anything"
        binder.require(bound, value, kind, f"{function.name}()", getattr(argument, "position", node.position))
        arguments.append(bound)
        types.append(value)
    return tuple(arguments), types


def _bind_foreign_call(binder: Binder, node: Call, scope: Scope) -> Bound:
    """A function that the operator allowed by name: it gets data, never a node."""
    arguments = tuple([binder.value(each, scope, "any", f"{node.name}()")[0] for each in node.arguments])
    return Call(node.name, arguments, node.distinct, node.position), ANY


def _result(function: Function, types: list[ValueType]) -> ValueType:
    result = function.result
    known = _RESULTS.get(result)
    if known is not None:
        return known
    if result == "join":
        total = NULL
        for value in types:
            total = join(total, value)
        return total
    if result == "same":
        return types[0]
    if result == "item":
        return types[0].item or (UNSURE if types[0].kind == "UNSURE" else ANY)
    inner = result[len("list<") : -1]
    return list_of(types[0] if inner == "item" else _RESULTS[inner])


def _bind_bulk_look_up(binder: Binder, name: str, subject: Expression, value: ValueType, position: int) -> Bound:
    """`keys(n)` and `properties(n)` show the allowed keys alone."""
    exported = binder.profile.exported_properties if value.kind == "NODE" else binder.profile.exported_edge_properties
    call = Call(name, (subject,), False, position)
    if exported is None:
        return call, MAP if name == "properties" else list_of(STRING)
    binder.note(position, f"{name}() shows the allowed properties alone")
    if name == "properties":
        return unless_null(subject, MapOf(property_entries(subject, exported, set(), position), position)), MAP
    key = binder.fresh("x")
    allowed = Predicate("IN", Variable(key, position), Constant(list(exported), position), position)
    return ListComprehension(key, call, allowed, None, position), list_of(STRING)


def bind_map_projection(binder: Binder, node: MapProjection, scope: Scope) -> Bound:
    """`n {.a, .*, b: 1}` as a map literal where its keys are known."""
    subject, value = binder.expression(node.subject, scope)
    if value.kind not in ("NODE", "RELATIONSHIP", "MAP", "ANY", "NULL", "UNSURE"):
        raise Refusal("bad_type", f"{value} has no properties to project", node.position)
    entries: dict[str, Expression] = {}
    types: dict[str, ValueType] = {}
    open_star = False
    for key, element in node.entries:
        if key is None:
            keys = _known_keys(binder, value, node.position)
            open_star = open_star or keys is None
            for known in keys or ():
                entries[known] = Property(subject, known, node.position)
                types[known] = dict(value.fields).get(known, ANY) if value.fields else ANY
        else:
            entries[key], types[key] = binder.expression(element, scope)
    bound = MapOf(tuple(entries.items()), node.position)
    if not open_star:
        return unless_null(subject, bound), map_of(tuple(types.items()))
    if not isinstance(subject, Variable):
        raise Refusal("bad_type", "name this value before projecting it", node.position)
    holds = any(kind.holds_entity for kind in types.values())
    return MapProjection(subject, ((None, subject), *bound.entries), node.position), UNSURE if holds else MAP


def _known_keys(binder: Binder, value: ValueType, position: int) -> tuple[str, ...] | None:
    if value.kind == "NODE":
        return binder.profile.exported_properties
    if value.kind == "RELATIONSHIP":
        return binder.profile.exported_edge_properties
    if value.kind == "UNSURE" or (value.holds_entity and value.fields is None):
        raise Refusal("bad_type", ".* needs a node, a relationship or a map", position)
    return None if value.fields is None else tuple(key for key, _ in value.fields)
