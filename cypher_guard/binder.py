"""What binding a query needs to know: profile, scope, fresh names, and what has been counted so far.

Binding resolves every name and type of the parsed tree, checks it against the profile, and returns the
canonical tree: the one that is rendered. The rules for each kind of tree node stand in the *_binding modules.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from cypher_guard.checks import check_total_hops
from cypher_guard.planner_weight import PlannerWeight
from cypher_guard.profile import Profile
from cypher_guard.tree import Expression, Parameter, Variable
from cypher_guard.value_types import ANY, ValueType, accepts
from cypher_guard.violation import Refusal, suggest

Bound = tuple[Expression, ValueType]


@dataclass(frozen=True, slots=True)
class VisibilityShape:
    """The part of a visibility that shows in the text: everything but the principal's classes."""

    property: str
    parameter: str


@dataclass(frozen=True, slots=True)
class Scope:
    """Names in sight, and what some of them stand for in the rendering."""

    names: dict[str, ValueType]
    stands_for: dict[str, Expression] = field(default_factory=dict)

    def extend(self, name: str, value: ValueType, stands_for: Expression | None = None) -> "Scope":
        """This scope and one name more, which hides an equal one."""
        replacements = {key: shown for key, shown in self.stands_for.items() if key != name}
        if stands_for is not None:
            replacements[name] = stands_for
        return Scope({**self.names, name: value}, replacements)

    def copy(self) -> "Scope":
        return Scope(dict(self.names), dict(self.stands_for))


class Binder:
    """The state of one binding."""

    def __init__(
        self, profile: Profile, visibility: VisibilityShape | None, rules: Mapping[type, Callable[..., Bound]]
    ) -> None:
        self.profile = profile
        self.visibility = visibility
        self.rules = rules
        self.hops = 0
        self.weight = PlannerWeight()
        self.matched = False
        self.aggregates = 0
        # None where aggregates may stand; else the place that they may not stand in.
        self.no_aggregates: str | None = "outside RETURN and WITH"
        self.parameters: dict[str, int] = {}
        self.parameter_kinds: dict[str, str] = {}
        self.rewrites: list[tuple[int, str]] = []
        self._fresh = 0

    def expression(self, node: Expression, scope: Scope) -> Bound:
        """The canonical form of an expression, and its type."""
        return self.rules[node.__class__](self, node, scope)

    def value(self, node: Expression, scope: Scope, kind: str, purpose: str) -> Bound:
        """An expression that must be of a kind; a parameter's value is held to it later."""
        bound, value_type = self.rules[node.__class__](self, node, scope)
        self.require(bound, value_type, kind, purpose, getattr(node, "position", 0))
        return bound, value_type

    def require(self, bound: Expression, value_type: ValueType, kind: str, purpose: str, position: int) -> None:
        """Refuse a value whose type is known to be another."""
        if isinstance(bound, Parameter):
            self.parameter_kinds.setdefault(bound.name, kind)
        elif not accepts(kind, value_type):
            wanted = "a value, not a whole node" if kind == "any" else f"a {kind} value"
            raise Refusal("bad_type", f"{purpose} takes {wanted}, and this is {value_type}", position)

    def boolean(self, node: Expression, scope: Scope, place: str) -> Expression:
        """A predicate."""
        return self.value(node, scope, "boolean", place)[0]

    def inside(self, place: str) -> "NoAggregates":
        """A stretch in which aggregates may not stand."""
        return NoAggregates(self, place)

    def fresh(self, letter: str) -> str:
        """A name that no caller can use."""
        name = f"__{letter}{self._fresh}"
        self._fresh += 1
        return name

    def use_parameter(self, name: str, position: int) -> None:
        if name.startswith("__"):
            raise Refusal("bad_parameter", "parameters that start with __ are reserved", position)
        self.parameters.setdefault(name, position)

    def cross(self, hops: int, position: int) -> None:
        """Count the hops of one relationship."""
        self.hops += hops
        check_total_hops(self.profile, self.hops, position)

    def note(self, position: int, rewrite: str) -> None:
        """Remember a rewriting for a person who asks what was done."""
        self.rewrites.append((position, rewrite))


class NoAggregates:
    """Forbids aggregates while it is entered."""

    __slots__ = ("before", "binder", "place")

    def __init__(self, binder: Binder, place: str) -> None:
        self.binder = binder
        self.place = place
        self.before: str | None = None

    def __enter__(self) -> None:
        self.before = self.binder.no_aggregates
        self.binder.no_aggregates = self.place

    def __exit__(self, *_: object) -> None:
        self.binder.no_aggregates = self.before


def bind_variable(_: Binder, node: Variable, scope: Scope) -> Bound:
    """A name that must be in scope."""
    value_type = scope.names.get(node.name)
    if value_type is None:
        raise Refusal(
            "unknown_variable",
            f"the variable {node.name} is not in scope here",
            node.position,
            suggest(node.name, [name for name in scope.names if not name.startswith("__")]),
        )
    if scope.stands_for and (shown := scope.stands_for.get(node.name)) is not None:
        return shown, value_type
    return node, value_type


def bind_parameter(binder: Binder, node: Parameter, _: Scope) -> Bound:
    """A value that the caller gives beside the text."""
    binder.use_parameter(node.name, node.position)
    return node, ANY
