"""Whether a predicate can end a query with an error.

An error that depends on a node the principal may not see would tell that it exists, so a predicate that can
fail is asked only after the visibility of the nodes it could meet.
"""

from cypher_guard.tree import (
    Call,
    Comparison,
    Constant,
    LabelName,
    LabelTest,
    ListComprehension,
    Literal,
    Logical,
    MapOf,
    Match,
    NodePattern,
    Not,
    NullTest,
    Parameter,
    Path,
    Predicate,
    Property,
    Quantifier,
    RelationshipPattern,
    Subquery,
    TypeTest,
    Variable,
    VisibilityTest,
    parts,
)

_PREDICATES = (Comparison, Predicate, NullTest, LabelTest, TypeTest, Quantifier, Subquery, VisibilityTest, Logical, Not)
_TRANSPARENT = (Variable, Literal, Constant, Parameter, LabelName, Match, Path, NodePattern, RelationshipPattern, MapOf)
_SAFE_CALLS = frozenset({"labels", "type", "elementId", "startNode", "endNode", "nodes", "relationships", "length"})


def cannot_fail(node: object) -> bool:
    """True when no stored value makes this predicate raise: comparisons of unlike values are null in Cypher."""
    if isinstance(node, (Logical, Not)):
        operands = node.operands if isinstance(node, Logical) else (node.operand,)
        if not all(isinstance(operand, _PREDICATES) for operand in operands):
            return False
    elif isinstance(node, Predicate):
        if node.operator == "=~":
            return False
        if node.operator == "IN" and not isinstance(node.right, (Constant, Parameter, Call)):
            return False
    elif isinstance(node, Property):
        return isinstance(node.subject, Variable) or _is_safe_call(node.subject)
    elif isinstance(node, (Quantifier, ListComprehension)):
        if not isinstance(node.source, Variable) and not _is_safe_call(node.source):
            return False
    elif isinstance(node, Call):
        if not _is_safe_call(node):
            return False
    elif isinstance(node, Subquery):
        if node.kind not in ("EXISTS", "COUNT"):
            return False
    elif not isinstance(node, _PREDICATES + _TRANSPARENT):
        return False
    return all(cannot_fail(part) for part in parts(node) if not isinstance(part, (str, int)))


def _is_safe_call(node: object) -> bool:
    return isinstance(node, Call) and (
        node.name in _SAFE_CALLS or (node.name == "size" and _is_safe_call(node.arguments[0]))
    )
