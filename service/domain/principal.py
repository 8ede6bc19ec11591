"""Who asks: access (`Principal`) apart from taste (`CallerProfile`)."""

from dataclasses import dataclass, field
from enum import StrEnum

from service.domain.graph import EVERYONE


class Scope(StrEnum):
    """What a caller may do. Which nodes it sees while doing so is another question: `Principal.audiences`."""

    SEARCH = "search"
    """Search, list, fetch, relate: everything that the service itself puts into queries."""
    GRAPH = "graph"
    """Write graph queries of its own, and read the schema."""
    PUBLISH = "publish"
    """Change what is published."""
    OPERATE = "operate"
    """Look into the service: diagnostics, runs, metrics, engines."""


@dataclass(frozen=True, slots=True)
class Principal:
    """The authenticated caller. `audiences` are its visibility classes; everyone's is always one of them.

    name: stands in the audit log and is what limits are counted by; no secret.
    is_owner: holds the data folder itself, and so may name paths of this machine.
    """

    name: str = "anonymous"
    audiences: frozenset[str] = field(default_factory=lambda: frozenset({EVERYONE}))
    scopes: frozenset[Scope] = field(default_factory=frozenset)
    is_owner: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "audiences", self.audiences | {EVERYONE})

    @property
    def visibility_class(self) -> tuple[str, ...]:
        """Principals with equal classes see the same nodes: the key of every cache that depends on who asks."""
        return tuple(sorted(self.audiences))


ANONYMOUS = Principal()
OWNER = Principal("owner", scopes=frozenset(Scope), is_owner=True)
"""Whoever can read the data folder. It sees what everyone sees: who may read the files needs no search to read them."""
