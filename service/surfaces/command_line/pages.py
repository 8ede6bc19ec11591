"""Each result as a person reads it on a terminal. Every text of a document goes through `printable`."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.text import Text

from service.domain.diagnostics import Severity
from service.domain.results import (
    DiagnosticResult,
    DoctorResult,
    FetchedNode,
    GraphQueryResult,
    Hit,
    ListResult,
    NodeResult,
    NodesResult,
    PassageResult,
    PublishResult,
    RootsResult,
    SearchResult,
    WhyNotResult,
)
from service.surfaces.command_line.output import printable
from service.surfaces.command_line.tables import add_row, counted, next_page, table_of

EXCERPT_BEFORE = 80
EXCERPT_CHARACTERS = 320
SHOWN_DIAGNOSTICS = 20
SEVERITIES = tuple(severity.value for severity in Severity)
SEVERITY_STYLES = {"error": "bold red", "warning": "yellow", "note": "dim"}


def search_page(result: SearchResult) -> RenderableType:
    parts: list[RenderableType] = [_hit(place, hit) for place, hit in enumerate(result.hits, start=1)]
    if not result.hits:
        parts.append(Text("Nothing found."))
    if result.explain:
        parts.append(_explanation(result))
    parts.extend(_facets(result.facets))
    parts.extend(Text(printable(notice), style="yellow") for notice in result.notices)
    parts.extend(_degraded(result.degraded))
    parts.append(Text(f"{len(result.hits)} of {result.total} within reach, {result.took_ms:.1f} ms", style="dim"))
    if result.next_cursor:
        parts.append(next_page(result.next_cursor))
    return Group(*parts)


def why_not_page(result: WhyNotResult) -> RenderableType:
    reason = f"rank {result.rank}" if result.rank else result.reason
    text = Text.assemble((printable(result.uid), "bold"), f" ({result.locale}): {reason}. {printable(result.detail)}")
    return Group(text, *_degraded(result.degraded))


def _degraded(notes: Sequence[str]) -> list[Text]:
    return [Text(f"Degraded: {printable('; '.join(notes))}.", style="bold yellow")] if notes else []


def list_page(result: ListResult) -> RenderableType:
    table = table_of("uid", "locale", "kind", "title", "docset")
    for node in result.nodes:
        add_row(table, node.uid, node.locale, node.kind, node.title, node.docset)
    parts: list[RenderableType] = [table, *_facets(result.facets)]
    parts.extend(Text(printable(notice), style="yellow") for notice in result.notices)
    parts.extend(_degraded(result.degraded))
    parts.append(Text(f"{len(result.nodes)} of {result.total}", style="dim"))
    if result.next_cursor:
        parts.append(next_page(result.next_cursor))
    return Group(*parts)


def node_page(result: NodeResult) -> RenderableType:
    parts: list[RenderableType] = [
        Text(printable(result.title), style="bold"),
        Text(f"{result.kind} {printable(result.uid)} ({result.locale})", style="dim"),
    ]
    if result.url:
        parts.append(Text(printable(result.url), style="cyan"))
    properties = table_of("property", "value")
    for name, value in result.properties.items():
        add_row(properties, name, ", ".join(map(str, value)) if isinstance(value, list) else str(value))
    parts.append(properties)
    for section in result.sections:
        if section.heading:
            parts.append(Text(f"\n{'#' * max(section.level, 1)} {printable(section.heading)}", style="bold"))
        parts.append(Text(printable(section.text)))
    if result.edges:
        edges = table_of("edge", "", "uid", "title")
        for edge in result.edges:
            add_row(edges, edge.type, "→" if edge.direction == "out" else "←", edge.uid, edge.title)
        parts.append(edges)
    if result.cut:
        told = f"The text goes on at #{printable(result.cut.next_section)}: --cursor {result.cut.next_cursor}"
        parts.append(Text(told, style="yellow"))
    if result.edges_truncated:
        parts.append(Text("There are more edges; query-graph reads them all.", style="yellow"))
    return Group(*parts)


def nodes_page(result: NodesResult) -> RenderableType:
    return Group(*(_fetched(fetched) for fetched in result.nodes))


def _fetched(fetched: FetchedNode) -> RenderableType:
    if fetched.node is not None:
        return Group(node_page(fetched.node), "")
    message = fetched.refusal.message if fetched.refusal else ""
    return Text(f"{printable(fetched.asked)}: {printable(message)}\n", style="red")


def graph_page(result: GraphQueryResult) -> RenderableType:
    table = table_of(*result.columns)
    for row in result.rows:
        add_row(table, *(_cell(value) for value in row))
    summary = f"{len(result.rows)} rows, {result.took_ms:.1f} ms"
    if result.truncated:
        summary += "; there are more than the limit lets through"
    return Group(table, Text(printable(result.cypher), style="dim"), Text(summary, style="dim"))


def publish_page(result: PublishResult) -> RenderableType:
    verb = "Would publish" if result.dry_run else "Published"
    gravest = sorted(result.diagnostics, key=lambda found: SEVERITIES.index(found.severity))
    parts: list[RenderableType] = [_diagnostic(diagnostic) for diagnostic in gravest[:SHOWN_DIAGNOSTICS]]
    hidden = len(gravest) - SHOWN_DIAGNOSTICS
    if hidden > 0:
        parts.append(Text(f"… and {hidden} more diagnostics; --json shows all.", style="dim"))
    if gravest:
        codes = Counter((found.severity, found.code) for found in gravest)
        said = ", ".join(f"{severity} {code} {count}" for (severity, code), count in codes.items())
        parts.append(Text(f"Diagnostics: {said}."))
    parts += [
        Text(f"{verb} {counted(result.nodes)}; {result.passages} passages."),
        Text(f"Edges: {counted(result.edges)}."),
        Text(
            f"Records: {result.added} added, {result.changed} changed, {result.removed} removed, "
            f"{result.unchanged} unchanged; "
            f"{result.embedded} texts embedded, {result.seconds:.1f} s.",
        ),
        Text(f"Content root {result.content_root[:12]}, generation {result.generation}.", style="dim"),
    ]
    return Group(*parts)


def findings_page(diagnostics: Sequence[DiagnosticResult]) -> RenderableType:
    """All of them, for whoever has to mend each."""
    return Group(*map(_diagnostic, diagnostics))


def _facets(facets: Mapping[str, Mapping[str, int]]) -> list[RenderableType]:
    """One line a facet; the counts are of the filtered estate, not of the hits."""
    return [Text.assemble((f"{name}: ", "bold"), printable(counted(counts))) for name, counts in facets.items()]


def roots_page(result: RootsResult) -> RenderableType:
    table = table_of("", "content root", "generation", "published", "nodes", "passages")
    for root in result.roots:
        mark = "*" if root.current else ""
        add_row(
            table,
            mark,
            root.content_root,
            str(root.generation),
            root.published_at,
            str(root.nodes),
            str(root.passages),
        )
    return table


def doctor_page(result: DoctorResult) -> RenderableType:
    table = table_of("store", "finding", "count", "examples")
    for finding in result.findings:
        add_row(table, finding.store, finding.code, str(finding.count), ", ".join(finding.examples))
    verdict = Text("All stores hold the same snapshot.", style="green") if result.healthy else table
    counts = f"{result.nodes} nodes from {result.records} records, {result.passages} passages"
    about = f"Content root {result.content_root[:12]}, {counts}."
    return Group(verdict, Text(about, style="dim"))


def migration_page(steps: Sequence[Mapping[str, str | int]], *, dry_run: bool) -> RenderableType:
    table = table_of("engine", "number", "step")
    for step in steps:
        add_row(table, *(str(step[name]) for name in ("engine", "number", "name")))
    if not steps:
        return Text("Nothing to do.")
    return Group(table, Text("Nothing was done: a dry run.", style="dim")) if dry_run else table


def _hit(place: int, hit: Hit) -> RenderableType:
    title = Text.assemble((f"{place:2} ", "dim"), (printable(hit.title), "bold"))
    if hit.passage.heading and hit.passage.heading != hit.title:
        title.append(f" › {printable(hit.passage.heading)}")
    title.append(f"  {hit.score:.3f}", style="magenta")
    about = [hit.kind, hit.locale, hit.docset, hit.uid]
    lines: list[RenderableType] = [excerpt(hit.passage), Text(printable(" · ".join(filter(None, about))), style="dim")]
    if hit.url:
        lines.insert(0, Text(printable(hit.url), style="cyan"))
    if hit.unverified:
        lines.append(Text("unverified: the graph did not answer", style="yellow"))
    return Group(title, Padding(Group(*lines), (0, 0, 1, 3), expand=False))


def excerpt(passage: PassageResult) -> Text:
    """The stretch of the passage around its first highlight, matches marked; cuts show as an ellipsis."""
    first = min((start for start, _ in passage.highlights), default=0)
    begin = max(0, first - EXCERPT_BEFORE)
    end = begin + EXCERPT_CHARACTERS
    shown = Text(printable(passage.text[begin:end]).replace("\n", " ").replace("\t", " "))
    for start, stop in passage.highlights:
        if begin <= start < end:
            shown.stylize("bold yellow", start - begin, min(stop, end) - begin)
    if begin:
        shown = Text("…") + shown
    if end < len(passage.text):
        shown.append("…")
    return shown


def _explanation(result: SearchResult) -> RenderableType:
    """Hits by rows, what each was worth by columns; then how each leg fared."""
    assert result.explain is not None
    legs = [leg.leg for leg in result.explain.legs]
    table = table_of("", "title", *legs, "rrf", "normalised", "prior", "factors", "final")
    for place, hit in enumerate(result.hits, start=1):
        explain = hit.explain
        if explain is None:
            continue
        ranks = {rank.leg: f"{rank.rank} ({rank.score:.3f})" for rank in explain.legs}
        factors = ", ".join(f"{factor.signal} ×{factor.factor:.3f} ({factor.places:+})" for factor in explain.factors)
        add_row(
            table,
            str(place),
            hit.title,
            *(ranks.get(leg, "–") for leg in legs),
            f"{explain.rrf:.5f}",
            f"{explain.rrf_normalised:.3f}",
            f"{explain.prior:.3f}",
            factors or "–",
            f"{explain.final:.3f}",
        )
    reports = table_of("leg", "engine", "state", "hits", "ms", "reason")
    for leg in result.explain.legs:
        add_row(reports, leg.leg, leg.engine, leg.state, str(leg.hits), f"{leg.took_ms:.1f}", leg.reason or "")
    anchors = [Text(printable(f"anchor: {anchor.title} ({anchor.via})")) for anchor in result.explain.anchors]
    timings = ", ".join(f"{stage} {took:.1f}" for stage, took in result.explain.timings_ms.items())
    return Group(table, reports, *anchors, Text(f"k = {result.explain.k}; milliseconds: {timings}", style="dim"))


def _diagnostic(diagnostic: DiagnosticResult) -> Text:
    line = Text.assemble(
        f"{printable(diagnostic.file)}:{diagnostic.line}:{diagnostic.column}: ",
        (diagnostic.severity, SEVERITY_STYLES.get(diagnostic.severity, "")),
        f" {diagnostic.code}: {printable(diagnostic.message)}",
    )
    if diagnostic.fix:
        line.append(f" {printable(diagnostic.fix)}", style="green")
    return line


def _cell(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
