"""How well a search ranks while its vectors fill in: the words alone, what fusion makes of a part, and the whole.

python -m bench.coverage [SET …] [--seed N]     sets as `bench.relevance` names them; three of them by default

A share of the nodes keeps its vectors, chosen by chance; the pipeline is the service's own. *Unaware* fuses the same
two rankings as if the vector leg saw every node.
"""

import argparse
import asyncio
import random
from collections.abc import Mapping, Sequence
from typing import Any

from bench.corpora import PATIENT, published
from bench.relevance import CASES, DEPTH, Case, score_of
from bench.report import Measurement, say, say_stack
from service.domain.content import Passage, PassageKey
from service.domain.deadline import Deadline
from service.domain.filters import SearchScope
from service.domain.graph import NodeIdentity
from service.domain.principal import ANONYMOUS
from service.domain.requests import SearchRequest
from service.evaluation.comparison import compare
from service.evaluation.measures import Scores
from service.evaluation.sets import EvaluationSet
from service.ports import PassageHit, Vector, VectorIndex
from service.retrieval.engines import LEXICAL, VECTOR
from service.retrieval.fusion import Ranking, fuse
from service.retrieval.window import Window, open_window
from service.tools.local import LocalToolbox

SHARES = (0.1, 0.5, 0.9)
SETS = ("link-text", "learn-quiz", "cranfield")
_ALL = 2_000
"""Nodes that are ranked before the hidden ones are taken out: more than any of these sets holds."""


class PartOfVectors:
    """A vector index of which only some nodes are there yet."""

    def __init__(self, whole: VectorIndex, held: frozenset[NodeIdentity], passages: int) -> None:
        self._whole = whole
        self._held = held
        self._passages = passages

    def __getattr__(self, name: str) -> object:
        return getattr(self._whole, name)

    async def count(self, _generation: int) -> int:
        return self._passages

    async def search(self, vector: Vector, scope: SearchScope, *, depth: int, deadline: Deadline) -> list[PassageHit]:
        found = await self._whole.search(vector, scope, depth=_ALL, deadline=deadline)
        return [hit for hit in found if hit.passage.identity in self._held][:depth]

    async def passages(
        self, keys: Sequence[PassageKey], scope: SearchScope, *, deadline: Deadline
    ) -> dict[PassageKey, Passage]:
        seen = [key for key in keys if key.identity in self._held]
        return await self._whole.passages(seen, scope, deadline=deadline)


async def measure(case: Case, seed: int) -> None:
    async with published(case.collection, case.paths, PATIENT) as toolbox:
        judged = case.judge()
        retrieval = toolbox.retrieval
        whole = retrieval.vectors
        generation = (await retrieval.store.snapshot()).generation
        nodes = sorted({key.identity for key in await whole.keys(generation)})
        rankings: dict[str, dict[str, list[str]]] = {}
        for share in (*SHARES, 1.0):
            held = frozenset(random.Random(seed).sample(nodes, round(len(nodes) * share)))
            part: Any = PartOfVectors(whole, held, len(held))
            retrieval.vectors = whole if share == 1.0 else part
            retrieval.forget()
            rankings |= await _rankings(case, judged, toolbox, share)
        retrieval.vectors = whole
    words = await score_of(case, judged, "words alone", rankings["words alone"])
    for name, found in rankings.items():
        _say(case, name, await score_of(case, judged, name, found), words)


def _say(case: Case, name: str, scores: Scores, words: Scores) -> None:
    paired = compare(words.per_query["nDCG@10"], scores.per_query["nDCG@10"])
    say(
        Measurement(f"{case.name}, {name}", scores.means["nDCG@10"], "nDCG@10"),
        f"against the words alone {paired.difference:+.3f}, 95 % in [{paired.low:+.3f}, {paired.high:+.3f}]",
    )


async def _rankings(
    case: Case, judged: EvaluationSet, toolbox: LocalToolbox, share: float
) -> Mapping[str, dict[str, list[str]]]:
    snapshot = await toolbox.retrieval.store.snapshot()
    aware, unaware, words = f"{share:.0%} covered", f"{share:.0%} covered, unaware", "words alone"
    found: dict[str, dict[str, list[str]]] = {words: {}, unaware: {}, aware: {}}
    for query in judged.queries:
        window = await open_window(
            SearchRequest(text=query.text, filter=case.filter),
            ANONYMOUS,
            toolbox.retrieval,
            snapshot,
            Deadline.after(60_000),
            depth=DEPTH + 1,
        )
        found[aware][query.id] = [node.identity.uid for node in window.nodes]
        found[unaware][query.id] = _fused(window, (LEXICAL, VECTOR))
        found[words][query.id] = _fused(window, (LEXICAL,))
    return found


def _fused(window: Window, legs: Sequence[str]) -> list[str]:
    runs = [Ranking(run.leg.name, run.leg.weight, run.hits) for run in window.runs if run.leg.name in legs]
    return [node.identity.uid for node in fuse(runs, k=60)]


async def main(names: Sequence[str], seed: int) -> None:
    say_stack("cogitave-query", "tantivy", "qdrant-edge-py", "onnxruntime", "ir-measures")
    for case in CASES:
        if case.name in (names or SETS):
            await measure(case, seed)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("sets", nargs="*", metavar="SET")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    asyncio.run(main(arguments.sets, arguments.seed))
