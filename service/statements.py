"""The closed catalogue of statements that the service itself sends to the graph.

Parameters only, and every one that returns nodes carries the visibility predicate. An adapter may answer a statement
by its `name` in another way (a full-text look-up where the engine has no such procedure), with the same columns and
meaning.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from service.domain.filters import MANY_VALUED, SINGLE_VALUED, NodeFilter
from service.domain.graph import NodeIdentity

_VISIBLE = "any(a IN n.visibleTo WHERE a IN $audiences)"

NODE_COLUMNS = (
    "key",
    "uid",
    "locale",
    "kind",
    "title",
    "type",
    "url",
    "summary",
    "docset",
    "contentHash",
)

_RETURN_NODE = "RETURN " + ", ".join(f"n.{name} AS {name}" for name in NODE_COLUMNS)


@dataclass(frozen=True, slots=True)
class ServiceStatement:
    """Cypher of ours with its parameters. Made by this module's functions only."""

    name: str
    text: str
    parameters: Mapping[str, Any]


def cards(identities: Iterable[NodeIdentity], audiences: frozenset[str]) -> ServiceStatement:
    """What ranking and display need of these nodes, as far as they exist and show; in no set order."""
    ranking = ("level", "roles", "audience", "region", "monikerRange", "lastModified")
    return ServiceStatement(
        "cards",
        f"UNWIND $keys AS key MATCH (n:Node {{key: key}}) WHERE {_VISIBLE} {_RETURN_NODE}, "
        + ", ".join(f"n.{name} AS {name}" for name in ranking),
        {"keys": [identity.key for identity in identities], "audiences": sorted(audiences)},
    )


def successors(identities: Iterable[NodeIdentity], audiences: frozenset[str]) -> ServiceStatement:
    """For each of these nodes that is superseded, what by: `key`, and the successor's `uid` and `locale`."""
    return ServiceStatement(
        "successors",
        "UNWIND $keys AS key MATCH (n:Node {key: key})-[:supersededBy]->(m:Node) "
        f"WHERE {_VISIBLE} AND any(a IN m.visibleTo WHERE a IN $audiences) "
        "RETURN key AS key, m.uid AS uid, m.locale AS locale ORDER BY key, locale, uid",
        {"keys": [identity.key for identity in identities], "audiences": sorted(audiences)},
    )


def requirements(identities: Iterable[NodeIdentity], audiences: frozenset[str]) -> ServiceStatement:
    """What these nodes, or what they are part of, depend on: a row a required node and `skill` that it teaches."""
    return ServiceStatement(
        "requirements",
        "UNWIND $keys AS key MATCH (n:Node {key: key})-[:partOf*0..2]->(owner:Node)-[:dependsOn]->(m:Node) "
        f"WHERE {_VISIBLE} AND any(a IN m.visibleTo WHERE a IN $audiences) "
        "AND any(a IN owner.visibleTo WHERE a IN $audiences) "
        "OPTIONAL MATCH (m)-[:teachesSkill]->(skill:Node) "
        "WHERE any(a IN skill.visibleTo WHERE a IN $audiences) "
        "RETURN DISTINCT key AS key, m.uid AS uid, skill.uid AS skill",
        {"keys": [identity.key for identity in identities], "audiences": sorted(audiences)},
    )


def sources(identities: Iterable[NodeIdentity], audiences: frozenset[str]) -> ServiceStatement:
    """For each of these nodes that is a translation: `key`, and the `locale` of the node that it was made from."""
    return ServiceStatement(
        "sources",
        "UNWIND $keys AS key MATCH (n:Node {key: key})-[r:derivedFrom]->(m:Node) "
        f"WHERE r.via = 'translation' AND {_VISIBLE} AND any(a IN m.visibleTo WHERE a IN $audiences) "
        "RETURN DISTINCT key AS key, m.locale AS locale ORDER BY key, locale",
        {"keys": [identity.key for identity in identities], "audiences": sorted(audiences)},
    )


def nodes_by_uid(uids: Iterable[str], audiences: frozenset[str]) -> ServiceStatement:
    """Every locale's node of these exact uids."""
    return ServiceStatement(
        "nodes_by_uid",
        f"UNWIND $uids AS uid MATCH (n:Node {{uid: uid}}) WHERE {_VISIBLE} {_RETURN_NODE}",
        {"uids": list(uids), "audiences": sorted(audiences)},
    )


def nodes_by_url(urls: Iterable[str], audiences: frozenset[str]) -> ServiceStatement:
    """Nodes at these exact addresses; code is at its page's, and is none of them."""
    return ServiceStatement(
        "nodes_by_url",
        f"MATCH (n:Node) WHERE n.url IN $urls AND n.kind <> 'codeSample' AND {_VISIBLE} {_RETURN_NODE} ORDER BY key",
        {"urls": list(urls), "audiences": sorted(audiences)},
    )


def filter_fields(identity: NodeIdentity, audiences: frozenset[str]) -> ServiceStatement:
    """What the filters compare of one node: a column a filter, by the filter's name."""
    columns = ", ".join(f"n.{stored} AS {name}" for name, stored in {**SINGLE_VALUED, **MANY_VALUED}.items())
    return ServiceStatement(
        "filter_fields",
        f"MATCH (n:Node {{key: $key}}) WHERE {_VISIBLE} RETURN {columns}",
        {"key": identity.key, "audiences": sorted(audiences)},
    )


def node_properties(identity: NodeIdentity, audiences: frozenset[str]) -> ServiceStatement:
    """All properties of one node, as `properties`."""
    return ServiceStatement(
        "node_properties",
        f"MATCH (n:Node {{key: $key}}) WHERE {_VISIBLE} RETURN properties(n) AS properties",
        {"key": identity.key, "audiences": sorted(audiences)},
    )


def edges_of(identity: NodeIdentity, audiences: frozenset[str], limit: int) -> ServiceStatement:
    """A node's edges to nodes that show, outgoing first, at most `limit`."""
    visible_end = "any(a IN m.visibleTo WHERE a IN $audiences)"
    columns = "type(r) AS type, m.uid AS uid, m.locale AS locale, m.title AS title, m.kind AS kind"
    return ServiceStatement(
        "edges_of",
        f"MATCH (n:Node {{key: $key}})-[r]-(m:Node) WHERE {_VISIBLE} AND {visible_end} "
        f"RETURN {columns}, startNode(r).key = $key AS outgoing "
        "ORDER BY outgoing DESC, type, locale, uid LIMIT $limit",
        {"key": identity.key, "audiences": sorted(audiences), "limit": limit},
    )


def nodes_by_alias(aliases: Iterable[str], audiences: frozenset[str]) -> ServiceStatement:
    """Nodes that carry one of these aliases (lower case, as stored), with the alias that matched as `alias`.

    An adapter looks them up by words of its own that stand for whole aliases.
    """
    return ServiceStatement(
        "nodes_by_alias",
        f"CALL db.index.fulltext.queryNodes('node_aliases', $text) YIELD node AS n WHERE {_VISIBLE} "
        f"UNWIND [known IN n.aliases WHERE known IN $aliases] AS alias {_RETURN_NODE}, alias ORDER BY key, alias",
        {"aliases": list(aliases), "audiences": sorted(audiences)},
    )


def nodes_by_title(text: str, audiences: frozenset[str], limit: int) -> ServiceStatement:
    """Nodes whose title or alias shares terms with the text, best first, with a `score`.

    The text is words, never syntax: an adapter builds its query from tokens.
    """
    return ServiceStatement(
        "nodes_by_title",
        "CALL db.index.fulltext.queryNodes('node_titles', $text, {limit: $candidates}) YIELD node AS n, score "
        f"WHERE {_VISIBLE} {_RETURN_NODE}, score ORDER BY score DESC, key LIMIT $limit",
        {"text": text, "audiences": sorted(audiences), "limit": limit, "candidates": limit * 10},
    )


def nodes_by_name(text: str, audiences: frozenset[str], limit: int, *, typos: bool) -> ServiceStatement:
    """Nodes of which a title, alias or uid has, for each word of the text, one that begins with it; with `aliases`
    and a `score` by which those of few words come first. `typos` forgives a letter or two in each longer word.

    The text is words, never syntax: an adapter builds its query from tokens, and the visibility goes into it.
    """
    return ServiceStatement(
        "nodes_by_name",
        "CALL db.index.fulltext.queryNodes('node_names', $text, {limit: $limit}) YIELD node AS n, score "
        f"WHERE {_VISIBLE} {_RETURN_NODE}, n.aliases AS aliases, score ORDER BY score DESC, key",
        {"text": text, "audiences": sorted(audiences), "limit": limit, "typos": typos},
    )


def list_nodes(filter: NodeFilter, audiences: frozenset[str], *, after: str, limit: int) -> ServiceStatement:
    """One page of the filtered estate by key, after the key `after` ('' starts)."""
    where, parameters = _constraints(filter)
    return ServiceStatement(
        "list_nodes",
        f"MATCH (n:Node) WHERE n.key > $after AND {_VISIBLE}{where} {_RETURN_NODE} ORDER BY key LIMIT $limit",
        {**parameters, "after": after, "audiences": sorted(audiences), "limit": limit},
    )


DOCUMENT_COLUMNS = (
    *NODE_COLUMNS,
    "path",
    "workspace",
    "products",
    "topics",
    "roles",
    "audience",
    "region",
    "level",
    "language",
    "monikerRange",
    "monikers",
    "lastModified",
    "durationMinutes",
)


def documents(
    filter: NodeFilter,
    audiences: frozenset[str],
    *,
    after: str,
    limit: int,
    uids: Sequence[str] = (),
    since: str = "",
    before: str = "",
) -> ServiceStatement:
    """As `list_nodes`, with all that a document shows of a node's properties.

    uids: these alone, if any are named; since, before: bounds of `lastModified`, ISO 8601, '' for none.
    """
    where, parameters = _constraints(filter)
    bounds: dict[str, Any] = {}
    if uids:
        where, bounds = f"{where} AND n.uid IN $uids", {"uids": list(uids)}
    if since:
        where, bounds = f"{where} AND n.lastModified >= $since", {**bounds, "since": since}
    if before:
        where, bounds = f"{where} AND n.lastModified < $before", {**bounds, "before": before}
    columns = ", ".join(f"n.{name} AS {name}" for name in DOCUMENT_COLUMNS)
    return ServiceStatement(
        "documents",
        f"MATCH (n:Node) WHERE n.key > $after AND {_VISIBLE}{where} RETURN {columns} ORDER BY key LIMIT $limit",
        {**parameters, **bounds, "after": after, "audiences": sorted(audiences), "limit": limit},
    )


def count_nodes(filter: NodeFilter, audiences: frozenset[str]) -> ServiceStatement:
    """How many nodes of the filtered estate show, as `total`."""
    where, parameters = _constraints(filter)
    return ServiceStatement(
        "count_nodes",
        f"MATCH (n:Node) WHERE {_VISIBLE}{where} RETURN count(n) AS total",
        {**parameters, "audiences": sorted(audiences)},
    )


def count_kinds(audiences: frozenset[str]) -> ServiceStatement:
    """Visible nodes by kind."""
    return ServiceStatement(
        "count_kinds",
        f"MATCH (n:Node) WHERE {_VISIBLE} RETURN n.kind AS kind, count(n) AS total ORDER BY kind",
        {"audiences": sorted(audiences)},
    )


def count_edges(audiences: frozenset[str]) -> ServiceStatement:
    """Edges between visible nodes by type."""
    return ServiceStatement(
        "count_edges",
        "MATCH (n:Node)-[r]->(m:Node) "
        f"WHERE {_VISIBLE} AND any(a IN m.visibleTo WHERE a IN $audiences) "
        "RETURN type(r) AS type, count(r) AS total ORDER BY type",
        {"audiences": sorted(audiences)},
    )


def graph_state() -> ServiceStatement:
    """The publish whose graph answers now, as `publish`; no row before the first."""
    return ServiceStatement(
        "graph_state", "MATCH (s:Snapshot) RETURN s.publishId AS publish ORDER BY s.generation DESC LIMIT 1", {}
    )


def project_graph(
    name: str, audiences: frozenset[str], along: Mapping[str, float], against: Mapping[str, float]
) -> ServiceStatement:
    """Load the visible graph into Graph Data Science under `name`, each step weighted as the graph prior defines it.

    along, against: edge type → what a step of that type is worth with and against the edge. Within a type and
    direction a node's steps share that worth by their edges' weights; PageRank itself normalises over all types.
    """
    steps = " UNION ALL ".join(
        f"MATCH {pattern} WHERE {_VISIBLE.replace('n.', 'm.')} AND r.weight > 0 "
        f"WITH type(r) AS type, collect({{target: m, weight: r.weight}}) AS steps, sum(r.weight) AS total "
        f"WHERE coalesce(${worth}[type], 0.0) > 0 "
        f"UNWIND steps AS step RETURN step.target AS target, ${worth}[type] * step.weight / total AS weight"
        for pattern, worth in (("(n)-[r]->(m:Node)", "along"), ("(n)<-[r]-(m:Node)", "against"))
    )
    return ServiceStatement(
        "project_graph",
        f"MATCH (n:Node) WHERE {_VISIBLE} OPTIONAL CALL (n) {{ {steps} }} "
        "WITH gds.graph.project($name, n, target, {relationshipProperties: {weight: coalesce(weight, 0.0)}}) AS graph "
        "RETURN graph.nodeCount AS nodes, graph.relationshipCount AS relationships",
        {"name": name, "audiences": sorted(audiences), "along": dict(along), "against": dict(against)},
    )


def page_rank(name: str, damping: float, iterations: int) -> ServiceStatement:
    """Unseeded PageRank over a projected graph: one row of `numbers`, `keys` and `scores`, a list each.

    A number is the server's own of a node, and stands for it as long as the projection does. Lists, since a driver
    takes longer over fifty thousand rows than the server takes over the scores.
    """
    return ServiceStatement(
        "page_rank",
        "CALL gds.pageRank.stream($name, {relationshipWeightProperty: 'weight', dampingFactor: $damping, "
        "maxIterations: $iterations, tolerance: 0.0}) YIELD nodeId, score "
        "RETURN collect(nodeId) AS numbers, collect(coalesce(gds.util.asNode(nodeId).key, '')) AS keys, "
        "collect(score) AS scores",
        {"name": name, "damping": damping, "iterations": iterations},
    )


def personalized_page_rank(
    name: str,
    seeds: Mapping[NodeIdentity, float],
    audiences: frozenset[str],
    damping: float,
    iterations: int,
    least: float,
) -> ServiceStatement:
    """The same from these nodes with these weights: `numbers`, and those `scores` that are above `least`.

    On one of the server's threads: for one walk several cost more than they save, and there are other queries. Seeds
    that aren't there or don't show are left out first: Graph Data Science refuses strangers, and takes no seed at all
    for every node.
    """
    return ServiceStatement(
        "personalized_page_rank",
        f"UNWIND $seeds AS seed MATCH (n:Node {{key: seed.key}}) WHERE {_VISIBLE} "
        "WITH collect([n, seed.weight]) AS sources WHERE size(sources) > 0 "
        "CALL gds.pageRank.stream($name, {relationshipWeightProperty: 'weight', dampingFactor: $damping, "
        "maxIterations: $iterations, tolerance: 0.0, sourceNodes: sources, concurrency: 1}) "
        "YIELD nodeId, score WHERE score > $least RETURN collect(nodeId) AS numbers, collect(score) AS scores",
        {
            "name": name,
            "seeds": [{"key": identity.key, "weight": weight} for identity, weight in seeds.items()],
            "audiences": sorted(audiences),
            "damping": damping,
            "iterations": iterations,
            "least": least,
        },
    )


def projected_graphs(prefix: str) -> ServiceStatement:
    """The names of the projections that begin with `prefix`, oldest first."""
    return ServiceStatement(
        "projected_graphs",
        "CALL gds.graph.list() YIELD graphName, creationTime WHERE graphName STARTS WITH $prefix "
        "RETURN graphName AS name ORDER BY creationTime, name",
        {"prefix": prefix},
    )


def drop_graph(name: str) -> ServiceStatement:
    """Forget a projection; none of that name is no error."""
    return ServiceStatement(
        "drop_graph", "CALL gds.graph.drop($name, false) YIELD graphName RETURN graphName AS name", {"name": name}
    )


def _constraints(filter: NodeFilter) -> tuple[str, dict[str, Sequence[str]]]:
    """Our own property names in the text, the caller's values in the parameters."""
    clauses: list[str] = []
    parameters: dict[str, Sequence[str]] = {}
    for name, values in filter.constraints().items():
        parameters[name] = list(values)
        if name in SINGLE_VALUED:
            clauses.append(f" AND n.{SINGLE_VALUED[name]} IN ${name}")
        else:
            clauses.append(f" AND any(v IN n.{MANY_VALUED[name]} WHERE v IN ${name})")
    return "".join(clauses), parameters


def neighbours(
    identities: Iterable[NodeIdentity], types: Sequence[str], audiences: frozenset[str], limit: int
) -> ServiceStatement:
    """Edges of these types between these nodes and nodes that show, in both directions, in a set order, at most
    `limit`.

    Columns: `key` of the node asked about, the edge's type and `via`, whether it is `outgoing`, its `ordinal`, and
    the display fields of the other end with its `level` and `durationMinutes`.
    """
    columns = ", ".join(f"m.{name} AS {name}" for name in NODE_COLUMNS if name != "key")
    return ServiceStatement(
        "neighbours",
        "UNWIND $keys AS asked MATCH (n:Node {key: asked})-[r]-(m:Node) "
        f"WHERE type(r) IN $types AND {_VISIBLE} AND any(a IN m.visibleTo WHERE a IN $audiences) "
        "RETURN asked AS key, type(r) AS edge, r.via AS via, startNode(r).key = asked AS outgoing, "
        f"r.ordinal AS ordinal, {columns}, m.level AS level, m.durationMinutes AS durationMinutes "
        "ORDER BY key, edge, outgoing, ordinal, locale, uid, via LIMIT $limit",
        {
            "keys": [identity.key for identity in identities],
            "types": list(types),
            "audiences": sorted(audiences),
            "limit": limit,
        },
    )


def uids_like(folded: str, audiences: frozenset[str], limit: int) -> ServiceStatement:
    """Nodes whose uid is this text but for case (`folded` is lower case), or begins with it, shortest first."""
    return ServiceStatement(
        "uids_like",
        f"MATCH (n:Node) WHERE toLower(n.uid) STARTS WITH $folded AND {_VISIBLE} {_RETURN_NODE} "
        "ORDER BY size(n.uid), n.uid, n.locale LIMIT $limit",
        {"folded": folded, "audiences": sorted(audiences), "limit": limit},
    )


def all_nodes(*, after: str, limit: int) -> ServiceStatement:
    """Every node's key and content hash, for the doctor alone: no caller ever sees the rows."""
    return ServiceStatement(
        "all_nodes",
        "MATCH (n:Node) WHERE n.key > $after "
        "RETURN n.key AS key, n.contentHash AS contentHash ORDER BY key LIMIT $limit",
        {"after": after, "limit": limit},
    )


def all_edge_counts() -> ServiceStatement:
    """Every edge, counted by type and markup, for the doctor alone."""
    return ServiceStatement(
        "all_edge_counts",
        "MATCH (:Node)-[r]->(:Node) RETURN type(r) AS type, r.via AS via, count(r) AS total ORDER BY type, via",
        {},
    )
