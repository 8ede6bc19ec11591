"""A toolbox whose answers are known: what a surface makes of them is all that its tests look at."""

import asyncio
from dataclasses import dataclass, field

from cypher_guard.violation import Violation
from service.domain.errors import LimitOutOfRange, NodeUnknown, QueryEmpty
from service.domain.filters import NodeFilter
from service.domain.principal import Principal
from service.domain.requests import (
    GraphQueryRequest,
    ListRequest,
    NodeRequest,
    PublishRequest,
    SearchRequest,
    WhyNotRequest,
)
from service.domain.results import (
    AnchorResult,
    DiagnosticResult,
    EdgeResult,
    EngineReport,
    FactorResult,
    GraphQueryResult,
    Hit,
    HitExplanation,
    LegRank,
    LegReport,
    ListResult,
    NodeResult,
    NodeSummary,
    PassageResult,
    PublishResult,
    ReadinessResult,
    SearchExplanation,
    SearchResult,
    SectionResult,
    WhyNotResult,
)
from service.tools.toolbox import Progress, silent

ROOT = "c0ffee" * 10 + "c0ff"
K = 60
WINDOW = 25
"""Hits that any search of the fake finds in all."""


def vote(rank: int) -> float:
    return 1 / (K + rank)


def explanation(lexical: int, vector: int) -> HitExplanation:
    """Both legs found it, at these ranks."""
    rrf = vote(lexical) + vote(vector)
    return HitExplanation(
        legs=[
            LegRank(leg="lexical", rank=lexical, score=12.5, vote=vote(lexical)),
            LegRank(leg="vector", rank=vector, score=0.75, vote=vote(vector)),
        ],
        rrf=rrf,
        rrf_normalised=rrf / (2 * vote(1)),
        prior=0.0,
        prior_places=0,
        factors=[FactorResult(signal="moniker", input="net-8.0", factor=1.05, places=2)],
        final=rrf / (2 * vote(1)),
    )


def hit(number: int, *, explain: bool = True, **changed: object) -> Hit:
    """Hit `number`, from 1: rank `number` in the lexical leg and one lower in the vector leg."""
    text = f"Passage {number} says how reciprocal rank fusion adds votes."
    start = text.index("rank fusion")
    told = explanation(number, number + 1)
    fields = {
        "uid": f"manual.page-{number}",
        "locale": "en-us",
        "title": f"Page {number}",
        "url": f"https://example.org/page-{number}#votes",
        "kind": "page" if number % 2 else "unit",
        "type": "concept",
        "docset": "manual",
        "summary": "What a vote is worth.",
        "score": told.final,
        "passage": PassageResult(text=text, heading="Votes", anchor="votes", highlights=[(start, start + 11)]),
        "explain": told if explain else None,
    }
    return Hit.model_validate(fields | changed)


def search_result(hits: list[Hit], **changed: object) -> SearchResult:
    fields = {
        "hits": hits,
        "total": WINDOW,
        "facets": {"kind": {"page": 13, "unit": 12}},
        "next_cursor": None,
        "degraded": [],
        "content_root": ROOT,
        "ontology_hash": "0n7",
        "run_id": "run-1",
        "took_ms": 2.5,
        "explain": SearchExplanation(
            legs=[
                LegReport(leg="lexical", engine="tantivy", state="live", hits=20, took_ms=1.0),
                LegReport(leg="vector", engine="qdrant-edge", state="live", hits=22, took_ms=1.5),
            ],
            anchors=[AnchorResult(uid="product:manual", locale="und", title="Manual", via="title")],
            timings_ms={"anchors": 0.2, "legs": 1.6, "fusion": 0.1},
            k=K,
            as_of="2026-11-30T12:00:00Z",
        ),
    }
    return SearchResult.model_validate(fields | changed)


@dataclass
class FakeToolbox:
    """Answers searches with `WINDOW` numbered hits. `failure` is raised instead of any answer; `answer` replaces it."""

    failure: BaseException | None = None
    answer: SearchResult | GraphQueryResult | NodeResult | None = None
    ready: bool = True
    hang: bool = False
    findings: list[DiagnosticResult] = field(default_factory=list)
    asked: list[object] = field(default_factory=list)
    principals: list[Principal | None] = field(default_factory=list)
    stopped: asyncio.Event = field(default_factory=asyncio.Event)

    async def docs_search(self, request: SearchRequest, principal: Principal) -> SearchResult:
        await self._meet(request, principal)
        if not request.text.strip():
            raise QueryEmpty("The query is empty. Ask in words.")
        NodeFilter.from_mapping(request.filter)
        limit = 10 if request.limit is None else request.limit
        if not 1 <= limit <= 100:
            raise LimitOutOfRange("The limit is 1 to 100.")
        if isinstance(self.answer, SearchResult):
            return self.answer
        first = int(request.cursor or "1")
        last = min(first + limit - 1, WINDOW)
        hits = [hit(number, explain=request.explain) for number in range(first, last + 1)]
        return search_result(hits, next_cursor=str(last + 1) if last < WINDOW else None)

    async def why_not(self, request: WhyNotRequest, principal: Principal) -> WhyNotResult:
        await self._meet(request, principal)
        return WhyNotResult(uid=request.uid, locale="en-us", reason="depth", detail="Rank 140 of the lexical leg.")

    async def list_nodes(self, request: ListRequest, principal: Principal) -> ListResult:
        await self._meet(request, principal)
        NodeFilter.from_mapping(request.filter)
        summary = NodeSummary(
            uid="manual.page-1",
            locale="en-us",
            kind="page",
            title="Page 1",
            type=None,
            url=None,
            summary=None,
            docset="manual",
        )
        return ListResult(nodes=[summary], total=1, next_cursor=None, content_root=ROOT, took_ms=0.5)

    async def docs_fetch(self, request: NodeRequest, principal: Principal) -> NodeResult:
        await self._meet(request, principal)
        if isinstance(self.answer, NodeResult):
            return self.answer
        if request.uid == "nobody":
            raise NodeUnknown("There is no node 'nobody'.", suggestion="manual.page-1")
        return NodeResult(
            uid=request.uid,
            locale=request.locale or "en-us",
            kind="page",
            title="Page",
            url=None,
            properties={"products": ["manual"]},
            sections=[SectionResult(heading="Votes", anchor="votes", level=2, text="Text.", moniker_range=None)],
            edges=[
                EdgeResult(type="partOf", uid="manual", locale="en-us", title="Manual", kind="module", direction="out")
            ],
            edges_truncated=False,
            other_locales=["de-de"],
            content_hash="ab" * 32,
            content_root=ROOT,
        )

    async def query_graph(self, request: GraphQueryRequest, principal: Principal) -> GraphQueryResult:
        await self._meet(request, principal)
        if isinstance(self.answer, GraphQueryResult):
            return self.answer
        if "DELETE" in request.cypher:
            raise Violation(
                "read_only",
                "DELETE writes.",
                line=1,
                column=request.cypher.index("DELETE") + 1,
                excerpt=request.cypher[:80],
                suggestion="Ask with MATCH … RETURN alone.",
            )
        return GraphQueryResult(
            columns=["uid", "n"],
            rows=[["manual.page-1", 3]],
            truncated=True,
            cypher="MATCH (n:Page) RETURN n.uid AS uid, 3 AS n LIMIT 101",
            content_root=ROOT,
            took_ms=1.0,
        )

    async def publish(self, request: PublishRequest, progress: Progress = silent) -> PublishResult:
        progress("read", 0, 2)
        await self._meet(request)
        for done in (1, 2):
            progress("read", done, 2)
            await asyncio.sleep(0)
        return PublishResult(
            nodes={"page": 2},
            edges={"partOf": 1},
            passages=4,
            added=2,
            changed=0,
            removed=0,
            unchanged=0,
            diagnostics=self.findings,
            content_root=ROOT,
            generation=1,
            embedded=4,
            seconds=0.1,
        )

    async def readiness(self) -> ReadinessResult:
        await self._meet(None)
        lexical = EngineReport(engine="tantivy", role="lexical", ready=True)
        vector = EngineReport(
            engine="qdrant-edge", role="vector", ready=self.ready, reason=None if self.ready else "no shard"
        )
        return ReadinessResult(
            ready=self.ready, engines=[lexical, vector], content_root=ROOT, generation=3, passages=40, vectors=32
        )

    async def close(self) -> None:
        return None

    async def _meet(self, request: object, principal: Principal | None = None) -> None:
        self.asked.append(request)
        self.principals.append(principal)
        if self.failure is not None:
            raise self.failure
        if self.hang:
            try:
                await asyncio.Event().wait()
            finally:
                self.stopped.set()
