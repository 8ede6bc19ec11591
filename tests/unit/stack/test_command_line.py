"""`stack status` over homes that a test laid out: no engine runs."""

import json
from pathlib import Path

import pytest

from service.surfaces.command_line import main
from stack.home import Home


def home(data: Path, engine: str) -> Home:
    found = Home(data / "stack" / engine)
    found.create()
    return found


def test_nothing_runs_in_a_folder_that_nobody_used(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--json", "--data", str(tmp_path), "stack", "status"]) == 0
    engines = json.loads(capsys.readouterr().out)["engines"]
    assert [(engine["name"], engine["state"], engine["url"]) for engine in engines] == [
        ("neo4j", "stopped", None),
        ("opensearch", "stopped", None),
    ]


def test_a_crash_is_told_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    home(tmp_path, "opensearch").pid.write_text("4711")
    assert main(["--data", str(tmp_path), "stack", "status"]) == 1
    assert "opensearch: crashed" in capsys.readouterr().out


def test_a_running_engine_is_named_by_settings_and_its_password_is_not_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    neo4j = home(tmp_path, "neo4j")
    password = neo4j.remember_password()
    with neo4j.claim():
        neo4j.port.write_text("7001")
        assert main(["--data", str(tmp_path), "stack", "status"]) == 0
    said = capsys.readouterr().out
    assert "export COGITAVE_QUERY_NEO4J_URL=bolt://127.0.0.1:7001\n" in said
    assert f'COGITAVE_QUERY_NEO4J_PASSWORD="$(cat {neo4j.password})"' in said
    assert password not in said


def test_an_engine_that_lives_but_does_not_answer_yet_is_starting(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with home(tmp_path, "neo4j").claim():
        main(["--json", "--data", str(tmp_path), "stack", "status"])
    assert json.loads(capsys.readouterr().out)["engines"][0]["state"] == "starting"


def test_down_where_nothing_runs_is_no_error_and_forgets_a_crash(tmp_path: Path) -> None:
    home(tmp_path, "neo4j").pid.write_text("4711")
    assert main(["--data", str(tmp_path), "stack", "down"]) == 0
    assert main(["--data", str(tmp_path), "stack", "status"]) == 0
