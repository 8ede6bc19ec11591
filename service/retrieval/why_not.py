"""Why a node is not among a search's hits: the filter, the leg or the depth that left it out."""

from dataclasses import fields

from service.domain.deadline import Deadline
from service.domain.errors import NodeUnknown
from service.domain.filters import MANY_VALUED, SINGLE_VALUED, NodeFilter
from service.domain.graph import NodeIdentity
from service.domain.principal import Principal
from service.domain.requests import SearchRequest, WhyNotRequest
from service.domain.results import WhyNotResult
from service.retrieval.engines import Retrieval
from service.retrieval.pipeline import rank_window, today, tuning_of
from service.retrieval.ranking import Ranked
from service.retrieval.window import UNSUPPORTED, Window, open_window, searched
from service.statements import filter_fields, nodes_by_uid


async def why_not(request: WhyNotRequest, principal: Principal, retrieval: Retrieval) -> WhyNotResult:
    """Raises NodeUnknown for a node that does not exist or that the principal may not see, alike."""
    settings = retrieval.settings
    deadline = retrieval.deadline()
    snapshot = await retrieval.store.snapshot()
    identity = await _identify(request, principal, retrieval, deadline)
    excluded = await _excluding_filters(identity, request.search, principal, retrieval, deadline)
    if excluded:
        return _answer(identity, "filter", f"The request's filters leave it out: {'; '.join(excluded)}.", [])
    tuned, outdated = await tuning_of(request.search, retrieval, deadline)
    window = await open_window(request.search, principal, retrieval, snapshot, deadline, tuned=tuned)
    ranked, missing = await rank_window(window, request.search, principal, retrieval, today(), deadline, tuned)
    degraded = [*window.degraded, *outdated, *missing]
    places = (place for place, node in enumerate(ranked, start=1) if node.identity == identity)
    place = next(places, None)
    if place is not None:
        detail = f"It is a hit, at rank {place} of {len(ranked)}{_pinned(ranked[place - 1])}."
        return _answer(identity, "hit", detail, degraded, rank=place)
    near = _found(window, identity)
    if near and UNSUPPORTED in window.notices:
        detail = f"{', '.join(near)}, but the estate knows too little of the question's words for that to count."
        return _answer(identity, "unsupported", detail, degraded)
    deeper = await open_window(
        request.search, principal, retrieval, snapshot, deadline, depth=settings.why_not_depth, tuned=tuned
    )
    degraded += [note for note in deeper.degraded if note not in degraded]
    if found := _found(deeper, identity):
        detail = f"{', '.join(found)}, but each leg contributes {settings.leg_depth} nodes."
        return _answer(identity, "depth", detail, degraded)
    legs = ", ".join(run.leg.name for run in deeper.runs if run.is_live)
    besides = ", ".join(other for one in window.expansions for other in one.alternatives)
    looked = f" Looked for besides: {besides}." if besides else ""
    detail = f"No leg finds it ({legs}) within {settings.why_not_depth} nodes.{looked}"
    return _answer(identity, "leg", detail, degraded)


def _found(window: Window, identity: NodeIdentity) -> list[str]:
    """Where each leg that found the node ranks it."""
    return [
        f"{run.leg.name} ranks it {rank}"
        for run in window.runs
        for rank, hit in enumerate(run.hits, start=1)
        if hit.passage.identity == identity
    ]


def _pinned(node: Ranked) -> str:
    if node.pin is None:
        return ""
    note = f" ({node.pin.note})" if node.pin.note else ""
    without = f"rank {node.pin.unpinned}" if node.pin.unpinned else "no hit"
    return f": pinned there by version {node.pin.version} of the tuning{note}, and {without} without"


async def _identify(
    request: WhyNotRequest, principal: Principal, retrieval: Retrieval, deadline: Deadline
) -> NodeIdentity:
    rows = await retrieval.graph.run(nodes_by_uid([request.uid], principal.audiences), deadline=deadline)
    locales = sorted(row["locale"] for row in rows.by_column())
    wished = (request.locale, request.search.profile.locale, retrieval.settings.default_locale)
    if request.locale is not None and request.locale not in locales:
        locales = []
    if not locales:
        raise NodeUnknown("There is no such node; look for its uid with a search, or by listing nodes.")
    locale = next((locale for locale in wished if locale is not None and locale in locales), locales[0])
    return NodeIdentity(request.uid, locale)


async def _excluding_filters(
    identity: NodeIdentity, search: SearchRequest, principal: Principal, retrieval: Retrieval, deadline: Deadline
) -> list[str]:
    narrowed = searched(search).constraints()
    if not narrowed:
        return []
    rows = await retrieval.graph.run(filter_fields(identity, principal.audiences), deadline=deadline)
    values = rows.by_column()[0]
    held = {
        field.name: values[field.name] if field.name in MANY_VALUED else [values[field.name]]
        for field in fields(NodeFilter)
        if field.name in MANY_VALUED or field.name in SINGLE_VALUED
    }
    return [
        f"{name} is {', '.join(map(str, held[name])) or 'not set'}, not {' or '.join(allowed)}"
        for name, allowed in narrowed.items()
        if not set(held[name]) & set(allowed)
    ]


def _answer(
    identity: NodeIdentity, reason: str, detail: str, degraded: list[str], rank: int | None = None
) -> WhyNotResult:
    told = {"reason": reason, "detail": detail, "rank": rank, "degraded": degraded}
    return WhyNotResult.model_validate({"uid": identity.uid, "locale": identity.locale, **told})
