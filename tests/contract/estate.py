"""A small estate that the contracts are told on, with the names and texts that break engines."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import Any

from service.domain.content import NodeRecord, Passage, content_root
from service.domain.deadline import Deadline
from service.domain.filters import NodeFilter, SearchScope
from service.domain.graph import EdgeType, Node, NodeIdentity, NodeKind, Reference
from service.domain.principal import ANONYMOUS, Principal
from service.domain.snapshots import LinkedGraph, PublishEntry, PublishStep, Snapshot, SnapshotChange
from service.ports import GraphStore
from service.publishing.linking import link

STAFF = Principal(name="staff", audiences=frozenset({"staff"}))

HOSTILE_TEXTS = [
    "",
    "   ",
    "C#",
    "/b testing",
    "tb-",
    '"unbalanced',
    "node:",
    "*",
    "title:slot~2 AND NOT (text:[a TO b])^3",
    "🎉🎉",
    "مرحبا بالعالم",
    "a\x00b",
    "\ud800",
    "slot \udfff",
    "slot " * 2_000,
    "x" * 10_000,
    "a b c d e f g h i j k l m n o p q r s t u v w x y z " * 10,
    "`) MATCH (n) DETACH DELETE n //",
]

HOSTILE_UIDS = [
    "with spaces",
    "System.Collections.Generic.List`1",
    "M:Foo.Bar(System.String,System.Int32[])",
    "operator*",
    "page#fragment",
    "a:b:c",
    "quote'\"\\",
    "$params ${x} {{y}}",
    "naïve/日本語/🎉",
    "عربي",
    "line\nbreak\ttab",
    "en-us:nested",
    "U" * 500,
]


def soon() -> Deadline:
    """Far enough for a busy machine."""
    return Deadline.after(20_000)


def gone() -> Deadline:
    return Deadline.after(-1)


def scope(generation: int = 1, principal: Principal = ANONYMOUS, **filter: Any) -> SearchScope:
    return SearchScope.of(principal, generation, NodeFilter.from_mapping(filter))


def node(
    uid: str, title: str = "Untitled", *, locale: str = "en-us", kind: NodeKind = NodeKind.PAGE, **rest: Any
) -> Node:
    return Node(NodeIdentity(uid, locale), kind, title, **rest)


def passage(
    uid: str, text: str, number: int = 0, *, content_hash: str = "0" * 64, heading: str = "", **rest: Any
) -> Passage:
    return Passage(node(uid, **rest), content_hash, number, heading, heading.lower(), text)


def record(uid: str, *references: Reference, **rest: Any) -> NodeRecord:
    return NodeRecord(node(uid, **rest), (), references)


def refers(type: EdgeType, target: str, **rest: Any) -> Reference:
    return Reference(type, target, "test", "page.md", 1, **rest)


def linked(records: Sequence[NodeRecord]) -> LinkedGraph:
    return link(records, default_locale="en-us")


def rebuilt(records: Iterable[NodeRecord]) -> LinkedGraph:
    """As stores are given it."""
    return linked(list(records))


def change(
    records: Sequence[NodeRecord],
    before: Snapshot,
    *,
    publish_id: str,
    held: Sequence[NodeRecord] = (),
    replaced: Sequence[NodeRecord] = (),
) -> SnapshotChange:
    """The commit that makes these records the next snapshot.

    held: records that the store has already; replaced: those of the snapshot that this one replaces.
    """
    manifest = {record.node.identity: record.content_hash for record in records}
    graph, root = linked(records), content_root(manifest)
    now = datetime.now(UTC).isoformat()
    generation = before.generation + 1

    async def previous() -> LinkedGraph:
        return linked(replaced)

    return SnapshotChange(
        entry=PublishEntry(publish_id, generation, before.content_root, root, PublishStep.BEGUN, now),
        snapshot=Snapshot(root, generation, "ontology", len(graph.nodes), len(graph.edges), 0, now),
        manifest=manifest,
        records=tuple(record for record in records if record not in held),
        graph=graph,
        previous_graph=previous,
    )


async def publish(
    store: GraphStore, records: Sequence[NodeRecord], *, publish_id: str = "p1", held: Sequence[NodeRecord] = ()
) -> Snapshot:
    """Carry a publish through, from its first entry in the journal to its last."""
    replaced = [each async for each in store.records(set((await store.manifest()).values()))]
    moved = change(records, await store.snapshot(), publish_id=publish_id, held=held, replaced=replaced)
    await store.begin(moved.entry)
    await store.commit(moved)
    await store.advance(publish_id, PublishStep.COLLECTED)
    return moved.snapshot
