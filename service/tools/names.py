"""What a name may stand for: the nodes of a uid or of an address, and the uids that a near miss may mean."""

from collections.abc import Collection, Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from service.domain.deadline import Deadline
from service.domain.errors import NodeUnknown
from service.domain.graph import NEUTRAL_LOCALE, NodeIdentity, NodeKind
from service.domain.locales import distance
from service.domain.principal import Principal
from service.retrieval.engines import Retrieval
from service.statements import nodes_by_title, nodes_by_uid, nodes_by_url, uids_like
from service.tools.addresses import read_address

Row = Mapping[str, Any]

_CANDIDATES = 50
"""Nodes that are compared with a uid that is not found."""

_LIKENESS = 0.5
"""Less of it is no misspelling."""

_UNSUGGESTED = frozenset({NodeKind.CODE_SAMPLE.value, NodeKind.RETIRED.value})
"""A sample's uid is a number of ours, and a path that was redirected is nothing to write."""


async def nodes_at(
    url: str, audiences: frozenset[str], retrieval: Retrieval, deadline: Deadline
) -> tuple[list[Row], str | None]:
    """The nodes at a page's address, with or without host, locale, query and fragment; and the locale that it names.

    A page comes before a path that was redirected, and both before what is only named.
    """
    address = read_address(url, retrieval.settings.site_hosts)
    if address is None or not address.spellings:
        return [], None
    read = await retrieval.graph.run(nodes_by_url(address.spellings, audiences), deadline=deadline)
    rows = sorted(read.by_column(), key=_standing)
    return [row for row in rows if _standing(row) == _standing(rows[0])], address.locale


def _standing(row: Row) -> int:
    return {NodeKind.RETIRED.value: 1, NodeKind.API.value: 2}.get(row["kind"], 0)


async def nearest_uids(
    asked: str, audiences: frozenset[str], retrieval: Retrieval, deadline: Deadline, near: Collection[Row] = ()
) -> list[str]:
    """The uids that look most like the one asked for, of those that begin like it or share words with it; what the
    estate only names comes after what it holds. `near` are nodes that were met already."""
    if not asked.strip():
        return []
    words = "".join(character if character.isalnum() else " " for character in asked)
    titled = await retrieval.graph.run(nodes_by_title(words, audiences, _CANDIDATES), deadline=deadline)
    stem = await retrieval.graph.run(
        uids_like(asked[: max(3, len(asked) // 2)].casefold(), audiences, _CANDIDATES), deadline=deadline
    )
    folded = asked.casefold()
    found: dict[str, tuple[bool, float]] = {}
    for row in (*near, *titled.by_column(), *stem.by_column()):
        likeness = SequenceMatcher(None, folded, row["uid"].casefold()).ratio()
        if row["kind"] not in _UNSUGGESTED and likeness >= _LIKENESS:
            found[row["uid"]] = (row["kind"] == NodeKind.API, -likeness)
    ordered = sorted(found, key=lambda uid: (found[uid], uid))
    return ordered[: retrieval.settings.xref_suggestions]


async def node_unknown(
    uid: str,
    locales: Sequence[str],
    principal: Principal,
    retrieval: Retrieval,
    deadline: Deadline,
) -> NodeUnknown:
    """The refusal of a uid that names no node that shows, or none in the wished locale: `locales` are the others."""
    if locales:
        return NodeUnknown(f"There is no such node in this locale; there is in {', '.join(locales)}.")
    nearest = await nearest_uids(uid, principal.audiences, retrieval, deadline)
    return NodeUnknown(
        "There is no such node; look for its uid with a search, or by listing nodes.",
        suggestion=nearest[0] if nearest else None,
    )


def choose_locale(held: Sequence[str], wished: str | None, default: str) -> str | None:
    """Exactly the wished locale, or what is of no language; without a wish the estate's default, else the first."""
    if wished is not None:
        exact = [locale for locale in sorted(held) if locale.casefold() == wished.casefold()]
        return next(iter(exact), NEUTRAL_LOCALE if NEUTRAL_LOCALE in held else None)
    return default if default in held else min(held, default=None)


async def locate_exactly(
    uid: str, locale: str | None, principal: Principal, retrieval: Retrieval, deadline: Deadline
) -> NodeIdentity:
    """As `locate`, and refused where the node is in other locales than the wished one alone."""
    held = await _locales(uid, principal, retrieval, deadline)
    chosen = choose_locale(held, locale, retrieval.settings.default_locale)
    if chosen is None:
        raise await node_unknown(uid, held, principal, retrieval, deadline)
    return NodeIdentity(uid, chosen)


async def locate(
    uid: str, locale: str | None, principal: Principal, retrieval: Retrieval, deadline: Deadline
) -> NodeIdentity:
    """The node that a uid names, in the nearest locale to the wished one. Raises NodeUnknown."""
    found = await locate_any([uid], locale, principal, retrieval, deadline)
    if found is None:
        raise await node_unknown(uid, (), principal, retrieval, deadline)
    return found


async def locate_any(
    uids: Sequence[str], locale: str | None, principal: Principal, retrieval: Retrieval, deadline: Deadline
) -> NodeIdentity | None:
    """The first of these uids that names a node, likewise; None where none does."""
    rows = await retrieval.graph.run(nodes_by_uid(uids, principal.audiences), deadline=deadline)
    found = rows.by_column()
    for uid in uids:
        if held := [row["locale"] for row in found if row["uid"] == uid]:
            return NodeIdentity(uid, _nearest_locale(held, locale, retrieval.settings.default_locale))
    return None


async def _locales(uid: str, principal: Principal, retrieval: Retrieval, deadline: Deadline) -> list[str]:
    rows = await retrieval.graph.run(nodes_by_uid([uid], principal.audiences), deadline=deadline)
    return sorted(row["locale"] for row in rows.by_column())


def _nearest_locale(held: Sequence[str], wished: str | None, default: str) -> str:
    return min(held, key=lambda other: (distance(other, wished), other != default, other))
