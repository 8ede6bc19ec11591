"""The WHERE of one clause: the caller's predicates, and the visibility of every node the clause introduces."""

from collections.abc import Iterable

from cypher_guard.binder import Binder, Scope
from cypher_guard.certainty import cannot_fail
from cypher_guard.pattern_binding import PatternScope
from cypher_guard.tree import (
    Call,
    Case,
    Expression,
    Literal,
    Logical,
    Match,
    NullTest,
    Quantifier,
    Subquery,
    Variable,
    VisibilityTest,
    parts,
)
from cypher_guard.value_types import ValueType


def join_predicates(
    binder: Binder, match: Match, patterns: PatternScope, where: Expression | None
) -> Expression | None:
    """Visibility first, then what the caller asked.

    A predicate that can fail stands in a CASE behind the visibility tests, since AND fixes no order: an error
    must not tell of a node that is not to be seen.
    """
    asked = [*patterns.predicates, *_conjuncts(where)]
    visible = _visibility_tests(binder, patterns)
    held_back = [predicate for predicate in asked if _waits(binder, match, predicate)]
    if held_back:
        tested = {variable.name for variable in (*patterns.introduced, *patterns.crossed)}
        first = [*visible, *_mentioned_tests(binder, held_back, patterns.scope, tested)] or _presence(match)
        if first:
            asked = [predicate for predicate in asked if predicate not in held_back]
            asked.append(_behind(first, held_back))
    joined = visible + asked
    return conjunction(joined) if joined else None


def hold_back(binder: Binder, where: Expression, scope: Scope) -> Expression:
    """The WHERE of a WITH: it can be asked before the WHERE of an earlier MATCH, so it waits like that one's own."""
    asked = _conjuncts(where)
    held_back = [] if binder.visibility is None else [each for each in asked if not cannot_fail(each)]
    first = _mentioned_tests(binder, held_back, scope, set())
    if not first:
        return where
    return conjunction([*[each for each in asked if each not in held_back], _behind(first, held_back)])


def _waits(binder: Binder, match: Match, predicate: Expression) -> bool:
    """Whether a predicate must be asked after the others.

    In an OPTIONAL MATCH one with COUNT {} is: Neo4j loses the rows that count nothing (seen in 2026.08).
    """
    if match.optional and _counts(predicate):
        return True
    return binder.visibility is not None and not cannot_fail(predicate)


def _counts(node: object) -> bool:
    return (isinstance(node, Subquery) and node.kind == "COUNT") or any(_counts(part) for part in parts(node))


def _behind(first: list[Expression], predicates: list[Expression]) -> Expression:
    return Case(None, ((conjunction(first), conjunction(predicates)),), Literal(False, 0), 0)


def _presence(match: Match) -> list[Expression]:
    """A test that every match passes, for want of one that says more."""
    named = [node.variable for path in match.paths for node in path.nodes if node.variable is not None]
    return [NullTest(Variable(named[0], match.position), True, match.position)] if named else []


def _mentioned_tests(
    binder: Binder, predicates: Iterable[Expression], scope: Scope, tested: set[str]
) -> list[Expression]:
    """The visibility of what the predicates speak of and earlier clauses matched."""
    if binder.visibility is None:
        return []
    tests: list[Expression] = []
    waiting: list[object] = list(predicates)
    seen = set(tested)
    while waiting:
        node = waiting.pop()
        if isinstance(node, Variable) and node.name not in seen:
            seen.add(node.name)
            value = scope.names.get(node.name)
            if value is not None:
                tests.extend(_visibility_of(binder, node, value))
        waiting.extend(parts(node))
    return tests


def _visibility_of(binder: Binder, variable: Variable, value: ValueType) -> list[Expression]:
    """That every node in a node, relationship, path, or list of these may be seen."""
    if value.kind in ("NODE", "UNSURE"):
        return [VisibilityTest(variable)]
    if value.kind == "RELATIONSHIP":
        return _ends_of(variable)
    item = Variable(binder.fresh("x"), variable.position)
    if value.kind == "PATH":
        source = Call("nodes", (variable,), False, variable.position)
        return [Quantifier("all", item.name, source, VisibilityTest(item), variable.position)]
    inside = [] if value.kind != "LIST" or value.item is None else _visibility_of(binder, item, value.item)
    return [Quantifier("all", item.name, variable, conjunction(inside), variable.position)] if inside else []


def _ends_of(relationship: Variable) -> list[Expression]:
    return [
        VisibilityTest(Call(function, (relationship,), False, relationship.position))
        for function in ("startNode", "endNode")
    ]


def _conjuncts(where: Expression | None) -> tuple[Expression, ...]:
    if where is None:
        return ()
    return where.operands if isinstance(where, Logical) and where.operator == "AND" else (where,)


def conjunction(predicates: list[Expression]) -> Expression:
    """Predicates joined by AND."""
    return predicates[0] if len(predicates) == 1 else Logical("AND", tuple(predicates), 0)


def _visibility_tests(binder: Binder, patterns: PatternScope) -> list[Expression]:
    if binder.visibility is None:
        return []
    tests: list[Expression] = [VisibilityTest(node) for node in patterns.introduced]
    for crossed in patterns.crossed:
        item = Variable(binder.fresh("x"), crossed.position)
        tests.append(Quantifier("all", item.name, crossed, conjunction(_ends_of(item)), crossed.position))
    for node in patterns.introduced:
        binder.note(node.position, f"only a visible {node.name} matches")
    return tests
