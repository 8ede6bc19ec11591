"""The way of one query: open the window, rank it, cut the page, load its passages, say why."""

import asyncio
import time
from datetime import UTC, datetime

from service.domain.deadline import Deadline
from service.domain.errors import CursorStale, EngineUnavailable, SnapshotReplaced
from service.domain.filters import NodeFilter
from service.domain.graph import NodeIdentity
from service.domain.principal import Principal
from service.domain.requests import ReplayRequest, RunRequest, SearchRequest
from service.domain.results import ReplayResult, SearchResult
from service.observation import run_id
from service.retrieval import paging, runs, strangers
from service.retrieval.engines import LEXICAL, VECTOR, Retrieval
from service.retrieval.explanation import explain_hits, explain_search
from service.retrieval.hits import load_hits, within
from service.retrieval.pinning import pin_results
from service.retrieval.ranker import Caller
from service.retrieval.ranking import Ranked
from service.retrieval.runs import Pinned, record_of
from service.retrieval.sizes import fitting
from service.retrieval.tuning import Tuned, workspace_of
from service.retrieval.window import Window, open_window

_SNAPSHOT_ATTEMPTS = 4
"""How often a query starts again because a publish replaced the snapshot under it."""


class SnapshotMoved(Exception):
    """A publish committed while the query ran: what was read may be of two snapshots."""


async def search(request: SearchRequest, principal: Principal, retrieval: Retrieval) -> SearchResult:
    """Answer one search. Raises `Refused` for a request at fault and Unavailable when nothing could answer."""
    return await _answer(request, principal, retrieval, None)


async def replay_run(request: ReplayRequest, principal: Principal, retrieval: Retrieval) -> ReplayResult:
    """Ask a kept run's search again, as it was: of the same day, legs and visibility class.

    Raises RunUnknown, QueryEmpty where its words were not kept and none are given, CursorStale where a leg that
    answered then is down, and what a search raises.
    """
    run = await runs.show_run(RunRequest(run_id=request.run_id), principal, retrieval)
    search, asker, pinned = runs.asked_again(run, request.text)
    return runs.replayed(run, request.text, await _answer(search, asker, retrieval, pinned))


async def _answer(
    request: SearchRequest, principal: Principal, retrieval: Retrieval, pinned: Pinned | None
) -> SearchResult:
    started = time.perf_counter()
    for _ in range(_SNAPSHOT_ATTEMPTS):
        try:
            return await _search_once(request, principal, retrieval, pinned, started)
        except SnapshotMoved:
            continue
    raise SnapshotReplaced("The estate is being published faster than it can be read; try again in a moment.")


async def _search_once(
    request: SearchRequest, principal: Principal, retrieval: Retrieval, pinned: Pinned | None, started: float
) -> SearchResult:
    settings = retrieval.settings
    deadline = retrieval.deadline()
    size = paging.page_size(request.limit, settings)
    snapshot = await retrieval.store.snapshot()
    fingerprint = paging.fingerprint(request, principal.visibility_class)
    if request.cursor is not None:
        cursor = paging.decode(
            request.cursor, request=fingerprint, snapshot=snapshot, longest=settings.cursor_characters
        )
        pinned = Pinned(cursor.as_of, cursor.legs, int(cursor.position), cursor.tuning)
    tuned, outdated = await tuning_of(request, retrieval, deadline, version=pinned.tuning if pinned else None)
    legs = pinned.legs if pinned else (LEXICAL, VECTOR)
    window = await open_window(request, principal, retrieval, snapshot, deadline, legs=legs, tuned=tuned)
    live = tuple(run.leg.name for run in window.runs if run.is_live)
    if pinned is not None and live != pinned.legs:
        raise CursorStale("A retriever that ranked the first page is down now; send the request without the cursor.")
    as_of, start = (pinned.as_of, pinned.start) if pinned else (today(), 0)
    (ranked, missing), unheard, (facets, uncounted) = await asyncio.gather(
        rank_window(window, request, principal, retrieval, as_of, deadline, tuned),
        _strangers(window, request, principal, retrieval, deadline),
        retrieval.facets.count(
            request.facets,
            NodeFilter.from_mapping(request.filter),
            snapshot.generation,
            principal.audiences,
            deadline=deadline,
        ),
    )
    page = ranked[start : start + size]
    hits, lost = await load_hits(page, window, retrieval, deadline)
    if request.max_tokens is not None:
        hits = within(hits, request.max_tokens, retrieval.tokens)
    now = await retrieval.store.snapshot()
    if now.content_root != snapshot.content_root:
        raise SnapshotMoved
    degraded = [*window.degraded, *outdated, *missing, *uncounted, *lost]
    degraded += [note for note in now.notes if note not in degraded]
    if request.explain:
        hits = explain_hits(hits, ranked, gain=settings.prior_gain, clamp=settings.boost_clamp)
    fit = fitting(hits, settings.result_bytes)
    end = start + size
    if fit < len(hits):
        first_cut = NodeIdentity(hits[fit].uid, hits[fit].locale)
        end = start + [node.identity for node in page].index(first_cut)
    version = tuned.version if tuned else None
    next_cursor = None
    if end < len(ranked):
        next_cursor = paging.Cursor(snapshot.content_root, fingerprint, as_of, live, end, version).encode()
    result = SearchResult(
        hits=hits[:fit],
        truncated=fit < len(hits),
        total=len(ranked),
        next_cursor=next_cursor,
        facets={name: dict(counts) for name, counts in facets.items()},
        degraded=degraded,
        notices=[*window.notices, *unheard],
        content_root=snapshot.content_root,
        ontology_hash=snapshot.ontology_hash,
        run_id=run_id(),
        took_ms=(time.perf_counter() - started) * 1000,
        tuning_version=version,
        explain=explain_search(
            window.runs, window.anchors, window.timings.milliseconds, settings.fusion_k, as_of, window.expansions
        )
        if request.explain
        else None,
    )
    if request.logged:
        ran = Pinned(as_of, live, start)
        retrieval.run_log.append(record_of(request, principal, result, page, window, ran, settings))
    return result


async def _strangers(
    window: Window, request: SearchRequest, principal: Principal, retrieval: Retrieval, deadline: Deadline
) -> list[str]:
    """Notices of names that nothing here has; none while the graph, which knows the names, is down."""
    if window.cards is None:
        return []
    generation = window.snapshot.generation
    return await strangers.of_request(request, generation, principal, retrieval, deadline, is_empty=not window.nodes)


def today() -> str:
    """The time that ages are counted to: whole days, so that a day's searches agree."""
    return datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0).isoformat()


async def tuning_of(
    request: SearchRequest, retrieval: Retrieval, deadline: Deadline, *, version: int | None = None
) -> tuple[Tuned | None, list[str]]:
    """The tuning that counts for a request, None where it leaves tuning out, and why it may not be the newest.

    version: of the page before. Raises CursorStale where that one is not to be had any more.
    """
    if request.without_tuning:
        return None, []
    workspace = workspace_of(NodeFilter.from_mapping(request.filter))
    if version is None:
        tuned, failure = await retrieval.tunings.current(workspace, deadline)
        return tuned, [f"tuning: {failure}"] if failure else []
    try:
        earlier = await retrieval.tunings.version(workspace, version, deadline)
    except EngineUnavailable:
        earlier = None
    if earlier is None:
        raise CursorStale("The first page's tuning can't be had now; send the request without the cursor.")
    return earlier, []


async def rank_window(
    window: Window,
    request: SearchRequest,
    principal: Principal,
    retrieval: Retrieval,
    as_of: str,
    deadline: Deadline,
    tuned: Tuned | None = None,
) -> tuple[list[Ranked], list[str]]:
    """The window in its final order, with what is pinned in its place, and what the ranking had to do without."""
    caller = Caller(
        request.profile, principal.audiences, frozenset(request.without_signals), datetime.fromisoformat(as_of)
    )
    anchors = [anchor.identity for anchor in window.anchors if anchor.is_certain]
    ranking = retrieval.ranker.rank(window.nodes, window.cards, anchors, window.snapshot.generation, caller, deadline)
    ranked, missing = await window.timings.measure("ranking", ranking)
    if tuned is None:
        return ranked, missing
    pinning = pin_results(ranked, window, tuned, request, principal, retrieval, as_of, deadline)
    ranked, unpinned = await window.timings.measure("pinning", pinning)
    return ranked, [*missing, *unpinned]
