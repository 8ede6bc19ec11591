"""Columns of findings: a parser of Markdown knows lines alone, but a message quotes what it is about."""

import re
from collections.abc import Sequence
from dataclasses import replace

from service.domain.diagnostics import Diagnostic

_QUOTED = re.compile(r"(?<!\w)'([^']+)'(?!\w)")


def with_column(found: Diagnostic, lines: Sequence[str]) -> Diagnostic:
    """The finding at the first of its quotations that stands in its line; as it was where none does.

    lines: of the finding's own file.
    """
    if found.column != 1 or not 1 <= found.line <= len(lines):
        return found
    line = lines[found.line - 1]
    places = (line.find(quoted) for quoted in _QUOTED.findall(found.message))
    place = next((place for place in places if place >= 0), 0)
    return replace(found, column=place + 1) if place else found
