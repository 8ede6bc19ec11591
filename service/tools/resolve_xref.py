"""resolve_xref: what a uid stands for, as a writer would put it, many at once."""

import time
from collections.abc import Mapping, Sequence
from difflib import SequenceMatcher
from typing import Any

from service.domain.deadline import Deadline
from service.domain.errors import LimitOutOfRange
from service.domain.graph import NodeIdentity, NodeKind
from service.domain.locales import distance
from service.domain.monikers import Moniker, MonikerInvalid, MonikerRange
from service.domain.principal import Principal
from service.domain.requests import XrefRequest
from service.domain.results import XrefResolution, XrefResult
from service.retrieval.engines import Retrieval
from service.retrieval.sizes import fitting
from service.statements import cards, nodes_by_alias, nodes_by_title, nodes_by_uid, successors, uids_like

_LONGEST_REDIRECT = 20
"""Redirects that are followed: a longer chain is a loop in all but name."""

_CANDIDATES = 50
"""Nodes that are compared with a uid that is not found."""


async def resolve_xref(request: XrefRequest, principal: Principal, retrieval: Retrieval) -> XrefResult:
    """One resolution for each uid asked, in order. A uid that is not found is an answer, with suggestions."""
    started = time.perf_counter()
    settings = retrieval.settings
    if len(request.uids) > settings.xrefs:
        raise LimitOutOfRange(f"At most {settings.xrefs} uids are resolved at once; this request names more.")
    resolver = _Resolver(request, principal.audiences, retrieval, retrieval.deadline())
    snapshot = await retrieval.store.snapshot()
    exact = await resolver.exact(request.uids)
    resolutions = [await resolver.resolve(uid, exact.get(uid, [])) for uid in request.uids]
    fit = fitting(resolutions, settings.result_bytes)
    return XrefResult(
        resolutions=resolutions[:fit],
        truncated=fit < len(resolutions),
        content_root=snapshot.content_root,
        took_ms=(time.perf_counter() - started) * 1000,
    )


class _Resolver:
    """The tries of one request, from the most to the least certain."""

    def __init__(
        self, request: XrefRequest, audiences: frozenset[str], retrieval: Retrieval, deadline: Deadline
    ) -> None:
        self._request = request
        self._audiences = audiences
        self._graph = retrieval.graph
        self._settings = retrieval.settings
        self._deadline = deadline

    async def exact(self, uids: Sequence[str]) -> dict[str, list[Mapping[str, Any]]]:
        rows = await self._graph.run(nodes_by_uid(dict.fromkeys(uids), self._audiences), deadline=self._deadline)
        found: dict[str, list[Mapping[str, Any]]] = {}
        for row in rows.by_column():
            found.setdefault(row["uid"], []).append(row)
        return found

    async def resolve(self, asked: str, exact: Sequence[Mapping[str, Any]]) -> XrefResolution:
        if exact:
            return await self._resolution(asked, "exact", exact)
        like = await self._graph.run(
            uids_like(asked.removesuffix("*").casefold(), self._audiences, _CANDIDATES), deadline=self._deadline
        )
        near = like.by_column()
        if same := [row for row in near if row["uid"].casefold() == asked.casefold()]:
            return await self._resolution(asked, "case", same)
        if asked.endswith("*"):
            group = asked[:-1]
            if members := [row for row in near if row["uid"] == group or row["uid"].startswith(f"{group}(")]:
                return await self._resolution(asked, "overload", members[:1])
        named = await self._graph.run(nodes_by_alias([asked.casefold()], self._audiences), deadline=self._deadline)
        if named.rows:
            return await self._resolution(asked, "alias", named.by_column())
        bare = asked.partition("(")[0]
        if bare and (groups := await self._group(bare)):
            return await self._resolution(asked, "overload", groups)
        return XrefResolution(asked=asked, found=False, via="none", suggestions=await self._suggest(asked, near))

    async def _group(self, name: str) -> list[dict[str, Any]]:
        """The overload group `name*` that a member, or the bare name, belongs to."""
        rows = await self._graph.run(nodes_by_uid([f"{name}*"], self._audiences), deadline=self._deadline)
        return rows.by_column()

    async def _resolution(self, asked: str, via: str, rows: Sequence[Mapping[str, Any]]) -> XrefResolution:
        row = await self._choose(rows)
        redirects: list[str] = []
        identity = NodeIdentity(row["uid"], row["locale"])
        seen = {identity}
        while len(redirects) < _LONGEST_REDIRECT:
            followed = await self._graph.run(successors([identity], self._audiences), deadline=self._deadline)
            onwards = [NodeIdentity(r["uid"], r["locale"]) for r in followed.by_column()]
            fresh = [node for node in onwards if node not in seen]
            if not fresh:
                break
            redirects.append(identity.uid)
            identity = fresh[0]
            seen.add(identity)
        if redirects:
            read = await self._graph.run(cards([identity], self._audiences), deadline=self._deadline)
            row, via = read.by_column()[0], "redirect"
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

    async def _choose(self, rows: Sequence[Mapping[str, Any]]) -> Mapping[str, Any]:
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
                distance(row["locale"], self._request.locale),
                not inside.get(row["key"], False),
                row["locale"] != self._settings.default_locale,
                row["locale"],
                row["uid"],
            ),
        )

    async def _suggest(self, asked: str, near: Sequence[Mapping[str, Any]]) -> list[str]:
        """The uids that look most like the one asked for, of those that begin like it or share words with it."""
        words = "".join(character if character.isalnum() else " " for character in asked)
        titled = await self._graph.run(nodes_by_title(words, self._audiences, _CANDIDATES), deadline=self._deadline)
        stem = await self._graph.run(
            uids_like(asked[: max(3, len(asked) // 2)].casefold(), self._audiences, _CANDIDATES),
            deadline=self._deadline,
        )
        uids = {row["uid"] for row in (*near, *titled.by_column(), *stem.by_column())}
        folded = asked.casefold()
        likeness = {uid: SequenceMatcher(None, folded, uid.casefold()).ratio() for uid in uids}
        ordered = sorted(uids, key=lambda uid: (-likeness[uid], uid))
        return ordered[: self._settings.xref_suggestions]


def _holds(declared: str | None, used: Moniker) -> bool:
    if not declared:
        return False
    try:
        return MonikerRange.parse(declared).holds(used)
    except MonikerInvalid:
        return False
