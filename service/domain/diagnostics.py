"""What a reader or a publish has to say about the source, addressed to the writer who can mend it."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from types import MappingProxyType
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


Readers = tuple[tuple[str, ...], ...]
"""Sets of visibility classes, of each of which a reader must have one; none: everyone may read."""

_NOBODY: Readers = ((),)


@dataclass(frozen=True, slots=True)
class PublishDiagnostics:
    """What a publish found. `counts` are of everything, by severity and code; `kept` are the gravest, and `readers` say
    of each who may read it."""

    published_at: str
    content_root: str
    docsets: tuple[str, ...]
    counts: tuple[tuple[Severity, str, int], ...]
    kept: tuple[Diagnostic, ...]
    readers: tuple[Readers, ...]
    docset_classes: tuple[tuple[str, ...], ...]
    """Of each docset the classes that see something of it."""

    def docsets_shown_to(self, audiences: frozenset[str]) -> list[str]:
        """Those of which a caller with these visibility classes may see a node: a name says something, too."""
        return [
            docset
            for docset, classes in zip(self.docsets, self.docset_classes, strict=True)
            if audiences.intersection(classes)
        ]

    def shown_to(self, audiences: frozenset[str]) -> list[Diagnostic]:
        """Those kept that a caller with these visibility classes may read."""
        return [
            found
            for found, readers in zip(self.kept, self.readers, strict=True)
            if all(audiences.intersection(classes) for classes in readers)
        ]

    @classmethod
    def of(
        cls,
        diagnostics: Collection[Diagnostic],
        *,
        published_at: str,
        content_root: str,
        docsets: Collection[str],
        most: int,
        readers: Callable[[Diagnostic], Readers] = lambda _finding: (),
        classes: Mapping[str, Collection[str]] = MappingProxyType({}),
    ) -> "PublishDiagnostics":
        """`most` bounds what is kept; `classes` says of a docset who sees something of it, none: the owner alone."""
        grave = list(Severity)
        counted = Counter((found.severity, found.code) for found in diagnostics)
        kept = tuple(sorted(diagnostics, key=lambda found: (grave.index(found.severity), found))[:most])
        return cls(
            published_at=published_at,
            content_root=content_root,
            docsets=tuple(sorted(docsets)),
            counts=tuple(
                (severity, code, counted[severity, code])
                for severity, code in sorted(counted, key=lambda kind: (grave.index(kind[0]), kind[1]))
            ),
            kept=kept,
            readers=tuple(map(readers, kept)),
            docset_classes=tuple(tuple(sorted(classes.get(docset, ()))) for docset in sorted(docsets)),
        )

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "PublishDiagnostics":
        """The inverse of `as_json`, through JSON. What an earlier version kept is the owner's to read."""
        kept = tuple(Diagnostic(**{**found, "severity": Severity(found["severity"])}) for found in value["kept"])
        readers = value.get("readers", (_NOBODY,) * len(kept))
        docset_classes = value.get("docset_classes", ((),) * len(value["docsets"]))
        return cls(
            published_at=value["published_at"],
            content_root=value["content_root"],
            docsets=tuple(value["docsets"]),
            counts=tuple((Severity(severity), code, count) for severity, code, count in value["counts"]),
            kept=kept,
            readers=tuple(tuple(tuple(classes) for classes in one) for one in readers),
            docset_classes=tuple(map(tuple, docset_classes)),
        )


class EstateRefused(Exception):
    """An estate that must not be published as it stands; `diagnostics` say why. What was published of it stays."""

    def __init__(self, diagnostics: Sequence[Diagnostic]) -> None:
        super().__init__("; ".join(found.message for found in diagnostics))
        self.diagnostics = tuple(diagnostics)
