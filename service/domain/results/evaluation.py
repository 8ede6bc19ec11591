"""Configurations measured over judged sets, and compared."""

from pydantic import Field

from service.domain.results.result import Result


class EvaluatedConfiguration(Result):
    """One configuration over one set: each measure's mean over the queries."""

    name: str
    metrics: dict[str, float]
    degraded: int = Field(description="Queries that were answered without a leg or stage.")
    given_away: int = Field(
        description="Queries whose answer an edge joins to the document that the graph prior starts from."
    )
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
