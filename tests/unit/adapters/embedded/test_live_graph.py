import threading
from types import SimpleNamespace
from typing import Any, cast

import pytest

from adapters.embedded import projection
from adapters.embedded.live_graph import LiveGraph
from adapters.embedded.projection import GraphProjection
from service.domain.content import NodeRecord
from service.domain.graph import NodeKind
from service.domain.snapshots import Snapshot
from tests.contract.estate import linked, record


def slow_projection(reached: threading.Event, go_on: threading.Event, size: int) -> GraphProjection:
    """Its rows come one by one, and after the first only when they are let."""

    def rows() -> Any:
        for number in range(size):
            yield f"en-us:page {number}", f"Title {number}", [], ["*"]
            reached.set()
            assert go_on.wait(30)

    return cast(GraphProjection, SimpleNamespace(run=lambda *_, **__: SimpleNamespace(rows=rows())))


def test_titles_are_derived_before_anyone_asks() -> None:
    graph = LiveGraph.prepared(Snapshot(), GraphProjection.build(linked([record("a", title="Slots")]), "p1"))
    graph.close()
    assert [key for key, _ in graph.titles.by_title("slots", ["*"], 5)] == ["en-us:a"]


def test_closing_stops_the_preparation() -> None:
    reached, go_on = threading.Event(), threading.Event()
    graph = LiveGraph.prepared(Snapshot(), slow_projection(reached, go_on, 1_000_000))
    assert reached.wait(30)
    closing = threading.Thread(target=graph.close)
    closing.start()
    go_on.set()
    closing.join(30)
    assert not closing.is_alive()


def test_a_reader_of_a_replaced_graph_still_gets_its_titles() -> None:
    reached, go_on = threading.Event(), threading.Event()
    graph = LiveGraph.prepared(Snapshot(), slow_projection(reached, go_on, 3))
    assert reached.wait(30)
    go_on.set()
    graph.close()
    assert [key for key, _ in graph.titles.by_title("title", ["*"], 5)] == [f"en-us:page {at}" for at in range(3)]


def test_what_a_changed_graph_calls_the_same_is_not_derived_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(projection, "_CHANGED_AT_MOST", 1.0)
    first = GraphProjection.build(linked([record("a", title="Slots"), record("b")]), "p1")
    before = LiveGraph.prepared(Snapshot(), first)
    titles, names = before.titles, before.names
    reworded = first.changed(linked([record("a", title="Slots", summary="New."), record("b")]), "p2")
    after = LiveGraph.prepared(Snapshot(), reworded, before if reworded.keeps_names else None)
    before.close()
    after.close()
    assert after.titles is titles
    assert after.names is names


@pytest.mark.parametrize(
    "records",
    [
        pytest.param([record("a", title="Holes"), record("b"), record("c")], id="another title"),
        pytest.param([record("a", title="Slots"), record("b")], id="one node less"),
        pytest.param([record("a", title="Slots"), record("b"), record("c"), record("d")], id="one node more"),
        pytest.param([record("a", title="Slots", kind=NodeKind.UNIT), record("b"), record("c")], id="another kind"),
        pytest.param([record("a", title="Slots", visible_to=("x",)), record("b"), record("c")], id="other readers"),
    ],
)
def test_a_node_that_is_called_otherwise_is_told_apart(
    records: list[NodeRecord], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(projection, "_CHANGED_AT_MOST", 1.0)
    first = GraphProjection.build(linked([record("a", title="Slots"), record("b"), record("c")]), "p1")
    assert not first.changed(linked(records), "p2").keeps_names
