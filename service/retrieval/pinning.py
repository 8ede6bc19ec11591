"""Pinned results: nodes that people put at a place of their own, after the ranking.

A pin shows nothing by itself. The graph is asked for its node with the caller's visibility, and the text engine for its
passage with the request's filters, as for any hit.
"""

from collections.abc import Mapping, Sequence
from functools import partial

from service.domain.content import PassageKey
from service.domain.deadline import Deadline
from service.domain.errors import EngineUnavailable
from service.domain.graph import NodeIdentity
from service.domain.principal import Principal
from service.domain.requests import SearchRequest
from service.domain.tuning import PinnedResult
from service.ports import GraphReader
from service.retrieval.cards import Card
from service.retrieval.engines import Retrieval
from service.retrieval.fusion import Fused
from service.retrieval.hits import in_order, load_passages
from service.retrieval.ranking import Pin, Ranked
from service.retrieval.tuning import Tuned
from service.retrieval.window import Window
from service.statements import nodes_by_uid

Locales = Mapping[str, Sequence[str]]
"""Uid → the locales in which the caller may see it."""


async def pin_results(
    ranked: list[Ranked],
    window: Window,
    tuned: Tuned,
    request: SearchRequest,
    principal: Principal,
    retrieval: Retrieval,
    as_of: str,
    deadline: Deadline,
) -> tuple[list[Ranked], list[str]]:
    """The ranking with its pinned nodes in their places, each once, the rest in its order; and what was left undone."""
    terms = retrieval.lexical.terms(request.text)
    pins = tuned.pins(terms, as_of[:10], retrieval.settings.tuning_pins_shown)
    if not pins:
        return ranked, []
    try:
        chosen, missing = await _chosen(pins, window, request, principal, retrieval, deadline), []
        found = {node.identity for node in ranked}
        outside = [identity for identity in chosen if identity not in found]
        fetched = await _fetched(outside, window, principal, retrieval, deadline)
    except EngineUnavailable as error:
        chosen, fetched, missing = {}, {}, [f"pins: {error.reason}"]
    return placed(ranked, chosen, fetched, tuned.version), missing


def placed(
    ranked: Sequence[Ranked],
    chosen: Mapping[NodeIdentity, PinnedResult],
    fetched: Mapping[NodeIdentity, Ranked],
    version: int,
) -> list[Ranked]:
    """Each chosen node at its pin's place, or right behind the pin before it that wants the same; at the end where the
    ranking is shorter. A node that is neither ranked nor fetched is not there."""
    places = {node.identity: place for place, node in enumerate(ranked, start=1)}
    known = {node.identity: node for node in ranked if node.identity in chosen} | dict(fetched)
    result = [node for node in ranked if node.identity not in chosen]
    free = 0
    for identity, pin in chosen.items():
        if identity in known:
            at = max(free, pin.place - 1)
            by = Pin(version, pin.place, pin.note, places.get(identity))
            result.insert(at, known[identity]._replace(pin=by))
            free = at + 1
    return result


async def _chosen(
    pins: Sequence[PinnedResult],
    window: Window,
    request: SearchRequest,
    principal: Principal,
    retrieval: Retrieval,
    deadline: Deadline,
) -> dict[NodeIdentity, PinnedResult]:
    """The node of each pin that the caller may see, best place first; of two pins of one node the better counts."""
    uids = tuple(sorted({pin.uid for pin in pins}))
    key = (window.snapshot.generation, principal.audiences, uids)
    due = deadline.at_most(retrieval.settings.graph_deadline)
    looking = partial(_locales, uids, principal, retrieval.graph, due)
    locales = await retrieval.pins.get(key, looking, due)
    wished = [request.profile.locale, retrieval.settings.default_locale]
    allowed = window.scope.filter.locale
    chosen: dict[NodeIdentity, PinnedResult] = {}
    for pin in pins:
        there = [
            one for one in locales.get(pin.uid, ()) if pin.locale in (None, one) and (not allowed or one in allowed)
        ]
        locale = next((one for one in wished if one in there), there[0] if there else None)
        if locale is not None:
            chosen.setdefault(NodeIdentity(pin.uid, locale), pin)
    return chosen


async def _locales(uids: Sequence[str], principal: Principal, graph: GraphReader, deadline: Deadline) -> Locales:
    rows = await graph.run(nodes_by_uid(uids, principal.audiences), deadline=deadline)
    found: dict[str, list[str]] = {}
    for row in rows.by_column():
        found.setdefault(str(row["uid"]), []).append(str(row["locale"]))
    return {uid: sorted(locales) for uid, locales in found.items()}


async def _fetched(
    identities: Sequence[NodeIdentity], window: Window, principal: Principal, retrieval: Retrieval, deadline: Deadline
) -> dict[NodeIdentity, Ranked]:
    """Nodes that no leg found, by their first passage; those that the filters leave out are not among them."""
    if not identities:
        return {}
    due = deadline.at_most(retrieval.settings.graph_deadline)
    cards = await retrieval.cards.of(identities, window.snapshot.generation, principal.audiences, deadline=due)
    keys = {
        PassageKey(identity, card.content_hash, 0): card
        for identity, card in cards.items()
        if card.content_hash is not None
    }
    passages, _ = await load_passages(list(keys), window.scope, in_order(window, retrieval), deadline=deadline)
    return {key.identity: _unranked(key, card) for key, card in keys.items() if key in passages}


def _unranked(key: PassageKey, card: Card) -> Ranked:
    return Ranked(Fused(key.identity, 0.0, 0.0, ()), card, 0.0, (), 0.0, opening=key)
