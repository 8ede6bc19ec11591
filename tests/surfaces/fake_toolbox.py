"""A toolbox whose answers are known: what a surface makes of them is all that its tests look at."""

import asyncio
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from cypher_guard.violation import Violation
from service.domain.documents import (
    CatalogResult,
    Document,
    DocumentPage,
    DocumentSection,
    Entry,
    HeadingResult,
    PartResult,
    SnapshotResult,
    SourceResult,
    SummaryPage,
    TermResult,
)
from service.domain.errors import (
    CursorForeign,
    LimitOutOfRange,
    NodeUnknown,
    QueryEmpty,
    RootUnknown,
    RunUnknown,
    TuningChanged,
    TuningUnknown,
)
from service.domain.filters import NodeFilter
from service.domain.principal import Principal
from service.domain.requests import (
    CatalogRequest,
    EstateRequest,
    GraphQueryRequest,
    LearningPathRequest,
    ListRequest,
    NodeRequest,
    NodesRequest,
    PublishRequest,
    RelatedRequest,
    ReplayRequest,
    RunRequest,
    RunsRequest,
    SampleRequest,
    SchemaRequest,
    SearchRequest,
    SnapshotRequest,
    SuggestRequest,
    WhyNotRequest,
    XrefRequest,
)
from service.domain.results import (
    AnchorResult,
    CodeSample,
    DiagnosticResult,
    DiagnosticsResult,
    DoctorResult,
    EdgeResult,
    EngineReport,
    FactorResult,
    FetchedNode,
    FetchRefusal,
    Finding,
    GraphQueryResult,
    Hit,
    HitExplanation,
    LearningPathResult,
    LearningStep,
    LegRank,
    LegReport,
    ListResult,
    LoggedFactor,
    LoggedHit,
    MissingPrerequisite,
    MovedHit,
    NodeResult,
    NodesResult,
    NodeSummary,
    PassageResult,
    PathStep,
    PublishResult,
    ReadinessResult,
    RelatedNode,
    RelatedResult,
    ReplayResult,
    Result,
    RootsResult,
    RunResult,
    RunsResult,
    RunSummary,
    SampleResult,
    SchemaResult,
    SearchExplanation,
    SearchResult,
    SectionResult,
    Suggestion,
    SuggestResult,
    WhyNotResult,
    XrefResolution,
    XrefResult,
)
from service.domain.submission import MissingRequest, MissingResult, Submission
from service.domain.tuning import (
    PinnedResult,
    ReplaceTuningRequest,
    RollbackTuningRequest,
    Synonym,
    TuningDifferenceRequest,
    TuningDifferenceResult,
    TuningHistoryRequest,
    TuningHistoryResult,
    TuningRequest,
    TuningResult,
    difference,
)
from service.tools import catalogue, estate
from service.tools.catalogue import Asked, Given, Tool
from service.tools.toolbox import Progress, silent

ROOT = "c0ffee" * 10 + "c0ff"
DIAGNOSTICS = {
    "published_at": "2026-01-01T00:00:00+00:00",
    "content_root": ROOT,
    "docsets": ["manual"],
    "counts": [
        {"severity": "error", "code": "redirect_loop", "count": 1},
        {"severity": "warning", "code": "xref_broken", "count": 3},
    ],
    "diagnostics": [
        {
            "severity": severity,
            "code": code,
            "file": file,
            "line": line,
            "column": 1,
            "message": f"<b>{code}</b> in {file}.",
            "fix": "Did you mean manual.page-1?",
        }
        for severity, code, file, line in (
            ("error", "redirect_loop", ".openpublishing.redirection.json", 4),
            ("warning", "xref_broken", "articles/fusion.md", 12),
            ("warning", "xref_broken", "articles/graph.md", 7),
        )
    ],
}
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
        final=rrf / (2 * vote(1)) * 1.05,
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


def _search(request: SearchRequest) -> SearchResult:
    if not request.text.strip():
        raise QueryEmpty("The query is empty. Ask in words.")
    NodeFilter.from_mapping(request.filter)
    limit = 10 if request.limit is None else request.limit
    if not 1 <= limit <= 100:
        raise LimitOutOfRange("The limit is 1 to 100.")
    if request.cursor is not None and not (request.cursor.isascii() and request.cursor.isdigit()):
        raise CursorForeign("This cursor was made elsewhere. Ask again without it.")
    first = int((request.cursor or "1")[:9])
    last = min(first + limit - 1, WINDOW)
    hits = [hit(number, explain=request.explain) for number in range(first, last + 1)]
    return search_result(hits, next_cursor=str(last + 1) if last < WINDOW else None)


def _why_not(request: WhyNotRequest) -> WhyNotResult:
    return WhyNotResult(uid=request.uid, locale="en-us", reason="depth", detail="Rank 140 of the lexical leg.")


def _list(request: ListRequest) -> ListResult:
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


def _known(uid: str) -> None:
    if uid == "nobody":
        raise NodeUnknown("There is no node 'nobody'.", suggestion="manual.page-1")


def _fetch(request: NodeRequest) -> NodeResult:
    _known(request.uid)
    return NodeResult(
        uid=request.uid,
        locale=request.locale or "en-us",
        kind="page",
        title="Page",
        url=None,
        properties={"products": ["manual"]},
        sections=[SectionResult(heading="Votes", anchor="votes", level=2, text="Text.", moniker_range=None)],
        edges=[EdgeResult(type="partOf", uid="manual", locale="en-us", title="Manual", kind="module", direction="out")],
        edges_truncated=False,
        other_locales=["de-de"],
        content_hash="ab" * 32,
        content_root=ROOT,
    )


def _fetch_batch(request: NodesRequest) -> NodesResult:
    def one(uid: str) -> FetchedNode:
        try:
            return FetchedNode(asked=uid, node=_fetch(NodeRequest(uid=uid, locale=request.locale)))
        except NodeUnknown as error:
            refusal = FetchRefusal(code=error.code, message=error.message, suggestion=error.suggestion)
            return FetchedNode(asked=uid, refusal=refusal)

    return NodesResult(nodes=[one(uid) for uid in request.uids], content_root=ROOT, took_ms=1.0)


def _samples(request: SampleRequest) -> SampleResult:
    sample = CodeSample(
        uid="manual.page-1#code-1",
        locale="en-us",
        title="Fuse two rankings",
        language=request.language or "python",
        code="fused = fuse([bm25, dense], k=60)",
        highlights=[(8, 12)],
        owner_uid="manual.page-1",
        owner_title="Page 1",
        owner_url="https://example.org/page-1#votes",
        score=0.75,
    )
    return SampleResult(
        samples=[sample],
        total=1,
        languages={"csharp": 2, "python": 1},
        next_cursor=None,
        degraded=[],
        content_root=ROOT,
        took_ms=1.0,
    )


def _related(request: RelatedRequest) -> RelatedResult:
    _known(request.uid)
    step = PathStep(type="partOf", direction="out", uid="manual", locale="en-us", title="Manual")
    node = RelatedNode(
        uid="manual",
        locale="en-us",
        kind="module",
        title="Manual",
        url="https://example.org/manual",
        summary="All of it.",
        prior=0.25,
        path=[step],
    )
    return RelatedResult(
        uid=request.uid,
        locale=request.locale or "en-us",
        related=[node],
        truncated=False,
        degraded=[],
        content_root=ROOT,
        took_ms=1.0,
    )


def _learning_path(request: LearningPathRequest) -> LearningPathResult:
    _known(request.goal)
    first, second = (
        LearningStep(
            uid=f"course.{name}",
            locale="en-us",
            kind="module",
            title=title,
            url=None,
            level="beginner",
            minutes=minutes,
            teaches=[],
            required_by=required_by,
            alternatives=alternatives,
        )
        for name, title, minutes, required_by, alternatives in (
            ("first", "First", 20, ["course.second"], ["course.other"]),
            ("second", "Second", None, [], []),
        )
    )
    return LearningPathResult(
        goal=request.goal,
        reachable=False,
        steps=[first, second],
        minutes=20,
        within_budget=None if request.minutes is None else request.minutes >= 20,
        missing=[MissingPrerequisite(uid="skill.algebra", title="Algebra", required_by="course.first")],
        cycles=[["course.a", "course.b"]],
        notices=["The level is not known."],
        content_root=ROOT,
        took_ms=1.0,
    )


def _xrefs(request: XrefRequest) -> XrefResult:
    def resolve(uid: str) -> XrefResolution:
        if uid == "nobody":
            return XrefResolution(asked=uid, found=False, via="none", suggestions=["manual.page-1"])
        return XrefResolution(
            asked=uid,
            found=True,
            via="exact",
            uid=uid,
            locale=request.locale or "en-us",
            kind="page",
            title="Page",
            url="https://example.org/page-1",
        )

    return XrefResult(resolutions=[resolve(uid) for uid in request.uids], content_root=ROOT, took_ms=1.0)


def _suggest(request: SuggestRequest) -> SuggestResult:
    """Of one page called `Page 1` its title, whatever was typed."""
    if not request.text.strip():
        raise QueryEmpty("The query is empty.")
    page = Suggestion(
        uid="manual.page-1",
        locale="en-us",
        kind="page",
        title="Page 1",
        url="https://example.org/page-1",
        text="Page 1",
        matched="title",
    )
    return SuggestResult(suggestions=[page], content_root=ROOT, took_ms=1.0)


def _graph_query(request: GraphQueryRequest) -> GraphQueryResult:
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


def _schema(_request: SchemaRequest) -> SchemaResult:
    return SchemaResult(
        labels={"page": 13, "unit": 12},
        edge_types={"partOf": 25, "xref": 0},
        properties=["title", "uid"],
        grammar="MATCH, WHERE, RETURN.",
        examples=["MATCH (n:Page) RETURN n.uid"],
        content_root=ROOT,
    )


GAIN, CLAMP = 0.1, 1.15


def logged_hit(number: int) -> LoggedHit:
    """Hit `number` as the log has it: a prior, one factor above 1 and one below."""
    told = explanation(number, number + 1)
    factors = [
        LoggedFactor(signal="moniker", input="net-8.0", factor=1.05),
        LoggedFactor(signal="age", input=0.6, factor=0.9),
    ]
    final = told.rrf_normalised * (1 + GAIN * 0.5) * 1.05 * 0.9
    return LoggedHit(
        uid=f"manual.page-{number}",
        locale="en-us",
        legs=told.legs,
        rrf_normalised=told.rrf_normalised,
        prior=0.5,
        factors=factors,
        final=final,
    )


def _summary(run_id: str, **changed: object) -> RunSummary:
    fields = {
        "run_id": run_id,
        "at": "2026-11-30T12:00:00.000+00:00",
        "text": "rank fusion",
        "content_root": ROOT,
        "hits": [logged_hit(1), logged_hit(2)],
        "degraded": [],
        "took_ms": 12.5,
    }
    return RunSummary.model_validate(fields | changed)


def _runs(request: RunsRequest) -> RunsResult:
    """Newest first: one as it should be, one without a hit, one without a leg whose words were not kept."""
    runs = [
        _summary("run-1"),
        _summary("run-2", text="<b>xyzzy</b>", hits=[]),
        _summary("run-3", text=None, degraded=["vector: The shard is gone."]),
    ]
    return RunsResult(runs=runs[: request.limit])


def logged_run(request: RunRequest) -> RunResult:
    kept = {run.run_id: run for run in _runs(RunsRequest()).runs}
    if request.run_id not in kept:
        raise RunUnknown("No run of this id is kept; list the runs to see those that are.")
    apart = {
        "request": {"filter": {"kind": ["page"]}},
        "start": 0,
        "limit": 2,
        "visible_to": ["*"],
        "as_of": "2026-11-30",
        "legs": ["lexical", "vector"],
        "anchors": [AnchorResult(uid="product:manual", locale="und", title="Manual", via="title")],
        "gain": GAIN,
        "clamp": CLAMP,
        "k": K,
        "notices": [],
    }
    return RunResult.model_validate({**dict(kept[request.run_id]), **apart})


def _replay(request: ReplayRequest) -> ReplayResult:
    run = logged_run(RunRequest(run_id=request.run_id))
    if run.text is None and request.text is None:
        raise QueryEmpty("The run's words were not kept, for `run_log_texts` is off; give them along.")
    moved = [MovedHit(uid=f"manual.page-{n}", locale="en-us", then=n, now=3 - n) for n in (1, 2)]
    return ReplayResult(
        run_id=run.run_id, same_snapshot=True, same_order=False, moved=moved, content_root=ROOT, degraded=[]
    )


def _snapshot(_request: SnapshotRequest) -> SnapshotResult:
    return SnapshotResult(
        content_root=ROOT,
        generation=2,
        ontology_hash="0n7",
        nodes=WINDOW,
        published_at="2026-01-01T00:00:00+00:00",
        publishing=False,
    )


def a_document(uid: str, locale: str = "en-us") -> Document:
    module = PartResult(uid="manual", locale=locale, kind="module", title="Manual", href="https://example.org/manual")
    return Document(
        uid=uid,
        locale=locale,
        kind="unit",
        title="Page",
        products=["manual"],
        roles=[],
        levels=["beginner"],
        subjects=[],
        monikers=[],
        duration_in_minutes=4,
        part_of=[module],
        parts=[],
        source=SourceResult(docset="manual", path="units/page.yml", workspace="default"),
        audience=[],
        region=[],
        headings=[HeadingResult(text="Votes", anchor="votes", level=2)],
        sections=[DocumentSection(heading="Votes", anchor="votes", level=2, text="Text.")],
        locales=[locale],
        content_hash="ab" * 32,
        content_root=ROOT,
    )


def _document(request: NodeRequest) -> Document:
    _known(request.uid)
    return a_document(request.uid, request.locale or "en-us")


def _catalog(request: CatalogRequest) -> CatalogResult:
    NodeFilter.from_mapping(request.filter)
    first = _position(request.cursor)
    entry = Entry(**{name: getattr(a_document(f"manual.page-{first}"), name) for name in Entry.model_fields})
    counts = [TermResult(id="beginner", count=WINDOW)] if "level" in request.vocabularies else None
    return CatalogResult(
        units=[entry] if request.entries else None,
        levels=counts,
        truncated=first < WINDOW,
        next_cursor=str(first + 1) if first < WINDOW else None,
        content_root=ROOT,
    )


def _position(cursor: str | None) -> int:
    if cursor is not None and not (cursor.isascii() and cursor.isdigit()):
        raise CursorForeign("This cursor was made elsewhere. Ask again without it.")
    return int((cursor or "1")[:9])


def _summaries(request: EstateRequest) -> SummaryPage:
    NodeFilter.from_mapping(request.filter)
    first = _position(request.cursor)
    summary = _list(ListRequest()).nodes[0].model_copy(update={"uid": f"manual.page-{first}", "url": f"/page-{first}"})
    return SummaryPage(nodes=[summary], next_cursor=str(first + 1) if first < WINDOW else None, content_root=ROOT)


def _documents(request: EstateRequest) -> DocumentPage:
    NodeFilter.from_mapping(request.filter)
    first = _position(request.cursor)
    return DocumentPage(
        documents=[a_document(f"manual.page-{first}")],
        next_cursor=str(first + 1) if first < WINDOW else None,
        content_root=ROOT,
    )


TUNING = TuningResult(
    version=3,
    at="2026-01-03T00:00:00+00:00",
    by="an editor",
    reason="Everybody asks for it",
    pin_count=2,
    synonym_count=2,
    pins=[
        PinnedResult(words="rank fusion", uid="manual.page-1", place=1, note="the best there is", until="2099-12-31"),
        PinnedResult(words="<script>alert(1)</script>", match="exact", uid="a uid & more", locale="en-us", place=3),
    ],
    synonyms=[Synonym(terms=["k8s", "kubernetes"]), Synonym(of="aks", terms=["azure kubernetes service", "cluster"])],
)


def _tuning(request: TuningRequest) -> TuningResult:
    version = TUNING.version if request.version is None else request.version
    if version > TUNING.version:
        raise TuningUnknown("No such version is kept.")
    if version == 0:
        return TuningResult(workspace=request.workspace)
    return TUNING.model_copy(update={"workspace": request.workspace, "version": version})


def _replaced(request: ReplaceTuningRequest | RollbackTuningRequest) -> TuningResult:
    if request.version != TUNING.version:
        raise TuningChanged.to(TUNING.version)
    restored = {"restored": request.to} if isinstance(request, RollbackTuningRequest) else {}
    told = {"workspace": request.workspace, "version": request.version + 1, "reason": request.reason, **restored}
    if isinstance(request, ReplaceTuningRequest):
        counts = {"pin_count": len(request.pins), "synonym_count": len(request.synonyms)}
        told |= {"pins": request.pins, "synonyms": request.synonyms, **counts}
    return TUNING.model_copy(update=told)


def _tuning_history(request: TuningHistoryRequest) -> TuningHistoryResult:
    versions = [TUNING.about.model_copy(update={"version": number, "restored": None}) for number in (3, 2, 1)]
    versions[1] = versions[1].model_copy(update={"restored": 0, "reason": ""})
    return TuningHistoryResult(versions=versions[: request.limit])


def _tuning_difference(request: TuningDifferenceRequest) -> TuningDifferenceResult:
    before = TuningResult(workspace=request.workspace, version=2, synonyms=TUNING.synonyms[:1], pins=TUNING.pins[1:])
    return difference(before, TUNING)


ANSWERS: Mapping[str, Callable[[Any], Result]] = {
    catalogue.SEARCH.name: _search,
    catalogue.WHY_NOT.name: _why_not,
    catalogue.LIST.name: _list,
    catalogue.FETCH.name: _fetch,
    catalogue.FETCH_BATCH.name: _fetch_batch,
    catalogue.SAMPLES.name: _samples,
    catalogue.RELATED.name: _related,
    catalogue.LEARNING_PATH.name: _learning_path,
    catalogue.XREF.name: _xrefs,
    catalogue.SUGGEST.name: _suggest,
    catalogue.GRAPH_QUERY.name: _graph_query,
    catalogue.SCHEMA.name: _schema,
    catalogue.RUNS.name: _runs,
    catalogue.RUN.name: logged_run,
    catalogue.REPLAY.name: _replay,
    catalogue.TUNING.name: _tuning,
    catalogue.TUNING_HISTORY.name: _tuning_history,
    catalogue.TUNING_DIFFERENCE.name: _tuning_difference,
    catalogue.REPLACE_TUNING.name: _replaced,
    catalogue.ROLLBACK_TUNING.name: _replaced,
    estate.SNAPSHOT.name: _snapshot,
    estate.DOCUMENT.name: _document,
    estate.CATALOG.name: _catalog,
    estate.SUMMARIES.name: _summaries,
    estate.DOCUMENTS.name: _documents,
}


@dataclass
class FakeToolbox:
    """Answers searches with `WINDOW` numbered hits. `failure` is raised instead of any answer; `answer` replaces the
    one of its own type; unhealthy stores are `sick`."""

    failure: BaseException | None = None
    answer: Result | None = None
    ready: bool = True
    sick: bool = False
    hang: bool = False
    findings: list[DiagnosticResult] = field(default_factory=list)
    asked: list[object] = field(default_factory=list)
    principals: list[Principal | None] = field(default_factory=list)
    stopped: asyncio.Event = field(default_factory=asyncio.Event)

    async def call(self, tool: Tool[Asked, Given], request: Asked, principal: Principal) -> Given:
        if tool is not estate.SNAPSHOT:  # which every conditional request asks for first
            await self._meet(request, principal)
        answer = self.answer if isinstance(self.answer, tool.result) else ANSWERS[tool.name](request)
        assert isinstance(answer, tool.result)
        return answer

    async def publish(self, request: PublishRequest, progress: Progress = silent) -> PublishResult:
        progress("read", 0, 2)
        await self._meet(request)
        for done in (1, 2):
            progress("read", done, 2)
            await asyncio.sleep(0)
        return self._published()

    async def missing(self, request: MissingRequest) -> MissingResult:
        await self._meet(request)
        return MissingResult(missing=request.hashes[:1])

    async def submit(self, submission: Submission, progress: Progress = silent) -> PublishResult:
        await self._meet(submission)
        progress("checking", 0, len(submission.manifest))
        return self._published()

    async def rollback(self, content_root: str, progress: Progress = silent) -> PublishResult:
        await self._meet(content_root)
        if content_root != ROOT:
            raise RootUnknown("No such snapshot is kept.")
        progress("committing", 0, 0)
        return self._published()

    async def roots(self) -> RootsResult:
        await self._meet(None)
        shared = {"published_at": "2026-01-01T00:00:00+00:00", "nodes": 2, "edges": 1, "passages": 4}
        return RootsResult.model_validate(
            {
                "roots": [
                    {"content_root": ROOT, "generation": 2, "current": True, **shared},
                    {"content_root": "cd" * 32, "generation": 1, "current": False, **shared},
                ]
            }
        )

    async def diagnostics(self, _principal: Principal) -> DiagnosticsResult:
        await self._meet(None)
        return DiagnosticsResult.model_validate(DIAGNOSTICS)

    async def doctor(self, repair: bool, progress: Progress = silent) -> DoctorResult:
        await self._meet(repair)
        progress("examining", 0, 2)
        healthy = repair or not self.sick
        missing = Finding(store="tantivy", code="passage_missing", count=2, examples=["a", "b"])
        return DoctorResult(
            healthy=healthy,
            findings=[] if healthy else [missing],
            content_root=ROOT,
            generation=2,
            nodes=2,
            records=1,
            passages=4,
        )

    def _published(self) -> PublishResult:
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
