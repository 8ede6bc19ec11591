"""What the guard makes of a query, step by step."""

from dataclasses import dataclass
from typing import Any

from cypher_guard import Visibility, explain
from cypher_guard.outline import outline, rewritten
from service.bootstrap import graph_profile
from service.domain.principal import Principal
from service.settings import Settings


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
