"""Fused windows of judged queries, kept on disk: what orders a window is measured many times, what opens it once."""

import json
from collections.abc import Mapping

from bench.corpora import published
from bench.relevance import Case
from bench.vector_cache import FOLDER
from service.domain.deadline import Deadline
from service.domain.graph import NodeIdentity
from service.domain.principal import ANONYMOUS
from service.domain.requests import SearchRequest
from service.evaluation.sets import EvaluationSet
from service.retrieval.fusion import Fused
from service.retrieval.window import Window, open_window
from service.settings import load_settings
from service.tools.local import LocalToolbox

Windows = Mapping[str, tuple[Fused, ...]]
"""Query id → what the legs found for it, fused, best first; without the votes."""

PATIENT = load_settings().settings.model_copy(
    update=dict.fromkeys(("lexical_deadline", "vector_deadline", "graph_deadline", "prior_deadline"), 60_000)
)
"""The settings of the environment; a bench on a busy machine waits for what a query would not."""


async def windows_of(case: Case, judged: EvaluationSet) -> Windows:
    """Of every query, without anchors and profile: from the disk, if this snapshot has been asked before."""
    async with published(case.collection, case.paths, PATIENT) as toolbox:
        root = (await toolbox.retrieval.store.snapshot()).content_root
        kept = FOLDER / "windows" / f"{case.name}-{root[:16]}.json"
        if not kept.exists():
            kept.parent.mkdir(exist_ok=True)
            found = {
                query.id: [
                    (node.identity.key, node.rrf, node.score)
                    for node in (await whole_window(request_of(case, query.text), toolbox)).nodes
                ]
                for query in judged.queries
            }
            kept.write_text(json.dumps(found))
    return {
        query: tuple(Fused(NodeIdentity.from_key(key), rrf, score, ()) for key, rrf, score in nodes)
        for query, nodes in json.loads(kept.read_text()).items()
    }


def request_of(case: Case, text: str) -> SearchRequest:
    return SearchRequest(text=text, filter=case.filter)


async def whole_window(request: SearchRequest, toolbox: LocalToolbox) -> Window:
    """The window of a request, both legs in it. Raises SystemExit when one has nothing, or not all, to say."""
    snapshot = await toolbox.retrieval.store.snapshot()
    window = await open_window(request, ANONYMOUS, toolbox.retrieval, snapshot, Deadline.after(60_000))
    if window.degraded:
        raise SystemExit(f"What is measured has to be whole, and it is not: {'; '.join(window.degraded)}")
    return window
