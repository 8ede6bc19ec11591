"""docs_fetch: one node whole, by uid: its properties, its text by section, its edges."""

from typing import Any

from service.domain.content import BlockKind, NodeRecord, Section
from service.domain.deadline import Deadline
from service.domain.errors import NodeUnknown
from service.domain.graph import NodeIdentity
from service.domain.principal import Principal
from service.domain.requests import NodeRequest
from service.domain.results import EdgeResult, NodeResult, SectionResult
from service.retrieval.engines import Retrieval
from service.statements import edges_of, node_properties, nodes_by_uid

_PRIVATE_PROPERTIES = frozenset({"visibleTo", "key"})


async def docs_fetch(request: NodeRequest, principal: Principal, retrieval: Retrieval) -> NodeResult:
    """Raises NodeUnknown for a node that does not exist or that the principal may not see, alike."""
    settings = retrieval.settings
    deadline = Deadline.after(settings.request_deadline)
    snapshot = await retrieval.store.snapshot()
    found = await _by_locale(request, principal, retrieval, deadline)
    locale = _choose(sorted(found), request.locale, settings.default_locale)
    identity = NodeIdentity(request.uid, locale)
    properties = await retrieval.graph.run(node_properties(identity, principal.audiences), deadline=deadline)
    edges = await retrieval.graph.run(
        edges_of(identity, principal.audiences, settings.node_edges + 1), deadline=deadline
    )
    content_hash = found[locale]["contentHash"]
    record = await _record(content_hash, retrieval)
    return NodeResult(
        uid=identity.uid,
        locale=locale,
        kind=found[locale]["kind"],
        title=found[locale]["title"],
        url=found[locale]["url"],
        properties={
            name: value
            for name, value in properties.rows[0][0].items()
            if name not in _PRIVATE_PROPERTIES and value not in (None, [])
        },
        sections=[section_result(section) for section in record.sections] if record else [],
        edges=[
            EdgeResult.model_validate(
                {
                    "type": edge_type,
                    "uid": uid,
                    "locale": other,
                    "title": title,
                    "kind": kind,
                    "direction": "out" if outgoing else "in",
                }
            )
            for edge_type, uid, other, title, kind, outgoing in edges.rows[: settings.node_edges]
        ],
        edges_truncated=len(edges.rows) > settings.node_edges,
        other_locales=[other for other in sorted(found) if other != locale],
        content_hash=content_hash,
        content_root=snapshot.content_root,
    )


async def locate(request: NodeRequest, principal: Principal, retrieval: Retrieval, deadline: Deadline) -> NodeIdentity:
    """The node that a uid, and perhaps a locale, names. Raises NodeUnknown."""
    found = await _by_locale(request, principal, retrieval, deadline)
    return NodeIdentity(request.uid, _choose(sorted(found), request.locale, retrieval.settings.default_locale))


async def _by_locale(
    request: NodeRequest, principal: Principal, retrieval: Retrieval, deadline: Deadline
) -> dict[str, dict[str, Any]]:
    rows = await retrieval.graph.run(nodes_by_uid([request.uid], principal.audiences), deadline=deadline)
    return {row["locale"]: row for row in rows.by_column()}


def _choose(locales: list[str], wished: str | None, default: str) -> str:
    """The wished locale or none; without a wish the estate's default, else the first there is."""
    if wished is not None:
        locales = [locale for locale in locales if locale == wished]
    if not locales:
        raise NodeUnknown("There is no such node; look for its uid with a search, or by listing nodes.")
    return default if default in locales else locales[0]


async def _record(content_hash: str | None, retrieval: Retrieval) -> NodeRecord | None:
    if content_hash is None:
        return None
    async for record in retrieval.store.records([content_hash]):
        return record
    return None


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
