"""Why a hit ranks where it does, as bars on one scale: what two first places would earn is the whole width."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from service.domain.results import HitExplanation, LoggedHit, RunResult


@dataclass(frozen=True, slots=True)
class Bar:
    """One row. `start` and `width` are shares of the whole scale, in [0, 1]; `kind` is what the bar is of."""

    label: str
    kind: str
    start: float
    width: float
    note: str


def bars(explain: HitExplanation, gain: float) -> list[Bar]:
    """One hit's steps: each leg's vote where the one before it ends, so that they add up to the fused score; then what
    multiplied it, step by step, to the final one.

    gain: γ of the graph's prior. The scale is what first places of all live legs would earn, or the hit's highest step.
    """
    best = explain.rrf / explain.rrf_normalised if explain.rrf_normalised else 1.0
    rows: list[Bar] = []
    at = 0.0
    for leg in explain.legs:
        share = leg.vote / best
        rows.append(Bar(leg.leg, leg.leg, at, share, f"rank {leg.rank} · vote {leg.vote:.5f} · score {leg.score:.3f}"))
        at += share
    steps = [
        _Step(factor.signal, "signal", factor.factor, _input(factor.input) + moved(factor.places), factor.places)
        for factor in explain.factors
    ]
    prior = f" · prior {explain.prior:.3f}{moved(explain.prior_places)}"
    if explain.prior:
        steps.insert(0, _Step("graph prior", "prior", 1 + gain * explain.prior, prior, explain.prior_places))
    rows += _multiplied(explain.rrf_normalised, steps, explain.final)
    return _scaled(rows, max(1.0, _highest(rows)))


def waterfalls(run: RunResult) -> list[list[Bar]]:
    """Each hit of a run, from its legs' votes by all that multiplied them to its final score; one scale for all."""
    stairs = [_stairs(hit, run.gain) for hit in run.hits]
    highest = max((_highest(rows) for rows in stairs), default=1.0) or 1.0
    return [_scaled(rows, highest) for rows in stairs]


def _stairs(hit: LoggedHit, gain: float) -> list[Bar]:
    votes = sum(leg.vote for leg in hit.legs) or 1.0
    rows: list[Bar] = []
    at = 0.0
    for leg in hit.legs:
        share = leg.vote / votes * hit.rrf_normalised
        rows.append(Bar(leg.leg, leg.leg, at, share, f"rank {leg.rank} · score {leg.score:.3f}"))
        at += share
    steps = [_Step("graph prior", "prior", 1 + gain * hit.prior, f" · prior {hit.prior:.3f}")] if hit.prior else []
    steps += [_Step(factor.signal, "signal", factor.factor, _input(factor.input)) for factor in hit.factors]
    return rows + _multiplied(hit.rrf_normalised, steps, hit.final)


@dataclass(frozen=True, slots=True)
class _Step:
    """What multiplies a score. `places`: by how many it moved the hit."""

    label: str
    kind: str
    factor: float
    note: str
    places: int = 0

    @property
    def is_seen(self) -> bool:
        """Whether it changed the score by what three decimals show, or moved the hit."""
        return self.places != 0 or f"{self.factor:.3f}" != "1.000"


def _multiplied(fused: float, steps: Sequence[_Step], final: float) -> list[Bar]:
    """The fused score, each step from the one before it, what the clamp took, and the final score."""
    rows = [Bar("fused", "fused", 0.0, fused, f"{fused:.4f} of 1")]
    at = fused
    for step in steps:
        if step.is_seen:
            rows.append(_step(step.label, step.kind, at, at * step.factor, f"× {step.factor:.3f}{step.note}"))
        at *= step.factor
    if abs(at - final) > _SEEN * max(at, final):
        rows.append(_step("clamp", "clamp", at, final, "factors above 1 are held to the clamp"))
    if len(rows) > 1:
        rows.append(Bar("final", "final", 0.0, final, f"{final:.4f}"))
    return rows


def _highest(rows: Sequence[Bar]) -> float:
    return max((bar.start + bar.width for bar in rows), default=1.0)


def _scaled(rows: Sequence[Bar], highest: float) -> list[Bar]:
    return [Bar(bar.label, bar.kind, bar.start / highest, bar.width / highest, bar.note) for bar in rows]


def _input(value: Any) -> str:
    return "" if value is None else f" · for {value}"


_SEEN = 0.0005
"""Share of a score below which a difference is rounding, and no step of its own."""


def _step(label: str, kind: str, before: float, after: float, note: str) -> Bar:
    return Bar(label, f"{kind} {'up' if after >= before else 'down'}", min(before, after), abs(after - before), note)


def moved(places: int) -> str:
    """How far a signal moved the hit, to follow what it is; nothing where it did not."""
    if places == 0:
        return ""
    return f" · {abs(places)} {'place' if abs(places) == 1 else 'places'} {'up' if places > 0 else 'down'}"
