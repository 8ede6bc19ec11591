"""The graph's part in a ranking: cards that verify the window, the prior, and what the signals read."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from service.domain.deadline import Deadline
from service.domain.errors import EngineUnavailable
from service.domain.graph import NodeIdentity
from service.domain.requests import CallerProfile
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


def _is_current(node: Fused, card: Card | None) -> bool:
    return card is not None and card.content_hash == node.best_vote.hit.passage.content_hash
