"""get_related: what lies around a node, each with the path that relates it, ranked by the graph prior from there."""

import time
from collections.abc import Mapping

from service.domain.deadline import Deadline
from service.domain.errors import EngineUnavailable
from service.domain.filters import READ_KINDS
from service.domain.graph import EdgeType, NodeIdentity, NodeKind
from service.domain.principal import Principal
from service.domain.requests import RelatedRequest
from service.domain.results import PathStep, RelatedNode, RelatedResult
from service.domain.snapshots import Snapshot
from service.retrieval import paging
from service.retrieval.cards import Card
from service.retrieval.consistent import of_one_snapshot
from service.retrieval.engines import Retrieval
from service.retrieval.sizes import fitting
from service.retrieval.traversal import Step, step_from
from service.tools.names import locate

_HUB_KINDS = frozenset(kind.value for kind in (NodeKind.PRODUCT, NodeKind.ROLE, NodeKind.MONIKER, NodeKind.TOPIC))
"""Half an estate shares its product: a path that only meets there relates nothing."""

_AWARD = "achievement"
"""Markup of a badge or a trophy: it says no more than the module that it rewards, and is as rare as that one, so its
lift would put it before what the module teaches."""

_WALKED = tuple(edge for edge in EdgeType if edge is not EdgeType.SUPERSEDED_BY)

Path = tuple[Step, ...]


async def get_related(request: RelatedRequest, principal: Principal, retrieval: Retrieval) -> RelatedResult:
    """Nodes within two steps, nearest in the graph's own sense first; what the estate only names comes last. Raises
    NodeUnknown and EngineUnavailable.

    Superseded and retired nodes don't appear. Without the prior the order is by steps, then by identity, and says so.
    """
    started = time.perf_counter()
    settings = retrieval.settings
    deadline = retrieval.deadline()
    size = paging.page_size(request.limit, settings)

    async def read(snapshot: Snapshot) -> RelatedResult:
        start = await locate(request.uid, request.locale, principal, retrieval, deadline)
        paths, truncated = await _paths(start, principal.audiences, retrieval, settings.related_frontier, deadline)
        cards = await retrieval.cards.of([start, *paths], snapshot.generation, principal.audiences, deadline=deadline)
        candidates = [
            node
            for node in paths
            if node in cards and cards[node].successor is None and cards[node].kind != NodeKind.RETIRED
        ]
        degraded = snapshot.notes
        priors: Mapping[NodeIdentity, float] = {}
        try:
            priors = await retrieval.ranker.priors.priors(
                [start],
                candidates,
                snapshot.generation,
                principal.audiences,
                deadline=deadline.at_most(settings.related_prior_deadline),
            )
        except EngineUnavailable as error:
            degraded.append(f"prior: {error.reason}")
        candidates.sort(
            key=lambda node: (
                _standing(start, node, paths[node], cards),
                -priors.get(node, 0.0),
                len(paths[node]),
                node,
            )
        )
        related = [
            RelatedNode(
                uid=node.uid,
                locale=node.locale,
                kind=cards[node].kind,
                title=cards[node].title,
                url=cards[node].url,
                summary=cards[node].summary,
                prior=priors.get(node, 0.0),
                path=[_path_step(step) for step in paths[node]],
            )
            for node in candidates[:size]
        ]
        fit = fitting(related, settings.result_bytes)
        return RelatedResult(
            uid=start.uid,
            locale=start.locale,
            related=related[:fit],
            truncated=truncated or len(candidates) > fit,
            degraded=degraded,
            content_root=snapshot.content_root,
            took_ms=(time.perf_counter() - started) * 1000,
        )

    return await of_one_snapshot(retrieval.store, read)


def _standing(start: NodeIdentity, node: NodeIdentity, path: Path, cards: Mapping[NodeIdentity, Card]) -> int:
    """What the estate only names has nothing to read, and a page that names forty classes would show no other page; nor
    would one that shows forty samples, which its reader sees anyway."""
    if cards[node].kind == NodeKind.API:
        return 2
    is_read = start in cards and cards[start].kind in READ_KINDS
    return int(is_read and cards[node].kind == NodeKind.CODE_SAMPLE and len(path) == 1)


async def _paths(
    start: NodeIdentity, audiences: frozenset[str], retrieval: Retrieval, frontier_size: int, deadline: Deadline
) -> tuple[dict[NodeIdentity, Path], bool]:
    """A shortest path to each node within two steps; the second step doesn't go through hubs, none to an award."""
    first = await step_from([start], _WALKED, audiences, retrieval.graph, deadline)
    paths: dict[NodeIdentity, Path] = {}
    for step in first.steps:
        if step.node != start and step.via != _AWARD:
            paths.setdefault(step.node, (step,))
    through = [node for node, path in paths.items() if path[0].properties["kind"] not in _HUB_KINDS]
    second = await step_from(through[:frontier_size], _WALKED, audiences, retrieval.graph, deadline)
    for step in second.steps:
        if step.node != start and step.via != _AWARD and step.properties["kind"] not in _HUB_KINDS:
            paths.setdefault(step.node, (*paths[step.source], step))
    return paths, first.truncated or second.truncated or len(through) > frontier_size


def _path_step(step: Step) -> PathStep:
    return PathStep(
        type=step.type.value,
        direction="out" if step.outgoing else "in",
        uid=step.node.uid,
        locale=step.node.locale,
        title=step.properties["title"],
    )
