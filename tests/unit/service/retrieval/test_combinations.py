from service.domain.filters import NodeFilter
from service.retrieval.combinations import PROPERTIES, read_combinations, tally


def row(nodes: int, **held: object) -> tuple[object, ...]:
    return (*(held.get(name, [] if stored.endswith("s") else None) for name, stored in PROPERTIES.items()), nodes)


COMBINATIONS = read_combinations(
    [
        row(3, kind="page", product=["azure", "sql"], level="beginner"),
        row(5, kind="page", product=["azure"]),
        row(2, kind="unit", product=["sql"], level="beginner", region=["eu"]),
    ]
)


def test_a_value_counts_the_nodes_of_every_combination_that_holds_it() -> None:
    assert tally(COMBINATIONS, "product", NodeFilter(), 10) == {"azure": 8, "sql": 5}
    assert tally(COMBINATIONS, "level", NodeFilter(), 10) == {"beginner": 5}


def test_a_selection_narrows_other_facets_and_not_its_own() -> None:
    chosen = NodeFilter(product=("sql",), level=("beginner", "advanced"))
    assert tally(COMBINATIONS, "kind", chosen, 10) == {"page": 3, "unit": 2}
    assert tally(COMBINATIONS, "product", chosen, 10) == {"sql": 5, "azure": 3}


def test_what_is_no_facet_narrows_too() -> None:
    assert tally(COMBINATIONS, "product", NodeFilter(region=("eu",)), 10) == {"sql": 2}


def test_most_first_then_by_value_and_no_more_than_asked_for() -> None:
    even = read_combinations([row(1, topic=["b", "c", "a"]), row(1, topic=["c"])])
    assert list(tally(even, "topic", NodeFilter(), 10).items()) == [("c", 2), ("a", 1), ("b", 1)]
    assert tally(even, "topic", NodeFilter(), 1) == {"c": 2}
