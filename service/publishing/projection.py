"""The text engines' projections of a snapshot: cut, embed, add, collect, complete."""

import asyncio
import hashlib
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from service.domain.content import NodeRecord, Passage
from service.domain.graph import NodeIdentity
from service.domain.progress import Progress, silent
from service.ports import Embedder, EmbeddingCache, LexicalIndex, Vector, VectorIndex, Vectors
from service.publishing.passages import cut
from service.settings import Settings


@dataclass(frozen=True)
class Projections:
    """Both text engines and what fills them."""

    lexical: LexicalIndex
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

    async def add_lexical(self, passages: Sequence[Passage], generation: int, progress: Progress = silent) -> None:
        done = 0
        for batch in _batches(passages, self.settings.publish_text_batch):
            await self.lexical.add(batch, generation)
            done += len(batch)
            progress("indexing", done, len(passages))

    async def add_vectors(self, passages: Sequence[Passage], generation: int, progress: Progress = silent) -> int:
        """Embed what the cache lacks, and add. Returns how many texts the model had to read."""
        embedded = done = 0
        for batch in _batches(passages, self.settings.publish_batch):
            vectors, read = await self._embed(batch)
            await self.vectors.add(batch, vectors, generation)
            embedded += read
            done += len(batch)
            progress("embedding", done, len(passages))
        return embedded

    async def collect(self, records: Collection[tuple[NodeIdentity, str]]) -> None:
        """Forget the passages of these (identity, content hash) pairs in both engines."""
        if records:
            await self.lexical.remove(records)
            await self.vectors.remove(records)

    async def forget_after(self, generation: int) -> None:
        """Take back what a publish added that never committed."""
        await self.lexical.remove_after(generation)
        await self.vectors.remove_after(generation)

    async def complete(self, records: Sequence[NodeRecord], generation: int, progress: Progress = silent) -> None:
        """Make both engines hold exactly the passages of these records."""
        passages = {passage.key: passage for passage in await self.cut(records)}
        in_lexical = await self.lexical.keys(generation)
        in_vectors = await self.vectors.keys(generation)
        await self.add_lexical([p for key, p in passages.items() if key not in in_lexical], generation, progress)
        await self.add_vectors([p for key, p in passages.items() if key not in in_vectors], generation, progress)
        stale = (in_lexical | in_vectors) - passages.keys()
        await self.collect({(key.identity, key.content_hash) for key in stale})

    async def _embed(self, passages: Sequence[Passage]) -> tuple[Vectors, int]:
        texts = {hashlib.sha256(p.embedded_text.encode()).hexdigest(): p.embedded_text for p in passages}
        known: dict[str, Vector] = self.cache.get(self.embedder.model, list(texts))
        missing = [name for name in texts if name not in known]
        if missing:
            fresh = await self.embedder.embed([texts[name] for name in missing], "passage")
            made = dict(zip(missing, fresh, strict=True))
            self.cache.put(self.embedder.model, made)
            known |= made
        rows = [known[hashlib.sha256(p.embedded_text.encode()).hexdigest()] for p in passages]
        return np.asarray(rows, dtype=np.float32), len(missing)


def _batches(passages: Sequence[Passage], size: int) -> Iterator[Sequence[Passage]]:
    for start in range(0, len(passages), size):
        yield passages[start : start + size]
