"""What the guard makes of a query, step by step."""

from dataclasses import dataclass
from typing import Any

from cypher_guard import Visibility, explain
from cypher_guard.outline import outline, rewritten
from service.bootstrap import graph_profile
from service.domain.principal import Principal
from service.settings import Settings

EXAMPLES = (
    (
        "A module and its units, in order",
        "MATCH (u:Unit)-[r:partOf]->(m:Module) RETURN m.title AS module, r.ordinal AS place, u.title AS unit"
        " ORDER BY module, place LIMIT 20",
    ),
    (
        "What most pages link to",
        "MATCH (p:Page)-[:xref]->(t) RETURN t.title AS title, count(p) AS pages ORDER BY pages DESC LIMIT 10",
    ),
    (
        "Pages that were moved, and where to",
        "MATCH (old:Retired)-[:supersededBy]->(new) RETURN old.uid AS old, new.title AS new LIMIT 10",
    ),
    ("What the guard refuses, and how it says so", "MATCH (a)-[:requires*]->(b) RETURN a, b"),
)
"""What each is for, and its text."""


@dataclass(frozen=True, slots=True)
class ShownPlan:
    """`tree`: a line for each of its nodes, indented; `rewrites`: line, column, and what was done there."""

    tree: str
    rewrites: list[tuple[int, int, str]]
    text: str
    literals: dict[str, Any]
    hops: int
    cost: float


def shown_plan(cypher: str, settings: Settings, caller: Principal) -> ShownPlan:
    """The plan of a query as this caller would run it. Raises Violation."""
    plan = explain(cypher, graph_profile(settings), visibility=Visibility(audiences=caller.audiences))
    return ShownPlan(
        tree="\n".join(outline(plan.tree)),
        rewrites=list(rewritten(cypher, plan)),
        text=plan.text,
        literals=plan.literals,
        hops=plan.hops,
        cost=plan.cost,
    )
