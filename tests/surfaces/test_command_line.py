"""The commands over a toolbox whose answers are known: what reaches it, what is printed, how each ends."""

import json
from contextlib import asynccontextmanager

import pytest

from cypher_guard.violation import Violation
from service.domain import errors
from service.domain.diagnostics import Diagnostic, Severity
from service.domain.requests import (
    CallerProfile,
    FetchRequest,
    GraphQueryRequest,
    ListRequest,
    PublishRequest,
    SearchRequest,
    WhyNotRequest,
)
from service.domain.results import DiagnosticResult
from service.surfaces.command_line import access, main
from tests.surfaces.fake_toolbox import FakeToolbox, search_result


@pytest.fixture
def toolbox(monkeypatch):
    box = FakeToolbox()

    @asynccontextmanager
    async def open_toolbox(_settings, data):
        box.data = data
        yield box

    monkeypatch.setattr(access, "open_toolbox", open_toolbox)
    return box


@pytest.fixture
def command(capsys):
    """Run a command: exit code, standard output, standard error."""

    def run(*words):
        code = main(words)
        return code, *capsys.readouterr()

    return run


@pytest.fixture
def document(command):
    """Run a command with --json: exit code and the one document."""

    def run(*words):
        code, out, _ = command("--json", *words)
        return code, json.loads(out)

    return run


def test_a_search_reaches_the_tool_as_it_was_typed(toolbox, document, tmp_path):
    profile = tmp_path / "profile.json"
    profile.write_text('{"role": "developer", "monikers": ["net-8.0"]}')
    words = ["rank fusion", "--limit", "3", "--filter", "kind=page", "--filter", "kind=unit", "--filter", "product=a=b"]
    more = [
        "--facet",
        "kind",
        "--facet",
        "level",
        "--profile",
        str(profile),
        "--current-document",
        "manual.page-1",
        "--cursor",
        "4",
        "--explain",
    ]
    code, answer = document("search", *words, *more)
    assert code == 0
    assert toolbox.asked == [
        SearchRequest(
            text="rank fusion",
            limit=3,
            filter={"kind": ["page", "unit"], "product": ["a=b"]},
            profile=CallerProfile(role="developer", monikers=["net-8.0"]),
            current_document="manual.page-1",
            facets=["kind", "level"],
            cursor="4",
            explain=True,
        )
    ]
    assert [hit["uid"] for hit in answer["hits"]] == ["manual.page-4", "manual.page-5", "manual.page-6"]


QUESTIONS = [
    "True or false: an editor/IDE?",
    "C#",
    "/b testing",
    "tb-",
    '"unbalanced',
    "node:",
    "*",
    "🙂",
    "שלום",
    "x" * 10_000,
    "[red]",
    "{}",
    "%s",
]


@pytest.mark.parametrize("text", QUESTIONS)
def test_a_question_is_words_and_never_syntax(toolbox, document, text):
    code, _ = document("search", text)
    assert code == 0
    assert [request.text for request in toolbox.asked] == [text]


def test_a_question_that_begins_with_a_dash_stands_after_two(toolbox, document):
    assert document("search", "--", "--strict")[0] == 0
    assert toolbox.asked[0].text == "--strict"


def test_a_blank_question_is_refused(toolbox, document):
    code, answer = document("search", "  ")
    assert code == 3
    assert answer["error"]["code"] == "query_empty"


@pytest.mark.parametrize("text", ["a\0b", "half \udc80"])
def test_what_no_engine_can_hold_is_refused(toolbox, document, text):
    for words in (
        ("search", text),
        ("fetch", text),
        ("search", "x", "--filter", f"product={text}"),
        ("query-graph", text),
    ):
        code, answer = document(*words)
        assert (code, answer["error"]["code"]) == (3, "query_malformed")
    assert toolbox.asked == []


def test_a_misspelt_filter_is_refused_with_the_nearest(toolbox, document):
    code, answer = document("search", "x", "--filter", "kinds=page")
    assert code == 3
    assert (answer["error"]["code"], answer["error"]["suggestion"]) == ("filter_unknown", "kind")


def test_a_degraded_search_is_partly_done(toolbox, document):
    toolbox.answer = search_result([], degraded=["vector: no answer before its deadline"])
    code, answer = document("search", "x")
    assert code == 4
    assert answer["degraded"] == ["vector: no answer before its deadline"]


def test_why_not_asks_about_the_node_and_searches_nothing(toolbox, document):
    code, answer = document("search", "rank fusion", "--filter", "kind=page", "--why-not", "a b/c#d")
    search = SearchRequest(text="rank fusion", filter={"kind": ["page"]})
    assert code == 0
    assert toolbox.asked == [WhyNotRequest(search=search, uid="a b/c#d")]
    assert answer["reason"] == "depth"


def test_nodes_lists_by_filter(toolbox, document):
    code, answer = document("nodes", "--limit", "5", "--filter", "kind=page", "--facet", "type", "--cursor", "c")
    assert code == 0
    assert toolbox.asked == [ListRequest(limit=5, filter={"kind": ["page"]}, facets=["type"], cursor="c")]
    assert answer["nodes"][0]["uid"] == "manual.page-1"


def test_fetch_takes_any_uid(toolbox, document):
    code, answer = document("fetch", "a b/../*(#ctor)`1", "--locale", "de-de")
    assert code == 0
    assert toolbox.asked == [FetchRequest(uid="a b/../*(#ctor)`1", locale="de-de")]
    assert answer["properties"] == {"products": ["manual"]}


def test_a_node_that_is_not_there_is_refused(toolbox, command):
    code, out, err = command("fetch", "nobody")
    assert (code, out) == (3, "")
    assert "node_unknown: There is no node 'nobody'." in err
    assert "Try: manual.page-1" in err


def test_parameters_are_json_where_they_can_be(toolbox, document):
    values = [
        "n=3",
        'text="3"',
        "word=three",
        'list=["a", 1]',
        "none=null",
        "equals=a=b",
        "empty=",
        "big=1e400",
        "nan=NaN",
    ]
    words = [word for value in values for word in ("--param", value)]
    code, answer = document("query-graph", "MATCH (n:Page) RETURN n.uid", *words)
    assert code == 0
    assert toolbox.asked == [
        GraphQueryRequest(
            cypher="MATCH (n:Page) RETURN n.uid",
            parameters={
                "n": 3,
                "text": "3",
                "word": "three",
                "list": ["a", 1],
                "none": None,
                "equals": "a=b",
                "empty": "",
                "big": "1e400",
                "nan": "NaN",
            },
        )
    ]
    assert answer["columns"] == ["uid", "n"]
    assert answer["truncated"] is True


def test_a_violation_is_refused_with_its_place(toolbox, document):
    code, answer = document("query-graph", "MATCH (n) DELETE n")
    assert code == 3
    assert answer["error"] == {
        "code": "read_only",
        "message": "DELETE writes.",
        "suggestion": "Ask with MATCH … RETURN alone.",
        "line": 1,
        "column": 11,
    }


def test_publish_sends_absolute_paths(toolbox, document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, answer = document("publish", "manual", "../handbook", "--strict", "--dry-run")
    assert code == 0
    expected = [str(tmp_path / "manual"), str(tmp_path.parent / "handbook")]
    assert toolbox.asked == [PublishRequest(paths=expected, strict=True, dry_run=True)]
    assert answer["added"] == 2


@pytest.mark.parametrize(("severity", "code"), [("error", 4), ("warning", 0), ("note", 0)])
def test_a_publish_with_errors_among_its_findings_is_partly_done(toolbox, document, severity, code):
    finding = DiagnosticResult(severity=severity, code="x", file="a.md", line=1, column=1, message="m", fix="")
    toolbox.findings = [finding]
    ended, answer = document("publish", "manual")
    assert ended == code
    assert answer["diagnostics"] == [finding.model_dump(by_alias=True)]


FOUND = [
    Diagnostic("docs/a b.md", 3, "link_broken", "There is no 'x'.", Severity.WARNING, 7, "Did you mean y?"),
    Diagnostic("docs/toc.yml", 1, "toc_cycle", "It refers to itself.", Severity.WARNING, 2, "Take it out."),
]


def test_a_strict_publish_lists_what_it_failed_for(toolbox, command, document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    toolbox.failure = errors.PublishFailed("Nothing was published: strict.", FOUND)
    code, out, err = command("publish", "manual", "--strict", "--sarif", "found.sarif")
    assert (code, out) == (1, "")
    assert err.splitlines()[-3:] == [
        "docs/a b.md:3:7: warning link_broken: There is no 'x'. Did you mean y?",
        "docs/toc.yml:1:2: warning toc_cycle: It refers to itself. Take it out.",
        "publish_failed: Nothing was published: strict.",
    ]
    (run,) = json.loads((tmp_path / "found.sarif").read_text())["runs"]
    assert [result["ruleId"] for result in run["results"]] == ["link_broken", "toc_cycle"]
    code, answer = document("publish", "manual", "--strict")
    assert code == 1
    assert answer["error"]["diagnostics"] == [
        {
            "severity": "warning",
            "code": "link_broken",
            "file": "docs/a b.md",
            "line": 3,
            "column": 7,
            "message": "There is no 'x'.",
            "fix": "Did you mean y?",
        },
        DiagnosticResult.of(FOUND[1]).model_dump(by_alias=True),
    ]


def test_progress_of_a_publish_goes_to_stderr(toolbox, command):
    _, out, err = command("publish", "manual")
    assert "read: 2" in err
    assert "read: 2" not in out


@pytest.mark.parametrize(
    ("failure", "code"),
    [
        (errors.DataFolderHeld("Held by process 7."), 1),
        (errors.AllLegsDown("None."), 1),
        (errors.CursorStale("Moved on."), 3),
        (Violation("too_deep", "Nine hops."), 3),
    ],
)
def test_an_error_is_the_one_document(toolbox, document, failure, code):
    toolbox.failure = failure
    ended, answer = document("search", "x")
    assert ended == code
    assert answer["error"]["code"] == failure.code


def test_a_fault_of_ours_is_told_as_one_and_logged(toolbox, command):
    toolbox.failure = RuntimeError("boom")
    code, out, err = command("--json", "search", "x")
    assert code == 1
    assert json.loads(out)["error"] == {
        "code": "internal",
        "message": "RuntimeError: boom",
        "suggestion": None,
        "line": None,
        "column": None,
    }
    assert json.loads(err)["event"] == "command failed"


def test_an_interrupt_ends_quietly(toolbox, command):
    toolbox.failure = KeyboardInterrupt()
    assert command("search", "x") == (130, "", "")


def test_the_data_folder_is_the_one_named(toolbox, command, tmp_path):
    command("--data", str(tmp_path / "other"), "search", "x")
    assert toolbox.data == tmp_path / "other"


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["serch", "x"],
        ["search"],
        ["search", "x", "--limit", "many"],
        ["search", "x", "--filter", "kind"],
        ["search", "x", "--filter", "=page"],
        ["search", "x", "--profile", "nowhere.json"],
        ["query-graph", "MATCH (n) RETURN n", "--param", "a"],
        ["query-graph", "MATCH (n) RETURN n", "--param", "a=1", "--param", "a=2"],
        ["publish"],
        ["serve", "--port", "65536"],
        ["--nonsense"],
    ],
)
def test_usage_is_refused_before_anything_is_asked(toolbox, command, words):
    code, out, err = command(*words)
    assert (code, out) == (2, "")
    assert err.startswith("usage: ")
    code, out, _ = command("--json", *words)
    assert code == 2
    assert json.loads(out)["error"]["code"] == "usage"
    assert toolbox.asked == []


@pytest.mark.parametrize("content", ["{", "[]", '{"rle": "developer"}', '{"monikers": "net-8.0"}', "\xff"])
def test_a_profile_of_another_shape_is_usage(toolbox, document, tmp_path, content):
    profile = tmp_path / "profile.json"
    profile.write_bytes(content.encode("latin-1"))
    code, answer = document("search", "x", "--profile", str(profile))
    assert code == 2
    assert str(profile) in answer["error"]["message"]


def test_settings_are_printed_with_their_source(document, monkeypatch, tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text("search_limit = 20\nleg_depth = 50\n")
    monkeypatch.setenv("COGITAVE_QUERY_LEG_DEPTH", "60")
    monkeypatch.setenv("COGITAVE_QUERY_NEO4J_PASSWORD", "hunter2")
    code, answer = document("--settings", str(file), "settings")
    rows = {row["name"]: row for row in answer["settings"]}
    assert code == 0
    assert (rows["search_limit"]["value"], rows["search_limit"]["source"]) == ("20", str(file))
    assert (rows["leg_depth"]["value"], rows["leg_depth"]["source"]) == ("60", "COGITAVE_QUERY_LEG_DEPTH")
    assert (rows["fusion_k"]["value"], rows["fusion_k"]["source"]) == ("60", "default")
    assert rows["neo4j_password"]["value"] == "set"
    assert "hunter2" not in json.dumps(answer)


def test_a_setting_that_does_not_exist_is_refused(toolbox, document, tmp_path):
    file = tmp_path / "settings.toml"
    file.write_text("search_limt = 20\n")
    code, answer = document("--settings", str(file), "search", "x")
    assert code == 3
    assert (answer["error"]["code"], answer["error"]["suggestion"]) == ("setting_invalid", "search_limit")


def test_help_is_on_stdout(command):
    code, out, err = command("search", "--help")
    assert (code, err) == (0, "")
    assert "--why-not" in out


def test_the_version_is_the_distributions(command):
    code, out, _ = command("--version")
    assert code == 0
    assert out.strip().count(".") == 2
