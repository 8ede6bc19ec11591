"""The commands: each reads what was typed, asks the toolbox, and shows the answer."""

import asyncio
import importlib.util
import io
import sys
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import structlog
import typer

from service.domain.diagnostics import Severity
from service.domain.principal import ANONYMOUS
from service.domain.requests import (
    GraphQueryRequest,
    ListRequest,
    NodeRequest,
    PublishRequest,
    SearchRequest,
    WhyNotRequest,
)
from service.settings import LoadedSettings, load_settings
from service.surfaces.command_line import arguments, pages, settings_page
from service.surfaces.command_line.endings import DONE, INTERRUPTED, PARTLY_DONE, PIPE_CLOSED, exit_code, is_foreseen
from service.surfaces.command_line.output import Output, discard_stdout
from service.surfaces.logging import configure_logging
from service.tools.toolbox import Toolbox

app = typer.Typer(
    name="cogitave-query",
    help="Search a documentation and learning estate, and query its graph.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)


@dataclass(frozen=True, slots=True)
class Invocation:
    """What stands before the command, and holds for all of it."""

    data: Path
    settings_file: Path | None
    output: Output

    def settings(self) -> LoadedSettings:
        return load_settings(self.settings_file)

    def ask(self, work: Callable[[Toolbox], Awaitable[int]]) -> int:
        """Run `work` with the data folder's toolbox; its answer is the exit code."""
        from service.surfaces.command_line.access import open_toolbox  # only the commands that ask load the engines

        async def with_toolbox() -> int:
            async with open_toolbox(self.settings().settings, self.data) as toolbox:
                return await work(toolbox)

        return asyncio.run(with_toolbox())


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version("cogitave-query"))
        raise typer.Exit


@app.callback(invoke_without_command=True)
def before_every_command(
    context: typer.Context,
    data: Annotated[Path, typer.Option("--data", help="Folder that holds the embedded stores.")] = Path(
        ".cogitave-query"
    ),
    settings: Annotated[Path | None, typer.Option("--settings", help="TOML file of settings.")] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print exactly one JSON document on stdout.")] = False,
    _version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    context.obj = Invocation(data, settings, Output(as_json))
    if context.invoked_subcommand is None:
        raise typer.BadParameter("no command is named; --help lists them.", param_hint="COMMAND")


@app.command()
def publish(
    context: typer.Context,
    paths: Annotated[list[str], typer.Argument(metavar="PATH…", help="Folders, each an estate.")],
    strict: Annotated[bool, typer.Option("--strict", help="Publish nothing when there is a warning.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change, and change nothing.")] = False,
) -> int:
    """Read estates and make them searchable. Publishing the same twice changes nothing."""
    invocation: Invocation = context.obj
    request = PublishRequest(paths=arguments.absolute(paths), strict=strict, dry_run=dry_run)

    async def work(toolbox: Toolbox) -> int:
        with invocation.output.progress() as progress:
            result = await toolbox.publish(request, progress)
        invocation.output.result(result, pages.publish_page)
        has_errors = any(diagnostic.severity == Severity.ERROR for diagnostic in result.diagnostics)
        return PARTLY_DONE if has_errors else DONE

    return invocation.ask(work)


@app.command()
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
        invocation.output.result(await toolbox.why_not(question, ANONYMOUS), pages.why_not_page)
        return DONE

    async def work(toolbox: Toolbox) -> int:
        result = await toolbox.docs_search(request, ANONYMOUS)
        invocation.output.result(result, pages.search_page)
        return PARTLY_DONE if result.degraded else DONE

    return invocation.ask(work if why_not is None else ask_why_not)


@app.command()
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
        invocation.output.result(await toolbox.list_nodes(request, ANONYMOUS), pages.list_page)
        return DONE

    return invocation.ask(work)


@app.command()
def fetch(
    context: typer.Context,
    uid: Annotated[str, typer.Argument(help="The node's name; opaque, any Unicode.")],
    locale: Annotated[str | None, typer.Option(help="Of its translations, this one.")] = None,
) -> int:
    """Show one node whole: properties, text by section, edges."""
    invocation: Invocation = context.obj

    async def work(toolbox: Toolbox) -> int:
        result = await toolbox.docs_fetch(NodeRequest(uid=uid, locale=locale), ANONYMOUS)
        invocation.output.result(result, pages.node_page)
        return DONE

    return invocation.ask(work)


@app.command("query-graph")
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
        invocation.output.result(await toolbox.query_graph(request, ANONYMOUS), pages.graph_page)
        return DONE

    return invocation.ask(work)


@app.command()
def serve(
    context: typer.Context,
    host: Annotated[str | None, typer.Option(help="Loopback address to bind to instead of the setting's.")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port instead of the setting's; 0 takes a free one.")
    ] = None,
) -> int:
    """Own the data folder and answer over HTTP, other commands on the folder included, until Ctrl-C."""
    from service.surfaces.command_line.serving import serve as serve_until_stopped  # loads the web framework

    invocation: Invocation = context.obj
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    settings = invocation.settings().settings.model_copy(update=given)
    asyncio.run(serve_until_stopped(settings, invocation.data, invocation.output))
    return DONE


@app.command("settings")
def show_settings(
    context: typer.Context,
    markdown: Annotated[bool, typer.Option("--markdown", help="Print the manual's page of all settings.")] = False,
) -> int:
    """Print every setting with its value and where that comes from."""
    invocation: Invocation = context.obj
    if markdown:
        typer.echo(settings_page.reference(), nl=False)
        return DONE
    rows = invocation.settings().rows()
    invocation.output.document(settings_page.document(rows), settings_page.table(rows))
    return DONE


if importlib.util.find_spec("stack") and importlib.util.find_spec("stack.command_line"):
    # The real engines' launcher lies in the checkout and is not part of the wheel.
    from stack.command_line import app as stack_app

    app.add_typer(stack_app, name="stack", help="Start the real engines without Docker.")


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 1 failed, 2 usage, 3 refused, 4 partly done."""
    words = list(sys.argv[1:] if argv is None else argv)
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that lacks a character shows another in its place
    output = Output(as_json="--json" in words)
    configure_logging()
    try:
        code = app(words, prog_name=app.info.name, standalone_mode=False)
        sys.stdout.flush()
        return int(code or DONE)
    except (BrokenPipeError, SystemExit):  # typer and rich exit by themselves for this one reason
        discard_stdout()
        return PIPE_CLOSED
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:
        if not is_foreseen(error):
            structlog.get_logger(__name__).error("command failed", exc_info=error)
        output.error(error)
        return exit_code(error)
