from adapters.indexing.reach import Reach


def test_it_learns_how_many_hits_hold_the_nodes() -> None:
    reach = Reach()
    reach.learn(100, 1_500)
    assert reach.first(100) >= 1_500
    for _ in range(500):
        reach.learn(100, 100)
    assert 100 <= reach.first(100) < 150


def test_it_never_asks_for_less_than_is_wanted() -> None:
    reach = Reach()
    for _ in range(500):
        reach.learn(10, 10)
    assert reach.first(10) >= 10
    assert reach.first(1) >= 1
    assert reach.next(40) > 40
