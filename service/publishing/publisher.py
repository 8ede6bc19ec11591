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
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime

from service.domain.diagnostics import Diagnostic, PublishDiagnostics, Severity
from service.domain.errors import PublishFailed, PublishInProgress
from service.domain.graph import ontology_hash
from service.domain.progress import Activity, Progress, silent
from service.domain.requests import PublishRequest
from service.domain.results import DiagnosticResult, PublishResult
from service.domain.snapshots import (
    EMPTY_ROOT,
    PublishEntry,
    PublishStep,
    Snapshot,
    SnapshotChange,
)
from service.domain.submission import Submission
from service.ports import EstateReader, GraphStore, Migrator
from service.publishing.collector import patient_collector
from service.publishing.estates import Reading, read_estates
from service.publishing.finding_readers import classes_of, readers_of
from service.publishing.journal import Journal
from service.publishing.plan import Plan, Planner
from service.publishing.projection import Projections
from service.publishing.snapshot import current_graph, current_records
from service.publishing.submitting import held_hashes, submitted_reading
from service.settings import Settings


@dataclass
class Publisher:
    """One publish at a time: in this process by a lock, between processes by the store's journal."""

    store: GraphStore
    projections: Projections
    readers: Sequence[EstateReader]
    settings: Settings
    migrators: Sequence[Migrator] = ()
    planner: Planner = field(init=False)
    activity: Activity = field(default_factory=Activity, init=False)
    _writing: asyncio.Lock = field(default_factory=asyncio.Lock, init=False)
    _migrated: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        self.planner = Planner(self.store, self.projections, self.settings)

    async def publish(self, request: PublishRequest, progress: Progress = silent) -> PublishResult:
        """Publish folders. Raises EstateUnreadable, PublishFailed (strict, and there were findings; nothing is written)
        or PublishInProgress."""
        async with self._one_at_a_time(progress) as progress:
            started = time.perf_counter()
            await self._recover(progress)
            reading = await asyncio.to_thread(
                read_estates, request.paths, self.readers, lambda done: progress("reading", done, 0)
            )
            return await self._publish(reading, request.strict, request.dry_run, started, progress)

    async def submit(self, submission: Submission, progress: Progress = silent) -> PublishResult:
        """Publish what a client has read. Raises SubmissionInvalid, RecordsMissing, or what `publish` raises."""
        async with self._one_at_a_time(progress) as progress:
            started = time.perf_counter()
            await self._recover(progress)
            progress("checking", 0, len(submission.manifest))
            reading = await submitted_reading(submission, self.store)
            return await self._publish(reading, submission.strict, submission.dry_run, started, progress)

    async def missing(self, hashes: Sequence[str]) -> list[str]:
        """Those of these content hashes of which no kept snapshot has a record."""
        held = await held_hashes(self.store)
        return [wanted for wanted in hashes if wanted not in held]

    async def rollback(self, content_root: str, progress: Progress = silent) -> PublishResult:
        """Publish a kept snapshot again, under a new generation. Raises RootUnknown, or what `publish` raises."""
        async with self._one_at_a_time(progress) as progress:
            started = time.perf_counter()
            await self._recover(progress)
            return await self._finish(await self.planner.rollback(content_root), False, started, progress)

    @asynccontextmanager
    async def quiet(self) -> AsyncIterator[None]:
        """While it lasts, nothing here publishes or recovers."""
        async with self._writing:
            yield

    @asynccontextmanager
    async def _one_at_a_time(self, progress: Progress) -> AsyncIterator[Progress]:
        if self.activity.stage:
            raise PublishInProgress("A publish is under way here; wait until it is done.")
        with self.activity.under_way(progress) as told:
            async with self._writing:
                with patient_collector():
                    yield told

    async def recover(self, progress: Progress = silent) -> None:
        """Bring the engines' schemas up to date, and end what an earlier publish left unfinished: take it back before
        its flip, complete it after. Raises PublishInProgress while another publisher has it in hand."""
        async with self._writing:
            await self._recover(progress)

    async def catch_up(self, progress: Progress = silent) -> None:
        """Fill the vector index where it holds less than the snapshot: another model's settings published last."""
        async with self._writing:
            snapshot = await self.store.snapshot()
            if await self.projections.vectors.count(snapshot.generation) >= snapshot.passages:
                return
            await self.projections.complete(await current_records(self.store), snapshot.generation, progress)

    async def _publish(
        self, reading: Reading, strict: bool, dry_run: bool, started: float, progress: Progress
    ) -> PublishResult:
        plan = await self.planner.reading(reading)
        if strict:
            _refuse_findings(plan.diagnostics, self.settings.kept_diagnostics)
        result = await self._finish(plan, dry_run, started, progress)
        if not dry_run:
            await self.store.keep_diagnostics(self._diagnostics(plan, reading))
        return result

    async def _finish(self, plan: Plan, dry_run: bool, started: float, progress: Progress) -> PublishResult:
        embedded = 0
        if not dry_run and not plan.difference.is_empty:
            embedded = await self._carry_out(plan, progress)
        return _result(plan, embedded, dry_run, time.perf_counter() - started)

    def _diagnostics(self, plan: Plan, reading: Reading) -> PublishDiagnostics:
        docsets = reading.docsets
        return PublishDiagnostics.of(
            plan.diagnostics,
            published_at=datetime.now(UTC).isoformat(timespec="seconds"),
            content_root=plan.content_root,
            docsets=docsets,
            most=self.settings.kept_diagnostics,
            readers=readers_of(plan.graph.nodes.values(), docsets, prefixed=reading.is_prefixed),
            classes=classes_of(plan.graph.nodes.values(), docsets),
        )

    async def _recover(self, progress: Progress) -> None:
        if not self._migrated:
            for migrator in self.migrators:
                await migrator.apply()
            self._migrated = True
        entry = await self.store.unfinished()
        if entry is None:
            return
        if entry.silent_seconds < self.settings.publish_lease:
            raise PublishInProgress(
                f"Another publisher is at work: it began {entry.started_at} and was last heard of "
                f"{entry.silent_seconds:.0f} s ago. Wait until it is done, or, if it died, "
                f"until it has been silent for {self.settings.publish_lease} s."
            )
        snapshot = await self.store.snapshot()
        if snapshot.generation < entry.generation:
            await self.store.abandon(entry.publish_id)
            if await self.store.unfinished() is not None:
                raise PublishInProgress("Another publisher committed just now; wait until it is done.")
            await self.projections.forget_after(snapshot.generation)
            return
        await self.projections.complete(await current_records(self.store), snapshot.generation, progress)
        await self.store.advance(entry.publish_id, PublishStep.COLLECTED)

    async def _carry_out(self, plan: Plan, progress: Progress) -> int:
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
        journal = Journal(self.store, entry.publish_id, self.settings.publish_lease)
        async with journal.alive():
            await self.projections.forget_after(plan.previous.generation)
            await self.projections.add_lexical(plan.passages, generation, progress)
            await journal.reach(PublishStep.LEXICAL_ADDED)
            answers_meanwhile = plan.previous.content_root != EMPTY_ROOT
            embedded = 0
            if answers_meanwhile:
                embedded = await self.projections.add_vectors(plan.passages, generation, progress)
                await journal.reach(PublishStep.VECTORS_ADDED)
            progress("committing", 0, 0)
            await journal.commit(self._change(plan, entry))
            if not answers_meanwhile:
                embedded = await self.projections.add_vectors(plan.passages, generation, progress)
            await self.projections.collect(plan.difference.gone)
        await journal.reach(PublishStep.COLLECTED)
        await self.store.keep(self.settings.kept_roots)
        return embedded

    def _change(self, plan: Plan, entry: PublishEntry) -> SnapshotChange:
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
            previous_graph=lambda: current_graph(self.store, self.settings.default_locale),
        )


def _refuse_findings(diagnostics: Sequence[Diagnostic], most: int) -> None:
    """Raises PublishFailed for what is graver than a note; the error lists `most` of it, the gravest first."""
    grave = list(Severity)
    found = sorted(
        (found for found in diagnostics if found.severity is not Severity.NOTE),
        key=lambda found: (grave.index(found.severity), found),
    )
    if found:
        counts = Counter((found.severity, found.code) for found in found)
        said = ", ".join(f"{severity} {code} {count}" for (severity, code), count in counts.items())
        raise PublishFailed(
            f"Nothing was published: strict, and there were findings ({said}). Mend them, or publish without strict.",
            found[:most],
        )


def _result(plan: Plan, embedded: int, dry_run: bool, seconds: float) -> PublishResult:
    difference = plan.difference
    return PublishResult(
        nodes=plan.graph.kind_counts,
        edges=plan.graph.edge_counts,
        passages=plan.total_passages,
        added=len(difference.added),
        changed=len(difference.changed),
        removed=len(difference.removed),
        unchanged=difference.unchanged,
        diagnostics=[DiagnosticResult.of(found) for found in plan.diagnostics],
        content_root=plan.content_root,
        generation=plan.previous.generation + (0 if dry_run or difference.is_empty else 1),
        embedded=embedded,
        dry_run=dry_run,
        seconds=seconds,
    )
