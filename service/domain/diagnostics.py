"""What a reader or a publish has to say about the source, addressed to the writer who can mend it."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any


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


@dataclass(frozen=True, slots=True)
class PublishDiagnostics:
    """What a publish found. `counts` are of everything, by severity and code; `kept` are the gravest."""

    published_at: str
    content_root: str
    docsets: tuple[str, ...]
    counts: tuple[tuple[Severity, str, int], ...]
    kept: tuple[Diagnostic, ...]

    @classmethod
    def of(
        cls,
        diagnostics: Collection[Diagnostic],
        *,
        published_at: str,
        content_root: str,
        docsets: Collection[str],
        most: int,
    ) -> "PublishDiagnostics":
        """`most` bounds what is kept."""
        grave = list(Severity)
        counted = Counter((found.severity, found.code) for found in diagnostics)
        return cls(
            published_at=published_at,
            content_root=content_root,
            docsets=tuple(sorted(docsets)),
            counts=tuple(
                (severity, code, counted[severity, code])
                for severity, code in sorted(counted, key=lambda kind: (grave.index(kind[0]), kind[1]))
            ),
            kept=tuple(sorted(diagnostics, key=lambda found: (grave.index(found.severity), found))[:most]),
        )

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "PublishDiagnostics":
        """The inverse of `as_json`, through JSON."""
        kept = (Diagnostic(**{**found, "severity": Severity(found["severity"])}) for found in value["kept"])
        return cls(
            published_at=value["published_at"],
            content_root=value["content_root"],
            docsets=tuple(value["docsets"]),
            counts=tuple((Severity(severity), code, count) for severity, code, count in value["counts"]),
            kept=tuple(kept),
        )


class EstateRefused(Exception):
    """An estate that must not be published as it stands; `diagnostics` say why. What was published of it stays."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__("; ".join(found.message for found in diagnostics))
        self.diagnostics = tuple(diagnostics)
