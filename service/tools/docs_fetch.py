"""docs_fetch: one node whole, by uid or url: its properties, text by section, edges; or as much as there is room for.

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
from service.domain.requests import FetchRequest, NodeRequest, NodesRequest, XrefRequest
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
from service.tools.addresses import read_address
from service.tools.excerpt import Allowance, Place, excerpt
from service.tools.names import choose_locale, node_unknown
from service.tools.resolve_xref import resolve_xref

_PRIVATE_PROPERTIES = frozenset({"visibleTo", "key"})

Rows = Mapping[str, Mapping[str, Any]]
"""Locale → the node's row."""


async def docs_fetch(request: FetchRequest, principal: Principal, retrieval: Retrieval) -> NodeResult:
    """Raises NodeUnknown for a node that does not exist or that the principal may not see, alike; SectionUnknown."""
    deadline = retrieval.deadline()

    async def read(snapshot: Snapshot) -> NodeResult:
        named = await _named(request, principal, retrieval)
        found = await _by_locale([named.uid], principal, retrieval, deadline)
        found_node = await _Fetching(principal, retrieval, deadline, snapshot).find(named, found[named.uid])
        return found_node.within(_allowance(retrieval, named.max_tokens, [found_node]))

    return await of_one_snapshot(retrieval.store, read)


async def _named(request: FetchRequest, principal: Principal, retrieval: Retrieval) -> NodeRequest:
    """The request by uid: an address is looked up, and one that was redirected followed. Raises NodeUnknown."""
    fields = request.model_dump(exclude={"url"}, exclude_unset=True)
    if request.url is None:
        return NodeRequest.model_validate(fields)
    if read_address(request.url, retrieval.settings.site_hosts) is None:
        raise NodeUnknown("This is no address of a page; one begins with a host or with a slash.")
    asked = XrefRequest(uids=[request.url], locale=request.locale)
    (found,) = (await resolve_xref(asked, principal, retrieval)).resolutions
    if not found.found:
        nearest = next(iter(found.suggestions), None)
        raise NodeUnknown("The estate has no page at this address; look for it with a search.", suggestion=nearest)
    return NodeRequest.model_validate({**fields, "uid": found.uid, "locale": found.locale})


async def docs_fetch_batch(request: NodesRequest, principal: Principal, retrieval: Retrieval) -> NodesResult:
    """Each node or its refusal, in the order asked for. Raises LimitOutOfRange."""
    started = time.perf_counter()
    settings = retrieval.settings
    if len(request.uids) > settings.fetch_batch:
        raise LimitOutOfRange(f"At most {settings.fetch_batch} nodes are fetched at once; send fewer uids.")
    deadline = retrieval.deadline()

    async def read(snapshot: Snapshot) -> list[FetchedNode]:
        rows = await _by_locale(request.uids, principal, retrieval, deadline)
        fetching = _Fetching(principal, retrieval, deadline, snapshot)
        # One after another: a batch must not fill the engines' queues.
        found = [
            await fetching.find_or_refuse(NodeRequest(uid=uid, locale=request.locale), rows[uid])
            for uid in request.uids
        ]
        envelope = [_without_node(uid, one) for uid, one in zip(request.uids, found, strict=True)]
        nodes = [one for one in found if isinstance(one, _Found)]
        allowance = _allowance(retrieval, request.max_tokens, nodes, around=sum(size_of(one) + 1 for one in envelope))
        return [
            told.model_copy(update={"node": one.within(allowance)}) if isinstance(one, _Found) else told
            for told, one in zip(envelope, found, strict=True)
        ]

    nodes = await of_one_snapshot(retrieval.store, read)
    snapshot = await retrieval.store.snapshot()
    return NodesResult(nodes=nodes, content_root=snapshot.content_root, took_ms=(time.perf_counter() - started) * 1000)


@dataclass(frozen=True, slots=True)
class _Found:
    """A node as it was read, before anything is cut. `bare` is all but text and edges."""

    bare: NodeResult
    sections: list[SectionResult]
    edges: list[EdgeResult]
    most_edges: int
    start: Place
    pinned: str

    def size(self) -> int:
        """Bytes of what is said in any case, with those of the longest cut."""
        if not self.sections:
            return size_of(self.bare)
        longest = max(len(section.text) for section in self.sections)
        cut = self._cut(Place(len(self.sections) - 1, longest), longest)
        return size_of(self.bare) + size_of(cut) + max(size_of(section.anchor) for section in self.sections)

    def within(self, allowance: Allowance) -> NodeResult:
        before = allowance.spent
        shown, rest = excerpt(self.sections, self.start, allowance)
        cut = None if rest is None else self._cut(rest, allowance.spent - before)
        taken = allowance.take_edges(self.edges[: self.most_edges])
        are_more = taken < len(self.edges)
        return self.bare.model_copy(
            update={"sections": shown, "cut": cut, "edges": self.edges[:taken], "edges_truncated": are_more}
        )

    def _cut(self, rest: Place, tokens: int) -> CutResult:
        return CutResult(
            tokens=tokens,
            sections_left=len(self.sections) - rest.section,
            next_section=self.sections[rest.section].anchor,
            next_cursor=paging.Cursor(self.bare.content_root, self.pinned, "", (), str(rest)).encode(),
        )


_ROOT_BYTES = 1_000
"""Room for the names, the content root and the time that stand around the nodes of an answer."""


def _allowance(retrieval: Retrieval, tokens: int | None, found: Sequence[_Found], around: int = 0) -> Allowance:
    """What one answer has left for the texts and edges of these nodes."""
    left = retrieval.settings.result_bytes - around - _ROOT_BYTES - sum(one.size() for one in found)
    return Allowance(retrieval.tokens, tokens, left)


def _without_node(uid: str, found: _Found | Refused) -> FetchedNode:
    if isinstance(found, _Found):
        return FetchedNode(asked=uid)
    return FetchedNode(
        asked=uid, refusal=FetchRefusal(code=found.code, message=found.message, suggestion=found.suggestion)
    )


@dataclass(frozen=True, slots=True)
class _Fetching:
    """What the nodes of one answer are read with."""

    principal: Principal
    retrieval: Retrieval
    deadline: Deadline
    snapshot: Snapshot

    async def find_or_refuse(self, request: NodeRequest, rows: Rows) -> _Found | Refused:
        try:
            return await self.find(request, rows)
        except Refused as error:
            return error

    async def find(self, request: NodeRequest, rows: Rows) -> _Found:
        settings = self.retrieval.settings
        locale = choose_locale(list(rows), request.locale, settings.default_locale)
        if locale is None:
            raise await node_unknown(request.uid, sorted(rows), self.principal, self.retrieval, self.deadline)
        row = rows[locale]
        identity = NodeIdentity(request.uid, locale)
        properties = await self.retrieval.graph.run(
            node_properties(identity, self.principal.audiences), deadline=self.deadline
        )
        record = await _record(row["contentHash"], self.retrieval, self.deadline)
        sections = _wanted([section_result(section) for section in record.sections] if record else [], request.section)
        pinned = paging.fingerprint(request, self.principal.visibility_class)
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
        start = self._start(request, pinned, sections)
        return _Found(bare, sections, await self._edges(identity), settings.node_edges, start, pinned)

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


async def _record(content_hash: str | None, retrieval: Retrieval, deadline: Deadline) -> NodeRecord | None:
    if content_hash is None:
        return None
    async for record in retrieval.store.records([content_hash], deadline=deadline):
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
