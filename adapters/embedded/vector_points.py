"""A passage as a point of qdrant's, and a scope as its conditions."""

import json
from collections.abc import Iterable

import qdrant_edge as qdrant

from adapters.embedded.holdings import Holdings
from adapters.indexing.stored_passage import (
    engine_text,
    filter_values,
    number_of,
    passage_from_json,
    passage_to_json,
    record_term,
)
from service.domain.content import Passage, PassageKey
from service.domain.filters import SearchScope
from service.domain.graph import EVERYONE, NodeIdentity
from service.ports import Vector

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


def passage_point(passage: Passage, vector: Vector, generation: int) -> qdrant.Point:
    node = passage.node
    payload = {
        "key": json.dumps([node.identity.uid, node.identity.locale, passage.content_hash, passage.number]),
        "record": record_term(node.identity, passage.content_hash),
        "visibleTo": [engine_text(audience) for audience in node.visible_to],
        "generation": generation,
        "stored": passage_to_json(passage),
        "tags": [_tag(name, value) for name, values in filter_values(node).items() for value in values],
    }
    # The engine reads a buffer as it is; out of a list it takes each number by itself.
    return qdrant.Point(point_id(passage.key), memoryview(vector), payload)  # type: ignore[arg-type]


def point_id(key: PassageKey) -> int:
    """A number: as a UUID, a hit's id costs more to read than its distance to compute."""
    return number_of(str(key))


def stored_key(record: qdrant.Record) -> PassageKey:
    uid, locale, content_hash, number = json.loads((record.payload or {})["key"])
    return PassageKey(NodeIdentity(uid, locale), content_hash, number)


def stored_passage(record: qdrant.Record) -> Passage:
    return passage_from_json((record.payload or {})["stored"])


def within(scope: SearchScope, holdings: Holdings) -> qdrant.Filter | None:
    """The scope, without the conditions that hold of every passage."""
    must = conditions_of(scope, current=not holdings.all_current(scope), visible=not holdings.all_visible(scope))
    return qdrant.Filter(must=must) if must else None


def conditions_of(scope: SearchScope, *, current: bool = True, visible: bool = True) -> list[Condition]:
    conditions: list[Condition] = [
        one_of("tags", (_tag(name, value) for value in values)) for name, values in scope.filter.constraints().items()
    ]
    if current:
        conditions.append(up_to(scope.generation))
    if visible:
        conditions.append(one_of("visibleTo", scope.audiences))
    return conditions


def survey(shard: qdrant.EdgeShard) -> Holdings:
    """What a reopened shard holds."""
    everyone = qdrant.Filter(must=[one_of("visibleTo", [EVERYONE])])
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


def one_of(field: str, values: Iterable[str]) -> qdrant.FieldCondition:
    return qdrant.FieldCondition(key=field, match=qdrant.MatchAny(any=[engine_text(value) for value in values]))


def _tag(name: str, value: str) -> str:
    """All filters share one index: each index costs a new shard a dozen files. No filter's name holds the sign."""
    return f"{name}={value}"


def up_to(generation: int) -> qdrant.FieldCondition:
    return qdrant.FieldCondition(key="generation", range=qdrant.RangeFloat(lte=float(generation)))
