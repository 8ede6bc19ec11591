"""An embedder that reads nothing: what publishing costs without the model."""

from collections.abc import Sequence
from hashlib import sha256
from typing import Literal

import numpy as np

from adapters.embedding.minilm import DIMENSIONS
from adapters.embedding.word_pieces import SPECIAL_TOKENS, TOKENS_READ, WordPieces
from service.ports import Vectors

_DIRECTIONS = 4_096
_ADDED = 4


class UnreadVectors:
    """Fulfils the port Embedder with unit vectors that a hash of the text chooses: they stand for nothing, and cost
    next to nothing."""

    model = "unread"
    dimensions = DIMENSIONS
    passage_tokens = TOKENS_READ - SPECIAL_TOKENS

    def __init__(self) -> None:
        self.tokens = WordPieces.load()
        self._directions = np.random.default_rng(1).standard_normal((_DIRECTIONS, DIMENSIONS), dtype=np.float32)

    async def embed(self, texts: Sequence[str], purpose: Literal["query", "passage"]) -> Vectors:  # noqa: ARG002
        digests = b"".join(sha256(text.encode("utf-8", "replace")).digest()[: 2 * _ADDED] for text in texts)
        chosen = np.frombuffer(digests, np.uint16).reshape(len(texts), _ADDED) % _DIRECTIONS
        vectors: Vectors = self._directions[chosen].sum(axis=1)
        return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)

    async def close(self) -> None:
        pass
