"""Walking the graph outwards in bounded steps: each step is one statement over the whole frontier."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from service.domain.deadline import Deadline
from service.domain.graph import EdgeType, NodeIdentity
from service.ports import GraphReader
from service.statements import neighbours

_MOST_EDGES_A_NODE = 200
"""Edges of one node that a step looks at on average: a frontier of hubs is cut, and said to be."""


@dataclass(frozen=True, slots=True)
class Step:
    """One edge walked: from the node asked about to `node`, along it or against it. `via`: the markup that says it."""

    source: NodeIdentity
    type: EdgeType
    via: str
    outgoing: bool
    ordinal: int | None
    node: NodeIdentity
    properties: Mapping[str, Any]


@dataclass(frozen=True)
class Steps:
    steps: tuple[Step, ...]
    truncated: bool

    def from_source(self) -> dict[NodeIdentity, list[Step]]:
        grouped: dict[NodeIdentity, list[Step]] = {}
        for step in self.steps:
            grouped.setdefault(step.source, []).append(step)
        return grouped


async def step_from(
    frontier: Collection[NodeIdentity],
    types: Iterable[EdgeType],
    audiences: frozenset[str],
    graph: GraphReader,
    deadline: Deadline,
) -> Steps:
    """Every edge of these types that leaves or enters the frontier and whose other end shows."""
    ordered: Sequence[NodeIdentity] = sorted(frontier)
    if not ordered:
        return Steps((), False)
    limit = _MOST_EDGES_A_NODE * len(ordered)
    rows = await graph.run(neighbours(ordered, [edge.value for edge in types], audiences, limit + 1), deadline=deadline)
    read = rows.by_column()
    return Steps(tuple(_step(row) for row in read[:limit]), len(read) > limit)


def _step(row: Mapping[str, Any]) -> Step:
    return Step(
        source=NodeIdentity.from_key(row["key"]),
        type=EdgeType(row["edge"]),
        via=row["via"],
        outgoing=bool(row["outgoing"]),
        ordinal=row["ordinal"],
        node=NodeIdentity(row["uid"], row["locale"]),
        properties=row,
    )
