"""Texts that were queries once: bytes flipped, tokens moved, halves of two queries spliced."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from random import Random

TOKEN = re.compile(r"\w+|\s+|'(?:\\.|[^'])*'|.", re.DOTALL)

# What lexers and parsers have stumbled over: escapes, comment ends, odd spaces and digits, surrogates, brackets.
POISON = (
    *"'\"`\\/*-<>|&!%$(){}[]:;,.=+^~#?@\n\r\t\v\f\0",
    *("\\u0027", "\\u000a", "\\u", "\\", "/*", "*/", "//", "\r", "--", "->", "<-", "..", "::", "$__audiences", "$`"),
    *("\u00a0", "\u2028", "\u200b", "\ufeff", "\u202e", "\ud800", "\U0001f600", "\u2014", "\u27e9", "\u0661", "\u017f"),
    *("0x", "1e", "1_", "9" * 25, "-0", "*1..", "{1,", "*", "{", "EXISTS {", "COUNT {", "CASE WHEN ", "NOT ", "[x IN "),
    *(
        " DETACH DELETE n ",
        " CALL db.labels() ",
        " UNION ",
        " SET n.x = 1 ",
        " LOAD CSV FROM 'x' AS l ",
        "; ",
        " WITH * ",
    ),
    *(
        "n.visibleTo",
        "n[$k]",
        "properties(n)",
        ":$(x)",
        ":!",
        ":%",
        "(((",
        ")))",
        "]]]",
        "}}}",
        " LIMIT 9e9",
        " RETURN *",
    ),
)

Mutation = Callable[[str, str, Random], str]


def flip(text: str, _other: str, random: Random) -> str:
    """One character becomes another."""
    at = random.randrange(len(text) + 1)
    return text[:at] + chr(random.choice([random.randrange(128), random.randrange(0x3000)])) + text[at + 1 :]


def poison(text: str, _other: str, random: Random) -> str:
    at = random.randrange(len(text) + 1)
    return text[:at] + random.choice(POISON) + text[at:]


def cut(text: str, _other: str, random: Random) -> str:
    start = random.randrange(len(text) + 1)
    return text[:start] + text[start + random.randrange(1, 12) :]


def repeat(text: str, _other: str, random: Random) -> str:
    """A stretch of the text many times over."""
    start = random.randrange(len(text) + 1)
    stretch = text[start : start + random.randrange(1, 20)]
    return text[:start] + stretch * random.choice([2, 3, 10, 70]) + text[start:]


def swap_tokens(text: str, _other: str, random: Random) -> str:
    tokens = TOKEN.findall(text)
    if len(tokens) < 2:
        return text
    i, j = random.randrange(len(tokens)), random.randrange(len(tokens))
    tokens[i], tokens[j] = tokens[j], tokens[i]
    return "".join(tokens)


def drop_token(text: str, _other: str, random: Random) -> str:
    tokens = TOKEN.findall(text)
    if tokens:
        del tokens[random.randrange(len(tokens))]
    return "".join(tokens)


def splice(text: str, other: str, random: Random) -> str:
    return text[: random.randrange(len(text) + 1)] + other[random.randrange(len(other) + 1) :]


def take_token(text: str, other: str, random: Random) -> str:
    tokens, others = TOKEN.findall(text), TOKEN.findall(other)
    if tokens and others:
        tokens[random.randrange(len(tokens))] = random.choice(others)
    return "".join(tokens)


MUTATIONS: Sequence[Mutation] = (flip, poison, cut, repeat, swap_tokens, drop_token, splice, take_token)


def mutated(text: str, other: str, random: Random) -> str:
    """`text` after a few mutations, some of them with material of `other`."""
    for _ in range(random.choice((1, 1, 2, 4))):
        text = random.choice(MUTATIONS)(text, other, random)
    return text
