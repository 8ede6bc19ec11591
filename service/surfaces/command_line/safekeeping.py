"""The commands that keep what was published safe, and bring it to another model."""

import asyncio
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from service.domain.upkeep import ReembedEstimate
from service.surfaces.command_line import pages, upkeep_pages
from service.surfaces.command_line.endings import DONE, FAILED
from service.surfaces.command_line.invocation import Invocation
from service.surfaces.command_line.output import printable

commands = typer.Typer()


@commands.command()
def backup(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The archive to write; one that is there is left as it is.")],
) -> int:
    """Back up what was published into one file, also while a server answers and publishes."""
    from service import bootstrap  # loads the engines

    invocation: Invocation = context.obj
    result = asyncio.run(bootstrap.back_up(invocation.settings().settings, invocation.data, file))
    invocation.output.result(result, upkeep_pages.backup_page)
    return DONE


@commands.command()
def restore(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="An archive that `backup` wrote.")],
) -> int:
    """Make a new data folder of a backup, and prove that it is whole."""
    from service import bootstrap  # loads the engines

    invocation: Invocation = context.obj
    with invocation.output.progress() as progress:
        result = asyncio.run(bootstrap.restore(invocation.settings().settings, invocation.data, file, progress))
    invocation.output.result(result, pages.doctor_page)
    return DONE if result.healthy else FAILED


@commands.command("support-bundle")
def support_bundle(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(help="The zip file to write; one that is there is left as it is.")],
) -> int:
    """Gather what somebody who helps wants to see: no secret, and no word of a caller."""
    from service.surfaces.command_line.bundle import write_bundle  # loads the web framework's parts

    invocation: Invocation = context.obj
    with invocation.output.progress() as progress:
        held = asyncio.run(write_bundle(file, invocation, progress))
    text = Text(
        f"{printable(str(file))} holds {', '.join(held)}. It has no secret and no word of a caller; look anyway."
    )
    invocation.output.document({"file": str(file), "holds": held}, text)
    return DONE


@commands.command()
def reembed(
    context: typer.Context,
    estimate_only: Annotated[
        bool, typer.Option("--estimate", help="Say how much there is to read and how long it takes, and end.")
    ] = False,
) -> int:
    """Embed the estate with the settings' model, beside the vectors that answer now."""
    from service import bootstrap  # loads the engines

    invocation: Invocation = context.obj
    output = invocation.output
    settings = invocation.settings().settings

    async def work() -> None:
        async with bootstrap.open_reembedding(settings, invocation.data) as reembedding:
            estimate: ReembedEstimate = await reembedding.estimate(settings.reembed_sample)
            if estimate_only:
                output.result(estimate, upkeep_pages.estimate_page)
                return
            output.remark(upkeep_pages.estimate_page(estimate))
            with output.progress() as progress:
                result = await reembedding.run(progress)
            output.result(result, upkeep_pages.reembed_page)

    asyncio.run(work())
    return DONE
