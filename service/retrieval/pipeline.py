"""The way of one query: anchors and legs side by side, fusion, a page of the window, its passages and highlights."""

import asyncio
import time
import uuid
from collections.abc import Awaitable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import TypeVar

from service.domain.content import Passage, PassageKey
from service.domain.deadline import Deadline
from service.domain.errors import AllLegsDown, CursorStale, EngineUnavailable
from service.domain.filters import READ_KINDS, NodeFilter, SearchScope
from service.domain.principal import Principal
from service.domain.requests import SearchRequest
from service.domain.results import Hit, SearchResult
from service.domain.snapshots import EMPTY_ROOT, Snapshot
from service.ports import GraphReader, GraphStore, LexicalIndex, PassageHit, RunLog, Span, VectorIndex
from service.retrieval import paging
from service.retrieval.anchors import Anchor, find_anchors
from service.retrieval.breaker import Breaker
from service.retrieval.explanation import explain_hits, explain_search
from service.retrieval.facets import FacetCounter
from service.retrieval.fusion import Fused, Ranking, fuse
from service.retrieval.legs import Leg, LegRun, degraded, run_legs
from service.retrieval.query_vectors import QueryVectors
from service.retrieval.question import check_text
from service.retrieval.ranking import Ranked
from service.retrieval.window import Caller, Ranker, hits_of, load_passages
from service.settings import Settings

LEXICAL = "lexical"
VECTOR = "vector"

_SNAPSHOT_ATTEMPTS = 4
"""How often a query starts again because a publish replaced the snapshot under it."""


T = TypeVar("T")


class SnapshotMoved(Exception):
    """A publish committed while the query ran: what was read may be of two snapshots."""


@dataclass
class Retrieval:
    """The engines of the pipeline with their breakers. Made once by `bootstrap`; holds no state of any query."""

    lexical: LexicalIndex
    vectors: VectorIndex
    graph: GraphReader
    store: GraphStore
    query_vectors: QueryVectors
    ranker: Ranker
    facets: FacetCounter
    run_log: RunLog
    settings: Settings
    breakers: Mapping[str, Breaker] = field(init=False)

    def __post_init__(self) -> None:
        self.breakers = {
            name: Breaker(self.settings.breaker_failures, self.settings.breaker_pause / 1000)
            for name in (LEXICAL, VECTOR)
        }


@dataclass
class Timings:
    """Milliseconds by stage, the query's own embedding apart from the vector search."""

    milliseconds: dict[str, float] = field(default_factory=dict)

    async def measure(self, stage: str, work: Awaitable[T]) -> T:
        started = time.perf_counter()
        try:
            return await work
        finally:
            self.milliseconds[stage] = (time.perf_counter() - started) * 1000


@dataclass(frozen=True)
class Window:
    """One run of the legs, fused: everything that paging walks over."""

    snapshot: Snapshot
    scope: SearchScope
    runs: tuple[LegRun, ...]
    anchors: tuple[Anchor, ...]
    nodes: tuple[Fused, ...]
    degraded: tuple[str, ...]
    notices: tuple[str, ...]
    timings: Timings


async def search(request: SearchRequest, principal: Principal, retrieval: Retrieval) -> SearchResult:
    """Answer one search. Raises `Refused` for a request at fault and AllLegsDown when nothing could answer."""
    started = time.perf_counter()
    for _ in range(_SNAPSHOT_ATTEMPTS):
        try:
            result = await _search_once(request, principal, retrieval, started)
        except SnapshotMoved:
            continue
        retrieval.run_log.append(_run_record(request, principal, result))
        return result
    raise AllLegsDown("The estate is being published faster than it can be read; try again in a moment.")


def searched(request: SearchRequest) -> NodeFilter:
    """The request's filter, with the kinds that a search looks through where it names none."""
    narrowed = NodeFilter.from_mapping(request.filter)
    return narrowed if narrowed.kind else replace(narrowed, kind=READ_KINDS)


async def open_window(
    request: SearchRequest,
    principal: Principal,
    retrieval: Retrieval,
    snapshot: Snapshot,
    deadline: Deadline,
    *,
    legs: tuple[str, ...] = (LEXICAL, VECTOR),
    depth: int | None = None,
) -> Window:
    """Run the named legs and fuse them. Raises AllLegsDown."""
    settings = retrieval.settings
    text = check_text(request.text, settings)
    scope = SearchScope.of(principal, snapshot.generation, searched(request))
    timings = Timings()
    chosen = await _legs(text, scope, depth or settings.leg_depth, retrieval, snapshot, timings)
    runs, (anchors, anchor_failure) = await asyncio.gather(
        run_legs([leg for leg in chosen if leg.name in legs], deadline),
        _anchors(request, text, principal, retrieval, deadline, timings),
    )
    live = [run for run in runs if run.is_live]
    if not live:
        reasons = "; ".join(degraded(runs))
        raise AllLegsDown(f"No retriever can answer now ({reasons}). Try again in a moment.")
    fused = fuse([Ranking(run.leg.name, run.leg.weight, run.hits) for run in live], k=settings.fusion_k)
    notes = degraded(runs) + ([f"anchors: {anchor_failure}"] if anchor_failure else [])
    notices = ("Nothing has been published here yet.",) if snapshot.content_root == EMPTY_ROOT else ()
    return Window(snapshot, scope, tuple(runs), tuple(anchors), tuple(fused), tuple(notes), notices, timings)


async def _search_once(
    request: SearchRequest, principal: Principal, retrieval: Retrieval, started: float
) -> SearchResult:
    settings = retrieval.settings
    deadline = Deadline.after(settings.request_deadline)
    size = paging.page_size(request.limit, settings)
    snapshot = await retrieval.store.snapshot()
    pinned = paging.fingerprint(request, principal.visibility_class)
    cursor = None
    if request.cursor is not None:
        cursor = paging.decode(request.cursor, request=pinned, snapshot=snapshot, longest=settings.cursor_characters)
    window = await open_window(
        request, principal, retrieval, snapshot, deadline, legs=cursor.legs if cursor else (LEXICAL, VECTOR)
    )
    live = tuple(run.leg.name for run in window.runs if run.is_live)
    if cursor is not None and live != cursor.legs:
        raise CursorStale("A retriever that ranked the first page is down now; send the request without the cursor.")
    as_of = cursor.as_of if cursor else datetime.now(UTC).isoformat(timespec="seconds")
    (ranked, left_out), (facets, uncounted) = await asyncio.gather(
        rank_window(window, request, principal, retrieval, as_of, deadline),
        retrieval.facets.count(
            request.facets,
            NodeFilter.from_mapping(request.filter),
            snapshot.content_root,
            principal.audiences,
            deadline=deadline,
        ),
    )
    start = int(cursor.position) if cursor else 0
    page = ranked[start : start + size]
    hits = await _load_hits(page, request, window, retrieval, deadline)
    if (await retrieval.store.snapshot()).content_root != snapshot.content_root:
        raise SnapshotMoved
    if request.explain:
        hits = explain_hits(hits, ranked, gain=settings.prior_gain, clamp=settings.boost_clamp)
    next_cursor = None
    if start + size < len(ranked):
        next_cursor = paging.Cursor(snapshot.content_root, pinned, as_of, live, start + size).encode()
    return SearchResult(
        hits=hits,
        total=len(ranked),
        next_cursor=next_cursor,
        facets={name: dict(counts) for name, counts in facets.items()},
        degraded=[*window.degraded, *left_out, *uncounted],
        notices=list(window.notices),
        content_root=snapshot.content_root,
        ontology_hash=snapshot.ontology_hash,
        run_id=uuid.uuid4().hex,
        took_ms=(time.perf_counter() - started) * 1000,
        explain=explain_search(window.runs, window.anchors, window.timings.milliseconds, settings.fusion_k, as_of)
        if request.explain
        else None,
    )


async def rank_window(
    window: Window,
    request: SearchRequest,
    principal: Principal,
    retrieval: Retrieval,
    as_of: str,
    deadline: Deadline,
) -> tuple[list[Ranked], list[str]]:
    """The window in its final order, and what the ranking had to do without."""
    caller = Caller(
        request.profile, principal.audiences, frozenset(request.without_signals), datetime.fromisoformat(as_of)
    )
    anchors = [anchor.identity for anchor in window.anchors if anchor.is_certain]
    ranking = retrieval.ranker.rank(window.nodes, anchors, window.snapshot.content_root, caller, deadline)
    return await window.timings.measure("ranking", ranking)


async def _load_hits(
    page: list[Ranked], request: SearchRequest, window: Window, retrieval: Retrieval, deadline: Deadline
) -> list[Hit]:
    keys = [node.fused.best_vote.hit.passage for node in page]
    loading = load_passages(keys, window.scope, lexical=retrieval.lexical, vectors=retrieval.vectors, deadline=deadline)
    passages = await window.timings.measure("passages", loading)
    marking = _highlights(request.text, list(passages.values()), retrieval, deadline)
    return hits_of(page, passages, await window.timings.measure("highlight", marking))


async def _legs(
    text: str,
    scope: SearchScope,
    depth: int,
    retrieval: Retrieval,
    snapshot: Snapshot,
    timings: Timings,
) -> list[Leg]:
    settings = retrieval.settings

    async def lexical(deadline: Deadline) -> list[PassageHit]:
        return await timings.measure(LEXICAL, retrieval.lexical.search(text, scope, depth=depth, deadline=deadline))

    async def vector(deadline: Deadline) -> list[PassageHit]:
        embedded = await timings.measure("embedding", retrieval.query_vectors.vector(text))
        return await timings.measure(VECTOR, retrieval.vectors.search(embedded, scope, depth=depth, deadline=deadline))

    return [
        Leg(
            LEXICAL,
            retrieval.lexical.engine,
            settings.lexical_weight,
            settings.lexical_deadline,
            retrieval.breakers[LEXICAL],
            lexical,
        ),
        Leg(
            VECTOR,
            retrieval.vectors.engine,
            settings.vector_weight,
            settings.vector_deadline,
            retrieval.breakers[VECTOR],
            vector,
            await _shortfall(retrieval, snapshot),
        ),
    ]


async def _shortfall(retrieval: Retrieval, snapshot: Snapshot) -> str | None:
    """How much of the snapshot the vectors cover while they fill in."""
    if snapshot.passages == 0:
        return None
    try:
        held = await retrieval.vectors.count(snapshot.generation)
    except EngineUnavailable:
        return None
    if held >= snapshot.passages:
        return None
    return f"{100 * held // snapshot.passages} % indexed"


async def _anchors(
    request: SearchRequest,
    text: str,
    principal: Principal,
    retrieval: Retrieval,
    deadline: Deadline,
    timings: Timings,
) -> tuple[list[Anchor], str | None]:
    settings = retrieval.settings
    due = deadline.at_most(settings.graph_deadline)
    looking = find_anchors(request, text, principal, retrieval.graph, limit=settings.anchor_limit, deadline=due)
    try:
        return await timings.measure("anchors", asyncio.wait_for(looking, due.seconds_left)), None
    except TimeoutError:
        return [], "no answer before its deadline"
    except EngineUnavailable as error:
        return [], error.reason


async def _highlights(
    text: str, passages: list[Passage], retrieval: Retrieval, deadline: Deadline
) -> dict[PassageKey, tuple[Span, ...]]:
    """None when the lexical engine is down: the passages still speak for themselves."""
    try:
        spans = await retrieval.lexical.highlight(text, passages, deadline=deadline)
    except EngineUnavailable:
        return {}
    return {passage.key: found for passage, found in zip(passages, spans, strict=True)}


def _run_record(request: SearchRequest, principal: Principal, result: SearchResult) -> dict[str, object]:
    return {
        "runId": result.run_id,
        "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "request": request.model_dump(mode="json", by_alias=True, exclude_defaults=True),
        "principal": principal.name,
        "contentRoot": result.content_root,
        "degraded": result.degraded,
        "notices": result.notices,
        "hits": [[hit.uid, hit.locale, hit.score] for hit in result.hits],
        "tookMs": result.took_ms,
    }
