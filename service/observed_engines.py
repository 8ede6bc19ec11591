"""The engines as their ports have them, each call observed. Stages know nothing of it."""

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Literal

from cypher_guard import GuardedQuery
from service.domain.content import NodeRecord, Passage, PassageKey
from service.domain.deadline import Deadline
from service.domain.diagnostics import PublishDiagnostics
from service.domain.filters import SearchScope
from service.domain.graph import NodeIdentity
from service.domain.scores import NodeScores
from service.domain.snapshots import LinkedGraph, PublishEntry, PublishStep, Snapshot, SnapshotChange
from service.observation import Kind, Observer, Piece, Work
from service.ports import (
    Embedder,
    Expansion,
    GraphRanker,
    GraphReader,
    GraphStore,
    LexicalIndex,
    PassageHit,
    Rows,
    Span,
    TokenCounter,
    Vector,
    VectorIndex,
    Vectors,
)
from service.statements import ServiceStatement

GUARDED = "query_graph"
"""What a guarded query is called: its text is its caller's, and so no name."""


class _Calls:
    """One engine's calls, as an observer is told of them."""

    def __init__(self, engine: str, observer: Observer) -> None:
        self._engine = engine
        self._observer = observer

    def __call__(self, operation: str) -> AbstractContextManager[Piece]:
        return self._observer.observe(Work(Kind.ENGINE, self._engine, operation))


class ObservedLexicalIndex:
    """Fulfils LexicalIndex."""

    def __init__(self, index: LexicalIndex, observer: Observer) -> None:
        self._index = index
        self._call = _Calls(index.engine, observer)

    @property
    def engine(self) -> str:
        return self._index.engine

    async def add(self, passages: Sequence[Passage], generation: int) -> None:
        with self._call("add"):
            await self._index.add(passages, generation)

    def terms(self, text: str) -> tuple[str, ...]:
        return self._index.terms(text)

    async def search(
        self, text: str, scope: SearchScope, *, depth: int, deadline: Deadline, expansions: Sequence[Expansion] = ()
    ) -> list[PassageHit]:
        with self._call("search"):
            return await self._index.search(text, scope, depth=depth, deadline=deadline, expansions=expansions)

    async def passages(
        self, keys: Sequence[PassageKey], scope: SearchScope, *, deadline: Deadline
    ) -> dict[PassageKey, Passage]:
        with self._call("passages"):
            return await self._index.passages(keys, scope, deadline=deadline)

    async def highlight(self, text: str, passages: Sequence[Passage], *, deadline: Deadline) -> list[tuple[Span, ...]]:
        with self._call("highlight"):
            return await self._index.highlight(text, passages, deadline=deadline)

    async def known_terms(self, text: str, scope: SearchScope, *, deadline: Deadline) -> Mapping[str, int]:
        with self._call("known_terms"):
            return await self._index.known_terms(text, scope, deadline=deadline)

    async def remove(self, records: Collection[tuple[NodeIdentity, str]]) -> None:
        with self._call("remove"):
            await self._index.remove(records)

    async def remove_after(self, generation: int) -> None:
        with self._call("remove_after"):
            await self._index.remove_after(generation)

    async def keys(self, generation: int) -> set[PassageKey]:
        with self._call("keys"):
            return await self._index.keys(generation)

    async def check(self, deadline: Deadline) -> None:
        with self._call("check"):
            await self._index.check(deadline)

    async def close(self) -> None:
        await self._index.close()


class ObservedVectorIndex:
    """Fulfils VectorIndex."""

    def __init__(self, index: VectorIndex, observer: Observer) -> None:
        self._index = index
        self._call = _Calls(index.engine, observer)

    @property
    def engine(self) -> str:
        return self._index.engine

    async def add(self, passages: Sequence[Passage], vectors: Vectors, generation: int) -> None:
        with self._call("add"):
            await self._index.add(passages, vectors, generation)

    async def search(self, vector: Vector, scope: SearchScope, *, depth: int, deadline: Deadline) -> list[PassageHit]:
        with self._call("search"):
            return await self._index.search(vector, scope, depth=depth, deadline=deadline)

    async def passages(
        self, keys: Sequence[PassageKey], scope: SearchScope, *, deadline: Deadline
    ) -> dict[PassageKey, Passage]:
        with self._call("passages"):
            return await self._index.passages(keys, scope, deadline=deadline)

    async def count(self, generation: int) -> int:
        with self._call("count"):
            return await self._index.count(generation)

    async def remove(self, records: Collection[tuple[NodeIdentity, str]]) -> None:
        with self._call("remove"):
            await self._index.remove(records)

    async def remove_after(self, generation: int) -> None:
        with self._call("remove_after"):
            await self._index.remove_after(generation)

    async def keys(self, generation: int) -> set[PassageKey]:
        with self._call("keys"):
            return await self._index.keys(generation)

    async def check(self, deadline: Deadline) -> None:
        with self._call("check"):
            await self._index.check(deadline)

    async def close(self) -> None:
        await self._index.close()


class ObservedEmbedder:
    """Fulfils Embedder; the tokens are counted in this process, and are no engine's work."""

    def __init__(self, embedder: Embedder, observer: Observer) -> None:
        self._embedder = embedder
        self._call = _Calls("embedder", observer)

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    @property
    def tokens(self) -> TokenCounter:
        return self._embedder.tokens

    @property
    def passage_tokens(self) -> int:
        return self._embedder.passage_tokens

    async def embed(self, texts: Sequence[str], purpose: Literal["query", "passage"]) -> Vectors:
        with self._call(purpose):
            return await self._embedder.embed(texts, purpose)

    async def close(self) -> None:
        await self._embedder.close()


class ObservedGraphReader:
    """Fulfils GraphReader; a statement of the catalogue goes by its name."""

    def __init__(self, reader: GraphReader, observer: Observer) -> None:
        self._reader = reader
        self._call = _Calls(reader.engine, observer)

    @property
    def engine(self) -> str:
        return self._reader.engine

    async def run(self, query: GuardedQuery | ServiceStatement, *, deadline: Deadline) -> Rows:
        with self._call(query.name if isinstance(query, ServiceStatement) else GUARDED):
            return await self._reader.run(query, deadline=deadline)

    async def check(self, deadline: Deadline) -> None:
        with self._call("check"):
            await self._reader.check(deadline)

    async def close(self) -> None:
        await self._reader.close()


class ObservedGraphRanker:
    """Fulfils GraphRanker."""

    def __init__(self, ranker: GraphRanker, engine: str, observer: Observer) -> None:
        self._ranker = ranker
        self._call = _Calls(engine, observer)

    async def global_scores(self, audiences: frozenset[str], *, deadline: Deadline) -> NodeScores:
        with self._call("global_page_rank"):
            return await self._ranker.global_scores(audiences, deadline=deadline)

    async def personalized(
        self, seeds: Mapping[NodeIdentity, float], audiences: frozenset[str], *, bound: float = 0.0, deadline: Deadline
    ) -> NodeScores:
        with self._call("personalized_page_rank"):
            return await self._ranker.personalized(seeds, audiences, bound=bound, deadline=deadline)


class ObservedGraphStore:
    """Fulfils GraphStore; records are read while others work, so that no call stands for their reading."""

    def __init__(self, store: GraphStore, engine: str, observer: Observer) -> None:
        self._store = store
        self._call = _Calls(engine, observer)

    async def snapshot(self) -> Snapshot:
        with self._call("snapshot"):
            return await self._store.snapshot()

    async def manifest(self, content_root: str | None = None) -> dict[NodeIdentity, str]:
        with self._call("manifest"):
            return await self._store.manifest(content_root)

    def records(self, hashes: Collection[str]) -> AsyncIterator[NodeRecord]:
        return self._store.records(hashes)

    async def roots(self) -> list[Snapshot]:
        with self._call("roots"):
            return await self._store.roots()

    async def unfinished(self) -> PublishEntry | None:
        with self._call("unfinished"):
            return await self._store.unfinished()

    async def begin(self, entry: PublishEntry) -> None:
        with self._call("begin"):
            await self._store.begin(entry)

    async def advance(self, publish_id: str, step: PublishStep) -> None:
        with self._call("advance"):
            await self._store.advance(publish_id, step)

    async def commit(self, change: SnapshotChange) -> None:
        with self._call("commit"):
            await self._store.commit(change)

    async def restore(self, graph: LinkedGraph) -> None:
        with self._call("restore"):
            await self._store.restore(graph)

    async def abandon(self, publish_id: str) -> None:
        with self._call("abandon"):
            await self._store.abandon(publish_id)

    async def keep(self, roots: int) -> None:
        with self._call("keep"):
            await self._store.keep(roots)

    async def keep_diagnostics(self, diagnostics: PublishDiagnostics) -> None:
        with self._call("keep_diagnostics"):
            await self._store.keep_diagnostics(diagnostics)

    async def diagnostics(self) -> PublishDiagnostics | None:
        with self._call("diagnostics"):
            return await self._store.diagnostics()

    async def close(self) -> None:
        await self._store.close()
