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
from tests.contract.conftest import GRAPHS, SERVERS, Graph, engines_of
from tests.contract.estate import publish, record, soon

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(300)]

PATIENT = Settings(facet_deadline=60_000, facet_compute_deadline=60_000, facet_values=50)
PROFILE = graph_profile(PATIENT)
STORED = {**SINGLE_VALUED, **MANY_VALUED}
AUDIENCES = [frozenset({EVERYONE}), frozenset({EVERYONE, "staff"})]

VALUES: dict[str, tuple[str, ...]] = {
    "kind": ("page", "unit", "module", "learningPath", "codeSample"),
    "product": ("azure", "azure-sql", "Azure", 'it\'s "quoted"'),
    "topic": ("data", "web"),
    "role": ("developer", "admin"),
    "audience": ("it", "*"),
    "level": ("beginner", "advanced"),
    "moniker": ("net-8.0", "net-9.0"),
    "locale": ("en-us", "de-de", "fr-fr"),
    "docset": ("site", "course"),
    "language": ("csharp", "python"),
}
"""Values that nodes and filters draw from; a filter also draws one that no node has."""

MOST_NODES = 14


def one(name: str) -> st.SearchStrategy[str | None]:
    return st.sampled_from([*VALUES[name], None])


def some(name: str) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(VALUES[name]), unique=True).map(tuple)


RECORDS = st.builds(
    record,
    st.sampled_from([f"n{number}" for number in range(MOST_NODES)]),
    title=st.just("A node"),
    locale=st.sampled_from(VALUES["locale"]),
    kind=st.sampled_from([NodeKind(kind) for kind in VALUES["kind"]]),
    docset=st.sampled_from([*VALUES["docset"], ""]),
    level=one("level"),
    language=one("language"),
    products=some("product"),
    topics=some("topic"),
    roles=some("role"),
    audience=some("audience"),
    monikers=some("moniker"),
    visible_to=st.sampled_from([(EVERYONE,), ("staff",), ("board",), ("board", "staff")]),
)
"""Nodes of every mixture: with none, one, or several of a property's values, shown to all, to staff, or to neither. An
empty docset, which a product has, is no value: no filter can name it."""

ESTATES = st.lists(RECORDS, min_size=1, max_size=MOST_NODES, unique_by=lambda each: each.node.identity)

CHOSEN = {
    name: st.lists(st.sampled_from([*values, *([] if name == "kind" else ["nobody's"])]), min_size=1, unique=True)
    for name, values in VALUES.items()
}
FILTERS = st.lists(st.sampled_from(sorted(VALUES)), max_size=3, unique=True).flatmap(
    lambda names: st.fixed_dictionaries({name: CHOSEN[name] for name in names})
)
"""None to three facets chosen by, each by one value or several."""


def test_every_facet_of_the_service_is_tried() -> None:
    assert VALUES.keys() == FACETS.keys()
    assert all(Moniker.parse(name) for name in VALUES["moniker"])


# Other tries each time, wherever it runs: the blob that a failure prints brings its try back.
TRIED = settings(
    deadline=None, derandomize=False, database=None, print_blob=True, suppress_health_check=list(HealthCheck)
)


@pytest.mark.parametrize("graph", engines_of(GRAPHS.keys() - SERVERS, GRAPHS), indirect=True)
@given(ESTATES, FILTERS, st.sampled_from(AUDIENCES), st.integers(0, 99))
@settings(TRIED, max_examples=120)
async def test_counts_are_those_of_a_graph_query_and_of_the_listing(
    graph: Graph, records: list[NodeRecord], wishes: dict[str, list[str]], audiences: frozenset[str], seed: int
) -> None:
    await counts_agree(graph, records, wishes, audiences, seed)


# Not shrunk: each try asks a server fifty times, and what fails is named by the assertion.
@pytest.mark.parametrize("graph", engines_of(GRAPHS.keys() & SERVERS, GRAPHS), indirect=True)
@given(ESTATES, FILTERS, st.sampled_from(AUDIENCES), st.integers(0, 99))
@settings(TRIED, max_examples=25, phases=[Phase.generate])
async def test_counts_of_a_server_are_those_of_a_graph_query_and_of_the_listing(
    graph: Graph, records: list[NodeRecord], wishes: dict[str, list[str]], audiences: frozenset[str], seed: int
) -> None:
    await counts_agree(graph, records, wishes, audiences, seed)


async def counts_agree(
    graph: Graph, records: list[NodeRecord], wishes: dict[str, list[str]], audiences: frozenset[str], seed: int
) -> None:
    """Of every facet: what the records say, what the listing and a query say of one value, in the order of DESIGN."""
    kept = set((await graph.store.manifest()).values())
    held = [each for each in records if each.content_hash in kept]
    published = await publish(graph.store, records, held=held)
    narrowed = NodeFilter.from_mapping(wishes)
    counter = FacetCounter(graph.reader, PROFILE, PATIENT)
    counted, late = await counter.count(list(FACETS), narrowed, published.generation, audiences, deadline=soon())
    assert late == []
    asking = FacetCounter(graph.reader, PROFILE, PATIENT.model_copy(update={"facet_combinations": 0}))
    asked, late = await asking.count(list(FACETS), narrowed, published.generation, audiences, deadline=soon())
    assert late == []
    assert [(name, list(counts.items())) for name, counts in asked.items()] == [
        (name, list(counts.items())) for name, counts in counted.items()
    ]
    draw = random.Random(seed)
    for name, counts in counted.items():
        assert counts == tally(records, name, narrowed, audiences)
        assert list(counts.items()) == sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        if counts:
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
            }.items() if value},
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
