"""Documents that would cost too much are refused by their syntax alone, at once, whatever way they take."""

import time

import pytest
from graphql import GraphQLError

from service.settings import Settings
from service.surfaces.graphql import limits
from service.surfaces.graphql.limits import check, read
from service.surfaces.graphql.refusals import FragmentCycle, QueryOverLimit

pytestmark = pytest.mark.timeout(60)

ROOM = Settings(graphql_tokens=1_000_000)
"""What only the bound on tokens would refuse, is to be refused by its own bound, too."""


def extent(document, variables=None, settings=ROOM):
    (found,) = limits._Measuring(variables or {}, settings).operations(read(document, settings))
    return found


def chain(length, before="", after=""):
    """Fragments, each of which spreads the next."""
    spread = " ".join(f"fragment F{n} on Node {{ uid {before} ...F{n + 1} {after} }}" for n in range(length))
    return f'{{ node(uid: "a") {{ ...F0 }} }} {spread} fragment F{length} on Node {{ uid }}'


def nested(depth):
    return '{ node(uid: "a") { ' + "edges { node { " * depth + "uid" + " } }" * depth + " } }"


def doubling(levels):
    """Fragments that each spread the next twice: 2^levels fields of a few hundred characters."""
    spread = " ".join(
        f"fragment F{n} on Node {{ edges {{ a: node {{ ...F{n + 1} }} b: node {{ ...F{n + 1} }} }} }}"
        for n in range(levels)
    )
    return f'{{ node(uid: "a") {{ ...F0 }} }} {spread} fragment F{levels} on Node {{ uid }}'


HOSTILE = {
    "5,000 aliases": ("{ " + " ".join(f'a{n}: node(uid: "a") {{ uid }}' for n in range(5_000)) + " }", "aliases"),
    "5,000 fields": ('{ node(uid: "a") { ' + "uid " * 5_000 + "} }", "fields"),
    "a flood of directives": ("{ __typename " + "@include(if: true) " * 5_000 + "}", "directives"),
    "directives on the operation": ("query " + "@a " * 5_000 + "{ __typename }", "directives"),
    "directives on variables": ("query($a: Int " + "@a " * 5_000 + ") { __typename }", "directives"),
    "directives on a spread": ("{ ...F " + "@a " * 5_000 + "} fragment F on Query { __typename }", "directives"),
    "directives on an inline fragment": ("{ ... " + "@a " * 5_000 + "{ __typename } }", "directives"),
    "depth": (nested(15), "depth"),
    "depth by fragments": (chain(300, "edges { node {", "} }"), "depth"),
    "fields by a chain of fragments": (chain(600), "fields"),
    "breadth by fragments": (
        "{ " + "...F " * 20 + "} fragment F on Query { " + '... { node(uid: "a") { uid } } ' * 50 + "}",
        "fields",
    ),
    "aliases by fragments": (
        "{ "
        + "".join(f'a{n}: node(uid: "a") {{ ...F }} ' for n in range(40))
        + "} fragment F on Node { b: uid c: uid }",
        "aliases",
    ),
    "fields that double": (doubling(8), None),
    "fields that double a thousand times": (doubling(1_000), None),
    "pages of pages": (
        '{ search(text: "a", first: 100) { edges { node { node { '
        + " ".join(f"edges {{ node {{ edges {{ node {{ a{n}: uid }} }} }} }}" for n in range(5))
        + " } } } } }",
        "cost",
    ),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_each_bound_refuses_by_itself(case):
    document, bound = HOSTILE[case]
    parsed = read(document, ROOM)
    began = time.perf_counter()
    with pytest.raises(QueryOverLimit) as raised:
        check(parsed, {}, ROOM)
    assert time.perf_counter() - began < 1
    if bound:
        assert f"graphql_{bound}" in raised.value.message


@pytest.mark.anyio
@pytest.mark.parametrize("case", [*HOSTILE, "a cycle", "100,000 comments", "a cycle of 100"])
async def test_a_hostile_document_is_refused_at_once_with_a_type(client, toolbox, case):
    cycle = '{ node(uid: "a") { ...A } } fragment A on Node { ...B } fragment B on Node { edges { node { ...A } } }'
    long_cycle = chain(100).replace("fragment F100 on Node { uid }", "fragment F100 on Node { ...F0 }")
    special = {"a cycle": cycle, "100,000 comments": "#\n" * 100_000 + "{ __typename }", "a cycle of 100": long_cycle}
    document = special.get(case) or HOSTILE[case][0]
    began = time.perf_counter()
    answer = await client.post("/graphql", json={"query": document})
    elapsed = time.perf_counter() - began
    code = answer.json()["errors"][0]["extensions"]["code"]
    assert code == ("fragment_cycle" if "cycle" in case else "query_over_limit")
    assert toolbox.asked == []
    assert elapsed < 2


@pytest.mark.anyio
async def test_what_the_limits_let_through_is_validated_in_no_time(client):
    """Overlapping fields are compared pair by pair: as many as are let through, all of one name."""
    most = Settings().graphql_fields
    for document in (
        '{ node(uid: "a") { ' + "uid " * (most - 1) + "} }",
        "{ " + " ".join('node(uid: "a") { uid }' for _ in range(140)) + " }",
        '{ node(uid: "a") { ' + "...F " * 400 + "} } fragment F on Node { uid }",
    ):
        began = time.perf_counter()
        answer = await client.post("/graphql", json={"query": document})
        assert "errors" not in answer.json()
        assert time.perf_counter() - began < 2


def test_a_fragment_that_spreads_itself_is_a_cycle():
    for document in ("{ ...A } fragment A on Query { ...A }", "{ a { ...A } } fragment A on Q { b { ... { ...A } } }"):
        with pytest.raises(FragmentCycle):
            check(read(document, ROOM), {}, ROOM)


def test_the_extent_is_that_of_the_fragments_written_out():
    document = """
      query Q($n: Int @a) @b { one: search(text: "t", first: $n) { ...P @c edges { node { uid } } } }
      fragment P on HitConnection { total pageInfo { x: endCursor hasNextPage @d @e } }
    """
    found = extent(document, {"n": 7})
    assert found.depth == 4
    assert found.fields == 1 + (1 + 1 + 2) + 3
    assert found.aliases == 2
    assert found.directives == 5
    # The page of 7: total, pageInfo with two, and of each hit edges (10 by default, as a page within), node, uid.
    assert found.cost == 1 + 7 * ((1 + (1 + 2)) + (1 + (1 + 1)))


@pytest.mark.parametrize(
    ("given", "page"), [("first: 3", 3), ("first: 1000000000", 100), ("first: -5", 1), ("first: $n", 10), ("", 10)]
)
def test_a_page_costs_what_can_be_in_it(given, page):
    comma = ", " if given else ""
    assert extent(f'query {{ search(text: "a"{comma}{given}) {{ edges {{ cursor }} }} }}').cost == 1 + page * 2


def test_the_bounds_hold_where_they_stand():
    """One more is refused, and the bound itself is not."""
    settings = Settings(graphql_depth=3, graphql_aliases=2, graphql_directives=2, graphql_fields=4, graphql_cost=1_000)
    within = {
        "depth": "{ a { b { c } } }",
        "aliases": "{ x: a y: b }",
        "directives": "{ a @i @i }",
        "fields": "{ a b c d }",
    }
    over = {
        "depth": "{ a { b { c { d } } } }",
        "aliases": "{ x: a y: b z: c }",
        "directives": "{ a @i @i @i }",
        "fields": "{ a b c d e }",
    }
    for name in within:
        check(read(within[name], settings), {}, settings)
        with pytest.raises(QueryOverLimit, match=f"graphql_{name}"):
            check(read(over[name], settings), {}, settings)


def test_tokens_are_bounded_before_the_document_is_read():
    settings = Settings(graphql_tokens=10)
    read("{ a b c }", settings)
    for document in ("{ " + "a " * 10 + "}", "#\n" * 11 + "{ a }"):
        with pytest.raises(QueryOverLimit, match="graphql_tokens"):
            read(document, settings)
    with pytest.raises(QueryOverLimit, match="graphql_tokens"):
        read("{ a " * 5_000, ROOM)
    with pytest.raises(GraphQLError):
        read("{ a", settings)
