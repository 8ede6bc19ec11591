"""guard(): untrusted text in, a bounded read-only query out."""

from collections.abc import Mapping

from cypher_guard.binder import VisibilityShape
from cypher_guard.cache import PlanCache
from cypher_guard.guarded_query import GuardedQuery
from cypher_guard.plan import Plan, bind_values, make_plan
from cypher_guard.profile import Profile
from cypher_guard.violation import Refusal, Violation
from cypher_guard.visibility import Visibility

CACHED_PLANS = 1024

_plans = PlanCache(CACHED_PLANS)


def guard(
    text: str,
    params: Mapping[str, object] | None,
    profile: Profile,
    *,
    visibility: Visibility | None = None,
    cache: PlanCache | None = _plans,
) -> GuardedQuery:
    """The one query that may go to a database for this text, or a Violation; nothing else is ever raised.

    params: JSON-like values by name, without the dollar; None when only the text is wanted, which skips their
    check. visibility: the principal's classes, when nodes carry them. cache: where renderings are kept; None
    keeps none.
    """
    try:
        plan = _plan(text, profile, visibility, cache)
        return bind_values(plan, params, profile, visibility)
    except Refusal as refusal:
        raise refusal.locate(text if isinstance(text, str) else "") from None
    except RecursionError:
        raise Violation("too_large", "the query nests too deeply for the caller's stack") from None


def explain(text: str, profile: Profile, *, visibility: Visibility | None = None) -> Plan:
    """The parsed tree, each rewriting and the rendering, for a person; raises Violation."""
    try:
        return _plan(text, profile, visibility, None)
    except Refusal as refusal:
        raise refusal.locate(text) from None


def _plan(text: str, profile: Profile, visibility: Visibility | None, cache: PlanCache | None) -> Plan:
    if not isinstance(text, str):
        raise Refusal("syntax", f"a query is text, not {type(text).__name__}", None)
    shape = None if visibility is None else VisibilityShape(visibility.property, visibility.parameter)
    key = (text, profile, shape)
    plan = None if cache is None else cache.get(key)
    if plan is None:
        _check_unicode(text)
        plan = make_plan(text, profile, shape)
        if cache is not None:
            cache.put(key, plan)
    return plan


def _check_unicode(text: str) -> None:
    if text.isascii():
        return
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise Refusal("syntax", "the query is not valid Unicode", error.start) from None
