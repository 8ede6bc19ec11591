"""Fixed sentences with the full-precision model's vectors: proof that weights, tokenizer and runtime go together."""

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from service.ports import Vector

REFERENCE_FILE = Path(__file__).with_name("reference_vectors.json")

LOWEST_COSINE = 0.999
"""The int8 weights give 0.9996 in the mean; another model or a broken kernel gives far less."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A sentence and its full-precision vector, shape (384,), unit length."""

    text: str
    vector: Vector


def references() -> list[Reference]:
    """Shortest first. `python -m bench.reference_vectors` computes the file anew."""
    rows = json.loads(REFERENCE_FILE.read_text(encoding="utf-8"))
    found = [Reference(row["text"], np.asarray(row["vector"], dtype=np.float32)) for row in rows]
    return sorted(found, key=lambda reference: len(reference.text))
