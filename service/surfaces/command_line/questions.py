"""The commands that ask the estate and change nothing."""

from pathlib import Path
from typing import Annotated

import typer

from service.domain.principal import ANONYMOUS
from service.domain.requests import (
    FetchRequest,
    GraphQueryRequest,
    ListRequest,
    NodesRequest,
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
    without: Annotated[
        list[str] | None, typer.Option("--without", metavar="SIGNAL", help="Switch a signal off; repeatable.")
    ] = None,
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
        without_signals=without or [],
    )

    async def ask_why_not(toolbox: Toolbox) -> int:
        question = WhyNotRequest(search=request, uid=why_not or "")
        result = await toolbox.call(catalogue.WHY_NOT, question, ANONYMOUS)
        invocation.output.result(result, pages.why_not_page)
        return PARTLY_DONE if result.degraded else DONE

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
    uid: Annotated[
        list[str] | None, typer.Argument(help="A node's name; opaque, any Unicode. Several may be fetched.")
    ] = None,
    url: Annotated[str | None, typer.Option(help="The page's address in place of its uid.")] = None,
    locale: Annotated[str | None, typer.Option(help="Of its translations, this one.")] = None,
    section: Annotated[str | None, typer.Option(help="Anchor or heading of the one section that is wanted.")] = None,
    max_tokens: Annotated[int | None, typer.Option(min=1, help="Room for text and edges.")] = None,
    cursor: Annotated[str | None, typer.Option(help="Where a text that was cut goes on.")] = None,
) -> int:
    """Show nodes: properties, text by section, edges."""
    invocation: Invocation = context.obj
    uids = uid or []

    async def fetch_one(toolbox: Toolbox) -> int:
        request = FetchRequest(
            uid=uids[0] if uids else None,
            url=url,
            locale=locale,
            section=section,
            max_tokens=max_tokens,
            cursor=cursor,
        )
        invocation.output.result(await toolbox.call(catalogue.FETCH, request, ANONYMOUS), pages.node_page)
        return DONE

    async def fetch_all(toolbox: Toolbox) -> int:
        request = NodesRequest(uids=uids, locale=locale, max_tokens=max_tokens)
        result = await toolbox.call(catalogue.FETCH_BATCH, request, ANONYMOUS)
        invocation.output.result(result, pages.nodes_page)
        return PARTLY_DONE if any(fetched.refusal for fetched in result.nodes) else DONE

    if bool(uids) == (url is not None):
        raise typer.BadParameter("Name the node by its uid or by its url, by one of the two.")
    if len(uids) <= 1:
        return invocation.ask(fetch_one)
    if section is not None or cursor is not None:
        raise typer.BadParameter("A section or a cursor is of one node; fetch that one alone.")
    return invocation.ask(fetch_all)


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
