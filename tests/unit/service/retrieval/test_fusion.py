import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.content import PassageKey
from service.domain.graph import NodeIdentity
from service.ports import PassageHit
from service.retrieval.fusion import Ranking, fuse


def node(uid: str) -> NodeIdentity:
    return NodeIdentity(uid, "en-us")


def ranking(leg: str, *uids: str, weight: float = 1.0, unseen: str = "") -> Ranking:
    hits = (
        PassageHit(PassageKey(NodeIdentity(uid, "en-us"), "hash", 0), 1.0 / place) for place, uid in enumerate(uids, 1)
    )
    return Ranking(leg, weight, tuple(hits), frozenset(node(uid) for uid in unseen))


def uids(rankings: list[Ranking]) -> list[str]:
    return [fused.identity.uid for fused in fuse(rankings, k=60)]


def test_two_legs_agree_on_the_second_document() -> None:
    fused = fuse([ranking("lexical", "a", "b"), ranking("vector", "c", "b")], k=60)
    assert fused[0].identity.uid == "b"
    assert fused[0].rrf == pytest.approx(1 / 62 + 1 / 62)
    assert fused[0].score == pytest.approx((1 / 62 + 1 / 62) / (2 / 61))


def test_first_in_every_leg_scores_one() -> None:
    assert fuse([ranking("lexical", "a"), ranking("vector", "a")], k=60)[0].score == pytest.approx(1.0)


def test_ranks_count_from_one() -> None:
    assert fuse([ranking("lexical", "a")], k=60)[0].rrf == pytest.approx(1 / 61)


def test_a_leg_that_is_not_live_does_not_lower_the_best_possible() -> None:
    assert fuse([ranking("lexical", "a")], k=60)[0].score == pytest.approx(1.0)


def test_weights_scale_votes_and_the_best_possible() -> None:
    fused = fuse([ranking("lexical", "a", weight=3.0), ranking("vector", "b", weight=1.0)], k=60)
    assert [node.identity.uid for node in fused] == ["a", "b"]
    assert fused[0].score == pytest.approx((3 / 61) / (4 / 61))


def test_a_leg_of_no_weight_has_no_vote() -> None:
    assert uids([ranking("lexical", "a", weight=0.0), ranking("vector", "b")]) == ["b"]


def test_a_leg_abstains_on_what_it_can_not_see_and_the_others_count_for_it() -> None:
    """`a` is first of the only leg that sees it, so as if first in both; `c` was seen by both and found by one."""
    fused = fuse([ranking("lexical", "a", "b", "c"), ranking("vector", "b", unseen="a")], k=60)
    assert [(found.identity.uid, found.rrf) for found in fused] == [
        ("a", pytest.approx(2 / 61)),
        ("b", pytest.approx(1 / 62 + 1 / 61)),
        ("c", pytest.approx(1 / 63)),
    ]
    assert fused[0].score == pytest.approx(1.0)
    assert [vote.leg for vote in fused[0].votes] == ["lexical"]


def test_who_abstains_gives_its_weight_to_the_others() -> None:
    legs = [ranking("lexical", "a", "b", weight=1.0), ranking("vector", "b", weight=3.0, unseen="a")]
    assert {found.identity.uid: found.rrf for found in fuse(legs, k=60)} == {
        "a": pytest.approx(4 / 61),
        "b": pytest.approx(1 / 62 + 3 / 61),
    }


def test_no_rankings_fuse_to_nothing() -> None:
    assert fuse([], k=60) == []


def test_equal_scores_go_to_the_best_single_rank_then_to_the_identity() -> None:
    # k = 1: ranks 1 and 5 add up to 1/2 + 1/6 = 2/3, ranks 2 and 2 to 1/3 + 1/3 = 2/3.
    first = ranking("lexical", "wide", "even", "x", "y", "z")
    second = ranking("vector", "p", "even", "q", "r", "wide")
    fused = fuse([first, second], k=1)
    assert [node.identity.uid for node in fused[:2]] == ["wide", "even"]
    assert uids([ranking("lexical", "b"), ranking("vector", "a")]) == ["a", "b"]


def test_the_passage_of_the_best_rank_speaks_for_the_node() -> None:
    fused = fuse([ranking("lexical", "x", "a"), ranking("vector", "a")], k=60)
    assert fused[0].best_vote.leg == "vector"


NAMES = st.lists(st.sampled_from("abcdefghij"), unique=True, max_size=10)


@given(NAMES, NAMES)
def test_every_document_of_any_leg_comes_out_once(first: list[str], second: list[str]) -> None:
    found = uids([ranking("lexical", *first), ranking("vector", *second)])
    assert sorted(found) == sorted(set(first) | set(second))


@given(NAMES, NAMES)
def test_the_order_of_the_legs_does_not_matter(first: list[str], second: list[str]) -> None:
    forwards = uids([ranking("lexical", *first), ranking("vector", *second)])
    assert uids([ranking("vector", *second), ranking("lexical", *first)]) == forwards


@given(NAMES.filter(lambda names: len(names) > 1), NAMES, st.data())
def test_raising_a_document_in_one_leg_never_lowers_its_place(
    first: list[str], second: list[str], data: st.DataObject
) -> None:
    index = data.draw(st.integers(1, len(first) - 1))
    raised = [*first]
    raised[index - 1], raised[index] = raised[index], raised[index - 1]
    before = uids([ranking("lexical", *first), ranking("vector", *second)]).index(first[index])
    after = uids([ranking("lexical", *raised), ranking("vector", *second)]).index(first[index])
    assert after <= before


@given(NAMES, NAMES)
def test_scores_lie_in_the_unit_interval_and_fall(first: list[str], second: list[str]) -> None:
    scores = [fused.score for fused in fuse([ranking("lexical", *first), ranking("vector", *second)], k=60)]
    assert all(0 < score <= 1 + 1e-12 for score in scores)
    assert scores == sorted(scores, reverse=True)


@given(NAMES, NAMES, NAMES)
def test_what_a_leg_can_not_see_keeps_the_order_and_no_worse_a_place_than_without_that_leg(
    first: list[str], second: list[str], hidden: list[str]
) -> None:
    """Whatever few nodes have vectors: the others stay in the order of the leg that sees them all, and none of them
    falls behind a node that stood behind it there and that the vectors rank no better."""
    seen = [uid for uid in second if uid not in hidden]
    fused = uids([ranking("lexical", *first), ranking("vector", *seen, unseen="".join(hidden))])
    assert [uid for uid in fused if uid in hidden] == [uid for uid in first if uid in hidden]
    for place, uid in enumerate(first):
        for behind in first[place + 1 :]:
            if uid in hidden and (behind not in seen or seen.index(behind) > place):
                assert fused.index(uid) < fused.index(behind)


@given(NAMES, NAMES, st.data())
def test_raising_a_document_never_lowers_it_while_a_leg_sees_a_part(
    first: list[str], second: list[str], data: st.DataObject
) -> None:
    if len(first) < 2:
        return
    hidden = "".join(data.draw(NAMES))
    index = data.draw(st.integers(1, len(first) - 1))
    raised = [*first]
    raised[index - 1], raised[index] = raised[index], raised[index - 1]
    seen = ranking("vector", *(uid for uid in second if uid not in hidden), unseen=hidden)
    before = uids([ranking("lexical", *first), seen]).index(first[index])
    assert uids([ranking("lexical", *raised), seen]).index(first[index]) <= before
