"""Entries of a catalog: nodes with what they are part of, and their parts in order."""

from collections.abc import Mapping, Sequence
from typing import Any

from service.domain.deadline import Deadline
from service.domain.documents import Entry, PartResult
from service.domain.graph import EdgeType, NodeIdentity
from service.domain.principal import Principal
from service.retrieval.engines import Retrieval
from service.statements import neighbours

Row = Mapping[str, Any]
"""A row of the statement `documents`."""


async def entries_of(
    rows: Sequence[Row], principal: Principal, retrieval: Retrieval, deadline: Deadline
) -> list[Entry]:
    """One entry a row, in the same order."""
    around = await _neighbours(rows, principal, retrieval, deadline)
    return [_entry(row, *around.get(row["key"], ([], False))) for row in rows]


def entry_fields(entry: Entry) -> dict[str, Any]:
    """What an entry and a document have in common, the parts as they are."""
    return {name: getattr(entry, name) for name in Entry.model_fields}


async def _neighbours(
    rows: Sequence[Row], principal: Principal, retrieval: Retrieval, deadline: Deadline
) -> dict[str, tuple[list[Row], bool]]:
    """By key: the rows of partOf edges, and whether there are more.

    All at once, then one by one where a hub among them has used up the room of the others.
    """
    most = retrieval.settings.node_edges
    keys = [row["key"] for row in rows]
    found = await _part_of(keys, most * max(1, len(keys)) + 1, principal, retrieval, deadline)
    if len(found) > most * len(keys):
        found = [row for key in keys for row in await _part_of([key], most + 1, principal, retrieval, deadline)]
    grouped: dict[str, list[Row]] = {}
    for row in found:
        grouped.setdefault(row["key"], []).append(row)
    return {key: (held[:most], len(held) > most) for key, held in grouped.items()}


async def _part_of(
    keys: Sequence[str], limit: int, principal: Principal, retrieval: Retrieval, deadline: Deadline
) -> Sequence[Row]:
    identities = [NodeIdentity.from_key(key) for key in keys]
    statement = neighbours(identities, [EdgeType.PART_OF.value], principal.audiences, limit)
    return (await retrieval.graph.run(statement, deadline=deadline)).by_column()


def _entry(row: Row, around: Sequence[Row], truncated: bool) -> Entry:
    parts = sorted((other for other in around if not other["outgoing"]), key=_place)
    return Entry(
        uid=row["uid"],
        locale=row["locale"],
        kind=row["kind"],
        title=row["title"],
        href=row["url"],
        type=row["type"],
        summary=row["summary"],
        products=row["products"] or [],
        roles=row["roles"] or [],
        levels=[row["level"]] if row["level"] else [],
        subjects=row["topics"] or [],
        monikers=row["monikers"] or [],
        language=row["language"],
        last_modified=row["lastModified"],
        duration_in_minutes=_minutes(row, parts),
        part_of=[_part(other) for other in sorted(around, key=_place) if other["outgoing"]],
        parts=[_part(other) for other in parts],
        parts_truncated=truncated,
    )


def _minutes(row: Row, parts: Sequence[Row]) -> int | None:
    own = row["durationMinutes"]
    if own is not None:
        return int(own)
    known = [int(part["durationMinutes"]) for part in parts if part["durationMinutes"] is not None]
    return sum(known) if known else None


def _place(row: Row) -> tuple[bool, int, str, str]:
    ordinal = row["ordinal"]
    return (ordinal is None, ordinal or 0, row["locale"], row["uid"])


def _part(row: Row) -> PartResult:
    return PartResult(uid=row["uid"], locale=row["locale"], kind=row["kind"], title=row["title"], href=row["url"])
