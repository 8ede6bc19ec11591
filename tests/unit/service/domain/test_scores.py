import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.graph import NodeIdentity
from service.domain.scores import NodeScores, Numbering

A, B, C = (NodeIdentity(uid, "en-us") for uid in "abc")

SCORES = st.dictionaries(
    st.builds(NodeIdentity, st.text("abcdef", min_size=1, max_size=3), st.just("en-us")), st.floats(0, 10, width=32)
)


@given(SCORES)
def test_scores_are_read_back_by_node(scores: dict[NodeIdentity, float]) -> None:
    held = NodeScores.of(scores)
    assert held.by_node() == {node: score for node, score in scores.items() if score > 0}
    assert held.at(list(scores)).tolist() == list(scores.values())


@given(SCORES, st.floats(0, 0.5))
def test_truncation_loses_no_more_than_its_bound(scores: dict[NodeIdentity, float], bound: float) -> None:
    kept = NodeScores.of(scores).truncated(bound)
    lost = sum(scores.values()) - kept.total
    assert lost <= kept.error + 1e-5
    assert kept.error <= bound * sum(scores.values()) + 1e-5
    assert all(scores[node] == score for node, score in kept.by_node().items())


def test_truncation_drops_the_smallest() -> None:
    assert NodeScores.of({A: 0.5, B: 0.25, C: 0.0625}).truncated(0.1).by_node() == {A: 0.5, B: 0.25}
    assert NodeScores.of({}).truncated(0.05).by_node() == {}


def test_of_equal_scores_all_stay_or_none_do() -> None:
    thirds = NodeScores.of({A: 0.25, B: 0.5, C: 0.25})
    assert thirds.truncated(0.4).by_node() == {A: 0.25, B: 0.5, C: 0.25}
    assert thirds.truncated(0.5).by_node() == {B: 0.5}


def test_an_error_there_is_already_takes_its_part_of_the_bound() -> None:
    """The exact sum is 0.75 at least: a bound of a half leaves 0.375 − 0.25 to drop."""
    numbering = Numbering([A, B, C])
    near = NodeScores.dense(numbering, np.array([0.75, 0.125, 0.125], dtype=np.float32), error=0.25)
    assert near.truncated(0.5).by_node() == {A: 0.75, B: 0.125, C: 0.125}
    wider = near.truncated(0.7)
    assert wider.by_node() == {A: 0.75}
    assert wider.error == pytest.approx(0.5)


def test_who_has_no_number_has_no_score() -> None:
    scores = NodeScores.dense(Numbering([C, B]), np.array([0.0, 0.5], dtype=np.float32))
    assert scores.at([A, B, C]).tolist() == [0.0, 0.5, 0.0]
    assert NodeScores.of({}).at([A]).tolist() == [0.0]
