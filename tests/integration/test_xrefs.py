"""resolve_xref on docfx markup: overload groups, chains and circles of redirections, and names of no node."""

import json
from collections.abc import Iterator

import pytest

from service.domain.principal import ANONYMOUS
from service.domain.results import XrefResolution
from service.tools import catalogue
from tests.application import Application, running, write_estate

LINKS = (
    "[bag](/elsewhere/bag%601) <xref:Lib.Client.Open*> <xref:Lib.Client.Close> <xref:Lib.Client.Send(System.String)>"
)


def page(uid: str, *metadata: str) -> str:
    return "\n".join(["---", f"title: {uid}", f"uid: {uid}", *metadata, "---", "", f"# {uid}", "", "Read this.", ""])


ESTATE = {
    "versions/8.md": page("Guide.Start", 'monikerRange: "=net-8.0"'),
    "versions/9.md": page("guide.start", 'monikerRange: "=net-9.0"'),
    "en-us/roast.md": page("roast", 'monikerRange: "=net-9.0"'),
    "de-de/roast.md": page("roast", "ms.contentlocale: de-DE", "ms.translationtype: HT", 'monikerRange: "=net-8.0"'),
    "fr-fr/roast.md": page("roast", "ms.contentlocale: fr-FR", "ms.translationtype: MT"),
    "docfx.json": '{"build": {"content": [{"files": ["**/*.md"]}]}}',
    "a.md": f"---\ntitle: A\nuid: page.a\n---\n\n# A\n\n{LINKS}\n",
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


@pytest.mark.parametrize(
    ("asked", "via", "uid"),
    [
        ("Lib.Client.Open*", "exact", "Lib.Client.Open*"),
        ("Lib.Client.Open", "overload", "Lib.Client.Open*"),
        ("Lib.Client.Open(System.String,System.Int32)", "overload", "Lib.Client.Open*"),
        ("Lib.Client.Close*", "overload", "Lib.Client.Close"),
        ("Lib.Client.Send*", "overload", "Lib.Client.Send(System.String)"),
        ("lib.client.close", "case", "Lib.Client.Close"),
    ],
)
def test_an_overload_and_its_group_find_each_other(application: Application, asked: str, via: str, uid: str) -> None:
    (found,) = resolve(application, asked)
    assert (found.found, found.via, found.uid, found.external) == (True, via, uid, True)


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
    assert found[1].found
    assert set(found[1].redirects) <= {retired["round"], retired["trip"]}


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
