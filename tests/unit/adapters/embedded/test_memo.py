from adapters.embedded.memo import Memo


def test_the_first_gives_way() -> None:
    memo: Memo[str, int] = Memo(2)
    for number, name in enumerate("abc"):
        memo.put(name, number)
    assert [memo.get(name) for name in "abc"] == [None, 1, 2]
    assert len(memo) == 2


def test_forgetting_and_clearing() -> None:
    memo: Memo[str, int] = Memo(2)
    memo.put("a", 1)
    memo.forget("a")
    memo.forget("unknown")
    assert memo.get("a") is None
    memo.put("b", 2)
    memo.clear()
    assert memo.get("b") is None


def test_a_memo_of_nothing() -> None:
    memo: Memo[str, int] = Memo(0)
    memo.put("a", 1)
    assert memo.get("a") is None
