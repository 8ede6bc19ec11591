"""Runs: what is kept of an answered search, and asking it again.

A run holds the numbers that put each hit where it stands, and enough of the request to rank again; not who asked, but
only what they may see, and the words of the question only where the settings say so.
"""

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from service.domain.errors import QueryEmpty, RunUnknown
from service.domain.principal import Principal
from service.domain.requests import RunRequest, RunsRequest, SearchRequest
from service.domain.results import (
    MovedHit,
    ReplayResult,
    RunResult,
    RunsResult,
    RunSummary,
    SearchResult,
)
from service.retrieval.engines import Retrieval
from service.retrieval.ranking import Ranked
from service.retrieval.window import Window
from service.settings import Settings


@dataclass(frozen=True, slots=True)
class Pinned:
    """What makes two searches of one snapshot rank alike: the day that ages are counted to, and the live legs.

    `start` is the first hit's place in the window, from 0; `tuning` the version that counts, None the current one.
    """

    as_of: str
    legs: tuple[str, ...]
    start: int = 0
    tuning: int | None = None


def record_of(
    request: SearchRequest,
    principal: Principal,
    result: SearchResult,
    page: Sequence[Ranked],
    window: Window,
    pinned: Pinned,
    settings: Settings,
) -> dict[str, object]:
    """One answer as a `RunResult` in JSON values; `page` is what it shows, in its order.

    Made while the caller waits, so without a model between: whoever reads the log checks it.
    """
    shown = {(hit.uid, hit.locale) for hit in result.hits}
    return {
        "runId": result.run_id,
        "at": datetime.now(UTC).isoformat(timespec="milliseconds"),
        "text": request.text if settings.run_log_texts else None,
        "contentRoot": result.content_root,
        "hits": [_logged(node) for node in page if (node.identity.uid, node.identity.locale) in shown],
        "degraded": result.degraded,
        "tookMs": result.took_ms,
        "request": request.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude=_APART),
        "start": pinned.start,
        "limit": len(page),
        "visibleTo": list(principal.visibility_class),
        "asOf": pinned.as_of,
        "legs": list(pinned.legs),
        "anchors": [
            {"uid": a.identity.uid, "locale": a.identity.locale, "title": a.title, "via": a.via} for a in window.anchors
        ],
        "gain": settings.prior_gain,
        "clamp": settings.boost_clamp,
        "k": settings.fusion_k,
        "notices": result.notices,
        "tuningVersion": result.tuning_version,
    }


_APART = {"text", "cursor", "limit", "explain", "facets", "logged"}
"""Of a request, what has a place of its own in a run, or no part in the ranking."""


def _logged(node: Ranked) -> dict[str, object]:
    return {
        "uid": node.identity.uid,
        "locale": node.identity.locale,
        "legs": [{"leg": v.leg, "rank": v.rank, "score": v.hit.score, "vote": v.share} for v in node.fused.votes],
        "rrfNormalised": node.fused.score,
        "prior": node.prior,
        "factors": [{"signal": f.signal, "input": f.input, "factor": f.value} for f in node.factors],
        "final": node.final,
        **({"pinned": node.pin._asdict()} if node.pin else {}),
    }


async def list_runs(request: RunsRequest, principal: Principal, retrieval: Retrieval) -> RunsResult:
    """Raises EngineUnavailable."""
    kept = await asyncio.to_thread(retrieval.run_log.recent, request.limit)
    runs = [RunSummary.model_validate(record) for record in kept if _may_read(principal, record)]
    return RunsResult(runs=runs, withheld=len(kept) - len(runs))


def _may_read(principal: Principal, record: Mapping[str, Any]) -> bool:
    """A run names what its asker saw: who sees less may not read it. The owner has the log as a file."""
    return principal.is_owner or principal.audiences.issuperset(record["visibleTo"])


async def show_run(request: RunRequest, principal: Principal, retrieval: Retrieval) -> RunResult:
    """Raises RunUnknown, also for a run of a visibility class that the caller lacks, and EngineUnavailable."""
    record = await asyncio.to_thread(retrieval.run_log.find, request.run_id)
    if record is None or not _may_read(principal, record):
        raise RunUnknown("No run of this id is kept; list the runs to see those that are.")
    return RunResult.model_validate(record)


def asked_again(run: RunResult, text: str | None) -> tuple[SearchRequest, Principal, Pinned]:
    """The run's search as it was. `text` where none was kept. Raises QueryEmpty without any."""
    words = run.text if text is None else text
    if words is None:
        raise QueryEmpty("The run's words were not kept, for `run_log_texts` is off; give them along.")
    request = SearchRequest.model_validate({**run.request, "text": words, "limit": run.limit or None})
    silent: list[str] = []
    if any(note.startswith("prior:") for note in run.degraded):
        # What ranked without the graph's scores is ranked without them again.
        silent = ["prior", "authority"]
    request = request.model_copy(update={"logged": False, "without_signals": [*request.without_signals, *silent]})
    asker = Principal("replay", audiences=frozenset(run.visible_to))
    return request, asker, Pinned(run.as_of, tuple(run.legs), run.start)


def replayed(run: RunResult, text: str | None, result: SearchResult) -> ReplayResult:
    """`text` are the words that were given along."""
    then = {(hit.uid, hit.locale): place for place, hit in enumerate(run.hits, start=1)}
    now = {(hit.uid, hit.locale): place for place, hit in enumerate(result.hits, start=1)}
    moved = [
        MovedHit(uid=uid, locale=locale, then=then.get((uid, locale)), now=now.get((uid, locale)))
        for uid, locale in dict.fromkeys([*then, *now])
        if then.get((uid, locale)) != now.get((uid, locale))
    ]
    return ReplayResult(
        run_id=run.run_id,
        same_snapshot=run.content_root == result.content_root,
        same_tuning=run.tuning_version == result.tuning_version,
        same_text=True if text is None else None if run.text is None else text == run.text,
        same_order=not moved,
        moved=moved,
        content_root=result.content_root,
        degraded=result.degraded,
    )
