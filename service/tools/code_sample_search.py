"""code_sample_search: the pipeline over code samples, each with the page that owns it."""

from typing import Any

from service.domain.deadline import Deadline
from service.domain.errors import EngineUnavailable
from service.domain.graph import EdgeType, NodeIdentity, NodeKind
from service.domain.languages import canonical_language
from service.domain.principal import Principal
from service.domain.requests import SampleRequest, SearchRequest
from service.domain.results import CodeSample, Hit, SampleResult
from service.retrieval.engines import Retrieval
from service.retrieval.pipeline import search
from service.retrieval.traversal import step_from


async def code_sample_search(request: SampleRequest, principal: Principal, retrieval: Retrieval) -> SampleResult:
    """Code that a text describes or an identifier names. The same code on several pages is one sample.

    Languages are counted over the filtered estate without the request's own language. Raises what a search raises.
    """
    filters = {**request.filter, "kind": [NodeKind.CODE_SAMPLE.value]}
    if request.language is not None:
        filters["language"] = [canonical_language(request.language)]
    found = await search(
        SearchRequest(
            text=request.text,
            limit=request.limit,
            filter=filters,
            cursor=request.cursor,
            explain=request.explain,
            facets=["language"],
        ),
        principal,
        retrieval,
    )
    owners, failure = await _owners(found.hits, principal, retrieval)
    return SampleResult(
        samples=[_sample(hit, owners.get(NodeIdentity(hit.uid, hit.locale))) for hit in found.hits],
        total=found.total,
        languages=found.facets.get("language", {}),
        notices=found.notices,
        next_cursor=found.next_cursor,
        truncated=found.truncated,
        degraded=[*found.degraded, f"owners: {failure}"] if failure else found.degraded,
        content_root=found.content_root,
        took_ms=found.took_ms,
    )


async def _owners(
    hits: list[Hit], principal: Principal, retrieval: Retrieval
) -> tuple[dict[NodeIdentity, dict[str, Any]], str | None]:
    """The first page, by identity, that each sample implements something of; none, and why, while the graph is down."""
    deadline = Deadline.after(retrieval.settings.graph_deadline)
    identities = [NodeIdentity(hit.uid, hit.locale) for hit in hits]
    try:
        walked = await step_from(identities, (EdgeType.IMPLEMENTED_BY,), principal.audiences, retrieval.graph, deadline)
    except EngineUnavailable as error:
        return {}, error.reason
    owners: dict[NodeIdentity, dict[str, Any]] = {}
    for step in walked.steps:
        if not step.outgoing:
            owners.setdefault(step.source, dict(step.properties))
    return owners, None


def _sample(hit: Hit, owner: dict[str, Any] | None) -> CodeSample:
    return CodeSample(
        uid=hit.uid,
        locale=hit.locale,
        title=hit.title,
        language=hit.language,
        code=hit.passage.text,
        highlights=hit.passage.highlights,
        owner_uid=owner["uid"] if owner else None,
        owner_title=owner["title"] if owner else None,
        owner_url=hit.url or (owner["url"] if owner else None),
        score=hit.score,
        explain=hit.explain,
    )
