"""resolve_xref on docfx markup: overload groups, chains and circles of redirections, and names of no node."""

import json
from collections.abc import Iterator

import pytest

from service.domain.principal import ANONYMOUS
from service.domain.results import XrefResolution
from service.tools import catalogue
from tests.application import Application, running, write_estate

LINKS = "<xref:Lib.Client.Open*> <xref:Lib.Client.Close> <xref:Lib.Client.Send(System.String)>"
ESTATE = {
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


def resolve(application: Application, *uids: str) -> list[XrefResolution]:
    request = catalogue.XREF.request(uids=list(uids))
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
