"""The doctor: proves that the graph and both text engines hold the same snapshot, and mends what differs."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from service.domain.content import content_root
from service.domain.deadline import Deadline
from service.domain.progress import Progress, silent
from service.domain.results import DoctorResult, Finding
from service.domain.snapshots import LinkedGraph
from service.ports import GraphReader, GraphStore
from service.publishing.linking import link
from service.publishing.projection import Projections
from service.publishing.snapshot import current_records, records_with
from service.settings import Settings
from service.statements import all_edge_counts, all_nodes

_EXAMPLES = 5
"""Names that a finding shows of what it counts."""

_NODES_AT_ONCE = 5_000


@dataclass(frozen=True)
class Doctor:
    """Looks at one snapshot; not to be asked while a publish is under way."""

    store: GraphStore
    graph: GraphReader
    projections: Projections
    settings: Settings

    async def examine(self) -> DoctorResult:
        """Every difference between what the manifest names and what each store holds. Changes nothing."""
        snapshot = await self.store.snapshot()
        manifest = await self.store.manifest()
        records = await records_with(self.store, set(manifest.values()))
        findings: list[Finding] = []
        unfinished = await self.store.unfinished()
        if unfinished is not None:
            findings.append(_finding("journal", "unfinished_publish", [unfinished.publish_id]))
        lost = set(manifest.values()) - {record.content_hash for record in records}
        findings += _differing("records", "record_missing", lost)
        if manifest and content_root(manifest) != snapshot.content_root:
            findings.append(_finding("records", "root_differs", [snapshot.content_root]))
        graph = link(records, default_locale=self.settings.default_locale)
        findings += await self._graph_findings(graph)
        expected = {passage.key for passage in await self.projections.cut(records)}
        for store, held in (
            (self.projections.lexical.engine, await self.projections.lexical.keys(snapshot.generation)),
            (self.projections.vectors.engine, await self.projections.vectors.keys(snapshot.generation)),
        ):
            findings += _differing(store, "passage_missing", map(str, sorted(expected - held)))
            findings += _differing(store, "passage_left_over", map(str, sorted(held - expected)))
        return DoctorResult(
            healthy=not findings,
            findings=findings,
            content_root=snapshot.content_root,
            generation=snapshot.generation,
            nodes=len(graph.nodes),
            records=len(manifest),
            passages=len(expected),
        )

    async def repair(self, progress: Progress = silent) -> DoctorResult:
        """Make all stores hold the manifest's snapshot, then examine again. The graph is linked anew from records."""
        snapshot = await self.store.snapshot()
        records = await current_records(self.store)
        graph = link(records, default_locale=self.settings.default_locale)
        if any(finding.store == self.graph.engine for finding in await self._graph_findings(graph)):
            await self.store.restore(graph)
        await self.projections.complete(records, snapshot.generation, progress)
        return await self.examine()

    async def _graph_findings(self, expected: LinkedGraph) -> list[Finding]:
        """Nodes by key and content hash, edges by type and markup."""
        deadline = Deadline.after(self.settings.doctor_deadline)
        held: dict[str, str | None] = {}
        after = ""
        while True:
            rows = await self.graph.run(all_nodes(after=after, limit=_NODES_AT_ONCE), deadline=deadline)
            held |= {str(key): content_hash for key, content_hash in rows.rows}
            if len(rows.rows) < _NODES_AT_ONCE:
                break
            after = rows.rows[-1][0]
        wanted = {identity.key: expected.content_hashes.get(identity) for identity in expected.nodes}
        counted = await self.graph.run(all_edge_counts(), deadline=deadline)
        edges = {(str(kind), str(via)): int(total) for kind, via, total in counted.rows}
        linked = Counter((edge.type.value, edge.via) for edge in expected.edges)
        store = self.graph.engine
        differing = [key for key in wanted.keys() & held.keys() if wanted[key] != held[key]]
        miscounted = [name for name in linked.keys() | edges if linked[name] != edges.get(name, 0)]
        return [
            *_differing(store, "node_missing", wanted.keys() - held.keys()),
            *_differing(store, "node_left_over", held.keys() - wanted.keys()),
            *_differing(store, "node_differs", differing),
            *_differing(store, "edges_differ", [f"{kind} via {via}" for kind, via in miscounted]),
        ]


def _differing(store: str, code: str, names: Iterable[str]) -> list[Finding]:
    """One finding for all of these names, or none."""
    ordered = sorted(names)
    return [_finding(store, code, ordered)] if ordered else []


def _finding(store: str, code: str, names: list[str]) -> Finding:
    return Finding(store=store, code=code, count=len(names), examples=names[:_EXAMPLES])
