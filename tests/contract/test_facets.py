"""Facets on any graph: a count is what a graph query counts, and what paging through the filtered listing yields."""

import random
from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from cypher_guard import Visibility, guard
from service.bootstrap import graph_profile
from service.domain.content import NodeRecord
from service.domain.filters import MANY_VALUED, SINGLE_VALUED, NodeFilter
from service.domain.graph import EVERYONE, NodeKind
from service.domain.monikers import Moniker
from service.retrieval.facets import FACETS, FacetCounter
from service.settings import Settings
from service.statements import list_nodes
from tests.contract.conftest import Graph
from tests.contract.estate import publish, record, soon

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300)]

PATIENT = Settings(facet_deadline=60_000, facet_compute_deadline=60_000, facet_values=50)
PROFILE = graph_profile(PATIENT)
STORED = {**SINGLE_VALUED, **MANY_VALUED}
OPEN, STAFF = frozenset({EVERYONE}), frozenset({EVERYONE, "staff"})

VALUES: dict[str, tuple[str, ...]] = {
    "kind": ("page", "unit", "module", "codeSample"),
    "product": ("azure", "azure-sql", "Azure", 'it\'s "quoted"'),
    "topic": ("data", "web"),
    "role": ("developer", "admin"),
    "audience": ("it", "*"),
    "level": ("beginner", "advanced"),
    "moniker": ("net-8.0", "net-9.0"),
    "locale": ("en-us", "de-de"),
    "docset": ("site", "course"),
    "language": ("csharp", "python"),
}
"""Values that nodes and filters draw from; a filter also draws one that no node has."""


def estate() -> list[NodeRecord]:
    """Nodes of every mixture: with none, one, or several of a property's values, a fifth of them for staff alone."""
    draw = random.Random(3)

    def some(name: str) -> tuple[str, ...]:
        return tuple(draw.sample(VALUES[name], draw.randint(0, len(VALUES[name]))))

    def one(name: str) -> str | None:
        return draw.choice([*VALUES[name], None])

    return [
        record(
            f"n{number // 2}",
            title="A node",
            locale=VALUES["locale"][number % 2],
            kind=NodeKind(draw.choice(VALUES["kind"])),
            docset=draw.choice(VALUES["docset"]),
            level=one("level"),
            language=one("language"),
            products=some("product"),
            topics=some("topic"),
            roles=some("role"),
            audience=some("audience"),
            monikers=some("moniker"),
            visible_to=("staff",) if number % 5 == 0 else (EVERYONE,),
        )
        for number in range(60)
    ]


FILTERS = st.fixed_dictionaries(
    {},
    optional={
        name: st.lists(st.sampled_from([*values, *([] if name == "kind" else ["nobody's"])]), min_size=1, unique=True)
        for name, values in VALUES.items()
    },
)
SMALL = FILTERS.map(lambda chosen: dict(list(chosen.items())[:3]))


def test_every_facet_of_the_service_is_tried() -> None:
    assert VALUES.keys() == FACETS.keys()
    assert all(Moniker.parse(name) for name in VALUES["moniker"])


CHOICES = st.lists(SMALL, min_size=6, max_size=6)


# Not shrunk: each try asks an engine a hundred times, and what fails is named by the assertion.
@given(chosen=CHOICES, audiences=st.sampled_from([OPEN, STAFF]), seed=st.integers(0, 99))
@settings(
    max_examples=2,
    deadline=None,
    derandomize=True,
    phases=[Phase.generate],
    suppress_health_check=list(HealthCheck),
)
async def test_counts_are_those_of_a_graph_query_and_of_the_listing(
    graph: Graph, chosen: list[dict[str, list[str]]], audiences: frozenset[str], seed: int
) -> None:
    records = estate()
    if not await graph.store.roots():
        await publish(graph.store, records)
    counter = FacetCounter(graph.reader, PROFILE, PATIENT)
    draw = random.Random(seed)
    for wishes in chosen:
        narrowed = NodeFilter.from_mapping(wishes)
        counted, late = await counter.count(list(FACETS), narrowed, 1, audiences, deadline=soon())
        assert late == []
        for name, counts in counted.items():
            expected = tally(records, name, narrowed, audiences)
            assert counts == expected
            assert list(counts.values()) == sorted(counts.values(), reverse=True)
            if not counts:
                continue
            # The facet's own selection doesn't narrow it: one value in its place is what choosing it alone would show.
            value = draw.choice(sorted(counts))
            alone = replace(narrowed, **{name: (value,)})
            assert await queried(graph, alone, audiences) == counts[value]
            assert await listed(graph, alone, audiences, page=draw.randint(1, 9)) == counts[value]


def tally(records: list[NodeRecord], name: str, narrowed: NodeFilter, audiences: frozenset[str]) -> dict[str, int]:
    """What DESIGN's rule makes of the records: any value within a property, every property, without the facet's own."""
    counts: dict[str, int] = {}
    constraints = {key: values for key, values in narrowed.constraints().items() if key != name}
    for node in (each.node for each in records):
        held = {
            **{one: (value,) for one, value in {
                "kind": node.kind.value, "level": node.level, "language": node.language,
                "locale": node.identity.locale, "docset": node.docset,
            }.items() if value is not None},
            "product": node.products, "topic": node.topics, "role": node.roles,
            "audience": node.audience, "moniker": node.monikers,
        }  # fmt: skip
        seen = not audiences.isdisjoint(node.visible_to)
        if seen and all(not set(held.get(key, ())).isdisjoint(values) for key, values in constraints.items()):
            for value in held.get(name, ()):
                counts[value] = counts.get(value, 0) + 1
    return counts


async def queried(graph: Graph, narrowed: NodeFilter, audiences: frozenset[str]) -> int:
    """The same constraints in a query of anyone's."""
    tests, parameters = zip(*constraints(narrowed), strict=True)
    text = f"MATCH (n) WHERE {' AND '.join(tests)} RETURN count(n) AS total"
    bound: Mapping[str, object] = {name: value for each in parameters for name, value in each.items()}
    rows = await graph.reader.run(
        guard(text, bound, PROFILE, visibility=Visibility(audiences=audiences)), deadline=soon()
    )
    return int(rows.rows[0][0])


def constraints(narrowed: NodeFilter) -> Iterator[tuple[str, dict[str, object]]]:
    for name, values in narrowed.constraints().items():
        single = f"n.{STORED[name]} = ${name}{{}}" if name in SINGLE_VALUED else f"${name}{{}} IN n.{STORED[name]}"
        either = " OR ".join(single.format(number) for number in range(len(values)))
        yield f"({either})", {f"{name}{number}": value for number, value in enumerate(values)}


async def listed(graph: Graph, narrowed: NodeFilter, audiences: frozenset[str], *, page: int) -> int:
    keys: list[str] = []
    while True:
        after = keys[-1] if keys else ""
        rows = await graph.reader.run(list_nodes(narrowed, audiences, after=after, limit=page), deadline=soon())
        keys += [row["key"] for row in rows.by_column()]
        if len(rows.rows) < page:
            assert len(set(keys)) == len(keys)
            return len(keys)
