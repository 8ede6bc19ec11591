"""Tuning in the console: what is pinned, which words mean the same, and who changed it; forms for each change.

A form makes its one change to whatever version is current, so that two editors lose nothing of each other's; going back
is refused where another was faster.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import Annotated, Any
from urllib.parse import parse_qs

from fastapi import APIRouter, Request
from pydantic import ValidationError
from starlette.responses import RedirectResponse, Response

from service.domain.errors import QueryMalformed, Refused, Unavailable
from service.domain.graph import DEFAULT_WORKSPACE
from service.domain.principal import Principal, Scope
from service.domain.tuning import (
    Edit,
    PinnedResult,
    RollbackTuningRequest,
    Synonym,
    TuningHistoryRequest,
    TuningRequest,
    add_synonym,
    pin,
    remove_pin,
    remove_synonym,
)
from service.surfaces.console import failed, rendered
from service.surfaces.console.links import link
from service.surfaces.dependencies import Tools, require
from service.surfaces.tuning import amend
from service.tools import catalogue
from service.tools.toolbox import Toolbox

PATH = "/tuning"
SHOWN = 20
"""Versions of the history."""

_FIELDS = 32

pages = APIRouter(include_in_schema=False)

Operator = Annotated[Principal, require(Scope.OPERATE)]
Form = Mapping[str, str]


@pages.get(PATH)
async def tuning_page(request: Request, toolbox: Tools, caller: Operator) -> Response:
    """`workspace`; `saved`: the version that was made just now."""
    parameters = request.query_params
    workspace = parameters.get("workspace", "").strip() or DEFAULT_WORKSPACE
    content = _content(workspace) | {"saved": parameters.get("saved", "")}
    try:
        return rendered("tuning.html", content | await _read(toolbox, caller, workspace))
    except (Refused, Unavailable) as error:
        return failed(request, "tuning.html", content, error)


@pages.post(PATH)
async def change(request: Request, toolbox: Tools, caller: Operator) -> Response:
    """Takes `workspace`, `reason`, and as `action` one of EDITS, or `rollback` with `to` and `version`."""
    content = _content(DEFAULT_WORKSPACE)
    try:
        form = _form(await request.body())
        workspace = form.get("workspace") or DEFAULT_WORKSPACE
        content = _content(workspace)
        made = await _changed(form, workspace, toolbox, caller)
    except (ValidationError, ValueError):
        return await _again(request, toolbox, caller, content, QueryMalformed("A field is missing, or is none."))
    except (Refused, Unavailable) as error:
        return await _again(request, toolbox, caller, content, error)
    named = None if workspace == DEFAULT_WORKSPACE else workspace
    return RedirectResponse(link(PATH, workspace=named, saved=str(made)), 303)


async def _changed(form: Form, workspace: str, toolbox: Toolbox, caller: Principal) -> int:
    """The version that was made. Raises ValueError for a form that is none."""
    action, reason = form.get("action", ""), form.get("reason", "")
    if action == "rollback":
        to, version = int(form.get("to", "")), int(form.get("version", ""))
        request = RollbackTuningRequest(workspace=workspace, to=to, version=version, reason=reason)
        return (await toolbox.call(catalogue.ROLLBACK_TUNING, request, caller)).version
    if action not in EDITS:
        raise ValueError
    return (await amend(toolbox, caller, workspace, EDITS[action](form), reason)).version


def _pinned(form: Form) -> PinnedResult:
    return PinnedResult(
        words=form.get("words", ""),
        match="exact" if form.get("match") == "exact" else "all",
        uid=form.get("uid", ""),
        locale=form.get("locale") or None,
        place=int(form.get("place") or 1),
        until=form.get("until") or None,
        note=form.get("note", ""),
    )


def _synonym(form: Form) -> Synonym:
    terms = [term for part in form.get("terms", "").split(",") if (term := part.strip())]
    return Synonym(terms=terms, of=form.get("of") or None)


EDITS: Mapping[str, Callable[[Form], Edit]] = {
    "pin": lambda form: pin(_pinned(form)),
    "unpin": lambda form: remove_pin(PinnedResult.model_validate_json(form.get("entry", ""))),
    "synonym": lambda form: add_synonym(_synonym(form)),
    "no synonym": lambda form: remove_synonym(Synonym.model_validate_json(form.get("entry", ""))),
}


def _form(body: bytes) -> dict[str, str]:
    """Raises ValueError."""
    fields = parse_qs(body.decode("utf-8", "replace"), max_num_fields=_FIELDS)
    return {name: values[0].strip() for name, values in fields.items()}


async def _read(toolbox: Toolbox, caller: Principal, workspace: str) -> dict[str, Any]:
    tuning = await toolbox.call(catalogue.TUNING, TuningRequest(workspace=workspace), caller)
    history = TuningHistoryRequest(workspace=workspace, limit=SHOWN)
    return {"tuning": tuning, "versions": (await toolbox.call(catalogue.TUNING_HISTORY, history, caller)).versions}


async def _again(
    request: Request, toolbox: Toolbox, caller: Principal, content: dict[str, Any], error: Exception
) -> Response:
    """The page with the reason, and what is current below it, where that can be had."""
    with suppress(Refused, Unavailable):
        content = content | await _read(toolbox, caller, content["workspace"])
    return failed(request, "tuning.html", content, error)


def _content(workspace: str) -> dict[str, Any]:
    return {"workspace": workspace, "tuning": None, "versions": [], "saved": "", "problem": None}
