"""The ranker: what the graph and the signals make of a window."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from service.domain.deadline import Deadline
from service.domain.errors import EngineUnavailable
from service.domain.graph import NodeIdentity
from service.domain.requests import CallerProfile
from service.retrieval import signals
from service.retrieval.cards import Card
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
    """Orders windows; where the prior doesn't come in time, without it."""

    priors: PriorCache
    settings: Settings

    async def rank(
        self,
        window: Sequence[Fused],
        cards: Mapping[NodeIdentity, Card] | None,
        anchors: Sequence[NodeIdentity],
        generation: int,
        caller: Caller,
        deadline: Deadline,
    ) -> tuple[list[Ranked], list[str]]:
        """The window in its final order, and what was left out of the ranking.

        cards: of every node of the window; None while the graph is down, and then the fused order stays.
        """
        if cards is None:
            return unverified(window), []
        settings = self.settings
        identities = [node.identity for node in window]
        priors, percentiles, degraded = await self._graph_scores(anchors, identities, generation, caller, deadline)
        speaking = signals.speaking(caller.profile, caller.without_signals | frozenset(settings.signals_off))
        factors = {
            node.identity: signals.factors(
                signals.Case(cards[node.identity], caller.profile, caller.as_of, percentiles.get(node.identity)),
                settings,
                speaking,
            )
            for node in window
        }
        ranked = rank(window, Evidence(cards, priors, factors), gain=settings.prior_gain, clamp=settings.boost_clamp)
        return ranked, degraded

    async def _graph_scores(
        self,
        anchors: Sequence[NodeIdentity],
        nodes: Sequence[NodeIdentity],
        generation: int,
        caller: Caller,
        deadline: Deadline,
    ) -> tuple[Mapping[NodeIdentity, float], Mapping[NodeIdentity, float], list[str]]:
        """Priors and percentiles of global PageRank; both are empty, and said to be, when they aren't there in time."""
        due = deadline.at_most(self.settings.prior_deadline)
        try:
            unseeded = await self.priors.unseeded(generation, caller.audiences, deadline=due)
            if "prior" in caller.without_signals or "prior" in self.settings.signals_off:
                return {}, unseeded.percentiles, []
            priors = await self.priors.priors(anchors, nodes, generation, caller.audiences, deadline=due)
        except EngineUnavailable as error:
            return {}, {}, [f"prior: {error.reason}"]
        return priors, unseeded.percentiles, []
