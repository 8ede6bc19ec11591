"""How many hits to fetch for the nodes that are wanted: a node's passages tend to match together."""

_FIRST = 4.0
_GROWTH = 2
_MARGIN = 1.1
_MEMORY = 0.99


class Reach:
    """Learns from the searches that went before, so that most need to ask the engine once.

    Lost updates between threads cost a search a second question, nothing else.
    """

    def __init__(self) -> None:
        self._hits_a_node = _FIRST

    def first(self, depth: int) -> int:
        return max(1, round(depth * self._hits_a_node))

    def next(self, limit: int) -> int:
        return limit * _GROWTH

    def learn(self, depth: int, needed: int) -> None:
        """`needed` hits held the `depth` nodes of a search."""
        self._hits_a_node = max(needed / depth * _MARGIN, self._hits_a_node * _MEMORY, 1.0)
