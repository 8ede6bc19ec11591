"""resolve_xref on docfx markup: overload groups, chains and circles of redirections, and names of no node."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from pydantic import ValidationError

from service.domain.errors import NodeUnknown, QueryEmpty
from service.domain.principal import ANONYMOUS
from service.domain.results import XrefResolution
from service.settings import Settings
from service.tools import catalogue, estate
from tests.application import Application, running, write_estate

LINKS = (
    "[bag](/elsewhere/bag%601) <xref:Lib.Client.Open*> <xref:Lib.Client.Close> <xref:Lib.Client.Send(System.String)>"
)


def page(uid: str, *metadata: str) -> str:
    return "\n".join(["---", f"title: {uid}", f"uid: {uid}", *metadata, "---", "", f"# {uid}", "", "Read this.", ""])


CODE = """```csharp
using Lib;

var bag = new Bag();
bag.Fill();
bag.Close();
```
"""

ESTATE = {
    "versions/8.md": page("Guide.Start", 'monikerRange: "=net-8.0"'),
    "versions/9.md": page("guide.start", 'monikerRange: "=net-9.0"'),
    "en-us/roast.md": page("roast", 'monikerRange: "=net-9.0"'),
    "de-de/roast.md": page("roast", "ms.contentlocale: de-DE", "ms.translationtype: HT", 'monikerRange: "=net-8.0"'),
    "fr-fr/roast.md": page("roast", "ms.contentlocale: fr-FR", "ms.translationtype: MT"),
    "docfx.json": '{"build": {"content": [{"files": ["**/*.md"]}]}}',
    "a.md": f"---\ntitle: A\nuid: page.a\n---\n\n# A\n\n{LINKS}\n\n{CODE}",
    ".openpublishing.redirection.json": json.dumps(
        {
            "redirections": [
                {"source_path": "first.md", "redirect_url": "/estate/second"},
                {"source_path": "second.md", "redirect_url": "/estate/a"},
                {"source_path": "round.md", "redirect_url": "/estate/trip"},
                {"source_path": "trip.md", "redirect_url": "/estate/round"},
            ]
        }
    ),
}


@pytest.fixture(scope="module")
def application(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Application]:
    folder = tmp_path_factory.mktemp("xrefs")
    with running(folder / "data") as opened:
        opened.publish(write_estate(folder / "estate", ESTATE))
        yield opened


def resolve(application: Application, *uids: str, **wishes: str | None) -> list[XrefResolution]:
    request = catalogue.XREF.request(uids=list(uids), **wishes)
    found: list[XrefResolution] = application.run(
        application.tools.call(catalogue.XREF, request, ANONYMOUS)
    ).resolutions
    return found


def fetched(application: Application, url: str) -> tuple[str, str]:
    request = catalogue.FETCH.request(url=url)
    node = application.run(application.tools.call(catalogue.FETCH, request, ANONYMOUS))
    return node.uid, node.locale


@pytest.mark.parametrize(
    ("asked", "via", "uid"),
    [
        ("Lib.Client.Open*", "exact", "Lib.Client.Open*"),
        ("Lib.Client.Open", "overload", "Lib.Client.Open*"),
        ("Lib.Client.Open(System.String,System.Int32)", "overload", "Lib.Client.Open*"),
        ("Lib.Client.Close*", "overload", "Lib.Client.Close"),
        ("Lib.Client.Send*", "overload", "Lib.Client.Send(System.String)"),
        ("lib.client.close", "case", "Lib.Client.Close"),
        ("lib.client.open*", "case", "Lib.Client.Open*"),
        ("LIB.client.open", "overload", "Lib.Client.Open*"),
        ("lib.client.OPEN(System.String,System.Int32)", "overload", "Lib.Client.Open*"),
        ("lib.client.close*", "overload", "Lib.Client.Close"),
        ("LIB.CLIENT.SEND*", "overload", "Lib.Client.Send(System.String)"),
    ],
)
def test_an_overload_and_its_group_find_each_other(application: Application, asked: str, via: str, uid: str) -> None:
    (found,) = resolve(application, asked)
    assert (found.found, found.via, found.uid, found.external) == (True, via, uid, True)


@pytest.mark.parametrize(
    ("asked", "via", "uid"),
    [
        ("<xref:page.a>", "exact", "page.a"),
        ("<xref:page.a?displayProperty=fullName>", "exact", "page.a"),
        ("xref:page.a#bag", "exact", "page.a"),
        ("XREF:Page.A?text=a", "case", "page.a"),
        (" page.a ", "exact", "page.a"),
        ("@page.a", "exact", "page.a"),
        ('@"page.a"', "exact", "page.a"),
        ("<xref:Lib.Client.Open%2A>", "exact", "Lib.Client.Open*"),
        ("xref:Lib.Client.Send%2A", "overload", "Lib.Client.Send(System.String)"),
        ("xref:/estate/a", "address", "page.a"),
    ],
)
def test_a_reference_is_resolved_as_markdown_writes_it(
    application: Application, asked: str, via: str, uid: str
) -> None:
    (found,) = resolve(application, asked)
    assert (found.asked, found.found, found.via, found.uid) == (asked, True, via, uid)


@pytest.mark.parametrize(
    "asked", ["xref:", "<>", "<xref:>", "@", '@""', "xref:?#", "<xref:%00>", "xref:%ff", "@@page.a"]
)
def test_a_reference_to_nothing_is_none(application: Application, asked: str) -> None:
    assert not resolve(application, asked)[0].found


def test_a_misspelt_reference_is_told_the_nearest(application: Application) -> None:
    assert resolve(application, "<xref:page.aa?text=A>")[0].suggestions[0] == "page.a"


@pytest.mark.parametrize("asked", ["Lib.Client.Ope", "(", "*", "(x)", "Lib.Client.Closed(System.String)"])
def test_what_is_no_name_is_said_to_be_none(application: Application, asked: str) -> None:
    (found,) = resolve(application, asked)
    assert (found.found, found.via) == (False, "none")


def test_redirections_are_followed_to_their_end_and_circles_survive(application: Application) -> None:
    retired = {node.title: node.uid for node in application.nodes(filter={"kind": ["retired"]}).nodes}
    assert set(retired) == {"first", "second", "round", "trip"}
    found = resolve(application, retired["first"], retired["round"])
    assert (found[0].uid, found[0].via, found[0].redirects) == (
        "page.a",
        "redirect",
        [retired["first"], retired["second"]],
    )
    assert (found[1].found, found[1].via, found[1].uid) == (False, "none", None)
    assert set(found[1].redirects) <= {retired["round"], retired["trip"]}


@pytest.mark.parametrize(
    "asked",
    [
        "/estate/a",
        "/estate/a/",
        "/Estate/A",
        "/estate/a?view=net-8.0#bag",
        "/en-us/estate/a",
        "/pt-br/estate/a/",
        "https://example.org/estate/a",
        "http://EXAMPLE.org/en-us/estate/a?tabs=one#bag",
        "//example.org/estate/a",
        "example.org/estate/a",
        "https://example.org:8443/estate/%61",
        " https://example.org/estate/a ",
    ],
)
def test_a_pages_own_address_is_resolved_and_fetched(application: Application, asked: str) -> None:
    (found,) = resolve(application, asked)
    assert (found.found, found.via, found.uid, found.url) == (True, "address", "page.a", "/estate/a")
    assert fetched(application, asked) == ("page.a", "en-us")


def test_a_redirected_address_leads_to_the_page_at_its_end(application: Application) -> None:
    (found,) = resolve(application, "https://example.org/estate/first")
    assert (found.uid, found.via, len(found.redirects)) == ("page.a", "redirect", 2)
    assert fetched(application, "https://example.org/estate/first") == ("page.a", "en-us")


@pytest.mark.parametrize(
    "url",
    ["/estate/nothing", "https://example.org/", "/", "//", "https://", "http://[", "ftp://x/estate/a", "page.a", ""],
)
def test_an_address_of_no_page_is_refused(application: Application, url: str) -> None:
    with pytest.raises(NodeUnknown):
        fetched(application, url)


def test_code_is_not_taken_for_the_page_that_shows_it(application: Application) -> None:
    samples = application.nodes(filter={"kind": ["codeSample"]}).nodes
    assert [(node.url or "").partition("#")[0] for node in samples] == ["/estate/a"]
    assert resolve(application, "/estate/a")[0].uid == "page.a"


def test_only_the_hosts_that_serve_the_estates_count_where_they_are_named(tmp_path: Path) -> None:
    with running(tmp_path / "data", Settings(site_hosts=("example.org",))) as opened:
        opened.publish(write_estate(tmp_path / "estate", ESTATE))
        assert resolve(opened, "https://example.org/estate/a")[0].uid == "page.a"
        assert not resolve(opened, "https://elsewhere.example/estate/a")[0].found


@pytest.mark.parametrize("fields", [{}, {"uid": "page.a", "url": "/estate/a"}])
def test_a_node_is_named_by_one_of_uid_and_url(fields: dict[str, str]) -> None:
    with pytest.raises(ValidationError, match="by one of the two"):
        catalogue.FETCH.request(**fields)


@pytest.mark.parametrize(
    "asked", ["pagea", "page.b", "Lib.Client.Ope", "first", "roasts", "guide start", "estate/code/"]
)
def test_every_suggestion_is_a_name_that_resolves_and_what_the_estate_holds_comes_first(
    application: Application, asked: str
) -> None:
    (found,) = resolve(application, asked)
    if found.found:
        return
    told = resolve(application, *found.suggestions) if found.suggestions else []
    assert all(one.via == "exact" and one.kind not in ("codeSample", "retired") for one in told)
    assert [one.external for one in told] == sorted(one.external for one in told)


@pytest.mark.parametrize("uids", [[""], ["page.a", "  "]])
def test_an_empty_name_is_refused(application: Application, uids: list[str]) -> None:
    with pytest.raises(QueryEmpty):
        resolve(application, *uids)


def test_an_unknown_uid_is_refused_with_the_nearest_by_every_tool_that_takes_one(application: Application) -> None:
    for tool, fields in (
        (catalogue.FETCH, {"uid": "page.aa"}),
        (catalogue.RELATED, {"uid": "page.aa"}),
        (catalogue.LEARNING_PATH, {"goal": "page.aa"}),
        (estate.DOCUMENT, {"uid": "page.aa"}),
    ):
        with pytest.raises(NodeUnknown) as refused:
            application.run(application.tools.call(tool, tool.request(**fields), ANONYMOUS))
        assert refused.value.suggestion == "page.a", tool.name


def test_a_locale_that_a_node_lacks_is_named_with_those_it_has_and_what_follows_the_graph_takes_the_nearest(
    application: Application,
) -> None:
    with pytest.raises(NodeUnknown, match=r"in de-de, en-us, fr-fr\."):
        application.fetch("roast", locale="ja-jp")
    assert application.fetch("Lib.Client.Close", locale="de-de").locale == "und"
    for uid, locale, taken in (
        ("roast", "ja-jp", "en-us"),
        ("roast", "de-at", "de-de"),
        ("page.a", "de-de", "en-us"),
        ("Lib.Client.Close", "de-de", "und"),
    ):
        request = catalogue.RELATED.request(uid=uid, locale=locale)
        found = application.run(application.tools.call(catalogue.RELATED, request, ANONYMOUS))
        assert (found.uid, found.locale) == (uid, taken)


@pytest.mark.parametrize(
    ("asked", "kind", "title", "url"),
    [
        ("Lib.Client.Close", "api", "Close", None),
        ("Lib.Client.Send(System.String)", "api", "Send", None),
        ("/elsewhere/bag`1", "api", "bag", "/elsewhere/bag`1"),
    ],
)
def test_what_the_estate_only_names_is_found_and_said_to_be_elsewhere(
    application: Application, asked: str, kind: str, title: str, url: str | None
) -> None:
    (found,) = resolve(application, asked)
    assert (found.via, found.uid, found.external) == ("exact", asked, True)
    assert (found.kind, found.title, found.url) == (kind, title, url)


@pytest.mark.parametrize(
    ("moniker", "uid"),
    [("net-8.0", "Guide.Start"), ("net-9.0", "guide.start"), ("net-7.0", "Guide.Start"), (None, "Guide.Start")],
)
def test_of_two_of_a_name_the_readers_version_is_taken(application: Application, moniker: str | None, uid: str) -> None:
    (found,) = resolve(application, "GUIDE.START", moniker=moniker)
    assert (found.via, found.uid, found.external) == ("case", uid, False)


@pytest.mark.parametrize(
    ("locale", "moniker", "taken"),
    [
        (None, None, "en-us"),
        ("en-us", None, "en-us"),
        ("de-de", None, "de-de"),
        ("de-at", None, "de-de"),
        ("de", None, "de-de"),
        ("fr-CA", None, "fr-fr"),
        ("en-gb", None, "en-us"),
        ("ja-jp", None, "en-us"),
        (None, "net-8.0", "de-de"),
        ("ja-jp", "net-8.0", "de-de"),
        ("en-gb", "net-8.0", "en-us"),
        ("de-at", "net-9.0", "de-de"),
    ],
)
def test_of_translations_the_nearest_is_taken_then_the_readers_version_then_the_source(
    application: Application, locale: str | None, moniker: str | None, taken: str
) -> None:
    """The German and the French page derive from the English one."""
    (found,) = resolve(application, "roast", locale=locale, moniker=moniker)
    assert (found.via, found.uid, found.locale) == ("exact", "roast", taken)


def test_what_is_only_named_comes_after_what_the_estate_holds(application: Application) -> None:
    request = catalogue.RELATED.request(uid="page.a")
    kinds = [
        node.kind for node in application.run(application.tools.call(catalogue.RELATED, request, ANONYMOUS)).related
    ]
    assert {"api", "codeSample"} <= set(kinds)
    assert sorted(kinds, key=lambda kind: kind == "api") == kinds


def test_a_page_of_many_samples_is_related_to_other_pages_first(tmp_path: Path) -> None:
    """Its reader sees its samples anyway; who comes from elsewhere is shown them."""
    samples = "\n".join(CODE.replace("bag", f"bag{number}") for number in range(15))
    pages = {
        "a.md": f"---\ntitle: A\nuid: page.a\n---\n\n# A\n\n[b](b.md)\n\n{samples}",
        "b.md": page("page.b"),
    }
    with running(tmp_path / "data") as opened:
        opened.publish(write_estate(tmp_path / "estate", pages))

        def related(uid: str) -> list[tuple[str, str]]:
            request = catalogue.RELATED.request(uid=uid)
            found = opened.run(opened.tools.call(catalogue.RELATED, request, ANONYMOUS)).related
            return [(node.uid, node.kind) for node in found]

        assert related("page.a")[0] == ("page.b", "page")
        assert {kind for _, kind in related("page.a")[1:]} == {"codeSample"}
        assert ("page.a", "page") in related(related("page.a")[1][0])
