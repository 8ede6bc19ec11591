"""A started process, with a shell script in the place of the Java runtime."""

import os
import signal
import time
from pathlib import Path

import pytest

from stack.distribution import OPENSEARCH, Installation
from stack.engine import EngineProcess, Launch
from stack.errors import EngineFailed, HomeInUse
from stack.home import Home
from stack.java import Java

# Called as: java -classpath … OpenSearchLauncher HOME attached|detached
ANNOUNCE = 'mkdir -p "$4/run" && echo 4711 > "$4/run/port.draft" && mv "$4/run/port.draft" "$4/run/port"'
UNTIL_STDIN_CLOSES = f"{ANNOUNCE}\ncat\nexit 0"
FOR_EVER = f"{ANNOUNCE}\nexec sleep 600"


def launch(folder: Path, script: str, *, detached: bool = False) -> Launch:
    executable = folder / "java"
    executable.write_text(f"#!/bin/sh\n{script}\n")
    executable.chmod(0o755)
    installation = Installation(OPENSEARCH, folder / "jars", folder / "launcher.jar")
    home = Home(folder / "home")
    home.create()
    return Launch(installation, Java(executable, "25", 25), (), home, {}, detached)


def test_it_is_ready_when_its_port_is_known_and_stops_when_asked(tmp_path: Path) -> None:
    start = launch(tmp_path, UNTIL_STDIN_CLOSES)
    process = EngineProcess(start)
    assert process.wait_until_ready(within=10) == 4711
    assert start.home.is_claimed
    process.stop()
    assert not start.home.is_claimed
    assert not start.home.pid.exists()


def test_a_death_at_the_start_is_an_error_with_the_end_of_the_log(tmp_path: Path) -> None:
    process = EngineProcess(launch(tmp_path, "echo first\necho the disk is full >&2\nexit 3"))
    with pytest.raises(EngineFailed, match="ended with status 3") as failure:
        process.wait_until_ready(within=10)
    assert failure.value.tail == "first\nthe disk is full"
    assert failure.value.log == tmp_path / "home" / "logs" / "console.log"


def test_a_later_death_is_noticed_and_its_mark_stays(tmp_path: Path) -> None:
    start = launch(tmp_path, FOR_EVER)
    process = EngineProcess(start)
    process.wait_until_ready(within=10)
    process.check()
    process.kill()
    with pytest.raises(EngineFailed, match="ended with status -9"):
        process.check()
    assert start.home.pid.exists()


def test_one_that_never_answers_is_killed_at_the_deadline(tmp_path: Path) -> None:
    start = launch(tmp_path, "exec sleep 600")
    process = EngineProcess(start)
    with pytest.raises(EngineFailed, match="was not ready after 0 s"):
        process.wait_until_ready(within=0.2)
    assert not start.home.is_claimed


def test_a_home_has_one_engine_at_a_time(tmp_path: Path) -> None:
    start = launch(tmp_path, FOR_EVER)
    process = EngineProcess(start)
    process.wait_until_ready(within=10)
    with pytest.raises(HomeInUse, match="stop it first"):
        EngineProcess(start)
    assert start.home.port.exists(), "a refused start leaves the running engine's mark alone"
    process.kill()


def test_a_detached_engine_stops_on_sigterm(tmp_path: Path) -> None:
    start = launch(tmp_path, FOR_EVER, detached=True)
    process = EngineProcess(start)
    process.wait_until_ready(within=10)
    process.stop()
    assert not start.home.is_claimed


def test_an_attached_engine_ends_when_its_parent_dies_hard(tmp_path: Path) -> None:
    start = launch(tmp_path, UNTIL_STDIN_CLOSES)
    parent = os.fork()
    if parent == 0:
        try:
            EngineProcess(start).wait_until_ready(within=10)
        finally:
            os.kill(os.getpid(), signal.SIGKILL)
    _, status = os.waitpid(parent, 0)
    assert os.WTERMSIG(status) == signal.SIGKILL
    deadline = time.monotonic() + 10
    while start.home.is_claimed and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not start.home.is_claimed


def test_a_password_is_made_once_and_only_its_owner_may_read_it(tmp_path: Path) -> None:
    home = Home(tmp_path)
    password = home.remember_password()
    assert len(password) >= 32
    assert home.remember_password() == password
    assert home.password.stat().st_mode & 0o077 == 0
