"""A node and what its edges lead to, to walk from one to the next."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from service.domain.errors import NodeUnknown, Refused, Unavailable
from service.domain.requests import NodeRequest
from service.domain.results import EdgeResult
from service.surfaces.console import failed, rendered
from service.surfaces.console.edges import each_once
from service.surfaces.console.starts import alike, starting_points
from service.surfaces.dependencies import Caller, Tools
from service.tools import catalogue

PATH = "/neighbourhood"

DRAWN = 8
"""Neighbours of one type and direction that are drawn; the others stand in the list below."""

ROW = 40
"""Height of a row in the picture's units; the style sheet gives a row 2.5rem."""

SPAN = 72

pages = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class Group:
    """The edges of one type and direction; `drawn` of them are in the picture."""

    type: str
    edges: list[EdgeResult]

    @property
    def drawn(self) -> list[EdgeResult]:
        return self.edges[:DRAWN]

    @property
    def left(self) -> int:
        return len(self.edges) - len(self.drawn)


@dataclass(frozen=True)
class Side:
    """What comes in, or what goes out. `lines` lead from the node's own height to each neighbour's: type, and `d`."""

    direction: str
    groups: list[Group]
    lines: list[tuple[str, str]]
    rows: int


def sides(edges: Sequence[EdgeResult]) -> tuple[Side, Side]:
    """What comes in on the left, what goes out on the right, of one height."""
    inward, outward = (_groups(edges, direction) for direction in ("in", "out"))
    rows = max(_rows(inward), _rows(outward), 1)
    return _side("in", inward, rows), _side("out", outward, rows)


def _groups(edges: Sequence[EdgeResult], direction: str) -> list[Group]:
    found: dict[str, list[EdgeResult]] = {}
    for edge in each_once(edges):
        if edge.direction == direction:
            found.setdefault(edge.type, []).append(edge)
    return [Group(type, found[type]) for type in sorted(found)]


def _rows(groups: Sequence[Group]) -> int:
    """A group's heading and, where some are left out, a last line, are rows too."""
    return sum(1 + len(group.drawn) + (group.left > 0) for group in groups)


def _side(direction: str, groups: list[Group], rows: int) -> Side:
    middle = rows * ROW // 2
    lines = []
    row = (rows - _rows(groups)) / 2
    for group in groups:
        row += 1
        for _ in group.drawn:
            there = int((row + 0.5) * ROW)
            near, far = (SPAN, 0) if direction == "in" else (0, SPAN)
            half = SPAN // 2
            lines.append((group.type, f"M{near} {middle}C{half} {middle} {half} {there} {far} {there}"))
            row += 1
        row += group.left > 0
    return Side(direction, groups, lines, rows)


@pages.get(PATH)
async def neighbourhood_page(
    request: Request,
    toolbox: Tools,
    caller: Caller,
    uid: Annotated[str, Query()] = "",
    locale: Annotated[str | None, Query()] = None,
) -> Response:
    """One node's edges, by type and direction, each leading to the next node's own neighbourhood."""
    content: dict[str, Any] = {"node": None, "uid": uid, "problem": None, "starts": (), "alike": ()}
    if not uid.strip():
        return rendered("neighbourhood.html", content | {"starts": await starting_points(toolbox, caller)})
    try:
        node = await toolbox.call(catalogue.FETCH, NodeRequest(uid=uid.strip(), locale=locale), caller)
    except NodeUnknown as error:
        content["alike"] = await alike(uid, toolbox, caller)
        return failed(request, "neighbourhood.html", content, error)
    except (Refused, Unavailable) as error:
        return failed(request, "neighbourhood.html", content, error)
    inward, outward = sides(node.edges)
    drawn = {"inward": inward, "outward": outward, "span": SPAN, "height": inward.rows * ROW}
    return rendered("neighbourhood.html", content | {"node": node, **drawn})
