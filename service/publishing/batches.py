"""A long sequence in parts."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

Item = TypeVar("Item")


def batches(items: Sequence[Item], size: int) -> Iterator[Sequence[Item]]:
    """In order, each of `size` items but the last."""
    for start in range(0, len(items), size):
        yield items[start : start + size]
