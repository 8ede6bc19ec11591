"""What the sqlite log of runs does beyond the port: it rotates, and is its owner's alone."""

from pathlib import Path
from typing import Any

from adapters.embedded.run_log import SqliteRunLog

DAY = 86_400.0


class Clock:
    def __init__(self) -> None:
        self.now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def opened(file: Path, **bounds: Any) -> SqliteRunLog:
    return SqliteRunLog.open(file, **{"kept": 100, **bounds})


def numbers(log: SqliteRunLog) -> list[int]:
    return [run["number"] for run in log.recent(100)]


def test_a_run_that_is_too_old_is_not_shown_and_soon_gone(tmp_path: Path) -> None:
    clock = Clock()
    log = opened(tmp_path / "runs", days=2, clock=clock)
    log.append({"number": 1, "runId": "a"})
    clock.now += DAY
    log.append({"number": 2, "runId": "b"})
    assert numbers(log) == [2, 1]
    clock.now += 1.5 * DAY
    assert numbers(log) == [2]
    assert log.find("a") is None
    log.append({"number": 3})
    log.close()
    log = opened(tmp_path / "runs", clock=clock)
    assert numbers(log) == [3, 2]
    log.close()


def test_the_oldest_give_way_to_the_size(tmp_path: Path) -> None:
    log = opened(tmp_path / "runs", size=5_000)
    for number in range(20):
        log.append({"number": number, "padding": "x" * 1_000})
    log.close()
    log = opened(tmp_path / "runs", size=5_000)
    assert numbers(log) == [19, 18, 17, 16]
    log.close()


def test_a_run_that_is_larger_than_all_of_the_log_is_not_kept(tmp_path: Path) -> None:
    log = opened(tmp_path / "runs", size=500)
    log.append({"number": 1, "padding": "x" * 1_000})
    log.close()
    log = opened(tmp_path / "runs")
    assert numbers(log) == []
    log.close()


def test_two_processes_may_write_one_log(tmp_path: Path) -> None:
    one, other = opened(tmp_path / "runs"), opened(tmp_path / "runs")
    for number in range(10):
        (one if number % 2 else other).append({"number": number})
    one.close()
    other.close()
    log = opened(tmp_path / "runs")
    assert sorted(numbers(log)) == list(range(10))
    log.close()


def test_the_file_is_its_owners_and_an_older_versions_runs_are_dropped(tmp_path: Path) -> None:
    file = tmp_path / "runs"
    file.touch(mode=0o644)
    log = opened(file)
    log.append({"number": 1})
    log.close()
    assert all(part.stat().st_mode & 0o077 == 0 for part in tmp_path.iterdir())


def test_what_gave_way_is_not_left_in_the_file(tmp_path: Path) -> None:
    log = opened(tmp_path / "runs", kept=1)
    log.append({"number": 1, "text": "a very private question"})
    log.close()
    log = opened(tmp_path / "runs", kept=1)
    log.append({"number": 2, "text": "another"})
    log.close()
    held = b"".join(part.read_bytes() for part in tmp_path.iterdir())
    assert b"another" in held
    assert b"private question" not in held
