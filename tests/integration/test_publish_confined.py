"""A full disk, files that may not grow, a folder that can only be read: a clear error, and the old snapshot answers."""

import subprocess
import sys
from pathlib import Path

import pytest

OF_ITS_OWN = ["unshare", "--mount", "--map-root-user"]
"""File systems that are mounted within are seen by nobody else, and are gone with the process."""


@pytest.mark.timeout(180)
@pytest.mark.parametrize("scenario", ["full", "small-files", "read-only"])
def test_a_folder_that_takes_no_more(scenario: str, tmp_path: Path) -> None:
    program = [sys.executable, "-m", "tests.integration.confined_publisher", scenario, str(tmp_path / "disk")]
    ended = subprocess.run([*OF_ITS_OWN, *program], capture_output=True, text=True, timeout=150, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr[-3000:]
    assert "data folder" in ended.stdout
