"""The filtered estate by identity: paging through it reaches every node exactly once."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from service.domain.filters import NodeFilter
from service.domain.principal import Principal
from service.domain.requests import ListRequest
from service.domain.results import ListResult, NodeSummary
from service.domain.snapshots import Snapshot
from service.retrieval import paging, strangers
from service.retrieval.consistent import of_one_snapshot
from service.retrieval.engines import Retrieval
from service.retrieval.sizes import fitting
from service.statements import count_nodes, list_nodes

_SHOWN = tuple(str(about.alias) for about in NodeSummary.model_fields.values())


async def list_estate(request: ListRequest, principal: Principal, retrieval: Retrieval) -> ListResult:
    """One page by identity. Raises `Refused`, and EngineUnavailable when the graph is down."""
    started = time.perf_counter()
    settings = retrieval.settings
    deadline = retrieval.deadline()
    size = paging.page_size(request.limit, settings)
    narrowed = NodeFilter.from_mapping(request.filter)

    async def read(snapshot: Snapshot) -> ListResult:
        pinned = paging.fingerprint(request, principal.visibility_class)
        after = ""
        if request.cursor is not None:
            cursor = paging.decode(
                request.cursor, request=pinned, snapshot=snapshot, longest=settings.cursor_characters
            )
            after = str(cursor.position)
        one_more = list_nodes(narrowed, principal.audiences, after=after, limit=size + 1)
        rows = await retrieval.graph.run(one_more, deadline=deadline)
        total = await retrieval.graph.run(count_nodes(narrowed, principal.audiences), deadline=deadline)
        facets, degraded = await retrieval.facets.count(
            request.facets, narrowed, snapshot.generation, principal.audiences, deadline=deadline
        )
        notices = await strangers.of_filter(
            narrowed, snapshot.generation, principal, retrieval, deadline, is_empty=not rows.rows
        )
        found = rows.by_column()
        nodes = [summary_of(row) for row in found[:size]]
        fit = fitting(nodes, settings.result_bytes)
        next_cursor = None
        if len(found) > fit:
            as_of = datetime.now(UTC).isoformat(timespec="seconds")
            next_cursor = paging.Cursor(snapshot.content_root, pinned, as_of, (), found[fit - 1]["key"]).encode()
        return ListResult(
            nodes=nodes[:fit],
            truncated=fit < len(nodes),
            total=total.rows[0][0],
            facets={name: dict(counts) for name, counts in facets.items()},
            degraded=[*degraded, *snapshot.notes],
            notices=notices,
            next_cursor=next_cursor,
            content_root=snapshot.content_root,
            took_ms=(time.perf_counter() - started) * 1000,
        )

    return await of_one_snapshot(retrieval.store, read)


def summary_of(row: Mapping[str, Any]) -> NodeSummary:
    """A row of `list_nodes` by the names that it has in the graph."""
    return NodeSummary.model_validate({name: row[name] for name in _SHOWN})
