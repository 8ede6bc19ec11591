"""Products and roles: against the names that the estate declares, else against what it uses throughout."""

from collections.abc import Iterator
from dataclasses import dataclass, field

from adapters.estates.declared_names import DeclaredNames
from adapters.estates.metadata import Metadata
from adapters.estates.nearest import Nearest
from service.domain.diagnostics import Diagnostic, Severity

_FIELDS = (("product", ("products", "product")), ("role", ("roles", "role")))
_ESTABLISHED = 3
_LIKENESS = 0.85
_PLACES = 100
"""Places at which one unknown name is reported."""


@dataclass(slots=True)
class _Use:
    """How often a name is used, and where."""

    count: int = 0
    places: list[tuple[str, int]] = field(default_factory=list)


class Vocabulary:
    """Collects the names page by page."""

    def __init__(self, declared: DeclaredNames) -> None:
        self._declared = {"product": declared.products, "role": declared.roles}
        self._names = {"product": declared.product, "role": declared.role}
        self._uses: dict[str, dict[str, _Use]] = {kind: {} for kind, _ in _FIELDS}

    def add(self, metadata: Metadata) -> None:
        for kind, names in _FIELDS:
            for _, value, file, line in metadata.each(*names):
                use = self._uses[kind].setdefault(value, _Use())
                use.count += 1
                if len(use.places) < _PLACES:
                    use.places.append((file, line))

    def findings(self) -> Iterator[Diagnostic]:
        for kind, uses in self._uses.items():
            if self._declared[kind] is not None:
                yield from self._undeclared(kind, uses)
            elif uses:
                yield _says_nothing(kind, *min(use.places[0] for use in uses.values()))
                yield from _rare(kind, uses)

    def _undeclared(self, kind: str, uses: dict[str, _Use]) -> Iterator[Diagnostic]:
        nearest = Nearest()
        known = [spelling for name in self._declared[kind] or () for spelling in sorted(name.spellings)]
        for value, use in uses.items():
            if self._names[kind](value) is not None:
                continue
            meant = nearest.among(value.casefold(), known, likeness=0.6)
            fix = f"Did you mean {meant}?" if meant else f"Declare it below `{kind}s` in the estate's settings."
            for file, line in use.places:
                yield _unknown(kind, file, line, f"The estate declares no {kind} '{value}'.", fix)


def _rare(kind: str, uses: dict[str, _Use]) -> Iterator[Diagnostic]:
    """Without a list of names, one that is spelt much like an established one and used once is probably misspelt."""
    nearest = Nearest()
    established = [name for name, use in uses.items() if use.count >= _ESTABLISHED]
    for name, use in uses.items():
        meant = nearest.among(name, established, likeness=_LIKENESS) if use.count == 1 else None
        if meant is not None:
            yield _unknown(kind, *use.places[0], f"The {kind} '{name}' is named here alone.", f"Did you mean {meant}?")


def _unknown(kind: str, file: str, line: int, message: str, fix: str) -> Diagnostic:
    return Diagnostic(file, line, f"unknown_{kind}", message, Severity.WARNING, fix=fix)


def _says_nothing(kind: str, file: str, line: int) -> Diagnostic:
    return Diagnostic(
        file,
        line,
        f"{kind}s_undeclared",
        f"The estate declares no {kind}s, so that a wrong one can't be told from a right one.",
        Severity.NOTE,
        fix=f"List them below `{kind}s` in the estate's settings.",
    )
