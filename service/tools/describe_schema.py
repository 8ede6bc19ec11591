"""describe_schema: what a query_graph may say, counted from the live graph."""

from service.domain.principal import Principal
from service.domain.requests import SchemaRequest
from service.domain.results import SchemaResult
from service.domain.snapshots import Snapshot
from service.retrieval.consistent import of_one_snapshot
from service.retrieval.engines import Retrieval
from service.statements import count_edges, count_kinds

EXAMPLES = (
    "MATCH (u:Unit)-[:partOf]->(m:Module) WHERE m.uid = $uid RETURN u.title ORDER BY u.title",
    "MATCH (p:Page)-[:xref]->(q:Page) RETURN q.uid, count(p) AS links ORDER BY links DESC LIMIT 10",
    "MATCH (m:Module)-[:teachesSkill]->(s:Skill) WHERE s.title CONTAINS 'index' RETURN m.uid, s.title",
    "MATCH (p:Page)-[:dependsOn*1..3]->(q) WHERE p.uid = $uid RETURN DISTINCT q.uid, q.title",
)


async def describe_schema(_request: SchemaRequest, principal: Principal, retrieval: Retrieval) -> SchemaResult:
    """Labels and edge types with how many of each the principal may see; properties, limits and examples."""
    deadline = retrieval.deadline()
    profile = retrieval.profile

    async def read(snapshot: Snapshot) -> SchemaResult:
        kinds = await retrieval.graph.run(count_kinds(principal.audiences), deadline=deadline)
        edges = await retrieval.graph.run(count_edges(principal.audiences), deadline=deadline)
        return SchemaResult(
            labels={str(kind): int(total) for kind, total in kinds.rows},
            edge_types={
                **dict.fromkeys(sorted(profile.edge_types), 0),
                **{str(name): int(total) for name, total in edges.rows},
            },
            properties=sorted(profile.properties or ()),
            grammar=profile.describe(),
            examples=list(EXAMPLES),
            content_root=snapshot.content_root,
        )

    return await of_one_snapshot(retrieval.store, read)
