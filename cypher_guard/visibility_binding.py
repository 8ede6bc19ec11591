"""The WHERE of one clause: the caller's predicates, and the visibility of every node the clause introduces."""

from cypher_guard.binder import Binder
from cypher_guard.certainty import cannot_fail
from cypher_guard.pattern_binding import PatternScope
from cypher_guard.tree import Call, Case, Expression, Literal, Logical, Quantifier, Variable, VisibilityTest


def join_predicates(binder: Binder, patterns: PatternScope, where: Expression | None) -> Expression | None:
    """Visibility first, then what the caller asked.

    A predicate that can fail stands in a CASE behind the visibility tests, since AND fixes no order: an error
    must not tell of a node that is not to be seen.
    """
    asked = list(patterns.predicates)
    if where is not None:
        asked.extend(where.operands if isinstance(where, Logical) and where.operator == "AND" else (where,))
    visible = _visibility_tests(binder, patterns)
    if visible:
        certain = [predicate for predicate in asked if cannot_fail(predicate)]
        uncertain = [predicate for predicate in asked if not cannot_fail(predicate)]
        asked = visible + certain
        if uncertain:
            asked.append(Case(None, ((conjunction(visible), conjunction(uncertain)),), Literal(False, 0), 0))
    return conjunction(asked) if asked else None


def conjunction(predicates: list[Expression]) -> Expression:
    """Predicates joined by AND."""
    return predicates[0] if len(predicates) == 1 else Logical("AND", tuple(predicates), 0)


def _visibility_tests(binder: Binder, patterns: PatternScope) -> list[Expression]:
    if binder.visibility is None:
        return []
    tests: list[Expression] = [VisibilityTest(node) for node in patterns.introduced]
    for crossed in patterns.crossed:
        item = Variable(binder.fresh("x"), crossed.position)
        ends: list[Expression] = [
            VisibilityTest(Call(function, (item,), False, crossed.position)) for function in ("startNode", "endNode")
        ]
        tests.append(Quantifier("all", item.name, crossed, conjunction(ends), crossed.position))
    for node in patterns.introduced:
        binder.note(node.position, f"only a visible {node.name} matches")
    return tests
