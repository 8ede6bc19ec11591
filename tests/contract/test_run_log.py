"""What the service relies on in any run log."""

import pytest

from service.ports import RunLog
from tests.contract.conftest import LOGGED_RUNS

pytestmark = pytest.mark.anyio


async def test_the_newest_run_comes_first(run_log: RunLog) -> None:
    for number in range(5):
        run_log.append({"number": number, "query": "slöt 🎉\x00"})
    assert [run["number"] for run in run_log.recent(3)] == [4, 3, 2]
    assert run_log.recent(1)[0]["query"] == "slöt 🎉\x00"


async def test_an_empty_log_and_no_run_asked_for(run_log: RunLog) -> None:
    assert run_log.recent(10) == []
    run_log.append({})
    assert run_log.recent(0) == []
    assert run_log.recent(-1) == []


async def test_the_oldest_runs_give_way(run_log: RunLog) -> None:
    for number in range(LOGGED_RUNS * 3):
        run_log.append({"number": number})
    found = [run["number"] for run in run_log.recent(LOGGED_RUNS * 3)]
    assert found == list(range(LOGGED_RUNS * 3 - 1, LOGGED_RUNS * 2 - 1, -1))


async def test_a_record_that_is_no_json_costs_nobody_else(run_log: RunLog) -> None:
    circle: dict[str, object] = {}
    circle["self"] = circle
    run_log.append({"number": 1})
    run_log.append(circle)
    run_log.append({"number": 2})
    assert {run["number"] for run in run_log.recent(3) if "number" in run} == {1, 2}


async def test_a_run_is_found_by_its_id_while_it_is_kept(run_log: RunLog) -> None:
    for number in range(LOGGED_RUNS + 5):
        run_log.append({"runId": f"run {number}", "number": number})
    found = run_log.find(f"run {LOGGED_RUNS + 4}")
    assert found is not None
    assert found["number"] == LOGGED_RUNS + 4
    assert run_log.find("run 0") is None
    assert run_log.find("' OR 1 = 1 --") is None
    assert run_log.find("") is None


async def test_a_run_is_found_by_how_its_id_alone_begins(run_log: RunLog) -> None:
    for run_id in ("abcd-1", "abcd-2", "efgh-1", "x%y_-1"):
        run_log.append({"runId": run_id})
    for asked, expected in (
        ("efgh", "efgh-1"),
        ("efgh-1", "efgh-1"),
        ("abcd-2", "abcd-2"),
        ("x%y_", "x%y_-1"),
        ("abcd", None),
        ("abcd-", None),
        ("efg", None),
        ("efgh-12", None),
        ("%%%%", None),
        ("____", None),
    ):
        found = run_log.find(asked)
        assert (found and found["runId"]) == expected, asked
