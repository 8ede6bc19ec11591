"""The commands that follow the graph: what they ask, what they show, and how each ends."""

import json
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import pytest

from service.domain.errors import NodeUnknown
from service.domain.requests import LearningPathRequest, RelatedRequest, SampleRequest, SchemaRequest, XrefRequest
from service.domain.results import (
    CodeSample,
    LearningPathResult,
    LearningStep,
    MissingPrerequisite,
    PathStep,
    RelatedNode,
    RelatedResult,
    SampleResult,
    SchemaResult,
    XrefResolution,
    XrefResult,
)
from service.surfaces.command_line import access, main

ROOT = "ab" * 32


@dataclass
class Answering:
    """A toolbox that gives one answer to any tool, and remembers what it was asked."""

    answer: object = None
    asked: list = field(default_factory=list)

    async def call(self, tool, request, _principal):
        self.asked.append((tool.name, request))
        if isinstance(self.answer, Exception):
            raise self.answer
        assert isinstance(self.answer, tool.result)
        return self.answer


@pytest.fixture
def toolbox(monkeypatch):
    box = Answering()

    @asynccontextmanager
    async def open_toolbox(_settings, _data):
        yield box

    monkeypatch.setattr(access, "open_toolbox", open_toolbox)
    return box


@pytest.fixture
def run(capsys):
    """Run a command once for people and once for a program: exit code, page, document."""

    def both(*words):
        people, page = main(words), capsys.readouterr().out
        program, document = main(["--json", *words]), json.loads(capsys.readouterr().out)
        assert people == program
        return people, page, document

    return both


def related(**changes):
    node = RelatedNode(
        uid="path",
        locale="en-us",
        kind="learningPath",
        title="Path",
        url=None,
        summary=None,
        prior=0.5,
        path=[
            PathStep(type="dependsOn", direction="in", uid="next", locale="en-us", title="Next"),
            PathStep(type="partOf", direction="out", uid="path", locale="en-us", title="Path"),
        ],
    )
    fields = {"related": [node], "truncated": False, "degraded": [], "content_root": ROOT, "took_ms": 1.0}
    return RelatedResult(uid="start", locale="en-us", **(fields | changes))


def test_related_shows_the_path_that_relates(toolbox, run):
    toolbox.answer = related()
    code, page, document = run("related", "start", "--locale", "en-us", "--limit", "5")
    assert code == 0
    assert toolbox.asked[0] == ("get_related", RelatedRequest(uid="start", locale="en-us", limit=5))
    assert "<-dependsOn- next -partOf-> path" in page
    assert document["related"][0]["path"][1]["type"] == "partOf"


def test_related_without_the_prior_is_partly_done(toolbox, run):
    toolbox.answer = related(degraded=["prior: late"], truncated=True)
    code, page, _ = run("related", "start")
    assert code == 4
    assert "prior: late" in page
    assert "There are more" in page


def way(**changes):
    step = LearningStep(
        uid="start",
        locale="en-us",
        kind="module",
        title="Start",
        url=None,
        level="beginner",
        minutes=21,
        teaches=["Publish"],
        required_by=["goal"],
        alternatives=[],
    )
    fields = {
        "reachable": True,
        "steps": [step],
        "minutes": 21,
        "within_budget": None,
        "missing": [],
        "cycles": [],
        "notices": [],
    }
    return LearningPathResult(goal="goal", content_root=ROOT, took_ms=1.0, **(fields | changes))


def test_a_way_to_a_goal_is_numbered(toolbox, run):
    toolbox.answer = way()
    words = ["--known", "a", "--known", "b", "--level", "beginner", "--minutes", "60"]
    code, page, document = run("learning-path", "goal", *words)
    assert code == 0
    request = LearningPathRequest(goal="goal", known_skills=["a", "b"], level="beginner", minutes=60)
    assert toolbox.asked[0] == ("get_learning_path", request)
    assert "1 steps, 21 minutes" in page
    assert document["steps"][0]["teaches"] == ["Publish"]


def test_a_goal_out_of_reach_is_partly_done_and_says_why(toolbox, run):
    missing = MissingPrerequisite(uid="skill:x", title="X", required_by="goal")
    toolbox.answer = way(reachable=False, within_budget=False, missing=[missing], cycles=[["a", "b", "a"]])
    code, page, _ = run("learning-path", "goal")
    assert code == 4
    assert "Nothing teaches X (skill:x), which goal requires." in page
    assert "a → b → a" in page
    assert "more time than there is" in page


def test_a_name_that_stands_for_nothing_is_partly_done_with_suggestions(toolbox, run):
    found = XrefResolution(asked="A", found=True, via="case", uid="a", locale="en-us", kind="page", title="A page")
    lost = XrefResolution(asked="b", found=False, via="none", suggestions=["bb"])
    toolbox.answer = XrefResult(resolutions=[found, lost], content_root=ROOT, took_ms=1.0)
    code, page, document = run("xref", "A", "b", "--moniker", "net-8.0")
    assert code == 4
    assert toolbox.asked[0] == ("resolve_xref", XrefRequest(uids=["A", "b"], moniker="net-8.0"))
    assert "? bb" in page
    assert [one["found"] for one in document["resolutions"]] == [True, False]
    toolbox.answer = XrefResult(resolutions=[found], content_root=ROOT, took_ms=1.0)
    assert run("xref", "A")[0] == 0


def test_samples_keep_their_lines_and_their_owner(toolbox, run):
    sample = CodeSample(
        uid="code/1",
        locale="en-us",
        title="Search",
        language="python",
        code="def ask():\n    return 1",
        highlights=[(4, 7)],
        owner_uid="rest",
        owner_title="REST",
        owner_url="/rest",
        score=0.5,
    )
    toolbox.answer = SampleResult(
        samples=[sample],
        total=1,
        languages={"python": 1},
        next_cursor="c",
        degraded=[],
        content_root=ROOT,
        took_ms=1.0,
    )
    code, page, _ = run("samples", "ask", "--language", "py", "--filter", "product=a", "--limit", "2", "--cursor", "b")
    assert code == 0
    request = SampleRequest(text="ask", language="py", limit=2, filter={"product": ["a"]}, cursor="b")
    assert toolbox.asked[0] == ("code_sample_search", request)
    lines = [line.rstrip() for line in page.splitlines()]
    assert lines[1:3] == ["   def ask():", "       return 1"]
    assert "   REST · rest · /rest" in lines
    assert "More: --cursor c" in lines


def test_the_schema_is_counted(toolbox, run):
    toolbox.answer = SchemaResult(
        labels={"page": 2},
        edge_types={"xref": 1},
        properties=["uid"],
        grammar="MATCH …",
        examples=["MATCH (p:Page) RETURN p.uid"],
        content_root=ROOT,
    )
    code, page, document = run("schema")
    assert code == 0
    assert toolbox.asked[0] == ("describe_schema", SchemaRequest())
    assert "Nodes: 2 page." in page
    assert document["edgeTypes"] == {"xref": 1}


def test_a_node_that_is_not_there_is_refused(toolbox, capsys):
    toolbox.answer = NodeUnknown("There is no such node.")
    assert main(["--json", "related", "nobody"]) == 3
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "node_unknown"
