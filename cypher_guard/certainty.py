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
_TRANSPARENT = (
    Call,
    ListComprehension,
    Variable,
    Literal,
    Constant,
    Parameter,
    LabelName,
    Match,
    Path,
    NodePattern,
    RelationshipPattern,
    MapOf,
)
_SAFE_CALLS = frozenset({"labels", "type", "elementId", "startNode", "endNode", "nodes", "relationships", "length"})


def cannot_fail(predicate: object) -> bool:
    """True when no stored value makes this predicate raise: comparisons of unlike values are null in Cypher."""
    return isinstance(predicate, _PREDICATES) and _is_certain(predicate)


def _is_certain(node: object) -> bool:
    """Whether nothing at or under this node can raise."""
    if isinstance(node, Property):
        return isinstance(node.subject, Variable) or _is_safe_call(node.subject)
    if isinstance(node, Call) and not _is_safe_call(node):
        return False
    if not isinstance(node, _PREDICATES + _TRANSPARENT):
        return False
    if isinstance(node, Predicate) and not _is_certain_predicate(node):
        return False
    if isinstance(node, Subquery) and node.kind not in ("EXISTS", "COUNT"):
        return False
    if isinstance(node, (Quantifier, ListComprehension)) and not _is_list(node.source):
        return False
    # A stored value that is no truth value raises where one must stand.
    if not all(isinstance(truth, _PREDICATES) for truth in _truths(node)):
        return False
    return all(_is_certain(part) for part in parts(node))


def _truths(node: object) -> tuple[object, ...]:
    """The parts of a node that must be true or false."""
    if isinstance(node, Logical):
        return node.operands
    if isinstance(node, Not):
        return (node.operand,)
    if isinstance(node, (Match, Quantifier, ListComprehension)) and node.where is not None:
        return (node.where,)
    return ()


def _is_certain_predicate(node: Predicate) -> bool:
    if node.operator == "=~":
        return False
    return node.operator != "IN" or isinstance(node.right, (Constant, Parameter)) or _is_safe_call(node.right)


def _is_list(source: object) -> bool:
    return isinstance(source, Variable) or _is_safe_call(source)


def _is_safe_call(node: object) -> bool:
    if not isinstance(node, Call):
        return False
    return node.name in _SAFE_CALLS or (node.name == "size" and _is_safe_call(node.arguments[0]))
