"""Why a hit ranks where it does, as bars on one scale: what two first places would earn is the whole width."""

from collections.abc import Sequence
from dataclasses import dataclass

from service.domain.results import FactorResult, HitExplanation


@dataclass(frozen=True, slots=True)
class Bar:
    """One row. `start` and `width` are shares of the whole scale, in [0, 1]; `kind` is what the bar is of."""

    label: str
    kind: str
    start: float
    width: float
    note: str


def bars(explain: HitExplanation) -> list[Bar]:
    """Each leg's vote where the one before it ends, so that they add up to the fused score; then what moved it.

    The scale: rrf / rrf_normalised is the best that the live legs could have given.
    """
    best = explain.rrf / explain.rrf_normalised if explain.rrf_normalised else 1.0
    rows: list[Bar] = []
    at = 0.0
    for leg in explain.legs:
        share = leg.vote / best
        rows.append(Bar(leg.leg, leg.leg, at, share, f"rank {leg.rank} · vote {leg.vote:.5f} · score {leg.score:.3f}"))
        at += share
    rows.append(Bar("fused", "fused", 0.0, explain.rrf_normalised, f"{explain.rrf_normalised:.4f} of 1"))
    if explain.prior:
        note = f"{explain.prior:.3f}{moved(explain.prior_places)}"
        rows.append(Bar("graph prior", "prior", 0.0, explain.prior, note))
    if explain.prior or any(factor.factor != 1 for factor in explain.factors):
        rows.append(Bar("final", "final", 0.0, min(explain.final, 1.0), f"{explain.final:.4f}"))
    return rows


def at_work(factors: Sequence[FactorResult]) -> list[FactorResult]:
    """The signals that changed the score by what three decimals show, or moved the hit."""
    return [factor for factor in factors if factor.places or f"{factor.factor:.3f}" != "1.000"]


def moved(places: int) -> str:
    """How far a signal moved the hit, to follow what it is; nothing where it did not."""
    if places == 0:
        return ""
    return f" · {abs(places)} {'place' if abs(places) == 1 else 'places'} {'up' if places > 0 else 'down'}"
