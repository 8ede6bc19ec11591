"""A node's edges as a page lists them."""

from collections.abc import Sequence

from service.domain.results import EdgeResult


def each_once(edges: Sequence[EdgeResult]) -> list[EdgeResult]:
    """In their order; of those that several places of a source say, the first."""
    unique: dict[tuple[str, str, str, str], EdgeResult] = {}
    for edge in edges:
        unique.setdefault((edge.type, edge.direction, edge.uid, edge.locale), edge)
    return list(unique.values())
