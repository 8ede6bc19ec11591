"""What a reader or a publish has to say about the source, addressed to the writer who can mend it."""

from collections.abc import Sequence
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


class EstateRefused(Exception):
    """An estate that must not be published as it stands; `diagnostics` say why. What was published of it stays."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__("; ".join(found.message for found in diagnostics))
        self.diagnostics = tuple(diagnostics)
