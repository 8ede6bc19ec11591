"""Whatever a search had to do without, its answer names: also what failed between two stages, and what was remembered.

Each test breaks one call of one engine in an application that is otherwise whole.
"""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from service.domain.errors import EngineUnavailable
from service.domain.principal import ANONYMOUS
from service.domain.requests import ListRequest, NodeRequest, SampleRequest, SearchRequest, SuggestRequest
from service.settings import Settings
from service.tools import catalogue, estate
from tests.application import PAGES, Application, running, write_estate

NONSENSE = "qwzx vbnmk plokij"
CODE = """---
title: Read a file
uid: files
---
# Read a file

This reads all lines of a file.

```python
with open("notes.txt") as notes:
    for line in notes:
        print(line.strip())
```
"""


@pytest.fixture
def application(tmp_path: Path) -> Iterator[Application]:
    with running(tmp_path / "data", Settings(graph_deadline=200, breaker_pause=60_000)) as application:
        application.publish(write_estate(tmp_path / "estate", PAGES | {"files.md": CODE}))
        yield application


async def _gone(*_args: object, **_fields: object) -> Any:
    raise EngineUnavailable("engine", "it is gone")


async def _hangs(*_args: object, **_fields: object) -> Any:
    await asyncio.Event().wait()


def _store(application: Application) -> Any:
    return application.tools.retrieval.store.store  # type: ignore[attr-defined]


def test_an_answer_from_memory_says_that_the_graph_could_not_be_asked(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = application.search("install")
    assert whole.degraded == []
    monkeypatch.setattr(_store(application), "snapshot", _hangs)
    first = application.search("install")
    started = time.perf_counter()
    again = application.search("install")
    assert time.perf_counter() - started < 0.15, "the graph is waited for once"
    for answer in (first, again):
        assert [hit.uid for hit in answer.hits] == [hit.uid for hit in whole.hits]
        assert answer.degraded == ["graph: no answer before the deadline; this is of the snapshot that it named last"]


def test_what_only_the_graph_knows_is_refused_by_its_name_while_it_is_away(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    application.nodes()  # the graph has named its snapshot
    monkeypatch.setattr(_store(application), "snapshot", _gone)
    for tool, request in (
        (catalogue.FETCH, NodeRequest(uid="install")),
        (catalogue.LIST, ListRequest()),
        (catalogue.SUGGEST, SuggestRequest(text="inst")),
        (estate.DOCUMENT, NodeRequest(uid="install")),
    ):
        with pytest.raises(EngineUnavailable) as refused:
            application.run(application.tools.call(tool, request, ANONYMOUS))
        assert refused.value.engine == application.tools.retrieval.graph.engine
    with pytest.raises(EngineUnavailable, match="it is gone"):
        application.run(application.tools.roots())


def test_a_snapshot_that_is_remembered_says_so(application: Application, monkeypatch: pytest.MonkeyPatch) -> None:
    application.nodes()  # the graph has named its snapshot
    monkeypatch.setattr(_store(application), "snapshot", _gone)
    told = application.run(application.tools.call(estate.SNAPSHOT, estate.SNAPSHOT.request(), ANONYMOUS))
    assert told.degraded == ["graph: it is gone; this is of the snapshot that it named last"]


@pytest.mark.parametrize(
    ("engine", "call", "text", "named"),
    [
        ("lexical", "known_terms", NONSENSE, "evidence: it is gone"),
        ("lexical", "highlight", "install", "highlights: it is gone"),
        ("lexical", "search", "install", "lexical: it is gone"),
        ("vectors", "search", "install", "vector: it is gone"),
        ("vectors", "count", "install", "vector: how much of the snapshot is indexed could not be asked"),
    ],
)
def test_each_call_that_fails_is_named(
    application: Application, monkeypatch: pytest.MonkeyPatch, engine: str, call: str, text: str, named: str
) -> None:
    monkeypatch.setattr(getattr(application.tools.retrieval, engine), call, _gone)
    assert named in application.search(text).degraded


def test_a_count_that_hangs_costs_a_leg_its_deadline_at_most(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with running(tmp_path / "data", Settings(vector_deadline=200)) as application:
        application.publish(write_estate(tmp_path / "estate"))
        monkeypatch.setattr(application.tools.retrieval.vectors, "count", _hangs)
        assert application.search("install").hits


def test_hits_whose_passages_are_lost_on_the_way_are_missed_aloud(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One engine holds a part, the one with the rest is gone."""
    retrieval = application.tools.retrieval
    whole = application.search("install")
    assert len(whole.hits) > 1
    held = retrieval.vectors.passages

    async def some(keys: Any, *args: Any, **fields: Any) -> Any:
        return await held(keys[:1], *args, **fields)

    monkeypatch.setattr(retrieval.lexical, "passages", _gone)
    monkeypatch.setattr(retrieval.vectors, "passages", some)
    answer = application.search("install")
    assert len(answer.hits) == 1
    assert answer.degraded == ["passages: it is gone"]


def test_samples_are_found_without_their_owners_while_the_graph_is_away(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = SampleRequest(text="read all lines of a file")
    whole = application.run(application.tools.call(catalogue.SAMPLES, request, ANONYMOUS))
    assert whole.samples[0].owner_uid == "files"
    monkeypatch.setattr(_store(application), "snapshot", _gone)
    answer = application.run(application.tools.call(catalogue.SAMPLES, request, ANONYMOUS))
    assert [sample.uid for sample in answer.samples] == [sample.uid for sample in whole.samples]
    assert answer.samples[0].owner_uid is None
    assert any(note.startswith("owners: ") for note in answer.degraded)


def test_why_not_says_what_it_could_not_look_into(application: Application, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(application.tools.retrieval.lexical, "search", _gone)
    told = application.why_not("colours", "install")
    assert told.degraded == ["lexical: it is gone"]


def test_a_tool_knows_its_answer_before_its_surface_gives_up(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that what is said names the engine that was late."""
    retrieval = application.tools.retrieval
    assert retrieval.deadline().seconds_left < retrieval.settings.request_deadline / 1000 - 0.1
    assert application.run(application.tools.call(catalogue.SEARCH, SearchRequest(text="install"), ANONYMOUS)).hits
