"""kglite's quirks, each with the reason why one module alone talks to it."""

import re
from pathlib import Path
from typing import Any

import kglite
import pytest

import adapters.embedded
from adapters.embedded.projection import UNSOUND_PASSES, GraphProjection
from service.domain.errors import EngineUnavailable
from service.domain.graph import EdgeType
from tests.contract.estate import linked, record, refers


def estate() -> GraphProjection:
    return GraphProjection.build(linked([record("a", refers(EdgeType.XREF, "b")), record("b", title="B")]), "p1")


class Recorder:
    """Stands in for a graph and notes how it was called."""

    def __init__(self) -> None:
        self.calls: list[dict[str, Any]] = []

    def cypher(self, text: str, **options: Any) -> Any:
        self.calls.append(options)
        return kglite.KnowledgeGraph().cypher("MATCH (n:Node) RETURN n.key", **options)


def test_the_unsound_passes_are_off_and_reading_may_not_write() -> None:
    recorder = Recorder()
    GraphProjection(recorder).run("MATCH (n) RETURN n", {"a": 1}, milliseconds=50)
    (options,) = recorder.calls
    assert options["disabled_passes"] == list(UNSOUND_PASSES) == ["fuse_match_return_aggregate"]
    assert options["write_scope"] == []
    assert options["timeout_ms"] == 50
    assert options["params"] == {"a": 1}


def test_building_has_them_off_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[dict[str, Any]] = []

    class Graph:
        def __init__(self) -> None:
            self.graph = kglite.KnowledgeGraph()

        def cypher(self, text: str, **options: Any) -> Any:
            calls.append(options)
            return self.graph.cypher(text, **options)

    class Engine:
        KnowledgeGraph = Graph
        cypher_pass_names = staticmethod(kglite.cypher_pass_names)

    monkeypatch.setattr("adapters.embedded.projection.kglite", Engine)
    estate()
    assert len(calls) >= 4
    assert all(options["disabled_passes"] == list(UNSOUND_PASSES) for options in calls)


def test_an_engine_without_these_passes_runs_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    recorder = Recorder()
    monkeypatch.setattr(kglite, "cypher_pass_names", lambda: ["another_pass"])
    with pytest.raises(EngineUnavailable, match="fuse_match_return_aggregate"):
        GraphProjection(recorder).run("MATCH (n) RETURN n", {}, milliseconds=50)
    assert recorder.calls == []


def test_no_other_module_calls_the_engine() -> None:
    sources = Path(adapters.embedded.__file__).parent.glob("*.py")
    calling = {source.name: len(re.findall(r"\.cypher\(", source.read_text(encoding="utf-8"))) for source in sources}
    assert {name: count for name, count in calling.items() if count} == {"projection.py": 1}


def test_an_answer_of_ours_can_not_write() -> None:
    graph = estate()
    with pytest.raises(kglite.KgError):
        graph.run("CREATE (n:Node {key: 'x'}) RETURN n.key", {}, milliseconds=1_000)
    with pytest.raises(kglite.KgError):
        graph.run("MATCH (n:Node) SET n.title = 'x'", {}, milliseconds=1_000)
    assert graph.run("MATCH (n:Node) RETURN n.title ORDER BY n.title", {}, milliseconds=1_000).rows == [
        ("B",),
        ("Untitled",),
    ]


def test_a_saved_graph_is_the_same_graph(tmp_path: Path) -> None:
    graph, everything = estate(), "MATCH (n:Node)-[r]->(m:Node) RETURN properties(n), type(r), properties(r), m.key"
    graph.save(tmp_path / "graph.kgl")
    loaded = GraphProjection.load(tmp_path / "graph.kgl")
    assert loaded.run(everything, {}, milliseconds=1_000) == graph.run(everything, {}, milliseconds=1_000)
    (row,) = loaded.run("MATCH (n:Node {key: $key}) RETURN labels(n)", {"key": "en-us:b"}, milliseconds=1_000).rows
    assert row == (["Node", "Page"],)


def test_an_edge_tells_where_it_was_read() -> None:
    (row,) = (
        estate()
        .run(
            "MATCH ()-[r:xref]->() RETURN r.weight, r.via, r.file, r.line, r.publishId, r.ordinal",
            {},
            milliseconds=1_000,
        )
        .rows
    )
    assert row == (1.0, "test", "page.md", 1, "p1", None)


def test_what_a_kind_needs_never_hides_what_every_node_has() -> None:
    clash = record("a", title="Ours", extra={"title": "theirs", "type": "theirs", "uid": "theirs", "order": 3})
    graph = GraphProjection.build(linked([clash]), "p1")
    rows = graph.run("MATCH (n:Node) RETURN n.title, n.uid, n.contentType, n.order", {}, milliseconds=1_000).rows
    assert rows == [("Ours", "a", None, 3)]
