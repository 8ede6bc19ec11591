"""Why a hit ranks where it does, as bars on one scale: what two first places would earn is the whole width."""

from collections.abc import Sequence
from dataclasses import dataclass

from service.domain.results import FactorResult, HitExplanation, LoggedHit, RunResult


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


def waterfalls(run: RunResult) -> list[list[Bar]]:
    """Each hit of a run, from its legs' votes by all that multiplied them to its final score; one scale for all."""
    stairs = [_stairs(hit, run.gain) for hit in run.hits]
    highest = max((bar.start + bar.width for rows in stairs for bar in rows), default=1.0) or 1.0
    return [
        [Bar(bar.label, bar.kind, bar.start / highest, bar.width / highest, bar.note) for bar in rows]
        for rows in stairs
    ]


def _stairs(hit: LoggedHit, gain: float) -> list[Bar]:
    votes = sum(leg.vote for leg in hit.legs) or 1.0
    rows: list[Bar] = []
    at = 0.0
    for leg in hit.legs:
        share = leg.vote / votes * hit.rrf_normalised
        rows.append(Bar(leg.leg, leg.leg, at, share, f"rank {leg.rank} · score {leg.score:.3f}"))
        at += share
    rows.append(Bar("fused", "fused", 0.0, hit.rrf_normalised, f"{hit.rrf_normalised:.4f} of 1"))
    at = hit.rrf_normalised
    steps = [("graph prior", "prior", 1 + gain * hit.prior, f"prior {hit.prior:.3f}")] if hit.prior else []
    steps += [(f.signal, "signal", f.factor, "" if f.input is None else f"for {f.input}") for f in hit.factors]
    for label, kind, factor, note in steps:
        if f"{factor:.3f}" != "1.000":
            said = f"× {factor:.3f}" + (f" · {note}" if note else "")
            rows.append(_step(label, kind, at, at * factor, said))
        at *= factor
    if abs(at - hit.final) > _SEEN * max(at, hit.final):
        rows.append(_step("clamp", "clamp", at, hit.final, "factors above 1 are held to the clamp"))
    rows.append(Bar("final", "final", 0.0, hit.final, f"{hit.final:.4f}"))
    return rows


_SEEN = 0.0005
"""Share of a score below which a difference is rounding, and no step of its own."""


def _step(label: str, kind: str, before: float, after: float, note: str) -> Bar:
    return Bar(label, f"{kind} {'up' if after >= before else 'down'}", min(before, after), abs(after - before), note)


def at_work(factors: Sequence[FactorResult]) -> list[FactorResult]:
    """The signals that changed the score by what three decimals show, or moved the hit."""
    return [factor for factor in factors if factor.places or f"{factor.factor:.3f}" != "1.000"]


def moved(places: int) -> str:
    """How far a signal moved the hit, to follow what it is; nothing where it did not."""
    if places == 0:
        return ""
    return f" · {abs(places)} {'place' if abs(places) == 1 else 'places'} {'up' if places > 0 else 'down'}"
