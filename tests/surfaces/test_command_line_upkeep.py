"""The commands of the estate's owner: what they show, and how each ends."""

import json
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest

from service import bootstrap
from service.domain.errors import EngineUnavailable
from service.surfaces.command_line import access, main
from tests.surfaces.fake_toolbox import ROOT, FakeToolbox


@pytest.fixture
def stores(monkeypatch):
    held = FakeToolbox(sick=True)

    @asynccontextmanager
    async def open_toolbox(_settings, _data):
        yield held

    monkeypatch.setattr(access, "open_toolbox", open_toolbox)
    return held


@pytest.fixture
def document(capsys):
    def run(*words):
        code = main(["--json", *words])
        return code, json.loads(capsys.readouterr().out)

    return run


def test_kept_snapshots_are_listed_newest_first(stores, document, capsys):
    code, answer = document("roots")
    assert code == 0
    assert [(root["contentRoot"], root["current"]) for root in answer["roots"]] == [(ROOT, True), ("cd" * 32, False)]
    assert main(["roots"]) == 0
    marked = [line for line in capsys.readouterr().out.splitlines() if line.startswith("*")]
    assert len(marked) == 1
    assert ROOT in marked[0]


def test_rollback_publishes_the_snapshot_that_is_named(stores, document):
    code, answer = document("rollback", ROOT)
    assert (code, answer["contentRoot"]) == (0, ROOT)
    assert document("rollback", "c0ff") == (code, answer)
    code, answer = document("rollback", "nothing")
    assert (code, answer["error"]["code"]) == (3, "root_unknown")
    assert [asked for asked in stores.asked if asked is not None] == [ROOT, ROOT, "nothing"]


def test_a_store_that_differs_fails_until_it_is_repaired(stores, document, capsys):
    code, answer = document("doctor")
    assert (code, answer["healthy"]) == (1, False)
    assert answer["findings"] == [{"store": "tantivy", "code": "passage_missing", "count": 2, "examples": ["a", "b"]}]
    assert main(["doctor"]) == 1
    assert "passage_missing" in capsys.readouterr().out
    code, answer = document("doctor", "--repair")
    assert (code, answer["healthy"], answer["findings"]) == (0, True, [])
    assert stores.asked == [False, False, True]


class Migrator:
    engine = "neo4j"

    def __init__(self):
        self.done = []

    async def plan(self):
        return [] if self.done else [SimpleNamespace(number=1, name="schema")]

    async def apply(self):
        taken, self.done = await self.plan(), [1]
        return taken


def test_a_migration_is_planned_then_done_then_over(monkeypatch, document, capsys):
    migrator = Migrator()

    @asynccontextmanager
    async def open_migrators(_settings):
        yield [migrator]

    monkeypatch.setattr(bootstrap, "open_migrators", open_migrators)
    step = {"engine": "neo4j", "number": 1, "name": "schema"}
    assert document("migrate", "--dry-run") == (0, {"steps": [step], "dryRun": True})
    assert migrator.done == []
    assert document("migrate") == (0, {"steps": [step], "dryRun": False})
    assert migrator.done == [1]
    assert main(["migrate"]) == 0
    assert "Nothing to do." in capsys.readouterr().out


def test_the_doctor_is_quiet_when_all_is_well(stores, capsys):
    """What cron mails is whatever is printed."""
    assert main(["doctor", "--quiet"]) == 1
    assert "passage_missing" in capsys.readouterr().out
    assert main(["doctor", "--quiet", "--repair"]) == 0
    assert main(["--json", "doctor", "--quiet", "--repair"]) == 0
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "")


def test_a_doctor_that_can_not_look_is_told_apart_by_its_document(stores, document):
    stores.failure = EngineUnavailable("qdrant", "closed")
    code, answer = document("doctor", "--quiet")
    assert (code, answer["error"]["code"]) == (1, "engine_unavailable")


def test_a_backup_of_nothing_and_a_restore_of_nothing_are_refused(document, tmp_path):
    code, answer = document("--data", str(tmp_path / "data"), "backup", str(tmp_path / "b.tar"))
    assert (code, answer["error"]["code"]) == (3, "backup_impossible")
    code, answer = document("--data", str(tmp_path / "data"), "restore", str(tmp_path / "b.tar"))
    assert (code, answer["error"]["code"]) == (3, "backup_invalid")
    assert list(tmp_path.iterdir()) == []
