"""What the metrics have counted since the process began, as a person reads it: quantiles for histograms, no zeroes."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from prometheus_client.metrics_core import Metric
from prometheus_client.samples import Sample

Bucket = tuple[float, float]
"""An upper bound in seconds, and how many took no longer than that."""

_WELL = frozenset({"done", "refused", "cancelled"})
"""Outcomes that are no failure of the service: it did what was asked, or rightly did not."""


@dataclass(frozen=True, slots=True)
class Timed:
    """One kind of work: how often, and how long in seconds. `None`: longer than the histogram can tell."""

    name: str
    count: int
    p50: float | None
    p99: float | None
    failed: int = 0


@dataclass(frozen=True)
class Measured:
    """`degraded`, `problems` and `guard` are by part or code, most frequent first, only what was counted."""

    began: float = 0.0
    searches: Timed | None = None
    stages: list[Timed] = field(default_factory=list)
    calls: list[Timed] = field(default_factory=list)
    empty: int = 0
    degraded: list[tuple[str, int]] = field(default_factory=list)
    problems: list[tuple[str, int]] = field(default_factory=list)
    guard: list[tuple[str, int]] = field(default_factory=list)
    open_breakers: list[str] = field(default_factory=list)


def measured(families: Iterable[Metric]) -> Measured:
    """What these say; a family that is not there has counted nothing."""
    by_name = {family.name: family for family in families}
    searches = _timed(by_name.get("cogitave_query_search_duration_seconds"))
    return Measured(
        began=sum(sample.value for sample in _samples(by_name.get("process_start_time_seconds"))),
        searches=searches[0] if searches else None,
        stages=_timed(by_name.get("cogitave_query_stage_duration_seconds"), "stage"),
        calls=_timed(by_name.get("db_client_operation_duration_seconds"), "db_system_name", "db_operation_name"),
        empty=sum(count for _, count in _counted(by_name.get("cogitave_query_search_empty"))),
        degraded=_counted(by_name.get("cogitave_query_search_degraded"), "part"),
        problems=_counted(by_name.get("cogitave_query_problems"), "code"),
        guard=_counted(by_name.get("cogitave_query_guard_refusals"), "code"),
        open_breakers=[
            " ".join(sample.labels.values())
            for sample in _samples(by_name.get("cogitave_query_breaker_open"))
            if sample.value
        ],
    )


def quantile(share: float, buckets: Sequence[Bucket]) -> float | None:
    """The value that `share` of all lie below, evenly spread within its bucket as Prometheus' histogram_quantile has
    it. `buckets` are cumulative, by bound, the last one infinite; None where the value lies in that one."""
    total = buckets[-1][1] if buckets else 0.0
    wanted = share * total
    below = (0.0, 0.0)
    for bound, count in buckets:
        if count >= wanted and count > below[1]:
            if bound == float("inf"):
                return None
            return below[0] + (bound - below[0]) * (wanted - below[1]) / (count - below[1])
        below = (bound, count)
    return None


def _samples(family: Metric | None) -> list[Sample]:
    return list(family.samples) if family else []


def _counted(family: Metric | None, label: str = "") -> list[tuple[str, int]]:
    counts = [
        (sample.labels.get(label, ""), int(sample.value))
        for sample in _samples(family)
        if sample.name.endswith("_total") and sample.value
    ]
    return sorted(counts, key=lambda pair: (-pair[1], pair[0]))


def _timed(family: Metric | None, *labels: str) -> list[Timed]:
    """One row for each value of these labels, in the order they came up; the other labels are added up."""
    buckets: dict[str, dict[float, float]] = defaultdict(lambda: defaultdict(float))
    failed: dict[str, float] = defaultdict(float)
    for sample in _samples(family):
        name = " ".join(sample.labels[label] for label in labels)
        if sample.name.endswith("_bucket"):
            buckets[name][float(sample.labels["le"])] += sample.value
        elif sample.name.endswith("_count") and sample.labels.get("outcome", "done") not in _WELL:
            failed[name] += sample.value
    rows = []
    for name, counts in buckets.items():
        sorted_counts = sorted(counts.items())
        if total := int(sorted_counts[-1][1]):
            p50, p99 = quantile(0.5, sorted_counts), quantile(0.99, sorted_counts)
            rows.append(Timed(name, total, p50, p99, int(failed[name])))
    return rows
