"""Who asks: access (`Principal`) apart from taste (`CallerProfile`)."""

from dataclasses import dataclass, field

from service.domain.graph import EVERYONE


@dataclass(frozen=True, slots=True)
class Principal:
    """The authenticated caller. `audiences` are its visibility classes; everyone's is always one of them."""

    name: str = "anonymous"
    audiences: frozenset[str] = field(default_factory=lambda: frozenset({EVERYONE}))
    scopes: frozenset[str] = field(default_factory=frozenset)

    def __post_init__(self) -> None:
        object.__setattr__(self, "audiences", self.audiences | {EVERYONE})

    @property
    def visibility_class(self) -> tuple[str, ...]:
        """Principals with equal classes see the same nodes: the key of every cache that depends on who asks."""
        return tuple(sorted(self.audiences))


ANONYMOUS = Principal()
