"""Each of these is refused with a problem that says what is wrong: never a 5xx, a hang, or an answer."""

import json

import pytest

from service.settings import Settings

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(20)]

JSON = {"Content-Type": "application/json"}
CAP = Settings().request_bytes

BAD_BODIES = {
    "nothing": (b"", 422),
    "no JSON": (b"text=fusion", 400),
    "JSON cut off": (b'{"text": "fus', 400),
    "no object": (b'["fusion"]', 422),
    "null": (b"null", 422),
    "two documents": (b'{"text":"a"}{"text":"b"}', 400),
    "no UTF-8": (b'{"text": "\xff\xfe"}', 400),
    "UTF-16": ('{"text": "fusion"}'.encode("utf-16"), 400),
    "a lone surrogate, escaped": (b'{"text": "\\ud800"}', 400),
    "a lone surrogate, encoded": (b'{"text": "\xed\xa0\x80"}', 400),
    "NaN": (b'{"text": "a", "limit": NaN}', 400),
    "endless nesting": (b'{"text":' + b"[" * 100_000, 400),
    "deep filters": (b'{"text": "a", "filter": ' + b'{"a":' * 150 + b"1" + b"}" * 151, 422),
    "a number of 5,000 digits": (b'{"text": "a", "limit": ' + b"9" * 5000 + b"}", 400),
    "a limit of 10^400": (b'{"text": "a", "limit": 1' + b"0" * 400 + b"}", 400),
    "a fractional limit": (b'{"text": "a", "limit": 1.5}', 422),
    "a limit in words": (b'{"text": "a", "limit": "ten"}', 422),
    "limit zero": (b'{"text": "a", "limit": 0}', 400),
    "a limit of 10^9": (b'{"text": "a", "limit": 1000000000}', 400),
    "a text that is a list": (b'{"text": ["a"]}', 422),
    "no text": (b"{}", 422),
    "an empty text": (b'{"text": ""}', 400),
    "a blank text": (b'{"text": " \\t\\n"}', 400),
    "a NUL": (b'{"text": "a\\u0000b"}', 400),
    "a NUL in a filter": (b'{"text": "a", "filter": {"kind": ["\\u0000"]}}', 400),
    "an unknown field": (b'{"text": "a", "filters": {"kind": ["page"]}}', 422),
    "an unknown filter": (b'{"text": "a", "filter": {"kin": ["page"]}}', 400),
    "an unknown kind": (b'{"text": "a", "filter": {"kind": ["pages"]}}', 400),
    "a filter that is no list": (b'{"text": "a", "filter": {"kind": "page"}}', 422),
    "a wrong profile": (b'{"text": "a", "profile": {"roles": ["admin"]}}', 422),
    "a body above the cap": (b'{"text": "' + b"a" * CAP + b'"}', 413),
    "ten megabytes": (b" " * 10_000_000, 413),
}


@pytest.mark.parametrize("case", BAD_BODIES)
async def test_a_bad_body_is_refused(client, case):
    body, status = BAD_BODIES[case]
    answer = await client.post("/v1/search", content=body, headers=JSON)
    assert answer.status_code == status
    refused(answer)


async def test_a_body_of_another_type_is_refused(client):
    for content_type in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "x", ""):
        answer = await client.post("/v1/search", content=b'{"text": "a"}', headers={"Content-Type": content_type})
        assert answer.status_code == 415
        assert "application/json" in refused(answer)["detail"]


async def test_json_has_parameters_and_dialects(client):
    for content_type in ("application/json; charset=utf-8", "Application/JSON", "application/cloudevents+json"):
        answer = await client.post("/v1/search", content=b'{"text": "a"}', headers={"Content-Type": content_type})
        assert answer.status_code == 200


BAD_LINKS = {
    "/v1/search": 422,
    "/v1/search?q=": 400,
    "/v1/search?q=%20": 400,
    "/v1/search?q=a&limit=0": 400,
    "/v1/search?q=a&limit=1e3": 422,
    "/v1/search?q=a&limit=ten": 422,
    "/v1/search?q=a&filter=kind": 422,
    "/v1/search?q=a&filter=%3Dpage": 422,
    "/v1/search?q=a&filter=kin%3Dpage": 400,
    "/v1/search?q=a&filter=kind%3Dpages": 400,
    "/v1/search?q=a&fliter=kind%3Dpage": 422,
    "/v1/search?q=a&kind=page": 422,
    "/v1/search?q=a&explain=perhaps": 422,
    "/v1/search?q=a&q=b": 400,
    "/v1/search?q=a&limit=1&limit=2": 400,
    "/v1/search?q=a&explain=true&explain=true": 400,
    "/v1/suggest?q=a&q=a": 400,
    "/v1/nodes?cursor=a&cursor=b": 400,
    "/v1/nodes/manual.page-1?locale=en-us&locale=de-de": 400,
    "/content/manual.page-1?locale=en-us&locale=de-de": 400,
    "/v1/nodes?filter=product%3D": 400,
    "/v1/nodes?limit=-": 422,
    "/v1/nodes?filter=kin%3Dpage": 400,
    "/v1/nodes/nobody": 404,
    "/v1/nodes/nobody?locale=de-de": 404,
    "/v1/search?q=a%00b": 400,
    "/v1/nodes/a%00b": 400,
    "/v1": 404,
    "/v2/search?q=a": 404,
    "/%00": 404,
    "/v1/%2e%2e/%2e%2e/etc/passwd": 404,
}


@pytest.mark.parametrize("link", BAD_LINKS)
async def test_a_bad_link_is_refused(client, link):
    answer = await client.get(link)
    assert answer.status_code == BAD_LINKS[link]
    refused(answer)


async def test_a_parameter_of_one_value_given_twice_is_named_and_one_of_several_is_not(client):
    problem = refused(await client.get("/v1/search?q=a&limit=1&limit=2"))
    assert (problem["code"], "'limit'" in problem["detail"]) == ("parameter_repeated", True)
    for link in (
        "/v1/search?q=a&filter=kind%3Dpage&filter=kind%3Dunit&facet=kind&facet=product",
        "/catalog?type=units&type=modules",
    ):
        assert (await client.get(link)).status_code == 200, link


@pytest.mark.parametrize(
    "link", ["/graphql?query={__typename}&query={__typename}", "/graphql?query={__typename}&variables={}&variables={}"]
)
async def test_a_graphql_link_says_each_thing_once(client, link):
    assert (await client.get(link)).status_code == 400


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "TRACE", "FUSE"])
async def test_a_method_that_no_route_takes_is_refused(client, method):
    answer = await client.request(method, "/v1/search")
    assert answer.status_code == 405
    assert set(answer.headers["allow"].split(", ")) == {"GET", "HEAD", "OPTIONS", "POST"}
    refused(answer)


HONEST = [
    "C#",
    "/b testing",
    "tb-",
    '"unbalanced',
    "node:",
    "*",
    "True or false: is it an editor/IDE?",
    "it's (nearly) a query",
    "🦀",
    "مرحبا بالعالم",
    "the of and",
    "a" * 2000,
    "<script>alert(1)</script>",
    "{{7*7}}",
    "%00%ff",
]


@pytest.mark.parametrize("text", HONEST)
async def test_odd_words_reach_the_tool_unchanged_by_both_ways(client, toolbox, text):
    assert (await client.post("/v1/search", json={"text": text})).status_code == 200
    assert (await client.get("/v1/search", params={"q": text})).status_code == 200
    assert [request.text for request in toolbox.asked] == [text, text]


async def test_a_refusal_does_not_echo_what_was_sent(client):
    body = json.dumps({"text": "a", "x" * 50_000: 1, "filter": {"y" * 50_000: ["z" * 50_000]}})
    unknown = json.dumps({"text": "a", "filter": {"y" * 50_000: ["z"]}})
    for sent in (body, unknown, json.dumps({"text": ["z" * 50_000]})):
        answer = await client.post("/v1/search", content=sent, headers=JSON)
        assert answer.status_code in (400, 422)
        assert len(answer.content) < 2_000


async def test_many_wrong_fields_are_told_in_part(client):
    body = {"text": "a"} | {f"field{number}": 1 for number in range(1000)}
    answer = await client.post("/v1/search", json=body)
    assert len(answer.json()["fields"]) == 10


def refused(answer):
    problem = answer.json()
    assert answer.headers["content-type"] == "application/problem+json"
    assert problem["status"] == answer.status_code
    assert problem["code"]
    assert len(problem["detail"]) > 20
    assert len(answer.content) < 4_000
    return problem
