import numpy as np
import pytest

from service.evaluation.comparison import compare


def per_query(*values: float) -> dict[str, float]:
    return {f"q{number}": value for number, value in enumerate(values)}


def test_wins_losses_ties_and_the_queries_that_moved_most():
    comparison = compare(per_query(0.5, 0.5, 0.5, 0.9), per_query(0.5, 1.0, 0.6, 0.1))
    assert (comparison.wins, comparison.losses, comparison.ties) == (2, 1, 1)
    assert [query.query for query in comparison.queries] == ["q1", "q2", "q0", "q3"]
    assert comparison.difference == pytest.approx((0.0 + 0.5 + 0.1 - 0.8) / 4)


def test_the_same_run_twice_is_no_difference():
    comparison = compare(per_query(0.1, 0.7), per_query(0.1, 0.7))
    assert (comparison.difference, comparison.low, comparison.high, comparison.p_value) == (0, 0, 0, 1)


def test_the_p_value_is_the_share_of_sign_assignments_as_extreme_as_the_one_seen():
    # Six equal gains: of 2⁶ assignments only all-plus and all-minus reach the sum.
    comparison = compare(per_query(*[0.0] * 6), per_query(*[0.5] * 6))
    assert comparison.p_value == pytest.approx(2 / 2**6, abs=0.006)


def test_assignments_can_be_counted_by_hand():
    # Differences 1, 2, 3 tenths: |±1 ±2 ±3| ≥ 4 for the signs +++, ++ on 2 and 3 with − on 1, and their mirrors.
    comparison = compare(per_query(0.0, 0.0, 0.0), per_query(-0.1, 0.2, 0.3))
    assert comparison.p_value == pytest.approx(4 / 8, abs=0.02)


def test_swapping_the_two_turns_the_signs():
    one, other = per_query(0.1, 0.4, 0.3, 0.9), per_query(0.3, 0.2, 0.8, 0.9)
    there, back = compare(one, other), compare(other, one)
    assert there.difference == pytest.approx(-back.difference)
    assert there.p_value == pytest.approx(back.p_value)
    assert (there.low, there.high) == pytest.approx((-back.high, -back.low))


def test_the_interval_is_that_of_the_mean():
    random = np.random.default_rng(1)
    differences = random.normal(0.05, 0.2, size=400)
    comparison = compare(per_query(*[0.0] * 400), per_query(*differences))
    error = differences.std() / 400**0.5
    assert comparison.low == pytest.approx(differences.mean() - 1.96 * error, abs=error / 5)
    assert comparison.high == pytest.approx(differences.mean() + 1.96 * error, abs=error / 5)


def test_noise_alone_is_seldom_significant():
    random = np.random.default_rng(2)
    p_values = [
        compare(per_query(*[0.0] * 50), per_query(*random.normal(0, 0.2, size=50)), samples=1_000).p_value
        for _ in range(200)
    ]
    # 200 tests at 5 %: ten expected, and more than 20 would be 3.2 standard deviations above it.
    assert sum(p_value < 0.05 for p_value in p_values) <= 20


@pytest.mark.parametrize(("one", "other"), [({}, {}), ({"a": 1.0}, {"b": 1.0}), ({"a": 1.0}, {"a": 1.0, "b": 1.0})])
def test_unpaired_runs_are_refused(one: dict[str, float], other: dict[str, float]):
    with pytest.raises(ValueError, match="same queries"):
        compare(one, other)
