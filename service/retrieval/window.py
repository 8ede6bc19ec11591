"""The window of one search: anchors and legs side by side, fused, and freed of what nothing supports."""

import asyncio
import time
from collections.abc import Awaitable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeVar

from service.domain.deadline import Deadline
from service.domain.errors import AllLegsDown, EngineUnavailable
from service.domain.filters import READ_KINDS, NodeFilter, SearchScope
from service.domain.graph import NodeIdentity
from service.domain.principal import Principal
from service.domain.requests import SearchRequest
from service.domain.snapshots import EMPTY_ROOT, Snapshot
from service.observation import Kind, Observer, Work
from service.ports import Expansion, PassageHit
from service.retrieval import coverage, evidence, signals, strangers
from service.retrieval.anchors import Anchor, find_anchors
from service.retrieval.cards import Card
from service.retrieval.engines import LEXICAL, VECTOR, Retrieval
from service.retrieval.fusion import Fused, Ranking, fuse
from service.retrieval.legs import Leg, LegRun, degraded, run_legs
from service.retrieval.question import check_text
from service.retrieval.tuning import Expanded, Tuned

NOTHING_PUBLISHED = "Nothing has been published here yet."
UNSUPPORTED = "Nothing in the estate speaks of this: what only resembles it in meaning was left out."

T = TypeVar("T")


@dataclass
class Timings:
    """Milliseconds by stage, the query's own embedding apart from the vector search."""

    observer: Observer
    milliseconds: dict[str, float] = field(default_factory=dict)

    async def measure(self, stage: str, work: Awaitable[T]) -> T:
        started = time.perf_counter()
        try:
            with self.observer.observe(Work(Kind.STAGE, stage)):
                return await work
        finally:
            self.milliseconds[stage] = (time.perf_counter() - started) * 1000


@dataclass(frozen=True)
class Window:
    """One run of the legs, fused: everything that paging walks over."""

    snapshot: Snapshot
    scope: SearchScope
    runs: tuple[LegRun, ...]
    anchors: tuple[Anchor, ...]
    nodes: tuple[Fused, ...]
    cards: Mapping[NodeIdentity, Card] | None
    degraded: tuple[str, ...]
    notices: tuple[str, ...]
    timings: Timings
    text: str
    expansions: tuple[Expanded, ...] = ()

    @property
    def wording(self) -> str:
        """The question with its synonyms, as words."""
        return wording(self.text, self.expansions)


def wording(text: str, expansions: Sequence[Expanded]) -> str:
    return " ".join([text, *(other for one in expansions for other in one.alternatives)])


def searched(request: SearchRequest) -> NodeFilter:
    """The request's filter, with the kinds that a search looks through where it names none."""
    narrowed = NodeFilter.from_mapping(request.filter)
    return narrowed if narrowed.kind else replace(narrowed, kind=READ_KINDS)


async def open_window(
    request: SearchRequest,
    principal: Principal,
    retrieval: Retrieval,
    snapshot: Snapshot,
    deadline: Deadline,
    *,
    legs: tuple[str, ...] = (LEXICAL, VECTOR),
    depth: int | None = None,
    tuned: Tuned | None = None,
) -> Window:
    """Run the named legs and fuse them; the lexical one looks for the synonyms of `tuned` too. Raises AllLegsDown."""
    settings = retrieval.settings
    text = check_text(request.text, settings)
    signals.check_names(request.without_signals)
    analyse = retrieval.lexical.terms
    expansions = tuned.expansions(analyse(text), analyse, settings.tuning_expansions) if tuned else ()
    worded = wording(text, expansions)
    scope = SearchScope.of(principal, snapshot.generation, searched(request))
    timings = Timings(retrieval.observer)
    chosen = await _legs(text, scope, depth or settings.leg_depth, retrieval, snapshot, timings, deadline, expansions)
    runs, (anchors, anchor_failure) = await asyncio.gather(
        run_legs([leg for leg in chosen if leg.name in legs], deadline),
        _anchors(request, text, principal, retrieval, snapshot.generation, deadline, timings),
    )
    live = [run for run in runs if run.is_live]
    if not live:
        reasons = "; ".join(degraded(runs))
        raise AllLegsDown(f"No retriever can answer now ({reasons}). Try again in a moment.")
    (cards, graph_failure), (unsupported, unjudged), unseen = await asyncio.gather(
        timings.measure("verify", _verify(live, snapshot, principal, retrieval, deadline)),
        timings.measure("evidence", _unsupported(worded, runs, scope, snapshot, retrieval, deadline)),
        coverage.unseen(live, scope, retrieval, deadline),
    )
    rankings = [
        Ranking(
            run.leg.name,
            run.leg.weight,
            _current(run.hits, cards),
            unseen if run.leg.name == VECTOR else frozenset(),
        )
        for run in live
    ]
    fused = fuse(rankings, k=settings.fusion_k)
    if unsupported:
        fused = [node for node in fused if any(vote.leg != VECTOR for vote in node.votes)]
    if snapshot.unconfirmed:
        graph_failure = None  # the snapshot's own note says it
    failures = {"anchors": anchor_failure, "graph": graph_failure, "evidence": unjudged}
    notes = [*degraded(runs), *snapshot.notes, *(f"{part}: {why}" for part, why in failures.items() if why)]
    notices = [NOTHING_PUBLISHED] if snapshot.content_root == EMPTY_ROOT else []
    if unsupported:
        notices.append(UNSUPPORTED)
    if anchor_failure is None and len(anchors) < settings.anchor_limit:
        notices += strangers.of_anchors(request, anchors)
    return Window(
        snapshot=snapshot,
        scope=scope,
        runs=tuple(runs),
        anchors=tuple(anchors),
        nodes=tuple(fused),
        cards=cards,
        degraded=tuple(notes),
        notices=tuple(notices),
        timings=timings,
        text=text,
        expansions=expansions,
    )


async def _verify(
    live: Sequence[LegRun], snapshot: Snapshot, principal: Principal, retrieval: Retrieval, deadline: Deadline
) -> tuple[Mapping[NodeIdentity, Card] | None, str | None]:
    """The card of every node that a leg found; None, and why, while the graph is down."""
    found = dict.fromkeys(hit.passage.identity for run in live for hit in run.hits)
    due = deadline.at_most(retrieval.settings.graph_deadline)
    try:
        return await retrieval.cards.of(list(found), snapshot.generation, principal.audiences, deadline=due), None
    except EngineUnavailable as error:
        return None, error.reason


def _current(hits: Sequence[PassageHit], cards: Mapping[NodeIdentity, Card] | None) -> tuple[PassageHit, ...]:
    """The hits that the snapshot holds, each node once: while a publish goes on, a leg may find two versions of one.

    With the graph down nobody can tell the versions apart: the better one stays.
    """
    if cards is None:
        unique: dict[NodeIdentity, PassageHit] = {}
        for hit in hits:
            unique.setdefault(hit.passage.identity, hit)
        return tuple(unique.values())
    return tuple(
        hit
        for hit in hits
        if (card := cards.get(hit.passage.identity)) is not None and card.content_hash == hit.passage.content_hash
    )


async def _unsupported(
    text: str,
    runs: Sequence[LegRun],
    scope: SearchScope,
    snapshot: Snapshot,
    retrieval: Retrieval,
    deadline: Deadline,
) -> tuple[bool, str | None]:
    """Whether what the vector leg alone found is no answer; without the lexical index's word on it, it stays. And why
    that word is missing, where the leg itself answered."""
    found = next((run.hits for run in runs if run.leg.name == VECTOR and run.is_live), ())
    settings, tokens = retrieval.settings, retrieval.tokens
    if not found or not any(run.leg.name == LEXICAL and run.is_live for run in runs):
        return False, None
    due = deadline.at_most(settings.lexical_deadline)

    async def judge() -> bool:
        if not evidence.needs_terms(found, text, tokens, settings):
            return False
        known = await retrieval.lexical.known_terms(text, scope, deadline=due)
        return not evidence.is_supported(evidence.gather(text, known, snapshot.passages, found, tokens), settings)

    try:
        # While vectors fill in, the same question finds more: the hits are part of what is judged.
        return await retrieval.verdicts.get((text, scope, len(found), found[0].score), judge, due), None
    except EngineUnavailable as error:
        return False, error.reason


async def _legs(
    text: str,
    scope: SearchScope,
    depth: int,
    retrieval: Retrieval,
    snapshot: Snapshot,
    timings: Timings,
    deadline: Deadline,
    expansions: Sequence[Expanded],
) -> list[Leg]:
    settings = retrieval.settings
    besides = [Expansion(one.alternatives, settings.synonym_weight) for one in expansions]

    async def lexical(deadline: Deadline) -> list[PassageHit]:
        searching = retrieval.lexical.search(text, scope, depth=depth, deadline=deadline, expansions=besides)
        return await timings.measure(LEXICAL, searching)

    async def vector(deadline: Deadline) -> list[PassageHit]:
        embedded = await timings.measure("embedding", retrieval.query_vectors.vector(text))
        return await timings.measure(VECTOR, retrieval.vectors.search(embedded, scope, depth=depth, deadline=deadline))

    return [
        Leg(
            LEXICAL,
            retrieval.lexical.engine,
            settings.lexical_weight,
            settings.lexical_deadline,
            retrieval.breakers[LEXICAL],
            lexical,
        ),
        Leg(
            VECTOR,
            retrieval.vectors.engine,
            settings.vector_weight,
            settings.vector_deadline,
            retrieval.breakers[VECTOR],
            vector,
            await coverage.shortfall(retrieval, snapshot, deadline),
        ),
    ]


async def _anchors(
    request: SearchRequest,
    text: str,
    principal: Principal,
    retrieval: Retrieval,
    generation: int,
    deadline: Deadline,
    timings: Timings,
) -> tuple[list[Anchor], str | None]:
    settings = retrieval.settings
    due = deadline.at_most(settings.graph_deadline)
    named = (request.current_document, *request.products, None, *request.skills)
    key = (generation, principal.audiences, text, named, request.profile.locale, request.explain)
    looking = partial(
        find_anchors, request, text, principal, retrieval.graph, limit=settings.anchor_limit, deadline=due
    )
    try:
        found = await timings.measure("anchors", retrieval.anchors.get(key, looking, due))
    except EngineUnavailable as error:
        return [], error.reason
    # The legs are still at work: what a new anchor costs passes beside them.
    seeds = [anchor.identity for anchor in found if anchor.is_certain]
    retrieval.ranker.begin(seeds, generation, principal.audiences, request.without_signals)
    return found, None
