"""The estate's nodes as documents: one by uid, or page after page by identity."""

from collections.abc import Mapping, Sequence
from typing import Any

from service.domain.content import BlockKind, NodeRecord, Section
from service.domain.deadline import Deadline
from service.domain.documents import (
    ChoiceResult,
    Document,
    DocumentPage,
    DocumentSection,
    HeadingResult,
    QuestionResult,
    QuizResult,
    SnapshotResult,
    SourceResult,
    SummaryPage,
)
from service.domain.filters import NodeFilter
from service.domain.principal import Principal
from service.domain.quizzes import question_from_text
from service.domain.requests import EstateRequest, NodeRequest, SnapshotRequest
from service.domain.snapshots import Snapshot
from service.retrieval import paging
from service.retrieval.consistent import of_one_snapshot
from service.retrieval.engines import Retrieval
from service.retrieval.listing import summary_of
from service.retrieval.sizes import fitting, size_of
from service.statements import documents as documents_statement
from service.statements import list_nodes, nodes_by_uid
from service.tools.docs_fetch import section_result
from service.tools.entries import Row, entries_of, entry_fields
from service.tools.names import locate_exactly


async def snapshot(request: SnapshotRequest, _principal: Principal, retrieval: Retrieval) -> SnapshotResult:
    """Raises EngineUnavailable while the store has never named one."""
    answering = await retrieval.store.snapshot()
    tuned, _ = await retrieval.tunings.current(request.workspace, retrieval.deadline())
    return SnapshotResult(
        content_root=answering.content_root,
        generation=answering.generation,
        ontology_hash=answering.ontology_hash,
        nodes=answering.nodes,
        published_at=answering.published_at,
        publishing=answering.publishing,
        degraded=answering.notes,
        tuning_version=tuned.version,
    )


async def document(request: NodeRequest, principal: Principal, retrieval: Retrieval) -> Document:
    """Raises NodeUnknown for a node that does not exist or that the principal may not see, alike."""
    deadline = retrieval.deadline()

    async def read(answering: Snapshot) -> Document:
        identity = await locate_exactly(request.uid, request.locale, principal, retrieval, deadline)
        found = documents_statement(
            NodeFilter(locale=(identity.locale,)), principal.audiences, after="", limit=1, uids=[identity.uid]
        )
        rows = (await retrieval.graph.run(found, deadline=deadline)).by_column()
        return (await _documents(rows, answering, principal, retrieval, deadline))[0]

    return await of_one_snapshot(retrieval.store, read)


async def documents(request: EstateRequest, principal: Principal, retrieval: Retrieval) -> DocumentPage:
    """One page. Raises `Refused`; CursorStale once the estate was published anew since the page before."""
    settings = retrieval.settings
    deadline = retrieval.deadline()
    narrowed = NodeFilter.from_mapping(request.filter)

    async def read(answering: Snapshot) -> DocumentPage:
        position = paging.place(request, principal, answering, settings)
        statement = documents_statement(narrowed, principal.audiences, after=position, limit=settings.document_page + 1)
        rows = (await retrieval.graph.run(statement, deadline=deadline)).by_column()
        shown = rows[: settings.document_page]
        made = await _documents(shown, answering, principal, retrieval, deadline)
        fit = fitting(made, settings.result_bytes)
        more = len(rows) > fit
        return DocumentPage(
            documents=made[:fit],
            next_cursor=paging.onwards(request, principal, answering, shown[fit - 1]["key"]) if more else None,
            content_root=answering.content_root,
        )

    return await of_one_snapshot(retrieval.store, read)


async def summaries(request: EstateRequest, principal: Principal, retrieval: Retrieval) -> SummaryPage:
    """As `documents`, in short."""
    settings = retrieval.settings
    deadline = retrieval.deadline()
    narrowed = NodeFilter.from_mapping(request.filter)

    async def read(answering: Snapshot) -> SummaryPage:
        position = paging.place(request, principal, answering, settings)
        statement = list_nodes(narrowed, principal.audiences, after=position, limit=settings.summary_page + 1)
        rows = (await retrieval.graph.run(statement, deadline=deadline)).by_column()
        made = [summary_of(row) for row in rows[: settings.summary_page]]
        fit = fitting(made, settings.result_bytes)
        more = len(rows) > fit
        return SummaryPage(
            nodes=made[:fit],
            next_cursor=paging.onwards(request, principal, answering, rows[fit - 1]["key"]) if more else None,
            content_root=answering.content_root,
        )

    return await of_one_snapshot(retrieval.store, read)


async def _documents(
    rows: Sequence[Row], answering: Snapshot, principal: Principal, retrieval: Retrieval, deadline: Deadline
) -> list[Document]:
    entries = await entries_of(rows, principal, retrieval, deadline)
    locales = await _locales([row["uid"] for row in rows], principal, retrieval, deadline)
    hashes = {row["contentHash"] for row in rows if row["contentHash"] is not None}
    records = {record.content_hash: record async for record in retrieval.store.records(hashes, deadline=deadline)}
    return [
        Document(
            **entry_fields(entry),
            **_text(records.get(row["contentHash"]), retrieval.settings.result_bytes),
            source=SourceResult(docset=row["docset"], path=row["path"], workspace=row["workspace"]),
            audience=row["audience"] or [],
            region=row["region"] or [],
            moniker_range=row["monikerRange"],
            locales=locales.get(row["uid"], [row["locale"]]),
            content_hash=row["contentHash"],
            content_root=answering.content_root,
        )
        for row, entry in zip(rows, entries, strict=True)
    ]


async def _locales(
    uids: Sequence[str], principal: Principal, retrieval: Retrieval, deadline: Deadline
) -> Mapping[str, list[str]]:
    statement = nodes_by_uid(dict.fromkeys(uids), principal.audiences)
    found: dict[str, list[str]] = {}
    for row in (await retrieval.graph.run(statement, deadline=deadline)).by_column():
        found.setdefault(row["uid"], []).append(row["locale"])
    return {uid: sorted(locales) for uid, locales in found.items()}


def _text(record: NodeRecord | None, most: int) -> dict[str, Any]:
    """Headings, sections and quiz of a node that has a source."""
    written = record.sections if record else ()
    quiz = next((section for section in written if _is_quiz(section)), None)
    prose = [section for section in written if not _is_quiz(section)]
    headings = [
        HeadingResult(text=section.heading, anchor=section.anchor, level=section.level)
        for section in prose
        if section.heading
    ]
    sections = [DocumentSection(**section_result(section).model_dump()) for section in prose]
    shown, truncated = _cut(sections, most // 2)
    return {"headings": headings, "sections": shown, "truncated": truncated, "quiz": _quiz(quiz) if quiz else None}


def _cut(sections: Sequence[DocumentSection], most: int) -> tuple[list[DocumentSection], bool]:
    """The sections that fit into `most` bytes of JSON, the first one's text cut short where not even that does; and
    whether anything was cut."""
    fit = fitting(sections, most)
    shown = list(sections[:fit])
    if shown and size_of(shown[0]) > most:
        longest = most // 6 - 1_000  # characters: what JSON must escape takes up to six bytes
        return [shown[0].model_copy(update={"text": shown[0].text[:longest]})], True
    return shown, fit < len(sections)


def _is_quiz(section: Section) -> bool:
    return bool(section.blocks) and all(block.kind is BlockKind.QUIZ for block in section.blocks)


def _quiz(section: Section) -> QuizResult:
    questions = [question_from_text(block.text) for block in section.blocks]
    return QuizResult(
        title=section.heading,
        questions=[
            QuestionResult(
                content=question.content,
                choices=[
                    ChoiceResult(content=choice.content, is_correct=choice.is_correct, explanation=choice.explanation)
                    for choice in question.choices
                ],
            )
            for question in questions
        ],
    )
