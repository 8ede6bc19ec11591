"""The fused window: which of its nodes the graph still holds, and the hits of one page of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from service.domain.content import Passage, PassageKey
from service.domain.deadline import Deadline
from service.domain.errors import EngineUnavailable
from service.domain.filters import SearchScope
from service.domain.graph import NodeIdentity
from service.domain.results import Hit, PassageResult
from service.ports import GraphReader, LexicalIndex, Span, VectorIndex
from service.retrieval.fusion import Fused
from service.statements import hydrate


@dataclass(frozen=True, slots=True)
class Page:
    """Consecutive nodes of the window. `next_position` is None at its end; `graph_failure`: why none is verified."""

    nodes: tuple[Fused, ...]
    display: Mapping[NodeIdentity, Mapping[str, Any]]
    next_position: int | None
    graph_failure: str | None = None


async def verified_page(
    window: Sequence[Fused],
    position: int,
    size: int,
    *,
    graph: GraphReader,
    audiences: frozenset[str],
    deadline: Deadline,
) -> Page:
    """The next `size` nodes from `position` on whose passages the graph's snapshot holds.

    A passage whose content hash is not its node's belongs to another snapshot: it is passed over, so that the pages of
    a window never overlap and never miss. With the graph down all nodes are let through, and the page says so.
    """
    nodes: list[Fused] = []
    display: dict[NodeIdentity, Mapping[str, Any]] = {}
    while len(nodes) < size and position < len(window):
        batch = window[position : position + size - len(nodes)]
        try:
            rows = await graph.run(hydrate([node.identity for node in batch], audiences), deadline=deadline)
        except EngineUnavailable as error:
            end = position + len(batch)
            return Page((*nodes, *batch), display, end if end < len(window) else None, error.reason)
        found = {row["key"]: row for row in (dict(zip(rows.columns, values, strict=True)) for values in rows.rows)}
        for node in batch:
            row = found.get(node.identity.key)
            if row is not None and row["contentHash"] == node.best_vote.hit.passage.content_hash:
                nodes.append(node)
                display[node.identity] = row
        position += len(batch)
    return Page(tuple(nodes), display, position if position < len(window) else None)


async def load_passages(
    keys: Sequence[PassageKey], scope: SearchScope, *, lexical: LexicalIndex, vectors: VectorIndex, deadline: Deadline
) -> dict[PassageKey, Passage]:
    """The passages from whichever text engine has them: one may be down, or still filling."""
    found: dict[PassageKey, Passage] = {}
    failure: EngineUnavailable | None = None
    for index in (lexical, vectors):
        missing = [key for key in keys if key not in found]
        if not missing:
            break
        try:
            found |= await index.passages(missing, scope, deadline=deadline)
        except EngineUnavailable as error:
            failure = error
    if failure is not None and not found and keys:
        raise failure
    return found


def hits_of(
    page: Page, passages: Mapping[PassageKey, Passage], highlights: Mapping[PassageKey, tuple[Span, ...]]
) -> list[Hit]:
    """The page as the caller sees it. A node whose passage was lost on the way is left out."""
    hits = []
    for node in page.nodes:
        passage = passages.get(node.best_vote.hit.passage)
        if passage is not None:
            row = page.display.get(node.identity)
            hits.append(_hit(node, passage, row, highlights.get(passage.key, ())))
    return hits


def _hit(node: Fused, passage: Passage, row: Mapping[str, Any] | None, spans: tuple[Span, ...]) -> Hit:
    projected = passage.node
    shown: Mapping[str, Any] = row or {
        "title": projected.title,
        "url": projected.url,
        "kind": projected.kind.value,
        "type": projected.type,
        "docset": projected.docset,
        "summary": projected.summary,
    }
    return Hit(
        uid=node.identity.uid,
        locale=node.identity.locale,
        title=shown["title"],
        url=_with_fragment(shown["url"], passage.anchor),
        kind=shown["kind"],
        type=shown["type"],
        docset=shown["docset"],
        summary=shown["summary"],
        score=node.score,
        passage=PassageResult(
            text=passage.text,
            heading=passage.heading,
            anchor=passage.anchor,
            highlights=[(span.start, span.end) for span in spans],
        ),
        unverified=row is None,
    )


def _with_fragment(url: str | None, anchor: str) -> str | None:
    if url is None or not anchor or "#" in url:
        return url
    return f"{url}#{anchor}"
