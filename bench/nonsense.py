"""Queries that mean nothing, drawn from a seed: random letters, pronounceable words, keyboard mash, and all of these
among stop words."""

import random
import string
from collections.abc import Callable

_ONSETS = (
    *"bcdfghjklmnprstvwz",
    "bl",
    "br",
    "ch",
    "cl",
    "dr",
    "fl",
    "gr",
    "pl",
    "qu",
    "sh",
    "sk",
    "sn",
    "sp",
    "str",
    "tr",
)
_VOWELS = (*"aeiou", "ai", "ea", "ee", "oa", "oo", "ou")
_CODAS = ("", "", *"bdgmnpx", "ck", "ft", "ld", "mp", "nd", "nk", "rd", "rk", "zz")
_KEY_ROWS = ("qwertyuiop", "asdfghjkl", "zxcvbnm")
_FRAMES = (
    "how do i {0} the {1}",
    "what is {0}",
    "what is a {0} and why does it {1}",
    "can you {0} with the {1}",
    "is {0} the same as {1}",
    "why is my {0} not {1}",
    "{0} or {1}",
    "the {0}",
    "when should you {0}",
)


def random_letters(draw: random.Random) -> str:
    return "".join(draw.choices(string.ascii_lowercase, k=draw.randint(4, 14)))


def pronounceable(draw: random.Random) -> str:
    syllables = draw.choices((1, 2, 3, 4), weights=(1, 4, 3, 1))[0]
    word = "".join(draw.choice(_ONSETS) + draw.choice(_VOWELS) for _ in range(syllables)) + draw.choice(_CODAS)
    return word if len(word) > 3 else word + "zork"


def keyboard_mash(draw: random.Random) -> str:
    """Neighbouring keys of one or two rows."""
    mashed = ""
    for row in draw.sample(_KEY_ROWS, k=draw.choice((1, 2))):
        start = draw.randrange(len(row) - 3)
        piece = list(row[start : start + draw.randint(3, 6)])
        if draw.random() < 0.5:
            draw.shuffle(piece)
        mashed += "".join(piece)
    return mashed


WORDS: dict[str, Callable[[random.Random], str]] = {
    "random letters": random_letters,
    "pronounceable": pronounceable,
    "keyboard mash": keyboard_mash,
}


def nonsense(kind: str, count: int, seed: int) -> list[str]:
    """One to three words of a kind, or with the kind `among stop words`, any kind of word within a common frame."""
    draw = random.Random(f"{kind}/{seed}")
    made = []
    for _ in range(count):
        if kind == AMONG_STOP_WORDS:
            words = [WORDS[draw.choice(list(WORDS))](draw) for _ in range(2)]
            made.append(draw.choice(_FRAMES).format(*words))
        else:
            made.append(" ".join(WORDS[kind](draw) for _ in range(draw.choice((1, 1, 2, 3)))))
    return made


AMONG_STOP_WORDS = "among stop words"
KINDS = (*WORDS, AMONG_STOP_WORDS)
