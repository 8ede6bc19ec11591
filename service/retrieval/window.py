"""The fused window made into hits: verified against the graph, ranked, cut into pages, given its passages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from service.domain.content import Passage, PassageKey
from service.domain.deadline import Deadline
from service.domain.errors import EngineUnavailable
from service.domain.filters import SearchScope
from service.domain.graph import NodeIdentity
from service.domain.requests import CallerProfile
from service.domain.results import Hit, PassageResult
from service.ports import LexicalIndex, Span, VectorIndex
from service.retrieval import signals
from service.retrieval.cards import Card, CardCache
from service.retrieval.fusion import Fused
from service.retrieval.prior import PriorCache
from service.retrieval.ranking import Evidence, Ranked, rank, unverified
from service.settings import Settings


@dataclass(frozen=True, slots=True)
class Caller:
    """Who the ranking is for, and when it is."""

    profile: CallerProfile
    audiences: frozenset[str]
    without_signals: frozenset[str]
    as_of: datetime


@dataclass(frozen=True)
class Ranker:
    """The graph's part in the ranking. `cards` is required of it, the prior is a bonus."""

    cards: CardCache
    priors: PriorCache
    settings: Settings

    async def rank(
        self,
        window: Sequence[Fused],
        anchors: Sequence[NodeIdentity],
        content_root: str,
        caller: Caller,
        deadline: Deadline,
    ) -> tuple[list[Ranked], list[str]]:
        """The verified window in its final order, and what was left out of the ranking.

        A passage whose content hash is not its node's belongs to another snapshot: its node is passed over. With the
        graph down all nodes are let through, unverified, in the fused order.
        """
        settings = self.settings
        identities = [node.identity for node in window]
        try:
            cards = await self.cards.of(
                identities, content_root, caller.audiences, deadline=deadline.at_most(settings.graph_deadline)
            )
        except EngineUnavailable as error:
            return unverified(window), [f"graph: {error.reason}"]
        held = [node for node in window if _is_current(node, cards.get(node.identity))]
        priors, percentiles, degraded = await self._graph_scores(
            anchors, [node.identity for node in held], content_root, caller, deadline
        )
        off = caller.without_signals | frozenset(settings.signals_off)
        factors = {
            node.identity: signals.factors(
                signals.Case(cards[node.identity], caller.profile, caller.as_of, percentiles.get(node.identity)),
                settings,
                off,
            )
            for node in held
        }
        ranked = rank(held, Evidence(cards, priors, factors), gain=settings.prior_gain, clamp=settings.boost_clamp)
        return ranked, degraded

    async def _graph_scores(
        self,
        anchors: Sequence[NodeIdentity],
        nodes: Sequence[NodeIdentity],
        content_root: str,
        caller: Caller,
        deadline: Deadline,
    ) -> tuple[Mapping[NodeIdentity, float], Mapping[NodeIdentity, float], list[str]]:
        """Priors and percentiles of global PageRank; both are empty, and said to be, when they aren't there in time."""
        due = deadline.at_most(self.settings.prior_deadline)
        try:
            unseeded = await self.priors.unseeded(content_root, caller.audiences, deadline=due)
            if "prior" in caller.without_signals or "prior" in self.settings.signals_off:
                return {}, unseeded.percentiles, []
            priors = await self.priors.priors(anchors, nodes, content_root, caller.audiences, deadline=due)
        except EngineUnavailable as error:
            return {}, {}, [f"prior: {error.reason}"]
        return priors, unseeded.percentiles, []


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
    page: Sequence[Ranked],
    passages: Mapping[PassageKey, Passage],
    highlights: Mapping[PassageKey, tuple[Span, ...]],
) -> list[Hit]:
    """The page as the caller sees it. A node whose passage was lost on the way is left out."""
    hits = []
    for node in page:
        passage = passages.get(node.fused.best_vote.hit.passage)
        if passage is not None:
            hits.append(_hit(node, passage, highlights.get(passage.key, ())))
    return hits


def _is_current(node: Fused, card: Card | None) -> bool:
    return card is not None and card.content_hash == node.best_vote.hit.passage.content_hash


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
        score=node.final,
        passage=PassageResult(
            text=passage.text,
            heading=passage.heading,
            anchor=passage.anchor,
            highlights=[(span.start, span.end) for span in spans],
        ),
        superseded_by=successor.uid if successor else None,
        unverified=card is None,
    )


def _with_fragment(url: str | None, anchor: str) -> str | None:
    if url is None or not anchor or "#" in url:
        return url
    return f"{url}#{anchor}"
