"""What a publish will do, worked out before it does any of it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

from service.domain.content import NodeRecord, Passage, content_root
from service.domain.diagnostics import Diagnostic
from service.domain.errors import RootUnknown
from service.domain.graph import NodeIdentity
from service.domain.snapshots import EMPTY_ROOT, LinkedGraph, Snapshot
from service.ports import GraphStore
from service.publishing.difference import Difference, compare
from service.publishing.estates import Reading
from service.publishing.graph_findings import graph_findings
from service.publishing.linking import link
from service.publishing.projection import Projections
from service.publishing.snapshot import records_with
from service.settings import Settings


@dataclass(frozen=True)
class Plan:
    """All that a publish will do, before it does any of it."""

    previous: Snapshot
    manifest: Mapping[NodeIdentity, str]
    difference: Difference
    graph: LinkedGraph
    written: Sequence[NodeRecord]
    passages: tuple[Passage, ...]
    total_passages: int
    diagnostics: tuple[Diagnostic, ...]

    @cached_property
    def content_root(self) -> str:
        return content_root(self.manifest) if self.manifest else EMPTY_ROOT


@dataclass
class Planner:
    """Compares what is to be published with the current snapshot; writes nothing."""

    store: GraphStore
    projections: Projections
    settings: Settings
    _linked: tuple[Mapping[NodeIdentity, str], LinkedGraph] | None = field(default=None, init=False)
    """The last manifest that was linked, with its graph."""

    async def reading(self, reading: Reading) -> "Plan":
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
        plan = await self._plan(snapshot, old, records, replaced, reading.diagnostics)
        linked = graph_findings(plan.graph, reading.docsets, prefixed=reading.is_prefixed)
        return replace(plan, diagnostics=tuple(sorted((*plan.diagnostics, *linked))))

    async def rollback(self, content_root: str) -> "Plan":
        snapshot = await self.store.snapshot()
        try:
            manifest = await self.store.manifest(content_root)
        except KeyError:
            kept = ", ".join(root.content_root[:12] for root in await self.store.roots()) or "none"
            raise RootUnknown(f"There is no kept snapshot {content_root}. Kept: {kept}.") from None
        old = await self._manifest(snapshot)
        kept_records = await records_with(self.store, set(manifest.values()))
        records = {record.node.identity: record for record in kept_records}
        replaced = await records_with(self.store, {held for _, held in compare(old, manifest).gone})
        return await self._plan(snapshot, old, records, replaced, ())

    async def _plan(
        self,
        snapshot: Snapshot,
        old: Mapping[NodeIdentity, str],
        records: Mapping[NodeIdentity, NodeRecord],
        replaced: Sequence[NodeRecord],
        diagnostics: tuple[Diagnostic, ...],
    ) -> "Plan":
        new = {identity: record.content_hash for identity, record in records.items()}
        difference = compare(old, new)
        graph = self._graph(new, records)
        written = [records[identity] for identity in sorted(difference.added | difference.changed)]
        passages = await self.projections.cut(written)
        lost = 0 if difference.is_empty else len(await self.projections.cut(replaced))
        return Plan(
            previous=snapshot,
            manifest=new,
            difference=difference,
            graph=graph,
            written=written,
            passages=tuple(passages),
            total_passages=snapshot.passages + len(passages) - lost,
            diagnostics=diagnostics,
        )

    def _graph(self, manifest: Mapping[NodeIdentity, str], records: Mapping[NodeIdentity, NodeRecord]) -> LinkedGraph:
        """Linking is a pure function of the records, and the manifest names them by their content."""
        if self._linked is None or self._linked[0] != manifest:
            self._linked = manifest, link(records.values(), default_locale=self.settings.default_locale)
        return self._linked[1]

    async def _manifest(self, snapshot: Snapshot) -> dict[NodeIdentity, str]:
        return await self.store.manifest() if snapshot.content_root != EMPTY_ROOT else {}


def _is_read(identity: NodeIdentity, content_hash: str, read: Mapping[NodeIdentity, NodeRecord]) -> bool:
    return identity in read and read[identity].content_hash == content_hash
