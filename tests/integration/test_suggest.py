"""Suggestions from end to end on the embedded engines: what comes first, what is forgiven, what is not told."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from service.domain.errors import LimitOutOfRange, QueryEmpty
from service.domain.principal import ANONYMOUS
from service.domain.results import Suggestion
from service.tools import catalogue
from tests.application import Application, running, write_estate

TITLES = {
    "graph": "Graph",
    "graphs-1": "Graph queries",
    "graphs-2": "Graph queries with a time limit",
    "query": "Query the graph",
    "photo": "Photographs",
    "intro-1": "Introduction",
    "intro-2": "Introduction",
    "context": "Configure a DbContext",
    "cpp": "Write C++",
    "csharp": "Write C#",
}


def page(uid: str, title: str) -> str:
    text = f"# {title}\n\nSee <xref:Some.Library.IHttpClientFactory>.\n"
    return f"---\ntitle: {title}\nuid: {uid}\nproducts: [engine]\n---\n\n{text}"


def site(titles: dict[str, str]) -> dict[str, str]:
    files = {f"{uid}.md": page(uid, title) for uid, title in titles.items()}
    return files | {"docfx.json": '{"build": {"content": [{"files": ["**/*.md"]}]}}'}


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    folder = tmp_path_factory.mktemp("suggest")
    with running(folder / "data") as opened:
        opened.publish(write_estate(folder / "estate", site(TITLES)))
        yield opened


def suggested(application: Application, text: str, limit: int | None = None) -> list[Suggestion]:
    request = catalogue.SUGGEST.request(text=text, limit=limit)
    found: list[Suggestion] = application.run(application.tools.call(catalogue.SUGGEST, request, ANONYMOUS)).suggestions
    return found


def uids(found: list[Suggestion]) -> list[str]:
    return [one.uid for one in found]


def test_the_closest_name_comes_first_and_of_two_alike_the_shorter(application: Application) -> None:
    """The name itself, then what begins so, then what holds the words; no other word is near enough."""
    assert uids(suggested(application, "graph")) == ["graph", "graphs-1", "graphs-2", "query"]
    assert uids(suggested(application, "Graph q")) == ["graphs-1", "graphs-2", "query"]
    assert uids(suggested(application, "graph query")) == ["query", "graphs-1", "graphs-2"]
    assert uids(suggested(application, "  GRAPH   queries  w")) == ["graphs-2"]


@pytest.mark.parametrize("typed", ["grpah", "grahp", "graaph", "graph querise", "grap queriess"])
def test_typing_errors_are_forgiven(application: Application, typed: str) -> None:
    assert "graphs-1" in uids(suggested(application, typed))


def test_what_is_spelt_so_comes_before_what_is_only_near(application: Application) -> None:
    assert uids(suggested(application, "photo"))[0] == "photo"
    assert suggested(application, "quiery")[0].uid == "query"


def test_a_uid_and_an_identifier_are_completed_to_themselves(application: Application) -> None:
    (found,) = suggested(application, "some.lib")
    assert (found.text, found.matched, found.kind) == ("Some.Library.IHttpClientFactory", "uid", "api")
    assert uids(suggested(application, "IHttpClientFactroy")) == ["Some.Library.IHttpClientFactory"]
    assert uids(suggested(application, "clientfac")) == ["Some.Library.IHttpClientFactory"]
    assert suggested(application, "dbcon")[0].text == "Configure a DbContext"
    (found,) = suggested(application, "graphs-2")
    assert (found.text, found.matched, found.title) == ("graphs-2", "uid", "Graph queries with a time limit")
    assert uids(suggested(application, "product:eng")) == ["product:engine"]


def test_a_title_that_many_share_is_suggested_once(application: Application) -> None:
    assert [one.text for one in suggested(application, "introduc")] == ["Introduction"]
    assert uids(suggested(application, "intro-")) == ["intro-1", "intro-2"]


def test_signs_count_where_a_name_goes_on_with_them(application: Application) -> None:
    assert suggested(application, "write c#")[0].uid == "csharp"
    assert suggested(application, "write c+")[0].uid == "cpp"
    assert suggested(application, "*~#") == []


def test_suggestions_are_bounded(application: Application) -> None:
    assert len(suggested(application, "g", limit=2)) == 2
    for limit in (0, -1, 51):
        with pytest.raises(LimitOutOfRange):
            suggested(application, "g", limit=limit)
    with pytest.raises(QueryEmpty):
        suggested(application, " ")
    assert suggested(application, "x " * 900) == []


def test_suggestions_are_of_the_snapshot_that_answers(tmp_path: Path) -> None:
    with running(tmp_path / "data") as application:
        assert suggested(application, "before") == []
        application.publish(write_estate(tmp_path / "estate", site({"a": "Before the publish"})))
        assert uids(suggested(application, "before")) == ["a"]
        application.publish(write_estate(tmp_path / "estate", site({"a": "After the publish"})))
        assert suggested(application, "before") == []
        assert uids(suggested(application, "after the")) == ["a"]
