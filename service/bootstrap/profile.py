"""What the settings say of graphs: a query's bounds, the walk's weights, the readers' rules."""

from functools import lru_cache

from adapters.estates import ReadingRules, readers
from cypher_guard import Profile
from service.domain.graph import EdgeType, NodeKind
from service.ports import EstateReader
from service.settings import Settings

EDGE_PROPERTIES = frozenset("weight via file line ordinal publishId".split())


GRAPH_PROPERTIES = frozenset(
    """uid locale kind title type url summary path docset workspace products topics roles audience region level
    monikerRange monikers aliases lastModified contentHash language durationMinutes family order
    weight via file line ordinal publishId""".split()
)
"""What a query_graph may read of nodes and edges: everything but access control and the store's own key."""


def edge_weights(settings: Settings) -> dict[EdgeType, tuple[float, float]]:
    """What the random walk's step along and against an edge of each type is worth."""
    return {EdgeType(name): (forward, backward) for name, (forward, backward) in settings.edge_weights.items()}


def estate_readers(settings: Settings) -> tuple[EstateReader, ...]:
    """Every documentation format. They remember what they read for as long as the process lasts: a watch opens the
    stores anew for each publish."""
    return _remembering_readers(reading_rules(settings))


@lru_cache(maxsize=4)
def _remembering_readers(rules: ReadingRules) -> tuple[EstateReader, ...]:
    return readers(rules)


def reading_rules(settings: Settings) -> ReadingRules:
    return ReadingRules(
        default_locale=settings.default_locale,
        page_bytes=settings.page_bytes,
        code_sample_lines=settings.code_sample_lines,
        site_hosts=settings.site_hosts,
        remembered_pages=settings.remembered_pages,
    )


def graph_profile(settings: Settings) -> Profile:
    """The bounds of a query_graph over this service's graph."""
    return Profile(
        edge_types=frozenset(edge.value for edge in EdgeType),
        labels=frozenset({"Node", *(kind.label for kind in NodeKind)}),
        properties=GRAPH_PROPERTIES,
        edge_properties=EDGE_PROPERTIES,
        allow_bare_arrows=True,
        default_rows=settings.graph_query_rows,
        max_rows=settings.graph_query_rows_cap,
        timeout_ms=settings.graph_query_deadline,
    )
