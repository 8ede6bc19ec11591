"""REST: HTTP and JSON in and out of the toolbox. Translation only.

    POST /v1/{path}            each tool of `service.tools.catalogue`, its request → its result
    GET  /v1/search            ?q=…&limit=…&filter=product=azure&facet=kind&cursor=…&explain=true → SearchResult
    GET  /v1/suggest           ?q=…&limit=… → SuggestResult
    GET  /v1/nodes             ?limit=…&filter=…&facet=…&cursor=… → ListResult
    GET  /v1/nodes/{uid}       ?locale=… → NodeResult; the uid percent-encoded
    POST /v1/runs[/show|/replay]   the log of runs, for operators: each tool of `catalogue.OPERATOR_TOOLS` likewise
    GET, PUT /v1/tuning        pinned results and synonyms, and more of them: `service.surfaces.tuning_routes`
    POST /v1/publish           PublishRequest → a stream; this and what follows for the owner of the data folder only
    POST /v1/rollback          RollbackRequest → a stream
    POST /v1/doctor            DoctorRequest → a stream
    GET  /v1/support           SupportResult
    GET  /v1/roots             RootsResult
    GET  /v1/diagnostics          DiagnosticsResult
    GET  /livez · /readyz · /metrics · /openapi.json

A GET is conditional: its ETag stands for the snapshot, the request and what the caller may see, and If-None-Match with
it is answered 304. A page that is not the last has `Link: <?…cursor=…>; rel="next"`. HEAD is answered wherever GET is,
OPTIONS with 204 and Allow.

Field names are camelCase. Every refusal and failure is application/problem+json (`service.surfaces.problems`), whose
`code`, `detail` (the error's message), `suggestion`, and for a guard violation `line`, `column`, `excerpt`, are all
that a client needs to raise the same error again. /readyz answers ReadinessResult with 200 or 503.

The owner's work through the server that has the data folder: `Cogitave-Query-Owner: TOKEN` as header, the token that
lies in the data folder beside its lock; paths absolute, for the server runs in a folder of its own. What is wrong
before the work begins is a problem with its own status. After that the answer of a stream is 200,
application/x-ndjson, one JSON object a line, flushed as it comes:

    {"progress": {"stage": "embed", "done": 32, "total": 512}}     any number; repeated while nothing moves, so that
                                                                   a silent line means a dead server
    {"result": {… PublishResult or DoctorResult …}}                the last line, or
    {"problem": {… "code", "detail", "status" …}}                  the last line; nothing was published

A client that disconnects stops the work; the old snapshot goes on answering.
"""

from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Body, Depends, HTTPException, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field
from starlette.responses import Response

from service.domain.errors import Unavailable
from service.domain.principal import Scope
from service.domain.progress import Progress
from service.domain.requests import (
    DoctorRequest,
    ListRequest,
    NodeRequest,
    PublishRequest,
    RollbackRequest,
    SearchRequest,
    SuggestRequest,
)
from service.domain.requests import Request as ToolRequest
from service.domain.results import ListResult, NodeResult, ReadinessResult, Result, SearchResult, SuggestResult
from service.surfaces import openapi
from service.surfaces.conditional import Validator, WeakValidator
from service.surfaces.dependencies import Caller, Instruments, Tools, require, require_owner
from service.surfaces.encoding import encode
from service.surfaces.links import ETAG_HEADER, LINK_HEADER, Filtered, InLocale, LinkRoute, next_link
from service.surfaces.metrics import MEDIA_TYPE as METRICS_MEDIA_TYPE
from service.surfaces.problems import MediaTypeRefused
from service.surfaces.progress_stream import progress_stream
from service.surfaces.strict_json import is_json, read_json
from service.surfaces.support import support
from service.tools import catalogue
from service.tools.catalogue import Asked, Given, Tool

STREAMS = frozenset({"/v1/publish", "/v1/rollback", "/v1/doctor"})
"""Paths whose answer takes as long as the work, and says so as it goes."""


class StrictRequest(Request):
    async def json(self) -> Any:
        try:
            return read_json(await self.body())
        except ValueError as error:
            raise HTTPException(400, f"The body is no JSON that can be read: {error}.") from None


class StrictRoute(LinkRoute):
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            if request.method in ("POST", "PUT") and not is_json(request.headers):
                raise MediaTypeRefused
            return await handle(StrictRequest(request.scope, request.receive))

        return handle_strictly


class _Narrowed(Filtered):
    """What every paged link takes."""

    limit: int | None = Field(default=None, description="Entries on a page.")
    facet: list[str] = Field(default_factory=list, description="A facet to count; may be repeated.")
    cursor: str | None = Field(default=None, description="The `nextCursor` of the page before.")


class SearchQuery(_Narrowed):
    """A search that fits into a link."""

    q: Annotated[str, Field(description="The question, in words; no query syntax.", examples=["rank fusion"])]
    explain: bool = Field(default=False, description="Say for each hit why it ranks where it does.")

    def search_request(self) -> SearchRequest:
        return SearchRequest(
            text=self.q,
            limit=self.limit,
            filter=self.filter_values(),
            facets=self.facet,
            cursor=self.cursor,
            explain=self.explain,
        )


class SuggestQuery(ToolRequest):
    """What has been typed so far, in a link."""

    model_config = ConfigDict(strict=False)

    q: Annotated[str, Field(description="What has been typed so far.", examples=["rank fu"])]
    limit: int | None = Field(default=None, description="Most suggestions.")


class ListQuery(_Narrowed):
    """A listing that fits into a link."""


class Liveness(BaseModel):
    status: str = "live"


def _json(model: BaseModel, status: int = 200) -> Response:
    """Straight to bytes: FastAPI would check the result against its own model once more."""
    return Response(encode(model), status, media_type="application/json")


tools = APIRouter(prefix="/v1", route_class=StrictRoute, responses=openapi.TOOL_PROBLEMS)
health = APIRouter(route_class=StrictRoute, responses=openapi.HEALTH_PROBLEMS)
operators = APIRouter(prefix="/v1", route_class=StrictRoute, include_in_schema=False)
owner = APIRouter(prefix="/v1", route_class=StrictRoute, include_in_schema=False, dependencies=[Depends(require_owner)])


def _serve(tool: Tool[Asked, Given], routes: APIRouter) -> None:
    """One route a tool, described by the catalogue."""

    async def call(request: Asked, toolbox: Tools, caller: Caller, metrics: Instruments) -> Response:
        result = await toolbox.call(tool, request, caller)
        metrics.answer(result)
        return _json(result)

    call.__annotations__["request"] = Annotated[tool.request, Body(openapi_examples=openapi.EXAMPLES.get(tool.name))]
    routes.add_api_route(
        f"/{tool.path}",
        call,
        methods=["POST"],
        name=tool.name,
        response_model=tool.result,
        summary=tool.title,
        description=f"{tool.description} {tool.not_for}",
        tags=["tools"],
    )


for _tool in catalogue.TOOLS:
    _serve(_tool, tools)
for _tool in catalogue.OPERATOR_TOOLS:
    _serve(_tool, operators)


def _link(
    validator: Validator, http: Request, result: SearchResult | ListResult | SuggestResult, degraded: list[str]
) -> Response:
    """A page as a link gives it: named by a tag, with the way to the next."""
    return validator.answer(
        encode(result),
        "application/json",
        content_root=result.content_root,
        is_whole=not degraded,
        more=next_link(http, getattr(result, "next_cursor", None)),
    )


@tools.get(
    "/search",
    response_model=SearchResult,
    responses={200: {"headers": {**ETAG_HEADER, **LINK_HEADER}}},
    summary="Search the documentation, as a link",
    tags=["links"],
)
async def search_by_link(
    query: Annotated[SearchQuery, Query()],
    http: Request,
    toolbox: Tools,
    caller: Caller,
    metrics: Instruments,
    validator: WeakValidator,
) -> Response:
    """The same search; the caller's profile, the current document and anchors need the POST form."""
    if validator.is_fresh:
        return validator.not_modified()
    result = await toolbox.call(catalogue.SEARCH, query.search_request(), caller)
    metrics.answer(result)
    return _link(validator, http, result, result.degraded)


@tools.get(
    "/suggest",
    response_model=SuggestResult,
    responses={200: {"headers": ETAG_HEADER}},
    summary="Complete a name, as a link",
    tags=["links"],
)
async def suggest_by_link(
    query: Annotated[SuggestQuery, Query()],
    http: Request,
    toolbox: Tools,
    caller: Caller,
    metrics: Instruments,
    validator: WeakValidator,
) -> Response:
    """Titles, uids and identifiers that begin as the text does, or that it misspells."""
    if validator.is_fresh:
        return validator.not_modified()
    result = await toolbox.call(catalogue.SUGGEST, SuggestRequest(text=query.q, limit=query.limit), caller)
    metrics.answer(result)
    return _link(validator, http, result, [])


@tools.get(
    "/nodes",
    response_model=ListResult,
    responses={200: {"headers": {**ETAG_HEADER, **LINK_HEADER}}},
    summary="List the estate, as a link",
    tags=["links"],
)
async def list_by_link(
    query: Annotated[ListQuery, Query()], http: Request, toolbox: Tools, caller: Caller, validator: WeakValidator
) -> Response:
    """The filtered estate by identity, page after page to its end; nothing is ranked."""
    if validator.is_fresh:
        return validator.not_modified()
    request = ListRequest(limit=query.limit, filter=query.filter_values(), facets=query.facet, cursor=query.cursor)
    result = await toolbox.call(catalogue.LIST, request, caller)
    return _link(validator, http, result, result.degraded)


@tools.get(
    "/nodes/{uid:uid}",
    response_model=NodeResult,
    responses={200: {"headers": ETAG_HEADER}},
    summary="Fetch one node, as a link",
    tags=["links"],
)
async def node_by_link(
    uid: Annotated[str, Path(description="The uid, percent-encoded.", examples=["cogitave.query.fusion"])],
    query: Annotated[InLocale, Query()],
    toolbox: Tools,
    caller: Caller,
    validator: WeakValidator,
) -> Response:
    """A uid is opaque: spaces, slashes and `#` are part of it, encoded. One that is `..` needs the POST form."""
    if validator.is_fresh:
        return validator.not_modified()
    result = await toolbox.call(catalogue.FETCH, NodeRequest(uid=uid, locale=query.locale), caller)
    return validator.answer(encode(result), "application/json", content_root=result.content_root)


@health.get("/livez", response_model=Liveness, summary="The process answers", tags=["health"])
async def livez() -> Response:
    return _json(Liveness())


@health.get(
    "/readyz",
    response_model=ReadinessResult,
    responses={503: {"model": ReadinessResult, "description": "Not ready; each engine says why."}},
    summary="Each engine's readiness",
    tags=["health"],
)
async def readyz(http: Request, toolbox: Tools, metrics: Instruments, caller: Caller) -> Response:
    """A server that is being stopped is not ready. Counts and reasons are for who may look into the service."""
    readiness = await toolbox.readiness()
    metrics.readiness(readiness)
    if http.app.state.is_draining:
        readiness = readiness.model_copy(update={"ready": False})
    if Scope.OPERATE not in caller.scopes:
        engines = [engine.model_copy(update={"reason": None}) for engine in readiness.engines]
        hidden = {"content_root": "", "generation": 0, "passages": 0, "vectors": 0, "under_way": None}
        readiness = readiness.model_copy(update={"engines": engines, **hidden})
    return _json(readiness, 200 if readiness.ready else 503)


@health.get("/metrics", include_in_schema=False, dependencies=[require(Scope.OPERATE)])
async def exposition(toolbox: Tools, metrics: Instruments) -> Response:
    """Gauges are read when asked for; while the stores can't say how they are, the counters still leave."""
    try:
        metrics.readiness(await toolbox.readiness())
    except Unavailable:
        metrics.unready()
    return Response(metrics.exposition(), media_type=METRICS_MEDIA_TYPE)


@owner.post("/publish")
async def publish(request: PublishRequest, http: Request, toolbox: Tools) -> Response:
    return await _stream(http, lambda progress: toolbox.publish(request, progress))


@owner.post("/rollback")
async def rollback(request: RollbackRequest, http: Request, toolbox: Tools) -> Response:
    return await _stream(http, lambda progress: toolbox.rollback(request.content_root, progress))


@owner.post("/doctor")
async def doctor(request: DoctorRequest, http: Request, toolbox: Tools) -> Response:
    return await _stream(http, lambda progress: toolbox.doctor(request.repair, progress))


@owner.get("/roots")
async def roots(toolbox: Tools) -> Response:
    return _json(await toolbox.roots())


@owner.get("/diagnostics")
async def diagnostics(toolbox: Tools, caller: Caller) -> Response:
    return _json(await toolbox.diagnostics(caller))


@owner.get("/support")
async def about_this_process(http: Request, toolbox: Tools, metrics: Instruments) -> Response:
    """For a support bundle; it holds no secret and no word of a caller."""
    state = http.app.state
    lines = state.recent.lines() if state.recent is not None else []
    return _json(await support(toolbox, state.settings, metrics=metrics.exposition().decode(), log=lines))


async def _stream(http: Request, begin: Callable[[Progress], Coroutine[Any, Any, Result]]) -> Response:
    return await progress_stream(begin, http.app.state.settings, http.app.state.problems)
