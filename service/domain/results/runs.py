"""Searches as the run log keeps them, and a run asked again."""

from typing import Any

from pydantic import Field

from service.domain.results.result import Result
from service.domain.results.search import AnchorResult, LegRank, PinnedBy


class LoggedFactor(Result):
    """One signal's multiplier, and what it was computed from."""

    signal: str
    input: Any
    factor: float


class LoggedHit(Result):
    """A hit with every number that its place came from: final = rrfNormalised · (1 + γ·prior) · Π factors, of which
    those above 1 together are held to the run's clamp."""

    uid: str
    locale: str
    legs: list[LegRank]
    rrf_normalised: float
    prior: float
    factors: list[LoggedFactor]
    final: float
    pinned: PinnedBy | None = None


class RunSummary(Result):
    """One answered search, as it was kept."""

    run_id: str
    at: str
    text: str | None = Field(description="Null where `run_log_texts` is off.")
    content_root: str
    hits: list[LoggedHit]
    degraded: list[str]
    took_ms: float


class RunResult(RunSummary):
    """The same with what it takes to rank again."""

    request: dict[str, Any] = Field(description="As it was sent, without its text and cursor.")
    start: int = Field(description="Place of the first hit in the window, from 0.")
    limit: int
    visible_to: list[str] = Field(description="The visibility class that asked.")
    as_of: str
    legs: list[str] = Field(description="Those that answered.")
    anchors: list[AnchorResult]
    gain: float = Field(description="γ of the graph prior.")
    clamp: float = Field(description="Most that the factors above 1 make together.")
    k: int
    notices: list[str]
    tuning_version: int | None = Field(default=None, description="That counted; null where none did.")


class RunsResult(Result):
    """Runs, newest first."""

    runs: list[RunSummary]
    withheld: int = Field(default=0, description="Runs among them of visibility classes that this caller lacks.")


class MovedHit(Result):
    """A hit's place in the run and now, from 1; null where it is not among the hits."""

    uid: str
    locale: str
    then: int | None
    now: int | None


class ReplayResult(Result):
    """A run's search asked again: as of the same day, of the same legs, for the same visibility class."""

    run_id: str
    same_snapshot: bool
    same_tuning: bool = Field(default=True, description="Pinned results and synonyms are of the run's own version.")
    same_text: bool | None = Field(
        default=True,
        description="Whether the run's own words were asked; null where they were not kept and others given.",
    )
    same_order: bool
    moved: list[MovedHit] = Field(description="Hits that are not where they were.")
    content_root: str
    degraded: list[str]
