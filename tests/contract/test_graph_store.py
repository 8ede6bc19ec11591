"""What the service relies on in any graph store: one flip between two snapshots, and a journal between them."""

import asyncio
from dataclasses import replace

import pytest

import service.statements as statements
from service.domain.content import Block, BlockKind, NodeRecord, Section
from service.domain.diagnostics import Diagnostic, PublishDiagnostics, Severity
from service.domain.errors import PublishInProgress
from service.domain.filters import NodeFilter
from service.domain.graph import EVERYONE, EdgeType, NodeIdentity, NodeKind
from service.domain.snapshots import PublishStep, Snapshot
from service.ports import GraphStore
from tests.contract.conftest import Graph
from tests.contract.estate import HOSTILE_TEXTS, HOSTILE_UIDS, change, publish, record, refers, soon

pytestmark = pytest.mark.anyio

ANYONE = frozenset({EVERYONE})


def manifest_of(*records: NodeRecord) -> dict[NodeIdentity, str]:
    return {each.node.identity: each.content_hash for each in records}


async def stored(store: GraphStore, *records: NodeRecord) -> list[NodeRecord]:
    found = [each async for each in store.records([each.content_hash for each in records])]
    return sorted(found, key=lambda each: each.node.identity)


async def test_nothing_was_ever_published(graph: Graph) -> None:
    assert await graph.store.snapshot() == Snapshot()
    assert await graph.store.manifest() == {}
    assert await graph.store.roots() == []
    assert await graph.store.unfinished() is None
    assert await stored(graph.store, record("a")) == []
    with pytest.raises(KeyError):
        await graph.store.manifest("f" * 64)


async def test_a_publish_from_its_first_entry_to_its_last(graph: Graph) -> None:
    store, records = graph.store, [record("a", refers(EdgeType.XREF, "b")), record("b")]
    moved = change(records, await store.snapshot(), publish_id="p1")
    await store.begin(moved.entry)
    assert await store.unfinished() == moved.entry
    for step in (PublishStep.LEXICAL_ADDED, PublishStep.VECTORS_ADDED):
        await store.advance("p1", step)
        assert await store.unfinished() == replace(moved.entry, step=step)
    assert await store.snapshot() == Snapshot()
    await store.commit(moved)
    assert await store.unfinished() == replace(moved.entry, step=PublishStep.COMMITTED)
    assert await store.snapshot() == moved.snapshot
    assert await store.manifest() == await store.manifest(moved.snapshot.content_root) == manifest_of(*records)
    assert await store.roots() == [moved.snapshot]
    await store.advance("p1", PublishStep.COLLECTED)
    assert await store.unfinished() is None
    assert await store.snapshot() == moved.snapshot


async def test_a_record_comes_back_as_it_was(graph: Graph) -> None:
    """Whatever a source may hold, and a graph of records says the same after it was stored."""
    extra = {"order": 1, "share": 0.5, "preview": True}
    rich = [
        replace(
            record(uid, refers(EdgeType.XREF, other), title=text, kind=NodeKind.CODE_SAMPLE, extra=extra),
            sections=(
                Section(text, "anchor", 2, (Block(BlockKind.CODE, text, 7, "csharp"),), moniker_range=">= net-8.0"),
            ),
        )
        for uid, other, text in zip(HOSTILE_UIDS, reversed(HOSTILE_UIDS), HOSTILE_TEXTS, strict=False)
        if "\ud800" not in text and "\udfff" not in text
    ]
    await publish(graph.store, rich)
    assert await stored(graph.store, *rich) == sorted(rich, key=lambda each: each.node.identity)
    assert await graph.store.manifest() == manifest_of(*rich)


async def test_one_publish_at_a_time(graph: Graph) -> None:
    store = graph.store
    first = change([record("a")], await store.snapshot(), publish_id="first")
    await store.begin(first.entry)
    with pytest.raises(PublishInProgress):
        await store.begin(replace(first.entry, publish_id="second"))
    assert await store.unfinished() == first.entry
    await store.abandon("first")
    assert await store.unfinished() is None
    assert await store.snapshot() == Snapshot()
    await publish(store, [record("a")], publish_id="third")


async def test_a_committed_publish_can_not_be_abandoned(graph: Graph) -> None:
    moved = change([record("a")], await graph.store.snapshot(), publish_id="p1")
    await graph.store.begin(moved.entry)
    await graph.store.commit(moved)
    await graph.store.abandon("p1")
    assert await graph.store.snapshot() == moved.snapshot
    assert await graph.store.unfinished() == replace(moved.entry, step=PublishStep.COMMITTED)


async def test_a_commit_that_is_not_in_the_journal_changes_nothing(graph: Graph) -> None:
    before = await publish(graph.store, [record("a")])
    moved = change([record("b")], before, publish_id="unknown", held=[record("a")], replaced=[record("a")])
    with pytest.raises(KeyError):
        await graph.store.commit(moved)
    assert await graph.store.snapshot() == before
    assert await graph.store.manifest() == manifest_of(record("a"))
    assert await stored(graph.store, record("b")) == []
    rows = await graph.reader.run(statements.nodes_by_uid(["a", "b"], ANYONE), deadline=soon())
    assert [row[1] for row in rows.rows] == ["a"]


async def test_the_graph_moves_with_the_root(graph: Graph) -> None:
    """Nodes and edges that are gone, changed, new and unchanged, all in one publish."""
    before = [
        record("stays", refers(EdgeType.XREF, "goes")),
        record("goes", refers(EdgeType.APPLIES_TO, "product:x", target_kind=NodeKind.PRODUCT)),
        record("changes", title="Before", type="concept"),
    ]
    after = [before[0], record("changes", refers(EdgeType.XREF, "comes"), title="After"), record("comes")]
    await publish(graph.store, before, publish_id="p1")
    await publish(graph.store, after, publish_id="p2", held=before)

    async def rows(statement: statements.ServiceStatement) -> list[tuple[object, ...]]:
        return list((await graph.reader.run(statement, deadline=soon())).rows)

    assert await rows(statements.count_kinds(ANYONE)) == [("api", 1), ("page", 3)]
    assert await rows(statements.count_edges(ANYONE)) == [("xref", 2)]
    (changed,) = await rows(statements.nodes_by_uid(["changes"], ANYONE))
    assert changed[4:6] == ("After", None)
    assert await graph.store.manifest() == manifest_of(*after)
    assert len(await rows(statements.nodes_by_title("After", ANYONE, 5))) == 1
    assert await rows(statements.nodes_by_title("Before", ANYONE, 5)) == []


async def test_an_old_root_can_be_published_again(graph: Graph) -> None:
    one, two = [record("a", title="One")], [record("a", title="Two")]
    first = await publish(graph.store, one, publish_id="p1")
    second = await publish(graph.store, two, publish_id="p2", held=one)
    back = [each async for each in graph.store.records((await graph.store.manifest(first.content_root)).values())]
    assert back == one
    third = await publish(graph.store, back, publish_id="p3", held=[*one, *two])
    assert third.content_root == first.content_root
    assert await graph.store.roots() == [third, second]
    assert await graph.store.snapshot() == third
    rows = await graph.reader.run(statements.nodes_by_uid(["a"], ANYONE), deadline=soon())
    assert [row[4] for row in rows.rows] == ["One"]


async def test_only_the_newest_roots_are_kept(graph: Graph) -> None:
    versions = [[record("shared"), record("a", title=f"Version {number}")] for number in range(4)]
    snapshots: list[Snapshot] = []
    for number, records in enumerate(versions):
        held = [each for version in versions[:number] for each in version]
        snapshots.append(await publish(graph.store, records, publish_id=f"p{number}", held=held))
    await graph.store.keep(2)
    assert await graph.store.roots() == [snapshots[3], snapshots[2]]
    for number, records in enumerate(versions):
        kept = number >= 2
        if kept:
            assert await graph.store.manifest(snapshots[number].content_root) == manifest_of(*records)
        else:
            with pytest.raises(KeyError):
                await graph.store.manifest(snapshots[number].content_root)
        assert await stored(graph.store, records[1]) == ([records[1]] if kept else [])
    assert await stored(graph.store, versions[0][0]) == [versions[0][0]]


async def test_readers_see_the_old_snapshot_or_the_new_one(graph: Graph) -> None:
    """While commits go on, no reader meets a mixture, and whoever asks after one reads what it wrote."""

    def version(size: int) -> list[NodeRecord]:
        names = [f"page {number}" for number in range(size)]
        links = zip(names, [*names[1:], names[0]], strict=True)
        return [record(uid, refers(EdgeType.XREF, to), title=f"Of {size}") for uid, to in links]

    sizes = [3, 5, 9, 4, 7]

    async def write() -> None:
        held: list[NodeRecord] = []
        for number, size in enumerate(sizes):
            records = version(size)
            await publish(graph.store, records, publish_id=f"p{number}", held=held)
            held += [each for each in records if each not in held]

    writing = asyncio.create_task(write())
    seen: set[int] = set()
    listing = statements.list_nodes(NodeFilter(), ANYONE, after="", limit=100)
    while True:
        done = writing.done()
        titles = [row[4] for row in (await graph.reader.run(listing, deadline=soon())).rows]
        if graph.reads_whole_snapshots or done:
            assert titles == [f"Of {len(titles)}"] * len(titles)
            seen.add(len(titles))
        assert set(titles) <= {f"Of {size}" for size in sizes}
        if done:
            break
    await writing
    assert seen <= {0, *sizes}
    assert sizes[-1] in seen


async def test_the_diagnostics_of_the_last_publish_are_kept_in_place_of_the_ones_before(graph: Graph) -> None:
    def told(*codes: str) -> PublishDiagnostics:
        found = [Diagnostic(f"{code}.md", 3, code, HOSTILE_TEXTS[0], Severity.WARNING, 2, "Mend it.") for code in codes]
        return PublishDiagnostics.of(found, published_at="2026-01-01", content_root="c", docsets=["d"], most=1)

    assert await graph.store.diagnostics() is None
    await graph.store.keep_diagnostics(told("a", "b"))
    await graph.store.keep_diagnostics(told("y", "x"))
    assert await graph.store.diagnostics() == told("x", "y")
    assert await graph.store.unfinished() is None
    moved = change([record("a")], await graph.store.snapshot(), publish_id="p1")
    await graph.store.begin(moved.entry)
    await graph.store.commit(moved)
    assert await graph.store.diagnostics() == told("x", "y")
