"""Queries that fail on one secret node and on nothing else: whoever sees the error knows of the node."""

from __future__ import annotations

from collections.abc import Iterator

from tests.hostile.graphs import PUBLIC, SECRET, Edge, Node, PropertyGraph

# Each raises on a node whose level is 7, and on no other.
RAISING = (
    "1 / (n.level - 7) >= 0",
    "1 % (n.level - 7) >= 0",
    "date(CASE WHEN n.level = 7 THEN 'never' ELSE '2020-01-01' END) IS NOT NULL",
    "substring('abc', CASE WHEN n.level = 7 THEN -1 ELSE 0 END) = 'abc'",
    "left('abc', CASE WHEN n.level = 7 THEN -1 ELSE 1 END) = 'a'",
    "any(x IN [n.level] WHERE 1 / (x - 7) >= 0)",
    "[x IN [n.level] | 1 / (x - 7)] <> []",
    "CASE WHEN n.level > 100 THEN true ELSE 1 / (n.level - 7) >= 0 END",
    "EXISTS { (n)-[:xref]-(o) WHERE 1 / (n.level - 7) >= 0 }",
    "COUNT { (n)-[:xref]-(o) WHERE 1 / (n.level - 7) >= 0 } >= 0",
    "size([(n)-[:xref]-(o) WHERE 1 / (n.level - 7) >= 0 | o.uid]) >= 0",
)
ASKED = (
    "MATCH (n:Page) WHERE {raising} RETURN count(*) AS c",
    "MATCH (n:Page WHERE {raising}) RETURN count(*) AS c",
    "MATCH (n:Page {{featured: {raising}}}) RETURN count(*) AS c",
    "MATCH (m:Page)-[:xref]-(n:Page) WHERE {raising} RETURN count(*) AS c",
    "MATCH (m:Page)-[r:xref WHERE {raising}]-(n:Page) RETURN count(*) AS c",
    "MATCH (m:Page)-[:xref]-(n:Page)-[:xref]-(o:Page) WHERE o.level < 9 AND {raising} RETURN count(*) AS c",
    "MATCH (m:Page) OPTIONAL MATCH (m)-[:xref]-(n:Page) WHERE {raising} RETURN count(*) AS c",
    "MATCH (m:Page) WHERE EXISTS {{ (m)-[:xref]-(n:Page) WHERE {raising} }} RETURN count(*) AS c",
    "MATCH (m:Page) RETURN COUNT {{ (m)-[:xref]-(n:Page) WHERE {raising} }} AS c",
    "MATCH (m:Page) RETURN size([(m)-[:xref]-(n:Page) WHERE {raising} | n.uid]) AS c",
    "MATCH (n:Page) WITH n WHERE {raising} RETURN count(*) AS c",
    "MATCH (n:Page) WITH DISTINCT n WHERE {raising} RETURN count(*) AS c",
    "MATCH (n:Page) WITH n, count(*) AS k WHERE {raising} RETURN count(*) AS c",
    "MATCH (m:Page)-[r:xref]-(n:Page) WITH r, n WHERE {raising} RETURN count(*) AS c",
    "MATCH (n:Page) WITH n MATCH (n)-[:xref]-(m:Page) WHERE {raising} RETURN count(*) AS c",
    "MATCH (n:Page) MATCH (n)-[:xref]-(m:Page) WHERE {raising} RETURN count(*) AS c",
    "MATCH (n:Page) OPTIONAL MATCH (n)-[:xref]-(m:Page) WHERE {raising} RETURN count(*) AS c",
    "MATCH (n:Page) WITH n AS k WITH k AS n WHERE {raising} RETURN count(*) AS c",
    "MATCH p = (m:Page)-[:xref*1..2]-(o:Page) WHERE all(n IN nodes(p) WHERE {raising}) RETURN count(*) AS c",
    "MATCH p = (m:Page)-[:xref*1..2]-(o:Page) WITH p WHERE all(n IN nodes(p) WHERE {raising}) RETURN count(*) AS c",
    "MATCH (n:Page) RETURN sum(CASE WHEN {raising} THEN 1 ELSE 0 END) AS c",
    "MATCH (n:Page) WITH n ORDER BY CASE WHEN {raising} THEN 1 ELSE 0 END RETURN count(*) AS c",
    "MATCH (n:Page) UNWIND [{raising}] AS k RETURN count(k) AS c",
)


def raising_queries() -> Iterator[str]:
    for raising in RAISING:
        for asked in ASKED:
            yield asked.format(raising=raising)


def ring_with_a_secret() -> PropertyGraph:
    """Ten pages in a ring; the one of level 7 is secret."""
    nodes = [
        Node(
            f"n{level}",
            ("Page",),
            {"uid": f"n{level}", "level": level, "visibleTo": list(SECRET if level == 7 else PUBLIC)},
        )
        for level in range(10)
    ]
    ring = [Edge(f"n{level}", "xref", f"n{(level + 1) % 10}", {}) for level in range(10)]
    return PropertyGraph(tuple(nodes), tuple(ring))
