"""The estate for publishers, over a toolbox whose answers are known: what leaves, and how it is named and streamed."""

import asyncio
import json
from urllib.parse import quote

import httpx
import pytest
import yaml

from service.domain.errors import CursorStale, EngineUnavailable
from service.domain.principal import Principal, Scope
from service.domain.requests import CatalogRequest, EstateRequest, NodeRequest
from service.settings import Settings
from service.surfaces.application import application
from service.surfaces.content.xref_map import quoted
from service.surfaces.dependencies import principal
from service.tools import estate
from tests.surfaces.fake_toolbox import ROOT, WINDOW, FakeToolbox, a_document, search_result
from tests.surfaces.test_rest import ODD_UIDS

pytestmark = [pytest.mark.anyio, pytest.mark.timeout(30)]

CONDITIONAL = [
    "/content/manual.page-1",
    "/content",
    "/catalog",
    "/xrefmap.yml",
    "/llms.txt",
    "/v1/search?q=fusion",
    "/v1/nodes",
    "/v1/nodes/manual.page-1",
]


async def test_a_document_leaves_in_the_estates_own_json(client, toolbox):
    answer = await client.get("/content/manual.page-1", params={"locale": "de-de"})
    assert toolbox.asked == [NodeRequest(uid="manual.page-1", locale="de-de")]
    expected = a_document("manual.page-1", "de-de").model_dump(mode="json", by_alias=True, exclude_none=True)
    assert answer.json() == expected
    assert answer.json()["durationInMinutes"] == 4
    assert answer.json()["partOf"] == [
        {"uid": "manual", "locale": "de-de", "kind": "module", "title": "Manual", "href": "https://example.org/manual"}
    ]
    assert "quiz" not in answer.json()


@pytest.mark.parametrize("uid", ODD_UIDS)
async def test_a_uid_round_trips_through_the_path(client, toolbox, uid):
    answer = await client.get(f"/content/{quote(uid, safe='')}")
    assert toolbox.asked == [NodeRequest(uid=uid)]
    assert answer.json()["uid"] == uid


async def test_an_unknown_document_is_404(client):
    answer = await client.get("/content/nobody", headers={"If-None-Match": "*"})
    assert (answer.status_code, answer.json()["code"]) == (404, "node_unknown")


@pytest.mark.parametrize("path", CONDITIONAL)
async def test_an_answer_that_the_caller_has_is_not_sent_again(client, toolbox, path):
    first = await client.get(path)
    tag = first.headers["etag"]
    assert first.headers["cache-control"] == "private, no-cache"
    assert "Authorization" in first.headers["vary"]
    asked = len(toolbox.asked)
    opaque = tag.removeprefix("W/")
    for wanted in (tag, opaque, f"W/{opaque}", f'"other", {tag}', f'W/"a,b" , "c",{tag}'):
        again = await client.get(path, headers={"If-None-Match": wanted})
        assert (again.status_code, again.content) == (304, b""), wanted
        assert again.headers["etag"] == tag
        assert again.headers["cache-control"] == "private, no-cache"
    assert len(toolbox.asked) == asked, "the work was done although its answer was known"
    for wanted in ('"other"', opaque.strip('"'), f'"x{opaque[1:]}', "", '"unbalanced'):
        assert (await client.get(path, headers={"If-None-Match": wanted})).status_code == 200, wanted


async def test_links_of_what_passes_have_weak_tags_and_documents_strong_ones(client):
    for path in CONDITIONAL:
        tag = (await client.get(path)).headers["etag"]
        assert tag.startswith("W/") == path.startswith("/v1/"), path


async def test_any_answer_matches_the_star(client):
    answer = await client.get("/content/manual.page-1", headers={"If-None-Match": "*"})
    assert (answer.status_code, answer.content) == (304, b"")


async def test_a_tag_is_of_one_snapshot_one_request_and_one_visibility_class(toolbox, settings):
    asking = Principal("someone", scopes=frozenset(Scope))
    app = application(toolbox, settings)
    app.dependency_overrides[principal] = lambda: asking
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://service") as client:

        async def tag(path):
            return (await client.get(path)).headers["etag"]

        tags = [await tag(path) for path in CONDITIONAL]
        tags += [
            await tag("/content/other"),
            await tag("/content/other?locale=de-de"),
            await tag("/catalog?type=units"),
        ]
        assert len(set(tags)) == len(tags)
        asking = Principal("colleague", scopes=frozenset(Scope))
        assert [await tag(path) for path in CONDITIONAL] == tags[: len(CONDITIONAL)]
        asking = Principal("insider", audiences=frozenset({"staff"}), scopes=frozenset(Scope))
        assert not {await tag(path) for path in CONDITIONAL} & set(tags)


async def test_another_setting_gives_another_tag(toolbox):
    tags = set()
    for settings in (Settings(), Settings(fusion_k=61)):
        transport = httpx.ASGITransport(application(toolbox, settings))
        async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
            tags.add((await client.get("/v1/search?q=fusion")).headers["etag"])
    assert len(tags) == 2


async def test_an_answer_that_lacks_something_is_kept_by_nobody(client, toolbox):
    toolbox.answer = search_result([], degraded=["vector: down"])
    answer = await client.get("/v1/search?q=fusion")
    assert "etag" not in answer.headers
    assert answer.headers["cache-control"] == "no-store"


@pytest.mark.parametrize("state", [{"publishing": True}, {"degraded": ["graph: it does not answer"]}])
async def test_while_no_snapshot_is_known_to_answer_nothing_has_a_name(client, toolbox, monkeypatch, state):
    before = (await client.get("/content/manual.page-1")).headers["etag"]
    call = toolbox.call

    async def unsettled(tool, request, caller):
        answer = await call(tool, request, caller)
        return answer.model_copy(update=state) if tool is estate.SNAPSHOT else answer

    monkeypatch.setattr(toolbox, "call", unsettled)
    answer = await client.get("/content/manual.page-1", headers={"If-None-Match": before})
    assert answer.status_code == 200
    assert "etag" not in answer.headers


@pytest.mark.parametrize("path", ["/content/manual.page-1", "/content", "/catalog", "/xrefmap.yml", "/v1/nodes"])
async def test_head_is_get_without_its_body(client, path):
    get, head = await client.get(path), await client.head(path)
    assert head.status_code == 200
    assert head.content == b""
    passing = {"content-length", "transfer-encoding"}
    assert {k: v for k, v in head.headers.items() if k not in passing} == {
        k: v for k, v in get.headers.items() if k not in passing
    }


async def test_head_of_a_stream_reads_one_page_only(client, toolbox):
    await client.head("/content")
    assert len(toolbox.asked) == 1


async def test_head_of_nothing_is_404(client):
    answer = await client.head("/content/nobody")
    assert (answer.status_code, answer.content) == (404, b"")


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/content/a", "GET, HEAD, OPTIONS"),
        ("/catalog", "GET, HEAD, OPTIONS"),
        ("/v1/search", "GET, HEAD, OPTIONS, POST"),
        ("/v1/fetch", "OPTIONS, POST"),
    ],
)
async def test_options_say_what_a_path_takes(client, path, methods):
    answer = await client.options(path)
    assert (answer.status_code, answer.content) == (204, b"")
    assert answer.headers["allow"] == methods
    assert "access-control-allow-origin" not in answer.headers


def lines_of(answer):
    return [json.loads(line) for line in answer.text.splitlines()]


async def test_the_stream_holds_every_document_between_a_beginning_and_an_end(client):
    answer = await client.get("/content", params={"filter": "kind=page"})
    assert answer.headers["content-type"] == "application/x-ndjson"
    first, *documents, last = lines_of(answer)
    assert first == {"begin": {"contentRoot": ROOT}}
    assert [line["document"]["uid"] for line in documents] == [f"manual.page-{n}" for n in range(1, WINDOW + 1)]
    assert last == {"end": {"documents": WINDOW}}


class Moving(FakeToolbox):
    """Its third page is of another snapshot; or an engine fails there."""

    error: Exception = CursorStale("The estate was published anew since this cursor was made.")

    async def call(self, tool, request, caller):
        if getattr(request, "cursor", None) == "3":
            raise self.error
        return await super().call(tool, request, caller)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (CursorStale("Anew."), "snapshot_replaced"),
        (EngineUnavailable("kglite", "closed"), "engine_unavailable"),
    ],
)
async def test_a_stream_that_can_not_go_on_says_so_in_its_last_line(error, code):
    toolbox = Moving()
    toolbox.error = error
    transport = httpx.ASGITransport(application(toolbox, Settings()))
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        lines = lines_of(await client.get("/content"))
    assert [line["document"]["uid"] for line in lines[1:-1]] == ["manual.page-1", "manual.page-2"]
    assert lines[-1]["problem"]["code"] == code


async def test_what_is_refused_before_a_stream_begins_keeps_its_status(client, toolbox):
    for path in ("/content?filter=kin%3Dpage", "/content?filter=kind%3Dpages"):
        assert (await client.get(path)).status_code == 400
    toolbox.failure = EngineUnavailable("kglite", "closed")
    for path in ("/content", "/xrefmap.yml", "/llms.txt"):
        assert (await client.get(path)).status_code == 503


async def test_the_cross_reference_map_is_one_that_docfx_reads(client, toolbox):
    answer = await client.get("/xrefmap.yml")
    assert answer.headers["content-type"] == "application/yaml"
    assert answer.text.startswith("### YamlMime:XRefMap\n")
    read = yaml.safe_load(answer.text)
    assert read["references"] == [
        {"uid": f"manual.page-{n}", "name": "Page 1", "href": f"/page-{n}"} for n in range(1, WINDOW + 1)
    ]
    assert read["sorted"] is False
    assert toolbox.asked[0] == EstateRequest(
        filter={"kind": ["page", "module", "unit", "learningPath"], "locale": ["en-us"]}
    )


ODD_TEXTS = [
    *ODD_UIDS,
    "\x7f\x85\u2028\ufeff\uffff",
    "\x00\x1f",
    "- {a: [b, 'c']} #d",
    "~",
    "null",
    "1e3",
    "\ud800",
    "é\U0001f980",
]


@pytest.mark.parametrize("text", ODD_TEXTS)
def test_any_text_is_a_scalar_of_the_map(text):
    expected = text.replace("\ud800", "\ufffd")
    assert yaml.safe_load(f"- uid: {quoted(text)}\n  href: x\n") == [{"uid": expected, "href": "x"}]


async def test_the_index_for_language_models_is_markdown_with_links(client):
    answer = await client.get("/llms.txt")
    assert answer.headers["content-type"] == "text/plain; charset=utf-8"
    lines = answer.text.splitlines()
    assert lines[0] == "# Documentation"
    assert [line for line in lines if line.startswith("## ")] == ["## Learning paths", "## Modules", "## Pages"]
    assert "- [Page 1](/page-1)" in lines


async def test_the_index_is_cut_at_the_size_of_an_answer_and_says_so():
    summary = "word " * 4_000

    class Wordy(FakeToolbox):
        async def call(self, tool, request, caller):
            answer = await super().call(tool, request, caller)
            if tool is estate.SUMMARIES:
                nodes = [node.model_copy(update={"summary": summary}) for node in answer.nodes]
                answer = answer.model_copy(update={"nodes": nodes})
            return answer

    transport = httpx.ASGITransport(application(Wordy(), Settings(result_bytes=65_536)))
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as client:
        text = (await client.get("/llms.txt")).text
    assert "This list is cut at 65,536 bytes" in text.splitlines()[-1]
    assert len(text.encode()) < 65_536 + 1_000


CATALOG = [
    ("", {"entries": True, "filter": {"kind": ["learningPath", "module", "unit", "page"]}}),
    ("type=modules", {"filter": {"kind": ["module"]}, "vocabularies": []}),
    ("type=modules,units&type=levels", {"filter": {"kind": ["module", "unit"]}, "vocabularies": ["level"]}),
    ("type=products", {"entries": False, "filter": {}, "vocabularies": ["product"]}),
    (
        "level=beginner,%20intermediate&role=developer&product=azure&subject=cloud&locale=de-de&type=units",
        {
            "filter": {
                "kind": ["unit"],
                "level": ["beginner", "intermediate"],
                "role": ["developer"],
                "product": ["azure"],
                "topic": ["cloud"],
                "locale": ["de-de"],
            }
        },
    ),
    ("uid=a,b&uid=List(T,U)", {"uids": ["a,b", "List(T,U)", "a", "b", "List(T", "U)"]}),
    ("last_modified=2026-01-31", {"since": "2026-01-31", "before": None}),
    ("last_modified=gte%202026-01-31", {"since": "2026-01-31", "before": None}),
    ("last_modified=gt+2026-01-31", {"since": "2026-02-01", "before": None}),
    ("last_modified=lt%202026-01-31", {"since": None, "before": "2026-01-31"}),
    ("last_modified=lte%202026-01-31", {"since": None, "before": "2026-02-01"}),
    ("last_modified=eq%202026-01-31", {"since": "2026-01-31", "before": "2026-02-01"}),
    ("last_modified=gte+2026-01-01&last_modified=lt+2026-02-01", {"since": "2026-01-01", "before": "2026-02-01"}),
    ("last_modified=gt%209999-12-31", {"since": "9999-12-31"}),
    ("limit=5&cursor=7", {"limit": 5, "cursor": "7"}),
]


@pytest.mark.parametrize(("query", "expected"), CATALOG)
async def test_a_catalog_is_asked_in_the_words_of_learns(client, toolbox, query, expected):
    assert (await client.get(f"/catalog?{query}")).status_code == 200
    (asked,) = toolbox.asked
    assert isinstance(asked, CatalogRequest)
    assert {name: getattr(asked, name) for name in expected} == expected


async def test_a_list_that_was_not_asked_for_is_left_out(client):
    answer = await client.get("/catalog?type=levels")
    assert answer.json()["levels"] == [{"id": "beginner", "count": WINDOW}]
    assert "units" not in answer.json()


async def test_links_lead_through_the_catalog(client):
    uids, url = [], "/catalog?type=units&level=a%26b"
    while url:
        page = await client.get(url)
        uids += [unit["uid"] for unit in page.json()["units"]]
        url = page.links.get("next", {}).get("url") and str(page.url.join(page.links["next"]["url"]))
    assert uids == [f"manual.page-{n}" for n in range(1, WINDOW + 1)]


async def test_a_reader_who_takes_nothing_is_given_up():
    toolbox = FakeToolbox()
    app = application(toolbox, Settings(stream_silence=50))
    sent = []

    async def send(message):
        sent.append(message)
        if len(sent) > 3:
            await asyncio.Event().wait()

    incoming = [{"type": "http.request", "body": b"", "more_body": False}]

    async def receive():
        if incoming:
            return incoming.pop()
        await asyncio.Event().wait()

    scope = {"type": "http", "method": "GET", "path": "/content", "raw_path": b"/content", "query_string": b""}
    scope |= {"headers": [], "http_version": "1.1", "scheme": "http", "server": ("service", 80), "root_path": ""}
    await asyncio.wait_for(app(scope, receive, send), 10)
    assert all(message.get("more_body", True) for message in sent), "it was never ended as if it were whole"
    assert len(toolbox.asked) < 6, "it went on reading for nobody"
