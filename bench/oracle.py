"""What is a right answer while engines are away: the healthy one, or what the parts that are left give, and says so.

A search's answer without a leg is asked of the healthy service by a cursor that pins the other leg; one without the
graph, or a part of what it gives, by switching its signals off. Everything else is the healthy answer or a refusal.
"""

import asyncio
import itertools
import json
import time
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote

import httpx

from bench.served import MARK, READER, STAFF, Served
from bench.victims import NEO4J, OPENSEARCH, QDRANT
from service.domain.graph import EVERYONE
from service.domain.requests import SearchRequest
from service.retrieval.engines import LEXICAL, VECTOR
from service.retrieval.paging import Cursor, fingerprint
from service.retrieval.pipeline import today
from service.retrieval.signals import SIGNALS

Body = dict[str, Any]

ENGINES_OF = {
    "lexical": {OPENSEARCH},
    "vector": {QDRANT},
    "evidence": {OPENSEARCH},
    "highlights": {OPENSEARCH},
    "passages": {OPENSEARCH, QDRANT},
    **{part: {NEO4J} for part in ("graph", "anchors", "prior", "facets", "owners", "tuning")},
}
"""What `degraded` may name → the engines that may be the reason."""

_WHOLE_WITHIN_SECONDS = 30.0
_AT_ONCE = 3
_CYPHER = "MATCH (p:Page)-[:xref]->(q:Page) RETURN q.uid, count(p) AS links ORDER BY links DESC, q.uid"
_PASSING = frozenset({"tookMs", "runId", "nextCursor", "explain", "timingsMs"})
_MISSED = frozenset({"degraded", "facets", "levels", "roles", "products", "subjects", "detail", "rank", "reason"})
"""What an answer that names a missing part may lack, or say otherwise."""

_REFUSALS = frozenset({"engine_unavailable", "engine_late", "all_legs_down"})
_ALL_SIGNALS = (*SIGNALS, "prior")
_VARIANTS: Sequence[tuple[str, ...]] = ((), ("prior",), ("prior", "authority"), tuple(sorted(_ALL_SIGNALS)))
"""Signals that are off: none; those of a missing anchor; of a missing prior; of a missing graph."""

_CLASSES = {READER: (EVERYONE,), STAFF: tuple(sorted((EVERYONE, STAFF)))}


@dataclass(frozen=True)
class Ask:
    """One request. `search`: what it asks of the pipeline, if anything; `finds`: the list that holds its answer."""

    name: str
    method: str
    path: str
    body: Body | None = None
    search: SearchRequest | None = None
    finds: str = "hits"
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    text: str
    body: Body
    """Of MCP and GraphQL the result itself; {} for what is no JSON."""

    @property
    def degraded(self) -> list[str]:
        notes = self.body.get("degraded", [])
        return notes if isinstance(notes, list) else []

    @property
    def parts(self) -> set[str]:
        return {note.partition(":")[0] for note in self.degraded}


@dataclass(frozen=True)
class Verdict:
    """`outcome`: whole (the healthy answer), named (a part is missing and named), refused. `wrong`: why it is none."""

    outcome: str
    wrong: str = ""
    late: frozenset[str] = frozenset()
    """Parts that were named although their engines were well: late, on a machine that is busy."""


def questions(uids: Sequence[str]) -> list[Ask]:
    """The fixed set: every tool of a reader's, and searches over three surfaces."""
    texts = (
        "how are two rankings fused",
        "stale cursor",
        "publish a folder",
        "read-only data folder",
        "breaker leaves a leg out",
        "deadline of an engine",
        "API keys and scopes",
        "qwzx vbnmk plokij",
        "what does explain say about the prior",
        "rollback to an earlier snapshot",
    )
    asks = [
        _search(f"search {number}", text, facets=["kind"] if number % 2 else []) for number, text in enumerate(texts)
    ]
    asks.append(_search("search within", "fusion", filter={"kind": ["page"]}, limit=3))
    asks.append(_mcp("MCP docs_search", texts[0]))
    asks.append(_graphql("GraphQL search", texts[1]))
    asks.append(Ask("search by link", "GET", f"/v1/search?q={quote(texts[2])}", search=SearchRequest(text=texts[2])))
    sample = {"text": "search client"}
    kinds = {"kind": ["codeSample"]}
    asks.append(
        Ask("samples", "POST", "/v1/samples", sample, SearchRequest(text=sample["text"], filter=kinds), "samples")
    )
    tools: list[tuple[str, Body]] = [
        ("fetch/batch", {"uids": list(uids[:3])}),
        ("learning-path", {"goal": "cogitave.query.answers"}),
        ("xrefs", {"uids": [*uids[:2], "cogitave.query.nothing"]}),
        ("suggest", {"text": "degr"}),
        ("suggest", {"text": "publishng"}),
        ("nodes", {"limit": 20, "facets": ["kind", "product"]}),
        (
            "query-graph",
            {"cypher": "MATCH (p:Page)-[:xref]->(q:Page) RETURN q.uid, count(p) AS n ORDER BY n DESC, q.uid"},
        ),
        ("schema", {}),
        ("search/why-not", {"search": {"text": texts[0]}, "uid": uids[0]}),
        *(("fetch", {"uid": uid}) for uid in uids[:4]),
        *(("related", {"uid": uid, "limit": 100}) for uid in uids[:3]),
    ]
    asks += [Ask(f"{path} {number}", "POST", f"/v1/{path}", body) for number, (path, body) in enumerate(tools)]
    asks += [Ask(f"content {uid}", "GET", f"/content/{quote(uid, safe='')}") for uid in uids[:2]]
    asks.append(Ask("catalog", "GET", "/catalog?limit=20"))
    return asks


def _search(name: str, text: str, **more: Any) -> Ask:
    return Ask(name, "POST", "/v1/search", {"text": text, **more}, SearchRequest(text=text, **more))


def _mcp(name: str, text: str) -> Ask:
    body = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "tools/call",
        "params": {"name": "docs_search", "arguments": {"text": text}},
    }
    headers = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}
    return Ask(name, "POST", "/mcp", body, SearchRequest(text=text), headers=headers)


def _graphql(name: str, text: str) -> Ask:
    query = """query ($text: String!) { search(text: $text) {
      edges { node { uid locale title passage { text } unverified } } total degraded contentRoot } }"""
    return Ask(name, "POST", "/graphql", {"query": query, "variables": {"text": text}}, SearchRequest(text=text))


async def send(client: httpx.AsyncClient, served: Served, caller: str, ask: Ask) -> Answer:
    headers = {**ask.headers, "Authorization": f"Bearer {served.keys[caller]}"}
    answer = await client.request(ask.method, f"{served.url}{ask.path}", json=ask.body, headers=headers)
    return Answer(answer.status_code, answer.headers, answer.text, _result(ask, answer.text))


def _result(ask: Ask, text: str) -> Body:
    """What the surface wraps, as REST has it."""
    try:
        read = json.loads(text)
    except ValueError:
        return {}
    if ask.path == "/mcp":
        result = read.get("result") or {}
        told = result.get("structuredContent") or {}
        return dict(told.get("error") or {"code": "protocol", "detail": text}) if result.get("isError") else dict(told)
    if ask.path == "/graphql":
        if errors := read.get("errors"):
            return {"detail": errors[0].get("message"), **errors[0].get("extensions", {})}
        found = dict(read["data"]["search"])
        return {**found, "hits": [edge["node"] for edge in found.pop("edges")]}
    return read if isinstance(read, dict) else {"list": read}


@dataclass
class Oracle:
    """The healthy answers of every question and caller, and of every search what it finds with parts missing."""

    healthy: dict[tuple[str, str], Body] = field(default_factory=dict)
    partial: dict[tuple[str, str], dict[tuple[tuple[str, ...], tuple[str, ...]], list[Any]]] = field(
        default_factory=dict
    )

    @classmethod
    async def taken(cls, client: httpx.AsyncClient, served: Served, asks: Sequence[Ask]) -> "Oracle":
        """Raises SystemExit where a healthy answer isn't whole."""
        oracle, at_once = cls(), asyncio.Semaphore(_AT_ONCE)

        async def take(caller: str, ask: Ask) -> None:
            async with at_once:
                body = (await _whole(client, served, caller, ask)).body
                oracle.healthy[caller, ask.name] = body
                if ask.search is not None:
                    oracle.partial[caller, ask.name] = await _partial(client, served, caller, ask, body)

        await asyncio.gather(*(take(caller, ask) for caller, ask in itertools.product(served.keys, asks)))
        return oracle

    def judge(self, caller: str, ask: Ask, answer: Answer, harmed: Collection[str]) -> Verdict:
        if caller != STAFF and MARK in answer.text.lower():
            return Verdict("wrong", "shows what the caller may not see")
        if answer.status == 200 and "code" not in answer.body:
            return self._answered(caller, ask, answer, harmed)
        return _refused(answer, harmed)

    def _answered(self, caller: str, ask: Ask, answer: Answer, harmed: Collection[str]) -> Verdict:
        unknown = answer.parts - ENGINES_OF.keys() - {"publishing"}
        if unknown:
            return Verdict("wrong", f"names what is no part: {unknown}")
        late = frozenset(part for part in answer.parts if not ENGINES_OF[part] & set(harmed))
        healthy = self.healthy[caller, ask.name]
        if not answer.degraded:
            differing = _differing(healthy, answer.body)
            return Verdict("wrong", f"differs in {differing} and says nothing of it") if differing else Verdict("whole")
        if ask.search is not None:
            allowed = self._allowed(caller, ask, answer)
            if found_of(answer.body, ask.finds) not in allowed:
                return Verdict("wrong", f"is not what is left without {sorted(answer.parts)}", late)
            return Verdict("named", late=late)
        if "related" in healthy:
            same = _uids(answer.body["related"]) == _uids(healthy["related"])
        else:
            same = not set(_differing(healthy, answer.body)) - _MISSED
        return Verdict("named", late=late) if same else Verdict("wrong", "differs in more than it names", late)

    def _allowed(self, caller: str, ask: Ask, answer: Answer) -> list[list[Any]]:
        """What the search may find, given what it says it lacks."""
        parts = answer.parts
        legs = tuple(leg for leg in (LEXICAL, VECTOR) if leg not in parts)
        if not legs or (VECTOR in parts and answer.degraded and _fills(answer)):
            legs = (LEXICAL, VECTOR)
        graph = bool(parts & {"graph", "anchors"})
        known = self.partial[caller, ask.name]
        allowed = [known[legs, off] for off in _VARIANTS if not off or graph or "prior" in parts]
        if "evidence" in parts:
            # What nothing but its likeness speaks for was not taken out.
            allowed += [known[(VECTOR,), off] for off in _VARIANTS]
        return allowed


def _fills(answer: Answer) -> bool:
    """The vector leg answered, and only could not say how whole it is."""
    return any("indexed" in note for note in answer.degraded)


async def _whole(client: httpx.AsyncClient, served: Served, caller: str, ask: Ask) -> Answer:
    """The answer once nothing is missing of it: the first of a new service may come without what must be computed."""
    until = time.monotonic() + _WHOLE_WITHIN_SECONDS
    while True:
        answer = await send(client, served, caller, ask)
        if answer.status == 200 and answer.body and not answer.degraded and "code" not in answer.body:
            return answer
        if time.monotonic() > until:
            raise SystemExit(f"{ask.name} of {caller} is not whole: {answer.degraded or answer.text[:500]}")
        await asyncio.sleep(0.2)


async def _partial(
    client: httpx.AsyncClient, served: Served, caller: str, ask: Ask, healthy: Body
) -> dict[tuple[tuple[str, ...], tuple[str, ...]], list[Any]]:
    assert ask.search is not None
    found = {}
    for legs, off in itertools.product(((LEXICAL, VECTOR), (LEXICAL,), (VECTOR,)), _VARIANTS):
        request = ask.search.model_copy(update={"without_signals": list(off)})
        pinned = fingerprint(request, _CLASSES[caller])
        cursor = Cursor(healthy["contentRoot"], pinned, today(), legs, 0).encode()
        body = request.model_copy(update={"cursor": cursor, "facets": []}).model_dump(
            by_alias=True, exclude_defaults=True
        )
        variant = Ask(f"{ask.name} of {legs} without {off}", "POST", "/v1/search", {**body, "text": request.text})
        answer = await _whole(client, served, caller, variant)
        found[legs, off] = found_of(answer.body, "hits")
    return found


def found_of(body: Body, name: str) -> list[Any]:
    """Which nodes, in which order, with which passages."""
    return [
        (one["uid"], one["locale"], one["code"] if name == "samples" else one["passage"]["text"]) for one in body[name]
    ]


def _differing(healthy: Body, answer: Body) -> list[str]:
    names = (healthy.keys() | answer.keys()) - _PASSING
    return sorted(name for name in names if _still(healthy.get(name)) != _still(answer.get(name)))


def _still(value: Any) -> Any:
    """Without what passes, and as far as sums of floats agree."""
    if isinstance(value, dict):
        return {name: _still(one) for name, one in value.items() if name not in _PASSING}
    if isinstance(value, list):
        return [_still(one) for one in value]
    return round(value, 6) if isinstance(value, float) else value


def _uids(nodes: list[Body]) -> set[str]:
    return {node["uid"] for node in nodes}


def _refused(answer: Answer, harmed: Collection[str]) -> Verdict:
    code = answer.body.get("code")
    if code == "cursor_stale" and set(harmed) & {OPENSEARCH, QDRANT}:
        return Verdict("refused")
    if code not in _REFUSALS:
        return Verdict("wrong", f"{answer.status} {code}: {answer.text[:200]}")
    if answer.status != 200 and (answer.status not in (503, 504) or "retry-after" not in answer.headers):
        return Verdict("wrong", f"{answer.status} {code} without the time to try again")
    told = json.dumps(answer.body)
    legs = {OPENSEARCH: LEXICAL, QDRANT: VECTOR}
    if not any(name in told or legs.get(name, name) in told for name in harmed):
        return Verdict("refused", late=frozenset({str(code)}))
    return Verdict("refused")
