"""`cogitave-query stack up|down|status|fetch|lock`: the real engines beside a data folder."""

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer
from rich.text import Text

from service.domain.errors import Unavailable
from stack import background
from stack.background import EngineState, EngineStatus
from stack.distribution import NEO4J, OPENSEARCH, prepare, write_lock
from stack.errors import StackError
from stack.java import find_java

DONE = 0
FAILED = 1

app = typer.Typer(no_args_is_help=True, add_completion=False)


@app.command()
def up(context: typer.Context) -> int:
    """Start Neo4j with Graph Data Science and OpenSearch, and leave them running; the first time fetches them."""
    return _answer(context, background.up)


@app.command()
def down(context: typer.Context) -> int:
    """Stop the engines of the data folder. What they hold stays there."""
    return _answer(context, background.down)


@app.command()
def status(context: typer.Context) -> int:
    """Tell which engines run, and where. Fails when one has crashed."""
    return _answer(context, background.status)


@app.command()
def fetch(context: typer.Context) -> int:
    """Fetch the engines' packages and compile their launchers now, so that no later start has to."""
    try:
        java = find_java()
        homes = {distribution.name: str(prepare(distribution, java).home) for distribution in (NEO4J, OPENSEARCH)}
    except StackError as error:
        raise Unavailable(str(error)) from error
    context.obj.output.document({"fetched": homes}, "\n".join(f"{name}: {home}" for name, home in homes.items()))
    return DONE


@app.command()
def lock(context: typer.Context) -> int:
    """Resolve the engines' packages anew and write their coordinates and checksums: after raising a version."""
    locks = {distribution.name: len(write_lock(distribution).jars) for distribution in (NEO4J, OPENSEARCH)}
    context.obj.output.document({"locked": locks}, "\n".join(f"{name}: {jars} jars" for name, jars in locks.items()))
    return DONE


def _answer(context: typer.Context, act: Callable[[Path], list[EngineStatus]]) -> int:
    try:
        engines = act(context.obj.data)
    except StackError as error:
        raise Unavailable(str(error)) from error
    context.obj.output.document({"engines": [_as_json(engine) for engine in engines]}, _page(engines))
    return FAILED if any(engine.state is EngineState.CRASHED for engine in engines) else DONE


def _as_json(engine: EngineStatus) -> dict[str, Any]:
    return {
        "name": engine.name,
        "state": engine.state.value,
        "url": engine.url,
        "home": str(engine.home),
        "log": str(engine.log),
        "passwordFile": str(engine.password_file) if engine.password_file else None,
    }


def _page(engines: list[EngineStatus]) -> Text:
    """Lines that may be copied: never wrapped to the terminal."""
    lines = [f"{engine.name}: {engine.state.value}  {engine.url or ''}  log {engine.log}" for engine in engines]
    lines += [f"export {line}" for engine in engines if engine.url for line in _environment(engine)]
    return Text("\n".join(lines), no_wrap=True, overflow="ignore")


def _environment(engine: EngineStatus) -> list[str]:
    """The settings by which every other command finds the engine; the password itself is never shown."""
    prefix = f"COGITAVE_QUERY_{engine.name.upper()}"
    lines = [f"{prefix}_URL={engine.url}"]
    if engine.password_file:
        lines.append(f'{prefix}_PASSWORD="$(cat {shlex.quote(str(engine.password_file))})"')
    return lines
