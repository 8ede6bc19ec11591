"""`runs`: answered searches as they were kept, and asking one again."""

from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from service.domain.principal import OWNER
from service.domain.requests import ReplayRequest, RunRequest, RunsRequest
from service.domain.results import LoggedHit, ReplayResult, RunResult, RunsResult
from service.surfaces.command_line.endings import DONE, PARTLY_DONE
from service.surfaces.command_line.invocation import Invocation
from service.surfaces.command_line.output import printable
from service.surfaces.command_line.tables import add_row, table_of
from service.tools import catalogue
from service.tools.toolbox import Toolbox

commands = typer.Typer(help="Look at the log of runs, and ask a run again.")

RunId = Annotated[str, typer.Argument(metavar="ID", help="The `runId` of a search, or how it alone begins.")]


@commands.command("list")
def list_runs(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="Most runs to show.")] = 20,
) -> int:
    """Show answered searches, newest first."""
    invocation: Invocation = context.obj

    async def work(toolbox: Toolbox) -> int:
        invocation.output.result(await toolbox.call(catalogue.RUNS, RunsRequest(limit=limit), OWNER), runs_page)
        return DONE

    return invocation.ask(work)


@commands.command("show")
def show_run(context: typer.Context, run_id: RunId) -> int:
    """Show one run with every number that its hits' places came from."""
    invocation: Invocation = context.obj

    async def work(toolbox: Toolbox) -> int:
        invocation.output.result(await toolbox.call(catalogue.RUN, RunRequest(run_id=run_id), OWNER), run_page)
        return DONE

    return invocation.ask(work)


@commands.command("replay")
def replay_run(
    context: typer.Context,
    run_id: RunId,
    text: Annotated[str | None, typer.Option(help="The run's words, where they were not kept.")] = None,
) -> int:
    """Ask a run's search again: the same day, legs and visibility, and the snapshot that answers now."""
    invocation: Invocation = context.obj

    async def work(toolbox: Toolbox) -> int:
        result = await toolbox.call(catalogue.REPLAY, ReplayRequest(run_id=run_id, text=text), OWNER)
        invocation.output.result(result, replay_page)
        return DONE if result.same_order else PARTLY_DONE

    return invocation.ask(work)


def runs_page(result: RunsResult) -> RenderableType:
    table = table_of("run", "at", "text", "first hit", "ms", "degraded")
    for run in result.runs:
        first = run.hits[0].uid if run.hits else ""
        words = "(not kept)" if run.text is None else run.text
        add_row(table, run.run_id, run.at, words, first, f"{run.took_ms:.0f}", "; ".join(run.degraded))
    return table


def run_page(run: RunResult) -> RenderableType:
    facts = table_of("", "")
    for name, value in (
        ("at", run.at),
        ("text", "(not kept)" if run.text is None else run.text),
        ("request", ", ".join(f"{name}: {value}" for name, value in run.request.items())),
        ("visible to", ", ".join(run.visible_to)),
        ("snapshot", run.content_root),
        ("ages as of", run.as_of),
        ("legs", ", ".join(run.legs)),
        ("anchors", ", ".join(f"{anchor.uid} ({anchor.via})" for anchor in run.anchors)),
        ("degraded", "; ".join(run.degraded)),
    ):
        add_row(facts, name, value)
    hits = table_of("", "uid", "legs", "fused", "prior", "factors", "final")
    for place, hit in enumerate(run.hits, start=run.start + 1):
        legs = ", ".join(f"{leg.leg} {leg.rank}" for leg in hit.legs)
        add_row(
            hits,
            str(place),
            hit.uid,
            legs,
            f"{hit.rrf_normalised:.4f}",
            f"{hit.prior:.3f}",
            _factors(hit),
            f"{hit.final:.4f}",
        )
    return Group(facts, Text(""), hits)


def replay_page(result: ReplayResult) -> RenderableType:
    same = "the same snapshot" if result.same_snapshot else "another snapshot than the run's"
    question = "Another question than the run's, asked" if result.same_text is False else "Asked again"
    parts: list[RenderableType] = [Text(f"{question} of {same}: {'the same order' if result.same_order else 'moved:'}")]
    if result.same_text is None and result.moved:
        parts.append(Text("The run's words were not kept: if these are others, so is what they find.", style="yellow"))
    if result.moved:
        table = table_of("uid", "then", "now")
        for hit in result.moved:
            add_row(table, hit.uid, _place(hit.then), _place(hit.now))
        parts.append(table)
    if result.degraded:
        parts.append(Text(f"Degraded: {printable('; '.join(result.degraded))}.", style="bold yellow"))
    return Group(*parts)


def _factors(hit: LoggedHit) -> str:
    return ", ".join(f"{factor.signal} {factor.factor:.3f} ({factor.input})" for factor in hit.factors)


def _place(place: int | None) -> str:
    return "–" if place is None else str(place)
