"""One model's vectors of a snapshot: what is embedded, what is added, and what was read before."""

import asyncio
import hashlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from service.domain.content import NodeRecord, Passage
from service.domain.progress import Progress, silent
from service.ports import Embedder, EmbeddingCache, Vector, VectorIndex, Vectors
from service.publishing.batches import batches
from service.publishing.passages import cut
from service.settings import Settings


@dataclass(frozen=True)
class VectorProjection:
    """The model, its index, and the vectors that it made before."""

    vectors: VectorIndex
    embedder: Embedder
    cache: EmbeddingCache
    settings: Settings

    async def cut(self, records: Iterable[NodeRecord]) -> list[Passage]:
        """The passages of these records, in order; off the event loop, for it is the model's tokenizer that works."""
        limit = self.embedder.passage_tokens
        tokens = self.embedder.tokens
        return await asyncio.to_thread(
            lambda: [passage for record in records for passage in cut(record, tokens, limit)]
        )

    async def add(self, passages: Sequence[Passage], generation: int, progress: Progress = silent) -> int:
        """Embed what the cache lacks, and add. Returns how many texts the model had to read."""
        embedded = done = 0
        for batch in batches(passages, self.settings.publish_batch):
            vectors, read = await self._embed(batch)
            await self.vectors.add(batch, vectors, generation)
            embedded += read
            done += len(batch)
            progress("embedding", done, len(passages))
        return embedded

    async def missing(self, passages: Sequence[Passage], generation: int) -> list[Passage]:
        """Those that the index does not hold."""
        held = await self.vectors.keys(generation)
        return [passage for passage in passages if passage.key not in held]

    async def remove_others(self, passages: Sequence[Passage], generation: int) -> int:
        """Forget the vectors of every record that has others than these. Returns how many others there were."""
        others = await self.vectors.keys(generation) - {passage.key for passage in passages}
        await self.vectors.remove({(key.identity, key.content_hash) for key in others})
        return len(others)

    def unread(self, passages: Sequence[Passage]) -> list[Passage]:
        """Those whose texts the model has not read, as far as the cache knows; of equal texts the first."""
        first = {_name(passage): passage for passage in reversed(passages)}
        known = self.cache.get(self.embedder.model, list(first))
        return [passage for name, passage in reversed(first.items()) if name not in known]

    async def read(self, passages: Sequence[Passage]) -> int:
        """Have the model read what the cache lacks, for later. Returns how many texts that were."""
        return sum([(await self._embed(batch))[1] for batch in batches(passages, self.settings.publish_batch)])

    async def _embed(self, passages: Sequence[Passage]) -> tuple[Vectors, int]:
        names = [_name(passage) for passage in passages]
        texts = {name: passage.embedded_text for name, passage in zip(names, passages, strict=True)}
        known: dict[str, Vector] = self.cache.get(self.embedder.model, list(texts))
        missing = [name for name in texts if name not in known]
        if missing:
            fresh = await self.embedder.embed([texts[name] for name in missing], "passage")
            made = dict(zip(missing, fresh, strict=True))
            self.cache.put(self.embedder.model, made)
            known |= made
        return np.asarray([known[name] for name in names], dtype=np.float32), len(missing)


def _name(passage: Passage) -> str:
    """What the cache knows the passage's text by."""
    return hashlib.sha256(passage.embedded_text.encode()).hexdigest()
