"""A passage as the text engines keep it: its display fields as JSON, its filter fields as terms."""

import json
from collections.abc import Mapping
from hashlib import blake2b

from service.domain.content import NodeRecord, Passage, record_from_json
from service.domain.filters import MANY_VALUED, SINGLE_VALUED
from service.domain.graph import Node, NodeIdentity

FILTER_FIELDS = (*SINGLE_VALUED, *MANY_VALUED)
"""The engines' filter fields are named as the filters are."""

_PROPERTY = {**SINGLE_VALUED, **MANY_VALUED}


def passage_to_json(passage: Passage) -> str:
    """ASCII JSON that `passage_from_json` reads back to an equal passage."""
    rest = json.dumps(
        {
            "content_hash": passage.content_hash,
            "number": passage.number,
            "heading": passage.heading,
            "anchor": passage.anchor,
            "text": passage.text,
            "languages": passage.languages,
            "moniker_range": passage.moniker_range,
        },
        separators=(",", ":"),
    )
    return f'{{"node":{_node_of(passage.node).body},{rest[1:]}'


def passage_from_json(text: str | bytes) -> Passage:
    value = json.loads(text)
    return Passage(
        node=record_from_json({"node": value["node"], "sections": (), "references": ()}).node,
        content_hash=value["content_hash"],
        number=value["number"],
        heading=value["heading"],
        anchor=value["anchor"],
        text=value["text"],
        languages=tuple(value["languages"]),
        moniker_range=value["moniker_range"],
    )


def filter_values(node: Node) -> Mapping[str, tuple[str, ...]]:
    """Filter name → the node's values, made fit for an engine."""
    return _node_of(node).filter_values


class _StoredNode:
    """What every passage of a node repeats."""

    def __init__(self, node: Node) -> None:
        self.node = node
        self.body = json.dumps(NodeRecord(node).as_json()["node"], separators=(",", ":"))
        self.filter_values = {
            name: tuple(engine_text(value) for value in _values(node, name)) for name in FILTER_FIELDS
        }


_last: list[_StoredNode] = []
"""The node that was asked for last, if any: passages come node by node. Written in one step, by any thread."""


def _node_of(node: Node) -> _StoredNode:
    if _last and (last := _last[0]).node is node:
        return last
    stored = _StoredNode(node)
    _last[:] = [stored]
    return stored


def record_term(identity: NodeIdentity, content_hash: str) -> str:
    """Names all passages of one record."""
    return engine_text(f"{content_hash}:{identity.key}")


def number_of(text: str) -> int:
    """A 63-bit number for a key; two keys of a million meet with a chance of about 10⁻⁷."""
    return int.from_bytes(blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()) >> 1


def engine_text(text: str) -> str:
    """The text with lone surrogates written as escapes: no engine takes them as they are."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def _values(node: Node, name: str) -> tuple[str, ...]:
    value = getattr(node.identity if name == "locale" else node, _PROPERTY[name])
    return value if isinstance(value, tuple) else () if value is None else (str(value),)
