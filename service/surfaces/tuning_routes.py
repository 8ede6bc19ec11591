"""A workspace's tuning over REST, as a resource whose entity tag is its version. For operators.

    GET  /v1/tuning?workspace=…&version=…                  TuningResult, ETag: "VERSION"
    PUT  /v1/tuning?workspace=…&reason=…    If-Match: "VERSION", TuningContent → TuningResult, ETag: the new "VERSION"
    GET  /v1/tuning/history?workspace=…&limit=…            TuningHistoryResult
    GET  /v1/tuning/difference?workspace=…&before=…&after=…   TuningDifferenceResult
    POST /v1/tuning/rollback                               RollbackTuningRequest → TuningResult

The POST, and one for each of the others, are the tools of `catalogue.OPERATOR_TOOLS`.
"""

import re
from typing import Annotated

from fastapi import APIRouter, Header, Query
from pydantic import ConfigDict
from starlette.responses import Response

from service.domain.graph import DEFAULT_WORKSPACE
from service.domain.principal import Principal, Scope
from service.domain.requests import Text
from service.domain.tuning import (
    ReplaceTuningRequest,
    TuningContent,
    TuningDifferenceRequest,
    TuningHistoryRequest,
    TuningRequest,
    TuningResult,
)
from service.surfaces.dependencies import Tools, require
from service.surfaces.encoding import encode
from service.surfaces.problems import VersionRequired
from service.surfaces.rest import StrictRoute
from service.tools import catalogue

routes = APIRouter(prefix="/v1", route_class=StrictRoute, include_in_schema=False)

Operator = Annotated[Principal, require(Scope.OPERATE)]

_VERSION = re.compile(r'(?:W/)?"(0|[1-9][0-9]{0,9})"', re.ASCII)


class TuningQuery(TuningRequest):
    """A version, in a link."""

    model_config = ConfigDict(strict=False)


class HistoryQuery(TuningHistoryRequest):
    """The versions, in a link."""

    model_config = ConfigDict(strict=False)


class DifferenceQuery(TuningDifferenceRequest):
    """Two versions, in a link."""

    model_config = ConfigDict(strict=False)


@routes.get("/tuning")
async def show(query: Annotated[TuningQuery, Query()], toolbox: Tools, caller: Operator) -> Response:
    request = TuningRequest(workspace=query.workspace, version=query.version)
    return _tagged(await toolbox.call(catalogue.TUNING, request, caller))


@routes.put("/tuning")
async def replace(
    content: TuningContent,
    toolbox: Tools,
    caller: Operator,
    workspace: Annotated[Text, Query()] = DEFAULT_WORKSPACE,
    reason: Annotated[Text, Query()] = "",
    if_match: Annotated[str, Header()] = "",
) -> Response:
    """`If-Match: *` names no version, and so is none: it would undo what it has not seen."""
    named = _VERSION.fullmatch(if_match.strip())
    if named is None:
        raise VersionRequired
    request = ReplaceTuningRequest(
        workspace=workspace,
        version=int(named[1]),
        reason=reason,
        pins=content.pins,
        synonyms=content.synonyms,
    )
    return _tagged(await toolbox.call(catalogue.REPLACE_TUNING, request, caller))


@routes.get("/tuning/history")
async def history(query: Annotated[HistoryQuery, Query()], toolbox: Tools, caller: Operator) -> Response:
    request = TuningHistoryRequest(workspace=query.workspace, limit=query.limit)
    return Response(
        encode(await toolbox.call(catalogue.TUNING_HISTORY, request, caller)), media_type="application/json"
    )


@routes.get("/tuning/difference")
async def difference(query: Annotated[DifferenceQuery, Query()], toolbox: Tools, caller: Operator) -> Response:
    request = TuningDifferenceRequest(workspace=query.workspace, before=query.before, after=query.after)
    result = await toolbox.call(catalogue.TUNING_DIFFERENCE, request, caller)
    return Response(encode(result), media_type="application/json")


def _tagged(result: TuningResult) -> Response:
    headers = {"ETag": f'"{result.version}"', "Cache-Control": "private, no-cache"}
    return Response(encode(result), headers=headers, media_type="application/json")
