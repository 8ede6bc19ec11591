"""The publish protocol: additive, content-addressed, with one flip between two snapshots.

New passages are added for the next generation, which no reader sees yet; one commit moves the graph and the root; what
the new root no longer names is collected after it. The vectors come before the flip, so that nothing gets harder to
find, except where there is no snapshot that could answer meanwhile. The journal says how far a publish came; whatever
stops it, `recover` brings the stores to one snapshot.
"""

import asyncio
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from service.domain.content import NodeRecord, Passage, content_root
from service.domain.diagnostics import Diagnostic, Severity
from service.domain.errors import PublishFailed, PublishInProgress, RootUnknown
from service.domain.graph import NodeIdentity, ontology_hash
from service.domain.progress import Progress, silent
from service.domain.requests import PublishRequest
from service.domain.results import DiagnosticResult, PublishResult
from service.domain.snapshots import (
    EMPTY_ROOT,
    LinkedGraph,
    PublishEntry,
    PublishStep,
    Snapshot,
    SnapshotChange,
)
from service.ports import EstateReader, GraphStore
from service.publishing.difference import Difference, compare
from service.publishing.estates import Reading, read_estates
from service.publishing.linking import link
from service.publishing.projection import Projections
from service.settings import Settings


@dataclass
class Publisher:
    """One publish at a time: in this process by a lock, between processes by the store's journal."""

    store: GraphStore
    projections: Projections
    readers: Sequence[EstateReader]
    settings: Settings
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _publishing: bool = field(default=False, init=False)

    async def publish(self, request: PublishRequest, progress: Progress = silent) -> PublishResult:
        """Publish folders. Raises EstateUnreadable, PublishFailed (strict, and there were findings; nothing is written)
        or PublishInProgress."""
        async with self._one_at_a_time():
            return await self._publish(request, progress)

    async def rollback(self, content_root: str, progress: Progress = silent) -> PublishResult:
        """Publish a kept snapshot again, under a new generation. Raises RootUnknown, or what `publish` raises."""
        async with self._one_at_a_time():
            started = time.perf_counter()
            await self._recover(progress)
            return await self._finish(await self._plan_rollback(content_root), False, started, progress)

    @asynccontextmanager
    async def quiet(self) -> AsyncIterator[None]:
        """While it lasts, nothing here publishes or recovers."""
        async with self._writing:
            yield

    @asynccontextmanager
    async def _one_at_a_time(self) -> AsyncIterator[None]:
        if self._publishing:
            raise PublishInProgress("A publish is under way here; wait until it is done.")
        self._publishing = True
        try:
            async with self._writing:
                yield
        finally:
            self._publishing = False

    async def recover(self, progress: Progress = silent) -> None:
        """End what an earlier publish left unfinished: take it back before its flip, complete it after."""
        async with self._writing:
            await self._recover(progress)

    async def _publish(self, request: PublishRequest, progress: Progress) -> PublishResult:
        started = time.perf_counter()
        await self._recover(progress)
        reading = await asyncio.to_thread(
            read_estates, request.paths, self.readers, lambda done: progress("reading", done, 0)
        )
        if request.strict:
            _refuse_findings(reading.diagnostics)
        return await self._finish(await self._plan(reading), request.dry_run, started, progress)

    async def _finish(self, plan: "_Plan", dry_run: bool, started: float, progress: Progress) -> PublishResult:
        embedded = 0
        if not dry_run and not plan.difference.is_empty:
            embedded = await self._carry_out(plan, progress)
        return _result(plan, embedded, dry_run, time.perf_counter() - started)

    async def _recover(self, progress: Progress) -> None:
        entry = await self.store.unfinished()
        if entry is None:
            return
        snapshot = await self.store.snapshot()
        if snapshot.generation < entry.generation:
            await self.projections.forget_after(snapshot.generation)
            await self.store.abandon(entry.publish_id)
            return
        manifest = await self.store.manifest()
        records = [record async for record in self.store.records(set(manifest.values()))]
        await self.projections.complete(records, snapshot.generation, progress)
        await self.store.advance(entry.publish_id, PublishStep.COLLECTED)

    async def _plan(self, reading: Reading) -> "_Plan":
        """The docsets that were read, replaced as a whole, beside all others as they are."""
        snapshot = await self.store.snapshot()
        old = await self._manifest(snapshot)
        records = {record.node.identity: record for record in reading.records}
        unread = {held for identity, held in old.items() if not _is_read(identity, held, records)}
        replaced: list[NodeRecord] = []
        async for record in self.store.records(unread):
            identity = record.node.identity
            other = records.get(identity)
            if record.node.docset in reading.docsets:
                replaced.append(record)
            elif other is None or record.node.docset < other.node.docset:
                records[identity] = record
            else:
                replaced.append(record)
        return await self._plan_records(snapshot, old, records, replaced, reading.diagnostics)

    async def _plan_rollback(self, content_root: str) -> "_Plan":
        snapshot = await self.store.snapshot()
        try:
            manifest = await self.store.manifest(content_root)
        except KeyError:
            kept = ", ".join(root.content_root[:12] for root in await self.store.roots()) or "none"
            raise RootUnknown(f"There is no kept snapshot {content_root}. Kept: {kept}.") from None
        old = await self._manifest(snapshot)
        records = {record.node.identity: record async for record in self.store.records(set(manifest.values()))}
        gone = {held for _, held in compare(old, manifest).gone}
        replaced = [record async for record in self.store.records(gone)]
        return await self._plan_records(snapshot, old, records, replaced, ())

    async def _plan_records(
        self,
        snapshot: Snapshot,
        old: Mapping[NodeIdentity, str],
        records: Mapping[NodeIdentity, NodeRecord],
        replaced: Sequence[NodeRecord],
        diagnostics: tuple[Diagnostic, ...],
    ) -> "_Plan":
        new = {identity: record.content_hash for identity, record in records.items()}
        difference = compare(old, new)
        graph = link(records.values(), default_locale=self.settings.default_locale)
        written = [records[identity] for identity in sorted(difference.added | difference.changed)]
        passages = await self.projections.cut(written)
        lost = 0 if difference.is_empty else len(await self.projections.cut(replaced))
        return _Plan(
            previous=snapshot,
            manifest=new,
            difference=difference,
            graph=graph,
            written=written,
            passages=tuple(passages),
            total_passages=snapshot.passages + len(passages) - lost,
            diagnostics=diagnostics,
        )

    async def _manifest(self, snapshot: Snapshot) -> dict[NodeIdentity, str]:
        return await self.store.manifest() if snapshot.content_root != EMPTY_ROOT else {}

    async def _carry_out(self, plan: "_Plan", progress: Progress) -> int:
        now = datetime.now(UTC).isoformat(timespec="seconds")
        generation = plan.previous.generation + 1
        entry = PublishEntry(
            publish_id=uuid.uuid4().hex,
            generation=generation,
            previous_root=plan.previous.content_root,
            content_root=plan.content_root,
            step=PublishStep.BEGUN,
            started_at=now,
        )
        await self.store.begin(entry)
        await self.projections.add_lexical(plan.passages, generation, progress)
        await self.store.advance(entry.publish_id, PublishStep.LEXICAL_ADDED)
        answers_meanwhile = plan.previous.content_root != EMPTY_ROOT
        embedded = 0
        if answers_meanwhile:
            embedded = await self.projections.add_vectors(plan.passages, generation, progress)
            await self.store.advance(entry.publish_id, PublishStep.VECTORS_ADDED)
        progress("committing", 0, 0)
        await self.store.commit(self._change(plan, entry))
        if not answers_meanwhile:
            embedded = await self.projections.add_vectors(plan.passages, generation, progress)
        await self.projections.collect(plan.difference.gone)
        await self.store.advance(entry.publish_id, PublishStep.COLLECTED)
        await self.store.keep(self.settings.kept_roots)
        return embedded

    def _change(self, plan: "_Plan", entry: PublishEntry) -> SnapshotChange:
        return SnapshotChange(
            entry=replace(entry, step=PublishStep.COMMITTED),
            snapshot=Snapshot(
                content_root=plan.content_root,
                generation=entry.generation,
                ontology_hash=ontology_hash(),
                nodes=len(plan.graph.nodes),
                edges=len(plan.graph.edges),
                passages=plan.total_passages,
                published_at=entry.started_at,
            ),
            manifest=plan.manifest,
            records=tuple(plan.written),
            graph=plan.graph,
            previous_graph=self._current_graph,
        )

    async def _current_graph(self) -> LinkedGraph:
        manifest = await self.store.manifest()
        records = [record async for record in self.store.records(set(manifest.values()))]
        return link(records, default_locale=self.settings.default_locale)


@dataclass(frozen=True)
class _Plan:
    """All that a publish will do, before it does any of it."""

    previous: Snapshot
    manifest: Mapping[NodeIdentity, str]
    difference: Difference
    graph: LinkedGraph
    written: Sequence[NodeRecord]
    passages: tuple[Passage, ...]
    total_passages: int
    diagnostics: tuple[Diagnostic, ...]

    @property
    def content_root(self) -> str:
        return content_root(self.manifest) if self.manifest else EMPTY_ROOT


def _is_read(identity: NodeIdentity, content_hash: str, read: Mapping[NodeIdentity, NodeRecord]) -> bool:
    return identity in read and read[identity].content_hash == content_hash


def _refuse_findings(diagnostics: Sequence[Diagnostic]) -> None:
    counts = Counter(d.severity for d in diagnostics if d.severity is not Severity.NOTE)
    if counts:
        said = ", ".join(f"{count} of severity {severity}" for severity, count in sorted(counts.items()))
        raise PublishFailed(f"Nothing was published: strict, and there were findings ({said}). A dry run lists them.")


def _result(plan: _Plan, embedded: int, dry_run: bool, seconds: float) -> PublishResult:
    difference = plan.difference
    return PublishResult(
        nodes=plan.graph.kind_counts,
        edges=plan.graph.edge_counts,
        passages=plan.total_passages,
        added=len(difference.added),
        changed=len(difference.changed),
        removed=len(difference.removed),
        unchanged=difference.unchanged,
        diagnostics=[
            DiagnosticResult(
                severity=found.severity.value,
                code=found.code,
                file=found.file,
                line=found.line,
                column=found.column,
                message=found.message,
                fix=found.fix,
            )
            for found in plan.diagnostics
        ],
        content_root=plan.content_root,
        generation=plan.previous.generation + (0 if dry_run or difference.is_empty else 1),
        embedded=embedded,
        dry_run=dry_run,
        seconds=seconds,
    )
