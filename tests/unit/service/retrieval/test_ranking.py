import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.content import PassageKey
from service.domain.graph import NodeIdentity
from service.ports import PassageHit
from service.retrieval.fusion import Fused, Ranking, fuse
from service.retrieval.ranking import Evidence, places_moved, rank, unverified
from service.retrieval.signals import Factor


def window(*uids: str) -> list[Fused]:
    hits = tuple(PassageHit(PassageKey(NodeIdentity(uid, "en-us"), "hash", 0), 1.0) for uid in uids)
    return fuse([Ranking("lexical", 1.0, hits)], k=60)


def legs(*rankings: list[str]) -> list[Fused]:
    names = ("lexical", "vector", "sparse")
    return fuse(
        [
            Ranking(name, 1.0, tuple(PassageHit(PassageKey(identity(uid), "hash", 0), 1.0) for uid in uids))
            for name, uids in zip(names, rankings, strict=False)
        ],
        k=60,
    )


def identity(uid: str) -> NodeIdentity:
    return NodeIdentity(uid, "en-us")


def evidence(priors: dict[str, float] | None = None, factors: dict[str, list[Factor]] | None = None) -> Evidence:
    return Evidence(
        cards={},
        priors={identity(uid): prior for uid, prior in (priors or {}).items()},
        factors={identity(uid): tuple(said) for uid, said in (factors or {}).items()},
    )


def test_final_is_fused_times_prior_times_factors() -> None:
    factors = {"b": [Factor("role", "developer", 1.02), Factor("age", 9.0, 0.9)]}
    ranked = rank(window("a", "b"), evidence({"b": 0.5}, factors), gain=0.1, clamp=1.15)
    second = next(node for node in ranked if node.identity.uid == "b")
    assert second.final == pytest.approx((61 / 62) * (1 + 0.1 * 0.5) * 1.02 * 0.9)


def test_the_prior_lifts_over_a_near_neighbour_and_not_over_a_far_one() -> None:
    ranked = rank(window(*"abcdefghijkl"), evidence({"l": 1.0}), gain=0.1, clamp=1.15)
    # Rank 12 of k = 60 has 61/72 of the first; times 1.1 that is 0.932, between rank 5 (0.938) and rank 6 (0.924).
    assert [node.identity.uid for node in ranked].index("l") == 5


def test_without_evidence_the_fused_order_stays() -> None:
    assert [node.identity.uid for node in rank(window("a", "b", "c"), evidence(), gain=0.1, clamp=1.15)] == [
        "a",
        "b",
        "c",
    ]
    assert [node.final for node in unverified(window("a", "b"))] == pytest.approx([1.0, 61 / 62])


def test_places_say_what_each_thing_did() -> None:
    factors = {"c": [Factor("role", "developer", 1.02), Factor("moniker", "net-8.0", 1.05)]}
    ranked = rank(window("a", "b", "c"), evidence(None, factors), gain=0.1, clamp=1.15)
    node = next(node for node in ranked if node.identity.uid == "c")
    # Fused: 1, 61/62, 61/63. With both 1.037 (first); without moniker 0.988 (second); without role 1.017 (first).
    assert places_moved(node, ranked, gain=0.1, clamp=1.15) == {"role": 0, "moniker": 1}


def test_a_demotion_moves_down() -> None:
    ranked = rank(window("a", "b", "c"), evidence(None, {"a": [Factor("superseded", "b", 0.25)]}), gain=0.1, clamp=1.15)
    assert ranked[-1].identity.uid == "a"
    assert places_moved(ranked[-1], ranked, gain=0.1, clamp=1.15) == {"superseded": -2}


VALUES = st.floats(0.25, 1.2)


@given(
    st.lists(st.sampled_from("abcdefgh"), unique=True, min_size=1),
    st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 1)),
    st.dictionaries(st.sampled_from("abcdefgh"), st.lists(VALUES, max_size=3)),
)
def test_logged_factors_reproduce_the_final_score_and_order(
    uids: list[str], priors: dict[str, float], values: dict[str, list[float]]
) -> None:
    factors = {uid: [Factor(str(n), "", v) for n, v in enumerate(said)] for uid, said in values.items()}
    ranked = rank(window(*uids), evidence(priors, factors), gain=0.1, clamp=1.15)
    for node in ranked:
        boost = demotion = 1.0
        for factor in node.factors:
            boost *= max(1.0, factor.value)
            demotion *= min(1.0, factor.value)
        assert node.final == pytest.approx(node.fused.score * (1 + 0.1 * node.prior) * min(1.15, boost) * demotion)
    assert [node.final for node in ranked] == sorted((node.final for node in ranked), reverse=True)
    assert sorted(node.identity.uid for node in ranked) == sorted(uids)


NAMES = st.lists(st.sampled_from("abcdefgh"), unique=True)
PRIORS = st.dictionaries(st.sampled_from("abcdefgh"), st.floats(0, 1))
FACTORS = st.dictionaries(st.sampled_from("abcdefgh"), st.lists(VALUES, max_size=3))


@given(NAMES.filter(lambda names: len(names) > 1), NAMES, PRIORS, FACTORS, st.data())
def test_raising_a_document_in_one_leg_never_lowers_its_final_place(
    first: list[str],
    second: list[str],
    priors: dict[str, float],
    values: dict[str, list[float]],
    data: st.DataObject,
) -> None:
    index = data.draw(st.integers(1, len(first) - 1))
    to = data.draw(st.integers(0, index - 1))
    raised = [*first[:to], first[index], *first[to:index], *first[index + 1 :]]
    said = evidence(priors, {uid: [Factor(str(n), "", v) for n, v in enumerate(of)] for uid, of in values.items()})

    def place(ranking: list[str]) -> int:
        ranked = rank(legs(ranking, second), said, gain=0.1, clamp=1.15)
        return [node.identity.uid for node in ranked].index(first[index])

    assert place(raised) <= place(first)


@given(NAMES, NAMES, PRIORS, FACTORS, st.permutations(["a", "b", "c", "d", "e", "f", "g", "h"]))
def test_the_final_order_hangs_neither_on_the_order_of_the_legs_nor_on_that_of_the_evidence(
    first: list[str],
    second: list[str],
    priors: dict[str, float],
    values: dict[str, list[float]],
    shuffled: list[str],
) -> None:
    said = {uid: [Factor(str(n), "", v) for n, v in enumerate(of)] for uid, of in values.items()}
    forwards = rank(legs(first, second), evidence(priors, said), gain=0.1, clamp=1.15)
    otherwise = evidence(
        {uid: priors[uid] for uid in shuffled if uid in priors}, {uid: said[uid] for uid in shuffled if uid in said}
    )
    backwards = rank(legs(second, first), otherwise, gain=0.1, clamp=1.15)
    assert [(node.identity, node.final) for node in backwards] == [(node.identity, node.final) for node in forwards]
