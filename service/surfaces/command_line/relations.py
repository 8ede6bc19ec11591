"""The commands that follow the graph: from a node, to a goal, to what a name stands for."""

from typing import Annotated

import typer

from service.domain.principal import ANONYMOUS
from service.domain.requests import (
    LearningPathRequest,
    RelatedRequest,
    SampleRequest,
    SchemaRequest,
    SuggestRequest,
    XrefRequest,
)
from service.surfaces.command_line import arguments, relation_pages
from service.surfaces.command_line.endings import DONE, PARTLY_DONE
from service.surfaces.command_line.invocation import Invocation
from service.tools import catalogue
from service.tools.toolbox import Toolbox

commands = typer.Typer()

Locale = Annotated[str | None, typer.Option(help="Of its translations, this one.")]


@commands.command()
def samples(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="What the code is about, or an identifier in it.")],
    language: Annotated[str | None, typer.Option(help="c#, csharp and cs are one language.")] = None,
    limit: Annotated[int | None, typer.Option(help="Samples on a page.")] = None,
    filter: Annotated[
        list[str] | None, typer.Option("--filter", metavar="KEY=VALUE", help="Narrow the estate; repeatable.")
    ] = None,
    cursor: Annotated[str | None, typer.Option(help="The next page's, from the page before.")] = None,
) -> int:
    """Rank code samples, each with the page that owns it."""
    invocation: Invocation = context.obj
    request = SampleRequest(
        text=text, language=language, limit=limit, filter=arguments.filters(filter or ()), cursor=cursor
    )

    async def work(toolbox: Toolbox) -> int:
        result = await toolbox.call(catalogue.SAMPLES, request, ANONYMOUS)
        invocation.output.result(result, relation_pages.samples_page)
        return PARTLY_DONE if result.degraded else DONE

    return invocation.ask(work)


@commands.command()
def related(
    context: typer.Context,
    uid: Annotated[str, typer.Argument(help="The node to look around.")],
    locale: Locale = None,
    limit: Annotated[int | None, typer.Option(help="Most nodes to show.")] = None,
) -> int:
    """Show what lies around a node, each with the path that relates it."""
    invocation: Invocation = context.obj
    request = RelatedRequest(uid=uid, locale=locale, limit=limit)

    async def work(toolbox: Toolbox) -> int:
        result = await toolbox.call(catalogue.RELATED, request, ANONYMOUS)
        invocation.output.result(result, relation_pages.related_page)
        return PARTLY_DONE if result.degraded else DONE

    return invocation.ask(work)


@commands.command("learning-path")
def learning_path(
    context: typer.Context,
    goal: Annotated[str, typer.Argument(help="Uid of a skill, module, path or page; of a skill its title will do.")],
    known: Annotated[
        list[str] | None, typer.Option("--known", metavar="UID", help="A skill or module known; repeatable.")
    ] = None,
    level: Annotated[str | None, typer.Option(help="The learner's own level.")] = None,
    minutes: Annotated[int | None, typer.Option(min=1, help="Time that there is.")] = None,
    locale: Locale = None,
) -> int:
    """Order what leads to a goal, prerequisites first."""
    invocation: Invocation = context.obj
    request = LearningPathRequest(goal=goal, known_skills=known or [], level=level, minutes=minutes, locale=locale)

    async def work(toolbox: Toolbox) -> int:
        result = await toolbox.call(catalogue.LEARNING_PATH, request, ANONYMOUS)
        invocation.output.result(result, relation_pages.learning_path_page)
        return DONE if result.reachable else PARTLY_DONE

    return invocation.ask(work)


@commands.command()
def xref(
    context: typer.Context,
    uids: Annotated[list[str], typer.Argument(metavar="UID…", help="As a writer would put them.")],
    locale: Locale = None,
    moniker: Annotated[str | None, typer.Option(help="The product version that the reader uses.")] = None,
) -> int:
    """Say what uids stand for, with suggestions for those that stand for nothing."""
    invocation: Invocation = context.obj
    request = XrefRequest(uids=uids, locale=locale, moniker=moniker)

    async def work(toolbox: Toolbox) -> int:
        result = await toolbox.call(catalogue.XREF, request, ANONYMOUS)
        invocation.output.result(result, relation_pages.xref_page)
        return DONE if all(found.found for found in result.resolutions) else PARTLY_DONE

    return invocation.ask(work)


@commands.command()
def suggest(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="What has been typed so far.")],
    limit: Annotated[int | None, typer.Option(help="Most suggestions.")] = None,
) -> int:
    """Complete or correct a title, a uid or an identifier."""
    invocation: Invocation = context.obj

    async def work(toolbox: Toolbox) -> int:
        result = await toolbox.call(catalogue.SUGGEST, SuggestRequest(text=text, limit=limit), ANONYMOUS)
        invocation.output.result(result, relation_pages.suggest_page)
        return DONE

    return invocation.ask(work)


@commands.command()
def schema(context: typer.Context) -> int:
    """Describe what query-graph may say: labels, edge types, properties, limits, examples."""
    invocation: Invocation = context.obj

    async def work(toolbox: Toolbox) -> int:
        result = await toolbox.call(catalogue.SCHEMA, SchemaRequest(), ANONYMOUS)
        invocation.output.result(result, relation_pages.schema_page)
        return DONE

    return invocation.ask(work)
