"""Queries' vectors: each text is embedded once while it is remembered, however many ask for it at the same time."""

import asyncio
from collections import OrderedDict
from dataclasses import dataclass

from service.observation import Lookups
from service.ports import Embedder, Vector


@dataclass
class _Embedding:
    """One text being embedded, and how many wait for it."""

    task: asyncio.Task[Vector]
    waiting: int = 0


class QueryVectors:
    """The `capacity` texts asked for last, with their vectors; capacity 0 remembers none.

    Belongs to one event loop. A failure is not remembered: who asks next tries again.
    """

    def __init__(self, embedder: Embedder, capacity: int) -> None:
        self._embedder = embedder
        self._capacity = capacity
        self.lookups = Lookups()
        self._remembered: OrderedDict[str, Vector] = OrderedDict()
        self._embedding: dict[str, _Embedding] = {}

    async def vector(self, text: str) -> Vector:
        """The text's vector, unit length. Raises what the embedder raises."""
        remembered = self._remembered.get(text)
        if remembered is not None:
            self._remembered.move_to_end(text)
            self.lookups.found += 1
            return remembered
        self.lookups.missed += 1
        embedding = self._embedding.get(text)
        if embedding is None:
            embedding = self._embedding[text] = _Embedding(asyncio.create_task(self._embed(text)))
        embedding.waiting += 1
        try:
            # Shielded: a caller whose deadline passes leaves the others their answer.
            return await asyncio.shield(embedding.task)
        finally:
            embedding.waiting -= 1
            if embedding.waiting == 0:
                self._forget(text, embedding)

    def _forget(self, text: str, embedding: _Embedding) -> None:
        """Nobody waits any more: work that is still going on would be for nothing, and without bound."""
        embedding.task.cancel()
        if self._embedding.get(text) is embedding:
            del self._embedding[text]

    async def _embed(self, text: str) -> Vector:
        vector: Vector = (await self._embedder.embed([text], "query"))[0]
        self._remembered[text] = vector
        while len(self._remembered) > self._capacity:
            self._remembered.popitem(last=False)
        return vector
