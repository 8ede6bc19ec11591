"""query_graph: an agent's own Cypher, through the guard."""

import time

from cypher_guard import Visibility, guard
from service.domain.deadline import Deadline
from service.domain.principal import Principal
from service.domain.requests import GraphQueryRequest
from service.domain.results import GraphQueryResult
from service.domain.snapshots import Snapshot
from service.retrieval.consistent import of_one_snapshot
from service.retrieval.engines import Retrieval
from service.retrieval.sizes import fitting


async def query_graph(request: GraphQueryRequest, principal: Principal, retrieval: Retrieval) -> GraphQueryResult:
    """Raises cypher_guard.Violation for a query that the profile doesn't allow, EngineLate past its wall clock."""
    started = time.perf_counter()
    deadline = Deadline.after(retrieval.settings.graph_query_deadline)
    query = guard(
        request.cypher, request.parameters, retrieval.profile, visibility=Visibility(audiences=principal.audiences)
    )

    async def read(snapshot: Snapshot) -> GraphQueryResult:
        found = await retrieval.graph.run(query, deadline=deadline)
        fit = fitting(found.rows, retrieval.settings.result_bytes, least=0)
        return GraphQueryResult(
            columns=list(found.columns),
            rows=[list(row) for row in found.rows[:fit]],
            truncated=found.truncated or fit < len(found.rows),
            cypher=query.text,
            content_root=snapshot.content_root,
            took_ms=(time.perf_counter() - started) * 1000,
        )

    return await of_one_snapshot(retrieval.store, read)
