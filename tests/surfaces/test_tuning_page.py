"""The console's page of pinned results and synonyms."""

import html
import re

import httpx
import pytest

from service.domain.tuning import PinnedResult, ReplaceTuningRequest, RollbackTuningRequest, Synonym
from tests.surfaces.fake_toolbox import TUNING, FakeToolbox

pytestmark = pytest.mark.anyio


def made(toolbox: FakeToolbox) -> list[object]:
    return [one for one in toolbox.asked if isinstance(one, ReplaceTuningRequest | RollbackTuningRequest)]


async def test_the_page_shows_what_is_tuned_escaped(client: httpx.AsyncClient) -> None:
    page = await client.get("/tuning")
    assert page.status_code == 200
    for text in ("rank fusion", "the best there is", "k8s, kubernetes", "azure kubernetes service", "2099-12-31"):
        assert text in page.text
    assert "<script>alert" not in page.text
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in page.text


async def test_a_result_is_pinned_beside_the_others(client: httpx.AsyncClient, toolbox: FakeToolbox) -> None:
    form = {"action": "pin", "words": "swap slots", "uid": "a b", "place": "2", "match": "exact", "reason": "asked"}
    answer = await client.post("/tuning", data=form)
    assert (answer.status_code, answer.headers["location"]) == (303, "/tuning?saved=4")
    entry = PinnedResult(words="swap slots", uid="a b", place=2, match="exact")
    expected = ReplaceTuningRequest(version=3, pins=[*TUNING.pins, entry], synonyms=TUNING.synonyms, reason="asked")
    assert made(toolbox) == [expected]


async def test_each_form_of_the_page_takes_its_own_entry_away(client: httpx.AsyncClient, toolbox: FakeToolbox) -> None:
    page = await client.get("/tuning")
    entries = [html.unescape(one) for one in re.findall(r'name="entry" value="([^"]*)"', page.text)]
    assert len(entries) == 4
    for number, entry in enumerate(entries):
        action = "unpin" if number < 2 else "no synonym"
        assert (await client.post("/tuning", data={"action": action, "entry": entry})).status_code == 303
    left = [(request.pins, request.synonyms) for request in made(toolbox)]
    pins, synonyms = TUNING.pins, TUNING.synonyms
    assert left == [(pins[1:], synonyms), (pins[:1], synonyms), (pins, synonyms[1:]), (pins, synonyms[:1])]


async def test_a_synonym_is_added_and_a_version_brought_back(client: httpx.AsyncClient, toolbox: FakeToolbox) -> None:
    await client.post("/tuning", data={"action": "synonym", "terms": "a b , c,", "of": "d", "workspace": "other"})
    answer = await client.post("/tuning", data={"action": "rollback", "to": "1", "version": "3"})
    assert answer.headers["location"] == "/tuning?saved=4"
    added, back = made(toolbox)
    assert (added.workspace, added.synonyms[-1]) == ("other", Synonym(terms=["a b", "c"], of="d"))
    assert back == RollbackTuningRequest(to=1, version=3)


@pytest.mark.parametrize(
    ("form", "status"),
    [
        ({}, 400),
        ({"action": "format"}, 400),
        ({"action": "pin", "words": "a", "uid": "b", "place": "x"}, 400),
        ({"action": "pin", "words": "a", "uid": "b", "until": "tomorrow"}, 400),
        ({"action": "pin", "words": "\0", "uid": "b"}, 400),
        ({"action": "unpin", "entry": "{}"}, 400),
        ({"action": "unpin", "entry": "["}, 400),
        ({"action": "synonym", "terms": " , "}, 400),
        ({"action": "rollback", "to": "1"}, 400),
        ({"action": "rollback", "to": "1", "version": "2"}, 412),
        ({f"x{number}": "1" for number in range(99)}, 400),
    ],
)
async def test_a_form_that_is_none_changes_nothing_and_says_so(
    client: httpx.AsyncClient, toolbox: FakeToolbox, form: dict[str, str], status: int
) -> None:
    answer = await client.post("/tuning", data=form)
    assert answer.status_code == status
    assert "rank fusion" in answer.text
    assert not [one for one in made(toolbox) if isinstance(one, ReplaceTuningRequest)]


async def test_other_sites_pages_tune_nothing(client: httpx.AsyncClient, toolbox: FakeToolbox) -> None:
    form = {"action": "pin", "words": "a", "uid": "b"}
    answer = await client.post("/tuning", data=form, headers={"Origin": "https://evil.example"})
    assert answer.status_code == 403
    assert made(toolbox) == []
