"""The name that a mistyped one most likely means."""

from collections.abc import Sequence
from difflib import get_close_matches
from functools import lru_cache

_POOL = 1_000
_BUDGET = 300

_REMEMBERED = 1_024
"""Answers kept for the next reading, in which most names and candidates are what they were."""


class Nearest:
    """Suggestions for one estate: each name is looked for once, and an estate that is broken throughout gets some
    hundreds of them, not one for every miss."""

    def __init__(self, budget: int = _BUDGET) -> None:
        self._budget = budget
        self._known: dict[str, str | None] = {}

    def among(self, name: str, candidates: Sequence[str], *, likeness: float) -> str | None:
        """The candidate that is most like the name, None where none is alike enough. `likeness` is from 0 to 1."""
        if name not in self._known:
            if self._budget <= 0 or not candidates:
                return None
            self._budget -= 1
            self._known[name] = _closest(name, tuple(candidates[:_POOL]), likeness)
        return self._known[name]


@lru_cache(maxsize=_REMEMBERED)
def _closest(name: str, candidates: tuple[str, ...], likeness: float) -> str | None:
    close = get_close_matches(name, candidates, n=1, cutoff=likeness)
    return close[0] if close else None
