"""What an estate's source says: records as a reader yields them, and the passages cut from them."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property
from typing import Any

from service.domain.graph import EdgeType, Node, NodeIdentity, NodeKind, Reference


class BlockKind(StrEnum):
    """How a block of a section is treated: prose may be cut, code and tables are kept whole where they fit."""

    PROSE = "prose"
    CODE = "code"
    TABLE = "table"
    QUIZ = "quiz"


@dataclass(frozen=True, slots=True)
class Block:
    """A stretch of readable text. `language` is a code block's, lower case; `line` is 1-based in the source file."""

    kind: BlockKind
    text: str
    line: int
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Section:
    """The text under one heading. `anchor` is the heading's fragment on the page, empty before the first heading.

    `moniker_range` is that of the zone which the section stands in, when it stands in one.
    """

    heading: str
    anchor: str
    level: int
    blocks: tuple[Block, ...]
    moniker_range: str | None = None


@dataclass(frozen=True)
class NodeRecord:
    """A node with everything its source says of it: immutable, addressed by the hash of its content.

    A record knows nothing of other records: its references are unlinked, so its hash moves only when its own
    source does.
    """

    node: Node
    sections: tuple[Section, ...] = ()
    references: tuple[Reference, ...] = ()

    @cached_property
    def content_hash(self) -> str:
        return hash_of(self.as_json())

    def as_json(self) -> dict[str, Any]:
        """Plain JSON that `record_from_json` reads back to an equal record."""
        return {
            "node": _node_to_json(self.node),
            "sections": [_section_to_json(section) for section in self.sections],
            "references": [_reference_to_json(reference) for reference in self.references],
        }


@dataclass(frozen=True, slots=True)
class Passage:
    """What the text engines rank: immutable, keyed by (uid, locale, content hash, number).

    `node` carries the display and filter fields; `text` is what is shown and highlighted.
    """

    node: Node
    content_hash: str
    number: int
    heading: str
    anchor: str
    text: str
    languages: tuple[str, ...] = ()
    moniker_range: str | None = None

    @property
    def key(self) -> "PassageKey":
        return PassageKey(self.node.identity, self.content_hash, self.number)

    @property
    def embedded_text(self) -> str:
        """What the sentence model reads: title and heading give a passage its subject."""
        head = self.node.title if self.heading in ("", self.node.title) else f"{self.node.title}: {self.heading}"
        return f"{head}\n{self.text}"


@dataclass(frozen=True, slots=True, order=True)
class PassageKey:
    """A passage's name in every text engine."""

    identity: NodeIdentity
    content_hash: str
    number: int

    def __str__(self) -> str:
        return f"{self.content_hash}:{self.number}:{self.identity.key}"

    @classmethod
    def parse(cls, text: str) -> "PassageKey":
        content_hash, number, key = text.split(":", 2)
        return cls(NodeIdentity.from_key(key), content_hash, int(number))


def hash_of(record: Any) -> str:
    """The content hash of a record as JSON: SHA-256 over its canonical form, 64 hex digits."""
    canonical = json.dumps(record, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


def content_root(manifest: Mapping[NodeIdentity, str]) -> str:
    """The snapshot's name: SHA-256 over the sorted identities and content hashes, 64 hex digits."""
    digest = hashlib.sha256()
    for identity in sorted(manifest):
        digest.update(json.dumps([identity.uid, identity.locale, manifest[identity]]).encode())
        digest.update(b"\n")
    return digest.hexdigest()


def record_from_json(value: Mapping[str, Any]) -> NodeRecord:
    """The inverse of `NodeRecord.as_json`; raises KeyError, TypeError or ValueError on anything else."""
    return NodeRecord(
        node=_node_from_json(value["node"]),
        sections=tuple(_section_from_json(section) for section in value["sections"]),
        references=tuple(_reference_from_json(reference) for reference in value["references"]),
    )


_NODE_LISTS = ("products", "topics", "roles", "audience", "region", "monikers", "aliases", "visible_to")
_NODE_SCALARS = (
    "title",
    "type",
    "url",
    "summary",
    "path",
    "docset",
    "workspace",
    "level",
    "language",
    "moniker_range",
    "last_modified",
)


def _node_to_json(node: Node) -> dict[str, Any]:
    value: dict[str, Any] = {
        "uid": node.identity.uid,
        "locale": node.identity.locale,
        "kind": node.kind.value,
        "extra": dict(node.extra),
    }
    value |= {name: getattr(node, name) for name in _NODE_SCALARS}
    value |= {name: list(getattr(node, name)) for name in _NODE_LISTS}
    return value


def _node_from_json(value: Mapping[str, Any]) -> Node:
    fields: dict[str, Any] = {name: value[name] for name in _NODE_SCALARS}
    fields |= {name: tuple(value[name]) for name in _NODE_LISTS}
    return Node(
        identity=NodeIdentity(value["uid"], value["locale"]),
        kind=NodeKind(value["kind"]),
        extra=dict(value["extra"]),
        **fields,
    )


def _section_to_json(section: Section) -> dict[str, Any]:
    return {
        "heading": section.heading,
        "anchor": section.anchor,
        "level": section.level,
        "moniker_range": section.moniker_range,
        "blocks": [[block.kind.value, block.text, block.line, block.language] for block in section.blocks],
    }


def _section_from_json(value: Mapping[str, Any]) -> Section:
    return Section(
        heading=value["heading"],
        anchor=value["anchor"],
        level=value["level"],
        moniker_range=value["moniker_range"],
        blocks=tuple(Block(BlockKind(kind), text, line, language) for kind, text, line, language in value["blocks"]),
    )


def _reference_to_json(reference: Reference) -> dict[str, Any]:
    # Left out where there are none, as most have none: records are kept by the million.
    aliases = {"target_aliases": list(reference.target_aliases)} if reference.target_aliases else {}
    return aliases | {
        "type": reference.type.value,
        "target_uid": reference.target_uid,
        "via": reference.via,
        "file": reference.file,
        "line": reference.line,
        "target_locale": reference.target_locale,
        "target_kind": reference.target_kind.value,
        "target_title": reference.target_title,
        "target_extra": dict(reference.target_extra),
        "weight": reference.weight,
        "ordinal": reference.ordinal,
    }


def _reference_from_json(value: Mapping[str, Any]) -> Reference:
    fields = dict(value)
    fields["type"] = EdgeType(fields["type"])
    fields["target_kind"] = NodeKind(fields["target_kind"])
    fields["target_aliases"] = tuple(fields.get("target_aliases", ()))
    return Reference(**fields)
