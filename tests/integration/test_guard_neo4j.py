"""The guard against a real Neo4j: what it renders is planned, only reads, means the same, and shows no secret node."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

import pytest
from neo4j import READ_ACCESS, Driver, GraphDatabase, Query, Session
from neo4j.exceptions import ClientError, Neo4jError
from neo4j.graph import Node, Relationship

from cypher_guard import GuardedQuery, Profile, Violation, Visibility, guard
from tests.engines import Neo4jAddress
from tests.hostile.corpus import Row, profiles, rows
from tests.hostile.generator import honest_query
from tests.hostile.graphs import PRINCIPAL, PropertyGraph, bag, graph_with_secrets
from tests.hostile.raising import raising_queries, ring_with_a_secret
from tests.hostile.vocabulary import PROFILE

pytestmark = [pytest.mark.engines, pytest.mark.timeout(600)]

GENERATED = Profile.from_mapping(PROFILE)
STAFF = Visibility(audiences=PRINCIPAL)
LONG = (pytest.mark.long, pytest.mark.timeout(3 * 3600))

# What a plan may consist of. None of these writes, loads, calls a procedure, or reaches another database.
OPERATORS = """
    AllNodesScan NodeByLabelScan UnionNodeByLabelsScan IntersectionNodeByLabelsScan SubtractionNodeByLabelsScan
    NodeByElementIdSeek NodeIndexSeek NodeUniqueIndexSeek NodeIndexScan NodeIndexContainsScan NodeIndexEndsWithScan
    MultiNodeIndexSeek AssertSameNode NodeByIdSeek RelationshipIndexScan RelationshipIndexSeek
    DirectedRelationshipTypeScan UndirectedRelationshipTypeScan DirectedUnionRelationshipTypesScan
    UndirectedUnionRelationshipTypesScan DirectedAllRelationshipsScan UndirectedAllRelationshipsScan
    DirectedRelationshipIndexScan UndirectedRelationshipIndexScan DirectedRelationshipIndexSeek
    UndirectedRelationshipIndexSeek PartitionedAllNodesScan Expand(All) Expand(Into) OptionalExpand(All)
    OptionalExpand(Into) VarLengthExpand(All) VarLengthExpand(Into) VarLengthExpand(Pruning)
    VarLengthExpand(Pruning,BFS,All) VarLengthExpand(Pruning,BFS,Into) Repeat(Trail) Trail
    BidirectionalRepeat(Trail) ProjectEndpoints Filter CacheProperties Projection Argument Optional Apply SemiApply
    AntiSemiApply LetSemiApply LetAntiSemiApply SelectOrSemiApply SelectOrAntiSemiApply LetSelectOrSemiApply
    LetSelectOrAntiSemiApply RollUpApply ConditionalApply AntiConditionalApply CartesianProduct NodeHashJoin
    ValueHashJoin NodeLeftOuterHashJoin NodeRightOuterHashJoin TriadicSelection TriadicBuild TriadicFilter Distinct
    OrderedDistinct EagerAggregation OrderedAggregation NodeCountFromCountStore RelationshipCountFromCountStore Sort
    PartialSort Top Top1WithTies PartialTop Skip Limit ExhaustiveLimit Unwind OrderedUnion EmptyRow EmptyResult Eager
    ProduceResults Empty Union
"""
READING_OPERATORS = frozenset(OPERATORS.split())


@pytest.fixture(scope="module")
def driver(neo4j_server: Neo4jAddress) -> Iterator[Driver]:
    with GraphDatabase.driver(
        neo4j_server.uri, auth=neo4j_server.auth, notifications_min_severity="OFF", max_transaction_retry_time=30
    ) as driver:
        yield driver
        driver.execute_query("MATCH (n) DETACH DELETE n")


@pytest.fixture
def reading(driver: Driver) -> Iterator[Session]:
    with driver.session(default_access_mode=READ_ACCESS) as session:
        yield session


def load(driver: Driver, graph: PropertyGraph) -> None:
    """Make this graph all that the database holds."""
    with driver.session() as session, session.begin_transaction() as transaction:
        transaction.run("MATCH (n) DETACH DELETE n").consume()
        for text, params in graph.statements():
            transaction.run(text, params).consume()
        transaction.commit()


def answers(session: Session, text: str, params: Mapping[str, Any]) -> Counter[str] | str:
    """The bag of rows, or the code of the error that both sides must then give."""
    try:
        result = session.run(Query(text, timeout=20.0), dict(params))  # type: ignore[arg-type]
        return bag([{key: mapped(value) for key, value in record.items()} for record in result])
    except ClientError as error:
        return str(error.code)


def mapped(value: Any) -> Any:
    """As the guard lets values out: whole nodes as maps, without the property that a profile leaves out.

    A property that is absent and one that is null are the same here.
    """
    if isinstance(value, Node):
        return mapped({**value, "labels": list(value.labels)})
    if isinstance(value, Relationship):
        return mapped({**value, "type": value.type})
    if isinstance(value, Mapping):
        return {key: mapped(item) for key, item in value.items() if item is not None and key != "visibleTo"}
    if isinstance(value, list):
        return [mapped(item) for item in value]
    return value


def operators(plan: Mapping[str, Any]) -> Iterator[str]:
    yield plan["operatorType"].split("@")[0]
    for child in plan.get("children", ()):
        yield from operators(child)


def assert_only_reads(session: Session, query: GuardedQuery) -> None:
    prefix = "CYPHER 5 "
    assert query.text.startswith(prefix)
    explained = Query(prefix + "EXPLAIN " + query.text.removeprefix(prefix), timeout=20.0)  # type: ignore[arg-type]
    summary = session.run(explained, dict(query.params)).consume()
    assert summary.query_type == "r", query.text
    assert summary.plan is not None
    strange = set(operators(summary.plan)) - READING_OPERATORS
    assert not strange, query.text


def accepted(seeds: range, visibility: Visibility | None = None) -> Iterator[tuple[str, GuardedQuery]]:
    """The generated queries that the guard takes, with what it makes of them."""
    refused: Counter[str] = Counter()
    example = ""
    for seed in seeds:
        text = honest_query(seed)
        try:
            yield text, guard(text, {}, GENERATED, visibility=visibility)
        except Violation as violation:
            refused[violation.code] += 1
            example = f"{violation}\n{text}"
    assert set(refused) <= {"too_costly", "too_deep"}, example
    assert refused.total() < 0.1 * len(seeds)


@pytest.mark.parametrize("visibility", [None, STAFF], ids=["everyone", "principal"])
def test_every_accepted_row_of_the_corpus_only_reads(reading: Session, visibility: Visibility | None) -> None:
    for row in rows("accept"):
        query = guard(row.text, row.params, profiles()[row.profile], visibility=visibility)
        try:
            assert_only_reads(reading, query)
        except Neo4jError as error:
            pytest.fail(f"{row.id}: {error.message}\n{row.text}\n{query.text}")


@pytest.mark.parametrize("row", rows("either"), ids=lambda row: row.id)
def test_a_row_of_policy_only_reads_if_accepted(reading: Session, row: Row) -> None:
    try:
        query = guard(row.text, row.params, profiles()[row.profile], visibility=STAFF)
    except Violation:
        return
    assert_only_reads(reading, query)


@pytest.mark.parametrize("size", [300, pytest.param(20_000, marks=LONG)])
def test_generated_queries_only_read(reading: Session, size: int) -> None:
    for number, (text, query) in enumerate(accepted(range(size), STAFF)):
        try:
            assert_only_reads(reading, query)
        except Neo4jError as error:
            pytest.fail(f"query {number}: {error.message}\n{text}\n{query.text}")


@pytest.mark.parametrize("size", [200, pytest.param(1_000, marks=LONG)])
def test_a_rendering_means_what_the_original_means(driver: Driver, reading: Session, size: int) -> None:
    load(driver, graph_with_secrets(seed=1))
    full = 0
    for text, query in accepted(range(100_000, 100_000 + size)):
        original = answers(reading, "CYPHER 5 " + text, {})
        assert answers(reading, query.text, query.params) == original, f"{text}\n{query.text}\n{query.params}"
        full += isinstance(original, Counter) and bool(original)
    assert full > size / 4, "queries that find nothing prove nothing"


@pytest.mark.parametrize("size", [100, pytest.param(500, marks=LONG)])
@pytest.mark.parametrize("seed", range(4))
def test_a_principal_sees_the_graph_without_the_secrets(driver: Driver, reading: Session, seed: int, size: int) -> None:
    """Rows under a principal = rows on the graph from which the secret nodes were removed."""
    graph = graph_with_secrets(seed)
    asked = list(accepted(range(seed * size, (seed + 1) * size), STAFF))
    load(driver, graph)
    guarded = [answers(reading, query.text, query.params) for _, query in asked]
    load(driver, graph.visible_to(PRINCIPAL))
    told_apart = 0
    for (text, query), seen in zip(asked, guarded, strict=True):
        everyone = guard(text, {}, GENERATED)
        assert seen == answers(reading, everyone.text, everyone.params), f"{text}\n{query.text}\n{query.params}"
        told_apart += isinstance(seen, Counter) and bool(seen)
    assert told_apart > size / 5, "queries that find nothing prove nothing"


@pytest.mark.parametrize("every", [4, pytest.param(1, marks=LONG)])
def test_no_error_tells_of_a_secret_node(driver: Driver, reading: Session, every: int) -> None:
    """AND fixes no order of evaluation: a predicate that fails on a secret node alone must never meet it."""
    load(driver, ring_with_a_secret())
    told = []
    for text in islice(raising_queries(), 0, None, every):
        try:
            query = guard(text, {}, GENERATED, visibility=STAFF)
        except Violation:
            continue
        seen = answers(reading, query.text, query.params)
        if isinstance(seen, str):
            told.append(f"{seen}\n{text}\n{query.text}")
    assert not told, "\n\n".join(told)
