"""Recorded exchanges: the same requests get the same answers, and any other is an error that says what to do."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from tests.containers import QDRANT_IMAGE
from tests.qdrant_exchanges import Exchange, ExchangeServer
from tests.qdrant_sources import Recordings, Replayed, RequestsDiffer

ADD = Exchange("PUT", "/points", '{"vector": [0.5, 0.25]}', 200, '{"result": "added"}')
FIND = Exchange("POST", "/points/query", '{"limit": 1}', 200, '{"result": ["a"]}')
FIND_AGAIN = Exchange("POST", "/points/query", '{"limit": 1}', 200, '{"result": ["b"]}')

Ask = Callable[[str], object]


@pytest.fixture
def replayed() -> Iterator[Replayed]:
    with ExchangeServer.running() as server:
        yield Replayed(server, Recordings("1.2.3", "2026-11-30", {"test": [FIND, ADD, FIND_AGAIN]}))


def find(url: str) -> object:
    answer = httpx.post(f"{url}/points/query?timeout=20", json={"limit": 1})
    return answer.json()["result"] if answer.is_success else answer.status_code


def add(url: str, vector: tuple[float, float] = (0.5, 0.25)) -> object:
    answer = httpx.put(f"{url}/points", json={"vector": vector})
    return answer.json()["result"] if answer.is_success else answer.status_code


def add_another(url: str) -> object:
    return add(url, (0.6, 0.25))


def add_nearly_the_same(url: str) -> object:
    return add(url, (0.5000004, 0.25))


def play(replayed: Replayed, *asked: Ask, test: str = "test", in_order: bool = True) -> list[object]:
    with replayed.during(test, in_order=in_order) as url:
        return [ask(url) for ask in asked]


def test_the_same_requests_get_the_same_answers(replayed: Replayed) -> None:
    assert play(replayed, find, add_nearly_the_same, find) == [["a"], "added", ["b"]]
    assert "1 tests" in replayed.said
    assert "version 1.2.3 on 2026-11-30" in replayed.said


def test_a_request_that_comes_early_waits_for_its_turn(replayed: Replayed) -> None:
    def add_early_and_find(url: str) -> object:
        early = threading.Thread(target=add, args=(url,))
        early.start()
        found = find(url)
        early.join(timeout=10)
        return found

    assert play(replayed, add_early_and_find, find) == [["a"], ["b"]]


def test_a_request_out_of_turn_is_an_error(replayed: Replayed, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.qdrant_exchanges._TURN_SECONDS", 0.05)
    with pytest.raises(RequestsDiffer, match="COGITAVE_QUERY_TEST_QDRANT_RECORD=1"):
        play(replayed, add)


@pytest.mark.parametrize("in_order", [True, False])
def test_an_unknown_request_is_an_error_even_where_its_caller_minds_nothing(replayed: Replayed, in_order: bool) -> None:
    with pytest.raises(RequestsDiffer, match=r"not recorded: PUT /points \{.vector.: \[0.6, 0.25\]\}"):
        play(replayed, find, add_another, in_order=in_order)


def test_a_request_that_is_not_made_any_more_is_an_error(replayed: Replayed) -> None:
    with pytest.raises(RequestsDiffer, match="recorded and not asked: PUT /points"):
        play(replayed, find)


def test_a_test_without_a_record_is_an_error(replayed: Replayed) -> None:
    with pytest.raises(RequestsDiffer, match="not those of another"):
        play(replayed, find, test="another")


def test_in_any_order_an_answer_may_be_had_again(replayed: Replayed) -> None:
    assert play(replayed, add, find, find, find, in_order=False) == ["added", ["a"], ["a"], ["a"]]


def test_what_is_saved_is_read_back(tmp_path: Path) -> None:
    recordings = Recordings("1.2.3", "2026-11-30", {"test": [FIND, ADD]})
    recordings.save(tmp_path / "a.gz")
    recordings.save(tmp_path / "b.gz")
    assert Recordings.load(tmp_path / "a.gz") == recordings
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_what_is_recorded_is_of_the_version_that_the_containers_run() -> None:
    assert Recordings.load().version == QDRANT_IMAGE.rpartition(":v")[2]
