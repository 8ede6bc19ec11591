"""REST: HTTP and JSON in and out of the toolbox. Translation only.

    POST /v1/search            SearchRequest → SearchResult
    GET  /v1/search            ?q=…&limit=…&filter=product=azure&facet=kind&cursor=…&explain=true → SearchResult
    POST /v1/search/why-not    WhyNotRequest → WhyNotResult
    GET  /v1/nodes             ?limit=…&filter=…&facet=…&cursor=… → ListResult
    POST /v1/nodes             ListRequest → ListResult
    GET  /v1/nodes/{uid}       ?locale=… → NodeResult; the uid percent-encoded
    POST /v1/fetch             NodeRequest → NodeResult; for a uid that no path can carry, such as `..`
    POST /v1/query-graph       GraphQueryRequest → GraphQueryResult
    POST /v1/publish           PublishRequest → a stream, for the owner of the data folder only
    GET  /livez · /readyz · /metrics · /openapi.json

Field names are camelCase. Every refusal and failure is application/problem+json (`service.surfaces.problems`), whose
`code`, `detail` (the error's message), `suggestion`, and for a guard violation `line`, `column`, `excerpt`, are all
that a client needs to raise the same error again. /readyz answers ReadinessResult with 200 or 503.

Publishing through the server that owns the data folder: `Cogitave-Query-Owner: TOKEN` as header, the token that lies
in the data folder beside its lock; paths absolute, for the server runs in a folder of its own. What is wrong before
the work begins is a problem with its own status. After that the answer is 200, application/x-ndjson, one JSON object a
line, flushed as it comes:

    {"progress": {"stage": "embed", "done": 32, "total": 512}}     any number; repeated while nothing moves, so that
                                                                   a silent line means a dead server
    {"result": {… PublishResult …}}                                the last line, or
    {"problem": {… "code", "detail", "status" …}}                  the last line; nothing was published

A client that disconnects stops the publish; the old snapshot goes on answering.
"""

import hmac
from collections.abc import Callable, Coroutine
from typing import Annotated, Any

from fastapi import APIRouter, Body, Header, HTTPException, Path, Query, Request
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict, Field
from pydantic_core import from_json
from starlette.convertors import PathConvertor, register_url_convertor
from starlette.responses import Response

from service.domain.errors import Unavailable
from service.domain.requests import (
    FilterValues,
    GraphQueryRequest,
    ListRequest,
    NodeRequest,
    PublishRequest,
    SearchRequest,
    WhyNotRequest,
)
from service.domain.requests import Request as ToolRequest
from service.domain.results import (
    GraphQueryResult,
    ListResult,
    NodeResult,
    ReadinessResult,
    SearchResult,
    WhyNotResult,
)
from service.surfaces import openapi
from service.surfaces.dependencies import Caller, Instruments, Tools
from service.surfaces.encoding import encode
from service.surfaces.metrics import MEDIA_TYPE as METRICS_MEDIA_TYPE
from service.surfaces.problems import OwnerRequired
from service.surfaces.publish_stream import publish_stream

PUBLISH_PATH = "/v1/publish"


class UidConvertor(PathConvertor):
    """The rest of the path, line breaks included: Starlette's own stops at them."""

    regex = "(?s:.*)"


register_url_convertor("uid", UidConvertor())


class StrictRequest(Request):
    """JSON as RFC 8259 has it: no NaN, no lone surrogate, no bottomless nesting."""

    async def json(self) -> Any:
        try:
            return from_json(await self.body(), allow_inf_nan=False)
        except ValueError as error:
            raise HTTPException(400, f"The body is no JSON that can be read: {error}.") from None


class StrictRoute(APIRoute):
    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handle_strictly(request: Request) -> Response:
            return await handle(StrictRequest(request.scope, request.receive))

        return handle_strictly


FilterPair = Annotated[str, Field(pattern=r"^[^=]+=", examples=["kind=page"])]


class _Narrowed(ToolRequest):
    """`filter=name=value`, repeated: values of one name widen, different names narrow."""

    model_config = ConfigDict(strict=False)  # a link holds nothing but strings

    limit: int | None = Field(default=None, description="Entries on a page.")
    filter: list[FilterPair] = Field(default_factory=list, description="name=value; may be repeated.")
    facet: list[str] = Field(default_factory=list, description="A facet to count; may be repeated.")
    cursor: str | None = Field(default=None, description="The `nextCursor` of the page before.")

    def filter_values(self) -> FilterValues:
        values: FilterValues = {}
        for pair in self.filter:
            name, _, value = pair.partition("=")
            values.setdefault(name, []).append(value)
        return values


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


class ListQuery(_Narrowed):
    """A listing that fits into a link."""


class Liveness(BaseModel):
    status: str = "live"


def _json(model: BaseModel, status: int = 200) -> Response:
    """Straight to bytes: FastAPI would check the result against its own model once more."""
    return Response(encode(model), status, media_type="application/json")


tools = APIRouter(prefix="/v1", route_class=StrictRoute, responses=openapi.TOOL_PROBLEMS)
health = APIRouter(route_class=StrictRoute, responses=openapi.HEALTH_PROBLEMS)
owner = APIRouter(route_class=StrictRoute, include_in_schema=False)


@tools.post("/search", response_model=SearchResult, summary="Search the estate", tags=["search"])
async def search(
    request: Annotated[SearchRequest, Body(openapi_examples=openapi.SEARCH)],
    toolbox: Tools,
    caller: Caller,
    metrics: Instruments,
) -> Response:
    """Passages found by words and by meaning, fused by rank; one hit a node, its best passage shown."""
    result = await toolbox.docs_search(request, caller)
    metrics.search(result)
    return _json(result)


@tools.get("/search", response_model=SearchResult, summary="Search the estate, as a link", tags=["search"])
async def search_by_link(
    query: Annotated[SearchQuery, Query()], toolbox: Tools, caller: Caller, metrics: Instruments
) -> Response:
    """The same search; the caller's profile, the current document and anchors need the POST form."""
    result = await toolbox.docs_search(query.search_request(), caller)
    metrics.search(result)
    return _json(result)


@tools.post("/search/why-not", response_model=WhyNotResult, summary="Why a node is no hit", tags=["search"])
async def why_not(
    request: Annotated[WhyNotRequest, Body(openapi_examples=openapi.WHY_NOT)], toolbox: Tools, caller: Caller
) -> Response:
    """The filter, leg or depth that leaves a node out of a search, or the rank at which it stands."""
    return _json(await toolbox.why_not(request, caller))


@tools.get("/nodes", response_model=ListResult, summary="List the estate, as a link", tags=["nodes"])
async def list_by_link(query: Annotated[ListQuery, Query()], toolbox: Tools, caller: Caller) -> Response:
    """The filtered estate by identity, page after page to its end; nothing is ranked."""
    request = ListRequest(limit=query.limit, filter=query.filter_values(), facets=query.facet, cursor=query.cursor)
    return _json(await toolbox.list_nodes(request, caller))


@tools.post("/nodes", response_model=ListResult, summary="List the estate", tags=["nodes"])
async def list_nodes(
    request: Annotated[ListRequest, Body(openapi_examples=openapi.LIST)], toolbox: Tools, caller: Caller
) -> Response:
    """The filtered estate by identity, page after page to its end; nothing is ranked."""
    return _json(await toolbox.list_nodes(request, caller))


@tools.get("/nodes/{uid:uid}", response_model=NodeResult, summary="One node, as a link", tags=["nodes"])
async def node(
    uid: Annotated[str, Path(description="The uid, percent-encoded.", examples=["cogitave.query.fusion"])],
    toolbox: Tools,
    caller: Caller,
    locale: Annotated[str | None, Query(description="Else the estate's default, else the first there is.")] = None,
) -> Response:
    """Properties, text by section, and edges. A uid is opaque: spaces, slashes and `#` are part of it, encoded."""
    return _json(await toolbox.docs_fetch(NodeRequest(uid=uid, locale=locale), caller))


@tools.post("/fetch", response_model=NodeResult, summary="One node", tags=["nodes"])
async def fetch(
    request: Annotated[NodeRequest, Body(openapi_examples=openapi.FETCH)], toolbox: Tools, caller: Caller
) -> Response:
    """As by link, for any uid whatever: a path can't carry `..`."""
    return _json(await toolbox.docs_fetch(request, caller))


@tools.post("/query-graph", response_model=GraphQueryResult, summary="Query the graph", tags=["graph"])
async def query_graph(
    request: Annotated[GraphQueryRequest, Body(openapi_examples=openapi.QUERY_GRAPH)], toolbox: Tools, caller: Caller
) -> Response:
    """Read-only, bounded Cypher. What the guard does not know it refuses: 422, with the place and what to do."""
    return _json(await toolbox.query_graph(request, caller))


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
async def readyz(toolbox: Tools, metrics: Instruments) -> Response:
    readiness = await toolbox.readiness()
    metrics.readiness(readiness)
    return _json(readiness, 200 if readiness.ready else 503)


@health.get("/metrics", include_in_schema=False)
async def exposition(toolbox: Tools, metrics: Instruments) -> Response:
    """Gauges are read when asked for; while the stores can't say how they are, the counters still leave."""
    try:
        metrics.readiness(await toolbox.readiness())
    except Unavailable:
        metrics.unready()
    return Response(metrics.exposition(), media_type=METRICS_MEDIA_TYPE)


@owner.post(PUBLISH_PATH)
async def publish(
    request: PublishRequest,
    http: Request,
    toolbox: Tools,
    cogitave_query_owner: Annotated[str, Header()] = "",
) -> Response:
    """For a command of the data folder's owner; see the module's docstring."""
    token: str | None = http.app.state.owner_token
    if token is None or not hmac.compare_digest(cogitave_query_owner.encode(), token.encode()):
        raise OwnerRequired
    return await publish_stream(toolbox, request, http.app.state.settings, http.app.state.problems)
