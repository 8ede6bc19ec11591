"""nDCG@10, reciprocal rank and recall@100 as trec_eval computes them, by ir-measures.

nDCG has linear gains (Järvelin and Kekäläinen, TOIS 2002); the reciprocal rank is of the first relevant document.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import ir_measures
from ir_measures import RR, Qrel, R, ScoredDoc, nDCG

from service.evaluation.runs import Run
from service.evaluation.sets import EvaluationSet

MEASURES = {"nDCG@10": nDCG @ 10, "MRR": RR, "recall@100": R @ 100}

PerQuery = Mapping[str, float]
"""Query id → a measure's value, 0 to 1, in the set's order."""


@dataclass(frozen=True)
class Scores:
    """A run's measures by name, query by query. A query that found nothing counts 0."""

    run: Run
    per_query: Mapping[str, PerQuery]

    @property
    def means(self) -> dict[str, float]:
        return {name: sum(values.values()) / len(values) for name, values in self.per_query.items()}


def score(run: Run, evaluated: EvaluationSet) -> Scores:
    """Measure a run against the set that it answers."""
    judgments = [
        Qrel(query, document, gain)
        for query, judged in evaluated.judgments.items()
        for document, gain in judged.items()
    ]
    # Scores fall by one from rank to rank: the order stays ours, where trec_eval would break ties by name.
    ranked = [
        ScoredDoc(query, document, -float(rank))
        for query, ranking in run.rankings.items()
        for rank, document in enumerate(ranking)
    ]
    per_query = {name: dict.fromkeys((query.id for query in evaluated.queries), 0.0) for name in MEASURES}
    names = {measure: name for name, measure in MEASURES.items()}
    for metric in ir_measures.iter_calc(list(MEASURES.values()), judgments, ranked):
        per_query[names[metric.measure]][metric.query_id] = metric.value
    return Scores(run, per_query)
