"""How many tokens each stretch of a text holds, without asking the tokenizer for words that it has met before."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise

from service.ports import TokenCounter

_WORD = re.compile(r"\S+")
_DIVISIBLE = 16
"""A word of more tokens than this may be cut inside: a line of Chinese is one word."""

_REMEMBERED_WORDS = 262_144
_REMEMBERED_LENGTH = 64
_COUNTERS = 4


class MeasuredText:
    """No token reaches over white space, so words are counted one by one, and words repeat: an estate of a million
    tokens has some ten thousand different ones."""

    def __init__(self, text: str, tokens: TokenCounter) -> None:
        self._text = text
        self._counter = tokens
        # Whatever fulfils the port hashes by identity.
        memory = _memory(tokens)  # type: ignore[arg-type]
        self._counts = memory.counts(_WORD.findall(text))
        self.tokens = sum(self._counts)

    @cached_property
    def _places(self) -> tuple[list[int], list[int]]:
        """Where each word, or token of a divisible one, begins, and how many tokens stand before it; most texts are
        short enough never to ask."""
        starts: list[int] = []
        counts: list[int] = []
        for match, count in zip(_WORD.finditer(self._text), self._counts, strict=True):
            if count <= _DIVISIBLE:
                starts.append(match.start())
                counts.append(count)
            else:
                spans = self._counter.spans(match.group())
                starts += [match.start() + span.start for span in spans]
                counts += [1] * len(spans)
        return starts, list(accumulate(counts, initial=0))

    def count(self, start: int, end: int) -> int:
        """Tokens that begin in text[start:end]."""
        starts, before = self._places
        return before[bisect_left(starts, end)] - before[bisect_left(starts, start)]

    def reach(self, start: int, budget: int) -> int:
        """The furthest place at which text[start:place] still holds no more than `budget` tokens, but some."""
        starts, before = self._places
        first = bisect_left(starts, start)
        last = bisect_left(before, before[first] + budget + 1, lo=first) - 1
        place = max(last, first + 1)
        return starts[place] if place < len(starts) else len(self._text)


class _WordMemory:
    """The token counts of words met before, for one tokenizer; new words of a text are counted at once."""

    def __init__(self, tokens: TokenCounter) -> None:
        self._tokens = tokens
        self._known: dict[str, int] = {}

    def counts(self, words: Sequence[str]) -> list[int]:
        if len(self._known) > _REMEMBERED_WORDS:
            self._known = {}
        known = self._known
        unseen = list({word: None for word in words if word not in known})
        fresh = dict(zip(unseen, self._count(unseen), strict=True)) if unseen else {}
        known.update((word, count) for word, count in fresh.items() if len(word) <= _REMEMBERED_LENGTH)
        return [fresh[word] if word in fresh else known[word] for word in words]

    def _count(self, words: Sequence[str]) -> list[int]:
        """Tokens of each word, all words in one call."""
        starts = [span.start for span in self._tokens.spans("\n".join(words))]
        borders = accumulate((len(word) + 1 for word in words), initial=0)
        places = [bisect_left(starts, border) for border in borders]
        return [after - before for before, after in pairwise(places)]


@lru_cache(maxsize=_COUNTERS)
def _memory(tokens: TokenCounter) -> _WordMemory:
    return _WordMemory(tokens)
