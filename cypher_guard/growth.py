"""How long a computed string may become: replace() multiplies, so nested ones could fill a database's memory."""

from cypher_guard.tree import Arithmetic, Call, Constant, Literal, Parameter, Property, Variable, parts
from cypher_guard.violation import Refusal

STORED_CHARACTERS = 1_000.0
LARGEST_STRING = 20_000_000.0


def check_growth(node: object) -> float:
    """The characters that a value may hold; raises Refusal above LARGEST_STRING."""
    if isinstance(node, Literal):
        return float(len(node.value)) if isinstance(node.value, str) else 20.0
    if isinstance(node, Constant):
        return float(len(repr(node.value)))
    if isinstance(node, (Parameter, Property, Variable)):
        return STORED_CHARACTERS
    sizes = [check_growth(part) for part in parts(node)]
    if isinstance(node, Call) and node.name == "replace":
        searched = node.arguments[1]
        length = len(searched.value) if isinstance(searched, Literal) and isinstance(searched.value, str) else 1
        size = sizes[0] * max(1.0, sizes[2] / max(length, 1))
        if size > LARGEST_STRING:
            raise Refusal(
                "too_costly",
                f"replace() may build a string of {size:.0e} characters",
                node.position,
                "Replace in your own code, or with shorter strings.",
            )
        return size
    if isinstance(node, Arithmetic):
        return sum(sizes)
    return max(sizes, default=0.0)
