"""How well the legs and their fusion rank, on judged sets, beside an independent run's figures.

python -m bench.relevance                 every set
python -m bench.relevance cranfield …     these
python -m bench.relevance --lexical       BM25 alone: nothing has to be embedded
"""

import argparse
import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from bench.corpora import PATIENT, estate, link_set, published, quiz_set, records_of
from bench.report import Measurement, say, say_stack
from service.domain.deadline import Deadline
from service.domain.principal import ANONYMOUS
from service.domain.requests import SearchRequest
from service.evaluation.comparison import compare
from service.evaluation.measures import Scores, score
from service.evaluation.runs import Run, run_set
from service.evaluation.sets import EvaluationSet, Query, load_set
from service.retrieval.engines import LEXICAL, VECTOR
from service.retrieval.window import Window, open_window
from service.tools.local import LocalToolbox
from tests.shared_data import RELEVANCE

RRF = "RRF"
NAMES = {LEXICAL: "BM25", VECTOR: "dense", RRF: "RRF(60)"}
DEPTH = 100

Judge = Callable[[], EvaluationSet]


@dataclass(frozen=True)
class Case:
    """One set over one collection. `independent` is nDCG@10 of another implementation, by leg."""

    name: str
    collection: str
    paths: tuple[Path, ...]
    judge: Judge
    filter: dict[str, list[str]] = field(default_factory=dict)
    keep_current: bool = False
    independent: Mapping[str, float] = field(default_factory=dict)


def _corpus(name: str, independent: Mapping[str, float]) -> Case:
    folder = RELEVANCE / name
    return Case(name, name, (folder,), lambda: load_set(folder), keep_current=True, independent=independent)


LEARN, FRAMEWORK = estate("learn-en-us"), estate("entity-framework")
CASES = (
    Case(
        "learn-quiz",
        "learn",
        (LEARN,),
        quiz_set,
        {"kind": ["unit"]},
        independent={LEXICAL: 0.46, VECTOR: 0.47, RRF: 0.52},
    ),
    Case(
        "learn-quiz among all pages of two estates",
        "learn+ef",
        (LEARN, FRAMEWORK),
        quiz_set,
        {"kind": ["page", "unit", "module", "learningPath"]},
        independent={RRF: 0.457},
    ),
    Case(
        "learn-quiz among units of two estates",
        "learn+ef",
        (LEARN, FRAMEWORK),
        quiz_set,
        {"kind": ["unit"]},
        independent={RRF: 0.497},
    ),
    Case(
        "link-text",
        "ef",
        (FRAMEWORK,),
        lambda: link_set(records_of("entity-framework")),
        {"kind": ["page"]},
        independent={LEXICAL: 0.645, VECTOR: 0.670, RRF: 0.720},
    ),
    Case("link-text, maui", "maui", (estate("maui"),), lambda: link_set(records_of("maui")), {"kind": ["page"]}),
    _corpus("cranfield", {LEXICAL: 0.524}),
    _corpus("cosqa-dev", {LEXICAL: 0.389, VECTOR: 0.589, RRF: 0.518}),
    _corpus("mtrag-clapnq", {}),
)


async def measure(case: Case, legs: tuple[str, ...]) -> None:
    async with published(case.collection, case.paths, PATIENT, embed=VECTOR in legs) as toolbox:
        judged = case.judge()
        rankings = await _rankings(case, judged, toolbox, legs)
    scores: dict[str, Scores] = {}
    for leg, found in rankings.items():
        scores[leg] = await score_of(case, judged, leg, found)
        means = scores[leg].means
        say(
            Measurement(f"{case.name}, {NAMES[leg]}", means["nDCG@10"], "nDCG@10", case.independent.get(leg)),
            f"MRR {means['MRR']:.3f}, recall@100 {means['recall@100']:.3f}, {len(judged.queries)} queries",
        )
    if RRF in scores:
        better = max(legs, key=lambda leg: scores[leg].means["nDCG@10"])
        paired = compare(scores[better].per_query["nDCG@10"], scores[RRF].per_query["nDCG@10"])
        say(
            Measurement(f"{case.name}, RRF − {NAMES[better]}", paired.difference, "nDCG@10"),
            f"95 % in [{paired.low:+.3f}, {paired.high:+.3f}], p = {paired.p_value:.4f}, "
            f"{paired.wins} won, {paired.losses} lost, {paired.ties} even",
        )


async def _rankings(
    case: Case, judged: EvaluationSet, toolbox: LocalToolbox, legs: tuple[str, ...]
) -> dict[str, dict[str, list[str]]]:
    """Leg → query id → uids: both legs and their fusion, of one and the same window."""
    rankings: dict[str, dict[str, list[str]]] = {leg: {} for leg in (*legs, *((RRF,) if len(legs) > 1 else ()))}
    snapshot = await toolbox.retrieval.store.snapshot()
    for query in judged.queries:
        request = SearchRequest(text=query.text, filter=case.filter)
        window = await open_window(
            request, ANONYMOUS, toolbox.retrieval, snapshot, Deadline.after(60_000), legs=legs, depth=DEPTH + 1
        )
        _require_whole(window)
        for run in window.runs:
            rankings[run.leg.name][query.id] = [hit.passage.identity.uid for hit in run.hits]
        if RRF in rankings:
            rankings[RRF][query.id] = [node.identity.uid for node in window.nodes]
    return rankings


def _require_whole(window: Window) -> None:
    missing = [run.failure or run.leg.shortfall for run in window.runs if run.failure or run.leg.shortfall]
    if missing:
        raise SystemExit(f"What is measured has to be whole, and it is not: {'; '.join(map(str, missing))}")


async def score_of(case: Case, judged: EvaluationSet, leg: str, found: Mapping[str, Sequence[str]]) -> Scores:
    async def search(query: Query) -> Sequence[str]:
        return found[query.id]

    run: Run = await run_set(judged, leg, search, depth=DEPTH, keep_current=case.keep_current)
    return score(run, judged)


async def main(names: Sequence[str], lexical_alone: bool) -> None:
    say_stack("cogitave-query", "tantivy", "qdrant-edge-py", "onnxruntime", "ir-measures")
    legs = (LEXICAL,) if lexical_alone else (LEXICAL, VECTOR)
    for case in CASES:
        if not names or case.name in names:
            await measure(case, legs)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="SET", help=", ".join(f"'{case.name}'" for case in CASES))
    parser.add_argument("--lexical", action="store_true")
    arguments = parser.parse_args()
    asyncio.run(main(arguments.sets, arguments.lexical))
