"""As much of a node as the caller has room for, and the place where the rest goes on."""

from collections.abc import Sequence
from dataclasses import dataclass

from service.domain.errors import CursorForeign
from service.domain.results import EdgeResult, SectionResult
from service.ports import TokenCounter
from service.publishing.measured_text import MeasuredText
from service.retrieval.sizes import size_of

_TOKEN_CHARACTERS = 32
"""A text of this many characters a token and more is too long: nobody need measure all of it to know."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where in a node's sections its text goes on: the section's number and a character of its text, from 0."""

    section: int = 0
    offset: int = 0

    def __str__(self) -> str:
        return f"{self.section}:{self.offset}"

    @classmethod
    def read(cls, text: str, sections: Sequence[SectionResult]) -> "Place":
        """Raises CursorForeign for a place that these sections don't have."""
        section, _, offset = text.partition(":")
        if section.isdecimal() and offset.isdecimal():
            place = cls(int(section), int(offset))
            if place.section < len(sections) and place.offset <= len(sections[place.section].text):
                return place
        raise CursorForeign("This cursor names no place in the node; send the request without it.")


@dataclass
class Allowance:
    """What may still be said. `tokens` are the sentence model's, None: any number; `size` is bytes of JSON."""

    counter: TokenCounter
    tokens: int | None
    size: int
    spent: int = 0
    """Tokens that were taken."""

    def take_text(self, section: SectionResult) -> int | None:
        """Room for a section: how many characters of its text fit, None: not even its heading does.

        The first text that is cut has one word at least, or nobody could read on.
        """
        if self.tokens is not None and self.spent and self.tokens <= self._count(section.heading):
            return None
        if size_of(section.model_copy(update={"text": ""})) > self.size:
            return None
        fit = self._by_size(section)
        if self.tokens is not None:
            fit = self._by_tokens(section, fit, self.tokens)
        self.size -= size_of(
            section if fit == len(section.text) else section.model_copy(update={"text": section.text[:fit]})
        )
        return fit

    def take_edges(self, edges: Sequence[EdgeResult]) -> int:
        """Room for edges: how many fit, from the first."""
        for taken, edge in enumerate(edges):
            size = size_of(edge) + 1
            tokens = self._count(f"{edge.type} {edge.uid} {edge.title}")
            if size > self.size or (self.tokens is not None and tokens > self.tokens):
                return taken
            self.size -= size
            self._spend(tokens)
        return len(edges)

    def _by_size(self, section: SectionResult) -> int:
        fit, size = len(section.text), size_of(section)
        while fit and size > self.size:
            fit = min(fit - 1, fit * max(self.size, 0) // size)
            size = size_of(section.model_copy(update={"text": section.text[:fit]}))
        return fit

    def _by_tokens(self, section: SectionResult, fit: int, left: int) -> int:
        heading = self._count(section.heading)
        left = max(1, left - heading)
        text = section.text[: min(fit, left * _TOKEN_CHARACTERS)]
        measured = MeasuredText(text, self.counter)
        if measured.tokens <= left:
            self._spend(heading + measured.tokens)
            return len(text)
        self._spend(heading + left)
        return _at_a_pause(text, measured.reach(0, left))

    def _count(self, text: str) -> int:
        return MeasuredText(text, self.counter).tokens

    def _spend(self, tokens: int) -> None:
        self.spent += tokens
        if self.tokens is not None:
            self.tokens = max(0, self.tokens - tokens)


def excerpt(
    sections: Sequence[SectionResult], start: Place, allowance: Allowance
) -> tuple[list[SectionResult], Place | None]:
    """The sections from `start` on that there is room for, the last one cut perhaps, and where the rest begins."""
    shown: list[SectionResult] = []
    for number in range(start.section, len(sections)):
        section, offset = sections[number], start.offset if number == start.section else 0
        if offset:
            section = section.model_copy(update={"text": section.text[offset:]})
        fit = allowance.take_text(section)
        if fit is None:
            return shown, Place(number, offset)
        if fit == len(section.text):
            shown.append(section)
            continue
        if fit:
            shown.append(section.model_copy(update={"text": section.text[:fit]}))
        return shown, Place(number, offset + fit)
    return shown, None


def _at_a_pause(text: str, end: int) -> int:
    """The last end of a paragraph, else of a line or word, in the second half of text[:end]; else `end`."""
    for pause in ("\n\n", "\n", " "):
        found = text.rfind(pause, end // 2, end)
        if found > 0:
            return found + len(pause)
    return end
