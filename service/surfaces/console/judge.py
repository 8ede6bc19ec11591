"""Judging blind: the first hits of two ways of asking, mixed, without their places, scores or origin, each graded.

The grades become a set that `evaluate` reads. The order is made of the question and the uids alone, so that it tells
nothing of either ranking, and is the same for everybody.
"""

import asyncio
import hashlib
from collections.abc import Iterable, Sequence
from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from service.domain.errors import QueryEmpty, QueryMalformed, Refused, Unavailable
from service.domain.principal import Principal, Scope
from service.domain.requests import well_formed
from service.domain.results import Hit
from service.ports import Judgments
from service.surfaces.audit import Audit
from service.surfaces.console import failed, rendered
from service.surfaces.console.compare import read_sides
from service.surfaces.console.links import link
from service.surfaces.console.search_page import filter_values, read_filters
from service.surfaces.dependencies import Tools, require
from service.tools import catalogue

PATH = "/judge"

DEPTH = 10
"""First hits of each side that are judged."""

GRADES = ((0, "no use"), (1, "touches it"), (2, "helps"), (3, "answers it"))

pages = APIRouter(include_in_schema=False)

Operator = Annotated[Principal, require(Scope.OPERATE)]


def mixed(question: str, sides: Iterable[Sequence[Hit]]) -> list[Hit]:
    """Each uid among the sides' first hits, once."""
    found = {hit.uid: hit for hits in sides for hit in hits[:DEPTH]}
    return sorted(found.values(), key=lambda hit: hashlib.sha256(f"{question}\0{hit.uid}".encode()).digest())


@pages.get(PATH)
async def judge_page(request: Request, toolbox: Tools, caller: Operator) -> Response:
    """`q`, `filter` and both sides as `/compare` has them; `saved`: so many were kept just now."""
    judgments: Judgments | None = request.app.state.judgments
    parameters = request.query_params
    text, sides = parameters.get("q", "").strip(), read_sides(parameters)
    filters = read_filters(parameters)
    said = [pair for side in sides for pair in side.pairs()] + [("filter", f"{n}={v}") for n, v in filters]
    content = _content() | {"text": text, "said": said, "saved": parameters.get("saved", "")}
    try:
        if judgments is not None:
            content["kept"] = await asyncio.to_thread(judgments.count)
            if text:
                asked = [side.request(text, filter_values(filters)) for side in sides]
                results = await asyncio.gather(*(toolbox.call(catalogue.SEARCH, one, caller) for one in asked))
                content["hits"] = mixed(text, (result.hits for result in results))
    except (Refused, Unavailable) as error:
        return failed(request, "judge.html", content, error)
    return rendered("judge.html", content)


@pages.post(PATH)
async def judge(request: Request, _caller: Operator) -> Response:
    """Takes `q` and, for each hit, `uid.N` with `grade.N`; what has no grade is not judged."""
    judgments: Judgments | None = request.app.state.judgments
    content = _content()
    if judgments is None:
        return rendered("judge.html", content, 503)
    try:
        content["kept"] = await asyncio.to_thread(judgments.count)
        form = parse_qs((await request.body()).decode("utf-8", "replace"), max_num_fields=8 * DEPTH)
        question, grades = read_grades(form)
        await asyncio.to_thread(judgments.add, question, grades)
    except ValueError:
        return failed(request, "judge.html", content, QueryMalformed("The form holds more fields than there are hits."))
    except (Refused, Unavailable) as error:
        return failed(request, "judge.html", content, error)
    audit: Audit = request.app.state.audit
    audit.write("judged", "done", grades=len(grades))
    return RedirectResponse(link(PATH, saved=str(len(grades))), 303)


def _content() -> dict[str, Any]:
    return {"text": "", "said": [], "grades": GRADES, "hits": [], "kept": None, "saved": "", "problem": None}


def read_grades(form: dict[str, list[str]]) -> tuple[str, dict[str, int]]:
    """The question, and the grade of each uid. Raises QueryEmpty, QueryMalformed."""
    question = " ".join(well_formed(form.get("q", [""])[0]).split())
    if not question:
        raise QueryEmpty("There is no question to judge.")
    grades: dict[str, int] = {}
    for number in range(2 * DEPTH):
        grade, uid = form.get(f"grade.{number}", [""])[0], form.get(f"uid.{number}", [""])[0]
        if not grade:
            continue
        if grade not in ("0", "1", "2", "3"):
            raise QueryMalformed("A grade is 0, 1, 2 or 3.")
        if not uid or len(uid) > _LONGEST or not well_formed(uid).isprintable():
            raise QueryMalformed("A judged uid is a line of text.")
        grades[uid] = int(grade)
    if not grades:
        raise QueryEmpty("Nothing was graded: choose a grade for at least one page.")
    return question, grades


_LONGEST = 2_000
"""Characters of a uid: a longer one is no page's, and the folder is bounded."""
