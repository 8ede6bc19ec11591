"""The order of a leg's hits."""

from service.ports import PassageHit


def in_order(hits: list[PassageHit]) -> list[PassageHit]:
    """Hits that come best first, with equals by key: an engine's own order of equals changes when segments merge."""
    if len({hit.score for hit in hits}) == len(hits):
        return hits
    return sorted(hits, key=lambda hit: (-hit.score, hit.passage.identity.key, hit.passage.number))
