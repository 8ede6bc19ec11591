"""Records → graph: every reference finds its node, or makes the stub that stands for what the estate only names."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import islice
from operator import attrgetter
from typing import Generic, TypeVar

from service.domain.content import NodeRecord
from service.domain.graph import NEUTRAL_LOCALE, Edge, EdgeType, Node, NodeIdentity, NodeKind, Reference
from service.domain.snapshots import LinkedGraph
from service.domain.visibility import Classes, covers, widened


def link(records: Iterable[NodeRecord], *, default_locale: str) -> LinkedGraph:
    """A pure function of the set of records: their order does not matter.

    A reference that names no locale takes its source's own, else the default, else the first there is. One to an
    address that its estate doesn't serve finds the page that another estate serves there. Where no record has the
    target uid, one node is made for all who name it; it shows to whoever may see one of them. Of two references that
    say the same edge through the same markup, the first in the source stays. A page's link to itself is no edge. What
    the first unit of a module lists as learnt, the module teaches. A skill depends on another where something teaches
    the one and requires the other.
    """
    ordered = sorted(records, key=lambda record: record.node.identity)
    nodes = {record.node.identity: record.node for record in ordered}
    locales: dict[str, list[str]] = defaultdict(list)
    for identity in nodes:
        locales[identity.uid].append(identity.locale)
    served = _served(nodes.values())
    made: dict[NodeIdentity, _Stub] = {}
    edges: dict[tuple[EdgeType, NodeIdentity, NodeIdentity, str], Edge] = {}
    for record in ordered:
        source = record.node
        for stated in sorted(record.references, key=_place):
            reference = _found(stated, locales, served)
            target = _target(reference, source.identity.locale, locales, default_locale)
            if target == source.identity:
                continue
            if target not in nodes:
                if target not in made:
                    made[target] = _Stub(target)
                made[target].named_by(source, reference)
            key = (reference.type, source.identity, target, reference.via)
            if key not in edges:
                edges[key] = _edge(reference, source.identity, target)
    nodes |= {identity: stub.node() for identity, stub in made.items()}
    edges = {_key(edge): edge for edge in _by_their_teachers(edges.values(), nodes)}
    for edge in _between_skills(list(edges.values()), nodes):
        edges.setdefault(_key(edge), edge)
    return LinkedGraph(
        nodes=nodes,
        edges=tuple(edges[key] for key in sorted(edges)),
        content_hashes={record.node.identity: record.content_hash for record in ordered},
    )


_place = attrgetter("file", "line")

_SKILL_PAIRS = 1_000
"""Edges between skills that one page may state."""

_CHECKLIST = "checklist"
"""Markup of what a reader will have learnt at the end."""

_SERVED_KINDS = frozenset({NodeKind.PAGE, NodeKind.MODULE, NodeKind.UNIT, NodeKind.LEARNING_PATH, NodeKind.RETIRED})


def _key(edge: Edge) -> tuple[EdgeType, NodeIdentity, NodeIdentity, str]:
    return (edge.type, edge.source, edge.target, edge.via)


def _by_their_teachers(edges: Iterable[Edge], nodes: Mapping[NodeIdentity, Node]) -> Iterator[Edge]:
    """The edges, those from a module's first unit to what its checklist names as the module's own: an introduction
    announces what the units after it teach. A checklist further inside is its unit's, and so is one that not all who
    see the module may read."""
    stated = list(edges)
    units: dict[NodeIdentity, list[tuple[int, NodeIdentity]]] = defaultdict(list)
    for edge in stated:
        if edge.type is EdgeType.PART_OF and edge.ordinal is not None and nodes[edge.target].kind is NodeKind.MODULE:
            units[edge.target].append((edge.ordinal, edge.source))
    opened: dict[NodeIdentity, list[NodeIdentity]] = defaultdict(list)
    for module, placed in units.items():
        _, first = min(placed)
        if covers(nodes[first].visible_to, nodes[module].visible_to):
            opened[first].append(module)
    for edge in stated:
        if edge.type is EdgeType.TEACHES_SKILL and edge.via == _CHECKLIST and edge.source in opened:
            yield from (replace(edge, source=module) for module in opened[edge.source])
        else:
            yield edge


def _between_skills(edges: Iterable[Edge], nodes: Mapping[NodeIdentity, Node]) -> Iterator[Edge]:
    """From each skill that a page teaches to each that it requires; the edge stands where the requirement does."""
    taught: dict[NodeIdentity, list[NodeIdentity]] = defaultdict(list)
    required: dict[NodeIdentity, list[Edge]] = defaultdict(list)
    for edge in edges:
        if nodes[edge.target].kind is not NodeKind.SKILL:
            continue
        if edge.type is EdgeType.TEACHES_SKILL:
            taught[edge.source].append(edge.target)
        elif edge.type is EdgeType.DEPENDS_ON:
            required[edge.source].append(edge)
    for source in sorted(required.keys() & taught.keys()):
        pairs = ((skill, edge) for skill in dict.fromkeys(taught[source]) for edge in required[source])
        for skill, edge in islice(pairs, _SKILL_PAIRS):
            ends = (nodes[skill].visible_to, nodes[edge.target].visible_to)
            # Skills are shared by pages: who sees both ends must see the page that joins them.
            if skill != edge.target and any(covers(nodes[source].visible_to, end) for end in ends):
                yield replace(edge, source=skill)


def _served(nodes: Iterable[Node]) -> dict[str, str]:
    """Address → the uid of the page there. One that pages of several uids claim tells nothing, and neither does one of
    a single name, which any site may have."""
    uids: dict[str, set[str]] = defaultdict(set)
    for node in nodes:
        address = _address(node.url or "")
        if node.kind in _SERVED_KINDS and address is not None:
            uids[address].add(node.identity.uid)
    return {address: min(named) for address, named in uids.items() if len(named) == 1}


def _address(url: str) -> str | None:
    """One spelling of an address within a site, None for any other text."""
    address = url.partition("#")[0].partition("?")[0].rstrip("/").casefold()
    return address if address.startswith("/") and address.count("/") >= 2 else None


def _found(reference: Reference, locales: Mapping[str, list[str]], served: Mapping[str, str]) -> Reference:
    if reference.target_kind is not NodeKind.API or reference.target_uid in locales:
        return reference
    uid = served.get(_address(reference.target_uid) or "")
    return reference if uid is None else replace(reference, target_uid=uid)


def _target(reference: Reference, locale: str, locales: Mapping[str, list[str]], default_locale: str) -> NodeIdentity:
    known = locales.get(reference.target_uid, [])
    if reference.target_locale is not None:
        return NodeIdentity(reference.target_uid, reference.target_locale)
    for wished in (locale, default_locale):
        if wished in known:
            return NodeIdentity(reference.target_uid, wished)
    return NodeIdentity(reference.target_uid, min(known) if known else NEUTRAL_LOCALE)


def _edge(reference: Reference, source: NodeIdentity, target: NodeIdentity) -> Edge:
    return Edge(
        type=reference.type,
        source=source,
        target=target,
        via=reference.via,
        file=reference.file,
        line=reference.line,
        weight=reference.weight,
        ordinal=reference.ordinal,
    )


Claimed = TypeVar("Claimed")


class _Claims(Generic[Claimed]):
    """What is said of a node, each with those who may see a page that says it."""

    def __init__(self) -> None:
        self._seen_by: dict[Claimed, Classes] = {}

    def add(self, claim: Claimed, seen_by: Classes) -> None:
        self._seen_by[claim] = widened(self._seen_by.get(claim, ()), seen_by)

    def sayable(self, readers: Classes) -> list[Claimed]:
        """What all of these readers could read on some page: nothing else may stand on a node that they share."""
        return [claim for claim, seen_by in self._seen_by.items() if covers(seen_by, readers)]


@dataclass
class _Stub:
    """A node that no record describes, gathered from the references that name it."""

    identity: NodeIdentity
    kinds: set[NodeKind] = field(default_factory=set)
    visible_to: Classes = ()
    titles: _Claims[str] = field(default_factory=_Claims)
    aliases: _Claims[str] = field(default_factory=_Claims)
    extra: _Claims[tuple[str, str | int | float | bool]] = field(default_factory=_Claims)

    def named_by(self, source: Node, reference: Reference) -> None:
        self.kinds.add(reference.target_kind)
        self.visible_to = widened(self.visible_to, source.visible_to)
        if reference.target_title:
            self.titles.add(reference.target_title, source.visible_to)
        for alias in reference.target_aliases:
            self.aliases.add(alias, source.visible_to)
        for item in reference.target_extra.items():
            self.extra.add(item, source.visible_to)

    def node(self) -> Node:
        """A kind that says more than `api` wins; of several spellings the first is the title, all are aliases."""
        kind = min(self.kinds, key=lambda kind: (kind is NodeKind.API, kind))
        # A product's uid holds its kind, and a name; what is documented elsewhere has a uid or an address of its own.
        name = "" if kind is NodeKind.API else self.identity.uid.partition(":")[2]
        bare = name or self.identity.uid
        titles = sorted(self.titles.sayable(self.visible_to)) or [bare]
        extra: dict[str, str | int | float | bool] = {}
        for name, value in self.extra.sayable(self.visible_to):
            extra.setdefault(name, value)
        language, url = extra.pop("language", None), extra.pop("url", None)
        stub = Node(
            identity=self.identity,
            kind=kind,
            title=titles[0],
            url=None if url is None else str(url),
            language=None if language is None else str(language),
            visible_to=self.visible_to,
            extra=extra,
        )
        if kind is NodeKind.API:
            return stub
        aliases = {name.casefold() for name in (*titles, *self.aliases.sayable(self.visible_to), bare)}
        return replace(stub, aliases=tuple(sorted(aliases)))
