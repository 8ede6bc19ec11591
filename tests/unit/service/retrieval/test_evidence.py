from collections.abc import Sequence
from math import exp, log

import pytest

from service.domain.content import PassageKey
from service.domain.graph import NodeIdentity
from service.ports import PassageHit, Span
from service.retrieval.evidence import VectorEvidence, gather, is_supported, needs_terms, support
from service.settings import Settings


class WordAndSuffix:
    """Two pieces for each word."""

    def spans(self, text: str) -> list[Span]:
        return [Span(0, 1)] * (2 * len(text.split()))


def hits(*cosines: float) -> list[PassageHit]:
    return [
        PassageHit(PassageKey(NodeIdentity(f"n{number}", "en-us"), "hash", 0), cosine)
        for number, cosine in enumerate(cosines)
    ]


def evidence(text: str = "two words", terms: dict[str, int] | None = None, cosines: Sequence[float] = (0.5, 0.3)):
    return gather(text, terms or {}, 100, hits(*cosines), WordAndSuffix())


def test_a_term_counts_by_its_rarity():
    common = log(1 + (100 - 60 + 0.5) / (60 + 0.5))
    unknown = log(1 + (100 - 0 + 0.5) / (0 + 0.5))
    assert evidence(terms={"common": 60, "unknown": 0}).known == pytest.approx(common / (common + unknown))


def test_known_terms_alone_are_all_and_unknown_terms_alone_are_nothing():
    assert evidence(terms={"a": 1, "b": 100}).known == 1
    assert evidence(terms={"a": 0, "b": 0}).known == 0
    assert evidence(terms={}).known == 0


def test_more_passages_hold_a_term_than_were_said_to_be_there():
    assert evidence(terms={"a": 1_000}).known == 1


def test_the_best_cosine_stands_out_from_the_mean_of_the_hits():
    found = evidence(cosines=(0.8, 0.4, 0.3))
    assert found.cosine == 0.8
    assert found.margin == pytest.approx(0.8 - (0.8 + 0.4 + 0.3) / 3)


def test_no_hits_are_no_evidence():
    found = evidence(cosines=())
    assert (found.cosine, found.margin) == (0, 0)


def test_word_pieces_are_counted_a_word():
    assert evidence("one two three").pieces == 2
    assert evidence("").pieces == 0


def test_support_is_the_logistic_function_of_the_weighted_evidence():
    settings = Settings(
        evidence_intercept=-3, evidence_known=2, evidence_cosine=4, evidence_margin=1, evidence_pieces=-0.5
    )
    log_odds = -3 + 2 * 0.5 + 4 * 0.6 + 1 * 0.2 - 0.5 * log(2)
    assert support(VectorEvidence(0.5, 0.6, 0.2, 2.0), settings) == pytest.approx(1 / (1 + exp(-log_odds)))


def test_the_threshold_is_where_support_begins():
    balanced = {"evidence_intercept": 0, "evidence_known": 0, "evidence_cosine": 0, "evidence_margin": 0}
    even = VectorEvidence(0, 0, 0, 1)
    assert is_supported(even, Settings(**balanced, evidence_pieces=0, evidence_threshold=0.5))
    assert not is_supported(even, Settings(**balanced, evidence_pieces=0, evidence_threshold=0.51))


def test_the_terms_are_asked_for_only_where_they_could_turn_the_verdict():
    settings = Settings(
        evidence_intercept=-2, evidence_known=4, evidence_cosine=4, evidence_margin=0, evidence_pieces=0
    )
    assert needs_terms(hits(0.49), "text", WordAndSuffix(), settings)
    assert not needs_terms(hits(0.51), "text", WordAndSuffix(), settings)


NOTHING_KNOWN = {"qwopzz": 0, "flurbnix": 0}


@pytest.mark.parametrize(
    ("text", "terms", "cosines", "supported"),
    [
        ("flurbnix qwopzz", NOTHING_KNOWN, (0.28, 0.22, 0.18), False),
        ("what is a flurbnix", {"flurbnix": 0}, (0.27, 0.22, 0.18), False),
        ("kerberos", {"kerbero": 1}, (0.30, 0.25, 0.20), True),
        ("rent machines by the hour", {"rent": 0, "machin": 40, "hour": 12}, (0.5, 0.4, 0.3), True),
        ("Kosten senken", {"kosten": 0, "senken": 0}, (0.62, 0.45, 0.3), True),
    ],
)
def test_the_defaults_tell_nonsense_from_rare_terms_and_from_meaning_without_shared_terms(
    text: str, terms: dict[str, int], cosines: tuple[float, ...], supported: bool
):
    found = gather(text, terms, 3_000, hits(*cosines), WordAndSuffix())
    assert is_supported(found, Settings()) is supported
