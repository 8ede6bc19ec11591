"""A publish in the middle of a reading: whatever one answer says is of the snapshot that it names."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest

from cypher_guard import GuardedQuery
from service.domain.deadline import Deadline
from service.domain.principal import ANONYMOUS
from service.domain.requests import (
    FetchRequest,
    GraphQueryRequest,
    LearningPathRequest,
    ListRequest,
    NodesRequest,
    PublishRequest,
    RelatedRequest,
    Request,
    SampleRequest,
    SchemaRequest,
    SearchRequest,
    SuggestRequest,
    XrefRequest,
)
from service.ports import GraphReader, Rows
from service.retrieval.cards import CardCache
from service.statements import ServiceStatement
from service.tools import catalogue
from service.tools.catalogue import Tool
from service.tools.local import LocalToolbox
from tests.application import Application, running

_PAGES = ("first", "second", "third")

ASKED: dict[Tool, Request] = {
    catalogue.SEARCH: SearchRequest(text="bulletin", facets=["kind"]),
    catalogue.LIST: ListRequest(facets=["kind"]),
    catalogue.FETCH: FetchRequest(uid="first"),
    catalogue.FETCH_BATCH: NodesRequest(uids=["first", "second"]),
    catalogue.RELATED: RelatedRequest(uid="first"),
    catalogue.LEARNING_PATH: LearningPathRequest(goal="third"),
    catalogue.XREF: XrefRequest(uids=["first", "second", "third"]),
    catalogue.SUGGEST: SuggestRequest(text="bulletin"),
    catalogue.SAMPLES: SampleRequest(text="publish"),
    catalogue.GRAPH_QUERY: GraphQueryRequest(cypher="MATCH (n:Page) RETURN n.uid, n.title ORDER BY n.uid"),
    catalogue.SCHEMA: SchemaRequest(),
}


def write(estate: Path, printing: int) -> None:
    """Every page says its printing, and each printing has a page more."""
    estate.mkdir(exist_ok=True)
    for place, name in enumerate((*_PAGES, "fourth")[: 2 + printing]):
        following = _PAGES[(place + 1) % len(_PAGES)]
        (estate / f"{name}.md").write_text(
            f"---\nuid: {name}\ntitle: Bulletin {name} of printing {printing}\n---\n"
            f"# Bulletin {name} of printing {printing}\n\nWhat the bulletin says is of printing {printing}; see\n"
            f'[the next]({following}.md).\n\n```python\nopen()\npublish("printing {printing}")\nclose()\n```\n'
        )


@dataclass
class Turning:
    """A graph under which the next printing is published, before or after the first statement of a reading."""

    reader: GraphReader
    tools: LocalToolbox
    estate: Path
    before: bool
    engine: str = "turning"
    turned: bool = field(default=False, init=False)

    async def run(self, query: GuardedQuery | ServiceStatement, *, deadline: Deadline) -> Rows:
        if self.before:
            await self._turn()
        rows = await self.reader.run(query, deadline=deadline)
        await self._turn()
        return rows

    async def _turn(self) -> None:
        if not self.turned:
            self.turned = True
            write(self.estate, 2)
            await self.tools.publish(PublishRequest(paths=[str(self.estate)]))

    async def check(self, deadline: Deadline) -> None:
        await self.reader.check(deadline)

    async def close(self) -> None:
        """What it stands on is closed by who opened it."""


@pytest.fixture
def application(tmp_path: Path) -> Iterator[Application]:
    with running(tmp_path / "data") as opened:
        write(tmp_path / "estate", 1)
        opened.publish(tmp_path / "estate")
        yield opened


@pytest.mark.parametrize("before", [True, False], ids=["before the first statement", "after it"])
@pytest.mark.parametrize("tool", ASKED, ids=lambda tool: tool.name)
def test_an_answer_is_of_the_snapshot_that_it_names(
    application: Application, tmp_path: Path, tool: Tool, before: bool
) -> None:
    tools = application.tools
    [first] = [root.content_root for root in application.run(tools.roots()).roots if root.current]
    turning = Turning(tools.retrieval.graph, tools, tmp_path / "estate", before)
    retrieval = replace(tools.retrieval, graph=turning, cards=CardCache(turning, 100))
    answer = application.run(replace(tools, retrieval=retrieval).call(tool, ASKED[tool], ANONYMOUS))
    assert turning.turned
    printing = 1 if answer.content_root == first else 2
    said = answer.model_dump_json()
    if tool is catalogue.SCHEMA:
        assert answer.labels["page"] == 2 + printing
    else:
        assert set(re.findall(r"printing (\d)", said)) == {str(printing)}
