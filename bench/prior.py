"""What the graph prior does to judged orders, and whether a bonus for direct neighbours would do as well.

python -m bench.prior              link-text and learn-quiz, with the settings' defaults
python -m bench.prior --only SET   one of them: link-text, 'link-text, maui' or learn-quiz
python -m bench.prior --choose     what other choices do to one half of link-text; the other half is reported

The reader stands on `current_document`, or for comparison on `wrong_document`. On the right page an estate may hold the
very answer as an edge: that edge is withheld, query by query, or left in. The page stood on is never ranked.
"""

import argparse
import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from bench.corpora import LOCALE, records_of
from bench.relevance import CASES
from bench.report import Measurement, say, say_stack
from bench.walks import Pairs, Priors, Walks
from bench.windows import Windows, windows_of
from service.domain.graph import EdgeType, NodeIdentity
from service.domain.snapshots import LinkedGraph
from service.evaluation.comparison import compare
from service.evaluation.measures import PerQuery, score
from service.evaluation.runs import Run
from service.evaluation.sets import EvaluationSet, Query
from service.publishing.linking import link
from service.retrieval.fusion import Fused
from service.retrieval.ranking import Evidence, rank
from service.settings import Settings

MEASURE = "nDCG@10"
DEPTH = 100
NAIVE_BONUSES = (1.05, 1.2)
CHOSEN_BY = "link-text"
"""The set whose first half, every second query from the first on, the defaults were chosen by."""

_BEFORE: dict[str, tuple[float, float]] = {
    "partOf": (1.0, 0.5),
    "dependsOn": (1.0, 0.5),
    "xref": (1.0, 0.5),
    "appliesTo": (0.2, 0.05),
    "forRole": (0.1, 0.0),
    "teachesSkill": (0.5, 0.25),
    "supersededBy": (1.0, 0.0),
    "implementedBy": (0.5, 0.25),
    "derivedFrom": (0.5, 0.25),
}
_SHIPPED = Settings().edge_weights
CHOICES: Mapping[str, Mapping[str, object]] = {
    "shipped weights": {},
    "first guess of weights": {"edge_weights": _BEFORE},
    "links walked back by half": {"edge_weights": _SHIPPED | {"xref": (1.0, 0.5)}},
    "links walked back as well": {"edge_weights": _SHIPPED | {"xref": (1.0, 1.0)}},
    "navigation less": {"edge_weights": _SHIPPED | {"partOf": (0.5, 0.5)}},
    "code samples lead back": {"edge_weights": _SHIPPED | {"implementedBy": (0.1, 0.05)}},
    "no code samples": {"edge_weights": _SHIPPED | {"implementedBy": (0.0, 0.0)}},
    "damping 0.8": {"page_rank_damping": 0.8},
    "damping 0.9": {"page_rank_damping": 0.9},
}
GAINS = (0.02, 0.05, 0.07, 0.1, 0.15)
Answers = Callable[[Query, EvaluationSet, LinkedGraph], Pairs]


@dataclass(frozen=True)
class Asked:
    """Judged queries over a published estate. `answers` are the edges that would give a query away."""

    name: str
    judged: EvaluationSet
    windows: Windows
    graph: LinkedGraph
    answers: Answers


@dataclass(frozen=True, slots=True)
class Stand:
    """Where the reader is taken to stand, and whether the answer's own edge is out of the graph."""

    name: str
    right: bool
    withheld: bool

    def of(self, query: Query) -> NodeIdentity | None:
        uid = query.current_document if self.right else query.wrong_document
        return None if uid is None else NodeIdentity(uid, LOCALE)


STANDS = (
    Stand("right page, edge withheld", right=True, withheld=True),
    Stand("right page, edge in the graph", right=True, withheld=False),
    Stand("wrong page", right=False, withheld=False),
)


def judged_link(query: Query, judged: EvaluationSet, graph: LinkedGraph) -> Pairs:  # noqa: ARG001
    """The link itself: whatever leads from the page to the relevant one."""
    if query.current_document is None:
        return frozenset()
    page = NodeIdentity(query.current_document, LOCALE)
    return frozenset((page, NodeIdentity(uid, LOCALE)) for uid, gain in judged.judgments[query.id].items() if gain > 0)


def own_module(query: Query, judged: EvaluationSet, graph: LinkedGraph) -> Pairs:  # noqa: ARG001
    """That the units of the question's module are its units."""
    part_of = [(edge.source, edge.target) for edge in graph.edges if edge.type is EdgeType.PART_OF]
    modules = {module for unit, module in part_of if unit.uid == query.current_document}
    return frozenset((unit, module) for unit, module in part_of if module in modules)


@dataclass(frozen=True)
class Seen:
    """One query's window without the page stood on, and what the graph says of it from there."""

    query: str
    window: tuple[Fused, ...]
    priors: Priors
    neighbours: frozenset[NodeIdentity]


async def seen_from(stand: Stand, asked: Asked, settings: Settings, which: int | None = None) -> list[Seen]:
    """`which` half of the queries: every second one from the first (0) or the second (1) on; None for all."""
    walks = Walks(asked.graph, settings)
    found = []
    try:
        for query in asked.judged.queries if which is None else asked.judged.queries[which::2]:
            anchor = stand.of(query)
            if anchor is None or anchor not in asked.graph.nodes:
                continue
            withheld: Pairs = asked.answers(query, asked.judged, asked.graph) if stand.withheld else frozenset()
            window = tuple(n for n in asked.windows[query.id] if n.identity.uid != query.current_document)
            priors = await walks.priors(anchor, [node.identity for node in window], withheld)
            found.append(Seen(query.id, window, priors, walks.neighbours(anchor, withheld)))
    finally:
        await walks.close()
    return found


Order = Callable[[Seen], Sequence[Fused]]


def fused(seen: Seen) -> Sequence[Fused]:
    return seen.window


def with_prior(gain: float) -> Order:
    """The service's own final order, no signal speaking."""

    def order(seen: Seen) -> Sequence[Fused]:
        return [r.fused for r in rank(seen.window, Evidence({}, seen.priors, {}), gain=gain, clamp=1.0)]

    return order


def with_leg(weight: float) -> Order:
    """The prior's own order as one more leg of the fusion."""

    def order(seen: Seen) -> Sequence[Fused]:
        nearest = sorted(
            (n for n in seen.window if seen.priors[n.identity] > 0), key=lambda n: -seen.priors[n.identity]
        )
        votes = {node.identity: weight / (60 + rank) for rank, node in enumerate(nearest, start=1)}
        return sorted(seen.window, key=lambda node: -(node.rrf + votes.get(node.identity, 0.0)))

    return order


def among_ties(width: float) -> Order:
    """The prior decides where fused scores lie within `width` of one another, and nothing else."""

    def order(seen: Seen) -> Sequence[Fused]:
        return sorted(seen.window, key=lambda n: (-round(n.score / width), -seen.priors[n.identity]))

    return order


def with_bonus(factor: float) -> Order:
    def order(seen: Seen) -> Sequence[Fused]:
        return sorted(seen.window, key=lambda n: -n.score * (factor if n.identity in seen.neighbours else 1.0))

    return order


def scores(asked: Asked, found: Sequence[Seen], order: Order) -> PerQuery:
    rankings = {seen.query: tuple(node.identity.uid for node in order(seen))[:DEPTH] for seen in found}
    measured = score(Run(asked.name, "", rankings, 0.0), asked.judged).per_query[MEASURE]
    return {seen.query: measured[seen.query] for seen in found}


Pair = tuple[PerQuery, PerQuery]


def compared(asked: Asked, found: Sequence[Seen], order: Order, claim: str) -> Pair:
    both = scores(asked, found, fused), scores(asked, found, order)
    say_compared(*both, claim)
    return both


def say_compared(before: PerQuery, after: PerQuery, claim: str) -> None:
    paired = compare(before, after)
    say(
        Measurement(claim, paired.difference, MEASURE),
        f"{paired.baseline:.4f} → {paired.candidate:.4f}, 95 % in [{paired.low:+.4f}, {paired.high:+.4f}], "
        f"p = {paired.p_value:.4f}, {paired.wins} won, {paired.losses} lost of {len(paired.queries)}",
    )


async def report(asked: Asked, settings: Settings) -> dict[Stand, Pair]:
    """What ships, on the queries that nothing was chosen by and on all; and the naive bonus. Gives what ships."""
    whole: dict[Stand, Pair] = {}
    unseen = {query.id for query in asked.judged.queries[1::2]}
    for stand in STANDS:
        found = await seen_from(stand, asked, settings)
        shipped = with_prior(settings.prior_gain)
        if asked.name == CHOSEN_BY:
            other = [seen for seen in found if seen.query in unseen]
            compared(asked, other, shipped, f"{asked.name}, {stand.name}, prior, other half")
        whole[stand] = compared(asked, found, shipped, f"{asked.name}, {stand.name}, prior")
        for bonus in NAIVE_BONUSES:
            compared(asked, found, with_bonus(bonus), f"{asked.name}, {stand.name}, neighbours × {bonus}")
    return whole


async def choose(asked: Asked, settings: Settings) -> None:
    """The first half of the queries, for every choice that was weighed."""
    for name, changes in CHOICES.items():
        changed = settings.model_copy(update=changes)
        for stand in STANDS:
            found = await seen_from(stand, asked, changed, 0)
            orders = {f"γ = {gain}": with_prior(gain) for gain in GAINS}
            if not changes:
                orders |= {f"a leg of weight {weight}": with_leg(weight) for weight in (0.1, 0.3)}
                orders |= {f"among ties of {width}": among_ties(width) for width in (0.01, 0.02)}
            before = scores(asked, found, fused)
            for order_name, order in orders.items():
                after = scores(asked, found, order)
                difference = sum(after[query] - before[query] for query in before) / len(before)
                say(Measurement(f"{stand.name}, {name}, {order_name}", difference, MEASURE))


async def asked_of(case_name: str, estate: str, answers: Answers) -> Asked:
    case = next(case for case in CASES if case.name == case_name)
    judged = case.judge()
    graph = link(records_of(estate), default_locale=LOCALE)
    return Asked(case_name, judged, await windows_of(case, judged), graph, answers)


ASKED: Mapping[str, tuple[str, Answers]] = {
    "link-text": ("entity-framework", judged_link),
    "link-text, maui": ("maui", judged_link),
    "learn-quiz": ("learn-en-us", own_module),
}
"""Set → the estate that it is asked of, and what would give its answers away."""


async def main(choosing: bool, names: Sequence[str]) -> None:
    say_stack("cogitave-query", "tantivy", "qdrant-edge-py", "scipy", "ir-measures")
    settings = Settings(prior_compute_deadline=600_000)
    if choosing:
        await choose(await asked_of(CHOSEN_BY, *ASKED[CHOSEN_BY]), settings)
        return
    reported = {name: await report(await asked_of(name, *ASKED[name]), settings) for name in names}
    links = [found for name, found in reported.items() if name.startswith(CHOSEN_BY)]
    if len(links) > 1:
        for stand in STANDS:
            before, after = ({k: v for one in links for k, v in one[stand][side].items()} for side in (0, 1))
            say_compared(before, after, f"link-text, both estates, {stand.name}, prior")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--choose", action="store_true")
    parser.add_argument("--only", nargs="+", choices=ASKED, default=list(ASKED), metavar="SET")
    arguments = parser.parse_args()
    asyncio.run(main(arguments.choose, arguments.only))
