"""The estate as a catalog, in the manner of Microsoft Learn's: lists by kind, and the vocabularies with counts."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from service.domain.deadline import Deadline
from service.domain.documents import CatalogResult, Entry, TermResult
from service.domain.errors import LimitOutOfRange
from service.domain.filters import NodeFilter
from service.domain.graph import NodeKind
from service.domain.principal import Principal
from service.domain.requests import CatalogRequest
from service.domain.snapshots import Snapshot
from service.retrieval import paging
from service.retrieval.consistent import of_one_snapshot
from service.retrieval.engines import Retrieval
from service.retrieval.sizes import size_of
from service.statements import documents
from service.tools.entries import entries_of

LISTS = {
    NodeKind.LEARNING_PATH.value: "learning_paths",
    NodeKind.MODULE.value: "modules",
    NodeKind.UNIT.value: "units",
    NodeKind.PAGE.value: "pages",
}
"""Kind → the list that its nodes stand in."""

VOCABULARIES = {"level": "levels", "role": "roles", "product": "products", "topic": "subjects"}
"""Facet → the list that its values stand in."""


@dataclass(frozen=True)
class _Found:
    """`last` is the key of the last entry; whether there are more after it."""

    entries: list[Entry]
    last: str
    more: bool


async def catalog(request: CatalogRequest, principal: Principal, retrieval: Retrieval) -> CatalogResult:
    """One page, by identity: as many entries as `limit` and `result_bytes` let through. Raises `Refused`."""
    settings = retrieval.settings
    deadline = retrieval.deadline()
    if request.limit is not None and request.limit < 1:
        raise LimitOutOfRange("The limit must be 1 or more; page through more with `cursor`.")
    narrowed = NodeFilter.from_mapping({"kind": list(LISTS), **request.filter})

    async def read(answering: Snapshot) -> CatalogResult:
        after = paging.place(request, principal, answering, settings)
        found = await _entries(request, narrowed, after, principal, retrieval, deadline)
        counted, degraded = await retrieval.facets.count(
            request.vocabularies, narrowed, answering.generation, principal.audiences, deadline=deadline
        )
        lists: dict[str, Any] = {
            **_lists(found.entries, narrowed.kind if request.entries else ()),
            **{
                VOCABULARIES[name]: [TermResult(id=value, count=total) for value, total in counts.items()]
                for name, counts in counted.items()
            },
        }
        return CatalogResult(
            **lists,
            truncated=found.more,
            next_cursor=paging.onwards(request, principal, answering, found.last) if found.more else None,
            degraded=[*degraded, *answering.notes],
            content_root=answering.content_root,
        )

    return await of_one_snapshot(retrieval.store, read)


async def _entries(
    request: CatalogRequest,
    narrowed: NodeFilter,
    after: str,
    principal: Principal,
    retrieval: Retrieval,
    deadline: Deadline,
) -> _Found:
    if not request.entries:
        return _Found([], after, more=False)
    settings = retrieval.settings
    entries: list[Entry] = []
    size = 0
    while True:
        page = settings.summary_page
        statement = documents(
            narrowed,
            principal.audiences,
            after=after,
            limit=page + 1,
            uids=request.uids,
            since=request.since or "",
            before=request.before or "",
        )
        rows = (await retrieval.graph.run(statement, deadline=deadline)).by_column()
        for row, entry in zip(rows, await entries_of(rows[:page], principal, retrieval, deadline), strict=False):
            size += size_of(entry)
            full = len(entries) == request.limit or (size > settings.result_bytes and entries)
            if full:
                return _Found(entries, after, more=True)
            entries.append(entry)
            after = row["key"]
        if len(rows) <= page:
            return _Found(entries, after, more=False)


def _lists(entries: Sequence[Entry], kinds: Sequence[str]) -> dict[str, list[Entry]]:
    return {LISTS[kind]: [entry for entry in entries if entry.kind == kind] for kind in kinds if kind in LISTS}
