"""The system of record on a real Neo4j: what a commit moves, and what a reader may do."""

import asyncio
import random
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, TypeVar

import pytest
from neo4j import AsyncDriver

from adapters.neo4j.changes import Write
from adapters.neo4j.reader import Neo4jGraphReader
from adapters.neo4j.rows import node_row
from adapters.neo4j.store import Neo4jGraphStore
from cypher_guard import BOUNDED, Visibility, guard
from service.domain.content import NodeRecord, content_root
from service.domain.deadline import Deadline
from service.domain.errors import EngineUnavailable, PublishInProgress
from service.domain.graph import EVERYONE, EdgeType, Node, NodeIdentity, NodeKind, Reference
from service.domain.snapshots import LinkedGraph, PublishEntry, PublishStep, Snapshot, SnapshotChange
from service.publishing.linking import link
from service.statements import nodes_by_title
from tests.contract.estate import rebuilt
from tests.engines import Neo4jAddress
from tests.neo4j_database import empty_database

pytestmark = pytest.mark.engines

Answer = TypeVar("Answer")
Work = Callable[[AsyncDriver], Awaitable[Answer]]
IN_TIME = 10_000


def run(address: Neo4jAddress, work: Work[Answer]) -> Answer:
    """Do the work on an empty database."""

    async def on_empty() -> Answer:
        async with empty_database(address) as driver:
            return await work(driver)

    return asyncio.run(on_empty())


def record(uid: str, *references: Reference, kind: NodeKind = NodeKind.PAGE, **fields: Any) -> NodeRecord:
    return NodeRecord(Node(NodeIdentity(uid, "en-us"), kind, uid, **fields), references=references)


def xref(uid: str, **fields: Any) -> Reference:
    return Reference(EdgeType.XREF, uid, "link", "page.md", 1, **fields)


async def publish(store: Neo4jGraphStore, records: Sequence[NodeRecord]) -> LinkedGraph:
    """Every step of a publish that the store takes part in."""
    before = await store.snapshot()
    manifest = {r.node.identity: r.content_hash for r in records}
    graph = link(records, default_locale="en-us")
    generation = before.generation + 1
    entry = PublishEntry(
        f"p{generation}", generation, before.content_root, content_root(manifest), PublishStep.BEGUN, "now"
    )
    await store.begin(entry)

    async def previous() -> LinkedGraph:
        held = set((await store.manifest()).values())
        return link([r async for r in store.records(held)], default_locale="en-us")

    snapshot = Snapshot(entry.content_root, generation, nodes=len(graph.nodes), edges=len(graph.edges))
    await store.commit(SnapshotChange(entry, snapshot, manifest, tuple(records), graph, previous))
    await store.advance(entry.publish_id, PublishStep.COLLECTED)
    return graph


def changed(before: Snapshot, graph: LinkedGraph, records: Sequence[NodeRecord]) -> SnapshotChange:
    """The next change after `before`, whose graph it replaces; its publish is not begun yet."""
    manifest = {r.node.identity: r.content_hash for r in records}
    entry = PublishEntry(
        "next", before.generation + 1, before.content_root, content_root(manifest), PublishStep.BEGUN, "now"
    )

    async def previous() -> LinkedGraph:
        return graph

    linked = link(records, default_locale="en-us")
    snapshot = Snapshot(entry.content_root, entry.generation, nodes=len(linked.nodes), edges=len(linked.edges))
    return SnapshotChange(entry, snapshot, manifest, tuple(records), linked, previous)


async def held(driver: AsyncDriver) -> tuple[set[Any], list[Any]]:
    """The graph as Neo4j holds it: nodes by labels and properties, edges by their ends and properties."""
    nodes, _, _ = await driver.execute_query("MATCH (n:Node) RETURN labels(n) AS labels, properties(n) AS properties")
    edges, _, _ = await driver.execute_query(
        "MATCH (a:Node)-[r]->(b:Node) RETURN type(r), a.key, b.key, r.via, r.file, r.line, r.weight, r.ordinal"
    )
    return {_frozen(row["labels"], row["properties"]) for row in nodes}, sorted(tuple(row) for row in edges)


def expected(graph: LinkedGraph) -> tuple[set[Any], list[Any]]:
    nodes = {
        _frozen(["Node", node.kind.label], node_row(node, graph.content_hashes.get(identity)))
        for identity, node in graph.nodes.items()
    }
    edges = [
        (e.type.value, e.source.key, e.target.key, e.via, e.file, e.line, e.weight, e.ordinal) for e in graph.edges
    ]
    return nodes, sorted(edges)


def _frozen(labels: Sequence[str], properties: dict[str, Any]) -> Any:
    values = {name: tuple(value) if isinstance(value, list) else value for name, value in properties.items()}
    return frozenset(labels), frozenset(values.items())


def random_estate(random: random.Random) -> list[NodeRecord]:
    """A few nodes of a small world, whose kinds, texts and edges differ from estate to estate."""
    names = [f"n{number}" for number in range(8)]
    kinds = [NodeKind.PAGE, NodeKind.MODULE, NodeKind.UNIT]
    return [
        record(
            name,
            *(
                Reference(random.choice(list(EdgeType)), target, random.choice("xy"), "f.md", random.randrange(3))
                for target in random.sample([*names, "outside", "ünïcode \"'`\\"], 3)
            ),
            kind=random.choice(kinds),
            level=random.choice([None, "beginner"]),
            products=tuple(random.sample(["a", "b", "c"], 2)),
        )
        for name in random.sample(names, random.randrange(1, 8))
    ]


def test_after_every_commit_the_graph_is_the_linked_one(neo4j_server: Neo4jAddress):
    chance = random.Random(7)

    async def work(driver: AsyncDriver) -> None:
        store = Neo4jGraphStore(driver, rebuild=rebuilt, rows_at_once=3)
        for _ in range(6):
            graph = await publish(store, random_estate(chance))
            assert await held(driver) == expected(graph)

    run(neo4j_server, work)


def test_a_large_change_is_applied_in_parts_and_ends_the_same(neo4j_server: Neo4jAddress):
    chance = random.Random(8)

    async def work(driver: AsyncDriver) -> None:
        store = Neo4jGraphStore(driver, rebuild=rebuilt, rows_at_once=2, rows_in_transaction=3)
        for _ in range(3):
            graph = await publish(store, random_estate(chance))
            assert await held(driver) == expected(graph)
            assert not (await store.snapshot()).publishing

    run(neo4j_server, work)


class BrokenOff(Exception):
    """In a test's place of a power cut."""


def test_a_large_change_that_is_broken_off_shows_and_is_taken_back(neo4j_server: Neo4jAddress):
    async def work(driver: AsyncDriver) -> None:
        store = Neo4jGraphStore(driver, rebuild=rebuilt, rows_in_transaction=3)
        graph = await publish(store, [record("a", xref("b")), record("b"), record("c", kind=NodeKind.MODULE)])
        before = (await store.snapshot(), await held(driver))
        records = [record(f"new {number}", xref("a")) for number in range(9)]
        moved = changed(before[0], graph, records)
        await store.begin(moved.entry)
        apply, parts = store._apply, []

        async def five_parts(publish_id: str, writes: Sequence[Write]) -> None:
            if len(parts) == 5:  # three of records, two of the graph
                raise BrokenOff
            parts.append(writes)
            await apply(publish_id, writes)

        store._apply = five_parts  # type: ignore[method-assign]
        with pytest.raises(BrokenOff):
            await store.commit(moved)
        again = Neo4jGraphStore(driver, rebuild=rebuilt, rows_in_transaction=3)
        halfway = await again.snapshot()
        assert halfway == replace(before[0], publishing=True)
        assert await held(driver) != before[1]
        unfinished = await again.unfinished()
        assert unfinished is not None
        assert unfinished.publish_id == moved.entry.publish_id
        await again.abandon(moved.entry.publish_id)
        assert (await again.snapshot(), await held(driver)) == before
        assert await again.unfinished() is None

    run(neo4j_server, work)


def test_who_lost_the_publish_to_another_writes_no_further_part(neo4j_server: Neo4jAddress):
    async def work(driver: AsyncDriver) -> None:
        store = Neo4jGraphStore(driver, rebuild=rebuilt, rows_in_transaction=3)
        graph = await publish(store, [record("a")])
        before = (await store.snapshot(), await held(driver))
        moved = changed(before[0], graph, [record(f"new {number}") for number in range(9)])
        with pytest.raises(KeyError):
            await store.commit(moved)
        assert (await store.snapshot(), await held(driver)) == before

    run(neo4j_server, work)


def test_an_edge_that_did_not_change_keeps_the_publish_that_wrote_it(neo4j_server: Neo4jAddress):
    async def work(driver: AsyncDriver) -> list[Any]:
        store = Neo4jGraphStore(driver, rebuild=rebuilt)
        await publish(store, [record("a", xref("b")), record("b")])
        await publish(store, [record("a", xref("b"), xref("c")), record("b"), record("c")])
        rows, _, _ = await driver.execute_query("MATCH ()-[r]->(b) RETURN b.uid, r.publishId ORDER BY b.uid")
        return [tuple(row) for row in rows]

    assert run(neo4j_server, work) == [("b", "p1"), ("c", "p2")]


def test_a_commit_that_fails_half_way_leaves_everything_as_it_was(neo4j_server: Neo4jAddress):
    """The last statement of the transaction is refused: another snapshot has that generation already."""

    async def work(driver: AsyncDriver) -> None:
        store = Neo4jGraphStore(driver, rebuild=rebuilt)
        graph = await publish(store, [record("a", xref("b")), record("b")])
        before = (await store.snapshot(), await store.roots(), await held(driver))
        records = (record("z"),)
        entry = PublishEntry("p2", 2, before[0].content_root, "other", PublishStep.BEGUN, "now")
        await store.begin(entry)

        async def previous() -> LinkedGraph:
            return graph

        change = SnapshotChange(entry, Snapshot("other", 1), {}, records, link(records, default_locale=""), previous)
        with pytest.raises(EngineUnavailable, match="ConstraintValidationFailed"):
            await store.commit(change)
        assert (await store.snapshot(), await store.roots(), await held(driver)) == before
        assert [r async for r in store.records([records[0].content_hash])] == []
        unfinished = await store.unfinished()
        assert unfinished is not None
        assert unfinished.step is PublishStep.BEGUN

    run(neo4j_server, work)


def test_of_many_publishers_at_once_one_begins(neo4j_server: Neo4jAddress):
    async def work(driver: AsyncDriver) -> list[Any]:
        store = Neo4jGraphStore(driver, rebuild=rebuilt)
        entries = [PublishEntry(f"p{n}", 1, "", f"root{n}", PublishStep.BEGUN, "now") for n in range(6)]
        return await asyncio.gather(*(store.begin(entry) for entry in entries), return_exceptions=True)

    outcomes = run(neo4j_server, work)
    assert outcomes.count(None) == 1
    assert sum(isinstance(outcome, PublishInProgress) for outcome in outcomes) == 5


def test_titles_are_found_by_any_of_their_terms_and_the_text_is_no_syntax(neo4j_server: Neo4jAddress):
    async def work(driver: AsyncDriver) -> list[list[str]]:
        await publish(
            Neo4jGraphStore(driver, rebuild=rebuilt),
            [record("IHttpClientFactory"), record("clients and factories"), record("c#")],
        )
        reader = Neo4jGraphReader(driver)
        texts = ["http", "factory", "title:c# OR *", 'C#" OR "', "~", ""]
        found = []
        for text in texts:
            statement = nodes_by_title(text, frozenset({EVERYONE}), 5)
            rows = (await reader.run(statement, deadline=Deadline.after(IN_TIME))).rows
            found.append([row[1] for row in rows])
        return found

    http, factory, syntax, quotes, nothing, empty = run(neo4j_server, work)
    assert http == ["IHttpClientFactory"]
    assert set(factory) == {"IHttpClientFactory", "clients and factories"}
    assert syntax == ["c#"]
    assert quotes == ["c#"]
    assert nothing == empty == []


def test_a_guarded_query_returns_its_rows_and_says_when_there_were_more(neo4j_server: Neo4jAddress):
    async def work(driver: AsyncDriver) -> Any:
        await publish(Neo4jGraphStore(driver, rebuild=rebuilt), [record(f"n{n}") for n in range(5)])
        query = guard(
            "MATCH (p:Page) RETURN p.uid AS uid ORDER BY uid LIMIT 3", {}, BOUNDED, visibility=Visibility({EVERYONE})
        )
        return await Neo4jGraphReader(driver).run(query, deadline=Deadline.after(IN_TIME))

    rows = run(neo4j_server, work)
    assert rows.columns == ("uid",)
    assert rows.rows == (("n0",), ("n1",), ("n2",))


def test_text_alone_never_runs(neo4j_server: Neo4jAddress):
    async def work(driver: AsyncDriver) -> None:
        await Neo4jGraphReader(driver).run("MATCH (n) RETURN n", deadline=Deadline.after(IN_TIME))  # type: ignore[arg-type]

    with pytest.raises(TypeError, match="guarded queries and catalogued statements only"):
        run(neo4j_server, work)
