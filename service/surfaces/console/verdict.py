"""Why a node is no hit, as the rungs of a ladder: what it passed, where it stopped, what it never came to."""

from dataclasses import dataclass
from typing import Literal

from service.domain.results import WhyNotResult

_LADDER = (
    ("filter", "Published, and within the filters"),
    ("leg", "Found by a leg"),
    ("depth", "Within the depth that each leg contributes"),
    ("unsupported", "Supported by words of the question"),
)
"""What may leave a node out, in the order in which a search meets it, and what passing it means."""

_ALL = "Among the hits"


@dataclass(frozen=True, slots=True)
class Rung:
    said: str
    state: Literal["passed", "stopped", "unreached"]


def rungs(verdict: WhyNotResult) -> list[Rung]:
    """The whole ladder; a hit passed all of it."""
    reasons = [reason for reason, _ in _LADDER]
    stop = reasons.index(verdict.reason) if verdict.reason in reasons else len(reasons)
    said = [said for _, said in _LADDER] + [_ALL if verdict.rank is None else f"{_ALL}, at rank {verdict.rank}"]
    return [Rung(text, _state(place, stop)) for place, text in enumerate(said)]


def _state(place: int, stop: int) -> Literal["passed", "stopped", "unreached"]:
    if place < stop or stop == len(_LADDER):
        return "passed"
    return "stopped" if place == stop else "unreached"
