"""The address of a search in the console, and the filters that its answer offers."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from starlette.datastructures import QueryParams

from service.domain.requests import SearchRequest
from service.domain.results import SearchResult
from service.surfaces.console.links import encoded
from service.surfaces.console.profile import ProfileFields

Pair = tuple[str, str]

_OFFERED = ("kind", "product", "level", "role", "docset")
"""Filters that are offered, in this order; others may be written into the address."""

_VALUES_OFFERED = 8


@dataclass(frozen=True, slots=True)
class SearchLink:
    """All that the page's address says."""

    text: str
    filters: tuple[Pair, ...] = ()
    cursor: str | None = None
    uid: str = ""
    typing: bool = False
    """Whether the text is still being typed: the script says so, and what it may become is not worth keeping."""
    asker: ProfileFields = field(default_factory=ProfileFields)

    @classmethod
    def read(cls, parameters: QueryParams) -> "SearchLink":
        return cls(
            text=parameters.get("q", ""),
            filters=read_filters(parameters),
            cursor=parameters.get("cursor") or None,
            uid=parameters.get("uid", "").strip(),
            typing="typing" in parameters,
            asker=ProfileFields.read(parameters),
        )

    @property
    def is_search(self) -> bool:
        return bool(self.text.strip())

    def request(self) -> SearchRequest:
        return SearchRequest(
            text=self.text,
            filter=filter_values(self.filters),
            profile=self.asker.profile(),
            current_document=self.asker.document or None,
            facets=list(_OFFERED),
            cursor=self.cursor,
            explain=True,
            logged=not self.typing,
        )

    def with_cursor(self, cursor: str | None) -> "SearchLink":
        return replace(self, cursor=cursor, uid="")

    @property
    def unfiltered(self) -> "SearchLink":
        """The same question over the whole estate."""
        return replace(self, filters=(), cursor=None, uid="")

    @property
    def compared(self) -> str:
        """The same question on the page that puts two ways of asking it side by side."""
        filters = (("filter", f"{name}={value}") for name, value in self.filters)
        return "/compare?" + encoded((("q", self.text), *filters, *self.asker.pairs("a."), *self.asker.pairs("b.")))

    def __str__(self) -> str:
        parameters = [("q", self.text), *(("filter", f"{name}={value}") for name, value in self.filters)]
        parameters += self.asker.pairs()
        parameters += [("cursor", self.cursor)] if self.cursor else []
        return "/?" + encoded(tuple(parameters))


def read_filters(parameters: QueryParams) -> tuple[Pair, ...]:
    """The address's `filter=name=value`, each once."""
    pairs = (text.partition("=") for text in parameters.getlist("filter"))
    return tuple(dict.fromkeys((name, value) for name, _, value in pairs))


def filter_values(filters: Iterable[Pair]) -> dict[str, list[str]]:
    """By name, as a request takes them."""
    values: dict[str, list[str]] = {}
    for name, value in filters:
        values.setdefault(name, []).append(value)
    return values


@dataclass(frozen=True, slots=True)
class Chip:
    """One value that a search may be narrowed to. `count` is None where nobody counted."""

    name: str
    value: str
    chosen: bool
    count: int | None

    @property
    def parameter(self) -> str:
        return f"{self.name}={self.value}"


def degradations(result: SearchResult) -> list[Pair]:
    """What could not do its part, as a headline and the reason, which may be empty."""
    in_part = {leg.leg for leg in result.explain.legs if leg.state == "degraded"} if result.explain else set()
    said = []
    for note in result.degraded:
        part, _, reason = note.partition(":")
        said.append((f"Only a part of {part}." if part in in_part else f"Answered without {part}.", reason.strip()))
    return said


def chips(link: SearchLink, result: SearchResult) -> dict[str, list[Chip]]:
    """By filter: what is chosen, then what the answer offers: its facets, or, where it counts none, what its hits are.

    A filter of one value that nobody chose narrows nothing, and is not offered.
    """
    counted = {(name, value): count for name in _OFFERED for value, count in _largest(result.facets.get(name, {}))}
    offered: Iterable[Pair] = counted or _of_hits(result)
    groups: dict[str, list[Chip]] = {}
    for pair in dict.fromkeys([*link.filters, *offered]):
        name, value = pair
        groups.setdefault(name, []).append(Chip(name, value, pair in link.filters, counted.get(pair)))
    return {
        name: groups[name] for name in sorted(groups, key=_place) if len(groups[name]) > 1 or groups[name][0].chosen
    }


def _place(name: str) -> int:
    return _OFFERED.index(name) if name in _OFFERED else len(_OFFERED)


def _largest(counts: dict[str, int]) -> list[tuple[str, int]]:
    named = {value: count for value, count in counts.items() if value}
    return sorted(named.items(), key=lambda pair: (-pair[1], pair[0]))[:_VALUES_OFFERED]


def _of_hits(result: SearchResult) -> list[Pair]:
    pairs: list[Pair] = []
    for name in ("kind", "type", "docset"):
        values = dict.fromkeys(value for hit in result.hits if (value := getattr(hit, name)))
        if len(values) > 1:
            pairs += [(name, value) for value in sorted(values)[:_VALUES_OFFERED]]
    return pairs
