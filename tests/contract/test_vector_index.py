"""What the service relies on in any vector index."""

import asyncio

import numpy as np
import pytest

from service.domain.content import Passage
from service.domain.errors import EngineLate
from service.domain.filters import MANY_VALUED, SINGLE_VALUED
from service.domain.graph import NodeIdentity, NodeKind
from service.ports import Vector, VectorIndex, Vectors
from tests.contract.conftest import VECTOR_DIMENSIONS
from tests.contract.estate import HOSTILE_TEXTS, HOSTILE_UIDS, STAFF, gone, node, passage, scope, soon

pytestmark = pytest.mark.anyio


def unit(*values: float) -> Vector:
    """A vector of unit length, the rest of it zero."""
    vector = np.zeros(VECTOR_DIMENSIONS, dtype=np.float32)
    vector[: len(values)] = values
    return vector / np.linalg.norm(vector)


def at(*degrees: float) -> Vectors:
    """A vector an angle from the first axis."""
    return np.array([unit(np.cos(np.radians(each)), np.sin(np.radians(each))) for each in degrees], dtype=np.float32)


EAST = unit(1.0)


async def found(index: VectorIndex, depth: int = 10, **within: object) -> list[str]:
    hits = await index.search(EAST, scope(**within), depth=depth, deadline=soon())
    assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)
    return [hit.passage.identity.uid for hit in hits]


async def test_the_nearest_come_first_and_the_score_is_the_cosine(vector_index: VectorIndex) -> None:
    await vector_index.add([passage("far", ""), passage("near", ""), passage("opposite", "")], at(60, 10, 180), 1)
    hits = await vector_index.search(EAST, scope(), depth=10, deadline=soon())
    assert [hit.passage.identity.uid for hit in hits] == ["near", "far", "opposite"]
    assert [hit.score for hit in hits] == pytest.approx([np.cos(np.radians(10)), 0.5, -1.0], abs=1e-5)


async def test_depth_counts_nodes_each_by_its_best_passage(vector_index: VectorIndex) -> None:
    many = [passage("many", "", number) for number in range(60)]
    few = [passage(f"few {number}", "") for number in range(3)]
    await vector_index.add([*many, *few], at(*range(60, 0, -1), 70, 71, 72), 1)
    hits = await vector_index.search(EAST, scope(), depth=3, deadline=soon())
    assert [(hit.passage.identity.uid, hit.passage.number) for hit in hits] == [
        ("many", 59),
        ("few 0", 0),
        ("few 1", 0),
    ]
    assert await found(vector_index, depth=10) == ["many", "few 0", "few 1", "few 2"]
    assert await found(vector_index, depth=1) == ["many"]


async def test_equals_come_in_one_order(vector_index: VectorIndex) -> None:
    for number in reversed(range(5)):
        await vector_index.add([passage(f"same {number}", "")], at(20), 1)
    assert await found(vector_index) == [f"same {number}" for number in range(5)]


@pytest.mark.parametrize("text", [text for text in HOSTILE_TEXTS if "\ud800" not in text and "\udfff" not in text])
async def test_any_text_is_kept_as_it_is(vector_index: VectorIndex, text: str) -> None:
    kept = passage("a", text, title=f"T {text}", heading=f"H {text}")
    await vector_index.add([kept], at(0), 1)
    assert await vector_index.passages([kept.key], scope(), deadline=soon()) == {kept.key: kept}


async def test_any_uid_is_a_name(vector_index: VectorIndex) -> None:
    passages = [passage(uid, "slot", products=(uid,)) for uid in HOSTILE_UIDS]
    await vector_index.add(passages, at(*range(len(passages))), 1)
    assert await found(vector_index, depth=100) == HOSTILE_UIDS
    keys = [each.key for each in passages]
    assert await vector_index.passages(keys, scope(), deadline=soon()) == dict(zip(keys, passages, strict=True))
    assert await vector_index.keys(1) == set(keys)
    for uid in HOSTILE_UIDS:
        assert await found(vector_index, product=uid) == [uid]
    await vector_index.remove([(each.node.identity, each.content_hash) for each in passages[1:]])
    assert await vector_index.keys(1) == {keys[0]}


def tagged(uid: str, value: str) -> Passage:
    """A passage whose every filter property holds the value; kind and locale take what they can."""
    single = {name: value for name in SINGLE_VALUED.values() if name not in ("kind", "locale")}
    many = dict.fromkeys(MANY_VALUED.values(), (value, "shared"))
    kind = NodeKind.UNIT if value == "a" else NodeKind.PAGE
    return Passage(node(uid, kind=kind, locale=value, **single, **many), "0" * 64, 0, "", "", "slot")


@pytest.mark.parametrize("name", sorted({*SINGLE_VALUED, *MANY_VALUED} - {"kind"}))
async def test_each_filter_narrows(vector_index: VectorIndex, name: str) -> None:
    await vector_index.add([tagged("x", "a"), tagged("y", "b")], at(20, 10), 1)
    assert await found(vector_index, **{name: "a"}) == ["x"]
    assert await found(vector_index, **{name: ("a", "b")}) == ["y", "x"]
    assert await found(vector_index, **{name: "A"}) == []
    assert await found(vector_index, **{name: "\ud800"}) == []


async def test_any_value_of_a_filter_and_all_filters(vector_index: VectorIndex) -> None:
    await vector_index.add([tagged("x", "a"), tagged("y", "b")], at(20, 10), 1)
    assert await found(vector_index, kind="unit") == ["x"]
    assert await found(vector_index, product="shared", topic="shared") == ["y", "x"]
    assert await found(vector_index, product="shared", topic="a", role=("a", "c")) == ["x"]
    assert await found(vector_index, product="a", topic="b") == []


async def test_nobody_sees_what_is_not_for_them(vector_index: VectorIndex) -> None:
    public, secret = passage("public", ""), passage("secret", "", visible_to=("staff",))
    await vector_index.add([public], at(20), 1)
    assert await found(vector_index) == ["public"]
    await vector_index.add([secret], at(10), 1)
    assert await found(vector_index) == ["public"]
    assert await found(vector_index, principal=STAFF) == ["secret", "public"]
    both = [public.key, secret.key]
    assert set(await vector_index.passages(both, scope(), deadline=soon())) == {public.key}
    assert set(await vector_index.passages(both, scope(principal=STAFF), deadline=soon())) == set(both)


async def test_the_next_generation_shows_when_its_time_has_come(vector_index: VectorIndex) -> None:
    old, new = passage("old", ""), passage("new", "")
    await vector_index.add([old], at(20), 1)
    await vector_index.add([new], at(10), 2)
    assert await found(vector_index) == ["old"]
    assert await found(vector_index, generation=2) == ["new", "old"]
    assert [await vector_index.count(generation) for generation in (0, 1, 2)] == [0, 1, 2]
    assert await vector_index.keys(1) == {old.key}
    assert await vector_index.passages([new.key], scope(), deadline=soon()) == {}
    await vector_index.remove_after(1)
    assert await vector_index.keys(2) == {old.key}
    assert await found(vector_index, generation=2) == ["old"]


async def test_a_key_is_held_once(vector_index: VectorIndex) -> None:
    await vector_index.add([passage("a", "before"), passage("b", "")], at(10, 20), 1)
    await vector_index.add([passage("a", "after")], at(30), 1)
    assert await found(vector_index) == ["b", "a"]
    assert await vector_index.count(1) == 2
    (kept,) = (await vector_index.passages([passage("a", "").key], scope(), deadline=soon())).values()
    assert kept.text == "after"


async def test_removing_a_record_leaves_its_other_versions(vector_index: VectorIndex) -> None:
    before = [passage("a", "", number, content_hash="1" * 64) for number in range(3)]
    after = passage("a", "", content_hash="2" * 64)
    other = passage("b", "", content_hash="1" * 64)
    await vector_index.add([*before, after, other], at(1, 2, 3, 4, 5), 1)
    await vector_index.remove([(NodeIdentity("a", "en-us"), "1" * 64), (NodeIdentity("nobody", "en-us"), "1" * 64)])
    await vector_index.remove([])
    assert await vector_index.keys(1) == {after.key, other.key}
    assert await found(vector_index) == ["a", "b"]


async def test_two_versions_of_a_node_are_told_apart(vector_index: VectorIndex) -> None:
    """Between two snapshots both are there; which one counts is not for the index to say."""
    await vector_index.add([passage("a", "", number, content_hash="1" * 64) for number in range(3)], at(1, 2, 3), 1)
    await vector_index.add([passage("a", "", content_hash="2" * 64)], at(9), 2)
    hits = await vector_index.search(EAST, scope(2), depth=10, deadline=soon())
    assert [hit.passage.content_hash for hit in hits] == ["1" * 64, "2" * 64]
    hits = await vector_index.search(EAST, scope(1), depth=10, deadline=soon())
    assert [hit.passage.content_hash for hit in hits] == ["1" * 64]


async def test_an_empty_index_answers(vector_index: VectorIndex) -> None:
    assert await found(vector_index) == []
    assert await vector_index.keys(9) == set()
    assert await vector_index.count(9) == 0
    assert await vector_index.passages([passage("a", "").key], scope(), deadline=soon()) == {}
    await vector_index.add([], at(), 1)
    await vector_index.check(soon())


async def test_a_deadline_that_has_passed_is_kept(vector_index: VectorIndex) -> None:
    kept = passage("a", "")
    await vector_index.add([kept], at(0), 1)
    with pytest.raises(EngineLate):
        await vector_index.search(EAST, scope(), depth=10, deadline=gone())
    with pytest.raises(EngineLate):
        await vector_index.passages([kept.key], scope(), deadline=gone())
    with pytest.raises(EngineLate):
        await vector_index.check(gone())


async def test_searches_go_on_while_the_next_generation_is_added(vector_index: VectorIndex) -> None:
    await vector_index.add([passage(f"old {number}", "") for number in range(5)], at(*range(5)), 1)
    for number in range(5):
        adding = vector_index.add([passage(f"new {number}", "", visible_to=("staff",))], at(number), 2)
        _, *seen = await asyncio.gather(adding, *(found(vector_index, depth=20) for _ in range(4)))
        assert seen == 4 * [[f"old {number}" for number in range(5)]]
    assert len(await found(vector_index, depth=20, generation=2, principal=STAFF)) == 10
