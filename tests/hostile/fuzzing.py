"""Hostile inputs without end, and what must hold for each: a Violation or a bounded query, in linear steps."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator, Sequence
from random import Random
from types import FrameType

from cypher_guard import CODES, LANGUAGE_PREFIX, Profile, Violation, Visibility, guard
from tests.hostile.corpus import own_rows, profiles, shared_rows
from tests.hostile.generator import honest_query
from tests.hostile.mutations import mutated
from tests.hostile.vocabulary import PROFILE

# What a rendering may call as it likes: quoted names, parameters, properties. Literals are never in it.
NAME = re.compile(r"`(?:[^`]|``)*`|\$\w+|\.\w+")
FORBIDDEN = re.compile(
    r"\b(?:CREATE|MERGE|SET|DELETE|DETACH|REMOVE|INSERT|FOREACH|CALL|LOAD|CSV|USE|SHOW|DROP|ALTER|EXPLAIN|PROFILE"
    r"|UNION|FINISH|YIELD|START|LET|FILTER)\b|;|//|/\*|\\|\$\(",
    re.IGNORECASE,
)
# Commands to a server are words that may name a variable elsewhere; they begin a statement or are none.
READS = re.compile(r"(?:MATCH|OPTIONAL MATCH|UNWIND|WITH|RETURN)\b")


def seeds() -> Sequence[str]:
    """Short rows of both corpora and some generated queries."""
    written = [row.text for row in (*own_rows(), *shared_rows()) if len(row.text) < 600]
    return (*written, *(honest_query(seed) for seed in range(300)))


def hostile_inputs(random: Random, seeds: Sequence[str]) -> Iterator[str]:
    while True:
        yield mutated(random.choice(seeds), random.choice(seeds), random)


def callers() -> Sequence[tuple[Profile, Visibility | None]]:
    """Each profile for everyone and for a principal."""
    known = [*profiles().values(), Profile.from_mapping(PROFILE)]
    return [(profile, visibility) for profile in known for visibility in (None, Visibility(frozenset({"*"})))]


def check(text: str, profile: Profile, visibility: Visibility | None) -> bool:
    """Whether it was accepted; AssertionError, or whatever else was raised, is a finding."""
    try:
        query = guard(text, None, profile, visibility=visibility, cache=None)
    except Violation as violation:
        if violation.code not in CODES or not violation.message:
            raise AssertionError(f"a refusal that says nothing: {violation!r}") from violation
        return False
    assert query.text.startswith(LANGUAGE_PREFIX)
    bare = NAME.sub("", query.text)
    assert not FORBIDDEN.search(bare), query.text
    assert READS.match(bare, len(LANGUAGE_PREFIX)), query.text
    assert "'" not in bare
    assert '"' not in bare
    assert query.limit <= profile.max_rows
    return True


def work(text: str, profile: Profile, visibility: Visibility | None) -> int:
    """Calls of Python and built-in functions that guarding a text takes: a clock that doesn't depend on the machine."""
    calls = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal calls
        calls += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        guard(text, None, profile, visibility=visibility, cache=None)
    except Violation:
        pass
    finally:
        sys.setprofile(before)
    return calls
