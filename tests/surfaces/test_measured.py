"""What the metrics counted, as a person reads it."""

import pytest

from service.observation import Kind, Work
from service.surfaces.measured import Measured, measured, quantile
from service.surfaces.metrics import Metrics
from tests.surfaces.fake_toolbox import search_result

INFINITE = float("inf")


@pytest.mark.parametrize(
    ("share", "buckets", "expected"),
    [
        (0.5, [(1.0, 10.0), (INFINITE, 10.0)], 0.5),
        (0.5, [(1.0, 0.0), (2.0, 10.0), (INFINITE, 10.0)], 1.5),
        (0.9, [(1.0, 5.0), (3.0, 10.0), (INFINITE, 10.0)], 1 + 2 * 4 / 5),
        (0.5, [(1.0, 5.0), (2.0, 10.0), (INFINITE, 10.0)], 1.0),
        (0.99, [(1.0, 5.0), (INFINITE, 10.0)], None),
        (0.5, [(1.0, 0.0), (INFINITE, 0.0)], None),
        (0.5, [], None),
    ],
)
def test_a_quantile_lies_within_its_bucket(share, buckets, expected):
    assert quantile(share, buckets) == (None if expected is None else pytest.approx(expected))


def test_stages_are_added_up_over_their_outcomes_and_failures_counted():
    metrics = Metrics()
    for seconds, how in ((0.0004, "done"), (0.0004, "done"), (0.0004, "refused"), (0.2, "late")):
        metrics.done(Work(Kind.STAGE, "vector"), how, {}, seconds)
    [vector] = measured(metrics.families()).stages
    assert (vector.name, vector.count, vector.failed) == ("vector", 4, 1)
    assert vector.p50 == pytest.approx(0.001 * 2 / 3)  # three of four in the first bucket, which ends at 1 ms
    assert vector.p99 == pytest.approx(0.1 + 0.15 * 0.96)  # the fourth in the bucket from 100 to 250 ms


def test_only_what_happened_is_told():
    told = measured(Metrics().families())
    assert (told.searches, told.stages, told.empty, told.degraded, told.guard) == (None, [], 0, [], [])
    assert told.problems == []


def test_searches_without_a_hit_or_a_leg_are_counted():
    metrics = Metrics()
    metrics.search(search_result([], degraded=["vector: The shard is gone.", "prior"]))
    metrics.search(search_result([], degraded=["vector"]))
    told = measured(metrics.families())
    assert told.searches is not None
    assert (told.searches.count, told.empty) == (2, 2)
    assert told.degraded == [("vector", 2), ("prior", 1)]


def test_no_metrics_say_nothing():
    assert measured([]) == Measured()
