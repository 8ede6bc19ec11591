"""A page that another supersedes: put behind it, its successor named, and not among what is related."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from service.domain.content import Block, BlockKind, NodeRecord, Section
from service.domain.graph import EdgeType, Node, NodeIdentity, NodeKind, Reference
from service.domain.principal import ANONYMOUS
from service.tools import catalogue
from tests.application import Application, running
from tests.integration.test_signals_on_estates import PATIENT

TEXT = "Swap a staging slot with production."


def page(uid: str, *references: Reference, visible_to: tuple[str, ...] = ("*",)) -> NodeRecord:
    node = Node(NodeIdentity(uid, "en-us"), NodeKind.PAGE, "Swap slots", visible_to=visible_to)
    return NodeRecord(node, (Section("", "", 0, (Block(BlockKind.PROSE, TEXT, 1),)),), references)


def supersedes(uid: str) -> Reference:
    return Reference(EdgeType.SUPERSEDED_BY, uid, "test", "page.md", 1)


def links(uid: str) -> Reference:
    return Reference(EdgeType.XREF, uid, "test", "page.md", 1)


RECORDS = (
    page("a-old", supersedes("b-new")),
    page("b-new", links("a-old"), links("c-other")),
    page("c-other", links("b-new")),
    page("d-old", supersedes("e-hidden")),
    page("e-hidden", visible_to=("staff",)),
)


class MadeReader:
    format = "made"

    def recognises(self, root: Path) -> bool:
        return True

    def read(self, root: Path, docset: str) -> Sequence[NodeRecord]:
        return RECORDS


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    folder = tmp_path_factory.mktemp("superseded")
    with running(folder / "data", PATIENT) as opened:
        publisher = replace(opened.tools.publisher, readers=[MadeReader()])
        made = Application(opened.runner, replace(opened.tools, publisher=publisher))
        made.publish(folder)
        yield made


def test_it_stands_behind_its_like_and_names_its_successor(application: Application) -> None:
    """All texts are the same, so the legs put them in the order of their uids; a factor of 0.25 puts one last."""
    hits = application.search("swap slots", explain=True).hits
    assert [hit.uid for hit in hits] == ["b-new", "c-other", "d-old", "a-old"]
    assert [hit.superseded_by for hit in hits] == [None, None, None, "b-new"]
    assert hits[-1].explain is not None
    (factor,) = [factor for factor in hits[-1].explain.factors if factor.signal == "superseded"]
    assert (factor.input, factor.factor, factor.places) == ("b-new", 0.25, -3)


def test_a_successor_that_one_may_not_see_is_neither_named_nor_counted(application: Application) -> None:
    (hit,) = [hit for hit in application.search("swap slots", explain=True).hits if hit.uid == "d-old"]
    assert hit.superseded_by is None
    assert hit.explain is not None
    assert "superseded" not in {factor.signal for factor in hit.explain.factors}


def test_switched_off_it_stays_where_it_was_and_is_still_named(application: Application) -> None:
    hits = application.search("swap slots", without_signals=["superseded"]).hits
    assert (hits[0].uid, hits[0].superseded_by) == ("a-old", "b-new")


def test_it_is_not_related_to_anything(application: Application) -> None:
    request = catalogue.RELATED.request(uid="b-new")
    found = application.run(application.tools.call(catalogue.RELATED, request, ANONYMOUS))
    assert [node.uid for node in found.related] == ["c-other"]
