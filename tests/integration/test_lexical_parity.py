"""The same passages on both lexical engines: the same nodes in the same order."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TypeVar

import pytest

from adapters.embedded.lexical import TantivyIndex
from adapters.opensearch.lexical import OpenSearchIndex
from service.domain.content import Passage
from service.domain.deadline import Deadline
from service.domain.filters import NodeFilter, SearchScope
from service.domain.graph import EVERYONE, Node, NodeIdentity, NodeKind
from service.ports import LexicalIndex
from tests.opensearch_indexes import own_indexes

pytestmark = pytest.mark.engines

Answer = TypeVar("Answer")

WORDS = """deploy slots IHttpClientFactory net-maui-8.0 C# C --no-restore 0x80070005 client factories the of café
    don't""".split()
QUERIES = [
    "IHttpClientFactory",
    "net-maui-8.0",
    "C#",
    "--no-restore",
    "0x80070005",
    "http clients",
    "cafe factory",
    "the",
]


def estate(chance: random.Random) -> list[Passage]:
    """Passages of 60 nodes, four a node, in two locales and three products, half of them for members only."""
    passages = []
    for number in range(60):
        node = Node(
            NodeIdentity(f"page {number}", chance.choice(["en-us", "de-de"])),
            NodeKind.PAGE,
            " ".join(chance.choices(WORDS, k=3)),
            products=(chance.choice(["azure", "dotnet", "c++ (native)"]),),
            visible_to=chance.choice([(EVERYONE,), ("members",)]),
        )
        for part in range(4):
            text = " ".join(chance.choices(WORDS, k=chance.randrange(5, 40)))
            passages.append(Passage(node, f"hash{number}", part, chance.choice(WORDS), "anchor", text))
    return passages


def on_both(url: str, folder: Path, work: Callable[[LexicalIndex], Awaitable[Answer]]) -> tuple[Answer, Answer]:
    """Do the same on tantivy and on OpenSearch, over the same passages."""
    passages = estate(random.Random(11))

    async def both() -> tuple[Answer, Answer]:
        embedded = TantivyIndex.open(folder)
        async with own_indexes(url) as (client, prefix):
            real = OpenSearchIndex(client, prefix=prefix)
            answers = []
            for index in (embedded, real):
                await index.add(passages[:120], 1)
                await index.add(passages[120:], 2)
                answers.append(await work(index))
            await embedded.close()
            return answers[0], answers[1]

    return asyncio.run(both())


SCOPES = [
    SearchScope(NodeFilter(), frozenset({EVERYONE}), 2),
    SearchScope(NodeFilter(), frozenset({EVERYONE, "members"}), 1),
    SearchScope(NodeFilter(product=("c++ (native)", "azure"), locale=("en-us",)), frozenset({EVERYONE, "members"}), 2),
]


def test_every_query_finds_the_same_nodes_whatever_the_scope(opensearch_server: str, tmp_path: Path):
    async def work(index: LexicalIndex) -> list[set[NodeIdentity]]:
        return [
            {
                hit.passage.identity
                for hit in await index.search(text, scope, depth=100, deadline=Deadline.after(10_000))
            }
            for text in QUERIES
            for scope in SCOPES
        ]

    embedded, real = on_both(opensearch_server, tmp_path, work)
    assert embedded == real
    assert max(map(len, real)) > 20


def test_both_rank_by_the_same_formula(opensearch_server: str, tmp_path: Path):
    """tantivy keeps BM25's constant factor k1 + 1 = 2.2, which Lucene dropped.

    The rest differs in one thing: a passage whose heading holds stop words alone counts in tantivy's average heading
    and not in Lucene's, so the heading's share of a score moves by a few percent, and close
    neighbours may change places.
    """

    async def work(index: LexicalIndex) -> list[dict[NodeIdentity, float]]:
        return [
            {
                hit.passage.identity: hit.score
                for hit in await index.search(text, SCOPES[0], depth=10, deadline=Deadline.after(10_000))
            }
            for text in QUERIES
        ]

    embedded, real = on_both(opensearch_server, tmp_path, work)
    for query, ours, theirs in zip(QUERIES, embedded, real, strict=True):
        shared = ours.keys() & theirs.keys()
        assert len(shared) >= 0.9 * len(theirs), query
        assert all(ours[node] == pytest.approx(2.2 * theirs[node], rel=0.03) for node in shared), query


def test_terms_are_counted_alike(opensearch_server: str, tmp_path: Path):
    text = "IHttpClientFactory C# café nowhere"

    async def work(index: LexicalIndex) -> list[dict[str, int]]:
        return [dict(await index.known_terms(text, scope, deadline=Deadline.after(10_000))) for scope in SCOPES]

    embedded, real = on_both(opensearch_server, tmp_path, work)
    assert embedded == real
    assert real[0]["nowher"] == 0
    assert real[0]["c#"] > 0


def test_a_query_of_very_many_terms_is_answered(opensearch_server: str, tmp_path: Path):
    text = " ".join(f"{a}{b}" for a in "abcdefghijklmnopqrstuvwxyz" for b in "abcdefghijklmnopqrstuvwxyz") + " C#"

    async def work(index: LexicalIndex) -> int:
        return len(await index.search("C# " + text, SCOPES[0], depth=5, deadline=Deadline.after(10_000)))

    assert on_both(opensearch_server, tmp_path, work) == (5, 5)
