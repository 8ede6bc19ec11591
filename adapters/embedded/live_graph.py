"""The graph that answers now, with what is derived from it once."""

import contextlib
import threading
from collections.abc import Callable, Iterator
from typing import Generic, TypeVar

import numpy as np

from adapters.embedded.adjacency import Adjacency
from adapters.embedded.name_index import NamedNode, NameIndex
from adapters.embedded.projection import GraphProjection
from adapters.embedded.titles import TitledNode, TitleIndex
from service.domain.graph import EdgeType, NodeIdentity
from service.domain.names import node_names
from service.domain.snapshots import Snapshot

Derived = TypeVar("Derived")

_EVERY_NODE = "MATCH (n:Node) RETURN n.key, n.visibleTo"

_EVERY_EDGE = {type: f"MATCH (n:Node)-[r:{type}]->(m:Node) RETURN n.key, m.key, r.weight" for type in EdgeType}

_EVERY_TITLE = "MATCH (n:Node) RETURN n.key, n.title, n.aliases, n.visibleTo ORDER BY n.key"

_EVERY_NAME = "MATCH (n:Node) RETURN n.key, n.kind, n.uid, n.title, n.aliases, n.visibleTo ORDER BY n.key"


class LiveGraph:
    """One snapshot for readers: whoever holds it reads it to the end, whatever is committed meanwhile."""

    def __init__(self, snapshot: Snapshot, projection: GraphProjection) -> None:
        self.snapshot = snapshot
        self.projection = projection
        self._closed = False
        self._preparing: threading.Thread | None = None
        self._titles = _Once(self._derive_titles)
        self._names = _Once(self._derive_names)
        self._adjacency = _Once(self._derive_adjacency)

    @classmethod
    def prepared(
        cls, snapshot: Snapshot, projection: GraphProjection, before: "LiveGraph | None" = None
    ) -> "LiveGraph":
        """One that derives already, in the background, what the first query will want; it must be closed.

        before: one whose nodes are called the same; what it has derived of them is taken over.
        """
        live = cls(snapshot, projection)
        if before is not None:
            live._titles.take(before._titles)
            live._names.take(before._names)
        live._preparing = threading.Thread(target=live._prepare, name="titles")
        live._preparing.start()
        return live

    def close(self) -> None:
        """Stop preparing; who reads goes on. A process can't end well while native code runs in a thread of it."""
        self._closed = True
        if self._preparing is not None:
            self._preparing.join()

    @property
    def titles(self) -> TitleIndex:
        return self._titles.get()

    @property
    def names(self) -> NameIndex:
        return self._names.get()

    @property
    def adjacency(self) -> Adjacency:
        return self._adjacency.get()

    def _prepare(self) -> None:
        with contextlib.suppress(_Stopped):
            self._titles.get()
            self._names.get()

    def _derive_titles(self) -> TitleIndex:
        return TitleIndex(self._titled_nodes())

    def _titled_nodes(self) -> Iterator[TitledNode]:
        for key, title, aliases, visible_to in self.projection.run(_EVERY_TITLE, {}, milliseconds=0).rows:
            self._go_on()
            yield TitledNode(key, title, tuple(aliases or ()), tuple(visible_to))

    def _derive_names(self) -> NameIndex:
        return NameIndex(self._named_nodes())

    def _named_nodes(self) -> Iterator[NamedNode]:
        for key, kind, uid, title, aliases, visible_to in self.projection.run(_EVERY_NAME, {}, milliseconds=0).rows:
            self._go_on()
            if names := node_names(kind, uid, title, aliases or ()):
                yield NamedNode(key, names, tuple(aliases or ()), tuple(visible_to))

    def _go_on(self) -> None:
        if self._closed and threading.current_thread() is self._preparing:
            raise _Stopped

    def _derive_adjacency(self) -> Adjacency:
        nodes = sorted(self.projection.run(_EVERY_NODE, {}, milliseconds=0).rows)
        place = {key: number for number, (key, _) in enumerate(nodes)}
        edges = {}
        for type in EdgeType:
            rows = self.projection.run(_EVERY_EDGE[type], {}, milliseconds=0).rows
            edges[type] = (
                np.fromiter((place[source] for source, _, _ in rows), np.int32, len(rows)),
                np.fromiter((place[target] for _, target, _ in rows), np.int32, len(rows)),
                np.fromiter((weight for _, _, weight in rows), np.float32, len(rows)),
            )
        return Adjacency(
            nodes=tuple(NodeIdentity.from_key(key) for key, _ in nodes),
            visible_to=tuple(frozenset(visible_to) for _, visible_to in nodes),
            edges=edges,
        )


class _Stopped(Exception):
    pass


class _Once(Generic[Derived]):
    """A value that is made at its first use; another thread that wants it meanwhile waits for the first."""

    def __init__(self, make: Callable[[], Derived]) -> None:
        self._make = make
        self._made: tuple[Derived] | None = None
        self._making = threading.Lock()

    def take(self, other: "_Once[Derived]") -> None:
        """What the other has made is ours too; what it has not, we make ourselves."""
        self._made = other._made

    def get(self) -> Derived:
        if self._made is None:
            with self._making:
                if self._made is None:
                    self._made = (self._make(),)
        return self._made[0]
