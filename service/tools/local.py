"""The toolbox of the process that owns the stores."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass
from typing import Any

from service.domain.deadline import Deadline
from service.domain.diagnostics import Severity
from service.domain.errors import FirstPublishUnderWay, Unavailable
from service.domain.principal import Principal
from service.domain.progress import Progress, silent
from service.domain.requests import PublishRequest, SearchRequest
from service.domain.results import (
    DiagnosticCount,
    DiagnosticResult,
    DiagnosticsResult,
    DoctorResult,
    EngineReport,
    PublishResult,
    PublishUnderWay,
    ReadinessResult,
    Result,
    RootResult,
    RootsResult,
)
from service.domain.snapshots import EMPTY_ROOT, Snapshot
from service.domain.submission import MissingRequest, MissingResult, Submission
from service.observation import Kind, Piece, Work, findings_fact
from service.ports import GraphReader, LexicalIndex, VectorIndex
from service.publishing.doctor import Doctor
from service.publishing.publisher import Publisher
from service.retrieval import listing, pipeline, runs, why_not
from service.retrieval.engines import Retrieval
from service.tools import catalogue, estate, tuning
from service.tools.catalog_page import catalog
from service.tools.catalogue import Asked, Given, Tool
from service.tools.code_sample_search import code_sample_search
from service.tools.describe_schema import describe_schema
from service.tools.docs_fetch import docs_fetch, docs_fetch_batch
from service.tools.documents import document, documents, snapshot, summaries
from service.tools.get_learning_path import get_learning_path
from service.tools.get_related import get_related
from service.tools.query_graph import query_graph
from service.tools.resolve_xref import resolve_xref
from service.tools.suggest import suggest

_FUNCTIONS: Mapping[str, Callable[[Any, Principal, Retrieval], Awaitable[Result]]] = {
    catalogue.SEARCH.name: pipeline.search,
    catalogue.WHY_NOT.name: why_not.why_not,
    catalogue.LIST.name: listing.list_estate,
    catalogue.FETCH.name: docs_fetch,
    catalogue.FETCH_BATCH.name: docs_fetch_batch,
    catalogue.SAMPLES.name: code_sample_search,
    catalogue.RELATED.name: get_related,
    catalogue.LEARNING_PATH.name: get_learning_path,
    catalogue.XREF.name: resolve_xref,
    catalogue.SUGGEST.name: suggest,
    catalogue.GRAPH_QUERY.name: query_graph,
    catalogue.SCHEMA.name: describe_schema,
    catalogue.RUNS.name: runs.list_runs,
    catalogue.RUN.name: runs.show_run,
    catalogue.REPLAY.name: pipeline.replay_run,
    catalogue.TUNING.name: tuning.show_tuning,
    catalogue.TUNING_HISTORY.name: tuning.tuning_history,
    catalogue.TUNING_DIFFERENCE.name: tuning.tuning_difference,
    catalogue.REPLACE_TUNING.name: tuning.replace_tuning,
    catalogue.ROLLBACK_TUNING.name: tuning.rollback_tuning,
    estate.SNAPSHOT.name: snapshot,
    estate.DOCUMENT.name: document,
    estate.CATALOG.name: catalog,
    estate.SUMMARIES.name: summaries,
    estate.DOCUMENTS.name: documents,
}

_OF_THE_ESTATE = frozenset(
    tool.name
    for tool in (
        catalogue.SEARCH,
        catalogue.WHY_NOT,
        catalogue.LIST,
        catalogue.FETCH,
        catalogue.FETCH_BATCH,
        catalogue.SAMPLES,
        catalogue.RELATED,
        catalogue.LEARNING_PATH,
        catalogue.XREF,
        catalogue.GRAPH_QUERY,
        estate.DOCUMENT,
        estate.CATALOG,
        estate.SUMMARIES,
        estate.DOCUMENTS,
    )
)
"""What is asked of the estate's content: while there is none yet, but soon will be, no answer is right."""


@dataclass(frozen=True)
class LocalToolbox:
    """Fulfils Toolbox. `bootstrap` makes it and closes what it stands on."""

    retrieval: Retrieval
    publisher: Publisher
    physician: Doctor

    async def call(self, tool: Tool[Asked, Given], request: Asked, principal: Principal) -> Given:
        """Run one tool of the catalogue."""
        with self._work(tool.name) as piece:
            if isinstance(request, SearchRequest):
                piece.quote(request.text)
            if tool.name in _OF_THE_ESTATE:
                await self._await_first_publish()
            result = await _FUNCTIONS[tool.name](request, principal, self.retrieval)
        assert isinstance(result, tool.result)
        return result

    async def _await_first_publish(self) -> None:
        """Raises FirstPublishUnderWay while nothing is there yet, but will be."""
        if not self.publisher.activity.stage:
            return
        under_way = self._under_way(await self.retrieval.store.snapshot())
        if under_way is not None and under_way.is_first:
            raise FirstPublishUnderWay(f"The first publish is under way ({under_way}). Ask again in a moment.")

    def _under_way(self, snapshot: Snapshot) -> PublishUnderWay | None:
        doing = self.publisher.activity
        if not doing.stage:
            return None
        is_first = snapshot.content_root == EMPTY_ROOT
        return PublishUnderWay(stage=doing.stage, done=doing.done, total=doing.total, is_first=is_first)

    async def publish(self, request: PublishRequest, progress: Progress = silent) -> PublishResult:
        with self._work("publish") as piece:
            result = await self.publisher.publish(request, progress)
            _note_findings(piece, result)
            return result

    async def missing(self, request: MissingRequest) -> MissingResult:
        return MissingResult(missing=await self.publisher.missing(request.hashes))

    async def submit(self, submission: Submission, progress: Progress = silent) -> PublishResult:
        with self._work("publish") as piece:
            result = await self.publisher.submit(submission, progress)
            _note_findings(piece, result)
            return result

    async def rollback(self, content_root: str, progress: Progress = silent) -> PublishResult:
        with self._work("rollback"):
            return await self.publisher.rollback(content_root, progress)

    async def roots(self) -> RootsResult:
        """The snapshots that are kept, newest first."""
        current = await self.retrieval.store.snapshot()
        return RootsResult(
            roots=[
                RootResult(
                    content_root=root.content_root,
                    generation=root.generation,
                    published_at=root.published_at,
                    nodes=root.nodes,
                    edges=root.edges,
                    passages=root.passages,
                    current=root.generation == current.generation,
                )
                for root in await self.retrieval.store.roots()
            ]
        )

    async def diagnostics(self, principal: Principal) -> DiagnosticsResult:
        """What the last publish found, as far as it is kept and this caller may see the sources."""
        found = await self.publisher.store.diagnostics()
        if found is None:
            return DiagnosticsResult(published_at="", content_root="", docsets=[], counts=[], diagnostics=[])
        shown = list(found.kept) if principal.is_owner else found.shown_to(principal.audiences)
        return DiagnosticsResult(
            published_at=found.published_at,
            content_root=found.content_root,
            docsets=list(found.docsets) if principal.is_owner else found.docsets_shown_to(principal.audiences),
            counts=[
                DiagnosticCount(severity=severity.value, code=code, count=count)
                for severity, code, count in found.counts
            ],
            diagnostics=[DiagnosticResult.of(diagnostic) for diagnostic in shown],
            withheld=len(found.kept) - len(shown),
        )

    async def doctor(self, repair: bool, progress: Progress = silent) -> DoctorResult:
        """Look at all stores, or mend them; waits for a publish that is under way here."""
        with self._work("doctor"):
            return await self._doctor(repair, progress)

    async def _doctor(self, repair: bool, progress: Progress) -> DoctorResult:
        async with self.publisher.quiet():
            if not repair:
                return await self.physician.examine()
            try:
                return await self.physician.repair(progress)
            finally:
                self.retrieval.forget()

    async def readiness(self) -> ReadinessResult:
        """Ready when searches can be answered: the graph and a text engine are there. Every engine is reported."""
        deadline = Deadline.after(self.retrieval.settings.readiness_deadline)
        lexical, vectors, graph = await asyncio.gather(
            _report("lexical", self.retrieval.lexical, deadline),
            _report("vector", self.retrieval.vectors, deadline),
            _report("graph", self.retrieval.graph, deadline),
        )
        snapshot, held = Snapshot(content_root=""), 0
        with suppress(TimeoutError, Unavailable):
            async with asyncio.timeout(deadline.seconds_left):
                snapshot = await self.retrieval.store.snapshot()
                # Only a figure: without it the rest of the report stands.
                held = await self.retrieval.vectors.count(snapshot.generation)
        under_way = self._under_way(snapshot)
        return ReadinessResult(
            ready=graph.ready and (lexical.ready or vectors.ready),
            engines=[lexical, vectors, graph],
            content_root=snapshot.content_root,
            generation=snapshot.generation,
            passages=snapshot.passages,
            vectors=held,
            publishing=snapshot.publishing or under_way is not None,
            between_snapshots=snapshot.publishing,
            under_way=under_way,
        )

    def _work(self, name: str) -> AbstractContextManager[Piece]:
        return self.retrieval.observer.observe(Work(Kind.TOOL, name))

    async def close(self) -> None:
        """What it stands on is closed by whoever opened it."""


def _note_findings(piece: Piece, result: PublishResult) -> None:
    for severity, found in Counter(finding.severity for finding in result.diagnostics).items():
        piece.note(findings_fact(Severity(severity)), found)


async def _report(role: str, engine: LexicalIndex | VectorIndex | GraphReader, deadline: Deadline) -> EngineReport:
    try:
        async with asyncio.timeout(deadline.seconds_left):
            await engine.check(deadline)
    except TimeoutError:
        return EngineReport(engine=engine.engine, role=role, ready=False, reason="no answer before the deadline")
    except Unavailable as error:
        return EngineReport(engine=engine.engine, role=role, ready=False, reason=error.message)
    return EngineReport(engine=engine.engine, role=role, ready=True)
