"""Whole nodes, relationships and paths leave a query as maps of what the profile lets out."""

from cypher_guard.binder import Binder
from cypher_guard.tree import (
    Call,
    Case,
    Expression,
    Index,
    ListComprehension,
    ListOf,
    Literal,
    MapOf,
    MapProjection,
    NullTest,
    Property,
    Variable,
)
from cypher_guard.value_types import ValueType
from cypher_guard.violation import Refusal


def export(binder: Binder, shown: Expression, value: ValueType, position: int) -> Expression:
    """`shown`, with every entity that its type says is in it turned into a map."""
    if not value.holds_entity:
        return shown
    if value.kind == "NODE":
        return export_node(binder, shown, position)
    if value.kind == "RELATIONSHIP":
        return export_relationship(binder, shown, position)
    if value.kind == "PATH":
        return _export_path(binder, shown, position)
    if value.item is not None:
        name = binder.fresh("x")
        item = export(binder, Variable(name, position), value.item, position)
        return ListComprehension(name, shown, None, item, position)
    if value.fields is not None:
        entries = tuple(
            (key, export(binder, Property(shown, key, position), kind, position)) for key, kind in value.fields
        )
        return unless_null(shown, MapOf(entries, position))
    raise Refusal(
        "bad_type",
        "this column may hold whole nodes among other values",
        position,
        "Return nodes in a column of their own, or name the properties.",
    )


def export_node(binder: Binder, shown: Expression, position: int) -> Expression:
    """A node as its allowed properties and its labels."""
    labels = ("labels", Call("labels", (shown,), False, position))
    exported = binder.profile.exported_properties
    return _export_entity(binder, shown, exported, labels, position)


def export_relationship(binder: Binder, shown: Expression, position: int) -> Expression:
    """A relationship as its type and its allowed properties."""
    kind = ("type", Call("type", (shown,), False, position))
    return _export_entity(binder, shown, binder.profile.exported_edge_properties, kind, position)


def _export_open_entity(binder: Binder, shown: Expression, kind: str, position: int) -> Expression:
    """Every property, for a profile without a list of them; Cypher projects a name only, so others get one."""
    if isinstance(shown, Variable):
        return MapProjection(shown, ((None, shown), (kind, Call(kind, (shown,), False, position))), position)
    name = Variable(binder.fresh("x"), position)
    projected = _export_open_entity(binder, name, kind, position)
    named = ListComprehension(name.name, ListOf((shown,), position), None, projected, position)
    return Index(named, Literal(0, position), position)


def _export_entity(
    binder: Binder, shown: Expression, exported: tuple[str, ...] | None, extra: tuple[str, Expression], position: int
) -> Expression:
    if exported is None:
        return _export_open_entity(binder, shown, extra[0], position)
    entries = property_entries(shown, exported, {extra[0]}, position)
    return unless_null(shown, MapOf((*entries, extra), position))


def _export_path(binder: Binder, shown: Expression, position: int) -> Expression:
    node, relationship = binder.fresh("x"), binder.fresh("x")
    nodes = ListComprehension(
        node,
        Call("nodes", (shown,), False, position),
        None,
        export_node(binder, Variable(node, position), position),
        position,
    )
    relationships = ListComprehension(
        relationship,
        Call("relationships", (shown,), False, position),
        None,
        export_relationship(binder, Variable(relationship, position), position),
        position,
    )
    return unless_null(shown, MapOf((("nodes", nodes), ("relationships", relationships)), position))


def property_entries(
    shown: Expression, keys: tuple[str, ...], without: set[str], position: int
) -> tuple[tuple[str, Expression], ...]:
    """`key: shown.key` of each key."""
    return tuple([(key, Property(shown, key, position)) for key in keys if key not in without])


def unless_null(shown: Expression, result: Expression) -> Expression:
    """`result`, or null where `shown` is null: a map literal over a missing node would hide that it is missing."""
    position = result.position if isinstance(result, MapOf) else 0
    test = NullTest(shown, False, position)
    return Case(None, ((test, Literal(None, position)),), result, position)
