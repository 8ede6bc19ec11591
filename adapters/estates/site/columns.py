"""Columns of findings: a parser of Markdown knows lines alone, but a message quotes what it is about."""

import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace

from service.domain.diagnostics import Diagnostic

_QUOTED = re.compile(r"(?<!\w)'([^']+)'(?!\w)")
_WITHIN = r"[\w/.\-#?&=%~]"
"""What may stand beside a name and makes it another one."""
_LONGEST_LINE = 10_000
"""Characters of a line that is searched; a longer one is no one's writing."""


class Columns:
    """The findings of one reading, each at its own place. `lines_of`: a file's lines, none where it can't be read."""

    def __init__(self, lines_of: Callable[[str], Sequence[str]]) -> None:
        self._lines_of = lines_of
        self._met: Counter[Diagnostic] = Counter()

    def place(self, found: Diagnostic) -> Diagnostic | None:
        """The finding at the first of its quotations that stands in its line; as it was where none does.

        One that is said again stands where the line says it again; None where the line says it no more.
        """
        times = self._met[found]
        self._met[found] += 1
        if found.column != 1:
            return None if times else found
        lines = self._lines_of(found.file)
        line = lines[found.line - 1][:_LONGEST_LINE] if 1 <= found.line <= len(lines) else ""
        for quoted in _QUOTED.findall(found.message):
            places = _places(quoted, line)
            if times < len(places):
                return replace(found, column=places[times] + 1)
            if places:
                return None
        return None if times else found


def _places(quoted: str, line: str) -> list[int]:
    """Where the line names it, rather than something that it is a part of; in any place where it never does."""
    name = re.escape(quoted)
    whole = [match.start() for match in re.finditer(f"(?<!{_WITHIN}){name}(?!{_WITHIN})", line)]
    return whole or [match.start() for match in re.finditer(name, line)]
