"""Hits: a page of the ranking with its passages, their highlights, and what is shown of each node."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from service.domain.content import Passage, PassageKey
from service.domain.deadline import Deadline
from service.domain.errors import EngineUnavailable
from service.domain.filters import NodeFilter, SearchScope
from service.domain.results import Hit, PassageResult
from service.ports import LexicalIndex, Span, TokenCounter, VectorIndex
from service.publishing.measured_text import MeasuredText
from service.retrieval.engines import LEXICAL, VECTOR, Retrieval
from service.retrieval.ranking import Ranked
from service.retrieval.window import Window

TextEngine = tuple[LexicalIndex | VectorIndex, int]
"""An engine that stores passages, and how many milliseconds it may take."""


async def load_hits(
    page: list[Ranked], window: Window, retrieval: Retrieval, deadline: Deadline
) -> tuple[list[Hit], list[str]]:
    """The page's hits with their passages, and what is missing of them. Raises EngineUnavailable when no text engine
    has any of them."""
    keys = [node.passage for node in page]
    # What the filter lets through the legs have decided; who may see it every engine is asked again.
    scope = replace(window.scope, filter=NodeFilter())
    loading = load_passages(keys, scope, in_order(window, retrieval), deadline=deadline)
    passages, lost = await window.timings.measure("passages", loading)
    marking = _highlights(window.wording, list(passages.values()), retrieval, deadline)
    highlights, unmarked = await window.timings.measure("highlight", marking)
    missing = [f"{part}: {why}" for part, why in (("passages", lost), ("highlights", unmarked)) if why]
    return hits_of(page, passages, highlights), missing


def in_order(window: Window, retrieval: Retrieval) -> list[TextEngine]:
    """The engines whose legs answered come first: one that hangs would eat the time of the other."""
    engines: dict[str, TextEngine] = {
        LEXICAL: (retrieval.lexical, retrieval.settings.lexical_deadline),
        VECTOR: (retrieval.vectors, retrieval.settings.vector_deadline),
    }
    live = {run.leg.name for run in window.runs if run.is_live}
    return [engines[name] for name in sorted(engines, key=lambda name: name not in live)]


async def load_passages(
    keys: Sequence[PassageKey], scope: SearchScope, engines: Sequence[TextEngine], *, deadline: Deadline
) -> tuple[dict[PassageKey, Passage], str | None]:
    """The passages from whichever text engine has them, asked in turn: one may be down, or still filling. And why some
    are missing, where an engine that may have them could not be asked."""
    found: dict[PassageKey, Passage] = {}
    failure: EngineUnavailable | None = None
    for index, milliseconds in engines:
        missing = [key for key in keys if key not in found]
        if not missing:
            break
        try:
            found |= await index.passages(missing, scope, deadline=deadline.at_most(milliseconds))
        except EngineUnavailable as error:
            failure = error
    if failure is None or len(found) == len(set(keys)):
        return found, None
    if not found:
        raise failure
    return found, failure.reason


def hits_of(
    page: Sequence[Ranked],
    passages: Mapping[PassageKey, Passage],
    highlights: Mapping[PassageKey, tuple[Span, ...]],
) -> list[Hit]:
    """The page as the caller sees it. A node whose passage was lost on the way is left out."""
    hits = []
    for node in page:
        passage = passages.get(node.passage)
        if passage is not None:
            hits.append(_hit(node, passage, highlights.get(passage.key, ())))
    return hits


def within(hits: Sequence[Hit], tokens: int, counter: TokenCounter) -> list[Hit]:
    """The hits with as much of their passages as there are tokens for, the best hits' first."""
    shown, left = [], tokens
    for hit in hits:
        measured = MeasuredText(hit.passage.text, counter)
        if measured.tokens <= left:
            left -= measured.tokens
            shown.append(hit)
        else:
            shown.append(hit.model_copy(update={"passage": _cut(hit.passage, measured.reach(0, left) if left else 0)}))
            left = 0
    return shown


def _cut(passage: PassageResult, end: int) -> PassageResult:
    marked = [(start, min(stop, end)) for start, stop in passage.highlights if start < end]
    return passage.model_copy(update={"text": passage.text[:end], "highlights": marked, "is_cut": True})


def _hit(node: Ranked, passage: Passage, spans: tuple[Span, ...]) -> Hit:
    card = node.card
    projected = passage.node
    successor = card.successor if card else None
    return Hit(
        uid=node.identity.uid,
        locale=node.identity.locale,
        title=card.title if card else projected.title,
        url=_with_fragment(card.url if card else projected.url, passage.anchor),
        kind=card.kind if card else projected.kind.value,
        type=card.type if card else projected.type,
        docset=card.docset if card else projected.docset,
        summary=card.summary if card else projected.summary,
        language=projected.language,
        score=node.final,
        passage=PassageResult(
            text=passage.text,
            heading=passage.heading,
            anchor=passage.anchor,
            highlights=[(span.start, span.end) for span in spans],
        ),
        superseded_by=successor.uid if successor else None,
        pinned=node.pin is not None,
        unverified=card is None,
    )


def _with_fragment(url: str | None, anchor: str) -> str | None:
    if url is None or not anchor or "#" in url:
        return url
    return f"{url}#{anchor}"


async def _highlights(
    text: str, passages: list[Passage], retrieval: Retrieval, deadline: Deadline
) -> tuple[dict[PassageKey, tuple[Span, ...]], str | None]:
    """None, and why, when the lexical engine can't say: the passages still speak for themselves."""
    try:
        spans = await retrieval.lexical.highlight(text, passages, deadline=deadline)
    except EngineUnavailable as error:
        return {}, error.reason
    return {passage.key: found for passage, found in zip(passages, spans, strict=True)}, None
