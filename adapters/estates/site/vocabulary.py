"""Products and roles that an estate names once, though it has another name that is spelt much like it."""

from collections.abc import Iterator
from dataclasses import dataclass

from adapters.estates.metadata import Metadata
from adapters.estates.nearest import Nearest
from service.domain.diagnostics import Diagnostic, Severity

_FIELDS = (("product", ("products", "product")), ("role", ("roles", "role")))
_ESTABLISHED = 3
_LIKENESS = 0.85


@dataclass(slots=True)
class _Use:
    """How often a name is used, and where first."""

    count: int
    file: str
    line: int


class Vocabulary:
    """No list says which products and roles there are: what the estate itself uses throughout is its list."""

    def __init__(self) -> None:
        self._uses: dict[str, dict[str, _Use]] = {kind: {} for kind, _ in _FIELDS}

    def add(self, metadata: Metadata) -> None:
        for kind, names in _FIELDS:
            for _, value, file, line in metadata.each(*names):
                use = self._uses[kind].setdefault(value, _Use(0, file, line))
                use.count += 1

    def findings(self) -> Iterator[Diagnostic]:
        for kind, uses in self._uses.items():
            nearest = Nearest()
            established = [name for name, use in uses.items() if use.count >= _ESTABLISHED]
            for name, use in uses.items():
                meant = nearest.among(name, established, likeness=_LIKENESS) if use.count == 1 else None
                if meant is not None:
                    yield Diagnostic(
                        use.file,
                        use.line,
                        f"unknown_{kind}",
                        f"The {kind} '{name}' is named here alone.",
                        Severity.WARNING,
                        fix=f"Did you mean {meant}?",
                    )
