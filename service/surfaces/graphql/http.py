"""GraphQL over HTTP: POST, and GET as a link, since there is nothing but queries. One operation a request.

A client that accepts application/graphql-response+json is told by the status that nothing was executed; to others an
answer is 200 once the request could be read, as the older custom has it.
"""

import asyncio
from collections.abc import Callable
from types import ModuleType
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic.alias_generators import to_camel
from starlette.responses import Response

from service.settings import Settings
from service.surfaces.dependencies import Caller, Instruments, Tools
from service.surfaces.encoding import encode_plain
from service.surfaces.graphql.refusals import DocumentInvalid
from service.surfaces.links import LinkRoute
from service.surfaces.problems import MediaTypeRefused, Problem, RequestInvalid, SurfaceRefused, problem_of
from service.surfaces.strict_json import is_json, read_json

PATH = "/graphql"
MEDIA_TYPE = "application/graphql-response+json"
OLDER_MEDIA_TYPE = "application/json"


class Operation(BaseModel):
    """What the specification sends; `extensions` are nothing to us, and anything else is a misspelling."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid", alias_generator=to_camel)

    query: str = Field(min_length=1)
    variables: dict[str, Any] | None = None
    operation_name: str | None = None
    extensions: dict[str, Any] | None = None


def routes(settings: Settings, seen: Callable[[Problem], None]) -> APIRouter:
    """`seen` is told of every problem that leaves."""
    router = APIRouter(route_class=LinkRoute, include_in_schema=False)

    async def answer(
        http: Request, read: Callable[[], Operation], toolbox: Tools, caller: Caller, metrics: Instruments
    ) -> Response:
        try:
            operation = read()
        except SurfaceRefused as error:
            return _refused(http, error, seen)
        graphql = await asyncio.to_thread(_library)
        asking = graphql.Asking(toolbox, caller, settings, metrics.answer)
        told = await graphql.execute(operation.query, operation.variables, operation.operation_name, asking, seen)
        return _response(http, told, 400 if _is_modern(http) and "data" not in told else 200)

    @router.post(PATH, name="graphql")
    async def post(http: Request, toolbox: Tools, caller: Caller, metrics: Instruments) -> Response:
        body = await http.body()

        def read() -> Operation:
            if not is_json(http.headers):
                raise MediaTypeRefused
            return _operation(_read_json(body))

        return await answer(http, read, toolbox, caller, metrics)

    @router.get(PATH, name="graphql")
    async def get(
        http: Request,
        toolbox: Tools,
        caller: Caller,
        metrics: Instruments,
        query: str = "",
        variables: str = "null",
        operation_name: Annotated[str | None, Query(alias="operationName")] = None,
    ) -> Response:
        def read() -> Operation:
            held = _read_json(variables.encode())
            return _operation({"query": query, "variables": held, "operationName": operation_name})

        return await answer(http, read, toolbox, caller, metrics)

    return router


def _library() -> ModuleType:
    """Loaded by whoever asks first, and not by the server's start."""
    from service.surfaces.graphql import execution
    from service.surfaces.graphql.schema import schema

    schema()
    return execution


def _read_json(text: bytes) -> Any:
    try:
        return read_json(text)
    except ValueError as error:
        raise DocumentInvalid(f"That is no JSON that can be read: {error}.") from None


def _operation(body: Any) -> Operation:
    try:
        return Operation.model_validate(body)
    except ValidationError as error:
        raise RequestInvalid(error, "A body is one object of query, variables and operationName.") from None


def _refused(http: Request, error: SurfaceRefused, seen: Callable[[Problem], None]) -> Response:
    problem = problem_of(error)
    seen(problem)
    told = {"errors": [{"message": problem.detail, "extensions": {"code": problem.code}}]}
    return _response(http, told, 415 if isinstance(error, MediaTypeRefused) else 400)


def _is_modern(http: Request) -> bool:
    return MEDIA_TYPE in http.headers.get("accept", "")


def _response(http: Request, told: dict[str, Any], status: int) -> Response:
    return Response(encode_plain(told), status, media_type=MEDIA_TYPE if _is_modern(http) else OLDER_MEDIA_TYPE)
