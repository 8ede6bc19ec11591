"""The estate's different combinations of filterable values, each with its number of nodes.

Fifty thousand nodes of an estate have a few hundred: what any filter leaves of a facet is added up from them, where a
query looks at every node again.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from service.domain.filters import MANY_VALUED, SINGLE_VALUED, NodeFilter

PROPERTIES: Mapping[str, str] = {**SINGLE_VALUED, **MANY_VALUED}
"""Filter name → node property: all that a filter may compare."""


@dataclass(frozen=True, slots=True)
class Combination:
    """nodes: how many hold exactly these values, which are by filter name."""

    values: Mapping[str, frozenset[str]]
    nodes: int


def combinations_query(limit: int) -> str:
    """Cypher for at most `limit` combinations: the values in the order of PROPERTIES, then how many nodes hold them."""
    held = ", ".join(f"n.{stored} AS {name}" for name, stored in PROPERTIES.items())
    return f"MATCH (n:Node) WITH {held}, count(n) AS total RETURN {', '.join(PROPERTIES)}, total LIMIT {limit}"


def read_combinations(rows: Iterable[Sequence[Any]]) -> tuple[Combination, ...]:
    return tuple(
        Combination({name: _held(value) for name, value in zip(PROPERTIES, values, strict=True)}, nodes)
        for *values, nodes in rows
    )


def tally(combinations: Iterable[Combination], name: str, filter: NodeFilter, most: int) -> dict[str, int]:
    """Value → nodes, most first, then by value, at most `most`: the facet's own selection doesn't narrow it."""
    wished = [(key, frozenset(values)) for key, values in filter.constraints().items() if key != name]
    counts: Counter[str] = Counter()
    for each in combinations:
        if all(not allowed.isdisjoint(each.values[key]) for key, allowed in wished):
            for value in each.values[name]:
                counts[value] += each.nodes
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0]))[:most])


def _held(value: Any) -> frozenset[str]:
    """One value, several, or none; an empty one, such as a product's docset, is none: no filter can name it."""
    values = value if isinstance(value, list | tuple) else (value,)
    return frozenset(each for each in values if each not in (None, ""))
