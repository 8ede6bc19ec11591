"""How much of the snapshot the vectors cover while they fill in, and which found nodes they can't see yet."""

import asyncio
from collections.abc import Sequence

from service.domain.deadline import Deadline
from service.domain.errors import EngineUnavailable
from service.domain.filters import SearchScope
from service.domain.graph import NodeIdentity
from service.domain.snapshots import Snapshot
from service.retrieval.engines import VECTOR, Retrieval
from service.retrieval.legs import LegRun


async def shortfall(retrieval: Retrieval, snapshot: Snapshot, deadline: Deadline) -> str | None:
    """What to say of vectors that don't cover all of the snapshot; one that was covered once stays so.

    Nobody waits for the count of an engine that keeps failing.
    """
    if snapshot.passages == 0 or retrieval.covered_generation == snapshot.generation:
        return None
    unknown = "how much of the snapshot is indexed could not be asked"
    if retrieval.breakers[VECTOR].has_opened:
        return unknown
    try:
        async with asyncio.timeout(deadline.at_most(retrieval.settings.vector_deadline).seconds_left):
            held = await retrieval.vectors.count(snapshot.generation)
    except (TimeoutError, EngineUnavailable):
        return unknown
    if held >= snapshot.passages:
        retrieval.covered_generation = snapshot.generation
        return None
    return f"{100 * held // snapshot.passages} % indexed"


async def unseen(
    live: Sequence[LegRun], scope: SearchScope, retrieval: Retrieval, deadline: Deadline
) -> frozenset[NodeIdentity]:
    """The nodes that other legs found by a passage of which there is no vector yet, and the vector leg did not.

    Without the vector index's word on it, none of them counts as seen.
    """
    run = next((run for run in live if run.leg.name == VECTOR), None)
    if run is None or run.leg.shortfall is None:
        return frozenset()
    found = {hit.passage.identity for hit in run.hits}
    asked = {
        hit.passage: hit.passage.identity
        for other in live
        if other is not run
        for hit in other.hits
        if hit.passage.identity not in found
    }
    try:
        due = deadline.at_most(retrieval.settings.vector_deadline)
        held = await retrieval.vectors.passages(list(asked), scope, deadline=due)
    except EngineUnavailable:
        return frozenset(asked.values())
    return frozenset(identity for key, identity in asked.items() if key not in held)
