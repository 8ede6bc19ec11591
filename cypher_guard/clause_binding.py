"""MATCH, UNWIND, subqueries and patterns inside expressions."""

from dataclasses import replace

from cypher_guard.binder import Binder, Bound, Scope
from cypher_guard.checks import check_connected
from cypher_guard.expression_binding import item_of
from cypher_guard.pattern_binding import PatternScope, bind_paths
from cypher_guard.tree import (
    Expression,
    Match,
    NodePattern,
    Path,
    PatternComprehension,
    PatternTest,
    RelationshipPattern,
    Subquery,
    Unwind,
    Variable,
    parts,
)
from cypher_guard.value_types import BOOLEAN, INTEGER, ValueType, list_of
from cypher_guard.violation import Refusal
from cypher_guard.visibility_binding import join_predicates


def bind_match(binder: Binder, match: Match, scope: Scope, *, nested: bool = False) -> tuple[Match, Scope]:
    """The clause in canonical form, and the scope after it."""
    patterns = PatternScope(scope.copy())
    binder.weight.add("patterns", len(match.paths), match.position)
    _check_apart(binder, match.paths, scope, nested)
    paths = bind_paths(binder, match.paths, patterns)
    with binder.inside("in WHERE"):
        where = None if match.where is None else binder.boolean(match.where, patterns.scope, "WHERE")
    where = join_predicates(binder, replace(match, paths=paths), patterns, where)
    if not nested:
        binder.matched = True
    return Match(match.optional, paths, where, match.position), patterns.scope


def _check_apart(binder: Binder, paths: tuple[Path, ...], scope: Scope, nested: bool) -> None:
    """Paths of one clause connect by shared names, and to what earlier clauses matched."""
    groups: list[tuple[set[str], bool]] = []
    for path in paths:
        names = {node.variable for node in path.nodes if node.variable is not None}
        bound = any(name in scope.names for name in names)
        rest: list[tuple[set[str], bool]] = []
        for other, other_bound in groups:
            if other & names or (bound and other_bound):
                names |= other
                bound = bound or other_bound
            else:
                rest.append((other, other_bound))
        groups = [*rest, (names, bound)]
    apart = len(groups)
    earlier = binder.matched and any(value.holds_entity for value in scope.names.values())
    if earlier and not nested and not any(bound for _, bound in groups):
        apart += 1
    check_connected(binder.profile, apart, paths[-1].position)


def bind_unwind(binder: Binder, unwind: Unwind, scope: Scope) -> tuple[Unwind, Scope]:
    source, value = binder.value(unwind.source, scope, "list", "UNWIND")
    if unwind.variable in scope.names:
        raise Refusal("duplicate_name", f"the variable {unwind.variable} is bound already", unwind.position)
    item: ValueType = item_of(value)
    return Unwind(source, unwind.variable, unwind.position), scope.extend(unwind.variable, item)


def bind_pattern_test(binder: Binder, node: PatternTest, scope: Scope) -> Bound:
    """A pattern as a predicate is EXISTS {} of names that are known already."""
    named: list[NodePattern | RelationshipPattern] = [*node.path.nodes, *node.path.relationships]
    for each in named:
        name = each.variable
        if name is not None and name not in scope.names:
            raise Refusal(
                "unknown_variable",
                f"a pattern that stands as a predicate cannot introduce {name}",
                each.position,
                "Leave the name out, or write EXISTS { pattern }.",
            )
    binder.note(node.position, "a pattern that stands as a predicate became EXISTS {}")
    match = Match(False, (node.path,), None, node.position)
    return bind_subquery(binder, Subquery("EXISTS", (match,), None, node.position), scope)


def bind_subquery(binder: Binder, node: Subquery, scope: Scope) -> Bound:
    """EXISTS {} and COUNT {}; COLLECT {} becomes a pattern comprehension."""
    if node.kind == "COLLECT":
        return _bind_collect(binder, node, scope)
    with binder.inside("in a subquery"):
        inner = scope
        clauses: list[Match] = []
        for match in node.clauses:
            bound, inner = bind_match(binder, match, inner, nested=True)
            clauses.append(bound)
        clauses = [_without_idle_names(match, clauses) for match in clauses]
    return Subquery(node.kind, tuple(clauses), None, node.position), BOOLEAN if node.kind == "EXISTS" else INTEGER


def _without_idle_names(match: Match, clauses: list[Match]) -> Match:
    """A path's name that nothing uses goes: not every engine reads one in a subquery."""
    paths = tuple(
        [
            replace(path, variable=None) if path.variable is not None and not _uses(clauses, path.variable) else path
            for path in match.paths
        ]
    )
    return replace(match, paths=paths)


def _uses(clauses: list[Match], name: str) -> bool:
    waiting: list[object] = [each.where for each in clauses if each.where is not None]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Variable) and node.name == name:
            return True
        waiting.extend(parts(node))
    return False


def _bind_collect(binder: Binder, node: Subquery, scope: Scope) -> Bound:
    match = node.clauses[0]
    if len(node.clauses) > 1 or len(match.paths) > 1 or node.result is None:
        raise Refusal(
            "unsupported_clause",
            "COLLECT {} holds one MATCH of one path here",
            node.position,
            "Match outside and use collect().",
        )
    binder.note(node.position, "COLLECT {} became a pattern comprehension")
    comprehension = PatternComprehension(match.paths[0], match.where, node.result, node.position)
    return bind_pattern_comprehension(binder, comprehension, scope)


def bind_pattern_comprehension(binder: Binder, node: PatternComprehension, scope: Scope) -> Bound:
    """`[(a)-[:T]->(b) WHERE … | b.key]`, with visibility in its WHERE."""
    with binder.inside("inside a pattern comprehension"):
        match = Match(False, (node.path,), node.where, node.position)
        bound, inner = bind_match(binder, match, scope, nested=True)
        result: Expression
        result, value = binder.expression(node.result, inner)
    return PatternComprehension(bound.paths[0], bound.where, result, node.position), list_of(value)
