import asyncio
from collections.abc import Mapping, Sequence
from math import log2

import pytest

from service.evaluation.measures import score
from service.evaluation.runs import Run, run_set
from service.evaluation.sets import EvaluationSet, Query


def evaluation_set(judgments: Mapping[str, Mapping[str, int]]) -> EvaluationSet:
    return EvaluationSet("small", tuple(Query(query, f"text of {query}") for query in judgments), judgments)


def run(rankings: Mapping[str, tuple[str, ...]]) -> Run:
    return Run("small", "test", rankings, 0.0)


def test_ndcg_discounts_by_rank_and_weighs_by_gain():
    judged = evaluation_set({"q": {"a": 3, "b": 1}})
    scores = score(run({"q": ("b", "x", "a")}), judged)
    found = 1 / log2(1 + 1) + 3 / log2(3 + 1)
    ideal = 3 / log2(1 + 1) + 1 / log2(2 + 1)
    assert scores.per_query["nDCG@10"]["q"] == pytest.approx(found / ideal)


def test_ndcg_looks_at_ten_and_recall_at_a_hundred():
    ranking = (*(f"x{rank}" for rank in range(10)), "a", *(f"y{rank}" for rank in range(100)), "b")
    scores = score(run({"q": ranking}), evaluation_set({"q": {"a": 1, "b": 1}}))
    assert scores.means["nDCG@10"] == 0
    assert scores.means["recall@100"] == 1 / 2
    assert scores.means["MRR"] == pytest.approx(1 / 11)


def test_a_query_that_found_nothing_counts_nought_in_the_mean():
    scores = score(run({"q1": ("a",), "q2": ()}), evaluation_set({"q1": {"a": 1}, "q2": {"a": 1}}))
    assert scores.means == {"nDCG@10": 1 / 2, "MRR": 1 / 2, "recall@100": 1 / 2}


def test_the_order_is_the_rankings_own():
    judged = evaluation_set({"q": {"m": 1}})
    for ranking in (("m", "a", "z"), ("m", "z", "a")):
        assert score(run({"q": ranking}), judged).means["MRR"] == 1.0


def ask(rankings: Mapping[str, Sequence[str]], queries: Sequence[Query], **options: object) -> Run:
    async def search(query: Query) -> Sequence[str]:
        return rankings[query.id]

    judged = EvaluationSet("small", tuple(queries), {query.id: {"a": 1} for query in queries})
    return asyncio.run(run_set(judged, "test", search, **{"depth": 100} | options))


def test_every_query_is_asked_and_a_document_counts_once():
    asked = ask({"q1": ["b", "a", "b"], "q2": []}, [Query("q1", "one"), Query("q2", "two")])
    assert asked.rankings == {"q1": ("b", "a"), "q2": ()}
    assert (asked.set_name, asked.configuration) == ("small", "test")


def test_the_readers_own_document_is_taken_out_before_the_cut():
    queries = [Query("q1", "one", current_document="here")]
    assert ask({"q1": ["here", "a", "b", "c"]}, queries, depth=2, keep_current=False).rankings == {"q1": ("a", "b")}
    assert ask({"q1": ["here", "a", "b", "c"]}, queries, depth=2).rankings == {"q1": ("here", "a")}
