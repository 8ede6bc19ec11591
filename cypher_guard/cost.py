"""A static estimate of the rows that a query touches, for a graph of some ten thousand nodes.

The numbers are orders of magnitude, not statistics: they tell a search that starts from a known node from one
that starts from all of them, and a chain of hops that fans out from one that does not.
"""

from cypher_guard.checks import check_cost
from cypher_guard.grouping import is_aggregate
from cypher_guard.profile import Profile
from cypher_guard.tree import (
    Call,
    Clause,
    Comparison,
    Constant,
    Expression,
    ListComprehension,
    ListOf,
    Literal,
    Logical,
    Match,
    NodePattern,
    Parameter,
    Path,
    PatternComprehension,
    Predicate,
    Projection,
    Property,
    Quantifier,
    RelationshipPattern,
    Slice,
    Subquery,
    Unwind,
    Variable,
    VisibilityTest,
    parts,
)

ALL_NODES = 10_000.0
NODES_OF_A_LABEL = 3_000.0
NODES_OF_A_VALUE = 10.0
DIRECTED_FAN = 10.0
UNDIRECTED_FAN = 20.0
# What part of the nodes at the end of a hop are left by a known value, or by a label or other predicate.
LEFT_BY_VALUE = 0.01
LEFT_BY_PREDICATE = 0.5
PARAMETER_ITEMS = 10_000.0
STORED_ITEMS = 100.0
COLLECTED_ITEMS = 1_000.0
PATH_ITEMS = 5.0
# EXISTS {} stops at its first match.
EXISTENCE = 1_000.0


# How many items the list of each known name may hold.
Sizes = dict[str, float]


def estimate(profile: Profile, clauses: tuple[Clause, ...]) -> float:
    """Rows touched by the whole query; raises Refusal above the profile's limit."""
    rows, total = 1.0, 0.0
    known: Sizes = {}
    for clause in clauses:
        if isinstance(clause, Match):
            rows *= _matches(clause, known)
            known.update(_introduced(clause))
            total += rows * (1 + _work(clause.where, known))
        elif isinstance(clause, Unwind):
            total += rows * _work(clause.source, known)
            rows *= _items(clause.source, known)
            total += rows
        else:
            total += rows * (1 + sum(_work(item.expression, known) for item in clause.items))
            total += rows * sum(_work(key.expression, known) for key in clause.order)
            rows = _rows_after(clause, rows)
            known = {item.name: _items(item.expression, known) for item in clause.items}
        check_cost(profile, total, clause.position)
    return total


def _rows_after(clause: Projection, rows: float) -> float:
    if all(is_aggregate(item.expression) for item in clause.items):
        rows = 1.0
    if isinstance(clause.limit, Literal) and isinstance(clause.limit.value, int):
        rows = min(rows, float(clause.limit.value))
    return rows


def _matches(match: Match, known: Sizes) -> float:
    """Matches of a clause for one row."""
    values, others = _filters(match.where)
    rows = 1.0
    seen = set(known)
    waiting = list(match.paths)
    while waiting:
        # A planner goes on from what it has; only a path that nothing reaches starts a search of its own.
        path = next((path for path in waiting if _names(path) & seen), waiting[0])
        waiting.remove(path)
        if not _names(path) & seen:
            rows *= min(_start(node, values, others) for node in path.nodes)
        rows *= _hops(path, values, others)
        seen |= _names(path)
    return rows


def _names(path: Path) -> set[str]:
    return {node.variable for node in path.nodes if node.variable}


def _hops(path: Path, values: set[str], others: set[str]) -> float:
    rows = 1.0
    for relationship, node in zip(path.relationships, path.nodes[1:], strict=True):
        rows *= _fan(relationship)
        if node.variable in values or node.properties is not None:
            rows *= LEFT_BY_VALUE
        elif node.variable in others or node.labels is not None:
            rows *= LEFT_BY_PREDICATE
    return max(rows, 1.0)


def _fan(relationship: RelationshipPattern) -> float:
    fan = UNDIRECTED_FAN if relationship.direction == "both" else DIRECTED_FAN
    length = relationship.length
    if length is None:
        return fan
    return float(sum(fan**hops for hops in range(length.minimum, (length.maximum or 0) + 1)))


def _start(node: NodePattern, values: set[str], others: set[str]) -> float:
    if node.properties is not None or node.variable in values:
        return NODES_OF_A_VALUE
    nodes = ALL_NODES if node.labels is None else NODES_OF_A_LABEL
    return nodes * LEFT_BY_PREDICATE if node.variable in others else nodes


def _filters(where: Expression | None) -> tuple[set[str], set[str]]:
    """Variables that WHERE holds to a known value, and those that it holds to anything else."""
    values: set[str] = set()
    others: set[str] = set()
    conjuncts = where.operands if isinstance(where, Logical) and where.operator == "AND" else (where,)
    for conjunct in conjuncts:
        if isinstance(conjunct, Comparison):
            operator, right = conjunct.rest[0]
            for side in (conjunct.first, right):
                name = _held(side)
                if name is not None:
                    (values if operator == "=" else others).add(name)
        elif isinstance(conjunct, Predicate):
            name = _held(conjunct.left)
            if name is not None:
                strong = conjunct.operator in ("IN", "STARTS WITH")
                (values if strong else others).add(name)
    return values, others


def _held(side: Expression) -> str | None:
    if isinstance(side, Property) and isinstance(side.subject, Variable):
        return side.subject.name
    if isinstance(side, Call) and side.name == "elementId" and isinstance(side.arguments[0], Variable):
        return side.arguments[0].name
    return None


def _work(node: object, known: Sizes) -> float:
    """What one evaluation of an expression touches."""
    if node is None or isinstance(node, (Literal, Constant, Variable, Parameter)):
        return 0.0
    if isinstance(node, (ListComprehension, Quantifier)):
        if isinstance(node.where, Logical) and isinstance(node.where.operands[0], VisibilityTest):
            return 0.0
        body = _work(node.where, known) + _work(getattr(node, "result", None), known)
        return _work(node.source, known) + _items(node.source, known) * (1 + body)
    if isinstance(node, PatternComprehension):
        matches = _matches(Match(False, (node.path,), node.where, node.position), known)
        return matches * (1 + _work(node.where, known) + _work(node.result, known))
    if isinstance(node, Subquery):
        matches, inside = 1.0, dict(known)
        work = 0.0
        for match in node.clauses:
            matches *= _matches(match, inside)
            inside.update(_introduced(match))
            work += matches * (1 + _work(match.where, inside))
        return min(work, EXISTENCE) if node.kind == "EXISTS" else work
    return sum([_work(part, known) for part in parts(node)])


def _introduced(match: Match) -> Sizes:
    """The names of a clause; a relationship's holds a list where its length varies."""
    names: list[str | None] = []
    for path in match.paths:
        names += [
            path.variable,
            *[each.variable for each in path.nodes],
            *[each.variable for each in path.relationships],
        ]
    return {name: PATH_ITEMS for name in names if name is not None}


def _items(source: Expression, known: Sizes) -> float:
    """How many items a list may hold."""
    if isinstance(source, Constant):
        return float(len(source.value)) if isinstance(source.value, (list, dict)) else 1.0
    if isinstance(source, ListOf):
        return float(len(source.items))
    if isinstance(source, Parameter):
        return PARAMETER_ITEMS
    if isinstance(source, Property):
        return STORED_ITEMS
    if isinstance(source, (ListComprehension, Slice)):
        return _items(source.source if isinstance(source, ListComprehension) else source.subject, known)
    if isinstance(source, Call) and source.name in ("nodes", "relationships", "labels", "keys"):
        return PATH_ITEMS
    if isinstance(source, Variable):
        return known.get(source.name, COLLECTED_ITEMS)
    return COLLECTED_ITEMS
