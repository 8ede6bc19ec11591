"""`tuning`: pinned results and synonyms, and the versions of them."""

from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text
from typer import BadParameter

from service.domain.graph import DEFAULT_WORKSPACE
from service.domain.principal import OWNER
from service.domain.tuning import (
    Edit,
    PinnedResult,
    RollbackTuningRequest,
    Synonym,
    TuningDifferenceRequest,
    TuningDifferenceResult,
    TuningHistoryRequest,
    TuningHistoryResult,
    TuningRequest,
    TuningResult,
    add_synonym,
    pin,
    remove_synonym,
    unpin,
)
from service.surfaces.command_line.endings import DONE
from service.surfaces.command_line.invocation import Invocation
from service.surfaces.command_line.output import printable
from service.surfaces.command_line.tables import add_row, table_of
from service.surfaces.tuning import amend
from service.tools import catalogue
from service.tools.toolbox import Toolbox

commands = typer.Typer(help="Pin results to questions, and name synonyms; see and undo what was changed.")

Workspace = Annotated[str, typer.Option(help="Whose searches it is for.")]
Reason = Annotated[str, typer.Option(help="Why, for the history.")]


@commands.command()
def show(
    context: typer.Context,
    version: Annotated[int | None, typer.Option(min=0, help="An earlier version.")] = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
) -> int:
    """Show what is pinned, and which terms stand for each other."""
    invocation: Invocation = context.obj

    async def work(toolbox: Toolbox) -> int:
        request = TuningRequest(workspace=workspace, version=version)
        invocation.output.result(await toolbox.call(catalogue.TUNING, request, OWNER), tuning_page)
        return DONE

    return invocation.ask(work)


@commands.command("pin")
def pin_result(
    context: typer.Context,
    words: Annotated[str, typer.Argument(help="Words of the questions that it is for.")],
    uid: Annotated[str, typer.Argument(help="The node's uid.")],
    exact: Annotated[bool, typer.Option("--exact", help="Only for questions that hold no other word.")] = False,
    place: Annotated[int, typer.Option(min=1, help="Place among the hits.")] = 1,
    locale: Annotated[str | None, typer.Option(help="The node's locale, where it has several.")] = None,
    until: Annotated[str | None, typer.Option(metavar="DATE", help="Last day, such as 2026-12-31.")] = None,
    note: Annotated[str, typer.Option(help="Why; shown to whoever asks to explain.")] = "",
    reason: Reason = "",
    workspace: Workspace = DEFAULT_WORKSPACE,
) -> int:
    """Put a node at a place of its own wherever a question matches."""
    try:
        entry = PinnedResult(
            words=words,
            match="exact" if exact else "all",
            uid=uid,
            locale=locale,
            place=place,
            until=until,
            note=note,
        )
    except ValueError:
        raise BadParameter("a day is written as 2026-12-31.", param_hint="--until") from None
    return _amend(context, workspace, pin(entry), reason)


@commands.command("unpin")
def unpin_result(
    context: typer.Context,
    uid: Annotated[str, typer.Argument(help="The node's uid.")],
    words: Annotated[str | None, typer.Option(help="Only the pin of these words.")] = None,
    reason: Reason = "",
    workspace: Workspace = DEFAULT_WORKSPACE,
) -> int:
    """Take a node's pins away."""
    return _amend(context, workspace, unpin(uid, words), reason)


@commands.command()
def synonym(
    context: typer.Context,
    terms: Annotated[list[str], typer.Argument(help="Terms that stand for each other.")],
    of: Annotated[
        str | None, typer.Option(metavar="TERM", help="One way: only questions with this term look for TERMS too.")
    ] = None,
    remove: Annotated[bool, typer.Option("--remove", help="Take this synonym away.")] = False,
    reason: Reason = "",
    workspace: Workspace = DEFAULT_WORKSPACE,
) -> int:
    """Say that terms stand for each other, or take that back."""
    entry = Synonym(terms=terms, of=of)
    return _amend(context, workspace, remove_synonym(entry) if remove else add_synonym(entry), reason)


@commands.command()
def history(
    context: typer.Context,
    limit: Annotated[int, typer.Option(min=1, max=1_000, help="Most versions.")] = 20,
    workspace: Workspace = DEFAULT_WORKSPACE,
) -> int:
    """List the versions: who made each, when and why."""
    invocation: Invocation = context.obj

    async def work(toolbox: Toolbox) -> int:
        request = TuningHistoryRequest(workspace=workspace, limit=limit)
        invocation.output.result(await toolbox.call(catalogue.TUNING_HISTORY, request, OWNER), history_page)
        return DONE

    return invocation.ask(work)


@commands.command()
def difference(
    context: typer.Context,
    before: Annotated[int | None, typer.Argument(min=0, help="A version. [default: the one before]")] = None,
    after: Annotated[int | None, typer.Argument(min=0, help="Another. [default: the current one]")] = None,
    workspace: Workspace = DEFAULT_WORKSPACE,
) -> int:
    """Show what one version has and another has not."""
    invocation: Invocation = context.obj

    async def work(toolbox: Toolbox) -> int:
        request = TuningDifferenceRequest(workspace=workspace, before=before, after=after)
        invocation.output.result(await toolbox.call(catalogue.TUNING_DIFFERENCE, request, OWNER), difference_page)
        return DONE

    return invocation.ask(work)


@commands.command()
def rollback(
    context: typer.Context,
    version: Annotated[int, typer.Argument(min=0, help="The version to bring back.")],
    reason: Reason = "",
    workspace: Workspace = DEFAULT_WORKSPACE,
) -> int:
    """Bring an earlier version back, as a new one."""
    invocation: Invocation = context.obj

    async def work(toolbox: Toolbox) -> int:
        current = await toolbox.call(catalogue.TUNING, TuningRequest(workspace=workspace), OWNER)
        request = RollbackTuningRequest(workspace=workspace, to=version, version=current.version, reason=reason)
        invocation.output.result(await toolbox.call(catalogue.ROLLBACK_TUNING, request, OWNER), tuning_page)
        return DONE

    return invocation.ask(work)


def _amend(context: typer.Context, workspace: str, edit: Edit, reason: str) -> int:
    invocation: Invocation = context.obj

    async def work(toolbox: Toolbox) -> int:
        invocation.output.result(await amend(toolbox, OWNER, workspace, edit, reason), tuning_page)
        return DONE

    return invocation.ask(work)


def tuning_page(tuning: TuningResult) -> RenderableType:
    parts: list[RenderableType] = [Text(printable(f"{tuning.workspace}, version {tuning.version}"), style="bold")]
    if tuning.pins:
        parts += [Text(""), _pins(tuning.pins)]
    if tuning.synonyms:
        parts += [Text(""), *(Text(printable(said(one))) for one in tuning.synonyms)]
    if not tuning.pins and not tuning.synonyms:
        parts.append(Text("Nothing is pinned, and there are no synonyms."))
    return Group(*parts)


def history_page(result: TuningHistoryResult) -> RenderableType:
    if not result.versions:
        return Text("Nobody has tuned this workspace yet.")
    table = table_of("version", "at", "by", "pins", "synonyms", "why")
    for one in result.versions:
        back = "" if one.restored is None else f"version {one.restored} again"
        why = ": ".join(part for part in (back, one.reason) if part)
        add_row(table, str(one.version), one.at, one.by, str(one.pin_count), str(one.synonym_count), why)
    return table


def difference_page(result: TuningDifferenceResult) -> RenderableType:
    parts: list[RenderableType] = [Text(f"From version {result.before} to {result.after}", style="bold")]
    for mark, pins, synonyms in (
        ("+", result.added_pins, result.added_synonyms),
        ("−", result.removed_pins, result.removed_synonyms),
    ):
        parts += [Text(printable(f"{mark} {one.words} → {one.uid}, place {one.place}")) for one in pins]
        parts += [Text(printable(f"{mark} {said(one)}")) for one in synonyms]
    return Group(*parts)


def said(synonym: Synonym) -> str:
    """`k8s = kubernetes`, or one way `aks → kubernetes, cluster`."""
    return " = ".join(synonym.terms) if synonym.of is None else f"{synonym.of} → {', '.join(synonym.terms)}"


def _pins(pins: list[PinnedResult]) -> RenderableType:
    table = table_of("place", "words", "uid", "until", "note")
    for one in pins:
        words = f"{one.words} (exactly)" if one.match == "exact" else one.words
        uid = one.uid if one.locale is None else f"{one.uid}, {one.locale}"
        add_row(table, str(one.place), words, uid, one.until or "", one.note)
    return table
