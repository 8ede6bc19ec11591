"""The commands that keep an estate published and served."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from contextlib import nullcontext, suppress
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import typer

from service.domain.diagnostics import Severity
from service.domain.errors import PublishFailed
from service.domain.progress import Progress, silent
from service.domain.requests import PublishRequest
from service.domain.results import DiagnosticResult, PublishResult
from service.surfaces.command_line import arguments, pages, settings_page
from service.surfaces.command_line.endings import DONE, FAILED, PARTLY_DONE
from service.surfaces.command_line.invocation import Invocation
from service.surfaces.command_line.sarif import sarif
from service.surfaces.command_line.watching import watch
from service.tools.toolbox import Toolbox

commands = typer.Typer()


@commands.command()
def publish(
    context: typer.Context,
    paths: Annotated[list[str], typer.Argument(metavar="PATH…", help="Folders, each an estate.")],
    strict: Annotated[bool, typer.Option("--strict", help="Publish nothing when there is a warning.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would change, and change nothing.")] = False,
    watching: Annotated[
        bool, typer.Option("--watch", help="Publish again whenever a file changes, until Ctrl-C.")
    ] = False,
    sarif_file: Annotated[
        Path | None, typer.Option("--sarif", metavar="FILE", help="Write the diagnostics there, as SARIF 2.1.0.")
    ] = None,
    server: Annotated[
        str | None,
        typer.Option(
            metavar="URL",
            help="Have a server publish what is read here; its API key is in COGITAVE_QUERY_SERVER_KEY.",
        ),
    ] = None,
) -> int:
    """Read estates and make them searchable. Publishing the same twice changes nothing."""
    invocation: Invocation = context.obj
    request = PublishRequest(paths=arguments.absolute(paths), strict=strict, dry_run=dry_run)
    estates = [Path(path) for path in request.paths]
    publish_by = (
        publish_through(server, request, invocation) if server is not None else publish_here(request, invocation)
    )

    def write_sarif(diagnostics: Sequence[DiagnosticResult]) -> None:
        if sarif_file is not None:
            findings = sarif(diagnostics, estates, version=version("cogitave-query"))
            arguments.write(sarif_file, json.dumps(findings, indent=2), "--sarif")

    async def work() -> int:
        try:
            with invocation.output.progress() as progress:
                result = await publish_by(progress)
        except PublishFailed as failure:
            if failure.diagnostics:
                found = [DiagnosticResult.of(diagnostic) for diagnostic in failure.diagnostics]
                write_sarif(found)
                if not invocation.output.as_json:
                    invocation.output.remark(pages.findings_page(found))
            raise
        write_sarif(result.diagnostics)
        invocation.output.result(result, pages.publish_page)
        has_errors = any(diagnostic.severity == Severity.ERROR for diagnostic in result.diagnostics)
        return PARTLY_DONE if has_errors else DONE

    if not watching:
        return asyncio.run(work())
    settings = invocation.settings().settings
    with suppress(KeyboardInterrupt):
        asyncio.run(watch(estates, invocation.data, settings, work, invocation.output.error))
    return DONE


PublishBy = Callable[[Progress], Awaitable[PublishResult]]


def publish_here(request: PublishRequest, invocation: Invocation) -> PublishBy:
    """Into the data folder, whoever owns it; it is free between two publishes."""

    async def publish_by(progress: Progress) -> PublishResult:
        return await invocation.reach(lambda toolbox: toolbox.publish(request, progress))

    return publish_by


def publish_through(url: str, request: PublishRequest, invocation: Invocation) -> PublishBy:
    """To a server, which is told only what it lacks. What was read is remembered until the next time."""
    from service import bootstrap  # loads the engines' clients
    from service.surfaces.command_line.submitting import submit
    from service.surfaces.remote import RemoteToolbox

    settings = invocation.settings().settings
    readers = bootstrap.estate_readers(settings)

    async def publish_by(progress: Progress) -> PublishResult:
        remote = RemoteToolbox(url, None, settings, key=settings.server_key.get_secret_value())
        try:
            return await submit(request, readers, remote, progress)
        finally:
            await remote.close()

    return publish_by


@commands.command()
def roots(context: typer.Context) -> int:
    """List the snapshots that are kept, newest first."""
    invocation: Invocation = context.obj

    async def work(toolbox: Toolbox) -> int:
        invocation.output.result(await toolbox.roots(), pages.roots_page)
        return DONE

    return invocation.ask(work)


@commands.command()
def rollback(
    context: typer.Context,
    root: Annotated[str, typer.Argument(help="The content root of a kept snapshot, or its beginning.")],
) -> int:
    """Publish a kept snapshot back, without its sources."""
    invocation: Invocation = context.obj

    async def work(toolbox: Toolbox) -> int:
        meant = [kept.content_root for kept in (await toolbox.roots()).roots if kept.content_root.startswith(root)]
        with invocation.output.progress() as progress:
            result = await toolbox.rollback(meant[0] if len(meant) == 1 else root, progress)
        invocation.output.result(result, pages.publish_page)
        return DONE

    return invocation.ask(work)


@commands.command()
def doctor(
    context: typer.Context,
    repair: Annotated[bool, typer.Option("--repair", help="Make the stores hold what the graph says.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", help="Say nothing when all is well: for cron.")] = False,
) -> int:
    """Prove that all stores hold the same snapshot, or make it so."""
    invocation: Invocation = context.obj

    async def work(toolbox: Toolbox) -> int:
        with nullcontext(silent) if quiet else invocation.output.progress() as progress:
            result = await toolbox.doctor(repair, progress)
        if not (quiet and result.healthy):
            invocation.output.result(result, pages.doctor_page)
        return DONE if result.healthy else FAILED

    return invocation.ask(work)


@commands.command()
def migrate(
    context: typer.Context,
    dry_run: Annotated[
        bool, typer.Option("--plan", "--dry-run", help="Say what would be done, and do nothing.")
    ] = False,
) -> int:
    """Bring the engines that the settings name to the schema that this version needs."""
    from service import bootstrap  # loads the engines' clients

    invocation: Invocation = context.obj

    async def steps() -> list[dict[str, str | int]]:
        async with bootstrap.open_migrators(invocation.settings().settings) as migrators:
            return [
                {"engine": migrator.engine, "number": step.number, "name": step.name}
                for migrator in migrators
                for step in await (migrator.plan() if dry_run else migrator.apply())
            ]

    taken = asyncio.run(steps())
    invocation.output.document({"steps": taken, "dryRun": dry_run}, pages.migration_page(taken, dry_run=dry_run))
    return DONE


@commands.command()
def serve(
    context: typer.Context,
    host: Annotated[str | None, typer.Option(help="Loopback address to bind to instead of the setting's.")] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port instead of the setting's; 0 takes a free one.")
    ] = None,
    estates: Annotated[
        list[str] | None,
        typer.Option("--publish", metavar="PATH", help="An estate to publish while answering; may be repeated."),
    ] = None,
) -> int:
    """Own the data folder and answer over HTTP, other commands on the folder included, until Ctrl-C."""
    from service.surfaces.command_line.serving import serve as serve_until_stopped  # loads the web framework

    invocation: Invocation = context.obj
    given = {name: value for name, value in (("host", host), ("port", port)) if value is not None}
    settings = invocation.settings().settings.model_copy(update=given)
    asyncio.run(serve_until_stopped(settings, invocation.data, invocation.output, arguments.absolute(estates or [])))
    return DONE


@commands.command()
def mcp(context: typer.Context) -> int:
    """Answer one agent over MCP on standard input and output, until it closes them."""
    from service.surfaces.logging import LoggedToolbox, configure_logging
    from service.surfaces.mcp.server import AgentSurface, serve_stdio  # loads the protocol's library

    invocation: Invocation = context.obj
    configure_logging("info")

    async def work(toolbox: Toolbox) -> int:
        await serve_stdio(AgentSurface(LoggedToolbox(toolbox), invocation.settings().settings))
        return DONE

    return invocation.ask(work)


@commands.command("settings")
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
