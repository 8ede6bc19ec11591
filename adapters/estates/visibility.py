"""Who may see a page, by the rules that its estate's settings give."""

from dataclasses import dataclass

from adapters.estates.globs import matches
from adapters.estates.metadata import Metadata
from service.domain.graph import EVERYONE
from service.domain.visibility import Classes, narrowed


class VisibilityUndecidable(Exception):
    """A rule asks for a field that the page fills with something that can't be compared; `field` is its name."""

    def __init__(self, field: str) -> None:
        super().__init__(field)
        self.field = field


@dataclass(frozen=True, slots=True)
class Rule:
    """Holds for the pages that fulfil all it says. A condition is (a field's names, values), without regard to case."""

    files: tuple[str, ...]
    conditions: tuple[tuple[tuple[str, ...], frozenset[str]], ...]
    visible_to: Classes

    def holds(self, path: str, metadata: Metadata) -> bool:
        """Raises VisibilityUndecidable."""
        if self.files and not matches(path, self.files):
            return False
        return all(not _values(names, metadata).isdisjoint(wanted) for names, wanted in self.conditions)


@dataclass(frozen=True, slots=True)
class Visibility:
    """Every rule that holds narrows: a page shows to those whom all of them name, so that a rule more never shows more.
    `default` is for the pages that no rule names. `file` is where the rules stand."""

    default: Classes = (EVERYONE,)
    rules: tuple[Rule, ...] = ()
    file: str = ""

    @property
    def reads_metadata(self) -> bool:
        """Whether a page's own words decide: then a page whose metadata can't be read can't be published."""
        return any(rule.conditions for rule in self.rules)

    def of_page(self, path: str, metadata: Metadata) -> Classes:
        """Empty for nobody. Raises VisibilityUndecidable."""
        holding = [rule.visible_to for rule in self.rules if rule.holds(path, metadata)]
        visible_to: Classes = holding[0] if holding else self.default
        for classes in holding[1:]:
            visible_to = narrowed(visible_to, classes)
        return visible_to

    def of_path(self, path: str) -> Classes:
        """For what has a path and no metadata, such as a page that is gone."""
        return self.of_page(path, Metadata())


def _values(names: tuple[str, ...], metadata: Metadata) -> set[str]:
    values: set[str] = set()
    for name, datum in metadata.values.items():
        if name.lower() not in names:
            continue
        scalars = datum.node.items if datum.node.items is not None else [datum.node]
        if any(scalar.items is not None or scalar.entries is not None for scalar in scalars):
            raise VisibilityUndecidable(name)
        values |= {(scalar.value or "").strip().casefold() for scalar in scalars}
    return values
