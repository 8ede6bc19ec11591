"""A publisher that is killed between any two of its writes: readers saw one snapshot or the other, never a mix, never
less; the next publish completes, and the doctor finds nothing."""

import json
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.application import Application, running, write_estate

PAGES_OF_EACH = 6
FEWEST_BORDERS = 24
SECONDS = 120


def version(number: int) -> dict[str, str]:
    """Every version changes some pages, leaves some, has a new one and lacks an old one."""
    pages = {
        f"p{page}.md": f"# Page {page}\n\nPage {page}, written for version {number if page % 2 else 0}.\n"
        for page in range(PAGES_OF_EACH)
    }
    del pages[f"p{number}.md"]
    return pages | {f"new{number}.md": f"# New {number}\n\nA new page, written for version {number}.\n"}


def renew(estate: Path, number: int) -> None:
    shutil.rmtree(estate, ignore_errors=True)
    write_estate(estate, version(number))


def texts(application: Application) -> dict[str, str]:
    """Every page's text, as a search finds it."""
    hits = application.search("page written for a version", limit=50).hits
    return {hit.uid: hit.passage.text for hit in hits if hit.passage is not None}


def run(data: Path, estate: Path, border: int) -> tuple[int, list[dict[str, Any]]]:
    """How the mortal publisher ended, and what its reader saw."""
    program = [sys.executable, "-m", "tests.integration.mortal_publisher", str(data), str(estate), str(border)]
    ended = subprocess.run(program, capture_output=True, timeout=SECONDS, check=False)
    lines = ended.stdout.decode().splitlines()
    assert ended.returncode in (0, -signal.SIGKILL), ended.stderr.decode()[-2000:]
    return ended.returncode, [json.loads(line) for line in lines if line.endswith("}")]


def die_at_every_border(tmp_path: Path, before: Path, estate: Path, snapshots: dict[str, dict[str, str]]) -> int:
    """Kill at each border in turn; returns how many there are. `snapshots`: what each root's pages say."""
    border, roots_seen = 0, set[str]()
    while True:
        border += 1
        data = tmp_path / f"data{border}"
        if before.exists():
            shutil.copytree(before, data)
        code, seen = run(data, estate, border)
        for answer in seen:
            assert answer["found"] == snapshots[answer["root"]], f"border {border}"
            roots_seen.add(answer["root"])
        with running(data) as application:
            if code != 0:
                found = texts(application)
                assert found in snapshots.values(), f"border {border}"
            result = application.publish(estate)
            assert snapshots[result.content_root] == texts(application), f"border {border}"
            assert application.run(application.tools.publisher.store.unfinished()) is None
            assert application.run(application.tools.doctor(repair=False)).findings == [], f"border {border}"
        shutil.rmtree(data)
        if code == 0:
            assert roots_seen == set(snapshots)
            return border - 1


@pytest.mark.timeout(900)
def test_killed_at_every_border_between_two_snapshots(tmp_path: Path) -> None:
    estate, before = tmp_path / "estate", tmp_path / "before"
    snapshots: dict[str, dict[str, str]] = {}
    for number, data in ((1, before), (2, tmp_path / "after")):
        renew(estate, number)
        with running(data) as application:
            root = application.publish(estate).content_root
            snapshots[root] = texts(application)
            assert len(snapshots[root]) == PAGES_OF_EACH
    assert die_at_every_border(tmp_path, before, estate, snapshots) >= FEWEST_BORDERS


@pytest.mark.long
@pytest.mark.timeout(900)
def test_killed_at_every_border_of_the_first_publish(tmp_path: Path) -> None:
    estate = tmp_path / "estate"
    renew(estate, 1)
    with running(tmp_path / "after") as application:
        root = application.publish(estate).content_root
        snapshots = {"": {}, root: texts(application)}
    assert die_at_every_border(tmp_path, tmp_path / "nothing", estate, snapshots) >= FEWEST_BORDERS // 2
