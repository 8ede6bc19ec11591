"""A passage as a page shows it: stretches of text, some of them marked."""

from collections.abc import Sequence
from typing import NamedTuple

from cypher_guard.violation import EXCERPT_WIDTH

_EXCERPT = 320
"""Characters of a passage that stand under a hit; the whole is one step away."""


class Stretch(NamedTuple):
    text: str
    marked: bool


def marked(text: str, highlights: Sequence[tuple[int, int]]) -> list[Stretch]:
    """The whole text, cut at the highlights: [start, end) in characters, in any order, overlapping or not."""
    stretches: list[Stretch] = []
    at = 0
    for start, end in sorted(highlights):
        start, end = max(start, at), min(end, len(text))
        if start >= end:
            continue
        if start > at:
            stretches.append(Stretch(text[at:start], False))
        stretches.append(Stretch(text[start:end], True))
        at = end
    if at < len(text):
        stretches.append(Stretch(text[at:], False))
    return stretches


def excerpt(text: str, highlights: Sequence[tuple[int, int]], length: int = _EXCERPT) -> list[Stretch]:
    """The part of the text that holds most highlights, cut between words, with `…` where something is left out."""
    if len(text) <= length:
        return marked(text, highlights)
    start = _densest(text, highlights, length)
    end = min(len(text), start + length)
    if start > 0:
        start = _after_blank(text, start, end)
    if end < len(text):
        end = max(text.rfind(" ", start, end), text.rfind("\n", start, end), start + length // 2)
    shifted = [(left - start, right - start) for left, right in highlights if left >= start and right <= end]
    stretches = marked(text[start:end], shifted)
    before = [Stretch("… ", False)] if start > 0 else []
    after = [Stretch(" …", False)] if end < len(text) else []
    return [*before, *stretches, *after]


def pointed(text: str, column: int) -> list[Stretch]:
    """A guard's excerpt with the word at its place marked. `column` counts from 1 in the line it was cut from."""
    start = min(column - 1, EXCERPT_WIDTH // 2)
    end = start
    while end < len(text) and (text[end].isalnum() or text[end] in "_$"):
        end += 1
    return marked(text, [(start, max(end, start + 1))])


class Part(NamedTuple):
    text: str
    code: bool


def fenced(text: str) -> list[Part]:
    """A section's text as prose and code: fences are how a reader hands code over. One left open ends with the text."""
    parts: list[Part] = []
    lines: list[str] = []
    fence = ""
    for line in [*text.split("\n"), None]:
        opens = not fence and line is not None and line.startswith("```")
        closes = bool(fence) and line is not None and line.rstrip() == fence
        if (line is None or opens or closes) and (stretch := "\n".join(lines).strip("\n")):
            parts.append(Part(stretch, bool(fence)))
        if line is None:
            break
        if opens:
            fence, lines = line[: len(line) - len(line.lstrip("`"))], []
        elif closes:
            fence, lines = "", []
        else:
            lines.append(line)
    return parts


def is_cut(text: str) -> bool:
    """Whether an excerpt leaves something out."""
    return len(text) > _EXCERPT


def _densest(text: str, highlights: Sequence[tuple[int, int]], length: int) -> int:
    """Where a window of `length` starts that covers most highlights; the earliest of equals."""
    latest = len(text) - length
    lead = length // 5
    starts = [0, *(min(max(0, start - lead), latest) for start, _ in sorted(highlights))]
    return max(starts, key=lambda start: sum(start <= left and right <= start + length for left, right in highlights))


def _after_blank(text: str, start: int, end: int) -> int:
    blank = text.find(" ", start, start + (end - start) // 5)
    return start if blank < 0 else blank + 1
