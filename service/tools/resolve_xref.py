"""resolve_xref: what a uid or an address stands for, as a writer or a browser puts it, many at once."""

import time
from collections.abc import Mapping, Sequence
from urllib.parse import unquote

from service.domain.deadline import Deadline
from service.domain.errors import LimitOutOfRange, QueryEmpty
from service.domain.graph import NodeIdentity, NodeKind
from service.domain.locales import distance
from service.domain.monikers import Moniker, MonikerInvalid, MonikerRange
from service.domain.principal import Principal
from service.domain.requests import XrefRequest
from service.domain.results import XrefResolution, XrefResult
from service.domain.snapshots import Snapshot
from service.retrieval.consistent import of_one_snapshot
from service.retrieval.engines import Retrieval
from service.retrieval.sizes import fitting
from service.statements import cards, nodes_by_alias, nodes_by_uid, successors, uids_like
from service.tools.names import Row, nearest_uids, nodes_at

_LONGEST_REDIRECT = 20
"""Redirects that are followed: a longer chain is a loop in all but name."""

_CANDIDATES = 50
"""Nodes of uids that begin alike that are looked at."""


async def resolve_xref(request: XrefRequest, principal: Principal, retrieval: Retrieval) -> XrefResult:
    """One resolution for each uid asked, in order. A uid that is not found is an answer, with suggestions."""
    started = time.perf_counter()
    settings = retrieval.settings
    if len(request.uids) > settings.xrefs:
        raise LimitOutOfRange(f"At most {settings.xrefs} uids are resolved at once; this request names more.")
    if not all(uid.strip() for uid in request.uids):
        raise QueryEmpty("One of the uids is empty; leave it out.")
    resolver = _Resolver(request, principal.audiences, retrieval, retrieval.deadline())

    async def read(snapshot: Snapshot) -> XrefResult:
        exact = await resolver.exact([spelt for uid in request.uids for spelt in (uid, _unwrapped(uid))])
        resolutions = [await resolver.resolve(uid, exact) for uid in request.uids]
        fit = fitting(resolutions, settings.result_bytes)
        return XrefResult(
            resolutions=resolutions[:fit],
            truncated=fit < len(resolutions),
            content_root=snapshot.content_root,
            took_ms=(time.perf_counter() - started) * 1000,
        )

    return await of_one_snapshot(retrieval.store, read)


class _Resolver:
    """The tries of one request, from the most to the least certain."""

    def __init__(
        self, request: XrefRequest, audiences: frozenset[str], retrieval: Retrieval, deadline: Deadline
    ) -> None:
        self._request = request
        self._audiences = audiences
        self._retrieval = retrieval
        self._graph = retrieval.graph
        self._settings = retrieval.settings
        self._deadline = deadline

    async def exact(self, uids: Sequence[str]) -> dict[str, list[Row]]:
        rows = await self._graph.run(nodes_by_uid(dict.fromkeys(uids), self._audiences), deadline=self._deadline)
        found: dict[str, list[Row]] = {}
        for row in rows.by_column():
            found.setdefault(row["uid"], []).append(row)
        return found

    async def resolve(self, asked: str, exact: Mapping[str, Sequence[Row]]) -> XrefResolution:
        name = _unwrapped(asked)
        if rows := exact.get(asked) or exact.get(name):
            return await self._resolution(asked, "exact", rows)
        near = await self._like(name.removesuffix("*"), _CANDIDATES)
        folded = name.casefold()
        if same := [row for row in near if row["uid"].casefold() == folded]:
            return await self._resolution(asked, "case", same)
        if folded.endswith("*") and (members := _members(folded[:-1], near)):
            return await self._resolution(asked, "overload", members[:1])
        named = await self._graph.run(nodes_by_alias([folded], self._audiences), deadline=self._deadline)
        if named.rows:
            return await self._resolution(asked, "alias", named.by_column())
        at, locale = await nodes_at(name, self._audiences, self._retrieval, self._deadline)
        if at:
            return await self._resolution(asked, "address", at, locale)
        bare = name.partition("(")[0]
        if bare and (groups := await self._group(f"{bare}*")):
            return await self._resolution(asked, "overload", groups)
        return await self._none(asked, near)

    async def _like(self, uid: str, most: int) -> list[Row]:
        """Nodes whose uid begins so, in any case, shortest first."""
        rows = await self._graph.run(uids_like(uid.casefold(), self._audiences, most), deadline=self._deadline)
        return list(rows.by_column())

    async def _group(self, group: str) -> list[Row]:
        """The overload group `name*` that a member, or the bare name, belongs to; as it is spelt, else in any case."""
        like = [row for row in await self._like(group, _CANDIDATES) if len(row["uid"]) == len(group)]
        return [row for row in like if row["uid"] == group] or like

    async def _none(self, asked: str, near: Sequence[Row], redirects: Sequence[str] = ()) -> XrefResolution:
        nearest = await nearest_uids(_unwrapped(asked), self._audiences, self._retrieval, self._deadline, near)
        return XrefResolution(asked=asked, found=False, via="none", redirects=list(redirects), suggestions=nearest)

    async def _resolution(
        self, asked: str, via: str, rows: Sequence[Row], named_locale: str | None = None
    ) -> XrefResolution:
        row = await self._choose(rows, self._request.locale or named_locale)
        redirects: list[str] = []
        identity = NodeIdentity(row["uid"], row["locale"])
        seen = {identity}
        while True:
            followed = await self._graph.run(successors([identity], self._audiences), deadline=self._deadline)
            onwards = [NodeIdentity(r["uid"], r["locale"]) for r in followed.by_column()]
            if not onwards:
                break
            redirects.append(identity.uid)
            fresh = [node for node in onwards if node not in seen]
            if not fresh or len(redirects) > _LONGEST_REDIRECT:
                # It goes round in a circle: there is no page at the end of it.
                return await self._none(asked, (), redirects)
            identity = fresh[0]
            seen.add(identity)
        if redirects:
            read = await self._graph.run(cards([identity], self._audiences), deadline=self._deadline)
            row, via = read.by_column()[0], "redirect"
        if row["kind"] == NodeKind.RETIRED:
            return await self._none(asked, (), redirects)
        return XrefResolution.model_validate(
            {
                "asked": asked,
                "found": True,
                "via": via,
                **{name: row[name] for name in ("uid", "locale", "kind", "title", "url")},
                "external": row["kind"] == NodeKind.API,
                "redirects": redirects,
            }
        )

    async def _choose(self, rows: Sequence[Row], locale: str | None) -> Row:
        """Of several nodes of one name: the nearest locale to the wished one, then the reader's version, then the
        estate's own language, which its translations derive from."""
        if len(rows) == 1:
            return rows[0]
        inside: dict[str, bool] = {}
        if self._request.moniker is not None:
            nodes = [NodeIdentity(row["uid"], row["locale"]) for row in rows]
            read = await self._graph.run(cards(nodes, self._audiences), deadline=self._deadline)
            used = Moniker.parse(self._request.moniker)
            inside = {row["key"]: _holds(row["monikerRange"], used) for row in read.by_column()}
        return min(
            rows,
            key=lambda row: (
                distance(row["locale"], locale),
                not inside.get(row["key"], False),
                row["locale"] != self._settings.default_locale,
                row["locale"],
                row["uid"],
            ),
        )


def _unwrapped(asked: str) -> str:
    """The uid within a reference as Markdown has it: `<xref:uid?text=…#anchor>`, `xref:uid`, `@uid`; else the text."""
    text = asked.strip()
    inner = text[1:-1] if text.startswith("<") and text.endswith(">") else text
    if inner.casefold().startswith("xref:"):
        uid = unquote(inner[len("xref:") :].partition("?")[0].partition("#")[0]).strip()
        return uid if uid and "\0" not in uid else text
    return (inner[1:].strip("\"'") or text) if inner.startswith("@") else text


def _members(name: str, near: Sequence[Row]) -> list[Row]:
    """Of an overload group that has no node of its own: the name itself, or with its parameters."""
    return [row for row in near if row["uid"].casefold() == name or row["uid"].casefold().startswith(f"{name}(")]


def _holds(declared: str | None, used: Moniker) -> bool:
    if not declared:
        return False
    try:
        return MonikerRange.parse(declared).holds(used)
    except MonikerInvalid:
        return False
