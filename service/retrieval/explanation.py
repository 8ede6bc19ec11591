"""Why a hit ranks where it does: the numbers that the pipeline used, in the order it used them."""

from collections.abc import Mapping, Sequence

from service.domain.results import (
    AnchorResult,
    Hit,
    HitExplanation,
    LegRank,
    LegReport,
    SearchExplanation,
)
from service.retrieval.anchors import Anchor
from service.retrieval.fusion import Fused
from service.retrieval.legs import LegRun


def explain_hits(hits: Sequence[Hit], nodes: Sequence[Fused]) -> list[Hit]:
    """The same hits, each with its explanation."""
    fused = {(node.identity.uid, node.identity.locale): node for node in nodes}
    return [hit.model_copy(update={"explain": _explain(fused[hit.uid, hit.locale])}) for hit in hits]


def explain_search(
    runs: Sequence[LegRun], anchors: Sequence[Anchor], timings: Mapping[str, float], k: int, as_of: str
) -> SearchExplanation:
    return SearchExplanation(
        legs=[
            LegReport(
                leg=run.leg.name,
                engine=run.leg.engine,
                state="down" if not run.is_live else "degraded" if run.leg.shortfall else "live",
                hits=len(run.hits),
                took_ms=run.took_ms,
                reason=run.failure or run.leg.shortfall,
            )
            for run in runs
        ],
        anchors=[AnchorResult(uid=a.identity.uid, locale=a.identity.locale, title=a.title, via=a.via) for a in anchors],
        timings_ms=dict(timings),
        k=k,
        as_of=as_of,
    )


def _explain(node: Fused) -> HitExplanation:
    return HitExplanation(
        legs=[LegRank(leg=vote.leg, rank=vote.rank, score=vote.hit.score, vote=vote.share) for vote in node.votes],
        rrf=node.rrf,
        rrf_normalised=node.score,
        prior=0.0,
        factors=[],
        final=node.score,
    )
