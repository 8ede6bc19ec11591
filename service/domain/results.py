"""What the tools answer, in the shape that every surface shows. Field names are camelCase on the wire."""

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field
from pydantic.alias_generators import to_camel

from service.domain.diagnostics import Diagnostic


class Result(BaseModel):
    model_config = ConfigDict(frozen=True, alias_generator=to_camel, populate_by_name=True)


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


class HitExplanation(Result):
    legs: list[LegRank]
    rrf: float = Field(description="Σ weight / (k + rank)")
    rrf_normalised: float = Field(description="rrf over the best possible, in (0, 1]")
    prior: float
    prior_places: int = Field(description="Places that the prior moved the hit by; up is positive.")
    factors: list[FactorResult]
    final: float


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


class SearchExplanation(Result):
    legs: list[LegReport]
    anchors: list[AnchorResult]
    timings_ms: dict[str, float]
    k: int
    as_of: str


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
    explain: SearchExplanation | None = None


class WhyNotResult(Result):
    """`reason`: hit (it is there: `rank`), filter, depth, leg (no leg finds it), unsupported (see notices)."""

    uid: str
    locale: str
    reason: Literal["hit", "filter", "depth", "leg", "unsupported"]
    rank: int | None = None
    detail: str


class NodeSummary(Result):
    uid: str
    locale: str
    kind: str
    title: str
    type: str | None
    url: str | None
    summary: str | None
    docset: str
    content_hash: str | None = None


class ListResult(Result):
    nodes: list[NodeSummary]
    total: int
    total_is: Literal["estate"] = "estate"
    facets: dict[str, dict[str, int]] = Field(default_factory=dict)
    degraded: list[str] = Field(default_factory=list)
    next_cursor: str | None
    truncated: bool = Field(default=False, description="The page is cut at `result_bytes`: `nextCursor` has the rest.")
    content_root: str
    took_ms: float


class SectionResult(Result):
    heading: str
    anchor: str
    level: int
    text: str
    moniker_range: str | None


class EdgeResult(Result):
    type: str
    uid: str
    locale: str
    title: str
    kind: str
    direction: Literal["out", "in"]


class CutResult(Result):
    """What there was no room for, and how to go on: the same request with `nextCursor` as its `cursor`."""

    tokens: int = Field(description="Tokens shown, as the sentence model counts them; 0 when nobody counted.")
    sections_left: int = Field(description="Sections left out, whole or in part.")
    next_section: str = Field(description="Anchor of the section where the text goes on.")
    next_cursor: str


class NodeResult(Result):
    """One node whole: its properties, its text by section, and its edges to nodes that the caller may see."""

    uid: str
    locale: str
    kind: str
    title: str
    url: str | None
    properties: dict[str, Any]
    sections: list[SectionResult]
    edges: list[EdgeResult]
    edges_truncated: bool
    other_locales: list[str]
    content_hash: str | None
    content_root: str
    cut: CutResult | None = Field(default=None, description="Null when all of the text is here.")


class FetchRefusal(Result):
    """Why one node of several was not fetched."""

    code: str
    message: str
    suggestion: str | None


class FetchedNode(Result):
    """What became of one uid: the node, or the refusal."""

    asked: str
    node: NodeResult | None = None
    refusal: FetchRefusal | None = None


class NodesResult(Result):
    """In the order asked for."""

    nodes: list[FetchedNode]
    content_root: str
    took_ms: float


class PathStep(Result):
    """One edge of a path, and the node that it leads to."""

    type: str
    direction: Literal["out", "in"]
    uid: str
    locale: str
    title: str


class RelatedNode(Result):
    uid: str
    locale: str
    kind: str
    title: str
    url: str | None
    summary: str | None
    prior: float
    path: list[PathStep] = Field(description="From the node asked about to this one.")


class RelatedResult(Result):
    uid: str
    locale: str
    related: list[RelatedNode]
    truncated: bool
    degraded: list[str]
    content_root: str
    took_ms: float


class LearningStep(Result):
    """One thing to learn, after all that it requires."""

    uid: str
    locale: str
    kind: str
    title: str
    url: str | None
    level: str | None
    minutes: int | None
    teaches: list[str]
    required_by: list[str]
    alternatives: list[str] = Field(description="Uids that teach the same and were not chosen.")


class MissingPrerequisite(Result):
    """Something that a step requires and nothing in the estate teaches."""

    uid: str
    title: str
    required_by: str = Field(description="The step's uid; the goal's own where nothing teaches the goal.")


class LearningPathResult(Result):
    goal: str
    reachable: bool
    steps: list[LearningStep]
    minutes: int
    within_budget: bool | None
    missing: list[MissingPrerequisite]
    cycles: list[list[str]] = Field(description="Prerequisites that go round in a circle; each was broken at its end.")
    notices: list[str]
    truncated: bool = Field(default=False, description="The last steps are cut at `result_bytes`.")
    content_root: str
    took_ms: float


class XrefResolution(Result):
    """What one uid stands for. `via`: exact, case, alias, redirect, overload; or none, and then see `suggestions`."""

    asked: str
    found: bool
    via: Literal["exact", "case", "alias", "redirect", "overload", "none"]
    uid: str | None = None
    locale: str | None = None
    kind: str | None = None
    title: str | None = None
    url: str | None = None
    external: bool = Field(default=False, description="Documented outside this estate: known by its uid alone.")
    redirects: list[str] = Field(default_factory=list)
    suggestions: list[str] = Field(default_factory=list)


class XrefResult(Result):
    resolutions: list[XrefResolution]
    truncated: bool = Field(default=False, description="Cut at `result_bytes`: resolve the rest by itself.")
    content_root: str
    took_ms: float


class CodeSample(Result):
    uid: str
    locale: str
    title: str
    language: str | None
    code: str
    highlights: list[tuple[int, int]]
    owner_uid: str | None
    owner_title: str | None
    owner_url: str | None
    score: float
    explain: HitExplanation | None = None


class SampleResult(Result):
    samples: list[CodeSample]
    total: int
    total_is: Literal["window"] = "window"
    languages: dict[str, int]
    next_cursor: str | None
    truncated: bool = Field(default=False, description="The page is cut at `result_bytes`: `nextCursor` has the rest.")
    degraded: list[str]
    content_root: str
    took_ms: float


class Suggestion(Result):
    """A node, and which of its names the typed text may become."""

    uid: str
    locale: str
    kind: str
    title: str
    url: str | None
    text: str = Field(description="The name that matched, whole.")
    matched: Literal["title", "uid", "alias"]


class SuggestResult(Result):
    suggestions: list[Suggestion]
    content_root: str
    took_ms: float


class SchemaResult(Result):
    """What a graph query may say. Counts are of what the caller may see."""

    labels: dict[str, int] = Field(description="Node kind → nodes; the label is the kind with a capital.")
    edge_types: dict[str, int]
    properties: list[str]
    grammar: str = Field(description="The subset of Cypher that is allowed, its limits, and how to write it.")
    examples: list[str]
    content_root: str


class GraphQueryResult(Result):
    columns: list[str]
    rows: list[list[Any]]
    truncated: bool = Field(description="There are more rows than the limit, or the size of an answer, lets through.")
    cypher: str = Field(description="What was run: the canonical text that the guard rendered.")
    content_root: str
    took_ms: float


class DiagnosticResult(Result):
    severity: str
    code: str
    file: str
    line: int
    column: int
    message: str
    fix: str

    @classmethod
    def of(cls, found: Diagnostic) -> "DiagnosticResult":
        return cls(
            severity=found.severity.value,
            code=found.code,
            file=found.file,
            line=found.line,
            column=found.column,
            message=found.message,
            fix=found.fix,
        )


class DiagnosticCount(Result):
    severity: str
    code: str
    count: int


class DiagnosticsResult(Result):
    """What the last publish found in the sources: counts of everything, and the gravest findings themselves."""

    published_at: str = Field(description="Empty before the first publish.")
    content_root: str
    docsets: list[str]
    counts: list[DiagnosticCount]
    diagnostics: list[DiagnosticResult]


class PublishResult(Result):
    nodes: dict[str, int]
    edges: dict[str, int]
    passages: int
    added: int
    changed: int
    removed: int
    unchanged: int
    diagnostics: list[DiagnosticResult]
    content_root: str
    generation: int
    embedded: int = Field(description="Texts that the model had to read; the rest came from the cache.")
    dry_run: bool = False
    seconds: float


class Finding(Result):
    """One way in which a store differs from the snapshot: how often, and the first few names."""

    store: str
    code: str
    count: int
    examples: list[str]


class DoctorResult(Result):
    healthy: bool
    findings: list[Finding]
    content_root: str
    generation: int
    nodes: int
    passages: int


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


class RunsResult(Result):
    """Runs, newest first."""

    runs: list[RunSummary]


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
    same_order: bool
    moved: list[MovedHit] = Field(description="Hits that are not where they were.")
    content_root: str
    degraded: list[str]


class RootResult(Result):
    """A snapshot that can be rolled back to."""

    content_root: str
    generation: int
    published_at: str
    nodes: int
    edges: int
    passages: int
    current: bool


class RootsResult(Result):
    """The snapshots that are kept, newest first."""

    roots: list[RootResult]


class EngineReport(Result):
    engine: str
    role: str
    ready: bool
    reason: str | None = None


class ReadinessResult(Result):
    ready: bool
    engines: list[EngineReport]
    content_root: str
    generation: int
    passages: int
    vectors: int
    publishing: bool = Field(
        default=False, description="A large publish is being applied: the graph is between two snapshots."
    )


class EvaluatedConfiguration(Result):
    """One configuration over one set: each measure's mean over the queries."""

    name: str
    metrics: dict[str, float]
    degraded: int = Field(description="Queries that were answered without a leg or stage.")
    seconds: float
    per_query: dict[str, dict[str, float]] | None = Field(default=None, description="Measure → query → value.")


class QueryComparison(Result):
    query: str
    baseline: float
    candidate: float


class ComparisonResult(Result):
    """Paired over the same queries: a randomisation test's p-value, and a bootstrap's 95 % interval."""

    baseline: str
    candidate: str
    measure: str
    difference: float
    low: float
    high: float
    p_value: float
    wins: int
    losses: int
    ties: int
    queries: list[QueryComparison] | None = Field(default=None, description="Where they differ, largest gain first.")


class EvaluatedSet(Result):
    """A judged set, as far as the estate holds what it judges."""

    name: str
    queries: int
    left_out: int = Field(description="Queries of which the estate holds nothing relevant.")
    missing: list[str] = Field(description="Documents judged relevant that the estate does not hold.")
    configurations: list[EvaluatedConfiguration]
    comparisons: list[ComparisonResult]


class EvaluationResult(Result):
    sets: list[EvaluatedSet]
    content_root: str
