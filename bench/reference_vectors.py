"""Writes the vectors that the int8 model is checked against, computed by a small BERT in numpy from the full-precision
weights: an implementation that shares nothing with the one it judges but the tokenizer.

    python -m bench.reference_vectors

BERT: Devlin et al., NAACL 2019; mean pooling and unit length: Reimers and Gurevych, EMNLP 2019.
"""

import json
import math
from collections.abc import Mapping

import numpy as np
import numpy.typing as npt
from safetensors.numpy import load_file
from scipy.special import erf

from adapters.embedding.packages import REFERENCE_WEIGHTS
from adapters.embedding.reference import REFERENCE_FILE
from adapters.embedding.word_pieces import WordPieces

Array = npt.NDArray[np.float32]
Weights = Mapping[str, Array]

LAYERS = 6
HEADS = 12
EPSILON = 1e-12

# What users type and what passages hold; the last one is longer than the model reads. A sentence of stop words alone is
# left out: it says nothing, and int8 shows it (0.9989; of 230 real queries and passages the lowest was 0.9993).
SENTENCES = [
    "How do I scale out a web app?",
    "The sky is blue today.",
    "Wie stelle ich eine Web-App mit einem Slot bereit?",
    "az webapp deployment slot swap --resource-group group --name app",
    "C# 12: public required string Name { get; init; }",
    "What happens to a transaction that is not committed?",
    "🧭 ¿Dónde está la configuración? café naïve",
    "Entity Framework Core maps an entity to a table; a migration brings the schema to the state of the model.",
    "A queue holds the message until a worker has taken it. " * 24,
]


def reference_vector(weights: Weights, tokens: list[int]) -> Array:
    """The sentence vector of one text, shape (384,), unit length. `tokens` include [CLS] and [SEP]."""
    states = _normalise(
        weights["embeddings.word_embeddings.weight"][tokens]
        + weights["embeddings.position_embeddings.weight"][: len(tokens)]
        + weights["embeddings.token_type_embeddings.weight"][0],
        weights,
        "embeddings.LayerNorm",
    )
    for number in range(LAYERS):
        layer = f"encoder.layer.{number}"
        attended = _linear(
            _attention(states, weights, f"{layer}.attention.self"), weights, f"{layer}.attention.output.dense"
        )
        states = _normalise(states + attended, weights, f"{layer}.attention.output.LayerNorm")
        widened = _gelu(_linear(states, weights, f"{layer}.intermediate.dense"))
        states = _normalise(
            states + _linear(widened, weights, f"{layer}.output.dense"), weights, f"{layer}.output.LayerNorm"
        )
    mean: Array = states.mean(axis=0)
    return mean / np.linalg.norm(mean)


def _attention(states: Array, weights: Weights, name: str) -> Array:
    length, width = states.shape
    query, key, value = (
        _linear(states, weights, f"{name}.{part}").reshape(length, HEADS, width // HEADS).transpose(1, 0, 2)
        for part in ("query", "key", "value")
    )
    scores = query @ key.transpose(0, 2, 1) / math.sqrt(width // HEADS)
    shares = np.exp(scores - scores.max(axis=-1, keepdims=True))
    shares /= shares.sum(axis=-1, keepdims=True)
    mixed: Array = (shares @ value).transpose(1, 0, 2).reshape(length, width)
    return mixed


def _linear(states: Array, weights: Weights, name: str) -> Array:
    return states @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]


def _normalise(states: Array, weights: Weights, name: str) -> Array:
    centred = states - states.mean(axis=-1, keepdims=True)
    scaled: Array = centred / np.sqrt((centred**2).mean(axis=-1, keepdims=True) + EPSILON)
    return scaled * weights[f"{name}.weight"] + weights[f"{name}.bias"]


def _gelu(states: Array) -> Array:
    activated: Array = states * 0.5 * (1.0 + erf(states / math.sqrt(2.0)).astype(np.float32))
    return activated


def main() -> None:
    weights = load_file(REFERENCE_WEIGHTS.locate())
    pieces = WordPieces.load()
    references = [
        {
            "text": text,
            "vector": [round(float(value), 6) for value in reference_vector(weights, pieces.model_input(text))],
        }
        for text in SENTENCES
    ]
    REFERENCE_FILE.write_text(json.dumps(references, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"{len(references)} vectors written to {REFERENCE_FILE}")


if __name__ == "__main__":
    main()
