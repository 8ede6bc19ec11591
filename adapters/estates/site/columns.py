"""Columns of findings: a parser of Markdown knows lines alone, but a message quotes what it is about."""

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace

from adapters.estates.files import EstateFiles, FileUnreadable
from service.domain.content import NodeRecord
from service.domain.diagnostics import Diagnostic

_QUOTED = re.compile(r"(?<!\w)'([^']+)'(?!\w)")
_WITHIN = r"[\w/.\-#?&=%~]"
"""What may stand beside a name and makes it another one."""
_KEPT_FILES = 16
_LONGEST_LINE = 10_000
"""Characters of a line that is searched; a longer one is no one's writing."""


class Columns:
    """The findings of one reading, each at its own place."""

    def __init__(self, files: EstateFiles) -> None:
        self._files = files
        self._lines: dict[str, list[str]] = {}
        self._met: Counter[Diagnostic] = Counter()

    def place(self, found: Diagnostic) -> Diagnostic | None:
        """The finding at the first of its quotations that stands in its line; as it was where none does.

        One that is said again stands where the line says it again; None where the line says it no more.
        """
        times = self._met[found]
        self._met[found] += 1
        if found.column != 1:
            return None if times else found
        quotations = _QUOTED.findall(found.message)
        lines = self._lines_of(found.file) if quotations else ()
        line = lines[found.line - 1][:_LONGEST_LINE] if 1 <= found.line <= len(lines) else ""
        for quoted in quotations:
            places = _places(quoted, line)
            if times < len(places):
                return replace(found, column=places[times] + 1)
            if places:
                return None
        return None if times else found

    def placed(self, items: Iterable[NodeRecord | Diagnostic]) -> Iterator[NodeRecord | Diagnostic]:
        """The items, each finding among them at its place."""
        for item in items:
            place = self.place(item) if isinstance(item, Diagnostic) else item
            if place is not None:
                yield place

    def _lines_of(self, file: str) -> list[str]:
        if file not in self._lines:
            if len(self._lines) >= _KEPT_FILES:
                self._lines.clear()
            try:
                self._lines[file] = self._files.read(file).text.split("\n")
            except FileUnreadable:
                self._lines[file] = []
        return self._lines[file]


def _places(quoted: str, line: str) -> list[int]:
    """Where the line names it, rather than something that it is a part of; in any place where it never does."""
    name = re.escape(quoted)
    whole = [match.start() for match in re.finditer(f"(?<!{_WITHIN}){name}(?!{_WITHIN})", line)]
    return whole or [match.start() for match in re.finditer(name, line)]
