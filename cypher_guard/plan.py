"""A checked and rendered query before its values are bound: what the cache keeps."""

from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from cypher_guard.binder import Binder, Scope, VisibilityShape
from cypher_guard.checks import check_text_size
from cypher_guard.clause_binding import bind_match, bind_unwind
from cypher_guard.cost import estimate
from cypher_guard.guarded_query import LANGUAGE_PREFIX, GuardedQuery, seal
from cypher_guard.parameters import check_parameters
from cypher_guard.profile import Profile
from cypher_guard.projection_binding import LIMIT_PARAMETER, BoundProjection, bind_projection
from cypher_guard.query_parser import parse
from cypher_guard.rendering import Renderer
from cypher_guard.row_bounds import RowBound, evaluate
from cypher_guard.rules import RULES
from cypher_guard.tree import Clause, Match, Query, Unwind
from cypher_guard.violation import Refusal
from cypher_guard.visibility import Visibility


@dataclass(frozen=True, slots=True)
class Plan:
    """text and its literals; parameters that it names with their places and the kinds they must be."""

    text: str
    literals: dict[str, object]
    parameters: dict[str, int]
    parameter_kinds: dict[str, str]
    bounds: tuple[RowBound, ...]
    limit: int | None
    columns: tuple[str, ...]
    hops: int
    fingerprint: str
    cost: float
    tree: Query
    canonical: tuple[Clause, ...]
    rewrites: tuple[tuple[int, str], ...]


def make_plan(text: str, profile: Profile, visibility: VisibilityShape | None) -> Plan:
    """Parse, check, rewrite and render; raises Refusal."""
    check_text_size(profile, text)
    query, _ = parse(
        text,
        extended=profile.clauses == "extended",
        max_nesting=profile.max_nesting,
        max_subqueries=profile.max_subqueries,
    )
    binder = Binder(profile, visibility, RULES)
    clauses, last, bounds = _bind(binder, query)
    cost = estimate(profile, clauses)
    renderer = Renderer(visibility)
    rendered = LANGUAGE_PREFIX + renderer.query(clauses)
    return Plan(
        text=rendered,
        literals=renderer.literals,
        parameters=binder.parameters,
        parameter_kinds=binder.parameter_kinds,
        bounds=bounds,
        limit=last.limit,
        columns=last.columns,
        hops=binder.hops,
        fingerprint=sha256(rendered.encode()).hexdigest()[:16],
        cost=cost,
        tree=query,
        canonical=clauses,
        rewrites=tuple(binder.rewrites),
    )


def _bind(binder: Binder, query: Query) -> tuple[tuple[Clause, ...], BoundProjection, tuple[RowBound, ...]]:
    scope = Scope({})
    clauses: list[Clause] = []
    bounds: list[RowBound] = []
    for clause in query.clauses:
        if isinstance(clause, Match):
            match, scope = bind_match(binder, clause, scope)
            clauses.append(match)
        elif isinstance(clause, Unwind):
            unwind, scope = bind_unwind(binder, clause, scope)
            clauses.append(unwind)
        else:
            last = bind_projection(binder, clause, scope)
            clauses.extend(last.clauses)
            bounds.extend(last.bounds)
            scope = last.scope
    return tuple(clauses), last, tuple(bounds)


def bind_values(
    plan: Plan, params: Mapping[str, object] | None, profile: Profile, visibility: Visibility | None
) -> GuardedQuery:
    """The query with its values; raises Refusal for parameters that do not fit."""
    values: dict[str, object] = {}
    if params is not None:
        values = check_parameters(profile, params, plan.parameters, plan.parameter_kinds)
    limit = plan.limit
    computed: dict[str, object] = {}
    for bound in plan.bounds:
        if params is None:
            number = profile.max_rows
            if bound.name != LIMIT_PARAMETER:
                continue
        else:
            number = _evaluate(bound, values)
        if bound.name == LIMIT_PARAMETER:
            limit = min(number, profile.max_rows)
            number = limit + 1
        computed[bound.name] = number
    # Parameters that only a row bound names are folded into it and do not go to the database.
    values = {**values, **plan.literals, **computed}
    if visibility is not None:
        values[visibility.parameter] = sorted(visibility.audiences)
    assert limit is not None
    return seal(
        text=plan.text,
        params=values,
        limit=limit,
        columns=plan.columns,
        hops=plan.hops,
        fingerprint=plan.fingerprint,
    )


def _evaluate(bound: RowBound, values: Mapping[str, object]) -> int:
    try:
        return evaluate(bound.expression, values, bound.keyword)
    except Refusal as refusal:
        raise Refusal("bad_parameter", refusal.message, refusal.position) from None
