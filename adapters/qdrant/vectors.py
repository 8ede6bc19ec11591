"""VectorIndex in Qdrant: the collection of one model, every field of the scope indexed."""

import hashlib
import json
import math
from collections.abc import Collection, Iterable, Sequence
from typing import Any

from qdrant_client import AsyncQdrantClient, models

from adapters.indexing.ranked_hits import in_order
from adapters.indexing.reach import Reach
from adapters.indexing.stored_passage import (
    engine_text,
    filter_values,
    number_of,
    passage_from_json,
    passage_to_json,
    record_term,
)
from adapters.qdrant.connection import ENGINE, engine_errors
from service.domain.content import Passage, PassageKey
from service.domain.deadline import Deadline
from service.domain.errors import EngineLate
from service.domain.filters import SearchScope
from service.domain.graph import NodeIdentity
from service.ports import PassageHit, Vector, Vectors

_SCROLL = 1_000
_RECORDS_AT_ONCE = 1_000


def collection_name(prefix: str, model: str, dimensions: int) -> str:
    """Vectors of two models never meet."""
    return f"{prefix}-passages-{hashlib.sha256(f'{model}/{dimensions}'.encode()).hexdigest()[:16]}"


class QdrantIndex:
    """`write_seconds` bounds each write and each step of a walk through the whole collection."""

    def __init__(
        self,
        client: AsyncQdrantClient,
        *,
        model: str,
        dimensions: int,
        prefix: str = "cogitave",
        write_seconds: float = 60.0,
    ) -> None:
        self._client = client
        self._collection = collection_name(prefix, model, dimensions)
        self._write_seconds = write_seconds
        self._reach = Reach()

    @property
    def engine(self) -> str:
        return ENGINE

    async def add(self, passages: Sequence[Passage], vectors: Vectors, generation: int) -> None:
        if not passages:
            return
        points = self.points(passages, vectors, generation)
        async with engine_errors(self._write_seconds):
            await self._client.upsert(self._collection, points, wait=True)

    async def search(self, vector: Vector, scope: SearchScope, *, depth: int, deadline: Deadline) -> list[PassageHit]:
        limit = self._reach.first(depth)
        while True:
            points = await self._nearest(vector, scope, limit, deadline)
            keys = [_key(point.payload) for point in points]
            best: dict[tuple[NodeIdentity, str], int] = {}
            for place, key in enumerate(keys):
                best.setdefault((key.identity, key.content_hash), place)
            if len(best) >= depth or len(points) < limit:
                break
            limit = self._reach.next(limit)
        places = list(best.values())[:depth]
        if len(places) == depth:
            self._reach.learn(depth, places[-1] + 1)
        return in_order([PassageHit(keys[place], points[place].score) for place in places])

    async def passages(
        self, keys: Sequence[PassageKey], scope: SearchScope, *, deadline: Deadline
    ) -> dict[PassageKey, Passage]:
        if not keys:
            return {}
        wanted = models.HasIdCondition(has_id=[number_of(str(key)) for key in keys])
        async with _in_time(deadline):
            records, _ = await self._client.scroll(
                self._collection,
                scroll_filter=models.Filter(must=[wanted, *_within(scope)]),
                limit=len(keys),
                with_payload=["stored"],
            )
        passages = (passage_from_json((record.payload or {})["stored"]) for record in records)
        return {passage.key: passage for passage in passages}

    async def count(self, generation: int) -> int:
        async with engine_errors(self._write_seconds):
            counted = await self._client.count(
                self._collection, count_filter=models.Filter(must=[_up_to(generation)]), exact=True
            )
        return counted.count

    async def remove(self, records: Collection[tuple[NodeIdentity, str]]) -> None:
        names = [record_term(identity, content_hash) for identity, content_hash in records]
        for start in range(0, len(names), _RECORDS_AT_ONCE):
            await self._delete(_one_of("record", names[start : start + _RECORDS_AT_ONCE]))

    async def remove_after(self, generation: int) -> None:
        await self._delete(models.FieldCondition(key="generation", range=models.Range(gt=float(generation))))

    async def keys(self, generation: int) -> set[PassageKey]:
        keys: set[PassageKey] = set()
        offset = None
        while True:
            async with engine_errors(self._write_seconds):
                records, offset = await self._client.scroll(
                    self._collection,
                    scroll_filter=models.Filter(must=[_up_to(generation)]),
                    limit=_SCROLL,
                    offset=offset,
                    with_payload=["key"],
                )
            keys.update(_key(record.payload) for record in records)
            if offset is None:
                return keys

    async def check(self, deadline: Deadline) -> None:
        async with _in_time(deadline):
            await self._client.get_collection(self._collection)

    async def close(self) -> None:
        """The client is its opener's to close."""

    @staticmethod
    def points(passages: Sequence[Passage], vectors: Vectors, generation: int) -> list[models.PointStruct]:
        """What is kept of these passages; vectors has a row for each."""
        return [_point(passage, vector, generation) for passage, vector in zip(passages, vectors, strict=True)]

    async def _nearest(
        self, vector: Vector, scope: SearchScope, limit: int, deadline: Deadline
    ) -> list[models.ScoredPoint]:
        async with _in_time(deadline):
            answer = await self._client.query_points(
                self._collection,
                query=vector.tolist(),
                query_filter=models.Filter(must=_within(scope)),
                limit=limit,
                with_payload=["key"],
                # Seconds in whole numbers: our own clock cuts finer, this one stops the server's work.
                timeout=math.ceil(deadline.seconds_left) or 1,
            )
        return answer.points

    async def _delete(self, condition: models.FieldCondition) -> None:
        async with engine_errors(self._write_seconds):
            await self._client.delete(
                self._collection, models.FilterSelector(filter=models.Filter(must=[condition])), wait=True
            )


def _in_time(deadline: Deadline) -> Any:
    if deadline.has_passed:
        raise EngineLate(ENGINE)
    return engine_errors(deadline.seconds_left)


def _point(passage: Passage, vector: Vector, generation: int) -> models.PointStruct:
    node = passage.node
    payload = {
        # JSON, so that every key reads back exactly, half a surrogate pair included.
        "key": json.dumps(str(passage.key)),
        "record": record_term(node.identity, passage.content_hash),
        "visibleTo": [engine_text(audience) for audience in node.visible_to],
        "generation": generation,
        "stored": passage_to_json(passage),
        **{name: list(values) for name, values in filter_values(node).items() if values},
    }
    return models.PointStruct(id=number_of(str(passage.key)), vector=vector.tolist(), payload=payload)


def _key(payload: dict[str, Any] | None) -> PassageKey:
    return PassageKey.parse(json.loads((payload or {})["key"]))


def _within(scope: SearchScope) -> list[models.Condition]:
    conditions: list[models.Condition] = [_up_to(scope.generation), _one_of("visibleTo", scope.audiences)]
    conditions.extend(_one_of(name, values) for name, values in scope.filter.constraints().items())
    return conditions


def _one_of(field: str, values: Iterable[str]) -> models.FieldCondition:
    return models.FieldCondition(key=field, match=models.MatchAny(any=sorted(map(engine_text, values))))


def _up_to(generation: int) -> models.FieldCondition:
    return models.FieldCondition(key="generation", range=models.Range(lte=float(generation)))
