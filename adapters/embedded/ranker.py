"""Personalized PageRank by power iteration over a sparse matrix (Haveliwala, WWW 2002; the equation is GDS's)."""

import threading
from collections.abc import Callable, Iterator, Mapping

import numpy as np
import numpy.typing as npt

from adapters.embedded.adjacency import EdgeWeights, Transitions, transitions
from adapters.embedded.live_graph import LiveGraph
from adapters.embedded.memo import Memo
from adapters.embedded.threads import EngineThreads
from adapters.embedded.walk import walk
from service.domain.deadline import Deadline
from service.domain.graph import NodeIdentity
from service.domain.scores import NodeScores
from service.observation import Reading

ENGINE = "scipy"


class ScipyRanker:
    """GraphRanker over the live graph: one transition matrix a visibility class, the last few kept.

    p = (1−d)·Σ w_s·e_s + d·Pᵀ·p, iterated a set number of times from (1−d)·Σ w_s·e_s; mass that reaches a node without
    a way on is dropped.
    """

    def __init__(
        self,
        live: Callable[[], LiveGraph],
        *,
        weights: EdgeWeights,
        damping: float = 0.85,
        iterations: int = 20,
        kept: int = 8,
        workers: int = 1,
        waiting: int = 64,
    ) -> None:
        self._live = live
        self._weights = weights
        self._damping = damping
        self._iterations = iterations
        self._classes = kept
        self._of: LiveGraph | None = None
        self._kept: Memo[frozenset[str], Transitions] = Memo(kept)
        self._preparing = threading.Lock()
        self._threads = EngineThreads(ENGINE, workers=workers, waiting=waiting, is_own=_is_own)

    async def global_scores(self, audiences: frozenset[str], *, deadline: Deadline) -> NodeScores:
        def work() -> NodeScores:
            matrix = self._transitions(audiences)
            return self._scores(matrix, np.ones(len(matrix.numbering), dtype=np.float32), 0.0)

        return await self._threads.run(work, deadline)

    async def personalized(
        self, seeds: Mapping[NodeIdentity, float], audiences: frozenset[str], *, bound: float = 0.0, deadline: Deadline
    ) -> NodeScores:
        def work() -> NodeScores:
            matrix = self._transitions(audiences)
            sources = np.zeros(len(matrix.numbering), dtype=np.float32)
            for node, weight in seeds.items():
                if (number := matrix.numbering.number.get(node)) is not None:
                    sources[number] = weight
            return self._scores(matrix, sources, bound)

        return await self._threads.run(work, deadline)

    def readings(self) -> Iterator[Reading]:
        """How long its queue is."""
        yield from self._threads.readings("ranking")

    async def close(self) -> None:
        await self._threads.close()

    def _transitions(self, audiences: frozenset[str]) -> Transitions:
        live = self._live()
        with self._preparing:
            if live is not self._of:
                self._of, self._kept = live, Memo(self._classes)
            matrix = self._kept.get(audiences)
            if matrix is None:
                matrix = transitions(live.adjacency, audiences, self._weights)
                self._kept.put(audiences, matrix)
        return matrix

    def _scores(self, matrix: Transitions, sources: npt.NDArray[np.float32], bound: float) -> NodeScores:
        values, error = walk(
            matrix.transposed, sources, damping=self._damping, iterations=self._iterations, bound=bound
        )
        return NodeScores.dense(matrix.numbering, values, error)


def _is_own(error: Exception) -> bool:
    return isinstance(error, MemoryError)
