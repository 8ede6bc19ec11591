"""The console over the real embedded application."""

import httpx
import pytest
from playwright.sync_api import expect

from tests.application import write_estate
from tests.surfaces.serving import served_estate


@pytest.fixture(scope="module")
def url(tmp_path_factory):
    folder = tmp_path_factory.mktemp("console")
    with served_estate(folder / "data", write_estate(folder / "estate")) as url:
        yield url


def test_a_newcomer_types_and_reads_the_page(url, open_page):
    page = open_page(url)
    expect(page.get_by_role("searchbox")).to_be_focused()
    page.keyboard.type("how do I install it")
    expect(page).to_have_url(f"{url}/?q=how+do+I+install+it")
    first = page.locator(".hit").first
    expect(first.locator(".title")).to_have_text("Install the command line")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text("Install the command line")
    expect(page.get_by_text("Download the archive")).to_be_visible()
    page.get_by_role("link", name="Query the graph").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Query the graph")


def test_the_page_and_the_api_say_the_same(url, open_page):
    answer = httpx.get(f"{url}/v1/search", params={"q": "query deadline", "explain": "true"}, timeout=60).json()
    page = open_page(f"{url}/?q=query+deadline")
    assert page.locator(".hit .uid").all_text_contents() == [hit["uid"] for hit in answer["hits"]]
    for shown, hit in zip(page.locator(".hit").all(), answer["hits"], strict=True):
        legs = [
            f"rank {leg['rank']} · vote {leg['vote']:.5f} · score {leg['score']:.3f}" for leg in hit["explain"]["legs"]
        ]
        notes = shown.locator(".note").all_text_contents()
        assert notes[: len(legs)] == legs
        assert notes[len(legs)] == f"{hit['explain']['rrfNormalised']:.4f} of 1"
        text = hit["passage"]["text"]
        marked = [text[start:end] for start, end in hit["passage"]["highlights"]]
        assert shown.locator(".passage mark").all_text_contents() == marked


def test_a_filter_narrows(url, open_page):
    page = open_page(f"{url}/?q=see+the+graph")
    before = page.locator(".hit").count()
    page.get_by_label("library").check()
    page.wait_for_url("**filter=product%3Dlibrary")
    expect(page.locator(".hit .uid")).to_have_text(["clients"])
    assert before > 1
