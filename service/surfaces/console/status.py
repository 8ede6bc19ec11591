"""How the service stands, for those who run it: engines, what answers, how long it takes, what it could not do."""

from datetime import UTC, datetime
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from service.domain.errors import Unavailable
from service.domain.principal import Scope
from service.surfaces.console import rendered
from service.surfaces.dependencies import Instruments, Tools, require
from service.surfaces.measured import Timed, measured
from service.surfaces.problems import problem_of

PATH = "/status"

pages = APIRouter(include_in_schema=False)


@pages.get(PATH, dependencies=[require(Scope.OPERATE)])
async def status_page(request: Request, toolbox: Tools, metrics: Instruments) -> Response:
    """What can be told is told: a store that does not answer takes nothing else off the page."""
    told = measured(metrics.families())
    content: dict[str, Any] = {
        "readiness": None,
        "roots": [],
        "problem": None,
        "told": told,
        "since": _since(told.began),
    }
    status = 200
    try:
        content["readiness"] = await toolbox.readiness()
        content["roots"] = (await toolbox.roots()).roots
    except Unavailable as error:
        content["problem"] = problem = problem_of(error)
        request.app.state.problems.seen(problem)
        status = problem.status
    content["stages"] = _on_one_scale(told.stages)
    content["calls"] = _on_one_scale(told.calls)
    return rendered("status.html", content, status)


def _since(began: float) -> str:
    return datetime.fromtimestamp(began, UTC).isoformat(timespec="seconds") if began else ""


def _on_one_scale(rows: list[Timed]) -> list[dict[str, Any]]:
    """Each row with its share of the longest p99, for a bar; what no bucket holds fills it."""
    longest = max((row.p99 for row in rows if row.p99 is not None), default=1.0)
    return [
        {
            "row": row,
            "p50": 1.0 if row.p50 is None else row.p50 / longest,
            "p99": 1.0 if row.p99 is None else row.p99 / longest,
        }
        for row in rows
    ]
