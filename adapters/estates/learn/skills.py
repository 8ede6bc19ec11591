"""Skills: what a module says it teaches, by its text; the same text is the same skill."""

import unicodedata
from collections.abc import Iterable, Iterator

from adapters.estates.markdown.document import Bullet
from service.domain.graph import EdgeType, NodeKind, Reference

_LONGEST = 300


def skill_uid(text: str) -> str:
    """`skill:` and the text without its case, spacing and closing punctuation."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "skill:" + " ".join(folded.split()).rstrip(" .,:;!")[:_LONGEST]


def taught_skills(bullets: Iterable[Bullet], via: str, locale: str) -> Iterator[Reference]:
    for bullet in bullets:
        yield skill_reference(EdgeType.TEACHES_SKILL, bullet.text, via, bullet.file, bullet.line, locale)


def skill_reference(edge: EdgeType, text: str, via: str, file: str, line: int, locale: str) -> Reference:
    return Reference(
        type=edge,
        target_uid=skill_uid(text),
        via=via,
        file=file,
        line=line,
        target_locale=locale,
        target_kind=NodeKind.SKILL,
        target_title=" ".join(text.split()).rstrip(" .,:;"),
    )
