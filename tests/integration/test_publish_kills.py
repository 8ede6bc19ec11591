"""A publishing process that is killed outright: the next publish completes, and the doctor finds nothing."""

import json
import random
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.application import PAGES, write_estate

COMMAND = [sys.executable, "-c", "from service.surfaces.command_line import main; main()"]
SECONDS = 180


def command(data: Path, *words: str) -> list[str]:
    return [*COMMAND, "--data", str(data), "--json", *words]


def run(data: Path, *words: str) -> dict:
    ended = subprocess.run(command(data, *words), capture_output=True, timeout=SECONDS, check=False)
    assert ended.returncode == 0, ended.stderr.decode()[-2000:]
    return json.loads(ended.stdout)


def version(number: int) -> dict[str, str]:
    """Every page changed, one gone, one new."""
    pages = {name: f"{text}\nVersion {number} of it.\n" for name, text in PAGES.items()}
    del pages[sorted(pages)[number % len(pages)]]
    return pages | {f"new{number}.md": f"# Page {number}\n\nWritten for version {number}.\n"}


def renew(estate: Path, number: int) -> None:
    for file in estate.glob("*.md"):
        file.unlink()
    write_estate(estate, version(number))


def kill_and_recover(folder: Path, kills: int, seed: int) -> None:
    chance = random.Random(seed)
    data, estate = folder / "data", write_estate(folder / "estate")
    run(data, "publish", str(estate))
    renew(estate, 0)
    started = time.monotonic()
    run(data, "publish", str(estate))
    whole = time.monotonic() - started
    for number in range(1, kills + 1):
        renew(estate, number)
        process = subprocess.Popen(
            command(data, "publish", str(estate)), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        try:
            process.wait(chance.uniform(0.2, 1.0) * whole)
        except subprocess.TimeoutExpired:
            process.kill()
        process.wait(SECONDS)
        completed = run(data, "publish", str(estate))
        examined = run(data, "doctor")
        assert examined["findings"] == []
        assert examined["contentRoot"] == completed["contentRoot"]
        hits = run(data, "search", f"written for version {number}")["hits"]
        assert hits[0]["title"] == f"Page {number}"


@pytest.mark.timeout(900)
def test_a_few_kills(tmp_path: Path) -> None:
    kill_and_recover(tmp_path, kills=3, seed=1)


@pytest.mark.long
@pytest.mark.timeout(7_200)
def test_fifty_kills(tmp_path: Path) -> None:
    kill_and_recover(tmp_path, kills=50, seed=2)
