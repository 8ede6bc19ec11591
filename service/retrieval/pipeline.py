"""The way of one query: open the window, rank it, cut the page, load its passages, say why."""

import asyncio
import time
from datetime import UTC, datetime

from service.domain.deadline import Deadline
from service.domain.errors import AllLegsDown, CursorStale
from service.domain.filters import NodeFilter
from service.domain.graph import NodeIdentity
from service.domain.principal import Principal
from service.domain.requests import SearchRequest
from service.domain.results import SearchResult
from service.observation import run_id
from service.retrieval import paging
from service.retrieval.engines import LEXICAL, VECTOR, Retrieval
from service.retrieval.explanation import explain_hits, explain_search
from service.retrieval.hits import load_hits, within
from service.retrieval.ranker import Caller
from service.retrieval.ranking import Ranked
from service.retrieval.sizes import fitting
from service.retrieval.window import Window, open_window

_SNAPSHOT_ATTEMPTS = 4
"""How often a query starts again because a publish replaced the snapshot under it."""


class SnapshotMoved(Exception):
    """A publish committed while the query ran: what was read may be of two snapshots."""


async def search(request: SearchRequest, principal: Principal, retrieval: Retrieval) -> SearchResult:
    """Answer one search. Raises `Refused` for a request at fault and AllLegsDown when nothing could answer."""
    started = time.perf_counter()
    for _ in range(_SNAPSHOT_ATTEMPTS):
        try:
            result = await _search_once(request, principal, retrieval, started)
        except SnapshotMoved:
            continue
        if request.logged:
            retrieval.run_log.append(_run_record(request, principal, result))
        return result
    raise AllLegsDown("The estate is being published faster than it can be read; try again in a moment.")


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
    as_of = cursor.as_of if cursor else today()
    (ranked, missing), (facets, uncounted) = await asyncio.gather(
        rank_window(window, request, principal, retrieval, as_of, deadline),
        retrieval.facets.count(
            request.facets,
            NodeFilter.from_mapping(request.filter),
            snapshot.generation,
            principal.audiences,
            deadline=deadline,
        ),
    )
    start = int(cursor.position) if cursor else 0
    page = ranked[start : start + size]
    hits = await load_hits(page, request, window, retrieval, deadline)
    if request.max_tokens is not None:
        hits = within(hits, request.max_tokens, retrieval.tokens)
    if (await retrieval.store.snapshot()).content_root != snapshot.content_root:
        raise SnapshotMoved
    if request.explain:
        hits = explain_hits(hits, ranked, gain=settings.prior_gain, clamp=settings.boost_clamp)
    fit = fitting(hits, settings.result_bytes)
    end = start + size
    if fit < len(hits):
        first_cut = NodeIdentity(hits[fit].uid, hits[fit].locale)
        end = start + [node.identity for node in page].index(first_cut)
    next_cursor = None
    if end < len(ranked):
        next_cursor = paging.Cursor(snapshot.content_root, pinned, as_of, live, end).encode()
    return SearchResult(
        hits=hits[:fit],
        truncated=fit < len(hits),
        total=len(ranked),
        next_cursor=next_cursor,
        facets={name: dict(counts) for name, counts in facets.items()},
        degraded=[*window.degraded, *missing, *uncounted],
        notices=list(window.notices),
        content_root=snapshot.content_root,
        ontology_hash=snapshot.ontology_hash,
        run_id=run_id(),
        took_ms=(time.perf_counter() - started) * 1000,
        explain=explain_search(window.runs, window.anchors, window.timings.milliseconds, settings.fusion_k, as_of)
        if request.explain
        else None,
    )


def today() -> str:
    """The time that ages are counted to: whole days, so that a day's searches agree."""
    return datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0).isoformat()


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
    ranking = retrieval.ranker.rank(window.nodes, window.cards, anchors, window.snapshot.generation, caller, deadline)
    return await window.timings.measure("ranking", ranking)


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
