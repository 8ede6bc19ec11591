"""Anchors: the nodes that a query is about, from the request's own words for them or resolved from its text."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from service.domain.deadline import Deadline
from service.domain.graph import NodeIdentity
from service.domain.locales import distance
from service.domain.principal import Principal
from service.domain.requests import SearchRequest
from service.ports import GraphReader, Rows
from service.statements import nodes_by_alias, nodes_by_title, nodes_by_uid

_LONGEST_ALIAS = 4
"""Words in the longest stretch of the query that is looked up as an alias."""

_MOST_CANDIDATES = 64
"""Stretches of one query that are looked up: a long query's tail names nothing that its head does not."""


@dataclass(frozen=True, slots=True)
class Anchor:
    """`via`: request, uid, alias or title, in falling order of certainty."""

    identity: NodeIdentity
    title: str
    via: str

    @property
    def is_certain(self) -> bool:
        """Whether the graph prior may be seeded with it: words shared with a title are what the legs rank by anyway."""
        return self.via != "title"


async def find_anchors(
    request: SearchRequest, text: str, principal: Principal, graph: GraphReader, *, limit: int, deadline: Deadline
) -> list[Anchor]:
    """At most `limit` anchors, most certain first, each node once.

    What the request names outright settles it; else exact uids, then aliases, then the full text of titles. An anchor
    by title seeds nothing (`Anchor.is_certain`): it is looked for only to be shown.
    """
    named = [*([request.current_document] if request.current_document else []), *request.products, *request.skills]
    if named:
        rows = await graph.run(nodes_by_uid(_with_prefixes(request, named), principal.audiences), deadline=deadline)
        return _anchors(rows, "request", request)[:limit]
    words = text.split()
    exact, aliased = await asyncio.gather(
        graph.run(nodes_by_uid([text, *words[:_MOST_CANDIDATES]], principal.audiences), deadline=deadline),
        graph.run(nodes_by_alias(_stretches(words), principal.audiences), deadline=deadline),
    )
    found = [*_anchors(exact, "uid", request), *_anchors(aliased, "alias", request)]
    if not found and request.explain:
        rows = await graph.run(nodes_by_title(text, principal.audiences, limit), deadline=deadline)
        found = _anchors(rows, "title", request)
    unique = {anchor.identity: anchor for anchor in reversed(found)}
    return [anchor for anchor in found if unique[anchor.identity] is anchor][:limit]


def _with_prefixes(request: SearchRequest, named: Sequence[str]) -> list[str]:
    """A product may be named by its uid or by its bare name, a skill likewise."""
    return [
        *named,
        *(f"product:{name}" for name in request.products),
        *(f"skill:{name}" for name in request.skills),
    ]


def _stretches(words: Sequence[str]) -> list[str]:
    """Every run of one to four words, lower case, longest first."""
    lowered = [word.casefold() for word in words[:_MOST_CANDIDATES]]
    runs = [
        " ".join(lowered[start : start + length])
        for length in range(_LONGEST_ALIAS, 0, -1)
        for start in range(len(lowered) - length + 1)
    ]
    return list(dict.fromkeys(runs))[:_MOST_CANDIDATES]


def _anchors(rows: Rows, via: str, request: SearchRequest) -> list[Anchor]:
    """Of a node's translations the caller's own locale comes first, then one of the same language."""
    read = sorted(rows.by_column(), key=lambda row: distance(row["locale"], request.profile.locale))
    return [_anchor(row, via) for row in read]


def _anchor(row: dict[str, Any], via: str) -> Anchor:
    return Anchor(NodeIdentity(row["uid"], row["locale"]), row["title"], via)
