"""What a live graph holds, as far as it was looked at, and the profile that it suggests."""

from collections.abc import Iterable
from dataclasses import dataclass

from cypher_guard.profile import Profile


@dataclass(frozen=True, slots=True)
class Kind:
    """A label or a relationship type: how many there are (None: not counted in time) and their properties.

    properties are those of a sample; a rare one may be missing.
    """

    name: str
    count: int | None
    properties: tuple[str, ...]

    def as_mapping(self) -> dict[str, object]:
        return {"name": self.name, "count": self.count, "properties": list(self.properties)}


@dataclass(frozen=True, slots=True)
class LiveSchema:
    """labels and edge_types, by name. left_out: names that no profile can hold or that came after the bound."""

    labels: tuple[Kind, ...]
    edge_types: tuple[Kind, ...]
    left_out: tuple[str, ...] = ()

    def profile(self) -> Profile:
        """Everything that was seen, within the default limits; a person tightens it from there."""
        seen = {name for kind in (*self.labels, *self.edge_types) for name in kind.properties}
        return Profile(
            edge_types=frozenset(kind.name for kind in self.edge_types),
            labels=frozenset(kind.name for kind in self.labels),
            properties=frozenset(seen),
            allow_bare_arrows=True,
            identity_properties=(),
        )

    def within(self, profile: Profile) -> "LiveSchema":
        """The part that a profile lets a caller know of."""

        def allowed(kinds: Iterable[Kind], names: frozenset[str] | None) -> tuple[Kind, ...]:
            return tuple(
                Kind(kind.name, kind.count, _kept(kind.properties, profile.properties))
                for kind in kinds
                if names is None or kind.name in names
            )

        return LiveSchema(allowed(self.labels, profile.labels), allowed(self.edge_types, profile.edge_types))


def _kept(names: tuple[str, ...], allowed: frozenset[str] | None) -> tuple[str, ...]:
    return names if allowed is None else tuple(name for name in names if name in allowed)
