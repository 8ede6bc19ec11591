"""File patterns as documentation builds write them: `**/*.md`, `**.yml`, `{a,b}/*.md`.

Patterns come with the estate, so none may cost more than its length times the path's: what follows a wildcard is taken
where it first fits, which is right for wildcards and leaves the matcher nothing to go back to.
"""

import re
from functools import lru_cache

_ALTERNATIVES = 256
_LONGEST = 1_000
_NOTHING = re.compile(r"(?!)")


class GlobInvalid(ValueError):
    """The message says what is wrong with the pattern."""


@lru_cache(maxsize=4_096)
def compile_glob(pattern: str) -> re.Pattern[str]:
    """A pattern that matches whole relative paths; `**` crosses folders, `*` and `?` don't. One that is too large
    matches nothing: `check_glob` says why."""
    if len(pattern) > _LONGEST:
        return _NOTHING
    alternatives = _expanded(pattern.replace("\\", "/").removeprefix("./"))
    if not alternatives:
        return _NOTHING
    return re.compile("|".join(_regex(alternative) for alternative in alternatives), re.IGNORECASE | re.DOTALL)


def matches(path: str, patterns: tuple[str, ...]) -> bool:
    return any(compile_glob(pattern).fullmatch(path) for pattern in patterns)


def check_glob(pattern: str) -> None:
    """Raises GlobInvalid for a pattern that would match something else than its author can have meant."""
    if not pattern.strip() or pattern != pattern.strip():
        raise GlobInvalid("it is empty, or has spaces around it")
    if pattern.startswith("/") or "\\" in pattern or ".." in pattern.split("/"):
        raise GlobInvalid("it must be a path below the estate, with forward slashes and no '..'")
    if any(mark in pattern for mark in "[]!"):
        raise GlobInvalid("only *, **, ? and {a,b} are wildcards")
    if pattern.count("{") != pattern.count("}"):
        raise GlobInvalid("a brace is not closed")
    if compile_glob(pattern) is _NOTHING:
        raise GlobInvalid("it is too large")


def _expanded(pattern: str) -> list[str]:
    """Braces and mixed `**` written out, each alternative on its own; none where there would be too many."""
    pending = [pattern]
    done: list[str] = []
    while pending:
        if len(pending) + len(done) > _ALTERNATIVES:
            return []
        current = pending.pop()
        opening = current.rfind("{")
        closing = current.find("}", opening)
        if opening >= 0 and closing > opening:
            head, tail = current[:opening], current[closing + 1 :]
            pending += [head + inner + tail for inner in current[opening + 1 : closing].split(",")]
            continue
        segments = re.sub(r"\*{3,}", "**", current).split("/")
        mixed = next((place for place, segment in enumerate(segments) if "**" in segment and segment != "**"), None)
        if mixed is None:
            done.append("/".join(segments))
            continue
        first, _, last = segments[mixed].partition("**")
        for middle in ([f"{first}*{last}"], [f"{first}*", "**", f"*{last}"]):
            pending.append("/".join([*segments[:mixed], *middle, *segments[mixed + 1 :]]))
    return done


def _regex(pattern: str) -> str:
    """Runs of segments between `**`: the first holds at the start, the last at the end, the others where they first
    fit."""
    runs: list[list[str]] = [[]]
    for segment in pattern.split("/"):
        if segment == "**":
            runs.append([])
        else:
            runs[-1].append(_segment(segment))
    if len(runs) == 1:
        return "/".join(runs[0])
    first, *middle, last = runs
    parts = ["/".join(first) + "/" if first else ""]
    parts += ["(?>(?:[^/]+/)*?" + "/".join(run) + "/)" for run in middle if run]
    parts.append("(?:[^/]+/)*" + ("/".join(last) if last else "[^/]+"))
    return "".join(parts)


def _segment(segment: str) -> str:
    first, *rest = (re.escape(piece).replace(r"\?", "[^/]") for piece in re.split(r"\*+", segment))
    if not rest:
        return first
    return first + "".join(f"(?>[^/]*?{piece})" for piece in rest[:-1] if piece) + "[^/]*" + rest[-1]
