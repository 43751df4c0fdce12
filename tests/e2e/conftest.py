"""A real browser for tests that use the app as a person does; screenshots go to tests/artefacts/."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, Playwright, expect, sync_playwright

from app.server.web import COOKIE
from db.people.sign_in import one_time_sign_in, use_one_time
from tests.conftest import IN_CI, ROOT
from tests.servers import PASSWORD, RunningServer

ARTEFACTS = ROOT / "tests" / "artefacts"
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
NewPage = Callable[..., Page]
PATIENCE_MS = 20_000  # a page that opens on a busy machine takes longer than Playwright's 5 s
expect.set_options(timeout=PATIENCE_MS)


def find_chromium() -> str | None:
    """The browser's program: ASSAY_TEST_BROWSER, else Chromium or Chrome on the path."""
    named = os.environ.get("ASSAY_TEST_BROWSER")
    programs = [named] if named else ["chromium", "chromium-browser", "google-chrome", "chrome"]
    return next((found for program in programs if program and (found := shutil.which(program))), None)


@pytest.fixture(scope="session")
def playwright() -> Iterator[Playwright]:
    with sync_playwright() as running:
        yield running


@pytest.fixture(scope="session")
def browser(playwright: Playwright) -> Iterator[Browser]:
    program = find_chromium()
    if program is None:
        if IN_CI:
            pytest.fail("Chromium is not installed, which CI must have")
        pytest.skip("no Chromium found (Debian: apt-get install chromium), so nothing is tried in a browser")
    launched = playwright.chromium.launch(executable_path=program, args=FLAGS)
    yield launched
    launched.close()


@pytest.fixture
def new_page(browser: Browser) -> Iterator[NewPage]:
    """Makes a page in a browser profile of its own; what it logs as errors is kept in `page.errors`."""
    contexts = []

    def make(*, dark: bool = False, width: int = 1440, height: int = 900, touch: bool = False) -> Page:
        context = browser.new_context(
            viewport={"width": width, "height": height},
            color_scheme="dark" if dark else "light",
            has_touch=touch,
            is_mobile=touch,
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(PATIENCE_MS)
        return page

    yield make
    for context in contexts:
        context.close()


def sign_in(page: Page, server: RunningServer, name: str) -> None:
    """A session in this page's browser, as the form gives one; opens no page, of which each costs seconds."""
    token = use_one_time(server.db, one_time_sign_in(server.db, server.admin, name))
    page.context.add_cookies([{"name": COOKIE, "value": token, "url": server.url}])


def sign_in_by_form(page: Page, server: RunningServer, name: str) -> None:
    """Sign in through the form, with the keyboard; ends on the way to the start page."""
    page.goto(f"{server.url}/sign-in")
    page.get_by_label("Name").fill(name)
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.keyboard.press("Enter")
    page.wait_for_url(lambda url: "/sign-in" not in url)
    assert any(cookie["name"] == COOKIE for cookie in page.context.cookies())


def screenshot(page: Page, name: str) -> Path:
    """Keep a picture of the page as an artefact of the test run."""
    ARTEFACTS.mkdir(exist_ok=True)
    path = ARTEFACTS / f"{name}.png"
    page.screenshot(path=path)
    return path
