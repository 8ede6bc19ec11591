"""Two ways of asking one question, side by side: what a request can say, said twice, and which places that moves."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from starlette.datastructures import QueryParams
from starlette.responses import Response

from service.domain.errors import Refused, Unavailable
from service.domain.requests import SearchRequest
from service.domain.results import Hit
from service.retrieval.signals import SIGNALS
from service.surfaces.console import failed, rendered
from service.surfaces.console.links import encoded
from service.surfaces.console.profile import ProfileFields
from service.surfaces.console.search_page import filter_values, read_filters
from service.surfaces.dependencies import Caller, Instruments, Tools
from service.tools import catalogue

PATH = "/compare"
SHOWN = 10
REACH = 50
"""Places among which a moved hit is looked for on the other side."""

SWITCHES = ("prior", *SIGNALS)

pages = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Side:
    """One configuration. `prefix` is what its fields in the address begin with; `off` are switched-off signals."""

    name: str
    prefix: str
    profile: ProfileFields
    off: tuple[str, ...]

    @classmethod
    def read(cls, name: str, parameters: QueryParams) -> "Side":
        prefix = f"{name.lower()}."
        off = parameters.getlist(f"{prefix}off")
        return cls(name, prefix, ProfileFields.read(parameters, prefix), tuple(s for s in SWITCHES if s in off))

    def pairs(self) -> list[tuple[str, str]]:
        """What it says, for an address or a form's hidden fields."""
        return [*((f"{self.prefix}off", signal) for signal in self.off), *self.profile.pairs(self.prefix)]

    def request(self, text: str, filters: dict[str, list[str]]) -> SearchRequest:
        """Nobody asked it for its answer, so that it is not kept as a run."""
        return SearchRequest(
            text=text,
            limit=REACH,
            filter=filters,
            profile=self.profile.profile(),
            current_document=self.profile.document or None,
            without_signals=list(self.off),
            explain=True,
            logged=False,
        )


def read_sides(parameters: QueryParams) -> list[Side]:
    """Both; without either saying anything, the right one is without the graph's prior."""
    sides = [Side.read(name, parameters) for name in ("A", "B")]
    if not any(side.off or not side.profile.is_empty for side in sides):
        sides[1] = Side("B", "b.", ProfileFields(), ("prior",))
    return sides


@dataclass(frozen=True, slots=True)
class Placed:
    """A hit of one side. `there` is its place on the other, from 1, or None where it is not in reach."""

    hit: Hit
    place: int
    there: int | None

    @property
    def moved(self) -> int:
        """Places that it stands higher than on the other side; 0 too where it is not there."""
        return 0 if self.there is None else self.there - self.place

    @property
    def said(self) -> str:
        if self.there is None:
            return "only here"
        if self.moved == 0:
            return "same place"
        return f"{abs(self.moved)} {'higher' if self.moved > 0 else 'lower'} than there"

    @property
    def mark(self) -> str:
        if self.there is None:
            return "new"
        return f"{'▲' if self.moved > 0 else '▼'} {abs(self.moved)}" if self.moved else "="


def placed(here: Sequence[Hit], there: Sequence[Hit], shown: int = SHOWN) -> list[Placed]:
    """The first hits of `here`, each with its place in `there`."""
    places = {(hit.uid, hit.locale): place for place, hit in enumerate(there, start=1)}
    return [Placed(hit, place, places.get((hit.uid, hit.locale))) for place, hit in enumerate(here[:shown], start=1)]


@pages.get(PATH)
async def compare_page(request: Request, toolbox: Tools, caller: Caller, metrics: Instruments) -> Response:
    """`q`, `filter` (repeated); for each side `a.` or `b.` and `off` (repeated), `role`, `level`, `document` and so on.

    Without either side saying anything, the right one shows what the graph's prior does: it is off there.
    """
    text = request.query_params.get("q", "")
    sides = read_sides(request.query_params)
    filters = read_filters(request.query_params)
    content: dict[str, Any] = {
        "text": text,
        "filters": filters,
        "sides": sides,
        "switches": SWITCHES,
        "columns": [],
        "problem": None,
    }
    if not text.strip():
        return rendered("compare.html", content)
    try:
        asked = [side.request(text, filter_values(filters)) for side in sides]
        left, right = await asyncio.gather(*(toolbox.call(catalogue.SEARCH, one, caller) for one in asked))
    except (Refused, Unavailable) as error:
        return failed(request, "compare.html", content, error)
    for result in (left, right):
        metrics.search(result)
    columns = [
        (sides[0], left, placed(left.hits, right.hits)),
        (sides[1], right, placed(right.hits, left.hits)),
    ]
    differ = sum(one.there != one.place for one in columns[0][2])
    told = (pair for side in sides for pair in side.pairs())
    said = (("q", text), *(("filter", f"{name}={value}") for name, value in filters), *told)
    judged = f"/judge?{encoded(said)}"
    return rendered("compare.html", content | {"columns": columns, "differ": differ, "judge_link": judged})
