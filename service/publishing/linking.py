"""Records → graph: every reference finds its node, or makes the stub that stands for what the estate only names."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from service.domain.content import NodeRecord
from service.domain.graph import NEUTRAL_LOCALE, Edge, EdgeType, Node, NodeIdentity, NodeKind, Reference
from service.domain.snapshots import LinkedGraph


def link(records: Iterable[NodeRecord], *, default_locale: str) -> LinkedGraph:
    """A pure function of the set of records: their order does not matter.

    A reference that names no locale takes its source's own, else the default, else the first there is. Where no record
    has the target uid, one node is made for all who name it; it shows to whoever may see one of them. Of two references
    that say the same edge through the same markup, the first in the source stays. A page's link to itself is no edge.
    """
    ordered = sorted(records, key=lambda record: record.node.identity)
    nodes = {record.node.identity: record.node for record in ordered}
    locales: dict[str, list[str]] = defaultdict(list)
    for identity in nodes:
        locales[identity.uid].append(identity.locale)
    made: dict[NodeIdentity, _Stub] = {}
    edges: dict[tuple[EdgeType, NodeIdentity, NodeIdentity, str], Edge] = {}
    for record in ordered:
        source = record.node
        for reference in sorted(record.references, key=lambda r: (r.file, r.line)):
            target = _target(reference, source.identity.locale, locales, default_locale)
            if target == source.identity:
                continue
            if target not in nodes:
                made.setdefault(target, _Stub(target)).named_by(source, reference)
            key = (reference.type, source.identity, target, reference.via)
            if key not in edges:
                edges[key] = _edge(reference, source.identity, target)
    nodes |= {identity: stub.node() for identity, stub in made.items()}
    return LinkedGraph(
        nodes=nodes,
        edges=tuple(edges[key] for key in sorted(edges)),
        content_hashes={record.node.identity: record.content_hash for record in ordered},
    )


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


@dataclass
class _Stub:
    """A node that no record describes, gathered from the references that name it."""

    identity: NodeIdentity
    kinds: set[NodeKind] = field(default_factory=set)
    titles: set[str] = field(default_factory=set)
    extra: dict[str, str | int | float | bool] = field(default_factory=dict)
    visible_to: set[str] = field(default_factory=set)

    def named_by(self, source: Node, reference: Reference) -> None:
        self.kinds.add(reference.target_kind)
        if reference.target_title:
            self.titles.add(reference.target_title)
        self.extra = {**reference.target_extra, **self.extra}
        self.visible_to |= set(source.visible_to)

    def node(self) -> Node:
        """A kind that says more than `api` wins; of several spellings the first is the title, all are aliases."""
        bare = self.identity.uid.partition(":")[2] or self.identity.uid
        titles = sorted(self.titles) or [bare]
        kind = min(self.kinds, key=lambda kind: (kind is NodeKind.API, kind))
        extra = dict(self.extra)
        language = extra.pop("language", None)
        stub = Node(
            identity=self.identity,
            kind=kind,
            title=titles[0],
            language=None if language is None else str(language),
            visible_to=tuple(sorted(self.visible_to)),
            extra=extra,
        )
        if kind is NodeKind.API:
            return stub
        aliases = sorted({name.casefold() for name in (*titles, bare)})
        return replace(stub, aliases=tuple(aliases))
