"""Counting by words that were met before gives what the tokenizer counts over the text as a whole."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.ports import Span
from service.publishing.measured_text import MeasuredText


class Pairs:
    """A token is two characters of a word, or the one that is left. Says how often it was asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def spans(self, text: str) -> list[Span]:
        self.asked.append(text)
        return [Span(*found.span()) for found in re.finditer(r"\S\S?", text)]


PAIRS = Pairs()
WORDS = st.sampled_from(["a", "word", "x" * 33, "y" * 40, "z" * 2_001, "z" * 2_003])
TEXTS = st.lists(st.tuples(WORDS, st.sampled_from([" ", "\n", "  "])), max_size=12).map(
    lambda parts: "".join(word + blank for word, blank in parts)
)


@given(TEXTS, st.integers(0, 300), st.integers(0, 300))
def test_any_stretch(text: str, one: int, other: int) -> None:
    starts = [found.start for found in Pairs().spans(text)]
    measured = MeasuredText(text, PAIRS)
    assert measured.tokens == len(starts)
    # A short word is never cut inside, so a stretch goes from border to border.
    borders = sorted({0, len(text), *(found.start() for found in re.finditer(r"(?<!\S)\S", text))})
    first, last = sorted((borders[one % len(borders)], borders[other % len(borders)]))
    assert measured.count(first, last) == sum(first <= place < last for place in starts)


@pytest.mark.parametrize("budget", [1, 7, 20])
def test_a_long_word_is_reached_into(budget: int) -> None:
    text = f"one {'y' * 400} two"
    assert MeasuredText(text, Pairs()).reach(4, budget) == 4 + 2 * budget


def test_a_word_met_before_is_not_asked_for_again() -> None:
    pairs = Pairs()
    text = f"word {'y' * 400} other"
    for _ in range(3):
        measured = MeasuredText(text, pairs)
        assert measured.count(0, len(text)) == 2 + 200 + 3
    assert len(pairs.asked) == 2
