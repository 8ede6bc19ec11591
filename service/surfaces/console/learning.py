"""The way to a goal as a picture: each step a row, what it requires an arc to it, its minutes a bar."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from fastapi import APIRouter, Request
from starlette.datastructures import QueryParams
from starlette.responses import Response

from service.domain.errors import NodeUnknown, Refused, Unavailable
from service.domain.requests import LearningPathRequest
from service.domain.results import LearningStep
from service.surfaces.console import failed, rendered
from service.surfaces.console.links import encoded
from service.surfaces.console.profile import LEVELS, several
from service.surfaces.console.starts import alike, starting_points
from service.surfaces.dependencies import Caller, Tools
from service.tools import catalogue

PATH = "/learning-path"

ROW = 64
"""Height of a step in the picture's units; the style sheet gives a step of the list 4rem."""

WIDTH = 72
_STEM = 54
_RADIUS = 13

pages = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class PathLink:
    """All that the page's address says; `known` are uids with commas between them."""

    goal: str = ""
    known: str = ""
    level: str = ""
    minutes: str = ""
    locale: str = ""

    @classmethod
    def read(cls, parameters: QueryParams) -> "PathLink":
        return cls(*(parameters.get(name, "").strip() for name in cls.__slots__))

    def request(self) -> LearningPathRequest:
        minutes = int(self.minutes) if self.minutes.isascii() and self.minutes.isdigit() else 0
        return LearningPathRequest(
            goal=self.goal,
            locale=self.locale or None,
            known_skills=several(self.known),
            level=self.level or None,
            minutes=min(minutes, _LONGEST) or None,
        )

    def knowing(self, uid: str) -> str:
        """The same way for somebody who knows this too."""
        given = [("goal", self.goal), ("known", ",".join([*several(self.known), uid]))]
        given += [(n, v) for n in ("level", "minutes", "locale") if (v := getattr(self, n))]
        return f"{PATH}?{encoded(tuple(given))}"


_LONGEST = 1_000_000


@dataclass(frozen=True, slots=True)
class Arc:
    """From a step down to one that requires it, as a path's `d`."""

    shape: str
    long: bool


@dataclass(frozen=True)
class Picture:
    """Dots are the steps' centres, in units of which a row has ROW."""

    height: int
    dots: list[tuple[int, int]]
    arcs: list[Arc]


def picture(steps: Sequence[LearningStep]) -> Picture:
    """A prerequisite of the very next step is a straight stem, another one an arc, the wider the further it reaches."""
    at = {step.uid: number for number, step in enumerate(steps)}
    arcs = []
    for number, step in enumerate(steps):
        for uid in step.required_by:
            if (goal := at.get(uid, -1)) <= number:
                continue
            top, bottom = number * ROW + ROW // 2, goal * ROW + ROW // 2
            if goal == number + 1:
                arcs.append(Arc(f"M{_STEM} {top + _RADIUS}V{bottom - _RADIUS}", False))
            else:
                reach = min(_STEM - _RADIUS - 4, 10 + 6 * (goal - number))
                edge = _STEM - _RADIUS
                bend = edge - reach
                arcs.append(Arc(f"M{edge} {top}C{bend} {top} {bend} {bottom} {edge} {bottom}", True))
    return Picture(len(steps) * ROW, [(_STEM, n * ROW + ROW // 2) for n in range(len(steps))], arcs)


@pages.get(PATH)
async def learning_path_page(request: Request, toolbox: Tools, caller: Caller) -> Response:
    """`goal` is a uid, or a skill's title; `known`, `level`, `minutes`, `locale` are the learner's."""
    address = PathLink.read(request.query_params)
    content: dict[str, Any] = {"link": address, "levels": LEVELS, "result": None, "problem": None}
    content |= {"starts": (), "alike": ()}
    if not address.goal:
        return rendered("learning_path.html", content | {"starts": await starting_points(toolbox, caller)})
    try:
        result = await toolbox.call(catalogue.LEARNING_PATH, address.request(), caller)
    except NodeUnknown as error:
        content["alike"] = await alike(address.goal, toolbox, caller)
        return failed(request, "learning_path.html", content, error)
    except (Refused, Unavailable) as error:
        return failed(request, "learning_path.html", content, error)
    titles = {step.uid: step.title for step in result.steps}
    longest = max((step.minutes or 0 for step in result.steps), default=0)
    drawn = {"picture": picture(result.steps), "width": WIDTH, "titles": titles, "longest": longest}
    return rendered("learning_path.html", content | {"result": result, **drawn})
