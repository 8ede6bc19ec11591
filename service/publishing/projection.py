"""The text engines' projections of a snapshot: cut, embed, add, collect, complete."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from service.domain.content import NodeRecord, Passage
from service.domain.graph import NodeIdentity
from service.domain.progress import Progress, silent
from service.ports import Embedder, EmbeddingCache, LexicalIndex, VectorIndex
from service.publishing.batches import batches
from service.publishing.vector_projection import VectorProjection
from service.settings import Settings


@dataclass(frozen=True)
class Projections:
    """Both text engines and what fills them."""

    lexical: LexicalIndex
    vectors: VectorIndex
    embedder: Embedder
    cache: EmbeddingCache
    settings: Settings

    @property
    def of_vectors(self) -> VectorProjection:
        """The vector engine's alone."""
        return VectorProjection(self.vectors, self.embedder, self.cache, self.settings)

    async def cut(self, records: Iterable[NodeRecord]) -> list[Passage]:
        """The passages of these records, in order."""
        return await self.of_vectors.cut(records)

    async def add_lexical(self, passages: Sequence[Passage], generation: int, progress: Progress = silent) -> None:
        done = 0
        for batch in batches(passages, self.settings.publish_text_batch):
            await self.lexical.add(batch, generation)
            done += len(batch)
            progress("indexing", done, len(passages))

    async def add_vectors(self, passages: Sequence[Passage], generation: int, progress: Progress = silent) -> int:
        """Embed what the cache lacks, and add. Returns how many texts the model had to read."""
        return await self.of_vectors.add(passages, generation, progress)

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
