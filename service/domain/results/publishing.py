"""What a publish did and found, and the snapshots that are kept."""

from pydantic import Field

from service.domain.diagnostics import Diagnostic, Severity
from service.domain.results.result import Result


class DiagnosticResult(Result):
    severity: str
    code: str
    file: str
    line: int
    column: int
    message: str
    fix: str

    @classmethod
    def of(cls, found: Diagnostic) -> "DiagnosticResult":
        return cls(
            severity=found.severity.value,
            code=found.code,
            file=found.file,
            line=found.line,
            column=found.column,
            message=found.message,
            fix=found.fix,
        )

    def diagnostic(self) -> Diagnostic:
        """The inverse of `of`; raises ValueError for a severity that is none."""
        return Diagnostic(self.file, self.line, self.code, self.message, Severity(self.severity), self.column, self.fix)


class DiagnosticCount(Result):
    severity: str
    code: str
    count: int


class DiagnosticsResult(Result):
    """What the last publish found in the sources: counts of everything, and the gravest findings themselves."""

    published_at: str = Field(description="Empty before the first publish.")
    content_root: str
    docsets: list[str]
    counts: list[DiagnosticCount]
    diagnostics: list[DiagnosticResult]
    withheld: int = Field(default=0, description="Findings about sources that this caller may not see.")


class PublishResult(Result):
    nodes: dict[str, int]
    edges: dict[str, int]
    passages: int
    added: int
    changed: int
    removed: int
    unchanged: int
    diagnostics: list[DiagnosticResult]
    content_root: str
    generation: int
    embedded: int = Field(description="Texts that the model had to read; the rest came from the cache.")
    dry_run: bool = False
    seconds: float


class RootResult(Result):
    """A snapshot that can be rolled back to."""

    content_root: str
    generation: int
    published_at: str
    nodes: int
    edges: int
    passages: int
    current: bool


class RootsResult(Result):
    """The snapshots that are kept, newest first."""

    roots: list[RootResult]
