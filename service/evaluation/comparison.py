"""Whether one configuration ranks better than another, or the difference is chance.

Both answered the same queries, so the test is paired: under the null hypothesis the two are interchangeable, and each
query's difference might as well have had the other sign (Fisher's randomisation test; Smucker, Allan and Carterette,
CIKM 2007). The interval is the percentile bootstrap over queries (Sakai, SIGIR 2006).
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from service.evaluation.measures import PerQuery

SAMPLES = 10_000
"""Random assignments and resamples: a p-value of 0.05 is then known to ± 0.004."""

_SEED = 20_070
_ROWS = 500
"""Samples drawn at once, which bounds memory on large sets."""


@dataclass(frozen=True, slots=True)
class QueryDifference:
    query: str
    baseline: float
    candidate: float

    @property
    def difference(self) -> float:
        return self.candidate - self.baseline


@dataclass(frozen=True)
class Comparison:
    """The candidate against the baseline. `p_value` is two-sided; the interval holds the mean difference at 95 %."""

    baseline: float
    candidate: float
    low: float
    high: float
    p_value: float
    queries: tuple[QueryDifference, ...]
    """Largest gain first, largest loss last."""

    @property
    def difference(self) -> float:
        return self.candidate - self.baseline

    @property
    def wins(self) -> int:
        return sum(query.difference > 0 for query in self.queries)

    @property
    def losses(self) -> int:
        return sum(query.difference < 0 for query in self.queries)

    @property
    def ties(self) -> int:
        return len(self.queries) - self.wins - self.losses


def compare(baseline: PerQuery, candidate: PerQuery, *, samples: int = SAMPLES) -> Comparison:
    """Compare one measure of two runs over the same queries. The same input gives the same answer.

    Raises ValueError when the two did not answer the same queries, or none.
    """
    if baseline.keys() != candidate.keys() or not baseline:
        raise ValueError("A paired comparison needs the same queries on both sides, and at least one.")
    queries = [QueryDifference(query, baseline[query], candidate[query]) for query in sorted(baseline)]
    differences = np.asarray([query.difference for query in queries])
    low, high = _interval(differences, samples)
    return Comparison(
        baseline=float(np.mean(list(baseline.values()))),
        candidate=float(np.mean(list(candidate.values()))),
        low=low,
        high=high,
        p_value=_p_value(differences, samples),
        queries=tuple(sorted(queries, key=lambda query: (-query.difference, query.query))),
    )


def _p_value(differences: npt.NDArray[np.float64], samples: int) -> float:
    """The share of sign assignments at least as extreme as what was seen, the seen one counted among them."""
    seen = abs(differences.sum())
    random = np.random.default_rng(_SEED)
    extreme = 0
    for rows in _batches(samples):
        signs = random.choice((-1.0, 1.0), size=(rows, len(differences)))
        # A sum of the same numbers in another order differs in its last digits.
        extreme += int(np.count_nonzero(np.abs(signs @ differences) >= seen - 1e-9))
    return (extreme + 1) / (samples + 1)


def _interval(differences: npt.NDArray[np.float64], samples: int) -> tuple[float, float]:
    random = np.random.default_rng(_SEED)
    means = np.concatenate(
        [random.choice(differences, size=(rows, len(differences))).mean(axis=1) for rows in _batches(samples)]
    )
    low, high = np.percentile(means, (2.5, 97.5))
    return float(low), float(high)


def _batches(samples: int) -> Iterator[int]:
    for start in range(0, samples, _ROWS):
        yield min(_ROWS, samples - start)
