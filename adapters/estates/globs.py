"""File patterns as documentation builds write them: `**/*.md`, `**.yml`, `{a,b}/*.md`."""

import re
from functools import lru_cache


@lru_cache(maxsize=4_096)
def compile_glob(pattern: str) -> re.Pattern[str]:
    """A pattern that matches whole relative paths; `**` crosses folders, `*` and `?` don't."""
    pattern = pattern.replace("\\", "/").removeprefix("./")
    parts: list[str] = []
    position = 0
    braces = 0
    while position < len(pattern):
        character = pattern[position]
        if pattern.startswith("**/", position):
            parts.append("(?:.*/)?")
            position += 3
            continue
        if pattern.startswith("**", position):
            parts.append(".*")
            position += 2
            continue
        if character == "*":
            parts.append("[^/]*")
        elif character == "?":
            parts.append("[^/]")
        elif character == "{" and "}" in pattern[position:]:
            braces += 1
            parts.append("(?:")
        elif character == "}" and braces:
            braces -= 1
            parts.append(")")
        elif character == "," and braces:
            parts.append("|")
        else:
            parts.append(re.escape(character))
        position += 1
    return re.compile("".join(parts) + ")" * braces, re.IGNORECASE | re.DOTALL)


def matches(path: str, patterns: tuple[str, ...]) -> bool:
    return any(compile_glob(pattern).fullmatch(path) for pattern in patterns)
