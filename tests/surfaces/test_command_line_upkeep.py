"""The commands that work on the stores themselves: what they show, and how each ends."""

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from types import SimpleNamespace

import pytest

from service import bootstrap
from service.domain.errors import RootUnknown
from service.domain.results import DoctorResult, Finding, PublishResult, RootResult
from service.surfaces.command_line import access, main

ROOT = "ab" * 32


@dataclass
class Stores:
    """Two snapshots, of which `ROOT` is current; unhealthy until repaired."""

    asked: list = field(default_factory=list)

    async def roots(self):
        shared = {"published_at": "2026-01-01T00:00:00+00:00", "nodes": 3, "edges": 2, "passages": 5}
        return [
            RootResult(content_root=ROOT, generation=2, current=True, **shared),
            RootResult(content_root="cd" * 32, generation=1, current=False, **shared),
        ]

    async def rollback(self, root, progress):
        self.asked.append(root)
        if root != "cd" * 32:
            raise RootUnknown("There is no such snapshot.")
        progress("committing", 0, 0)
        return PublishResult(
            nodes={"page": 3},
            edges={},
            passages=5,
            added=0,
            changed=1,
            removed=0,
            unchanged=2,
            diagnostics=[],
            content_root=root,
            generation=3,
            embedded=0,
            seconds=0.1,
        )

    async def doctor(self, repair, progress):
        self.asked.append(repair)
        findings = [] if repair else [Finding(store="tantivy", code="passage_missing", count=2, examples=["a", "b"])]
        return DoctorResult(healthy=repair, findings=findings, content_root=ROOT, generation=2, nodes=3, passages=5)


@pytest.fixture
def stores(monkeypatch):
    held = Stores()

    @asynccontextmanager
    async def own(_settings, _data):
        yield SimpleNamespace(toolbox=held)

    monkeypatch.setattr(access, "own", own)
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
    code, answer = document("rollback", "cd" * 32)
    assert (code, answer["contentRoot"], answer["generation"]) == (0, "cd" * 32, 3)
    assert document("rollback", "cdcd") == (code, answer)
    code, answer = document("rollback", "nothing")
    assert (code, answer["error"]["code"]) == (3, "root_unknown")
    assert stores.asked == ["cd" * 32, "cd" * 32, "nothing"]


def test_a_store_that_differs_is_partly_done_until_it_is_repaired(stores, document, capsys):
    code, answer = document("doctor")
    assert (code, answer["healthy"]) == (4, False)
    assert answer["findings"] == [{"store": "tantivy", "code": "passage_missing", "count": 2, "examples": ["a", "b"]}]
    assert main(["doctor"]) == 4
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
