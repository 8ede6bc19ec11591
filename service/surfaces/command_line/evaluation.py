"""`evaluate`: judged sets under one configuration or several, and what a person reads of it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text

from service.domain.principal import ANONYMOUS
from service.domain.requests import GraphQueryRequest, SearchRequest
from service.domain.results import ComparisonResult, EvaluatedSet, EvaluationResult, SearchResult
from service.settings import Settings
from service.surfaces.command_line.endings import DONE, PARTLY_DONE
from service.surfaces.command_line.invocation import Invocation
from service.surfaces.command_line.output import printable
from service.surfaces.command_line.tables import add_row, table_of
from service.tools import catalogue
from service.tools.toolbox import Toolbox

commands = typer.Typer()

_SHOWN = 10
"""Wins, and losses, that a page shows of each comparison."""


@commands.command()
def evaluate(
    context: typer.Context,
    sets: Annotated[
        list[Path],
        typer.Argument(metavar="SET…", help="A folder of queries and judgments, or one of its judgments files."),
    ],
    config: Annotated[
        list[Path] | None,
        typer.Option("--config", metavar="FILE", help="TOML: settings and request of a configuration; repeatable."),
    ] = None,
    per_query: Annotated[bool, typer.Option("--per-query", help="Each query's values, wins and losses.")] = False,
) -> int:
    """Judge the published estate's rankings: nDCG@10, MRR and recall@100, configurations side by side."""
    from service.evaluation.configurations import load_configuration, own_configuration  # loads what measures
    from service.evaluation.evaluator import evaluate as judge
    from service.evaluation.sets import find_set
    from service.surfaces.command_line.access import own

    invocation: Invocation = context.obj
    settings = invocation.settings().settings
    configurations = [load_configuration(file, settings) for file in config or ()] or [own_configuration(settings)]
    judged = [find_set(path) for path in sets]

    @asynccontextmanager
    async def open_estate(settings: Settings) -> AsyncIterator[_Estate]:
        async with own(settings, invocation.data) as owned:
            yield _Estate(owned.toolbox)

    with invocation.output.progress() as progress:
        result = asyncio.run(judge(judged, configurations, open_estate, per_query=per_query, progress=progress))
    invocation.output.result(result, evaluation_page)
    is_whole = all(one.queries and not any(c.degraded for c in one.configurations) for one in result.sets)
    return DONE if is_whole else PARTLY_DONE


@dataclass(frozen=True, slots=True)
class _Estate:
    """The published estate as everyone sees it."""

    toolbox: Toolbox

    async def search(self, request: SearchRequest) -> SearchResult:
        return await self.toolbox.call(catalogue.SEARCH, request, ANONYMOUS)

    async def look(self, cypher: str, parameters: dict[str, object]) -> list[list[object]]:
        request = GraphQueryRequest(cypher=cypher, parameters=parameters)
        return (await self.toolbox.call(catalogue.GRAPH_QUERY, request, ANONYMOUS)).rows


def evaluation_page(result: EvaluationResult) -> RenderableType:
    return Group(*(part for one in result.sets for part in _set(one)))


def _set(one: EvaluatedSet) -> list[RenderableType]:
    parts: list[RenderableType] = [Text(printable(f"{one.name}: {one.queries} queries"), style="bold")]
    if one.left_out or one.missing:
        words = f"{one.left_out} queries are left out; {len(one.missing)} documents judged relevant are not here"
        example = f", such as {one.missing[0]}" if one.missing else ""
        parts.append(Text(printable(f"{words}{example}."), style="yellow"))
    if one.configurations:
        names = list(one.configurations[0].metrics)
        table = table_of("configuration", *names)
        for configuration in one.configurations:
            add_row(table, configuration.name, *(f"{configuration.metrics[name]:.4f}" for name in names))
        parts.append(table)
    parts.extend(
        Text(printable(f"{c.name}: {c.degraded} queries were answered in part."), style="bold yellow")
        for c in one.configurations
        if c.degraded
    )
    parts.extend(
        Text(
            printable(
                f"{c.name}: an edge joins the answer to the reader's document in {c.given_away} queries, and the graph "
                "prior starts there. What it gains on them says little of answers that nobody has linked yet."
            ),
            style="yellow",
        )
        for c in one.configurations
        if c.given_away
    )
    for comparison in one.comparisons:
        parts.extend(_comparison(comparison))
    return [*parts, Text("")]


def _comparison(one: ComparisonResult) -> list[RenderableType]:
    words = (
        f"{one.candidate} − {one.baseline}, {one.measure}: {one.difference:+.4f} [{one.low:+.4f}, {one.high:+.4f}], "
        f"p = {one.p_value:.4f}, {one.wins} won, {one.losses} lost, {one.ties} even"
    )
    parts: list[RenderableType] = [Text(printable(words))]
    if one.queries:
        gains = [query for query in one.queries if query.candidate > query.baseline][:_SHOWN]
        losses = [query for query in one.queries if query.candidate < query.baseline][-_SHOWN:]
        table = table_of("query", one.baseline, one.candidate)
        for query in [*gains, *losses]:
            add_row(table, query.query, f"{query.baseline:.4f}", f"{query.candidate:.4f}")
        parts.append(table)
    return parts
