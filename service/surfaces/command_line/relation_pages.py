"""What lies around a node, as a person reads it on a terminal: relations, ways to a goal, names, samples, schema."""

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from service.domain.results import (
    CodeSample,
    LearningPathResult,
    PathStep,
    RelatedResult,
    SampleResult,
    SchemaResult,
    SuggestResult,
    XrefResult,
)
from service.surfaces.command_line.output import printable
from service.surfaces.command_line.tables import add_row, counted, next_page, table_of


def related_page(result: RelatedResult) -> RenderableType:
    table = table_of("uid", "kind", "title", "by")
    for node in result.related:
        add_row(table, node.uid, node.kind, node.title, " ".join(_step(step) for step in node.path))
    parts: list[RenderableType] = [table]
    if result.truncated:
        parts.append(Text("There are more; --limit shows them.", style="yellow"))
    if result.degraded:
        parts.append(Text(f"Degraded: {printable('; '.join(result.degraded))}.", style="bold yellow"))
    return Group(*parts)


def learning_path_page(result: LearningPathResult) -> RenderableType:
    table = table_of("", "uid", "title", "minutes", "teaches")
    for place, step in enumerate(result.steps, start=1):
        minutes = "" if step.minutes is None else str(step.minutes)
        add_row(table, str(place), step.uid, step.title, minutes, ", ".join(step.teaches))
    parts: list[RenderableType] = [table, Text(f"{len(result.steps)} steps, {result.minutes} minutes", style="dim")]
    if not result.reachable:
        parts.append(Text("The goal is not reached by what the estate teaches.", style="bold yellow"))
    if result.within_budget is False:
        parts.append(Text("That is more time than there is.", style="yellow"))
    for missing in result.missing:
        wanted = "" if missing.required_by == missing.uid else f", which {missing.required_by} requires"
        words = f"Nothing teaches {missing.title} ({missing.uid}){wanted}."
        parts.append(Text(printable(words), style="yellow"))
    for cycle in result.cycles:
        parts.append(Text(printable(f"These require each other: {' → '.join(cycle)}"), style="yellow"))
    parts.extend(Text(printable(notice), style="yellow") for notice in result.notices)
    return Group(*parts)


def xref_page(result: XrefResult) -> RenderableType:
    table = table_of("asked", "via", "uid", "title", "url")
    for found in result.resolutions:
        told = found.uid if found.found else f"? {', '.join(found.suggestions)}"
        add_row(table, found.asked, found.via, told or "", found.title or "", found.url or "")
    return table


def suggest_page(result: SuggestResult) -> RenderableType:
    if not result.suggestions:
        return Text("Nothing is called anything like it.")
    table = table_of("text", "uid", "kind")
    for found in result.suggestions:
        add_row(table, found.text, found.uid, found.kind)
    return table


def samples_page(result: SampleResult) -> RenderableType:
    parts: list[RenderableType] = [_sample(place, sample) for place, sample in enumerate(result.samples, start=1)]
    if not result.samples:
        parts.append(Text("Nothing found."))
    if result.languages:
        parts.append(Text(f"languages: {printable(counted(result.languages))}", style="dim"))
    parts.extend(Text(printable(notice), style="yellow") for notice in result.notices)
    if result.degraded:
        parts.append(Text(f"Degraded: {printable('; '.join(result.degraded))}.", style="bold yellow"))
    if result.next_cursor:
        parts.append(next_page(result.next_cursor))
    return Group(*parts)


def schema_page(result: SchemaResult) -> RenderableType:
    parts: list[RenderableType] = [
        Text(f"Nodes: {counted(result.labels)}."),
        Text(f"Edges: {counted(result.edge_types)}."),
        Text(f"Properties: {', '.join(result.properties)}."),
        Text(f"\n{printable(result.grammar)}"),
    ]
    parts.extend(Text(f"\n{printable(example)}", style="cyan") for example in result.examples)
    return Group(*parts)


def _sample(place: int, sample: CodeSample) -> RenderableType:
    title = Text.assemble((f"{place:2} ", "dim"), (printable(sample.title), "bold"))
    title.append(f"  {sample.language or ''}  {sample.score:.3f}", style="magenta")
    code = Text(printable(sample.code))
    for start, stop in sample.highlights:
        code.stylize("bold yellow", start, stop)
    lines: list[RenderableType] = [code]
    if sample.owner_uid:
        owner = f"{sample.owner_title or ''} · {sample.owner_uid} · {sample.owner_url or ''}"
        lines.append(Text(printable(owner), style="dim"))
    return Group(title, Padding(Group(*lines), (0, 0, 1, 3), expand=False))


def _step(step: PathStep) -> str:
    arrow = f"-{step.type}->" if step.direction == "out" else f"<-{step.type}-"
    return f"{arrow} {step.uid}"
