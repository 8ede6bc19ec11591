"""The final order: fused score × (1 + γ·prior) × the clamped product of the signals' factors."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from service.domain.content import PassageKey
from service.domain.graph import NodeIdentity
from service.retrieval.cards import Card
from service.retrieval.fusion import Fused
from service.retrieval.signals import Factor, combine


class Pin(NamedTuple):
    """Who put a node where it is: a version of a tuning. `unpinned`: its place without, None where it had none."""

    version: int
    place: int
    note: str
    unpinned: int | None


class Ranked(NamedTuple):
    """A node of the window in its final place, with everything that put it there. Without the graph it has no card.

    opening: the passage that speaks for a pinned node which no leg found.
    """

    fused: Fused
    card: Card | None
    prior: float
    factors: tuple[Factor, ...]
    final: float
    pin: Pin | None = None
    opening: PassageKey | None = None

    @property
    def passage(self) -> PassageKey:
        """What is shown of it."""
        return self.opening or self.fused.best_vote.hit.passage

    @property
    def identity(self) -> NodeIdentity:
        return self.fused.identity


@dataclass(frozen=True, slots=True)
class Evidence:
    """What the graph and the signals say of a window's nodes."""

    cards: Mapping[NodeIdentity, Card]
    priors: Mapping[NodeIdentity, float]
    factors: Mapping[NodeIdentity, tuple[Factor, ...]]


def rank(window: Sequence[Fused], evidence: Evidence, *, gain: float, clamp: float) -> list[Ranked]:
    """Order a verified window: final = fused · (1 + γ·prior) · factors, best first; ties keep the fused order."""
    ranked = []
    for node in window:
        prior = evidence.priors.get(node.identity, 0.0)
        factors = evidence.factors.get(node.identity, ())
        final = node.score * (1 + gain * prior) * combine(factors, clamp)
        ranked.append(Ranked(node, evidence.cards.get(node.identity), prior, factors, final))
    ranked.sort(key=lambda node: -node.final)
    return ranked


def unverified(window: Sequence[Fused]) -> list[Ranked]:
    """The fused order as it stands, for when the graph can't say anything."""
    return [Ranked(node, None, 0.0, (), node.score) for node in window]


def places_moved(node: Ranked, window: Sequence[Ranked], *, gain: float, clamp: float) -> dict[str, int]:
    """For each thing that spoke for or against a node: how many places higher it stands than if that had been silent.

    All else stays as it is. `prior` is among the names.
    """
    without: dict[str, float] = {}
    if node.prior > 0:
        without["prior"] = node.final / (1 + gain * node.prior)
    base = node.fused.score * (1 + gain * node.prior)
    for factor in node.factors:
        without[factor.signal] = base * combine([other for other in node.factors if other is not factor], clamp)
    others = [other.final for other in window if other is not node]
    here = sum(final > node.final for final in others)
    return {name: sum(final > score for final in others) - here for name, score in without.items()}
