"""`python -m adapters.embedding.check`: the packaged model against its reference vectors, once, at install."""

import sys

from adapters.embedding.minilm import MiniLM
from adapters.embedding.packages import ModelUnusable
from adapters.embedding.reference import references


def main() -> int:
    try:
        expected = references()
        lowest = MiniLM.load(threads=1).verify(expected)
    except ModelUnusable as unusable:
        print(f"The sentence model can't be used: {unusable.message}", file=sys.stderr)
        return 1
    print(f"The sentence model agrees with its {len(expected)} reference vectors: cosine ≥ {lowest:.4f}.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
