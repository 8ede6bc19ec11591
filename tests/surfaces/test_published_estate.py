"""REST over the real embedded application: a small estate is published, and asked in every unfriendly way."""

from urllib.parse import quote

import httpx
import pytest
import schemathesis
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from schemathesis.checks import CHECKS

from service.tools import catalogue
from tests.application import PAGES, write_estate
from tests.surfaces.serving import served_estate

ODD_UID = "odd uid/#1 (ü%2F)*?&=é🦀"
ODD_PAGE = f"""---
title: "Odd <b>title</b> & 'quotes'"
uid: "{ODD_UID}"
---
# Odd

A page about peculiar identifiers.
"""


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("served")
    estate = write_estate(folder / "estate", PAGES | {"odd.md": ODD_PAGE})
    with served_estate(folder / "data", estate) as url:
        yield url


@pytest.fixture(scope="module")
def client(url):
    with httpx.Client(base_url=url, timeout=60) as client:
        yield client


def search(client, text, **more):
    return client.post("/v1/search", json={"text": text} | more)


def uids(answer):
    assert answer.status_code == 200, answer.text
    return [hit["uid"] for hit in answer.json()["hits"]]


def test_the_page_that_says_it_comes_first_by_both_ways(client):
    by_body = uids(search(client, "how do I install it"))
    assert by_body[0] == "install"
    assert uids(client.get("/v1/search", params={"q": "how do I install it"})) == by_body


def test_an_odd_uid_goes_there_and_back(client):
    assert uids(search(client, "peculiar identifiers"))[0] == ODD_UID
    for answer in (
        client.get(f"/v1/nodes/{quote(ODD_UID, safe='')}"),
        client.post("/v1/fetch", json={"uid": ODD_UID}),
    ):
        assert answer.json()["uid"] == ODD_UID
        assert answer.json()["title"] == "Odd <b>title</b> & 'quotes'"
    listed = [node["uid"] for node in client.get("/v1/nodes", params={"limit": 100}).json()["nodes"]]
    assert ODD_UID in listed


REAL_WORDS = [
    "True or false: an editor/IDE?",
    "C#",
    "/b testing",
    "tb-",
    '"unbalanced',
    "node:",
    "*",
    "🦀",
    "مرحبا",
    "the of and",
    "a AND (b OR",
    "title:install~2^4 [a TO z]",
    "xyzzyplughfrotz",
    "-",
    "\\",
    "\u200b",
    "\ufeff install",
    "e\u0301",
    "x" * 2_000,
    "a " * 1_000,
]


@pytest.mark.parametrize("text", REAL_WORDS)
def test_real_questions_are_answered_or_refused_by_both_ways_alike(client, text):
    by_body = search(client, text)
    by_link = client.get("/v1/search", params={"q": text})
    assert by_body.status_code == by_link.status_code
    if by_body.status_code == 200:
        assert uids(by_body) == uids(by_link)
        assert all(hit["passage"]["text"] for hit in by_body.json()["hits"])
    else:
        assert by_body.json() == by_link.json()
        assert by_body.json()["code"] == "query_empty"


REFUSED = [
    ({"text": ""}, "query_empty"),
    ({"text": " \n\t"}, "query_empty"),
    ({"text": "a" * 10_000}, "query_too_long"),
    ({"text": "a\u0000b"}, "query_malformed"),
    ({"text": "a", "limit": 0}, "limit_out_of_range"),
    ({"text": "a", "limit": -1}, "limit_out_of_range"),
    ({"text": "a", "limit": 10**9}, "limit_out_of_range"),
    ({"text": "a", "limit": 10**40}, "limit_out_of_range"),
    ({"text": "a", "filter": {"kin": ["page"]}}, "filter_unknown"),
    ({"text": "a", "filter": {"kind": ["pages"]}}, "filter_value_unknown"),
    ({"text": "a", "facets": ["kin"]}, "facet_unknown"),
    ({"text": "a", "withoutSignals": ["pryor"]}, "signal_unknown"),
    ({"text": "a", "profile": {"level": "wizard"}}, "level_unknown"),
    ({"text": "a", "filter": {"product": []}}, "filter_value_unknown"),
    ({"text": "a", "filter": {"product": [" "]}}, "filter_value_unknown"),
    ({"text": "a", "cursor": "x"}, "cursor_foreign"),
    ({"text": "a", "cursor": "é" * 5_000}, "cursor_foreign"),
    ({"text": "a", "cursor": "AAAA" * 900}, "cursor_foreign"),
]


@pytest.mark.parametrize(("body", "code"), REFUSED)
def test_what_can_not_be_answered_is_refused_by_its_code(client, body, code):
    answer = client.post("/v1/search", json=body)
    assert (answer.status_code, answer.json()["code"]) == (400, code)


def test_a_cursor_of_another_request_is_foreign(client):
    cursor = search(client, "install the command line", limit=1).json()["nextCursor"]
    assert cursor
    assert search(client, "install the command line", limit=1, cursor=cursor).status_code == 200
    assert search(client, "colours", limit=1, cursor=cursor).json()["code"] == "cursor_foreign"
    assert client.get("/v1/nodes", params={"cursor": cursor}).json()["code"] == "cursor_foreign"


def test_a_graph_query_and_its_refusal(client):
    cypher = "MATCH (a:Page)-[:xref]->(b:Page) RETURN a.uid, b.uid ORDER BY a.uid"
    assert client.post("/v1/query-graph", json={"cypher": cypher}).json()["rows"] == [
        ["clients", "query"],
        ["query", "install"],
    ]
    refused = client.post("/v1/query-graph", json={"cypher": "MATCH (a)\nDETACH DELETE a"})
    assert (refused.status_code, refused.json()["code"], refused.json()["line"]) == (422, "read_only", 2)


def test_facets_count_what_a_listing_holds(client):
    listed = client.get("/v1/nodes", params={"filter": "kind=page", "facet": "kind"}).json()
    assert listed["facets"]["kind"]["page"] == listed["total"] == len(PAGES) + 1


def test_the_console_shows_it(client):
    page = client.get("/", params={"q": "peculiar identifiers"})
    assert page.status_code == 200
    assert "Odd &lt;b&gt;title&lt;/b&gt; &amp; &#39;quotes&#39;" in page.text
    assert client.get("/node", params={"uid": ODD_UID}).status_code == 200
    assert client.get("/node", params={"uid": "nobody"}).status_code == 404
    assert client.get("/", params={"q": "a\u0000"}).status_code == 400
    assert client.get("/graph", params={"cypher": "MATCH (a) DELETE a"}).status_code == 422


def test_no_request_breaks_it(url):
    names = [name for name in CHECKS.get_all_names() if name != "positive_data_acceptance"]
    checks = [CHECKS.get_one(name) for name in names]
    operations = [found.ok() for found in schemathesis.openapi.from_url(f"{url}/openapi.json").get_all_operations()]
    assert len(operations) == len(catalogue.TOOLS) + 11
    for operation in operations:

        @given(case=operation.as_strategy())
        @hypothesis_settings(
            max_examples=25, derandomize=True, database=None, deadline=None, suppress_health_check=list(HealthCheck)
        )
        def holds(case):
            case.call_and_validate(checks=checks)

        holds()
