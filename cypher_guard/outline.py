"""What the guard made of a query, for a person to read: its tree, and what was rewritten where."""

from collections.abc import Iterable, Iterator
from dataclasses import fields

from cypher_guard.plan import Plan
from cypher_guard.violation import locate


def rewritten(text: str, plan: Plan) -> Iterator[tuple[int, int, str]]:
    """Line and column, from 1, of each rewriting, and what it was; in the order they were made."""
    for position, rewrite in plan.rewrites:
        line, column, _ = locate(text, position)
        yield line, column, rewrite


def outline(node: object, depth: int = 0, label: str = "") -> Iterable[str]:
    """One line a tree node, its plain fields beside its name, its parts under it."""
    plain: list[str] = []
    nested: list[tuple[str, object]] = []
    for part in fields(node):  # type: ignore[arg-type]
        value = getattr(node, part.name)
        if part.name == "position" or value is None or value == ():
            continue
        if isinstance(value, tuple) or hasattr(value, "__dataclass_fields__"):
            nested.append((part.name, value))
        else:
            plain.append(f"{part.name}={value!r}")
    yield "  " * depth + " ".join([f"{label}{type(node).__name__}", *plain])
    for name, value in nested:
        yield from _part(name, value, depth + 1)


def _part(name: str, value: object, depth: int) -> Iterable[str]:
    if isinstance(value, tuple):
        for item in value:
            yield from _part(name, item, depth)
    elif hasattr(value, "__dataclass_fields__"):
        yield from outline(value, depth, f"{name}: ")
    elif value is not None:
        yield "  " * depth + f"{name}: {value!r}"
