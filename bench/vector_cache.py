"""The packaged model with a memory on disk that all benches share: a text is embedded once."""

import sqlite3
import sys
import tempfile
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path
from typing import Literal

import numpy as np

from adapters.embedding.minilm import MiniLM
from adapters.embedding.word_pieces import WordPieces
from service.ports import Vectors

FOLDER = Path(tempfile.gettempdir()) / "cogitave-query-bench"
_AT_ONCE = 256


class RememberingMiniLM:
    """Fulfils the port Embedder."""

    def __init__(self) -> None:
        FOLDER.mkdir(exist_ok=True)
        self._inner = MiniLM.load(threads=2)
        self._store = sqlite3.connect(FOLDER / "vectors.sqlite", timeout=60)
        self._store.execute("CREATE TABLE IF NOT EXISTS vectors (name BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")

    @property
    def model(self) -> str:
        return self._inner.model

    @property
    def dimensions(self) -> int:
        return self._inner.dimensions

    @property
    def tokens(self) -> WordPieces:
        return self._inner.tokens

    @property
    def passage_tokens(self) -> int:
        return self._inner.passage_tokens

    async def embed(self, texts: Sequence[str], purpose: Literal["query", "passage"]) -> Vectors:
        names = [sha256(f"{self.model}\n{text}".encode("utf-8", "replace")).digest() for text in texts]
        known = {name: vector for name in set(names) if (vector := self._known(name)) is not None}
        missing = list({name: text for name, text in zip(names, texts, strict=True) if name not in known}.items())
        for start in range(0, len(missing), _AT_ONCE):
            print(f"embedding {start} of {len(missing)} texts", file=sys.stderr)
            batch = missing[start : start + _AT_ONCE]
            vectors = await self._inner.embed([text for _, text in batch], purpose)
            rows = [(name, vector.tobytes()) for (name, _), vector in zip(batch, vectors, strict=True)]
            self._store.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
            self._store.commit()
            known.update(rows)
        if not names:
            return np.empty((0, self.dimensions), dtype=np.float32)
        return np.stack([np.frombuffer(known[name], dtype=np.float32) for name in names])

    async def close(self) -> None:
        self._store.close()
        await self._inner.close()

    def _known(self, name: bytes) -> bytes | None:
        row = self._store.execute("SELECT vector FROM vectors WHERE name = ?", (name,)).fetchone()
        return None if row is None else row[0]


async def embedded(texts: Sequence[str]) -> Vectors:
    """Shape (texts, 384)."""
    model = RememberingMiniLM()
    try:
        return await model.embed(texts, "passage")
    finally:
        await model.close()
