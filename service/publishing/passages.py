"""Records → passages: by heading, then by the sentence model's own tokens."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

from service.domain.content import Block, BlockKind, NodeRecord, Passage, Section
from service.ports import TokenCounter
from service.publishing.measured_text import MeasuredText

_SPECIAL_TOKENS = 2
_SMALLEST_BUDGET = 16
_SENTENCE_END = re.compile(r"(?<=[.!?…])\s+|\n+|(?<=[。！？])")
_WHOLE = (BlockKind.CODE, BlockKind.TABLE)


def cut(
    record: NodeRecord, tokens: TokenCounter, limit: int, *, overlap: int = 0, quizzes: bool = False
) -> list[Passage]:
    """The record's passages, numbered from 0; the same record gives the same passages.

    limit: tokens that the model reads at once; the title and heading that it reads first count too.
    overlap: tokens of whole sentences that a passage repeats of the one before, within a section.
    quizzes: whether quiz questions and answers become passages; they answer what they ask, so mostly they should not.
    A record without text gives one passage of its title and summary; one without a summary either gives none.
    """
    content_hash = record.content_hash
    passages: list[Passage] = []
    for section in record.sections:
        blocks = [block for block in section.blocks if quizzes or block.kind is not BlockKind.QUIZ]
        for text, languages in _cut_section(record, section, blocks, tokens, limit, overlap):
            passages.append(
                Passage(
                    node=record.node,
                    content_hash=content_hash,
                    number=len(passages),
                    heading=section.heading,
                    anchor=section.anchor,
                    text=text,
                    languages=languages,
                    moniker_range=section.moniker_range,
                )
            )
    if not passages and record.node.summary:
        text = f"{record.node.title}\n{record.node.summary}"
        passages.append(Passage(record.node, content_hash, 0, "", "", text))
    return passages


@dataclass(frozen=True, slots=True)
class _Piece:
    """A stretch of a section's text that is never cut; `opens` says that a block begins with it."""

    start: int
    end: int
    tokens: int
    opens: bool
    block_tokens: int
    block: Block


def _cut_section(
    record: NodeRecord, section: Section, blocks: list[Block], tokens: TokenCounter, limit: int, overlap: int
) -> Iterator[tuple[str, tuple[str, ...]]]:
    if not blocks:
        return
    text = "\n\n".join(block.text for block in blocks)
    head = (
        record.node.title if section.heading in ("", record.node.title) else f"{record.node.title}: {section.heading}"
    )
    budget = max(limit - _SPECIAL_TOKENS - MeasuredText(head, tokens).tokens, min(_SMALLEST_BUDGET, limit))
    measured = MeasuredText(text, tokens)
    if measured.tokens <= budget:
        yield text.strip(), _languages(blocks)
        return
    for pieces in _pack(list(_pieces(blocks, measured, budget)), budget, min(overlap, budget // 2)):
        cut_text = text[pieces[0].start : pieces[-1].end].strip("\n").rstrip()
        if cut_text.strip():
            yield cut_text, _languages(dict.fromkeys(piece.block for piece in pieces))


def _pack(pieces: list[_Piece], budget: int, overlap: int) -> Iterator[list[_Piece]]:
    """Fill passages in order. A block that fits whole moves on whole, if the passage before it is half full."""
    current: list[_Piece] = []
    used = 0
    for piece in pieces:
        room = budget - used
        fits = piece.tokens <= room
        if piece.opens and piece.tokens < piece.block_tokens <= budget and piece.block_tokens > room:
            fits = fits and used < budget // 2
        if not fits and current:
            yield current
            current = _repeated(current, min(overlap, budget - piece.tokens)) if not piece.opens else []
            used = sum(kept.tokens for kept in current)
        current.append(piece)
        used += piece.tokens
    if current:
        yield current


def _repeated(pieces: list[_Piece], overlap: int) -> list[_Piece]:
    kept: list[_Piece] = []
    for piece in reversed(pieces):
        overlap -= piece.tokens
        if overlap < 0 or piece.block.kind in _WHOLE:
            break
        kept.insert(0, piece)
    return kept


def _pieces(blocks: Iterable[Block], measured: MeasuredText, budget: int) -> Iterator[_Piece]:
    offset = 0
    for block in blocks:
        end = offset + len(block.text)
        block_tokens = measured.count(offset, end)
        if block.kind in _WHOLE and block_tokens <= budget:
            borders = [offset, end]
        elif block.kind in _WHOLE:
            borders = _line_borders(block.text, offset)
        else:
            borders = _sentence_borders(block.text, offset)
        opens = True
        for start, stop in _fitting(borders, measured, budget):
            yield _Piece(start, stop, measured.count(start, stop), opens, block_tokens, block)
            opens = False
        offset = end + 2


def _fitting(borders: list[int], measured: MeasuredText, budget: int) -> Iterator[tuple[int, int]]:
    """Stretches between borders, cut further between tokens where one alone is longer than the budget."""
    for start, stop in pairwise(borders):
        position = start
        while measured.count(position, stop) > budget:
            end = measured.reach(position, budget)
            yield position, end
            position = end
        if position < stop:
            yield position, stop


def _sentence_borders(text: str, offset: int) -> list[int]:
    return [offset, *(offset + match.end() for match in _SENTENCE_END.finditer(text)), offset + len(text)]


def _line_borders(text: str, offset: int) -> list[int]:
    borders = [offset]
    for line in text.splitlines(keepends=True):
        borders.append(borders[-1] + len(line))
    return borders


def _languages(blocks: Iterable[Block]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(block.language for block in blocks if block.language))
