"""The log of runs, for those who run the service: which searches were answered how, one of them whole, and again."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.datastructures import QueryParams
from starlette.responses import Response

from service.domain.errors import Refused, Unavailable
from service.domain.principal import Principal, Scope
from service.domain.requests import ReplayRequest, RunRequest, RunsRequest
from service.domain.results import RunSummary
from service.surfaces.console import failed, rendered
from service.surfaces.console.bars import waterfalls
from service.surfaces.console.links import encoded
from service.surfaces.dependencies import Tools, require
from service.tools import catalogue

PATH = "/runs"
SHOWN = 50
LOOKED_THROUGH = 200
"""Latest runs among which those of a kind are looked for."""

KINDS = {"": "all", "empty": "without a hit", "degraded": "degraded"}

pages = APIRouter(include_in_schema=False)


@dataclass(frozen=True, slots=True)
class RunsLink:
    """All that the list's address says: `show` one of KINDS, `text` a part of the words."""

    show: str = ""
    text: str = ""

    @classmethod
    def read(cls, parameters: QueryParams) -> "RunsLink":
        show = parameters.get("show", "")
        return cls(show=show if show in KINDS else "", text=parameters.get("text", "").strip())

    def of(self, show: str) -> "RunsLink":
        return replace(self, show=show)

    def matching(self, runs: Sequence[RunSummary]) -> list[RunSummary]:
        part = self.text.casefold()
        return [
            run
            for run in runs
            if (self.show != "empty" or not run.hits)
            and (self.show != "degraded" or run.degraded)
            and part in (run.text or "").casefold()
        ]

    def __str__(self) -> str:
        given = tuple((name, value) for name, value in (("show", self.show), ("text", self.text)) if value)
        return PATH + (f"?{encoded(given)}" if given else "")


@pages.get(PATH)
async def runs_page(
    request: Request,
    toolbox: Tools,
    caller: Annotated[Principal, require(Scope.OPERATE)],
    run_id: Annotated[str, Query(alias="id")] = "",
    replay: Annotated[str, Query()] = "",
    text: Annotated[str, Query()] = "",
) -> Response:
    """`id` shows one run, `replay` asks it again, with `text` where its words were not kept; else the list."""
    if run_id:
        return await _one(request, toolbox, caller, run_id.strip(), replay=bool(replay), text=text.strip() or None)
    address = RunsLink.read(request.query_params)
    content: dict[str, Any] = {"link": address, "kinds": KINDS, "runs": None, "problem": None}
    try:
        result = await toolbox.call(catalogue.RUNS, RunsRequest(limit=LOOKED_THROUGH), caller)
    except (Refused, Unavailable) as error:
        return failed(request, "runs.html", content, error)
    found = address.matching(result.runs)
    told = {"runs": found[:SHOWN], "found": len(found), "kept": len(result.runs), "withheld": result.withheld}
    return rendered("runs.html", content | told)


async def _one(
    request: Request, toolbox: Tools, caller: Principal, run_id: str, *, replay: bool, text: str | None
) -> Response:
    content: dict[str, Any] = {"run": None, "replayed": None, "problem": None, "run_id": run_id, "text": text or ""}
    try:
        content["run"] = run = await toolbox.call(catalogue.RUN, RunRequest(run_id=run_id), caller)
        content["hits"] = list(zip(run.hits, waterfalls(run), strict=True))
        if replay:
            asked = ReplayRequest(run_id=run_id, text=text if run.text is None else None)
            content["replayed"] = await toolbox.call(catalogue.REPLAY, asked, caller)
    except (Refused, Unavailable) as error:
        return failed(request, "run.html", content, error)
    return rendered("run.html", content)
