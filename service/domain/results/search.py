"""A search's answer: the hits, why each is where it is, and why another is not among them."""

from typing import Any, Literal

from pydantic import Field

from service.domain.results.result import Result


class PassageResult(Result):
    """The passage that speaks for the hit. `highlights` are character ranges of `text`, [start, end)."""

    text: str
    heading: str
    anchor: str
    highlights: list[tuple[int, int]]
    is_cut: bool = Field(default=False, description="The text was cut for want of `maxTokens`.")


class LegRank(Result):
    """Where one leg ranked the hit, from 1; `score` is that leg's own and compares within it only."""

    leg: str
    rank: int
    score: float
    vote: float = Field(description="weight / (k + rank)")


class FactorResult(Result):
    """One signal's multiplier, what it was computed from, and how many places it moved the hit (up is positive)."""

    signal: str
    input: Any
    factor: float
    places: int


class PinnedBy(Result):
    """The version of a tuning that put the hit where it is, its editor's note, and where the hit would stand without;
    null where it would be no hit."""

    version: int
    place: int
    note: str
    unpinned: int | None


class HitExplanation(Result):
    legs: list[LegRank]
    rrf: float = Field(
        description="Σ weight / (k + rank). Where a leg can't see the node yet, the others' votes stand for its own."
    )
    rrf_normalised: float = Field(description="rrf over the best possible, in (0, 1]")
    prior: float
    prior_places: int = Field(description="Places that the prior moved the hit by; up is positive.")
    factors: list[FactorResult]
    final: float
    pinned: PinnedBy | None = Field(default=None, description="Of a hit that people put where it is.")


class Hit(Result):
    uid: str
    locale: str
    title: str
    url: str | None = Field(description="With the passage's heading as fragment.")
    kind: str
    type: str | None
    docset: str
    summary: str | None
    language: str | None = Field(default=None, description="Of a code sample.")
    score: float
    passage: PassageResult
    superseded_by: str | None = Field(default=None, description="Uid of the page that replaces this one.")
    pinned: bool = Field(default=False, description="People put it at this place, whatever its score.")
    unverified: bool = Field(default=False, description="The graph was down: shown as the text index has it.")
    explain: HitExplanation | None = None


class LegReport(Result):
    """How one leg fared in this run."""

    leg: str
    engine: str
    state: Literal["live", "degraded", "down"]
    hits: int
    took_ms: float
    reason: str | None = None


class AnchorResult(Result):
    """A node that the query was understood to be about, and by what."""

    uid: str
    locale: str
    title: str
    via: str


class ExpandedTerms(Result):
    """A term of the question that has synonyms, and what was looked for besides."""

    of: str
    alternatives: list[str]


class SearchExplanation(Result):
    legs: list[LegReport]
    anchors: list[AnchorResult]
    timings_ms: dict[str, float]
    k: int
    as_of: str
    expansions: list[ExpandedTerms] = Field(default_factory=list)


class SearchResult(Result):
    hits: list[Hit]
    total: int = Field(description="Nodes in the window that paging can reach, not matches in the estate.")
    total_is: Literal["window"] = "window"
    facets: dict[str, dict[str, int]] = Field(default_factory=dict)
    next_cursor: str | None
    truncated: bool = Field(default=False, description="The page is cut at `result_bytes`: `nextCursor` has the rest.")
    degraded: list[str]
    notices: list[str] = Field(default_factory=list)
    content_root: str
    ontology_hash: str
    run_id: str
    took_ms: float
    tuning_version: int | None = Field(
        default=None, description="The tuning's version that counted, 0 before any; null where it was left out."
    )
    explain: SearchExplanation | None = None


class WhyNotResult(Result):
    """`reason`: hit (it is there: `rank`), filter, depth, leg (no leg finds it), unsupported (see notices)."""

    uid: str
    locale: str
    reason: Literal["hit", "filter", "depth", "leg", "unsupported"]
    rank: int | None = None
    detail: str
    degraded: list[str] = Field(default_factory=list, description="What the search that was looked into went without.")
