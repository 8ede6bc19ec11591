"""Reading several things of one snapshot: none of them is of another, or the reading starts again."""

from collections.abc import Awaitable, Callable
from typing import TypeVar

from service.domain.errors import SnapshotReplaced
from service.domain.snapshots import Snapshot
from service.retrieval.known_graph import PublishedSnapshots

Read = TypeVar("Read")

_ATTEMPTS = 4
"""How often a reading starts again because a publish replaced the snapshot under it."""


async def of_one_snapshot(store: PublishedSnapshots, read: Callable[[Snapshot], Awaitable[Read]]) -> Read:
    """What `read` makes of the snapshot that answers before and after. Raises SnapshotReplaced."""
    for _ in range(_ATTEMPTS):
        before = await store.snapshot()
        answer = await read(before)
        after = await store.snapshot()
        if (after.generation, after.publishing) == (before.generation, before.publishing):
            return answer
    raise SnapshotReplaced("The estate is being published faster than it can be read; try again in a moment.")
