"""An embedder that reads nothing: what publishing costs without the model."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Literal

import numpy as np

from adapters.embedding.minilm import DIMENSIONS
from adapters.embedding.word_pieces import SPECIAL_TOKENS, TOKENS_READ, WordPieces
from service.ports import Vectors


class UnreadVectors:
    """Fulfils the port Embedder with unit vectors that a hash of the text seeds: they stand for nothing."""

    model = "unread"
    dimensions = DIMENSIONS
    passage_tokens = TOKENS_READ - SPECIAL_TOKENS

    def __init__(self) -> None:
        self.tokens = WordPieces.load()

    async def embed(self, texts: Sequence[str], purpose: Literal["query", "passage"]) -> Vectors:  # noqa: ARG002
        seeds = [int.from_bytes(sha256(text.encode("utf-8", "replace")).digest()[:8]) for text in texts]
        rows = [np.random.default_rng(seed).standard_normal(DIMENSIONS, dtype=np.float32) for seed in seeds]
        vectors: Vectors = np.asarray(rows, dtype=np.float32).reshape(len(texts), DIMENSIONS)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    async def close(self) -> None:
        pass
