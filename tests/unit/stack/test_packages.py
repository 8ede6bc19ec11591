import hashlib
from collections.abc import Sequence
from pathlib import Path

import pytest

from stack import maven
from stack.errors import PackageMismatch
from stack.lockfile import Jar, Lock
from stack.packages import cache_folder, install, verify

CONTENT = b"a jar"


def jar(artifact: str, content: bytes = CONTENT, folder: str = "lib") -> Jar:
    return Jar(folder, "org.example", artifact, "1", "", hashlib.sha256(content).hexdigest())


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Every fetch of a jar, as a registry that serves the same bytes for all of them would see it."""
    served: list[str] = []

    def fetch(jars: Sequence[Jar], folder: Path, tick: maven.Tick) -> None:
        for each in jars:
            served.append(each.artifact)
            (folder / each.filename).write_bytes(CONTENT)
            tick()

    monkeypatch.setattr(maven, "fetch", fetch)
    return served


def test_jars_are_fetched_once_into_the_folders_that_the_lock_names(tmp_path: Path, fetched: list[str]) -> None:
    lock = Lock((jar("engine"), jar("extra", folder="plugins")))
    home = install("engine", lock, tmp_path)
    assert install("engine", lock, tmp_path) == home
    assert fetched == ["engine", "extra"]
    assert (home / "lib" / "org.example.engine-1.jar").read_bytes() == CONTENT
    assert (home / "plugins" / "org.example.extra-1.jar").read_bytes() == CONTENT


def test_another_jar_than_the_locked_one_is_never_installed(tmp_path: Path, fetched: list[str]) -> None:
    lock = Lock((jar("engine", content=b"what was locked"),))
    with pytest.raises(PackageMismatch, match=r"org\.example:engine:jar:1 has sha256"):
        install("engine", lock, tmp_path)
    assert [entry.name for entry in tmp_path.iterdir() if entry.is_dir()] == []


def test_a_jar_changed_in_the_cache_is_noticed_at_the_next_start(tmp_path: Path, fetched: list[str]) -> None:
    lock = Lock((jar("engine"),))
    home = install("engine", lock, tmp_path)
    (home / "lib" / "org.example.engine-1.jar").write_bytes(b"changed")
    with pytest.raises(PackageMismatch, match="the lock says"):
        install("engine", lock, tmp_path)


def test_a_missing_jar_and_a_stranger_are_told_apart(tmp_path: Path, fetched: list[str]) -> None:
    lock = Lock((jar("engine"),))
    home = install("engine", lock, tmp_path)
    stranger = home / "lib" / "stranger.jar"
    stranger.write_bytes(CONTENT)
    with pytest.raises(PackageMismatch, match=r"not in the lock: .*stranger\.jar"):
        verify(lock, home)
    stranger.unlink()
    (home / "lib" / "org.example.engine-1.jar").unlink()
    with pytest.raises(PackageMismatch, match="is missing"):
        verify(lock, home)


def test_the_cache_folder_is_the_environments_choice_else_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COGITAVE_QUERY_STACK_CACHE", "/chosen")
    assert cache_folder() == Path("/chosen")
    monkeypatch.delenv("COGITAVE_QUERY_STACK_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", "/caches")
    assert cache_folder() == Path("/caches/cogitave-query/stack")
