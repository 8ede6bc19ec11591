"""What lies between two snapshots, by identity and content hash alone."""

from collections.abc import Mapping
from dataclasses import dataclass

from service.domain.graph import NodeIdentity


@dataclass(frozen=True, slots=True)
class Difference:
    """`gone` names what only the old snapshot holds: removed records and the old versions of changed ones."""

    added: frozenset[NodeIdentity]
    changed: frozenset[NodeIdentity]
    removed: frozenset[NodeIdentity]
    unchanged: int
    gone: frozenset[tuple[NodeIdentity, str]]

    @property
    def is_empty(self) -> bool:
        return not (self.added or self.changed or self.removed)


def compare(old: Mapping[NodeIdentity, str], new: Mapping[NodeIdentity, str]) -> Difference:
    """Each map: identity → content hash."""
    changed = frozenset(identity for identity in old.keys() & new.keys() if old[identity] != new[identity])
    removed = frozenset(old.keys() - new.keys())
    return Difference(
        added=frozenset(new.keys() - old.keys()),
        changed=changed,
        removed=removed,
        unchanged=len(new.keys() & old.keys()) - len(changed),
        gone=frozenset((identity, old[identity]) for identity in changed | removed),
    )
