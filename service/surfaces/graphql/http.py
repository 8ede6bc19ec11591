"""GraphQL over HTTP: POST, and GET as a link, since there is nothing but queries. One operation a request.

A client that accepts application/graphql-response+json is told by the status that nothing was executed; to others an
answer is 200 once the request could be read, as the older custom has it.
"""

from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import from_json
from starlette.responses import Response
from strawberry import Schema

from service.settings import Settings
from service.surfaces.dependencies import Caller, Instruments, Tools
from service.surfaces.encoding import encode_plain
from service.surfaces.graphql.asking import Asking
from service.surfaces.graphql.failures import DocumentInvalid, failure_of
from service.surfaces.graphql.schema import schema
from service.surfaces.problems import Problem, RequestInvalid, SurfaceRefused, problem_of

PATH = "/graphql"
MEDIA_TYPE = "application/graphql-response+json"
OLDER_MEDIA_TYPE = "application/json"


class Operation(BaseModel):
    """What the specification sends; `extensions` are nothing to us."""

    model_config = ConfigDict(frozen=True, strict=True, alias_generator=lambda name: name.replace("_n", "N"))

    query: str = Field(min_length=1)
    variables: dict[str, Any] | None = None
    operation_name: str | None = None


def routes(settings: Settings, seen: Callable[[Problem], None]) -> APIRouter:
    """`seen` is told of every problem that leaves."""
    router = APIRouter(include_in_schema=False)
    bounded = schema(settings)

    async def answer(http: Request, read: Callable[[], Operation], asking: Asking) -> Response:
        try:
            operation = read()
        except SurfaceRefused as error:
            return _refused(http, error, seen)
        try:
            return await _execute(http, bounded, operation, asking, seen)
        finally:
            await asking.close()

    @router.post(PATH, name="graphql")
    async def post(http: Request, toolbox: Tools, caller: Caller, metrics: Instruments) -> Response:
        body = await http.body()
        asking = Asking(toolbox, caller, settings, metrics.answer)
        return await answer(http, lambda: _operation(_read_json(body)), asking)

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

        return await answer(http, read, Asking(toolbox, caller, settings, metrics.answer))

    return router


def _read_json(text: bytes) -> Any:
    try:
        return from_json(text, allow_inf_nan=False)
    except ValueError as error:
        raise DocumentInvalid(f"The body is no JSON that can be read: {error}.") from None


def _operation(body: Any) -> Operation:
    try:
        return Operation.model_validate(body)
    except ValidationError as error:
        raise RequestInvalid(error, "A body is one object of query, variables and operationName.") from None


async def _execute(
    http: Request, bounded: Schema, operation: Operation, asking: Asking, seen: Callable[[Problem], None]
) -> Response:
    result = await bounded.execute(
        operation.query, operation.variables, asking, operation_name=operation.operation_name
    )
    errors = [failure_of(error, seen) for error in result.errors or ()]
    was_executed = result.data is not None or any("path" in error for error in errors)
    told: dict[str, Any] = {"errors": errors} if errors else {}
    if was_executed:
        told["data"] = result.data
    return _response(http, told, 200 if was_executed or not _is_modern(http) else 400)


def _refused(http: Request, error: SurfaceRefused, seen: Callable[[Problem], None]) -> Response:
    problem = problem_of(error)
    seen(problem)
    told = {"errors": [{"message": problem.detail, "extensions": {"code": problem.code}}]}
    return _response(http, told, 400)


def _is_modern(http: Request) -> bool:
    return MEDIA_TYPE in http.headers.get("accept", "")


def _response(http: Request, told: dict[str, Any], status: int) -> Response:
    return Response(encode_plain(told), status, media_type=MEDIA_TYPE if _is_modern(http) else OLDER_MEDIA_TYPE)
