"""The graph that answers now, with what is derived from it once."""

import threading
from functools import cached_property

from adapters.embedded.projection import GraphProjection
from adapters.embedded.titles import TitledNode, TitleIndex
from service.domain.snapshots import Snapshot

_EVERY_TITLE = "MATCH (n:Node) RETURN n.key, n.title, n.aliases, n.visibleTo"


class LiveGraph:
    """One snapshot for readers: whoever holds it reads it to the end, whatever is committed meanwhile."""

    def __init__(self, snapshot: Snapshot, projection: GraphProjection) -> None:
        self.snapshot = snapshot
        self.projection = projection
        self._deriving = threading.Lock()

    @property
    def titles(self) -> TitleIndex:
        """Built at the first use; another thread that needs it waits for the first."""
        with self._deriving:
            return self._titles

    @cached_property
    def _titles(self) -> TitleIndex:
        rows = self.projection.run(_EVERY_TITLE, {}, milliseconds=0).rows
        return TitleIndex(
            TitledNode(key, title, tuple(aliases or ()), tuple(visible_to)) for key, title, aliases, visible_to in rows
        )
