"""The commands that ask the estate and change nothing."""

from pathlib import Path
from typing import Annotated

import typer

from service.domain.principal import ANONYMOUS
from service.domain.requests import (
    GraphQueryRequest,
    ListRequest,
    NodeRequest,
    SearchRequest,
    WhyNotRequest,
)
from service.surfaces.command_line import arguments, pages
from service.surfaces.command_line.endings import DONE, PARTLY_DONE
from service.surfaces.command_line.invocation import Invocation
from service.tools import catalogue
from service.tools.toolbox import Toolbox

commands = typer.Typer()


@commands.command()
def search(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="The question, in words; no query syntax.")],
    limit: Annotated[int | None, typer.Option(help="Hits on a page.")] = None,
    filter: Annotated[
        list[str] | None, typer.Option("--filter", metavar="KEY=VALUE", help="Narrow the estate; repeatable.")
    ] = None,
    profile: Annotated[Path | None, typer.Option(help="JSON file that says what the caller is like.")] = None,
    current_document: Annotated[
        str | None, typer.Option(metavar="UID", help="The page that the caller is reading.")
    ] = None,
    facet: Annotated[
        list[str] | None, typer.Option("--facet", help="Count the filtered estate by this property; repeatable.")
    ] = None,
    cursor: Annotated[str | None, typer.Option(help="The next page's, from the page before.")] = None,
    explain: Annotated[bool, typer.Option("--explain", help="Say why each hit ranks where it does.")] = False,
    why_not: Annotated[str | None, typer.Option(metavar="UID", help="Say why this node is not among the hits.")] = None,
) -> int:
    """Rank the estate's passages for a question, best first."""
    invocation: Invocation = context.obj
    request = SearchRequest(
        text=text,
        limit=limit,
        filter=arguments.filters(filter or ()),
        profile=arguments.profile(profile),
        current_document=current_document,
        facets=facet or [],
        cursor=cursor,
        explain=explain,
    )

    async def ask_why_not(toolbox: Toolbox) -> int:
        question = WhyNotRequest(search=request, uid=why_not or "")
        invocation.output.result(await toolbox.call(catalogue.WHY_NOT, question, ANONYMOUS), pages.why_not_page)
        return DONE

    async def work(toolbox: Toolbox) -> int:
        result = await toolbox.call(catalogue.SEARCH, request, ANONYMOUS)
        invocation.output.result(result, pages.search_page)
        return PARTLY_DONE if result.degraded else DONE

    return invocation.ask(work if why_not is None else ask_why_not)


@commands.command()
def nodes(
    context: typer.Context,
    limit: Annotated[int | None, typer.Option(help="Nodes on a page.")] = None,
    filter: Annotated[
        list[str] | None, typer.Option("--filter", metavar="KEY=VALUE", help="Narrow the estate; repeatable.")
    ] = None,
    facet: Annotated[
        list[str] | None, typer.Option("--facet", help="Count the filtered estate by this property; repeatable.")
    ] = None,
    cursor: Annotated[str | None, typer.Option(help="The next page's, from the page before.")] = None,
) -> int:
    """List the estate's nodes by identity, without a question."""
    invocation: Invocation = context.obj
    request = ListRequest(limit=limit, filter=arguments.filters(filter or ()), facets=facet or [], cursor=cursor)

    async def work(toolbox: Toolbox) -> int:
        invocation.output.result(await toolbox.call(catalogue.LIST, request, ANONYMOUS), pages.list_page)
        return DONE

    return invocation.ask(work)


@commands.command()
def fetch(
    context: typer.Context,
    uid: Annotated[str, typer.Argument(help="The node's name; opaque, any Unicode.")],
    locale: Annotated[str | None, typer.Option(help="Of its translations, this one.")] = None,
) -> int:
    """Show one node whole: properties, text by section, edges."""
    invocation: Invocation = context.obj

    async def work(toolbox: Toolbox) -> int:
        result = await toolbox.call(catalogue.FETCH, NodeRequest(uid=uid, locale=locale), ANONYMOUS)
        invocation.output.result(result, pages.node_page)
        return DONE

    return invocation.ask(work)


@commands.command("query-graph")
def query_graph(
    context: typer.Context,
    cypher: Annotated[str, typer.Argument(help="One read-only query; the guard says what it may hold.")],
    param: Annotated[
        list[str] | None,
        typer.Option("--param", metavar="KEY=VALUE", help="A parameter, read as JSON, else a string; repeatable."),
    ] = None,
) -> int:
    """Run Cypher that the guard lets through over the property graph."""
    invocation: Invocation = context.obj
    request = GraphQueryRequest(cypher=cypher, parameters=arguments.parameters(param or ()))

    async def work(toolbox: Toolbox) -> int:
        invocation.output.result(await toolbox.call(catalogue.GRAPH_QUERY, request, ANONYMOUS), pages.graph_page)
        return DONE

    return invocation.ask(work)
