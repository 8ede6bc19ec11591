"""The packaged model's vectors, kept on disk between runs of the benches: a text is embedded once."""

import sqlite3
import sys
import tempfile
from collections.abc import Sequence
from contextlib import closing
from hashlib import sha256
from pathlib import Path

import numpy as np

from adapters.embedding.minilm import MiniLM
from service.ports import Vectors

FOLDER = Path(tempfile.gettempdir()) / "cogitave-query-bench"
_AT_ONCE = 512


async def embedded(texts: Sequence[str]) -> Vectors:
    """Shape (texts, 384). Says on stderr what it embeds anew."""
    FOLDER.mkdir(exist_ok=True)
    model = MiniLM.load(threads=2)
    names = [sha256(f"{model.model}\n{text}".encode("utf-8", "replace")).digest() for text in texts]
    with closing(sqlite3.connect(FOLDER / "vectors.sqlite")) as store:
        store.execute("CREATE TABLE IF NOT EXISTS vectors (name BLOB PRIMARY KEY, vector BLOB) WITHOUT ROWID")
        known = dict(store.execute("SELECT name, vector FROM vectors"))
        missing = list({name: text for name, text in zip(names, texts, strict=True) if name not in known}.items())
        for start in range(0, len(missing), _AT_ONCE):
            print(f"embedding {start} of {len(missing)} texts", file=sys.stderr)
            batch = missing[start : start + _AT_ONCE]
            vectors = await model.embed([text for _, text in batch], "passage")
            rows = [(name, vector.tobytes()) for (name, _), vector in zip(batch, vectors, strict=True)]
            store.executemany("INSERT OR REPLACE INTO vectors VALUES (?, ?)", rows)
            store.commit()
            known.update(rows)
    await model.close()
    return np.stack([np.frombuffer(known[name], dtype=np.float32) for name in names])
