"""Nearest passages by cosine in the process, by qdrant-edge (Qdrant's own engine)."""

import json
import shutil
import threading
from collections.abc import Callable, Collection, Iterable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import cast

import qdrant_edge as qdrant

from adapters.embedded.holdings import Holdings
from adapters.embedded.memo import Memo
from adapters.embedded.ranked_hits import in_order
from adapters.embedded.reach import Reach
from adapters.embedded.stored_passage import (
    engine_text,
    filter_values,
    number_of,
    passage_from_json,
    passage_to_json,
    record_term,
)
from adapters.embedded.threads import EngineThreads, engine_failure
from service.domain.content import Passage, PassageKey
from service.domain.deadline import Deadline
from service.domain.filters import SearchScope
from service.domain.graph import EVERYONE, NodeIdentity
from service.ports import PassageHit, Vector, Vectors

ENGINE = "qdrant-edge"

Name = tuple[int, PassageKey]
"""A passage's record, as a number, and its key."""

Condition = (
    qdrant.FieldCondition
    | qdrant.IsEmptyCondition
    | qdrant.IsNullCondition
    | qdrant.HasIdCondition
    | qdrant.HasVectorCondition
    | qdrant.NestedCondition
    | qdrant.Filter
)

_SCROLL = 1_000


class QdrantEdgeIndex:
    """VectorIndex in a folder of its own, one shard a model. Every acknowledged write is in its write-ahead log."""

    def __init__(
        self, shard: qdrant.EdgeShard, *, kept_keys: int, kept_passages: int, workers: int, waiting: int
    ) -> None:
        self._shard = shard
        self._writing = threading.Lock()
        self._holdings = _survey(shard)
        self._reach = Reach()
        self._names: Memo[int, Name] = Memo(kept_keys)
        self._passages: Memo[PassageKey, Passage] = Memo(kept_passages)
        self._readers = EngineThreads(ENGINE, workers=workers, waiting=waiting, is_own=_is_own)
        self._writers = EngineThreads(ENGINE, workers=1, waiting=waiting, is_own=_is_own)

    @classmethod
    def open(
        cls,
        folder: Path,
        *,
        model: str,
        dimensions: int,
        kept_keys: int = 200_000,
        kept_passages: int = 2_048,
        workers: int = 2,
        waiting: int = 64,
    ) -> "QdrantEdgeIndex":
        """Open the model's shard in `folder`, making it where there is none; vectors of two models never meet.

        Raises EngineUnavailable (also when another process has it open) or DataFolderUnwritable.
        """
        path = folder / sha256(f"{model}/{dimensions}".encode()).hexdigest()[:16]
        try:
            folder.mkdir(parents=True, exist_ok=True)
            if not path.exists():
                _create(path, dimensions)
            shard = qdrant.EdgeShard.load(str(path))
        except Exception as error:
            if _is_own(error):
                raise engine_failure(ENGINE, error) from error
            raise
        return cls(shard, kept_keys=kept_keys, kept_passages=kept_passages, workers=workers, waiting=waiting)

    @property
    def engine(self) -> str:
        return ENGINE

    async def add(self, passages: Sequence[Passage], vectors: Vectors, generation: int) -> None:
        if not passages:
            return

        def work() -> None:
            points = [_point(passage, vector, generation) for passage, vector in zip(passages, vectors, strict=True)]
            # Before the first of them is there: a search that looked without a condition looks again.
            self._holdings = self._holdings.with_added(passages, generation)
            self._shard.update(qdrant.UpdateOperation.upsert_points(points))

        await self._write(work)
        for passage in passages:
            self._passages.forget(passage.key)

    async def search(self, vector: Vector, scope: SearchScope, *, depth: int, deadline: Deadline) -> list[PassageHit]:
        return await self._readers.run(lambda: self._search(vector, scope, depth), deadline)

    async def passages(
        self, keys: Sequence[PassageKey], scope: SearchScope, *, deadline: Deadline
    ) -> dict[PassageKey, Passage]:
        if not keys:
            return {}
        return await self._readers.run(lambda: self._fetch(keys, scope), deadline)

    async def count(self, generation: int) -> int:
        request = qdrant.CountRequest(exact=True, filter=qdrant.Filter(must=[_up_to(generation)]))
        return await self._readers.run(lambda: int(self._shard.count(request)))

    async def remove(self, records: Collection[tuple[NodeIdentity, str]]) -> None:
        if not records:
            return
        of_records = qdrant.Filter(must=[_one_of("record", (record_term(*record) for record in records))])
        await self._write(lambda: self._shard.update(qdrant.UpdateOperation.delete_points_by_filter(of_records)))
        self._passages.clear()

    async def remove_after(self, generation: int) -> None:
        later = qdrant.Filter(
            must=[qdrant.FieldCondition(key="generation", range=qdrant.RangeFloat(gt=float(generation)))]
        )

        def work() -> None:
            self._shard.update(qdrant.UpdateOperation.delete_points_by_filter(later))
            self._holdings = Holdings(min(self._holdings.latest, generation), self._holdings.all_public)

        await self._write(work)
        self._passages.clear()

    async def keys(self, generation: int) -> set[PassageKey]:
        return await self._readers.run(lambda: self._all_keys(generation))

    async def check(self, deadline: Deadline) -> None:
        await self._readers.run(self._shard.info, deadline)

    async def close(self) -> None:
        await self._readers.close()
        await self._writers.run(self._shard.close)
        await self._writers.close()

    async def _write(self, work: Callable[[], None]) -> None:
        def write() -> None:
            with self._writing:
                work()

        await self._writers.run(write)

    def _search(self, vector: Vector, scope: SearchScope, depth: int) -> list[PassageHit]:
        nearest = qdrant.Query.Nearest(vector.tolist())
        limit = self._reach.first(depth)
        while True:
            holdings = self._holdings
            points = self._shard.query(
                qdrant.QueryRequest(limit=limit, query=nearest, filter=_within(scope, holdings), with_payload=False)
            )
            if self._holdings is not holdings:
                continue
            names = self._names_of([cast(int, point.id) for point in points])
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

    def _names_of(self, ids: Sequence[int]) -> list[Name | None]:
        """The points' names, by heart where they were met before; None for a point that went away meanwhile."""
        names = list(map(self._names.get, ids))
        missing: list[qdrant.PointId] = [id for id, name in zip(ids, names, strict=True) if name is None]
        if not missing:
            return names
        met: dict[int, Name] = {}
        for record in self._shard.retrieve(missing, with_payload=["key"], with_vector=False):
            id, key = cast(int, record.id), _key(record)
            met[id] = name = number_of(record_term(key.identity, key.content_hash)), key
            self._names.put(id, name)
        return [name or met.get(id) for id, name in zip(ids, names, strict=True)]

    def _fetch(self, keys: Sequence[PassageKey], scope: SearchScope) -> dict[PassageKey, Passage]:
        ids: set[qdrant.PointId] = {_point_id(key) for key in keys}
        within = qdrant.Filter(must=[qdrant.HasIdCondition(ids), *_conditions(scope)])
        records, _ = self._shard.scroll(
            qdrant.ScrollRequest(limit=len(ids), filter=within, with_payload=True, with_vector=False)
        )
        passages = (_stored(record) for record in records)
        return {passage.key: passage for passage in passages}

    def _all_keys(self, generation: int) -> set[PassageKey]:
        keys: set[PassageKey] = set()
        offset = None
        while True:
            records, offset = self._shard.scroll(
                qdrant.ScrollRequest(
                    offset=offset,
                    limit=_SCROLL,
                    filter=qdrant.Filter(must=[_up_to(generation)]),
                    with_payload=["key"],
                    with_vector=False,
                )
            )
            keys.update(_key(record) for record in records)
            if offset is None:
                return keys


def _is_own(error: Exception) -> bool:
    """The engine raises bare Exceptions."""
    return type(error) is Exception or isinstance(error, ValueError | OSError)


def _create(path: Path, dimensions: int) -> None:
    """Made beside and renamed: a shard that was killed half made would never load."""
    partial = path.with_suffix(".partial")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir()
    shard = qdrant.EdgeShard.create(
        str(partial),
        qdrant.EdgeConfig(
            vectors=qdrant.EdgeVectorParams(size=dimensions, distance=qdrant.Distance.Cosine),
            wal_enabled=True,
        ),
    )
    for field in ("record", "visibleTo", "tags"):
        shard.update(qdrant.UpdateOperation.create_field_index(field, qdrant.PayloadSchemaType.Keyword))
    shard.update(qdrant.UpdateOperation.create_field_index("generation", qdrant.PayloadSchemaType.Integer))
    shard.flush()
    shard.close()
    partial.rename(path)


def _point(passage: Passage, vector: Vector, generation: int) -> qdrant.Point:
    node = passage.node
    payload = {
        "key": json.dumps([node.identity.uid, node.identity.locale, passage.content_hash, passage.number]),
        "record": record_term(node.identity, passage.content_hash),
        "visibleTo": [engine_text(audience) for audience in node.visible_to],
        "generation": generation,
        "stored": passage_to_json(passage),
        "tags": [_tag(name, value) for name, values in filter_values(node).items() for value in values],
    }
    return qdrant.Point(_point_id(passage.key), vector.tolist(), payload)


def _point_id(key: PassageKey) -> int:
    """A number: as a UUID, a hit's id costs more to read than its distance to compute."""
    return number_of(str(key))


def _key(record: qdrant.Record) -> PassageKey:
    uid, locale, content_hash, number = json.loads((record.payload or {})["key"])
    return PassageKey(NodeIdentity(uid, locale), content_hash, number)


def _stored(record: qdrant.Record) -> Passage:
    return passage_from_json((record.payload or {})["stored"])


def _within(scope: SearchScope, holdings: Holdings) -> qdrant.Filter | None:
    """The scope, without the conditions that hold of every passage."""
    must = _conditions(scope, current=not holdings.all_current(scope), visible=not holdings.all_visible(scope))
    return qdrant.Filter(must=must) if must else None


def _conditions(scope: SearchScope, *, current: bool = True, visible: bool = True) -> list[Condition]:
    conditions: list[Condition] = [
        _one_of("tags", (_tag(name, value) for value in values)) for name, values in scope.filter.constraints().items()
    ]
    if current:
        conditions.append(_up_to(scope.generation))
    if visible:
        conditions.append(_one_of("visibleTo", scope.audiences))
    return conditions


def _survey(shard: qdrant.EdgeShard) -> Holdings:
    """What a reopened shard holds."""
    everyone = qdrant.Filter(must=[_one_of("visibleTo", [EVERYONE])])
    newest, _ = shard.scroll(
        qdrant.ScrollRequest(
            limit=1,
            with_payload=["generation"],
            with_vector=False,
            order_by=qdrant.OrderBy("generation", qdrant.Direction.Desc),
        )
    )
    return Holdings(
        latest=(newest[0].payload or {})["generation"] if newest else 0,
        all_public=shard.count(qdrant.CountRequest(filter=everyone)) == shard.count(qdrant.CountRequest()),
    )


def _one_of(field: str, values: Iterable[str]) -> qdrant.FieldCondition:
    return qdrant.FieldCondition(key=field, match=qdrant.MatchAny(any=[engine_text(value) for value in values]))


def _tag(name: str, value: str) -> str:
    """All filters share one index: each index costs a new shard a dozen files. No filter's name holds the sign."""
    return f"{name}={value}"


def _up_to(generation: int) -> qdrant.FieldCondition:
    return qdrant.FieldCondition(key="generation", range=qdrant.RangeFloat(lte=float(generation)))
