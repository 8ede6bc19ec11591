"""The manual tells what the code does: each table that it repeats is held against the code's own."""

import re
from pathlib import Path

import pytest

from adapters.estates import ReadingRules, reader_for
from cypher_guard.violation import CODES
from service.domain import errors
from service.domain.content import NodeRecord
from service.domain.diagnostics import Diagnostic, Severity
from service.domain.filters import NodeFilter
from service.domain.graph import EdgeType, NodeKind
from service.publishing.linking import link
from service.retrieval.facets import FACETS
from service.retrieval.signals import SIGNALS
from service.settings import Settings
from service.surfaces import problems, remote
from service.surfaces.command_line import settings_page
from service.surfaces.graphql import refusals
from service.tools.catalogue import TOOLS

DOCS = Path(__file__).parents[2] / "docs"
ARTICLES = DOCS / "articles"


def first_column(article, heading=None):
    """The code words that open a row of the article's tables, under `heading` when one is named."""
    text = (ARTICLES / article).read_text(encoding="utf-8")
    if heading is not None:
        text = text.split(f"\n## {heading}", 1)[1].split("\n## ", 1)[0]
    return [
        word
        for line in text.splitlines()
        if line.startswith("| `")
        for word in re.findall(r"`([^`]+)`", line.split("|")[1])
    ]


def test_the_settings_reference_is_what_the_command_prints():
    written = (ARTICLES / "settings.md").read_text(encoding="utf-8")
    assert written == settings_page.reference(), "run: cogitave-query settings --markdown > docs/articles/settings.md"


@pytest.mark.parametrize("name", Settings.model_fields)
def test_every_setting_says_what_it_is_for(name):
    help = Settings.model_fields[name].description
    assert help
    assert help.endswith(".")
    assert f"\n## {name}\n\n{help}\n" in settings_page.reference()


def codes_of(module):
    """The codes that a caller can meet; the families' own names stand for errors that have none yet."""
    families = {errors.Refused, errors.Unavailable, problems.SurfaceRefused}
    kinds = [kind for kind in vars(module).values() if isinstance(kind, type) and issubclass(kind, Exception)]
    return {
        kind.code
        for kind in kinds
        if kind not in families and kind.__module__ == module.__name__ and "code" in vars(kind)
    }


def test_every_error_code_is_explained_once():
    explained = first_column("errors.md")
    assert len(explained) == len(set(explained))
    ours = codes_of(errors) | codes_of(problems) | codes_of(remote) | codes_of(refusals)
    assert set(explained) == ours | set(CODES) | {"request_invalid"}


def test_the_graphs_vocabulary_is_the_codes():
    assert first_column("graph.md", "Kinds of node") == [kind.value for kind in NodeKind]
    assert first_column("graph.md", "Types of edge") == [edge.value for edge in EdgeType]


def test_every_filter_is_explained():
    assert set(first_column("filters.md")) == set(NodeFilter.__dataclass_fields__)


def test_every_tool_is_explained_with_its_path():
    rows = [line.split("|") for line in (ARTICLES / "tools.md").read_text(encoding="utf-8").splitlines()]
    told = {row[1].strip(" `"): row[3].strip(" `") for row in rows if len(row) > 4 and row[1].startswith(" `")}
    assert told == {tool.name: f"POST /v1/{tool.path}" for tool in TOOLS}


def test_every_signal_and_facet_is_explained():
    assert first_column("ranking.md") == list(SIGNALS)
    text = (ARTICLES / "filters.md").read_text(encoding="utf-8").split("## Facets", 1)[1].split("## ", 1)[0]
    assert set(FACETS) <= set(re.findall(r"`([a-z]+)`", text))


def test_the_manual_is_an_estate_that_says_nothing_wrong():
    """One path, three modules, and every link of it leads somewhere."""
    rules = ReadingRules()
    read = list(reader_for(DOCS, rules).read(DOCS, "docs"))
    findings = [found for found in read if isinstance(found, Diagnostic)]
    assert [found for found in findings if found.severity is not Severity.NOTE] == []
    graph = link([record for record in read if isinstance(record, NodeRecord)], default_locale=rules.default_locale)
    assert (graph.kind_counts["learningPath"], graph.kind_counts["module"]) == (1, 3)
    assert "api" not in graph.kind_counts
    units = len(list(DOCS.glob("modules/*/[0-9]*.yml")))
    articles = len(list(ARTICLES.rglob("*.md")))
    assert (graph.kind_counts["unit"], graph.kind_counts["page"]) == (units, articles)


def test_settings_that_articles_name_exist():
    """A name of a setting's shape in these articles is a row of the table, or an error code."""
    about = ("fusion", "ranking", "degradation", "query-graph", "explain", "rest", "content")
    for article in (f"{name}.md" for name in about):
        named = set(re.findall(r"`([a-z]+(?:_[a-z]+)+)`", (ARTICLES / article).read_text(encoding="utf-8")))
        known = set(Settings.model_fields) | set(first_column("errors.md"))
        assert named <= known, article
