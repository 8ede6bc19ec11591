"""What a reader or a publish has to say about the source, addressed to the writer who can mend it."""

from dataclasses import dataclass
from enum import StrEnum


class Severity(StrEnum):
    ERROR = "error"
    WARNING = "warning"
    NOTE = "note"


@dataclass(frozen=True, slots=True, order=True)
class Diagnostic:
    """One finding. `file` is relative to the estate; `line` and `column` are 1-based; `fix` says what to do."""

    file: str
    line: int
    code: str
    message: str
    severity: Severity
    column: int = 1
    fix: str = ""
