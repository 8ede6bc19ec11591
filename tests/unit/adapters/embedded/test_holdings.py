from adapters.embedded.holdings import Holdings
from service.domain.filters import NodeFilter, SearchScope
from tests.contract.estate import STAFF, passage, scope

PUBLIC, SECRET = passage("public", ""), passage("secret", "", visible_to=("staff",))


def test_an_index_of_public_passages_needs_no_condition() -> None:
    holdings = Holdings().with_added([PUBLIC], 3)
    assert holdings.all_current(scope(generation=3))
    assert not holdings.all_current(scope(generation=2))
    assert holdings.all_visible(scope())
    assert holdings.all_visible(scope(principal=STAFF))


def test_one_secret_passage_is_enough() -> None:
    holdings = Holdings().with_added([PUBLIC, SECRET], 1).with_added([PUBLIC], 2)
    assert not holdings.all_visible(scope())
    assert not holdings.all_visible(scope(principal=STAFF))


def test_who_is_not_everyone_sees_nothing_by_default() -> None:
    nobody = SearchScope(NodeFilter(), frozenset({"staff"}), 1)
    assert not Holdings().with_added([PUBLIC], 1).all_visible(nobody)


def test_what_adds_nothing_new_changes_nothing() -> None:
    holdings = Holdings().with_added([PUBLIC], 2)
    assert holdings.with_added([PUBLIC], 1) is holdings
    assert holdings.with_added([SECRET], 1) is not holdings
