"""A real Chromium, and the console over a toolbox whose answers are known.

Debian's package `chromium` serves; `COGITAVE_QUERY_TEST_CHROMIUM` names another. Without one these tests fail in CI,
and elsewhere are skipped, saying so.
"""

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, sync_playwright

from adapters.embedded.judgments import JudgmentFolder
from service.settings import Settings
from service.surfaces.application import application
from tests.surfaces.fake_toolbox import FakeToolbox
from tests.surfaces.serving import served

FLAGS = (
    "--headless",
    "--no-sandbox",  # CI runs as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
PATIENCE = 10_000
"""Milliseconds after which a page that does not do what it should has failed."""

MISSING = (
    "NO CHROMIUM: the console was NOT tested in a browser. "
    "`apt-get install -y chromium` brings it; COGITAVE_QUERY_TEST_CHROMIUM names one that lies elsewhere."
)

Opener = Callable[..., Page]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if item.path.is_relative_to(os.path.dirname(__file__)):
            item.add_marker(pytest.mark.browser)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """Gone before other tests run: Playwright's own event loop would stand in the way of theirs."""
    chromium = os.environ.get("COGITAVE_QUERY_TEST_CHROMIUM") or shutil.which("chromium")
    if chromium is None:
        if os.environ.get("CI"):
            pytest.fail(MISSING)
        pytest.skip(MISSING)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=list(FLAGS))
        yield browser
        browser.close()


@pytest.fixture
def toolbox() -> FakeToolbox:
    return FakeToolbox()


@pytest.fixture
def judgments(tmp_path: Path) -> JudgmentFolder:
    return JudgmentFolder(tmp_path / "judgments", most=100)


@pytest.fixture
def url(toolbox: FakeToolbox, judgments: JudgmentFolder) -> Iterator[str]:
    with served(application(toolbox, Settings(), judgments=judgments)) as url:
        yield url


@pytest.fixture
def open_page(browser: Browser) -> Iterator[Opener]:
    """Opens an address in a profile of its own. A script error, or a breach of the page's policy, fails the test."""
    contexts, errors = [], []

    def open_page(address: str, **options: object) -> Page:
        context = browser.new_context(**options)
        contexts.append(context)
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda line: errors.append(line.text) if "Content Security Policy" in line.text else None)
        page.goto(address)
        return page

    yield open_page
    for context in contexts:
        context.close()
    assert errors == []
