"""The real stores under a publisher, with vectors that cost nothing: for tests of the protocol, not of the ranking."""

import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Literal

import numpy as np

from adapters.embedded.embedding_cache import SqliteEmbeddingCache
from adapters.embedded.graph_reader import EmbeddedGraphReader
from adapters.embedded.graph_store import EmbeddedGraphStore
from adapters.embedded.lexical import TantivyIndex
from adapters.embedded.vectors import QdrantEdgeIndex
from adapters.embedding.word_pieces import WordPieces
from adapters.estates import ReadingRules, readers
from service.ports import GraphReader, GraphStore, LexicalIndex, VectorIndex, Vectors
from service.publishing.doctor import Doctor
from service.publishing.linking import link
from service.publishing.projection import Projections
from service.publishing.publisher import Publisher
from service.settings import Settings

DIMENSIONS = 8
SETTINGS = Settings()


class HashEmbedder:
    """Fulfils Embedder without a model: a text's vector is made of its own hash."""

    model = "hash"
    dimensions = DIMENSIONS
    passage_tokens = 254

    def __init__(self) -> None:
        self.tokens = WordPieces.load()

    async def embed(self, texts: Sequence[str], purpose: Literal["query", "passage"]) -> Vectors:
        hashes = [hashlib.blake2b(text.encode(), digest_size=DIMENSIONS).digest() for text in texts]
        rows = [np.frombuffer(digest, np.uint8) for digest in hashes]
        vectors = np.asarray(rows, dtype=np.float32) - 127.5
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    async def close(self) -> None:
        return None


@dataclass(frozen=True)
class Stores:
    publisher: Publisher
    doctor: Doctor
    store: GraphStore
    lexical: LexicalIndex
    vectors: VectorIndex
    reader: GraphReader


def assemble(
    store: GraphStore,
    reader: GraphReader,
    lexical: LexicalIndex,
    vectors: VectorIndex,
    cache: SqliteEmbeddingCache,
    embedder: HashEmbedder,
) -> Stores:
    projections = Projections(lexical, vectors, embedder, cache, SETTINGS)
    publisher = Publisher(store, projections, readers(ReadingRules()), SETTINGS)
    return Stores(publisher, Doctor(store, reader, projections, SETTINGS), store, lexical, vectors, reader)


@asynccontextmanager
async def embedded_stores(folder: Path, embedder: HashEmbedder) -> AsyncIterator[Stores]:
    folder.mkdir(parents=True, exist_ok=True)  # noqa: ASYNC240 — a test waits for nothing else
    rebuild = partial(link, default_locale=SETTINGS.default_locale)
    store = EmbeddedGraphStore.open(folder / "graph", rebuild=rebuild)
    reader = EmbeddedGraphReader(lambda: store.live)
    lexical = TantivyIndex.open(folder / "text")
    vectors = QdrantEdgeIndex.open(folder / "vectors", model="hash", dimensions=DIMENSIONS)
    cache = SqliteEmbeddingCache.open(folder / "cache.sqlite", kept=10_000)
    try:
        yield assemble(store, reader, lexical, vectors, cache, embedder)
    finally:
        cache.close()
        await vectors.close()
        await lexical.close()
        await reader.close()
        await store.close()
