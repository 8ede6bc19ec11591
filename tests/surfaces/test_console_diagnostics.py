"""The page of the last publish's diagnostics: what it shows, what narrows it, and who may see it."""

import html
import re

import httpx
import pytest
from starlette.datastructures import QueryParams

from service.domain.results import DiagnosticsResult
from service.settings import Settings
from service.surfaces.application import application
from service.surfaces.console.diagnostics import PAGE_SIZE, DiagnosticsLink
from tests.surfaces.fake_toolbox import DIAGNOSTICS, FakeToolbox

pytestmark = pytest.mark.anyio


def places(page: httpx.Response) -> list[str]:
    assert page.status_code == 200
    return [html.unescape(place) for place in re.findall(r'<code class="place">(.*?)</code>', page.text)]


async def test_every_finding_stands_with_its_place_and_what_to_do(client):
    page = await client.get("/diagnostics")
    assert places(page) == [
        ".openpublishing.redirection.json:4:1",
        "articles/fusion.md:12:1",
        "articles/graph.md:7:1",
    ]
    assert page.text.count("Did you mean manual.page-1?") == 3
    assert "<b>" not in page.text
    assert "&lt;b&gt;xref_broken&lt;/b&gt;" in page.text
    assert "1 more, of the least grave, were not kept" in page.text
    assert 'aria-current="page">Diagnostics' in page.text


@pytest.mark.parametrize(
    ("query", "shown"),
    [
        ("severity=error", [".openpublishing.redirection.json:4:1"]),
        ("code=xref_broken", ["articles/fusion.md:12:1", "articles/graph.md:7:1"]),
        ("file=GRAPH", ["articles/graph.md:7:1"]),
        ("severity=warning&code=redirect_loop", []),
        ("file=%3Cscript%3E", []),
        ("page=2", []),
        ("page=0&severity=error", [".openpublishing.redirection.json:4:1"]),
        ("page=9999999999&severity=error", [".openpublishing.redirection.json:4:1"]),
        ("page=x&code=%00", []),
    ],
)
async def test_severity_code_and_file_narrow_it(client, query, shown):
    page = await client.get(f"/diagnostics?{query}")
    assert places(page) == shown
    assert "<script>" not in page.text


@pytest.mark.parametrize("severity", ["bogus", "Error", "errors", " ", "<script>"])
async def test_a_severity_that_there_is_none_of_is_refused_with_those_that_there_are(client, severity):
    page = await client.get("/diagnostics", params={"severity": severity})
    assert page.status_code == 400
    assert "Severities: error, warning, note" in html.unescape(page.text)
    assert "<script>" not in page.text


async def test_the_counts_lead_to_their_kind(client):
    page = await client.get("/diagnostics?file=articles")
    links = [html.unescape(link) for link in re.findall(r'<li><a href="(/diagnostics\?[^"]*)"', page.text)]
    assert links == [
        "/diagnostics?severity=error&code=redirect_loop&file=articles",
        "/diagnostics?severity=warning&code=xref_broken&file=articles",
    ]
    assert places(await client.get(links[1])) == ["articles/fusion.md:12:1", "articles/graph.md:7:1"]


async def test_many_come_page_by_page(client, toolbox, monkeypatch):
    [one, *_] = DIAGNOSTICS["diagnostics"]
    many = [one | {"line": line} for line in range(1, 2 * PAGE_SIZE + 2)]
    told = DiagnosticsResult.model_validate(DIAGNOSTICS | {"diagnostics": many})

    async def diagnostics(_self, _principal):
        return told

    monkeypatch.setattr(FakeToolbox, "diagnostics", diagnostics)
    seen: list[str] = []
    address = "/diagnostics?severity=error"
    for _ in range(3):
        page = await client.get(address)
        seen += places(page)
        after = re.search(r'rel="next" href="([^"]*)"', page.text)
        address = html.unescape(after[1]) if after else ""
    assert seen == [f"{one['file']}:{line}:1" for line in range(1, 2 * PAGE_SIZE + 2)]
    assert address == ""


async def test_before_the_first_publish_and_without_findings_it_says_so(client, monkeypatch):
    async def nothing(_self, _principal):
        return DiagnosticsResult(published_at="", content_root="", docsets=[], counts=[], diagnostics=[])

    async def clean(_self, _principal):
        return DiagnosticsResult(published_at="2026-01-01", content_root="c", docsets=["d"], counts=[], diagnostics=[])

    monkeypatch.setattr(FakeToolbox, "diagnostics", nothing)
    assert "Nothing was published yet" in (await client.get("/diagnostics")).text
    monkeypatch.setattr(FakeToolbox, "diagnostics", clean)
    assert "Nothing to mend." in (await client.get("/diagnostics")).text


async def test_with_authentication_it_is_for_operators_alone(toolbox):
    app = application(toolbox, Settings(authentication="required"), owner_token="t")
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://localhost") as client:
        refused = await client.get("/diagnostics", headers={"Accept": "application/json"})
    assert refused.status_code in (401, 403)
    assert "articles/" not in refused.text


async def test_the_owner_reads_them_over_rest(client):
    from tests.surfaces.conftest import OWNER_TOKEN

    answer = await client.get("/v1/diagnostics", headers={"Cogitave-Query-Owner": OWNER_TOKEN})
    assert answer.json()["counts"][1] == {"severity": "warning", "code": "xref_broken", "count": 3}
    assert (await client.get("/v1/diagnostics")).status_code in (401, 403)


@pytest.mark.parametrize("query", ["", "severity=error&code=a&file=x%20y&page=3", "file=%26%3D"])
def test_an_address_reads_back(query):
    link = DiagnosticsLink.read(QueryParams(query))
    assert DiagnosticsLink.read(QueryParams(str(link).partition("?")[2])) == link
