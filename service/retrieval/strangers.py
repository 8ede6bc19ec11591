"""Strangers: names in a request that nothing of the estate has, so that a misspelt one does not look like pages that
don't exist, or like a signal that has nothing to say."""

import asyncio
from collections.abc import Iterable, Mapping
from difflib import get_close_matches

from service.domain.deadline import Deadline
from service.domain.errors import EngineUnavailable
from service.domain.filters import NodeFilter
from service.domain.monikers import Moniker
from service.domain.principal import Principal
from service.domain.requests import CallerProfile, SearchRequest
from service.ports import GraphReader
from service.retrieval.anchors import Anchor
from service.retrieval.engines import Retrieval
from service.retrieval.facets import Counts
from service.statements import nodes_by_uid

_MOST_NOTICES = 8
"""A caller who misspells more than that has been told enough."""

_PATIENCE = 4
"""Facet deadlines that are waited for where nothing was found: then the notice is the answer."""

_MOST_NAMED = 12
"""Values that are named where none is near."""

_LONGEST = 100
"""Characters of a caller's name that are said again."""


async def of_request(
    request: SearchRequest,
    generation: int,
    principal: Principal,
    retrieval: Retrieval,
    deadline: Deadline,
    *,
    is_empty: bool,
) -> list[str]:
    """A notice for each value of the filter, and each name of the profile, that nothing has which the caller may see.
    What is not known in time is not said; is_empty, that nothing was found, gives it more time."""
    named = _named(NodeFilter.from_mapping(request.filter))
    profile = request.profile
    wished = {name: [value] for name in ("role", "audience", "region") if (value := getattr(profile, name))}
    if profile.monikers:
        wished["moniker"] = profile.monikers
    due = _due(retrieval, deadline, is_empty)
    held, skills = await asyncio.gather(
        retrieval.facets.values([*named, *wished], generation, principal.audiences, deadline=due),
        _unknown_skills(profile, principal.audiences, retrieval.graph, due),
    )
    notices = [*_of_values(named, held), *_of_values(_unlike_any(wished, held), held)]
    return [*dict.fromkeys(notices), *_of_uids("what is known", skills)][:_MOST_NOTICES]


async def of_filter(
    filter: NodeFilter,
    generation: int,
    principal: Principal,
    retrieval: Retrieval,
    deadline: Deadline,
    *,
    is_empty: bool,
) -> list[str]:
    """Likewise, of a filter alone."""
    named = _named(filter)
    due = _due(retrieval, deadline, is_empty)
    held = await retrieval.facets.values(named, generation, principal.audiences, deadline=due)
    return _of_values(named, held)[:_MOST_NOTICES]


def of_anchors(request: SearchRequest, anchors: Iterable[Anchor]) -> list[str]:
    """A notice for what the request is said to be about and names no node. anchors: all that were found."""
    found = {anchor.identity.uid for anchor in anchors}
    current = request.current_document
    about = [
        name
        for prefix, names in (("product", request.products), ("skill", request.skills))
        for name in names
        if found.isdisjoint((name, f"{prefix}:{name}"))
    ]
    lost = [current] if current and current not in found else []
    return [*_of_uids("the current document", lost), *_of_uids("what the question is about", about)]


async def unknown_uids(
    uids: Iterable[str], audiences: frozenset[str], graph: GraphReader, deadline: Deadline
) -> list[str]:
    """Those that name no node. Raises EngineUnavailable."""
    named = list(dict.fromkeys(uids))
    if not named:
        return []
    rows = await graph.run(nodes_by_uid(named, audiences), deadline=deadline)
    known = {row["uid"] for row in rows.by_column()}
    return [uid for uid in named if uid not in known]


def _due(retrieval: Retrieval, deadline: Deadline, is_empty: bool) -> Deadline:
    return deadline.at_most(retrieval.settings.facet_deadline * (_PATIENCE if is_empty else 1))


async def _unknown_skills(
    profile: CallerProfile, audiences: frozenset[str], graph: GraphReader, deadline: Deadline
) -> list[str]:
    try:
        return await unknown_uids(profile.skills, audiences, graph, deadline)
    except EngineUnavailable:
        return []


def _named(filter: NodeFilter) -> dict[str, tuple[str, ...]]:
    """The filter without kinds: what they are is ours to say, and a wrong one is refused."""
    return {name: values for name, values in filter.constraints().items() if name != "kind"}


def _of_uids(what: str, uids: list[str]) -> list[str]:
    if not uids:
        return []
    named = ", ".join(uid[:_LONGEST] for uid in uids[:_MOST_NAMED])
    return [f"Nothing here has the uid of {what}: {named}. It counts for nothing."]


def _unlike_any(wished: Mapping[str, list[str]], held: Mapping[str, Counts]) -> dict[str, list[str]]:
    """Without the versions of a product whose versions the estate knows: a range may hold one that no page names."""
    families = {Moniker.parse(name).family for name in held.get("moniker", ())}
    return {
        name: [value for value in values if name != "moniker" or Moniker.parse(value).family not in families]
        for name, values in wished.items()
    }


def _of_values(wished: Mapping[str, Iterable[str]], held: Mapping[str, Counts]) -> list[str]:
    return [
        f"Nothing here has the {name} '{value[:_LONGEST]}'{_advice(value, held[name])}"
        for name, values in wished.items()
        if name in held
        for value in values
        if value not in held[name]
    ]


def _advice(value: str, counts: Counts) -> str:
    """The nearest value, in any case; else what there is."""
    if not counts:
        return ", nor any other."
    spelt = {each.casefold(): each for each in counts}
    if nearest := get_close_matches(value[:_LONGEST].casefold(), spelt, n=1):
        return f". Did you mean {spelt[nearest[0]]}?"
    more = f" and {len(counts) - _MOST_NAMED} more" if len(counts) > _MOST_NAMED else ""
    return f"; there is {', '.join(list(counts)[:_MOST_NAMED])}{more}."
