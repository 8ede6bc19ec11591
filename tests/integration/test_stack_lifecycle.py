"""The real engines brought up, taken down, and killed."""

import hashlib
import os
import signal
from pathlib import Path

import httpx
import neo4j
import pytest

from stack import background, maven
from stack.background import EngineState
from stack.lockfile import read_lock
from stack.servers import OpenSearchServer

pytestmark = [pytest.mark.engines, pytest.mark.timeout(300)]

DOCUMENT = "/kept/_doc/1"


def test_up_status_and_down_may_each_be_said_twice(tmp_path: Path) -> None:
    assert {engine.state for engine in background.status(tmp_path)} == {EngineState.STOPPED}
    first = background.up(tmp_path)
    try:
        assert {engine.state for engine in first} == {EngineState.RUNNING}
        assert background.up(tmp_path) == first
        graph, text = first
        assert graph.password_file is not None
        with neo4j.GraphDatabase.driver(graph.url or "", auth=("neo4j", graph.password_file.read_text())) as driver:
            driver.verify_connectivity()
        assert httpx.get(text.url or "", timeout=30).json()["version"]["number"] == "3.9.0"
        os.killpg(int((text.home / "run" / "pid").read_text()), signal.SIGKILL)
        assert background.wait_until_ended(text.home)
        assert [engine.state for engine in background.status(tmp_path)] == [EngineState.RUNNING, EngineState.CRASHED]
    finally:
        background.down(tmp_path)
    assert {engine.state for engine in background.down(tmp_path)} == {EngineState.STOPPED}


def test_what_was_acknowledged_is_there_after_a_kill_and_a_start_on_the_same_port(tmp_path: Path) -> None:
    server = OpenSearchServer(tmp_path)
    server.start()
    url = server.url
    httpx.put(f"{url}/kept", json={}, timeout=30).raise_for_status()
    httpx.put(f"{url}{DOCUMENT}", json={"text": "kept"}, timeout=30).raise_for_status()
    server.kill()
    with server:
        assert server.url == url
        health = {"wait_for_status": "yellow", "timeout": "30s"}
        httpx.get(f"{url}/_cluster/health/kept", params=health, timeout=40).raise_for_status()
        assert httpx.get(f"{url}{DOCUMENT}", timeout=30).json()["_source"] == {"text": "kept"}


def test_without_maven_a_jar_comes_by_jgo_and_is_the_locked_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (compiler,) = [jar for jar in read_lock("opensearch").jars if jar.folder == "compiler"]
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("M2_REPO", str(tmp_path / "repository"))
    ticks: list[int] = []
    maven.fetch([compiler], tmp_path, lambda: ticks.append(1))
    assert hashlib.sha256((tmp_path / compiler.filename).read_bytes()).hexdigest() == compiler.sha256
    assert ticks == [1]
