"""Which nodes a principal may see, as the guard rewrites it into a query."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Visibility:
    """audiences: the principal's classes, bound as a parameter, never part of the text or of a cache's key.

    A node is visible when the list in its `property` holds one of them; without the property it is not.
    """

    audiences: frozenset[str]
    property: str = "visibleTo"
    parameter: str = "__audiences"

    def __post_init__(self) -> None:
        if isinstance(self.audiences, str):
            raise ValueError("audiences is a set of names, not one string")
        object.__setattr__(self, "audiences", frozenset(self.audiences))
        for name in (self.property, self.parameter):
            if not name.isprintable() or "\\" in name or not name:
                raise ValueError(f"{name!r} is no name")
        if not self.parameter.startswith("__"):
            raise ValueError("the parameter's name starts with __, which callers cannot use")
