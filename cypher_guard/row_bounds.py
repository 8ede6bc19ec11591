"""SKIP and LIMIT: whole numbers, or arithmetic of whole numbers and parameters, worked out before the query runs."""

from collections.abc import Mapping
from dataclasses import dataclass

from cypher_guard.binder import Binder
from cypher_guard.lexer import LARGEST_INTEGER
from cypher_guard.tree import Arithmetic, Expression, Literal, Negate, Parameter
from cypher_guard.violation import Refusal


@dataclass(frozen=True, slots=True)
class RowBound:
    """name: the reserved parameter that carries the number; keyword: SKIP or LIMIT; final: of the outermost RETURN."""

    name: str
    keyword: str
    expression: Expression
    final: bool


def bind_row_bound(binder: Binder, expression: Expression, keyword: str) -> int | None:
    """The number where it is known from the text; None where parameters decide it."""
    if not _collect(binder, expression, keyword):
        return evaluate(expression, {}, keyword)
    return None


def _collect(binder: Binder, expression: Expression, keyword: str) -> bool:
    """Whether parameters take part; refuses anything but whole numbers and parameters."""
    if isinstance(expression, Parameter):
        binder.use_parameter(expression.name, expression.position)
        binder.parameter_kinds.setdefault(expression.name, "integer")
        return True
    if isinstance(expression, Literal) and type(expression.value) is int:
        return False
    if isinstance(expression, Negate):
        return _collect(binder, expression.operand, keyword)
    if isinstance(expression, Arithmetic) and all(operator in "+-*/%" for operator, _ in expression.rest):
        parts = (expression.first, *(operand for _, operand in expression.rest))
        return sum([_collect(binder, part, keyword) for part in parts]) > 0
    position = getattr(expression, "position", 0)
    raise Refusal("bad_type", f"{keyword} takes a whole number or a parameter", position)


def evaluate(expression: Expression, params: Mapping[str, object], keyword: str) -> int:
    """The number of rows; raises Refusal if it is negative or beyond 64 bits."""
    position = getattr(expression, "position", 0)
    value = _evaluate(expression, params)
    if value is None or not 0 <= value < LARGEST_INTEGER:
        raise Refusal("bad_type", f"{keyword} takes a whole number of 0 or more", position)
    return value


def _evaluate(expression: Expression, params: Mapping[str, object]) -> int | None:
    if isinstance(expression, Literal):
        value: object = expression.value
    elif isinstance(expression, Parameter):
        value = params.get(expression.name)
    elif isinstance(expression, Negate):
        operand = _evaluate(expression.operand, params)
        value = None if operand is None else -operand
    elif isinstance(expression, Arithmetic):
        value = _evaluate_chain(expression, params)
    else:
        value = None
    return value if type(value) is int else None


def _evaluate_chain(expression: Arithmetic, params: Mapping[str, object]) -> int | None:
    total = _evaluate(expression.first, params)
    for operator, operand in expression.rest:
        value = _evaluate(operand, params)
        if total is None or value is None or (operator in "/%" and value == 0):
            return None
        if operator == "+":
            total += value
        elif operator == "-":
            total -= value
        elif operator == "*":
            total *= value
        else:
            # Cypher's division rounds towards zero, Python's down.
            quotient = abs(total) // abs(value) * (1 if (total < 0) == (value < 0) else -1)
            total = quotient if operator == "/" else total - quotient * value
        if abs(total) > LARGEST_INTEGER:
            return None
    return total
