"""Names as people type them: how the words of titles, aliases and uids begin, and what a misspelling may mean.

Nothing is stemmed: who has typed half a word has not typed its stem. A run of letters and digits is one word, and so is
each end of it that starts with a piece of its own: `EntityFrameworkCore` begins like entity…, framework… and core….
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from service.domain.graph import NodeKind

LONGEST_WORD = 20
"""Characters of a word that are told apart."""

MOST_WORDS = 16
"""Words of one typed text that are looked for: a longer text is no name."""

_UNNAMED = frozenset({NodeKind.RETIRED.value, NodeKind.CODE_SAMPLE.value})

_RUN = re.compile(r"[^\W_]+")

# Where a compound's next piece begins: aB, ABc, a1, but not 1a, for 8th is one piece.
_PIECE = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=[A-Za-z])(?=[0-9])")

# Scripts that are written without spaces: a word may begin at each of their characters.
_UNSPACED = re.compile(r"[぀-ヿ㐀-䶿一-鿿豈-﫿฀-๿]")


def node_names(kind: str, uid: str, title: str, aliases: Sequence[str]) -> tuple[str, ...]:
    """What a node is looked for by. A path that was redirected is no name, and code has a search of its own."""
    return () if kind in _UNNAMED else (title, uid, *aliases)


def name_words(names: Iterable[str]) -> list[str]:
    """Every word that these names are found by, folded and cut to what is told apart, each once."""
    found: dict[str, None] = {}
    for name in names:
        for run in _RUN.findall(_unaccented(name)):
            for start in _starts(run):
                found[run[start:].casefold()[:LONGEST_WORD]] = None
    return list(found)


def typed_words(text: str) -> list[str]:
    """The words of what was typed, likewise; none where it holds neither letter nor digit."""
    runs = (run.casefold()[:LONGEST_WORD] for run in _RUN.findall(_unaccented(text)))
    return list(dict.fromkeys(runs))[:MOST_WORDS]


def beginnings(words: Iterable[str]) -> list[str]:
    """Every beginning of every word."""
    return [word[:length] for word in words for length in range(1, len(word) + 1)]


def folded(text: str) -> str:
    """Without accents, case, and what surrounds or repeats a blank."""
    return " ".join(_unaccented(text).casefold().split())


def edits_forgiven(word: str) -> int:
    """How many letters of a typed word may be wrong, missing, too many, or swapped with the next."""
    return 0 if len(word) < 4 else 1 if len(word) < 8 else 2


def edits_to_begin(typed: str, word: str, most: int) -> int:
    """The fewest such edits that make `typed` a beginning of `word`; `most` + 1 where that many don't suffice.

    Optimal string alignment (Damerau's four edits, each stretch edited once), against every beginning of the word.
    """
    if word.startswith(typed):
        return 0
    before: list[int] = []
    row = list(range(len(typed) + 1))
    best = row[-1]
    for place, letter in enumerate(word[: len(typed) + most], start=1):
        following = [place]
        for at, wanted in enumerate(typed, start=1):
            cost = min(row[at] + 1, following[at - 1] + 1, row[at - 1] + (letter != wanted))
            if place > 1 and at > 1 and letter == typed[at - 2] and word[place - 2] == wanted:
                cost = min(cost, before[at - 2] + 1)
            following.append(cost)
        before, row = row, following
        best = min(best, row[-1])
    return min(best, most + 1)


def _starts(run: str) -> list[int]:
    if _UNSPACED.search(run):
        return list(range(len(run)))
    return [0, *(piece.start() for piece in _PIECE.finditer(run))]


def _unaccented(text: str) -> str:
    if text.isascii():
        return text
    return "".join(letter for letter in unicodedata.normalize("NFKD", text) if not unicodedata.combining(letter))
