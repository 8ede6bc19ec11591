"""Renderings are kept by text, profile and shape; values never are."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pytest

from cypher_guard import Violation, Visibility, guard
from cypher_guard.cache import PlanCache
from tests.unit.cypher_guard.rendered import PROFILE

TEXT = "MATCH (a:A {name: $n}) RETURN a.size AS s"


def test_values_and_principals_share_one_plan() -> None:
    cache = PlanCache(8)
    for name in ("x", "y"):
        for audience in ("staff", "guest"):
            view = Visibility(frozenset({audience}))
            query = guard(TEXT, {"n": name}, PROFILE, visibility=view, cache=cache)
            assert (query.params["n"], query.params["__audiences"]) == (name, [audience])
    assert len(cache) == 1


def test_text_profile_and_shape_each_make_another_plan() -> None:
    cache = PlanCache(8)
    guard(TEXT, {"n": 1}, PROFILE, cache=cache)
    guard(TEXT + " ", {"n": 1}, PROFILE, cache=cache)
    guard(TEXT, {"n": 1}, replace(PROFILE, default_rows=10), cache=cache)
    guard(TEXT, {"n": 1}, PROFILE, visibility=Visibility(frozenset()), cache=cache)
    guard(TEXT, {"n": 1}, PROFILE, visibility=Visibility(frozenset(), property="readers"), cache=cache)
    guard(TEXT, {"n": 1}, replace(PROFILE), cache=cache)
    assert len(cache) == 5


def test_parameters_are_checked_on_a_kept_plan_too() -> None:
    cache = PlanCache(8)
    guard(TEXT, {"n": 1}, PROFILE, cache=cache)
    with pytest.raises(Violation) as refused:
        guard(TEXT, {"m": 1}, PROFILE, cache=cache)
    assert refused.value.code == "missing_parameter"


def test_the_least_recently_used_plan_leaves_first() -> None:
    cache = PlanCache(2)
    for number in (1, 2, 1, 3):
        guard(f"RETURN {number} AS x", {}, PROFILE, cache=cache)
    assert cache.get(("RETURN 1 AS x", PROFILE, None)) is not None
    assert cache.get(("RETURN 2 AS x", PROFILE, None)) is None
    assert len(cache) == 2


def test_refusals_are_not_kept() -> None:
    cache = PlanCache(2)
    with pytest.raises(Violation):
        guard("CREATE (n)", {}, PROFILE, cache=cache)
    assert len(cache) == 0


def test_threads_share_it() -> None:
    cache = PlanCache(4)

    def ask(number: int) -> object:
        return guard(f"RETURN {number % 8} AS x", {}, PROFILE, cache=cache).params["__s0"]

    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(ask, range(400))) == [number % 8 for number in range(400)]
    assert len(cache) == 4
