"""How many tokens each stretch of a text holds, without asking the tokenizer for words that it has met before."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from functools import cached_property, lru_cache
from itertools import accumulate, pairwise, repeat

from service.ports import TokenCounter

_WORD = re.compile(r"\S+")
_DIVISIBLE = 16
"""A word of more tokens than this may be cut inside: a line of Chinese is one word."""

_REMEMBERED_WORDS = 262_144
_REMEMBERED_LENGTH = 1_024
_COUNTERS = 4


class MeasuredText:
    """No token reaches over white space, so words are counted one by one, and words repeat: an estate of a million
    tokens has some ten thousand different ones."""

    def __init__(self, text: str, tokens: TokenCounter) -> None:
        self._text = text
        # Whatever fulfils the port hashes by identity.
        self._memory = _memory(tokens)  # type: ignore[arg-type]
        self._words = _WORD.findall(text)
        self._counts = self._memory.counts(self._words)
        self.tokens = sum(self._counts)

    @cached_property
    def _places(self) -> tuple[list[int], list[int]]:
        """Where each word, or token of a divisible one, begins, and how many tokens stand before it; most texts are
        short enough never to ask."""
        starts = [match.start() for match in _WORD.finditer(self._text)]
        counts = self._counts
        divisible = [number for number, count in enumerate(counts) if count > _DIVISIBLE]
        if divisible:
            starts, counts = self._divided(starts, divisible)
        return starts, list(accumulate(counts, initial=0))

    def _divided(self, starts: list[int], divisible: list[int]) -> tuple[list[int], list[int]]:
        """The words' starts and counts, with the tokens of these words in their places."""
        parts: list[int] = []
        counts: list[int] = []
        done = 0
        for number in divisible:
            inside = self._memory.starts(self._words[number])
            parts += starts[done:number]
            parts += [starts[number] + start for start in inside]
            counts += self._counts[done:number]
            counts += repeat(1, len(inside))
            done = number + 1
        return parts + starts[done:], counts + self._counts[done:]

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
        self._inside: dict[str, list[int]] = {}

    def counts(self, words: Sequence[str]) -> list[int]:
        known = self._known
        try:
            return [known[word] for word in words]
        except KeyError:
            pass
        unseen = list({word: None for word in words if word not in known})
        fresh = dict(zip(unseen, self._count(unseen), strict=True))
        counts = [fresh[word] if word in fresh else known[word] for word in words]
        if len(known) > _REMEMBERED_WORDS:
            self._known, self._inside = {}, {}
        self._known.update((word, count) for word, count in fresh.items() if len(word) <= _REMEMBERED_LENGTH)
        return counts

    def starts(self, word: str) -> list[int]:
        """Where the tokens of a long word begin."""
        known = self._inside.get(word)
        if known is None:
            known = [span.start for span in self._tokens.spans(word)]
            if word in self._known:
                self._inside[word] = known
        return known

    def _count(self, words: Sequence[str]) -> list[int]:
        """Tokens of each word, all words in one call."""
        starts = [span.start for span in self._tokens.spans("\n".join(words))]
        borders = accumulate((len(word) + 1 for word in words), initial=0)
        places = [bisect_left(starts, border) for border in borders]
        return [after - before for before, after in pairwise(places)]


@lru_cache(maxsize=_COUNTERS)
def _memory(tokens: TokenCounter) -> _WordMemory:
    return _WordMemory(tokens)
