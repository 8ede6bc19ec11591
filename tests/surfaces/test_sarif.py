"""Findings as SARIF: what a code host needs to show each at its line."""

import json
from contextlib import asynccontextmanager

import pytest

from service.domain.results import DiagnosticResult
from service.surfaces.command_line import access, main
from service.surfaces.command_line.sarif import sarif
from tests.surfaces.fake_toolbox import FakeToolbox


def finding(**changed):
    fields = {
        "severity": "warning",
        "code": "link_broken",
        "file": "articles/a b.md",
        "line": 3,
        "column": 7,
        "message": "There is no page x.",
        "fix": "Did you mean y?",
    }
    return DiagnosticResult.model_validate(fields | changed)


@pytest.fixture
def estate(tmp_path, monkeypatch):
    (tmp_path / "docs" / "articles").mkdir(parents=True)
    (tmp_path / "docs" / "articles" / "a b.md").write_text("# A\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path / "docs"


def test_a_finding_stands_at_its_place_seen_from_the_working_folder(estate, tmp_path):
    (run,) = sarif([finding()], [estate], version="1.0")["runs"]
    (result,) = run["results"]
    assert (result["ruleId"], result["level"]) == ("link_broken", "warning")
    assert result["message"]["text"] == "There is no page x. Did you mean y?"
    place = result["locations"][0]["physicalLocation"]
    assert place == {
        "artifactLocation": {"uri": "docs/articles/a%20b.md"},
        "region": {"startLine": 3, "startColumn": 7},
    }


def test_of_several_estates_the_finding_names_its_own(estate, tmp_path):
    (other := tmp_path / "deep" / "more").mkdir(parents=True)
    found = [finding(file="docs/articles/a b.md"), finding(file="more/x.md"), finding(file="more/more/x.md")]
    (run,) = sarif(found, [other, estate], version="1.0")["runs"]
    places = [result["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] for result in run["results"]]
    assert places == ["docs/articles/a%20b.md", "deep/more/x.md", "deep/more/more/x.md"]


def test_a_file_beyond_the_working_folder_is_named_whole(estate, tmp_path, monkeypatch):
    monkeypatch.chdir(estate / "articles")
    place = sarif([finding(file="toc.yml")], [estate], version="1.0")["runs"][0]["results"][0]["locations"][0]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == (estate / "toc.yml").as_uri()


def test_each_code_is_one_rule(estate):
    findings = [finding(), finding(code="file_missing", severity="error"), finding(line=9)]
    (run,) = sarif(findings, [estate], version="1.0")["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert rules == ["file_missing", "link_broken"]
    assert [rules[result["ruleIndex"]] for result in run["results"]] == ["link_broken", "file_missing", "link_broken"]


@pytest.fixture
def toolbox(monkeypatch):
    box = FakeToolbox(findings=[finding(severity="error")])

    @asynccontextmanager
    async def open_toolbox(_settings, _data):
        yield box

    monkeypatch.setattr(access, "open_toolbox", open_toolbox)
    return box


def test_a_publish_writes_the_file_beside_its_own_document(estate, toolbox, capsys):
    assert main(["--json", "publish", "docs", "--dry-run", "--sarif", "findings.sarif"]) == 4
    assert json.loads(capsys.readouterr().out)["diagnostics"][0]["code"] == "link_broken"
    written = json.loads((estate.parent / "findings.sarif").read_text())
    assert (written["version"], len(written["runs"][0]["results"])) == ("2.1.0", 1)


def test_a_file_that_cannot_be_written_is_said(estate, toolbox, capsys):
    assert main(["--json", "publish", "docs", "--sarif", "no/such/folder/x.sarif"]) == 2
    assert "can't be written" in json.loads(capsys.readouterr().out)["error"]["message"]
