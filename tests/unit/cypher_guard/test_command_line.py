"""The guard on standard input."""

import io
import json
from pathlib import Path

import pytest

from cypher_guard.command_line import main


class Input(io.TextIOWrapper):
    """Standard input with bytes beneath it."""

    def __init__(self, data: bytes) -> None:
        super().__init__(io.BytesIO(data), encoding="utf-8")


def run(monkeypatch: pytest.MonkeyPatch, data: bytes, *arguments: str) -> int:
    monkeypatch.setattr("sys.stdin", Input(data))
    return main(arguments)


def test_check_answers_every_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        json.dumps({"id": 1, "text": "MATCH (p:Page {uid: 'a'}) RETURN p.title"}).encode(),
        b"",
        b"no json",
        b"\xff\xfe",
        b"[" * 100_000,
        b"[1]",
        b'{"id": "x"}',
        b'{"id": 2, "text": 7}',
        b'{"id": 3, "text": "RETURN \'\\ud800\' AS x"}',
        b'{"id": 4, "text": "RETURN $a AS x", "params": [1]}',
        b'{"id": 5, "text": "RETURN $a AS x", "params": {}}',
        b'{"id": 6, "text": "RETURN $a AS x", "params": {"a": 1}}',
        b'{"id": ' + b"1" * 5000 + b', "text": "RETURN 1 AS x"}',
        b'{"id": {"deep": 1}, "text": "MATCH (n) DETACH DELETE n"}',
    ]
    assert run(monkeypatch, b"\n".join(lines) + b"\n", "check") == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["id"], row["verdict"], row["code"]) for row in rows] == [
        (1, "accept", None),
        (None, "reject", "syntax"),
        (None, "reject", "syntax"),
        (None, "reject", "syntax"),
        (None, "reject", "syntax"),
        ("x", "reject", "syntax"),
        (2, "reject", "syntax"),
        (3, "reject", "syntax"),
        (4, "reject", "bad_parameter"),
        (5, "reject", "missing_parameter"),
        (6, "accept", None),
        (None, "reject", "syntax"),
        (None, "reject", "read_only"),
    ]
    assert set(rows[0]) >= {"id", "verdict", "code", "message", "line", "column", "cypher", "params"}
    assert rows[0]["cypher"].startswith("CYPHER 5 MATCH (p:Page) WHERE p.uid = $__s0")
    assert rows[0]["params"] == {"__s0": "a"}
    assert (rows[9]["line"], rows[9]["column"]) == (1, 8)


def test_check_takes_a_profile(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    profile = tmp_path / "profile.json"
    profile.write_text('{"edge_types": ["X"], "labels": null, "properties": null}', encoding="utf-8")
    line = b'{"id": 1, "text": "MATCH (a:Any)-[:X]->(b) RETURN b.whatever"}'
    assert run(monkeypatch, line, "check", "--profile", str(profile)) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "accept"
    assert run(monkeypatch, line, "check") == 0
    assert json.loads(capsys.readouterr().out)["code"] == "unknown_label"


@pytest.mark.parametrize("content", ["{", '{"max_hop": 1}', "[]"])
def test_a_broken_profile_is_wrong_usage(
    content: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    profile = tmp_path / "profile.json"
    profile.write_text(content, encoding="utf-8")
    assert run(monkeypatch, b"", "check", "--profile", str(profile)) == 2
    assert "profile.json" in capsys.readouterr().err


def test_explain_shows_tree_rewritings_and_rendering(capsys: pytest.CaptureFixture[str]) -> None:
    text = "MATCH (p:Page)-->(q) WHERE q.title = 'x' RETURN q"
    assert main(["explain", text, "--audience", "staff"]) == 0
    shown = capsys.readouterr().out
    assert "NodePattern variable='p'" in shown
    assert "line 1, column 15: an untyped relationship means every type of the profile" in shown
    assert "line 1, column 7: only a visible p matches" in shown
    assert '$__s0 = "x"' in shown
    assert "CYPHER 5 MATCH (p:Page)-[:appliesTo|" in shown


def test_explain_of_a_refused_query_is_its_violation(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "MATCH (p:Pag) RETURN p"]) == 3
    assert json.loads(capsys.readouterr().out)["suggestion"] == "Did you mean Page?"


def test_describe_prints_the_profile(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["describe"]) == 0
    assert "Relationship types: appliesTo" in capsys.readouterr().out
