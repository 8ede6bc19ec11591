"""Patterns in canonical form: every type named, every predicate in WHERE, every length a bounded star."""

from dataclasses import dataclass, field

from cypher_guard.binder import Binder, Scope
from cypher_guard.checks import (
    check_bare_arrow,
    check_label,
    check_length,
    check_property,
    check_relationship_type,
)
from cypher_guard.expression_binding import label_predicate
from cypher_guard.tree import (
    Call,
    Comparison,
    Constant,
    Expression,
    LabelChain,
    LabelExpression,
    LabelName,
    ListComprehension,
    Literal,
    MapOf,
    NodePattern,
    Parameter,
    Path,
    Property,
    Quantified,
    Quantifier,
    RelationshipPattern,
    Variable,
)
from cypher_guard.value_types import NODE, PATH, RELATIONSHIP, ValueType, list_of
from cypher_guard.violation import Refusal

_RELATIONSHIPS = list_of(RELATIONSHIP)
_NODES = list_of(NODE)


@dataclass(slots=True)
class PatternScope:
    """What a clause's patterns add: names, the nodes they introduce, and predicates for its WHERE.

    introduced: nodes matched here first. crossed: relationship lists with nodes inside that no name holds.
    """

    scope: Scope
    introduced: list[Variable] = field(default_factory=list)
    crossed: list[Variable] = field(default_factory=list)
    predicates: list[Expression] = field(default_factory=list)


def bind_paths(binder: Binder, paths: tuple[Path, ...], patterns: PatternScope) -> tuple[Path, ...]:
    """The canonical paths; names are declared before any predicate is read, since a predicate may look ahead."""
    for path in paths:
        _declare(path, patterns)
    return tuple([_bind_path(binder, path, patterns) for path in paths])


def _declare(path: Path, patterns: PatternScope) -> None:
    names = patterns.scope.names
    if path.variable is not None:
        _declare_new(names, path.variable, PATH, path.position)
    for node in path.nodes:
        name = node.variable
        if name is None:
            continue
        known = names.get(name)
        if known is None:
            names[name] = NODE
            patterns.introduced.append(Variable(name, node.position))
        elif known is not NODE and known.kind not in ("NODE", "UNSURE"):
            raise Refusal("bad_type", f"{name} is {known}, not a node", node.position)
    for relationship in path.relationships:
        _declare_relationship(relationship, patterns)


def _declare_new(names: dict[str, ValueType], name: str, value: ValueType, position: int) -> None:
    if name in names:
        raise Refusal("duplicate_name", f"the variable {name} is bound already", position, "Use another name.")
    names[name] = value


def _declare_relationship(relationship: RelationshipPattern, patterns: PatternScope) -> None:
    names = patterns.scope.names
    if relationship.variable is not None:
        value = RELATIONSHIP if relationship.length is None else _RELATIONSHIPS
        _declare_new(names, relationship.variable, value, relationship.position)
    group = relationship.quantified
    if group is None:
        return
    for node in (group.left, group.right):
        if node.variable is not None:
            _declare_new(names, node.variable, _NODES, node.position)


def _bind_path(binder: Binder, path: Path, patterns: PatternScope) -> Path:
    nodes = tuple([_bind_node(binder, node, patterns) for node in path.nodes])
    relationships = tuple([_bind_relationship(binder, relationship, patterns) for relationship in path.relationships])
    return Path(path.variable, nodes, relationships, path.position)


def _bind_node(binder: Binder, node: NodePattern, patterns: PatternScope) -> NodePattern:
    name = node.variable
    if name is None and _needs_name(binder, node):
        name = binder.fresh("n")
        patterns.scope.names[name] = NODE
        if binder.visibility is not None:
            patterns.introduced.append(Variable(name, node.position))
    if node.labels is None and node.properties is None and node.where is None:
        return NodePattern(name, None, None, None, node.position)
    labels = _plain_labels(binder, node.labels)
    subject = Variable(name or "", node.position)
    if node.labels is not None and labels is None:
        patterns.predicates.append(label_predicate(binder, subject, node.labels))
        binder.note(node.position, "a label expression moved into WHERE")
    if node.properties is not None:
        _bind_node_properties(binder, node.properties, subject, patterns)
        binder.note(node.position, "properties inside a node moved into the clause's WHERE")
    if node.where is not None:
        patterns.predicates.append(binder.boolean(node.where, patterns.scope, "WHERE"))
        binder.note(node.position, "WHERE inside a node moved into the clause's WHERE")
    return NodePattern(name, labels, None, None, node.position)


def _needs_name(binder: Binder, node: NodePattern) -> bool:
    """Whether something in WHERE will speak of the node."""
    if binder.visibility is not None or node.properties is not None:
        return True
    return node.labels is not None and not _is_plain(node.labels)


def _is_constant(properties: MapOf) -> bool:
    return all(isinstance(value, (Literal, Constant, Parameter)) for _, value in properties.entries)


def _is_plain(labels: LabelExpression) -> bool:
    """`A`, `A&B` or `A|B`, which every engine reads inside a node."""
    names = labels.operands if isinstance(labels, LabelChain) else (labels,)
    return all(isinstance(name, LabelName) for name in names)


def _plain_labels(binder: Binder, labels: LabelExpression | None) -> LabelExpression | None:
    """The labels that stay inside the node, checked; None where they move into WHERE."""
    if labels is None or not _is_plain(labels):
        return None
    for name in labels.operands if isinstance(labels, LabelChain) else (labels,):
        if isinstance(name, LabelName):
            check_label(binder.profile, name.name, name.position)
    return labels


def _bind_node_properties(binder: Binder, properties: MapOf, subject: Variable, patterns: PatternScope) -> None:
    """Equalities in WHERE: an engine of ours refuses a map's key that no node of the label has."""
    at = properties.position
    for key, value in properties.entries:
        check_property(binder.profile, key, at)
        bound, value_type = binder.expression(value, patterns.scope)
        binder.require(bound, value_type, "any", "a property", at)
        patterns.predicates.append(Comparison(Property(subject, key, at), (("=", bound),), at))


def _bind_properties(binder: Binder, properties: MapOf, name: str | None, patterns: PatternScope) -> MapOf | None:
    """Constants stay in the pattern; anything else becomes an equality in WHERE."""
    kept: list[tuple[str, Expression]] = []
    for key, value in properties.entries:
        check_property(binder.profile, key, properties.position)
        bound, value_type = binder.expression(value, patterns.scope)
        binder.require(bound, value_type, "any", "a property", properties.position)
        if isinstance(bound, (Literal, Constant, Parameter)) or name is None:
            kept.append((key, bound))
        else:
            left = Property(Variable(name, properties.position), key, properties.position)
            patterns.predicates.append(Comparison(left, (("=", bound),), properties.position))
    return MapOf(tuple(kept), properties.position) if kept else None


def _bind_relationship(
    binder: Binder, relationship: RelationshipPattern, patterns: PatternScope
) -> RelationshipPattern:
    types = _bind_types(binder, relationship)
    length, name = relationship.length, relationship.variable
    hops = 1 if length is None else check_length(binder.profile, length)
    binder.cross(max(hops, 1), relationship.position)
    constant = relationship.properties is None or _is_constant(relationship.properties)
    crosses = hops > 1 and binder.visibility is not None
    predicated = relationship.where is not None or relationship.quantified is not None or not constant
    if name is None and (crosses or predicated):
        name = binder.fresh("r")
    if crosses and name is not None:
        patterns.crossed.append(Variable(name, relationship.position))
    properties = None
    if relationship.properties is not None:
        if length is None or constant:
            properties = _bind_properties(binder, relationship.properties, name, patterns)
        else:
            _bind_each(binder, relationship, name or "", patterns)
    if length is None:
        if relationship.where is not None:
            patterns.predicates.append(binder.boolean(relationship.where, patterns.scope, "WHERE"))
            binder.note(relationship.position, "WHERE inside a relationship moved into the clause's WHERE")
    elif relationship.where is not None or relationship.quantified is not None:
        _bind_repeated(binder, relationship, name or "", patterns)
    return RelationshipPattern(
        name, types, properties, None, relationship.direction, length, None, False, relationship.position
    )


def _bind_types(binder: Binder, relationship: RelationshipPattern) -> tuple[LabelName, ...]:
    if relationship.types:
        for name in relationship.types:
            check_relationship_type(binder.profile, name)
        return tuple(dict.fromkeys(relationship.types))
    if relationship.bare:
        check_bare_arrow(binder.profile, relationship.position)
    binder.note(relationship.position, "an untyped relationship means every type of the profile")
    position = relationship.position
    return tuple([LabelName(name, position) for name in sorted(binder.profile.edge_types)])


def _bind_each(binder: Binder, relationship: RelationshipPattern, name: str, patterns: PatternScope) -> None:
    """Computed properties of a variable length: each relationship is held to them."""
    at = relationship.position
    item = binder.fresh("x")
    for key, value in relationship.properties.entries if relationship.properties else ():
        check_property(binder.profile, key, at)
        bound, value_type = binder.expression(value, patterns.scope)
        binder.require(bound, value_type, "any", "a property", at)
        test = Comparison(Property(Variable(item, at), key, at), (("=", bound),), at)
        patterns.predicates.append(Quantifier("all", item, Variable(name, at), test, at))


def _bind_repeated(binder: Binder, relationship: RelationshipPattern, name: str, patterns: PatternScope) -> None:
    """Predicates inside a quantified relationship or group hold for each repetition."""
    at = relationship.position
    item = Variable(binder.fresh("x"), at)
    inner = Scope({**patterns.scope.names, item.name: RELATIONSHIP}, dict(patterns.scope.stands_for))
    if relationship.variable is not None:
        inner.names[relationship.variable] = RELATIONSHIP
        inner.stands_for[relationship.variable] = item
    group = relationship.quantified
    tests: list[Expression] = []
    if group is not None:
        tests.extend(_bind_group_ends(binder, relationship, group, item, inner))
    for where in (relationship.where, None if group is None else group.where):
        if where is not None:
            tests.append(binder.boolean(where, inner, "WHERE"))
    for test in tests:
        patterns.predicates.append(Quantifier("all", item.name, Variable(name, at), test, at))
    binder.note(at, "a quantified pattern became a variable length with its predicates in WHERE")
    if group is not None:
        _show_group_ends(binder, relationship, group, name, patterns.scope)


def _ends(relationship: RelationshipPattern, group: Quantified) -> list[tuple[NodePattern, str]]:
    """Each end of a group's relationship with the function that finds it."""
    used = [
        node
        for node in (group.left, group.right)
        if (node.variable, node.labels, node.properties, node.where) != (None,) * 4
    ]
    if relationship.direction == "both" and used:
        raise Refusal(
            "unsupported_clause",
            "the nodes inside an undirected quantified group cannot be told apart",
            group.position,
            "Give the relationship a direction, or leave the inner nodes empty.",
        )
    first, second = ("startNode", "endNode") if relationship.direction == "right" else ("endNode", "startNode")
    ends = [(group.left, first), (group.right, second)]
    return [(node, function) for node, function in ends if node in used]


def _bind_group_ends(
    binder: Binder, relationship: RelationshipPattern, group: Quantified, item: Variable, inner: Scope
) -> list[Expression]:
    tests: list[Expression] = []
    ends = _ends(relationship, group)
    for node, function in ends:
        if node.variable is not None:
            inner.names[node.variable] = NODE
            inner.stands_for[node.variable] = Call(function, (item,), False, node.position)
    for node, function in ends:
        subject = Call(function, (item,), False, node.position)
        if node.labels is not None:
            tests.append(label_predicate(binder, subject, node.labels))
        for key, value in node.properties.entries if node.properties else ():
            check_property(binder.profile, key, node.position)
            bound, value_type = binder.expression(value, inner)
            binder.require(bound, value_type, "any", "a property", node.position)
            tests.append(Comparison(Property(subject, key, node.position), (("=", bound),), node.position))
        if node.where is not None:
            tests.append(binder.boolean(node.where, inner, "WHERE"))
    return tests


def _show_group_ends(
    binder: Binder, relationship: RelationshipPattern, group: Quantified, name: str, scope: Scope
) -> None:
    """Outside the group its node variables are lists, computed from the relationships."""
    for node, function in _ends(relationship, group):
        if node.variable is not None:
            at = node.position
            item = binder.fresh("x")
            end = Call(function, (Variable(item, at),), False, at)
            scope.stands_for[node.variable] = ListComprehension(item, Variable(name, at), None, end, at)
