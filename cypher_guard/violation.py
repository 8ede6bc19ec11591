"""What the guard answers instead of a query: a code, a place, and what to do about it."""

from collections.abc import Iterable
from difflib import get_close_matches

EXCERPT_WIDTH = 80

CODES = {
    "syntax": "the text is not a query of this subset",
    "read_only": "a clause that writes or changes the schema",
    "unsupported_clause": "a clause or form that this profile leaves out",
    "unknown_relationship": "a relationship type outside the profile",
    "unknown_label": "a label outside the profile",
    "unknown_property": "a property outside the profile",
    "unknown_function": "a function outside the profile",
    "unknown_variable": "a variable that is not in scope there",
    "duplicate_name": "a column or variable named twice",
    "bad_arguments": "a function with too few or too many arguments",
    "bad_type": "a value of a kind that cannot stand there",
    "bad_aggregate": "an aggregate, or a value beside one, where it cannot stand",
    "unbounded": "a variable length without an upper bound",
    "too_deep": "more hops than the profile allows",
    "cartesian": "patterns that do not connect",
    "too_costly": "an estimate of work above the profile's limit",
    "too_large": "text, nesting or parameters above the profile's limit",
    "missing_parameter": "a parameter that the query names and nobody gave",
    "unused_parameter": "a parameter that was given and the query does not name",
    "bad_parameter": "a parameter with a reserved name or a value that cannot stand there",
    "timeout": "the database did not answer within the profile's wall clock",
}


class Violation(Exception):
    """A refusal that a person or a model can act on.

    code: one of CODES. line and column count from 1; both are 0 where no place in the text is meant.
    excerpt: the line of the query around the place. suggestion: a name or a rewriting to try, or None.
    """

    def __init__(
        self,
        code: str,
        message: str,
        *,
        line: int = 0,
        column: int = 0,
        excerpt: str = "",
        suggestion: str | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.line = line
        self.column = column
        self.excerpt = excerpt
        self.suggestion = suggestion

    def __str__(self) -> str:
        where = f" (line {self.line}, column {self.column})" if self.line else ""
        hint = f" {self.suggestion}" if self.suggestion else ""
        return f"{self.code}: {self.message}{where}{hint}"

    def __reduce__(self) -> tuple[object, ...]:
        return _restore, (self.as_dict(),)

    def as_dict(self) -> dict[str, str | int | None]:
        """The fields as JSON-ready data."""
        return {
            "code": self.code,
            "message": self.message,
            "line": self.line,
            "column": self.column,
            "excerpt": self.excerpt,
            "suggestion": self.suggestion,
        }


class Refusal(Exception):
    """A violation inside the guard, placed by its offset; the guard turns it into line and column once."""

    def __init__(self, code: str, message: str, position: int | None, suggestion: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.position = position
        self.suggestion = suggestion

    def locate(self, text: str) -> Violation:
        """The same refusal with line, column and excerpt of `text`."""
        if self.position is None:
            return Violation(self.code, self.message, suggestion=self.suggestion)
        line, column, excerpt = locate(text, self.position)
        return Violation(self.code, self.message, line=line, column=column, excerpt=excerpt, suggestion=self.suggestion)


def locate(text: str, offset: int) -> tuple[int, int, str]:
    """Line and column (from 1) of an offset, and the part of its line around it."""
    offset = max(0, min(offset, len(text)))
    before = text[:offset].replace("\r\n", "\n").replace("\r", "\n")
    line = before.count("\n") + 1
    column = len(before) - (before.rfind("\n") + 1) + 1
    start = max(text.rfind("\n", 0, offset), text.rfind("\r", 0, offset)) + 1
    ends = [end for end in (text.find("\n", offset), text.find("\r", offset)) if end >= 0]
    end = min(ends, default=len(text))
    start = max(start, offset - EXCERPT_WIDTH // 2)
    return line, column, text[start : min(end, start + EXCERPT_WIDTH)]


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that a misspelt one most likely meant, or None; case is forgiven first."""
    candidates = sorted(known)
    short = name[:64]
    for candidate in candidates:
        if candidate.casefold() == short.casefold():
            return candidate
    folded = {candidate.casefold(): candidate for candidate in reversed(candidates)}
    close = get_close_matches(short.casefold(), folded, n=1, cutoff=0.6)
    return folded[close[0]] if close else None


def suggest(name: str, known: Iterable[str]) -> str | None:
    """The nearest known name as a sentence."""
    candidate = nearest(name, known)
    return None if candidate is None else f"Did you mean {candidate}?"


def _restore(fields: dict[str, str | int | None]) -> Violation:
    code, message = str(fields["code"]), str(fields["message"])
    line, column, excerpt = int(fields["line"] or 0), int(fields["column"] or 0), str(fields["excerpt"])
    suggestion = fields["suggestion"]
    return Violation(
        code,
        message,
        line=line,
        column=column,
        excerpt=excerpt,
        suggestion=None if suggestion is None else str(suggestion),
    )
