"""What commands print: pages for people, one document for programs, and how an error ends a command."""

import io
import json
import sys

import pytest
from rich.console import Console

from cypher_guard.violation import Violation
from service.domain import errors
from service.domain.results import DiagnosticResult, GraphQueryResult, PassageResult, PublishResult
from service.surfaces.command_line import pages
from service.surfaces.command_line.endings import error_document, exit_code
from service.surfaces.command_line.output import Output, printable
from tests.surfaces.fake_toolbox import hit, search_result


def drawn(page, *, terminal=False):
    console = Console(
        file=io.StringIO(), width=120, force_terminal=terminal, color_system="standard" if terminal else None
    )
    console.print(page)
    return console.file.getvalue()


def passage(text, *highlights):
    return PassageResult(text=text, heading="Votes", anchor="votes", highlights=list(highlights))


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (errors.QueryEmpty("Ask something."), 3),
        (errors.FilterUnknown("No such filter.", suggestion="kind"), 3),
        (errors.SettingInvalid("No such setting."), 3),
        (Violation("read_only", "DELETE writes."), 3),
        (errors.EngineLate("kglite"), 1),
        (errors.AllLegsDown("None can answer."), 1),
        (errors.DataFolderHeld("Held."), 1),
        (errors.PublishFailed("Findings."), 1),
        (RuntimeError("a bug"), 1),
    ],
)
def test_an_errors_family_decides_the_exit_code(error, code):
    assert exit_code(error) == code


def test_an_error_document_has_every_field():
    violation = Violation("unbounded", "No end.", line=1, column=9, suggestion="*1..4")
    assert error_document(violation) == {
        "error": {"code": "unbounded", "message": "No end.", "suggestion": "*1..4", "line": 1, "column": 9}
    }
    assert error_document(errors.AllLegsDown("None can answer.")) == {
        "error": {
            "code": "all_legs_down",
            "message": "None can answer.",
            "suggestion": None,
            "line": None,
            "column": None,
        }
    }
    assert error_document(RuntimeError("a bug"))["error"]["code"] == "internal"


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("emoji 🙂 and עברית", "emoji 🙂 and עברית"),
        ("\x1b[2Jgone", "�[2Jgone"),
        ("a\0b\x07c\x9bd", "a�b�c�d"),
        ("half \ud83d", "half �"),
        ("abc\u202edef", "abc�def"),
    ],
)
def test_no_text_of_a_document_steers_the_terminal(text, shown):
    assert printable(text) == shown


def test_highlights_mark_the_words_that_match():
    marked = pages.excerpt(passage("Ranks are fused by rank.", (10, 15)))
    assert [(marked.plain[span.start : span.end], str(span.style)) for span in marked.spans] == [
        ("fused", "bold yellow")
    ]


def test_an_excerpt_of_a_long_passage_stands_around_its_first_highlight():
    text = "x " * 500 + "needle" + " y" * 500
    marked = pages.excerpt(passage(text, (1000, 1006)))
    assert len(marked.plain) == pages.EXCERPT_CHARACTERS + 2
    assert marked.plain.startswith("…")
    assert marked.plain.endswith("…")
    [span] = marked.spans
    assert marked.plain[span.start : span.end] == "needle"


def test_a_highlight_that_ends_beyond_the_excerpt_is_cut_with_it():
    text = "a" * 1000
    marked = pages.excerpt(passage(text, (0, 1000)))
    [span] = marked.spans
    assert (span.start, span.end) == (0, pages.EXCERPT_CHARACTERS)


def test_a_search_page_shows_title_heading_address_and_score():
    page = drawn(pages.search_page(search_result([hit(1, explain=False)], explain=None)))
    assert "Page 1 › Votes" in page
    assert "https://example.org/page-1#votes" in page
    assert f"{(1 / 61 + 1 / 62) / (2 / 61) * 1.05:.3f}" in page


def test_a_search_page_says_what_was_missing():
    page = drawn(pages.search_page(search_result([], degraded=["vector: 37 % indexed"], explain=None)))
    assert "Nothing found." in page
    assert "Degraded: vector: 37 % indexed." in page


def test_an_explanation_gives_each_legs_rank_and_the_sum():
    page = drawn(pages.search_page(search_result([hit(1), hit(2)])))
    assert "1 (12.500)" in page
    assert "2 (0.750)" in page
    assert f"{1 / 61 + 1 / 62:.5f}" in page
    assert "moniker ×1.050 (+2)" in page
    assert "Manual (title)" in page


def test_facets_are_a_line_each():
    page = drawn(pages.search_page(search_result([], facets={"kind": {"page": 13, "unit": 12}}, explain=None)))
    assert "kind: 13 page, 12 unit\n" in page


def test_a_title_is_text_and_not_markup():
    page = drawn(pages.search_page(search_result([hit(1, title="[red]a[/red] \x1b]0;x\x07")], explain=None)))
    assert "[red]a[/red] �]0;x�" in page


def test_rows_show_as_json_where_they_are_no_text():
    rows = [["plain", None, True, 1.5, ["a", {"b": "é"}]]]
    result = GraphQueryResult(
        columns=["a", "b", "c", "d", "e"], rows=rows, truncated=True, cypher="MATCH …", content_root="", took_ms=1
    )
    page = drawn(pages.graph_page(result))
    assert 'plain  null  true  1.5  ["a", {"b": "é"}]' in page
    assert "more than the limit" in page


def publish_result(*diagnostics):
    return PublishResult(
        nodes={"page": 2, "unit": 3},
        edges={"partOf": 3},
        passages=9,
        added=5,
        changed=0,
        removed=0,
        unchanged=0,
        diagnostics=list(diagnostics),
        content_root="ab" * 32,
        generation=1,
        embedded=9,
        seconds=0.5,
    )


def diagnostic(number=1):
    return DiagnosticResult(
        severity="error", code="yaml_broken", file="a.yml", line=number, column=2, message="No YAML.", fix="Indent it."
    )


def test_a_publish_page_counts_and_lists_the_findings():
    page = drawn(pages.publish_page(publish_result(diagnostic())))
    assert "a.yml:1:2: error yaml_broken: No YAML. Indent it." in page
    assert "Published 2 page, 3 unit; 9 passages." in page
    many = drawn(pages.publish_page(publish_result(*(diagnostic(number) for number in range(1, 26)))))
    assert many.count("error yaml_broken: ") == pages.SHOWN_DIAGNOSTICS
    assert "Diagnostics: error yaml_broken 25." in many
    mixed = publish_result(
        *(diagnostic(number).model_copy(update={"severity": "note", "code": "orphan_page"}) for number in range(1, 31)),
        diagnostic(99),
    )
    shown = drawn(pages.publish_page(mixed))
    assert shown.startswith("a.yml:99:2: error yaml_broken")
    assert "Diagnostics: error yaml_broken 1, note orphan_page 30." in shown
    assert "and 5 more" in many


def test_a_cursor_stays_in_one_line_to_be_copied(capsys):
    cursor = "c" * 500
    Output(as_json=False).result(search_result([hit(1)], explain=None, next_cursor=cursor), pages.search_page)
    assert f"--cursor {cursor}\n" in capsys.readouterr().out


class Terminal(io.TextIOWrapper):
    def __init__(self, encoding):
        super().__init__(io.BytesIO(), encoding=encoding, errors="replace")

    def written(self):
        self.flush()
        return self.buffer.getvalue()


@pytest.mark.parametrize("encoding", ["utf-8", "ascii", "latin-1"])
def test_a_document_is_the_same_in_every_encoding(monkeypatch, encoding):
    terminal = Terminal(encoding)
    monkeypatch.setattr(sys, "stdout", terminal)
    result = search_result([hit(1, title="Ränge 🙂 \ud83d")])
    Output(as_json=True).result(result, pages.search_page)
    document = json.loads(terminal.written().decode(encoding))
    assert document["hits"][0]["title"] == "Ränge 🙂 �"
    assert document["contentRoot"] == result.content_root


def test_a_page_on_a_terminal_without_unicode_loses_characters_and_nothing_else(monkeypatch):
    terminal = Terminal("ascii")
    monkeypatch.setattr(sys, "stdout", terminal)
    Output(as_json=False).result(search_result([hit(1, title="Ränge 🙂")], explain=None), pages.search_page)
    assert b"R?nge" in terminal.written()


def test_an_error_for_people_goes_to_stderr(capsys):
    Output(as_json=False).error(Violation("unbounded", "No end.", line=1, column=9, suggestion="*1..4"))
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "unbounded: No end. (line 1, column 9)\nTry: *1..4\n"


def test_progress_is_a_line_a_stage_where_no_terminal_is(capsys):
    with Output(as_json=True).progress() as progress:
        for done in range(3):
            progress("embedding", done, 2)
        progress("committing", 0, 0)
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "embedding: 2\ncommitting\n"
