"""Estates that a pipeline has read itself, taken over HTTP from callers with the scope publish.

    POST /v1/publish/missing   MissingRequest → MissingResult: which of these records the server lacks
    POST /v1/publish/records   Submission → a stream, as `service.surfaces.rest` has it

A client reads its estates, asks with their content hashes what is missing, and sends the whole manifest with the
missing records. Bodies are bounded by `publish_bytes` and `publish_upload_deadline`; the server computes every hash
itself.
"""

import asyncio
from typing import TypeVar

from fastapi import APIRouter, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel, ValidationError
from starlette.responses import Response

from service.domain.principal import Scope
from service.domain.submission import MissingRequest, Submission
from service.settings import Settings
from service.surfaces.dependencies import Tools, require
from service.surfaces.encoding import encode
from service.surfaces.http_limits import BodyBounds, Upload
from service.surfaces.progress_stream import progress_stream

MISSING = "/v1/publish/missing"
RECORDS = "/v1/publish/records"

STREAMS = frozenset({RECORDS})

Sent = TypeVar("Sent", bound=BaseModel)

may_publish = require(Scope.PUBLISH)

routes = APIRouter(include_in_schema=False, dependencies=[may_publish])


def uploads(settings: Settings) -> dict[str, Upload]:
    """The paths that take what a whole estate holds."""
    bounds = BodyBounds(settings.publish_bytes, settings.publish_upload_deadline)
    return {path: Upload(Scope.PUBLISH, bounds) for path in (MISSING, RECORDS)}


@routes.post(MISSING)
async def missing(http: Request, toolbox: Tools) -> Response:
    found = await toolbox.missing(await _sent(MissingRequest, http))
    return Response(encode(found), media_type="application/json")


@routes.post(RECORDS)
async def submit(http: Request, toolbox: Tools) -> Response:
    submission = await _sent(Submission, http)
    state = http.app.state
    return await progress_stream(lambda progress: toolbox.submit(submission, progress), state.settings, state.problems)


async def _sent(shape: type[Sent], http: Request) -> Sent:
    """The body, checked while it is parsed, and beside the event loop: it may be large."""
    try:
        return await asyncio.to_thread(shape.model_validate_json, await http.body())
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False, include_context=False)
        raise RequestValidationError([{**one, "loc": ("body", *one["loc"])} for one in found]) from None
