"""Nearest passages by cosine in the process, by qdrant-edge (Qdrant's own engine)."""

import asyncio
import contextlib
from collections.abc import Callable, Collection, Iterator, Sequence
from hashlib import sha256
from pathlib import Path
from typing import cast

import qdrant_edge as qdrant

from adapters.embedded.holdings import Holdings
from adapters.embedded.memo import Memo
from adapters.embedded.threads import EngineThreads, engine_failure
from adapters.embedded.vector_points import (
    Name,
    conditions_of,
    one_of,
    passage_point,
    point_id,
    stored_key,
    stored_passage,
    survey,
    up_to,
    within,
)
from adapters.embedded.vector_shards import VectorShards
from adapters.indexing.ranked_hits import in_order
from adapters.indexing.reach import Reach
from adapters.indexing.stored_passage import number_of, record_term
from service.domain.content import Passage, PassageKey
from service.domain.deadline import Deadline
from service.domain.errors import DataFolderUnwritable, EngineUnavailable
from service.domain.filters import SearchScope
from service.domain.graph import NodeIdentity
from service.observation import Reading
from service.ports import PassageHit, Vector, Vectors

ENGINE = "qdrant-edge"

_SCROLL = 1_000

_PAUSE_SECONDS = 1.0
"""A publish that writes less often than this is taken to pause."""

_MOST_SINCE_COPY = 2_000
"""Writes that are kept for a copy in the making; more, and the copy is not worth its memory."""


class QdrantEdgeIndex:
    """VectorIndex in a folder of its own, one shard a model. Every acknowledged write is in its write-ahead log.

    The engine holds the interpreter's lock while it searches: a millisecond for ten thousand passages.

    Passages are compared one by one, which is exact, until `exact_until` of them have no HNSW graph; then one is built
    behind the searches' backs.
    """

    def __init__(
        self,
        shards: VectorShards,
        *,
        exact_until: int,
        index_seconds: float,
        kept_keys: int,
        workers: int,
        waiting: int,
    ) -> None:
        self._shards = shards
        self._shard = shard = shards.open()
        self._exact_until = exact_until
        self._index_seconds = index_seconds
        self._settling: asyncio.Task[None] | None = None
        self._writes = 0
        self._since_copy: list[qdrant.UpdateOperation] | None = None
        self._holdings = survey(shard)
        self._reach = Reach()
        self._names: Memo[int, Name] = Memo(kept_keys)
        self._readers = EngineThreads(ENGINE, workers=workers, waiting=waiting, is_own=_is_own)
        self._writers = EngineThreads(ENGINE, workers=1, waiting=waiting, is_own=_is_own)

    @classmethod
    def open(
        cls,
        folder: Path,
        *,
        model: str,
        dimensions: int,
        exact_until: int = 100_000,
        index_seconds: float = 3_600,
        reserve: int = 268_435_456,
        kept_keys: int = 200_000,
        workers: int = 2,
        waiting: int = 64,
    ) -> "QdrantEdgeIndex":
        """Open the model's shard in `folder`, making it where there is none; vectors of two models never meet.

        exact_until: passages without a graph from which on one is built; index_seconds: how long that may take;
        reserve: bytes on the disk below which nothing is written; kept_keys: passages whose names are remembered.
        Raises EngineUnavailable (also when another process has it open) or DataFolderUnwritable.
        """
        shards = VectorShards(
            folder / sha256(f"{model}/{dimensions}".encode()).hexdigest()[:16], dimensions, reserve=reserve
        )
        try:
            return cls(
                shards,
                exact_until=exact_until,
                index_seconds=index_seconds,
                kept_keys=kept_keys,
                workers=workers,
                waiting=waiting,
            )
        except Exception as error:
            if _is_own(error):
                raise engine_failure(ENGINE, error) from error
            raise

    @property
    def engine(self) -> str:
        return ENGINE

    async def add(self, passages: Sequence[Passage], vectors: Vectors, generation: int) -> None:
        if not passages:
            return

        def work() -> None:
            points = [
                passage_point(passage, vector, generation) for passage, vector in zip(passages, vectors, strict=True)
            ]
            # Before the first of them is there: a search that looked without a condition looks again.
            self._holdings = self._holdings.with_added(passages, generation)
            self._update(qdrant.UpdateOperation.upsert_points(points))

        await self._write(work)

    async def search(self, vector: Vector, scope: SearchScope, *, depth: int, deadline: Deadline) -> list[PassageHit]:
        if self._settling is None:
            self._settle_later()
        return await self._readers.run(lambda: self._search(vector, scope, depth), deadline)

    async def passages(
        self, keys: Sequence[PassageKey], scope: SearchScope, *, deadline: Deadline
    ) -> dict[PassageKey, Passage]:
        if not keys:
            return {}
        return await self._readers.run(lambda: self._fetch(keys, scope), deadline)

    async def count(self, generation: int) -> int:
        request = qdrant.CountRequest(exact=True, filter=qdrant.Filter(must=[up_to(generation)]))
        return await self._readers.run(lambda: int(self._shard.count(request)))

    async def remove(self, records: Collection[tuple[NodeIdentity, str]]) -> None:
        if not records:
            return
        of_records = qdrant.Filter(must=[one_of("record", (record_term(*record) for record in records))])
        await self._write(lambda: self._update(qdrant.UpdateOperation.delete_points_by_filter(of_records)))

    async def remove_after(self, generation: int) -> None:
        later = qdrant.Filter(
            must=[qdrant.FieldCondition(key="generation", range=qdrant.RangeFloat(gt=float(generation)))]
        )

        def work() -> None:
            self._update(qdrant.UpdateOperation.delete_points_by_filter(later))
            self._holdings = Holdings(min(self._holdings.latest, generation), self._holdings.all_public)

        await self._write(work)

    async def keys(self, generation: int) -> set[PassageKey]:
        return await self._readers.run(lambda: self._all_keys(generation))

    async def check(self, deadline: Deadline) -> None:
        await self._readers.run(self._shard.info, deadline)

    def readings(self) -> Iterator[Reading]:
        """How long its queues are."""
        yield from self._readers.readings("reading")
        yield from self._writers.readings("writing")

    async def close(self) -> None:
        if self._settling is not None:
            self._settling.cancel()
            await asyncio.gather(self._settling, return_exceptions=True)
        await self._readers.close()
        await self._writers.run(self._shard.close)
        await self._writers.close()

    async def _write(self, work: Callable[[], None]) -> None:
        """In the one thread that writes."""
        await self._writers.run(work)
        self._writes += 1
        self._settle_later()

    def _update(self, operation: qdrant.UpdateOperation) -> None:
        self._shards.require_space()
        self._shard.update(operation)
        if self._since_copy is not None:
            self._since_copy.append(operation)
            if len(self._since_copy) > _MOST_SINCE_COPY:
                self._since_copy = None

    def _settle_later(self) -> None:
        if self._settling is None or self._settling.done():
            self._settling = asyncio.create_task(self._settle())

    async def _settle(self) -> None:
        """Once writing pauses: leave a start no log to replay, and build a graph if one is wanted."""
        writes = -1
        while writes != self._writes:
            writes = self._writes
            await asyncio.sleep(_PAUSE_SECONDS)
        # The old shard answers on, and exactly, whatever goes wrong here; the next write tries again.
        with contextlib.suppress(EngineUnavailable, DataFolderUnwritable):
            await self._writers.run(self._shard.flush)
            await self._build_graph_if_due()

    async def _build_graph_if_due(self) -> None:
        """Build the graph on a copy, bring the copy up to date, and let it answer; else all stays as it is."""
        info = await self._writers.run(self._shard.info)
        if info.points_count - info.indexed_vectors_count < self._exact_until:
            return
        copy, adopted = await self._writers.run(self._begin_copy), False
        try:
            if await self._shards.index(copy, seconds=self._index_seconds):
                adopted = await self._writers.run(lambda: self._swap(copy))
        finally:
            self._since_copy = None
            if not adopted:
                self._shards.discard(copy)

    def _begin_copy(self) -> Path:
        copy = self._shards.copy(self._shard)
        self._since_copy = []
        return copy

    def _swap(self, copy: Path) -> bool:
        if self._since_copy is None:
            return False
        indexed = self._shards.adopt(copy)
        for operation in self._since_copy:
            indexed.update(operation)
        indexed.flush()
        # A search that still reads the old shard holds on to it until it is done.
        self._shard = indexed
        self._shards.settle(copy)
        return True

    def _search(self, vector: Vector, scope: SearchScope, depth: int) -> list[PassageHit]:
        shard = self._shard
        nearest = qdrant.Query.Nearest(vector.tolist())
        limit = self._reach.first(depth)
        while True:
            holdings = self._holdings
            points = shard.query(
                qdrant.QueryRequest(limit=limit, query=nearest, filter=within(scope, holdings), with_payload=False)
            )
            if self._holdings is not holdings:
                continue
            names = self._names_of(shard, [cast(int, point.id) for point in points])
            best: dict[int, int] = {}
            for place, name in enumerate(names):
                if name is not None:
                    best.setdefault(name[0], place)
            if len(best) >= depth or len(points) < limit:
                break
            limit = self._reach.next(limit)
        places = list(best.values())[:depth]
        if len(places) == depth:
            self._reach.learn(depth, places[-1] + 1)
        chosen = ((names[place], points[place].score) for place in places)
        return in_order([PassageHit(name[1], score) for name, score in chosen if name is not None])

    def _names_of(self, shard: qdrant.EdgeShard, ids: Sequence[int]) -> list[Name | None]:
        """The points' names, by heart where they were met before; None for a point that went away meanwhile."""
        names = list(map(self._names.get, ids))
        missing: list[qdrant.PointId] = [id for id, name in zip(ids, names, strict=True) if name is None]
        if not missing:
            return names
        met: dict[int, Name] = {}
        for record in shard.retrieve(missing, with_payload=["key"], with_vector=False):
            id, key = cast(int, record.id), stored_key(record)
            met[id] = name = number_of(record_term(key.identity, key.content_hash)), key
            self._names.put(id, name)
        return [name or met.get(id) for id, name in zip(ids, names, strict=True)]

    def _fetch(self, keys: Sequence[PassageKey], scope: SearchScope) -> dict[PassageKey, Passage]:
        ids: set[qdrant.PointId] = {point_id(key) for key in keys}
        within = qdrant.Filter(must=[qdrant.HasIdCondition(ids), *conditions_of(scope)])
        records, _ = self._shard.scroll(
            qdrant.ScrollRequest(limit=len(ids), filter=within, with_payload=True, with_vector=False)
        )
        passages = (stored_passage(record) for record in records)
        return {passage.key: passage for passage in passages}

    def _all_keys(self, generation: int) -> set[PassageKey]:
        keys: set[PassageKey] = set()
        offset = None
        while True:
            records, offset = self._shard.scroll(
                qdrant.ScrollRequest(
                    offset=offset,
                    limit=_SCROLL,
                    filter=qdrant.Filter(must=[up_to(generation)]),
                    with_payload=["key"],
                    with_vector=False,
                )
            )
            keys.update(stored_key(record) for record in records)
            if offset is None:
                return keys


def _is_own(error: Exception) -> bool:
    """The engine raises bare Exceptions."""
    return type(error) is Exception or isinstance(error, ValueError | OSError)
