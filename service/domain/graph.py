"""The property graph's vocabulary: node identities, nodes, and the nine edge types."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

EVERYONE = "*"
"""The visibility class that every principal belongs to."""

NEUTRAL_LOCALE = "und"
"""The locale of nodes that belong to no language: products, roles, monikers."""

DEFAULT_WORKSPACE = "default"


class NodeKind(StrEnum):
    """What a node is; its Neo4j label is the name in capitals of Cypher's custom."""

    PAGE = "page"
    MODULE = "module"
    UNIT = "unit"
    LEARNING_PATH = "learningPath"
    CODE_SAMPLE = "codeSample"
    PRODUCT = "product"
    SKILL = "skill"
    ROLE = "role"
    MONIKER = "moniker"
    TOPIC = "topic"
    API = "api"
    RETIRED = "retired"

    @property
    def label(self) -> str:
        """`learningPath` → `LearningPath`."""
        return self.value[0].upper() + self.value[1:]


class EdgeType(StrEnum):
    """The closed vocabulary of nine."""

    PART_OF = "partOf"
    DEPENDS_ON = "dependsOn"
    XREF = "xref"
    APPLIES_TO = "appliesTo"
    FOR_ROLE = "forRole"
    TEACHES_SKILL = "teachesSkill"
    SUPERSEDED_BY = "supersededBy"
    IMPLEMENTED_BY = "implementedBy"
    DERIVED_FROM = "derivedFrom"


class NodeIdentity(NamedTuple):
    """A node's name: an opaque uid and a locale. A translation shares its source's uid.

    A tuple, since a search looks identities up by the thousand and a tuple is hashed without running Python.
    """

    uid: str
    locale: str

    @property
    def key(self) -> str:
        """One string for both, as the engines store it. A locale holds no colon, so it reads back exactly."""
        return f"{self.locale}:{self.uid}"

    @classmethod
    def from_key(cls, key: str) -> "NodeIdentity":
        locale, _, uid = key.partition(":")
        return cls(uid, locale)

    def __str__(self) -> str:
        return self.key


@dataclass(frozen=True, slots=True)
class Node:
    """One node with the properties that DESIGN's graph carries.

    `visible_to` is access control and nothing else; `audience` and `region` only rank and facet.
    `last_modified` is an ISO 8601 date or date-time. `extra` holds what a kind needs and nothing else
    (`durationMinutes` of a unit, `family` and `order` of a moniker): scalars only. `language` is a code sample's.
    """

    identity: NodeIdentity
    kind: NodeKind
    title: str
    type: str | None = None
    url: str | None = None
    summary: str | None = None
    path: str | None = None
    docset: str = ""
    workspace: str = DEFAULT_WORKSPACE
    products: tuple[str, ...] = ()
    topics: tuple[str, ...] = ()
    roles: tuple[str, ...] = ()
    audience: tuple[str, ...] = ()
    region: tuple[str, ...] = ()
    level: str | None = None
    language: str | None = None
    moniker_range: str | None = None
    monikers: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    last_modified: str | None = None
    visible_to: tuple[str, ...] = (EVERYONE,)
    extra: Mapping[str, str | int | float | bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Reference:
    """An edge as its source's markup states it, before anyone knows whether the target exists.

    `target_locale` is None when the markup names a uid alone: linking then prefers the source's own locale.
    `target_kind`, `target_title`, `target_aliases` and `target_extra` describe the node that linking makes where no
    record has that uid (a product, a skill, an API that is documented elsewhere).
    """

    type: EdgeType
    target_uid: str
    via: str
    file: str
    line: int
    target_locale: str | None = None
    target_kind: NodeKind = NodeKind.API
    target_title: str | None = None
    target_extra: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    weight: float = 1.0
    ordinal: int | None = None
    target_aliases: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Edge:
    """A linked edge between two nodes of the graph. `via` is the markup it was read from."""

    type: EdgeType
    source: NodeIdentity
    target: NodeIdentity
    via: str
    file: str
    line: int
    weight: float = 1.0
    ordinal: int | None = None


def ontology_hash() -> str:
    """Names the vocabulary that a response was made under: SHA-256 over node kinds and edge types, 64 hex digits."""
    vocabulary = {"kinds": sorted(kind.value for kind in NodeKind), "edges": sorted(edge.value for edge in EdgeType)}
    return hashlib.sha256(json.dumps(vocabulary, sort_keys=True).encode()).hexdigest()
