"""Why a hit ranks where it does: the numbers that the pipeline used, in the order it used them."""

from collections.abc import Mapping, Sequence

from service.domain.results import (
    AnchorResult,
    ExpandedTerms,
    FactorResult,
    Hit,
    HitExplanation,
    LegRank,
    LegReport,
    PinnedBy,
    SearchExplanation,
)
from service.retrieval.anchors import Anchor
from service.retrieval.legs import LegRun
from service.retrieval.ranking import Ranked, places_moved
from service.retrieval.tuning import Expanded


def explain_hits(hits: Sequence[Hit], window: Sequence[Ranked], *, gain: float, clamp: float) -> list[Hit]:
    """The same hits, each with its explanation; `window` is all that they were ranked among."""
    ranked = {(node.identity.uid, node.identity.locale): node for node in window}
    explained = []
    for hit in hits:
        node = ranked[hit.uid, hit.locale]
        places = places_moved(node, window, gain=gain, clamp=clamp)
        explained.append(hit.model_copy(update={"explain": _explain(node, places)}))
    return explained


def explain_search(
    runs: Sequence[LegRun],
    anchors: Sequence[Anchor],
    timings: Mapping[str, float],
    k: int,
    as_of: str,
    expansions: Sequence[Expanded] = (),
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
        expansions=[ExpandedTerms(of=one.of, alternatives=list(one.alternatives)) for one in expansions],
    )


def _explain(node: Ranked, places: Mapping[str, int]) -> HitExplanation:
    return HitExplanation(
        legs=[
            LegRank(leg=vote.leg, rank=vote.rank, score=vote.hit.score, vote=vote.share) for vote in node.fused.votes
        ],
        rrf=node.fused.rrf,
        rrf_normalised=node.fused.score,
        prior=node.prior,
        prior_places=places.get("prior", 0),
        factors=[
            FactorResult(signal=factor.signal, input=factor.input, factor=factor.value, places=places[factor.signal])
            for factor in node.factors
        ],
        final=node.final,
        pinned=PinnedBy(**node.pin._asdict()) if node.pin else None,
    )
