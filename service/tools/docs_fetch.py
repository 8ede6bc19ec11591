"""docs_fetch: one node whole, by uid: its properties, its text by section, its edges; or as much as there is room for.

docs_fetch_batch: the same of several, in the room of one answer.
"""

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from service.domain.content import BlockKind, NodeRecord, Section
from service.domain.deadline import Deadline
from service.domain.errors import LimitOutOfRange, NodeUnknown, Refused, SectionUnknown
from service.domain.graph import NodeIdentity
from service.domain.principal import Principal
from service.domain.requests import NodeRequest, NodesRequest
from service.domain.results import (
    CutResult,
    EdgeResult,
    FetchedNode,
    FetchRefusal,
    NodeResult,
    NodesResult,
    SectionResult,
)
from service.domain.snapshots import Snapshot
from service.retrieval import paging
from service.retrieval.consistent import of_one_snapshot
from service.retrieval.engines import Retrieval
from service.retrieval.sizes import size_of
from service.statements import edges_of, node_properties, nodes_by_uid
from service.tools.excerpt import Allowance, Place, excerpt

_PRIVATE_PROPERTIES = frozenset({"visibleTo", "key"})

Rows = Mapping[str, Mapping[str, Any]]
"""Locale → the node's row."""


async def docs_fetch(request: NodeRequest, principal: Principal, retrieval: Retrieval) -> NodeResult:
    """Raises NodeUnknown for a node that does not exist or that the principal may not see, alike; SectionUnknown."""
    deadline = Deadline.after(retrieval.settings.request_deadline)

    async def read(snapshot: Snapshot) -> NodeResult:
        found = await _by_locale([request.uid], principal, retrieval, deadline)
        fetching = _Fetching(principal, retrieval, deadline, snapshot)
        return await fetching.node(request, found[request.uid], fetching.allowance(request.max_tokens))

    return await of_one_snapshot(retrieval.store, read)


async def docs_fetch_batch(request: NodesRequest, principal: Principal, retrieval: Retrieval) -> NodesResult:
    """Each node or its refusal, in the order asked for. Raises LimitOutOfRange."""
    started = time.perf_counter()
    settings = retrieval.settings
    if len(request.uids) > settings.fetch_batch:
        raise LimitOutOfRange(f"At most {settings.fetch_batch} nodes are fetched at once; send fewer uids.")
    deadline = Deadline.after(settings.request_deadline)

    async def read(snapshot: Snapshot) -> list[FetchedNode]:
        found = await _by_locale(request.uids, principal, retrieval, deadline)
        fetching = _Fetching(principal, retrieval, deadline, snapshot)
        allowance = fetching.allowance(request.max_tokens)
        # One after another: a batch must not fill the engines' queues, and what one node leaves is the next one's room.
        return [
            await fetching.node_or_refusal(NodeRequest(uid=uid, locale=request.locale), found[uid], allowance)
            for uid in request.uids
        ]

    nodes = await of_one_snapshot(retrieval.store, read)
    snapshot = await retrieval.store.snapshot()
    return NodesResult(nodes=nodes, content_root=snapshot.content_root, took_ms=(time.perf_counter() - started) * 1000)


async def locate(request: NodeRequest, principal: Principal, retrieval: Retrieval, deadline: Deadline) -> NodeIdentity:
    """The node that a uid, and perhaps a locale, names. Raises NodeUnknown."""
    found = await _by_locale([request.uid], principal, retrieval, deadline)
    return NodeIdentity(request.uid, _choose(found[request.uid], request.locale, retrieval.settings.default_locale))


@dataclass(frozen=True, slots=True)
class _Fetching:
    """What the nodes of one answer are read with."""

    principal: Principal
    retrieval: Retrieval
    deadline: Deadline
    snapshot: Snapshot

    def allowance(self, tokens: int | None) -> Allowance:
        return Allowance(self.retrieval.tokens, tokens, self.retrieval.settings.result_bytes)

    async def node_or_refusal(self, request: NodeRequest, rows: Rows, allowance: Allowance) -> FetchedNode:
        try:
            return FetchedNode(asked=request.uid, node=await self.node(request, rows, allowance))
        except Refused as error:
            refusal = FetchRefusal(code=error.code, message=error.message, suggestion=error.suggestion)
            return FetchedNode(asked=request.uid, refusal=refusal)

    async def node(self, request: NodeRequest, rows: Rows, allowance: Allowance) -> NodeResult:
        settings = self.retrieval.settings
        locale = _choose(rows, request.locale, settings.default_locale)
        row = rows[locale]
        identity = NodeIdentity(request.uid, locale)
        properties = await self.retrieval.graph.run(
            node_properties(identity, self.principal.audiences), deadline=self.deadline
        )
        record = await _record(row["contentHash"], self.retrieval)
        sections = _wanted([section_result(section) for section in record.sections] if record else [], request.section)
        pinned = paging.fingerprint(request, self.principal.visibility_class)
        edges = await self._edges(identity)
        bare = NodeResult(
            uid=identity.uid,
            locale=locale,
            kind=row["kind"],
            title=row["title"],
            url=row["url"],
            properties={
                name: value
                for name, value in properties.rows[0][0].items()
                if name not in _PRIVATE_PROPERTIES and value not in (None, [])
            },
            sections=[],
            edges=[],
            edges_truncated=False,
            other_locales=[other for other in sorted(rows) if other != locale],
            content_hash=row["contentHash"],
            content_root=self.snapshot.content_root,
        )
        allowance.size -= size_of(bare) + settings.cursor_characters
        before = allowance.spent
        shown, rest = excerpt(sections, self._start(request, pinned, sections), allowance)
        cut = None
        if rest is not None:
            cut = CutResult(
                tokens=allowance.spent - before,
                sections_left=len(sections) - rest.section,
                next_section=sections[rest.section].anchor,
                next_cursor=paging.Cursor(self.snapshot.content_root, pinned, "", (), str(rest)).encode(),
            )
        taken = allowance.take_edges(edges[: settings.node_edges])
        return bare.model_copy(
            update={"sections": shown, "cut": cut, "edges": edges[:taken], "edges_truncated": taken < len(edges)}
        )

    async def _edges(self, identity: NodeIdentity) -> list[EdgeResult]:
        """One more than is shown, where there are more."""
        statement = edges_of(identity, self.principal.audiences, self.retrieval.settings.node_edges + 1)
        edges = await self.retrieval.graph.run(statement, deadline=self.deadline)
        return [
            EdgeResult.model_validate(
                {
                    "type": edge_type,
                    "uid": uid,
                    "locale": locale,
                    "title": title,
                    "kind": kind,
                    "direction": "out" if outgoing else "in",
                }
            )
            for edge_type, uid, locale, title, kind, outgoing in edges.rows
        ]

    def _start(self, request: NodeRequest, pinned: str, sections: Sequence[SectionResult]) -> Place:
        if request.cursor is None:
            return Place()
        longest = self.retrieval.settings.cursor_characters
        cursor = paging.decode(request.cursor, request=pinned, snapshot=self.snapshot, longest=longest)
        return Place.read(str(cursor.position), sections)


async def _by_locale(
    uids: Sequence[str], principal: Principal, retrieval: Retrieval, deadline: Deadline
) -> dict[str, dict[str, Mapping[str, Any]]]:
    """Each uid's nodes by locale; a uid that names none has none."""
    rows = await retrieval.graph.run(nodes_by_uid(uids, principal.audiences), deadline=deadline)
    found: dict[str, dict[str, Mapping[str, Any]]] = {uid: {} for uid in uids}
    for row in rows.by_column():
        found[row["uid"]][row["locale"]] = row
    return found


def _choose(rows: Rows, wished: str | None, default: str) -> str:
    """The wished locale or none; without a wish the estate's default, else the first there is."""
    locales = [locale for locale in sorted(rows) if wished in (None, locale)]
    if not locales:
        raise NodeUnknown("There is no such node; look for its uid with a search, or by listing nodes.")
    return default if default in locales else locales[0]


async def _record(content_hash: str | None, retrieval: Retrieval) -> NodeRecord | None:
    if content_hash is None:
        return None
    async for record in retrieval.store.records([content_hash]):
        return record
    return None


def _wanted(sections: list[SectionResult], name: str | None) -> list[SectionResult]:
    """All, or the one of this anchor or heading with those below it. Raises SectionUnknown."""
    if name is None:
        return sections
    folded = name.removeprefix("#").casefold()
    for number, section in enumerate(sections):
        if folded in (section.anchor.casefold(), section.heading.casefold()):
            end = number + 1
            while end < len(sections) and sections[end].level > section.level:
                end += 1
            return sections[number:end]
    anchors = [section.anchor for section in sections if section.anchor]
    nearest = get_close_matches(folded, anchors, n=1)
    raise SectionUnknown(
        "The node has no section of this anchor or heading.", suggestion=nearest[0] if nearest else None
    )


def section_result(section: Section) -> SectionResult:
    """Code goes back between fences; quiz questions are kept apart from the text."""
    blocks = [
        f"```{block.language or ''}\n{block.text}\n```" if block.kind is BlockKind.CODE else block.text
        for block in section.blocks
        if block.kind is not BlockKind.QUIZ
    ]
    return SectionResult(
        heading=section.heading,
        anchor=section.anchor,
        level=section.level,
        text="\n\n".join(blocks),
        moniker_range=section.moniker_range,
    )
