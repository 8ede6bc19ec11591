"""The ranker: what the graph and the signals make of a window."""

from collections import OrderedDict
from collections.abc import Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from service.domain.deadline import Deadline
from service.domain.errors import EngineUnavailable, SettingInvalid, SignalUnknown
from service.domain.graph import NodeIdentity
from service.domain.requests import CallerProfile
from service.retrieval import signals
from service.retrieval.cards import Card
from service.retrieval.fusion import Fused
from service.retrieval.prior import PriorCache
from service.retrieval.ranking import Evidence, Ranked, rank, unverified
from service.retrieval.signals import Factor
from service.settings import Settings


@dataclass(frozen=True, slots=True)
class Caller:
    """Who the ranking is for, and when it is."""

    profile: CallerProfile
    audiences: frozenset[str]
    without_signals: frozenset[str]
    as_of: datetime


Factors = dict[NodeIdentity, tuple[Factor, ...]]


@dataclass(frozen=True)
class Ranker:
    """Orders windows; where the prior doesn't come in time, without it.

    What the signals say of a node changes with the snapshot, the caller's profile and the day: it is remembered for the
    callers of late, by all three.
    """

    priors: PriorCache
    settings: Settings
    _said: OrderedDict[Hashable, Factors] = field(default_factory=OrderedDict, init=False)

    def __post_init__(self) -> None:
        """Raises SettingInvalid for a signal to be switched off that there is none of."""
        try:
            signals.check_names(self.settings.signals_off)
        except SignalUnknown as error:
            raise SettingInvalid(f"signals_off: {error.message}", suggestion=error.suggestion) from None

    def forget(self) -> None:
        """For when the graph of a generation was mended."""
        self.priors.forget()
        self._said.clear()

    def begin(
        self,
        anchors: Sequence[NodeIdentity],
        generation: int,
        audiences: frozenset[str],
        without_signals: Collection[str],
    ) -> None:
        """Set the graph prior going for a window that is still being filled: `rank` will ask for it."""
        if anchors and not self._is_silent("prior", without_signals):
            self.priors.begin(anchors, generation, audiences)

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
        factors = self._factors(identities, cards, percentiles, generation, caller)
        ranked = rank(window, Evidence(cards, priors, factors), gain=settings.prior_gain, clamp=settings.boost_clamp)
        return ranked, degraded

    def _factors(
        self,
        nodes: Sequence[NodeIdentity],
        cards: Mapping[NodeIdentity, Card],
        percentiles: Mapping[NodeIdentity, float],
        generation: int,
        caller: Caller,
    ) -> Factors:
        """What every signal says of every node."""
        key = (
            generation,
            caller.audiences,
            caller.profile.model_dump_json(exclude_defaults=True),
            caller.without_signals,
            caller.as_of,
            bool(percentiles),
        )
        said = self._said.setdefault(key, {})
        self._said.move_to_end(key)
        while len(self._said) > self.settings.caller_profiles:
            self._said.popitem(last=False)
        missing = [node for node in nodes if node not in said]
        if missing:
            speaking = signals.speaking(caller.profile, caller.without_signals | frozenset(self.settings.signals_off))
            for node in missing:
                case = signals.Case(cards[node], caller.profile, caller.as_of, percentiles.get(node))
                said[node] = signals.factors(case, self.settings, speaking)
        return said

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
            if self._is_silent("prior", caller.without_signals):
                return {}, unseeded.percentiles, []
            priors = await self.priors.priors(anchors, nodes, generation, caller.audiences, deadline=due)
        except EngineUnavailable as error:
            return {}, {}, [f"prior: {error.reason}"]
        return priors, unseeded.percentiles, []

    def _is_silent(self, signal: str, without_signals: Collection[str]) -> bool:
        return signal in without_signals or signal in self.settings.signals_off
