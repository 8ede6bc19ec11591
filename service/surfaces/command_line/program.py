"""The program: the commands put together, and how each run of it ends."""

import importlib.util
import io
import sys
from collections.abc import Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Annotated

import structlog
import typer

from service.surfaces.command_line import evaluation, keys, questions, relations, runs, safekeeping, tuning, upkeep
from service.surfaces.command_line.endings import DONE, INTERRUPTED, PIPE_CLOSED, exit_code, is_foreseen
from service.surfaces.command_line.invocation import Invocation
from service.surfaces.command_line.output import Output, discard_stdout
from service.surfaces.logging import configure_logging

app = typer.Typer(
    name="cogitave-query",
    help="Search a documentation and learning estate, and query its graph.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["--help", "-h"]},
)
app.add_typer(upkeep.commands)
app.add_typer(safekeeping.commands)
app.add_typer(questions.commands)
app.add_typer(relations.commands)
app.add_typer(evaluation.commands)
app.add_typer(keys.commands, name="keys")
app.add_typer(runs.commands, name="runs")
app.add_typer(tuning.commands, name="tuning")


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
