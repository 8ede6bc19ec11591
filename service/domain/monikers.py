"""Product versions: monikers (`net-maui-8.0`) and the ranges that pages declare (`>=net-8.0 <=net-10.0 || vs-2022`).

A moniker's place is its family and its version, never the order of the strings.
"""

import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from math import inf

_VERSIONED = re.compile(
    r"(?P<family>.*?[^0-9.-])-?(?P<version>\d+(?:\.\d+)*)(?:[-.]?(?P<stage>alpha|beta|preview|rc)[-.]?(?P<step>\d*))?"
)
_ENDLESS = re.compile(r"(?P<family>.+)-(?:current|latest)")
_STAGES = ("alpha", "beta", "preview", "rc")
_COMPONENTS = ((10**11, 9_999), (10**8, 999), (10**3, 99_999))
"""What major, minor and patch count, and the highest of each: all of it stays exact in JSON's numbers."""
_STEP_CAP = 99
_ENDLESS_ORDER = 10**15

_LONGEST_NAME = 200
_MOST_ALTERNATIVES = 100

_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
    "=": operator.eq,
}


class MonikerInvalid(ValueError):
    """A range that can't be read; the message names the part at fault."""


@dataclass(frozen=True, slots=True, order=True)
class Moniker:
    """`order` compares within one family: a later version is greater; a preview comes before its release.

    It is the version as a number, so that a query can ask for it: major · 10¹¹ + minor · 10⁸ + patch · 10³, and a
    little less for a preview. 2.0 is 2 · 10¹¹.
    """

    family: str
    order: int
    name: str

    @classmethod
    def parse(cls, name: str) -> "Moniker":
        """Never fails: a name without a version is a family of its own."""
        if endless := _ENDLESS.fullmatch(name):
            return cls(endless["family"], _ENDLESS_ORDER, name)
        versioned = _VERSIONED.fullmatch(name)
        if versioned is None:
            return cls(name, 0, name)
        parts = [int(part[:9]) for part in versioned["version"].split(".")]
        order = sum(min(part, cap) * worth for part, (worth, cap) in zip(parts, _COMPONENTS, strict=False))
        order -= _before_release(versioned["stage"], versioned["step"])
        return cls(versioned["family"], order, name)


@dataclass(frozen=True, slots=True)
class Bound:
    comparison: str
    moniker: Moniker

    def holds(self, moniker: Moniker) -> bool:
        same_family = moniker.family == self.moniker.family
        return same_family and _COMPARISONS[self.comparison](moniker.order, self.moniker.order)

    @property
    def stretch(self) -> "_Stretch":
        """The first and the last order that it allows."""
        order = self.moniker.order
        first = {">": order + 1, ">=": order, "=": order}.get(self.comparison, -inf)
        last = {"<": order - 1, "<=": order, "=": order}.get(self.comparison, inf)
        return first, last

    def __str__(self) -> str:
        return ("" if self.comparison == "=" else self.comparison) + self.moniker.name


@dataclass(frozen=True, slots=True)
class MonikerRange:
    """A disjunction of conjunctions of bounds. Bounds of one conjunction on different families can't all hold."""

    alternatives: tuple[tuple[Bound, ...], ...]

    @classmethod
    def parse(cls, text: str) -> "MonikerRange":
        """Raises MonikerInvalid."""
        alternatives = tuple(_conjunction(part) for part in text.split("||"))
        return cls(alternatives)

    @property
    def named(self) -> tuple[Moniker, ...]:
        """The monikers that the expression spells out, each once."""
        return tuple(dict.fromkeys(bound.moniker for bounds in self.alternatives for bound in bounds))

    def holds(self, moniker: Moniker) -> bool:
        return any(all(bound.holds(moniker) for bound in bounds) for bounds in self.alternatives)

    def within(self, outer: "MonikerRange") -> "MonikerRange | None":
        """The part of it that lies in the other range too; itself where all of it does, None where nothing does.

        A range of very many alternatives is not taken apart.
        """
        if max(len(self.alternatives), len(outer.alternatives)) > _MOST_ALTERNATIVES:
            return self
        parts = [part for inner in self.alternatives for part in _shared(inner, outer.alternatives)]
        return MonikerRange(tuple(dict.fromkeys(parts))) if parts else None

    def __str__(self) -> str:
        return " || ".join(" ".join(map(str, bounds)) for bounds in self.alternatives)

    def expand(self, known: Iterable[Moniker]) -> tuple[Moniker, ...]:
        """The known monikers inside the range, by family and version."""
        return tuple(sorted({moniker for moniker in known if self.holds(moniker)}))


_Bounds = tuple[Bound, ...]
_Stretch = tuple[float, float]


def _shared(inner: _Bounds, outer: Iterable[_Bounds]) -> list[_Bounds]:
    """What one alternative has in common with others: the narrower of the two, or both where neither is."""
    parts: list[_Bounds] = []
    here = _stretch(inner)
    for bounds in outer:
        there = _stretch(bounds)
        if here is None or there is None or inner[0].moniker.family != bounds[0].moniker.family:
            continue
        first, last = max(here[0], there[0]), min(here[1], there[1])
        if (first, last) == here:
            return [inner]
        if first <= last:
            parts.append(bounds if (first, last) == there else _joined(inner, bounds))
    return parts


def _joined(inner: _Bounds, outer: _Bounds) -> _Bounds:
    """Of the bounds of both those that decide: from, then to."""
    both = (*inner, *outer)
    first, last = max(both, key=lambda bound: bound.stretch[0]), min(both, key=lambda bound: bound.stretch[1])
    return tuple(dict.fromkeys((first, last)))


def _stretch(bounds: _Bounds) -> _Stretch | None:
    """The orders that all of the bounds allow, None where they allow none."""
    if len({bound.moniker.family for bound in bounds}) != 1:
        return None
    stretches = [bound.stretch for bound in bounds]
    first, last = max(first for first, _ in stretches), min(last for _, last in stretches)
    return (first, last) if first <= last else None


def _conjunction(text: str) -> tuple[Bound, ...]:
    bounds = tuple(_bound(word) for word in _words(text))
    if not bounds:
        raise MonikerInvalid("an empty alternative; write a moniker on each side of '||'")
    return bounds


def _words(text: str) -> list[str]:
    """Comparisons may stand apart from their monikers: `>= net-8.0` is `>=net-8.0`."""
    spaced = re.sub(r"(>=|<=|>|<|=)\s+", r"\1", text.replace("&&", " ").replace(",", " "))
    return spaced.split()


def _bound(word: str) -> Bound:
    comparison = next((sign for sign in _COMPARISONS if word.startswith(sign)), "")
    name = word.removeprefix(comparison)
    if not name or len(name) > _LONGEST_NAME or not re.fullmatch(r"[\w.\-]+", name):
        raise MonikerInvalid(f"'{word}' is no moniker, nor a moniker behind one of {' '.join(_COMPARISONS)}")
    return Bound(comparison or "=", Moniker.parse(name))


def _before_release(stage: str | None, step: str | None) -> int:
    """How far a preview lies before its release: less than a patch, 0 for the release itself."""
    if stage is None:
        return 0
    return (len(_STAGES) - _STAGES.index(stage)) * (_STEP_CAP + 1) - min(int(step[:3] or 0) if step else 0, _STEP_CAP)
