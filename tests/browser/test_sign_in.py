"""Signing in with a key, as a browser does it: what it sends along with a form is the browser's to say."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from fastapi import FastAPI
from playwright.sync_api import expect

from service.domain.principal import Scope
from service.surfaces.application import application
from service.surfaces.authentication import open_authenticator
from tests.surfaces.access import REQUIRED, MemoryKeyStore
from tests.surfaces.serving import served_opening


@pytest.fixture
def keys():
    return MemoryKeyStore()


@pytest.fixture
def guarded_url(toolbox, keys, judgments):
    @asynccontextmanager
    async def opening() -> AsyncIterator[FastAPI]:
        async with open_authenticator(REQUIRED, keys, owner_token="t") as authenticator:
            yield application(toolbox, REQUIRED, authenticator=authenticator, judgments=judgments)

    with served_opening(opening()) as url:
        yield url


def sign_in(page, key):
    page.get_by_label("Key").fill(key)
    page.keyboard.press("Enter")


def test_a_reader_signs_in_and_goes_on_to_what_was_asked_for(guarded_url, open_page, keys):
    page = open_page(f"{guarded_url}/node?uid=manual.page-1")
    sign_in(page, keys.issue(Scope.SEARCH))
    page.wait_for_url("**/node?uid=manual.page-1")
    expect(page.get_by_role("heading", level=1)).to_have_text("Page")


def test_an_operator_judges_and_signs_out(guarded_url, open_page, keys, judgments):
    page = open_page(f"{guarded_url}/judge?q=fusion")
    sign_in(page, keys.issue(Scope.SEARCH, Scope.OPERATE))
    expect(page.locator(".judging .hit")).to_have_count(10)
    page.get_by_label("2 helps").first.check(force=True)
    page.get_by_role("button", name="Keep the grades").click()
    expect(page.get_by_role("status")).to_contain_text("Kept.")
    assert judgments.count() == (1, 1)
    page.goto(f"{guarded_url}/sign-in")
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign out")).to_have_count(0)
    page.goto(f"{guarded_url}/status")
    page.wait_for_url(re.compile(r"/sign-in\?next="))


def test_a_wrong_key_is_refused_where_it_was_typed(guarded_url, open_page, keys):
    page = open_page(f"{guarded_url}/")
    sign_in(page, keys.issue(Scope.SEARCH) + "x")
    expect(page.get_by_role("alert")).to_be_visible()
    expect(page.get_by_label("Key")).to_be_visible()
