"""The web page: search with the reasons for each rank, a node's own page, and the guard to try.

Rendered here and escaped by the templates, it works without a script; `static/console.js` makes it quick: answers as
one types, arrow keys from hit to hit. No style or script stands in a page, so the content security policy allows none.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import jinja2
from fastapi import APIRouter, Query, Request
from starlette.responses import HTMLResponse, Response
from starlette.staticfiles import StaticFiles

from cypher_guard.violation import Violation
from service.domain.errors import PublishFailed, Refused, Unavailable
from service.domain.principal import Scope
from service.domain.requests import GraphQueryRequest, NodeRequest, SearchRequest, WhyNotRequest
from service.domain.results import GraphQueryResult
from service.settings import Settings
from service.surfaces.console.bars import bars
from service.surfaces.console.edges import each_once
from service.surfaces.console.guard import EXAMPLES, shown_plan
from service.surfaces.console.links import link, safe_url
from service.surfaces.console.passage import excerpt, fenced, is_cut, marked, pointed
from service.surfaces.console.profile import LEVELS
from service.surfaces.console.search_page import SearchLink, chips, degradations
from service.surfaces.console.starts import alike
from service.surfaces.console.verdict import rungs
from service.surfaces.dependencies import Caller, Instruments, Tools
from service.surfaces.openapi import version
from service.surfaces.problems import Problem, ProblemResponses, problem_of
from service.tools import catalogue

_HERE = Path(__file__).parent
_ANSWERED = (Refused, Violation, Unavailable, PublishFailed)

STATIC = StaticFiles(directory=_HERE / "static")
pages = APIRouter(include_in_schema=False)

_templates = jinja2.Environment(
    loader=jinja2.FileSystemLoader(_HERE / "templates"),
    autoescape=True,
    auto_reload=False,
    undefined=jinja2.StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.globals.update(
    bars=bars,
    degradations=degradations,
    excerpt=excerpt,
    fenced=fenced,
    is_cut=is_cut,
    levels=LEVELS,
    marked=marked,
    pointed=pointed,
    rungs=rungs,
    safe_url=safe_url,
    node_link=lambda uid, locale, anchor="": link("/node", anchor, uid=uid, locale=locale),
    around_link=lambda uid, locale: link("/neighbourhood", uid=uid, locale=locale),
    path_link=lambda goal: link("/learning-path", goal=goal),
    run_link=lambda run_id: link("/runs", id=run_id),
    search_link=lambda text: link("/", q=text),
    graph_link=lambda cypher: link("/graph", cypher=cypher),
    compare_link=lambda text: link("/compare", q=text),
    version=version(),
)


@pages.get("/")
async def search_page(request: Request, toolbox: Tools, caller: Caller, metrics: Instruments) -> Response:
    """Search: `q`, `filter` (repeated), `cursor`; `uid` asks why that node is no hit."""
    address = SearchLink.read(request.query_params)
    settings: Settings = request.app.state.settings
    content: dict[str, Any] = {"link": address, "result": None, "chips": {}, "verdict": None, "problem": None}
    content |= {"gain": settings.prior_gain, "alike": []}
    try:
        if address.is_search:
            search = address.request()
            content["result"] = result = await toolbox.call(catalogue.SEARCH, search, caller)
            metrics.search(result)
            content["chips"] = chips(address, result)
            if not (result.hits or address.cursor or address.typing):
                content["alike"] = await alike(address.text, toolbox, caller)
            if address.uid:
                question = WhyNotRequest(search=_uncut(search), uid=address.uid)
                content["verdict"] = await toolbox.call(catalogue.WHY_NOT, question, caller)
        else:
            content["readiness"] = await toolbox.readiness() if Scope.OPERATE in caller.scopes else None
    except _ANSWERED as error:
        return failed(request, "search.html", content, error)
    return rendered("search.html", content)


@pages.get("/node")
async def node_page(
    request: Request,
    toolbox: Tools,
    caller: Caller,
    uid: Annotated[str, Query()] = "",
    locale: Annotated[str | None, Query()] = None,
) -> Response:
    """One node: its text, its properties, and its neighbours to walk to."""
    content: dict[str, Any] = {"node": None, "neighbours": {}, "problem": None}
    try:
        content["node"] = node = await toolbox.call(catalogue.FETCH, NodeRequest(uid=uid, locale=locale), caller)
    except _ANSWERED as error:
        return failed(request, "node.html", content, error)
    for edge in each_once(node.edges):
        content["neighbours"].setdefault((edge.type, edge.direction), []).append(edge)
    return rendered("node.html", content)


@pages.get("/graph")
async def graph_page(
    request: Request, toolbox: Tools, caller: Caller, cypher: Annotated[str, Query()] = ""
) -> Response:
    """The guard to try: text, tree, rewritings, rendering and rows, or the refusal with its place."""
    content: dict[str, Any] = {"cypher": cypher, "rows": None, "plan": None, "problem": None, "examples": ()}
    if not cypher.strip():
        return rendered("graph.html", content | {"examples": EXAMPLES})
    settings: Settings = request.app.state.settings
    try:
        content["rows"] = rows = await toolbox.call(catalogue.GRAPH_QUERY, GraphQueryRequest(cypher=cypher), caller)
        content["numeric"] = _numeric(rows)
        content["plan"] = shown_plan(cypher, settings, caller)
    except _ANSWERED as error:
        return failed(request, "graph.html", content, error)
    return rendered("graph.html", content)


def _numeric(rows: GraphQueryResult) -> set[int]:
    """The columns that hold numbers and nothing else."""
    return {
        at
        for at, column in enumerate(zip(*rows.rows, strict=True))
        if all(isinstance(value, int | float) and not isinstance(value, bool) for value in column)
    }


def _uncut(search: SearchRequest) -> SearchRequest:
    return search.model_copy(update={"cursor": None})


def rendered(template: str, content: Mapping[str, Any], status: int = 200) -> Response:
    """A page of one template, escaped."""
    text = _templates.get_template(template).render(content)
    return HTMLResponse(text.encode("utf-8", "replace"), status)


def failed(request: Request, template: str, content: dict[str, Any], error: Exception) -> Response:
    """The page with what went wrong in the place of its answer."""
    problem = problem_of(error)
    problems: ProblemResponses = request.app.state.problems
    problems.seen(problem)
    return rendered(template, content | {"problem": problem}, problem.status)


def problem_page(problem: Problem) -> bytes:
    """A problem of no page in particular, as one that a person can read."""
    return _templates.get_template("refused.html").render(problem=problem).encode("utf-8", "replace")
