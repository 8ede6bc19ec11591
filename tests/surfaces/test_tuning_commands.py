"""`tuning` on the command line: each change is a version, and every one can be undone."""

import json
from pathlib import Path

import pytest

from service.surfaces.command_line import main


@pytest.fixture
def run(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    def run(*words: str, code: int = 0):
        assert main(["--data", str(tmp_path / "data"), "--json", "tuning", *words]) == code
        return json.loads(capsys.readouterr().out)

    return run


def test_each_change_is_a_version_that_can_be_undone(run, tmp_path: Path) -> None:
    assert run("show")["version"] == 0
    made = run(
        "pin", "rank fusion", "a uid", "--exact", "--place=2", "--until=2026-12-31", "--note=why", "--reason=asked"
    )
    assert (made["version"], made["reason"], made["by"]) == (1, "asked", "owner")
    assert made["pins"] == [
        {
            "words": "rank fusion",
            "match": "exact",
            "uid": "a uid",
            "locale": None,
            "place": 2,
            "until": "2026-12-31",
            "note": "why",
        }
    ]
    assert run("synonym", "k8s", "kubernetes")["version"] == 2
    assert run("synonym", "Kubernetes", "K8S")["synonymCount"] == 1
    assert run("synonym", "cluster", "--of=aks")["synonyms"][-1] == {"terms": ["cluster"], "of": "aks"}
    assert run("synonym", "k8s", "kubernetes", "--remove")["synonymCount"] == 1
    told = run("difference", "1")
    assert (told["before"], told["after"], told["addedSynonyms"]) == (1, 5, [{"terms": ["cluster"], "of": "aks"}])
    gone = run("unpin", "a uid")
    assert (gone["version"], gone["pins"]) == (6, [])
    assert run("unpin", "a uid")["version"] == 6
    assert run("rollback", "1", "--reason=oops")["pins"] == made["pins"]
    assert [one["version"] for one in run("history", "--limit=2")["versions"]] == [7, 6]
    assert run("show", "--version=2")["synonymCount"] == 1
    assert run("show", "--workspace=other")["version"] == 0
    deeds = [json.loads(line) for line in (tmp_path / "data/audit/deeds.jsonl").read_text().splitlines()]
    events = [(one["event"], one["outcome"], one["version"]) for one in deeds]
    assert events[-2:] == [("tuning changed", "done", 6), ("tuning rolled back", "done", 7)]


@pytest.mark.parametrize(
    ("words", "code", "name"),
    [
        (["pin", "the", "uid"], 3, "tuning_invalid"),
        (["pin", "words", "uid", "--place=11"], 3, "tuning_invalid"),
        (["pin", "words", "uid", "--until=tomorrow"], 2, "usage"),
        (["synonym", "one"], 3, "tuning_invalid"),
        (["rollback", "9"], 3, "tuning_unknown"),
        (["show", "--version=9"], 3, "tuning_unknown"),
    ],
)
def test_what_can_not_be_is_refused(run, words: list[str], code: int, name: str) -> None:
    assert run(*words, code=code)["error"]["code"] == name
