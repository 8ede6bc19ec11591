"""The manual tells what the code does: each table that it repeats is held against the code's own."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import typer
import yaml

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
from service.surfaces.command_line.program import app
from service.surfaces.graphql import refusals
from service.tools.catalogue import TOOLS
from stack import settings as stack

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
ARTICLES = DOCS / "articles"
TEXTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted(DOCS.rglob("*.md"))]


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


def test_the_settings_that_an_engine_needs_are_those_that_the_stack_gives_it():
    """All but what the stack itself stands on: names, ports, and what both vendors' defaults are."""
    own = {"dbms.security.auth_enabled", "server.memory.pagecache.size", "dbms.usage_report.enabled"}
    own |= {f"server.{connector}.enabled" for connector in ("bolt", "http", "https")}
    own |= {"cluster.name", "node.name", "discovery.type", "http.type", "transport.type"}
    needed = {*stack.NEO4J_SETTINGS, *stack.OPENSEARCH_SETTINGS} - own
    assert sorted(first_column("engines.md", "Settings that an engine needs")) == sorted(needed)


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


def anchors(text: str) -> set[str]:
    """Of a page's headings, as GitHub and docfx make them."""
    headings = re.findall(r"^#+ (.+)$", re.sub(r"^```.*?^```$", "", text, flags=re.M | re.S), flags=re.M)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_every_link_to_a_file_leads_there_and_to_a_heading_that_it_has(path: Path) -> None:
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    for address in re.findall(r"\]\(([^)\s]+)\)", re.sub(r"`[^`]*`", "", text)):
        if re.match(r"[a-z]+:", address):
            continue
        name, _, anchor = address.partition("#")
        target = path.parent / name if name else path
        assert target.exists(), address
        if anchor:
            assert anchor in anchors(target.read_text(encoding="utf-8")), address


def test_the_toc_lists_every_article_once() -> None:
    toc = yaml.safe_load((ARTICLES / "toc.yml").read_text(encoding="utf-8"))
    listed = [item["href"] for group in toc for item in group["items"]]
    assert sorted(listed) == sorted(path.relative_to(ARTICLES).as_posix() for path in ARTICLES.rglob("*.md"))


def test_every_article_has_a_title_of_its_own_and_says_what_it_is_for() -> None:
    fronts = {
        path: yaml.safe_load(path.read_text(encoding="utf-8").split("---")[1])
        for path in sorted(ARTICLES.rglob("*.md"))
    }
    titles = [front["title"] for front in fronts.values()]
    assert len(titles) == len(set(titles))
    for path, front in fronts.items():
        assert len(front["title"]) <= 80, path
        assert 30 <= len(front["description"]) <= 200, path
        assert front["description"].endswith("."), path
        assert front["ms.topic"] in {"concept", "how-to", "reference", "troubleshooting"}, path


def commands_shown() -> Iterator[tuple[str, list[str]]]:
    """Where the texts show our own command, and its words; a line that ends with a backslash goes on."""
    for path in TEXTS:
        for block in re.findall(r"^```(?:console|bash)?$(.*?)^```$", path.read_text(encoding="utf-8"), re.M | re.S):
            for line in block.replace("\\\n", " ").splitlines():
                if found := re.search(r"^\s*(?:\$ )?(?:\w+=\S+ )*cogitave-query (.*)", line):
                    command = re.split(r" (?:\||>|>>|&&|;|#) ?", found[1])[0]
                    yield f"{path.name}: {line.strip()}", command.replace("…", "").split()


@pytest.mark.parametrize(("where", "words"), [pytest.param(*shown, id=shown[0]) for shown in commands_shown()])
def test_every_command_that_is_shown_exists_with_its_options(where: str, words: list[str]) -> None:
    command = typer.main.get_command(app)
    known = options_of(command)
    for word in words:
        word = word.strip("[]")
        if word.startswith("--"):
            assert word.partition("=")[0] in known, where
        elif word in getattr(command, "commands", {}):
            command = command.commands[word]
            known |= options_of(command)


def options_of(command: object) -> set[str]:
    return {name for parameter in command.params for name in [*parameter.opts, *parameter.secondary_opts]} | {"--help"}
