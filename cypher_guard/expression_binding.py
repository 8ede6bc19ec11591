"""Rules for operators, look-ups, lists, maps and CASE."""

from cypher_guard.binder import Binder, Bound, Scope
from cypher_guard.checks import check_label, check_property, check_regex, check_relationship_type
from cypher_guard.planner_weight import LONGEST_LOGICAL_CHAIN, check_chain
from cypher_guard.tree import (
    AnyLabel,
    Arithmetic,
    Call,
    Case,
    Comparison,
    Constant,
    Expression,
    Index,
    LabelExpression,
    LabelName,
    LabelTest,
    ListComprehension,
    ListOf,
    Literal,
    Logical,
    MapOf,
    Negate,
    Not,
    NotLabel,
    NullTest,
    Parameter,
    Predicate,
    Property,
    Quantifier,
    Slice,
    Subquery,
    TypeTest,
    Variable,
)
from cypher_guard.value_types import (
    AMOUNT,
    ANY,
    BOOLEAN,
    DURATION,
    FLOAT,
    INTEGER,
    NULL,
    NUMBER,
    STORED,
    STRING,
    SUM,
    TEMPORAL,
    UNSURE,
    ValueType,
    join,
    list_of,
    map_of,
    type_of,
)
from cypher_guard.violation import Refusal

_MIRRORED = {"<": ">", ">": "<", "<=": ">=", ">=": "<="}
_HOLDERS = frozenset({"NODE", "RELATIONSHIP", "UNSURE"})
_INDICES = frozenset({"INTEGER", "NUMBER", "AMOUNT", "STRING", "ANY", "SUM", "NULL"})
_OPEN_DATA = frozenset({"ANY", "NULL", "SUM", "AMOUNT", "TEMPORAL", "DURATION", "POINT"})


def bind_literal(_binder: Binder, node: Literal | Constant, _scope: Scope) -> Bound:
    return node, type_of(node.value)


def bind_property(binder: Binder, node: Property, scope: Scope) -> Bound:
    """`x.key`: of a node or relationship only a key of the profile's."""
    subject, holder = binder.expression(node.subject, scope)
    kind = holder.kind
    if kind in _HOLDERS:
        check_property(binder.profile, node.key, node.position)
        value = STORED
    elif kind == "MAP":
        value = _field(holder, node.key)
    elif kind in _OPEN_DATA:
        if isinstance(subject, Parameter):
            binder.require(subject, holder, "map", "a look-up", node.position)
        value = ANY
    else:
        raise Refusal("bad_type", f"{holder} has no properties", node.position)
    return (node if subject is node.subject else Property(subject, node.key, node.position)), value


def _field(holder: ValueType, key: str) -> ValueType:
    if holder.fields is None:
        return ANY
    return dict(holder.fields).get(key, NULL)


def bind_index(binder: Binder, node: Index, scope: Scope) -> Bound:
    """`list[0]` or `map['key']`; a node's property must be named, not computed."""
    subject, holder = binder.expression(node.subject, scope)
    index, index_type = binder.expression(node.index, scope)
    named = index.value if isinstance(index, Literal) and isinstance(index.value, str) else None
    kind = holder.kind
    if kind in ("NODE", "RELATIONSHIP"):
        if named is None:
            raise Refusal(
                "unknown_property",
                "a property must be named, not computed",
                node.position,
                "Write x.name, or choose with CASE.",
            )
        check_property(binder.profile, named, node.position)
        return Property(subject, named, node.position), STORED
    if kind == "LIST":
        binder.require(index, index_type, "integer", "an index into a list", node.position)
        value = holder.item or ANY
    elif kind == "MAP":
        binder.require(index, index_type, "string", "a key of a map", node.position)
        value = _field(holder, named) if named is not None else UNSURE if holder.holds_entity else ANY
    elif kind == "UNSURE":
        if index_type.kind != "INTEGER":
            raise Refusal("unknown_property", "a property must be named, not computed", node.position)
        value = UNSURE
    elif kind in ("ANY", "NULL", "SUM") and index_type.kind in _INDICES:
        if holder.stored:
            binder.require(index, index_type, "integer", "an index into a stored list", node.position)
        value = ANY
    else:
        raise Refusal("bad_type", f"{holder} has no items by {index_type}", node.position)
    return Index(subject, index, node.position), value


def bind_slice(binder: Binder, node: Slice, scope: Scope) -> Bound:
    """`list[from..to]`."""
    subject, holder = binder.value(node.subject, scope, "list", "a slice")
    bounds: list[Expression | None] = [
        None if bound is None else binder.value(bound, scope, "integer", "a slice's bound")[0]
        for bound in (node.start, node.end)
    ]
    return Slice(subject, bounds[0], bounds[1], node.position), holder


def bind_label_test(binder: Binder, node: LabelTest, scope: Scope) -> Bound:
    """`n:Label` or `r:TYPE`, as plain tests joined by AND, OR and NOT."""
    subject, holder = binder.expression(node.subject, scope)
    if holder.kind not in ("NODE", "RELATIONSHIP", "NULL", "UNSURE"):
        raise Refusal("bad_type", f"only a node has labels, and this is {holder}", node.position)
    return label_predicate(binder, subject, node.labels, holder.kind == "RELATIONSHIP"), BOOLEAN


def label_predicate(
    binder: Binder, subject: Expression, labels: LabelExpression, is_relationship: bool = False
) -> Expression:
    """A label expression as a predicate that every engine reads."""
    at = labels.position
    if isinstance(labels, LabelName):
        if is_relationship:
            check_relationship_type(binder.profile, labels)
            kind = Call("type", (subject,), False, at)
            return Comparison(kind, (("=", Literal(labels.name, at)),), at)
        check_label(binder.profile, labels.name, at)
        if isinstance(subject, Variable):
            return LabelTest(subject, labels, at)
        return Predicate("IN", Literal(labels.name, at), Call("labels", (subject,), False, at), at)
    if isinstance(labels, AnyLabel):
        if is_relationship:
            return NullTest(subject, True, at)
        count = Call("size", (Call("labels", (subject,), False, at),), False, at)
        return Comparison(count, ((">", Literal(0, at)),), at)
    if isinstance(labels, NotLabel):
        return Not(label_predicate(binder, subject, labels.operand, is_relationship), at)
    operands = tuple(label_predicate(binder, subject, operand, is_relationship) for operand in labels.operands)
    return Logical("AND" if labels.operator == "&" else "OR", operands, at)


def bind_list(binder: Binder, node: ListOf, scope: Scope) -> Bound:
    item = NULL
    items: list[Expression] = []
    for element in node.items:
        bound, value = binder.expression(element, scope)
        items.append(bound)
        item = join(item, value)
    return ListOf(tuple(items), node.position), list_of(item)


def bind_map(binder: Binder, node: MapOf, scope: Scope) -> Bound:
    entries: list[tuple[str, Expression]] = []
    types: list[tuple[str, ValueType]] = []
    for key, element in node.entries:
        bound, value = binder.expression(element, scope)
        entries.append((key, bound))
        types.append((key, value))
    return MapOf(tuple(entries), node.position), map_of(tuple(types))


def bind_case(binder: Binder, node: Case, scope: Scope) -> Bound:
    subject = None if node.subject is None else binder.expression(node.subject, scope)[0]
    result_type = NULL
    binder.weight.add("WHEN branches", len(node.branches), node.position)
    branches: list[tuple[Expression, Expression]] = []
    for test, result in node.branches:
        bound_test = binder.boolean(test, scope, "WHEN") if subject is None else binder.expression(test, scope)[0]
        bound, value = binder.expression(result, scope)
        result_type = join(result_type, value)
        branches.append((bound_test, bound))
    otherwise = None
    if node.otherwise is not None:
        otherwise, value = binder.expression(node.otherwise, scope)
        result_type = join(result_type, value)
    return Case(subject, tuple(branches), otherwise, node.position), result_type


def bind_not(binder: Binder, node: Not, scope: Scope) -> Bound:
    around = binder.weight.enter_logic("NOT", node.position)
    operand = binder.boolean(node.operand, scope, "NOT")
    binder.weight.leave_logic(around)
    return Not(operand, node.position), BOOLEAN


def bind_logical(binder: Binder, node: Logical, scope: Scope) -> Bound:
    """AND and OR of the same operator merge, however they were bracketed: only their alternation nests."""
    operator = node.operator
    if operator == "XOR":
        binder.weight.add("XOR operators", len(node.operands) - 1, node.position)
    around = binder.weight.enter_logic(operator, node.position)
    operands: list[Expression] = []
    for operand in node.operands:
        bound = binder.boolean(operand, scope, operator)
        operands.extend(bound.operands if isinstance(bound, Logical) and bound.operator == operator else (bound,))
    binder.weight.leave_logic(around)
    check_chain(len(operands), LONGEST_LOGICAL_CHAIN, node.position)
    return Logical(operator, tuple(operands), node.position), BOOLEAN


def bind_negate(binder: Binder, node: Negate, scope: Scope) -> Bound:
    operand, value = binder.value(node.operand, scope, "number", "a minus")
    return Negate(operand, node.position), AMOUNT if value.kind in ("ANY", "SUM") else value


def bind_arithmetic(binder: Binder, node: Arithmetic, scope: Scope) -> Bound:
    first, total = binder.expression(node.first, scope)
    rest: list[tuple[str, Expression]] = []
    for operator, operand in node.rest:
        bound, value = binder.expression(operand, scope)
        shown = "+" if operator == "||" else operator
        total = _sum(total, value, node.position) if shown == "+" else _arithmetic(shown, total, value, node.position)
        rest.append((shown, bound))
    return Arithmetic(first, tuple(rest), node.position), total


def _sum(left: ValueType, right: ValueType, position: int) -> ValueType:
    if left.kind == "LIST" or right.kind == "LIST":
        left_item = left.item if left.kind == "LIST" else left
        right_item = right.item if right.kind == "LIST" else right
        return list_of(join(left_item or ANY, right_item or ANY))
    kinds = {left.kind, right.kind}
    for value in (left, right):
        if value.holds_entity or value.kind == "MAP" or (value.kind in ("BOOLEAN", "POINT") and "STRING" not in kinds):
            raise Refusal("bad_type", f"{value} cannot be added", position)
    if "STRING" in kinds:
        return STRING
    return _arithmetic("+", left, right, position)


def _arithmetic(operator: str, left: ValueType, right: ValueType, position: int) -> ValueType:
    for value in (left, right):
        if value.kind in ("STRING", "BOOLEAN", "LIST", "MAP", "POINT") or value.holds_entity:
            raise Refusal("bad_type", f"{operator} takes numbers, and this is {value}", position)
    kinds = {left.kind, right.kind}
    if "TEMPORAL" in kinds or "DURATION" in kinds:
        return _calendar(operator, left, right, position)
    if kinds & {"ANY", "SUM"}:
        return SUM if operator == "+" else AMOUNT
    if "AMOUNT" in kinds:
        return AMOUNT
    if operator == "^" or "FLOAT" in kinds:
        return FLOAT
    return INTEGER if kinds == {"INTEGER"} else NUMBER


def _calendar(operator: str, left: ValueType, right: ValueType, position: int) -> ValueType:
    """Points in time move by durations; durations add up and are scaled by numbers."""
    unknown = ("ANY", "SUM", "AMOUNT", "NULL")
    if left.kind == "TEMPORAL" and operator in "+-" and right.kind in ("DURATION", *unknown):
        return TEMPORAL
    if right.kind == "TEMPORAL" and operator == "+" and left.kind in ("DURATION", *unknown):
        return TEMPORAL
    if operator in "+-" and {left.kind, right.kind} <= {"DURATION", *unknown}:
        return AMOUNT if {left.kind, right.kind} & {"ANY", "SUM", "AMOUNT"} else DURATION
    if operator in "*/" and left.kind == "DURATION" and right.kind in ("INTEGER", "FLOAT", "NUMBER", *unknown):
        return DURATION
    if operator == "*" and right.kind == "DURATION" and left.kind in ("INTEGER", "FLOAT", "NUMBER", *unknown):
        return DURATION
    raise Refusal("bad_type", f"{operator} cannot stand between {left} and {right}", position)


def bind_comparison(binder: Binder, node: Comparison, scope: Scope) -> Bound:
    """A chain `a < b < c` becomes its pairs joined by AND."""
    left = binder.expression(node.first, scope)[0]
    pairs: list[Expression] = []
    for operator, operand in node.rest:
        right = binder.expression(operand, scope)[0]
        pairs.append(_pair(left, operator, right, node.position))
        left = right
    if len(pairs) == 1:
        return pairs[0], BOOLEAN
    binder.note(node.position, "a chain of comparisons became pairs joined by AND")
    return Logical("AND", tuple(pairs), node.position), BOOLEAN


def _pair(left: Expression, operator: str, right: Expression, position: int) -> Expression:
    """One comparison; `COUNT {}` goes to the right, because an engine of ours takes `(COUNT {` for a node."""
    if isinstance(left, Subquery) and not isinstance(right, Subquery):
        left, operator, right = right, _MIRRORED.get(operator, operator), left
    return Comparison(left, ((operator, right),), position)


def bind_predicate(binder: Binder, node: Predicate, scope: Scope) -> Bound:
    operator = node.operator
    if operator == "IN":
        left = binder.expression(node.left, scope)[0]
        right = binder.value(node.right, scope, "list", "IN")[0]
        return Predicate(operator, left, right, node.position), BOOLEAN
    if operator == "=~":
        check_regex(binder.profile, node.position)
    left = binder.value(node.left, scope, "string", operator)[0]
    right = binder.value(node.right, scope, "string", operator)[0]
    return Predicate(operator, left, right, node.position), BOOLEAN


def bind_null_test(binder: Binder, node: NullTest, scope: Scope) -> Bound:
    return NullTest(binder.expression(node.operand, scope)[0], node.negated, node.position), BOOLEAN


def bind_type_test(binder: Binder, node: TypeTest, scope: Scope) -> Bound:
    operand = binder.expression(node.operand, scope)[0]
    return TypeTest(operand, node.type_name, node.negated, node.position), BOOLEAN


def item_of(value: ValueType) -> ValueType:
    """The type of a list's items."""
    if value.kind == "LIST":
        return value.item or ANY
    return UNSURE if value.kind == "UNSURE" else ANY


def bind_list_comprehension(binder: Binder, node: ListComprehension, scope: Scope) -> Bound:
    source, value = binder.value(node.source, scope, "list", "a list comprehension")
    inner = scope.extend(node.variable, item_of(value))
    with binder.inside("inside a list comprehension"):
        where = None if node.where is None else binder.boolean(node.where, inner, "WHERE")
        result, result_type = (None, item_of(value)) if node.result is None else binder.expression(node.result, inner)
    return ListComprehension(node.variable, source, where, result, node.position), list_of(result_type)


def bind_quantifier(binder: Binder, node: Quantifier, scope: Scope) -> Bound:
    source, value = binder.value(node.source, scope, "list", f"{node.kind}()")
    with binder.inside(f"inside {node.kind}()"):
        where = binder.boolean(node.where, scope.extend(node.variable, item_of(value)), "WHERE")
    return Quantifier(node.kind, node.variable, source, where, node.position), BOOLEAN
