"""GraphRanker by Graph Data Science, which runs beside the data: one projection a (publish, visibility class)."""

import asyncio
import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from service.domain.deadline import Deadline
from service.domain.errors import EngineUnavailable
from service.domain.graph import EdgeType, NodeIdentity
from service.domain.scores import NodeScores, Numbering
from service.ports import GraphReader
from service.statements import (
    ServiceStatement,
    drop_graph,
    graph_state,
    page_rank,
    personalized_page_rank,
    project_graph,
    projected_graphs,
)

ENGINE = "neo4j"

_PREFIX = "cogitave-"

# A projection that overlaps a publish is thrown away and made again.
_ATTEMPTS = 3


class GdsRanker:
    """A projection is named by the hash of what it holds, so processes share it; the oldest beyond `kept` are dropped.

    weights: edge type → (worth along, worth against). Concurrent callers of one projection wait for one to make it.
    """

    def __init__(
        self,
        graph: GraphReader,
        *,
        weights: Mapping[EdgeType, tuple[float, float]],
        damping: float = 0.85,
        iterations: int = 20,
        kept: int = 8,
    ) -> None:
        self._graph = graph
        self._along = {type.value: along for type, (along, _) in weights.items()}
        self._against = {type.value: against for type, (_, against) in weights.items()}
        self._damping = damping
        # GDS counts the start, where every node has what it was given, as the first iteration.
        self._iterations = iterations + 1
        self._kept = kept
        self._projecting = asyncio.Lock()
        self._numbers: dict[str, tuple[npt.NDArray[np.int64], Numbering]] = {}
        """Projection → the server's numbers of its nodes, ascending, and the nodes beside them."""

    async def global_scores(self, audiences: frozenset[str], *, deadline: Deadline) -> NodeScores:
        name = await self._projected(audiences, deadline)
        return NodeScores.of({}) if name is None else await self._global_scores(name, deadline)

    async def personalized(
        self, seeds: Mapping[NodeIdentity, float], audiences: frozenset[str], *, bound: float = 0.0, deadline: Deadline
    ) -> NodeScores:
        """Scores so small that all of them together are within the bound stay on the server."""
        name = await self._projected(audiences, deadline) if seeds else None
        if name is None:
            return NodeScores.of({})
        if name not in self._numbers:
            await self._global_scores(name, deadline)
        numbers, numbering = self._numbers[name]
        # Every seed that counts keeps (1−d) of its weight at least.
        least = bound * (1 - self._damping) * min(seeds.values()) / len(numbering)
        statement = personalized_page_rank(name, seeds, audiences, self._damping, self._iterations, least)
        found, scores = await self._lists(statement, deadline)
        if not found:
            return NodeScores.of({})
        values = np.zeros(len(numbering), dtype=np.float32)
        values[np.searchsorted(numbers, found)] = scores
        return NodeScores.dense(numbering, values, least * (len(numbering) - len(found)))

    async def close(self) -> None:
        """The projections stay: another process may use them, and the bound holds over all."""

    async def _global_scores(self, name: str, deadline: Deadline) -> NodeScores:
        numbers, keys, scores = await self._lists(page_rank(name, self._damping, self._iterations), deadline)
        order = np.argsort(numbers)
        numbering = Numbering(NodeIdentity.from_key(keys[place]) for place in order)
        self._numbers[name] = np.array(numbers, dtype=np.int64)[order], numbering
        while len(self._numbers) > self._kept:
            del self._numbers[next(iter(self._numbers))]
        return NodeScores.dense(numbering, np.array(scores, dtype=np.float32)[order])

    async def _lists(self, statement: ServiceStatement, deadline: Deadline) -> Sequence[Any]:
        (row,) = (await self._graph.run(statement, deadline=deadline)).rows
        return row

    async def _projected(self, audiences: frozenset[str], deadline: Deadline) -> str | None:
        async with self._projecting:
            return await self._projection(audiences, deadline)

    async def _projection(self, audiences: frozenset[str], deadline: Deadline) -> str | None:
        """The projection of what answers now, made unless some process made it; None before the first publish.

        Asked for each time: a server that restarted has forgotten them all.
        """
        for _ in range(_ATTEMPTS):
            publish, held = await asyncio.gather(self._publish(deadline), self.held(deadline))
            if publish is None:
                return None
            name = self._name(publish, audiences)
            if name in held:
                return name
            for stale in held[: max(0, len(held) - self._kept + 1)]:
                await self._graph.run(drop_graph(stale), deadline=deadline)
            await self._project(name, audiences, deadline)
            if await self._publish(deadline) == publish:
                return name
            await self._graph.run(drop_graph(name), deadline=deadline)
        raise EngineUnavailable(ENGINE, "the graph changes faster than it can be projected; try again later")

    async def _project(self, name: str, audiences: frozenset[str], deadline: Deadline) -> None:
        try:
            await self._graph.run(project_graph(name, audiences, self._along, self._against), deadline=deadline)
        except EngineUnavailable:
            # Another process may have been quicker to give that name.
            if name not in await self.held(deadline):
                raise

    async def held(self, deadline: Deadline) -> list[str]:
        """The names of the projections that the server holds for us, oldest first."""
        rows = await self._graph.run(projected_graphs(_PREFIX), deadline=deadline)
        return [name for (name,) in rows.rows]

    async def _publish(self, deadline: Deadline) -> str | None:
        rows = (await self._graph.run(graph_state(), deadline=deadline)).rows
        return str(rows[0][0]) if rows else None

    def _name(self, publish: str, audiences: frozenset[str]) -> str:
        held = json.dumps([publish, sorted(audiences), sorted(self._along.items()), sorted(self._against.items())])
        return _PREFIX + hashlib.sha256(held.encode()).hexdigest()[:32]
