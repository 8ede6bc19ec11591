"""Equal hash, equal content: every field of what is published moves the hash, those of tomorrow too."""

import json
import types
import typing
from collections.abc import Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from service.domain.content import Block, BlockKind, NodeRecord, Section, record_from_json
from service.domain.graph import EdgeType, Node, NodeIdentity, NodeKind, Reference

TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=5)
SCALARS: dict[Any, st.SearchStrategy[Any]] = {
    str: TEXT,
    int: st.integers(0, 10**6),
    float: st.floats(0, 1).map(float),
    bool: st.booleans(),
    type(None): st.none(),
}


def values_of(hint: Any) -> st.SearchStrategy[Any]:
    """Anything that a field of this type may hold; a type that no record has had yet fails here."""
    if hint in SCALARS:
        return SCALARS[hint]
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return st.one_of([values_of(argument) for argument in arguments])
    if origin is tuple and arguments[1:] == (...,):
        return st.lists(values_of(arguments[0]), max_size=2).map(tuple)
    if origin is Mapping:
        return st.dictionaries(values_of(arguments[0]), values_of(arguments[1]), max_size=2)
    if isinstance(hint, type) and issubclass(hint, Enum):
        return st.sampled_from(list(hint))
    if is_dataclass(hint) or hint is NodeIdentity:
        return st.builds(hint, **{name: values_of(inner) for name, inner in typing.get_type_hints(hint).items()})
    raise AssertionError(f"How is a {hint} written into a record?")


def same(one: Any, other: Any) -> bool:
    """As a store tells values apart: `1`, `1.0` and `true` are three, the order of a mapping says nothing."""
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, tuple) and isinstance(other, tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if is_dataclass(one) and type(one) is type(other):
        return all(same(getattr(one, field.name), getattr(other, field.name)) for field in fields(one))
    return type(one) is type(other) and one == other


NODE = Node(NodeIdentity("a", "en-us"), NodeKind.PAGE, "A")
BLOCK = Block(BlockKind.PROSE, "text", 1)
SECTION = Section("H", "h", 2, (BLOCK,))
REFERENCE = Reference(EdgeType.XREF, "b", "link", "a.md", 1)


def holding(part: Any) -> NodeRecord:
    """A record that differs from others made here by this part alone."""
    match part:
        case NodeIdentity():
            return NodeRecord(replace(NODE, identity=part), (SECTION,), (REFERENCE,))
        case Node():
            return NodeRecord(part, (SECTION,), (REFERENCE,))
        case Block():
            return NodeRecord(NODE, (replace(SECTION, blocks=(part,)),), (REFERENCE,))
        case Section():
            return NodeRecord(NODE, (part,), (REFERENCE,))
        case _:
            return NodeRecord(NODE, (SECTION,), (part,))


PARTS = [
    pytest.param(kind, name, id=f"{kind.__name__}.{name}")
    for kind in (NodeIdentity, Node, Section, Block, Reference)
    for name in typing.get_type_hints(kind)
]


@pytest.mark.parametrize(("kind", "name"), PARTS)
@settings(max_examples=15)
@given(data=st.data())
def test_one_field_that_differs_is_another_hash(kind: type, name: str, data: st.DataObject) -> None:
    part = data.draw(values_of(kind))
    value = data.draw(values_of(typing.get_type_hints(kind)[name]))
    assume(not same(value, getattr(part, name)))
    others = {other: getattr(part, other) for other in typing.get_type_hints(kind) if other != name}
    assert holding(kind(**others, **{name: value})).content_hash != holding(part).content_hash


RECORDS = st.builds(
    NodeRecord, values_of(Node), st.lists(values_of(Section), max_size=2).map(tuple),
    st.lists(values_of(Reference), max_size=2).map(tuple),
)  # fmt: skip


@given(RECORDS, RECORDS)
def test_records_have_one_hash_exactly_where_they_are_the_same(one: NodeRecord, other: NodeRecord) -> None:
    assert (one.content_hash == other.content_hash) == same(
        (one.node, one.sections, one.references), (other.node, other.sections, other.references)
    )


@given(RECORDS)
def test_a_record_that_was_stored_or_built_in_another_order_has_its_hash(record: NodeRecord) -> None:
    stored = record_from_json(json.loads(json.dumps(record.as_json())))
    shuffled = replace(record, node=replace(record.node, extra=dict(reversed(record.node.extra.items()))))
    assert stored.content_hash == shuffled.content_hash == record.content_hash
    assert same(stored.node, record.node)
    assert same((stored.sections, stored.references), (record.sections, record.references))


def test_the_order_of_sections_blocks_and_references_is_content() -> None:
    other = replace(SECTION, heading="I", anchor="i")
    assert NodeRecord(NODE, (SECTION, other)).content_hash != NodeRecord(NODE, (other, SECTION)).content_hash
    links = (REFERENCE, replace(REFERENCE, line=2))
    assert NodeRecord(NODE, (), links).content_hash != NodeRecord(NODE, (), links[::-1]).content_hash
