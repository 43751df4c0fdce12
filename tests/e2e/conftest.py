"""A real browser for tests that use the app as a person does; screenshots go to tests/artefacts/."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, Playwright, expect, sync_playwright
from playwright.sync_api import Error as PlaywrightError

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


class Windows:
    """Windows of the browser, each with a profile of its own, that tests have one after the other.

    A new profile has to load and compile all of Streamlit, which costs more than most tests. Whoever has a window next
    finds a plain page in it: no cookies, nothing stored, no routes or listeners, and the system's own clock.
    """

    def __init__(self, browser: Browser) -> None:
        self._browser = browser
        self._free: dict[bool, list[Page]] = {False: [], True: []}
        self._listeners: dict[Page, list[tuple[Any, Any]]] = {}

    def take(self, *, touch: bool) -> Page:
        return self._free[touch].pop() if self._free[touch] else self.make(touch=touch)

    def make(self, *, touch: bool) -> Page:
        page = self._browser.new_context(has_touch=touch, is_mobile=touch).new_page()
        page.set_default_timeout(PATIENCE_MS)
        listeners: list[tuple[Any, Any]] = []
        listen = page.on

        def on(event: Any, listener: Any) -> None:
            listeners.append((event, listener))
            listen(event, listener)

        page.on = on  # type: ignore[method-assign,assignment]
        self._listeners[page] = listeners
        return page

    def give_back(self, page: Page, *, touch: bool) -> None:
        """Empty it for the next test; one that cannot show a plain page (its server is gone) is thrown away."""
        try:
            self._empty(page)
        except PlaywrightError:
            self.close(page)
        else:
            self._free[touch].append(page)

    def close(self, page: Page) -> None:
        del self._listeners[page]
        page.context.close()

    def _empty(self, page: Page) -> None:
        context = page.context
        listeners = self._listeners[page]
        while listeners:
            page.remove_listener(*listeners.pop())
        page.unroute_all(behavior="ignoreErrors")
        context.set_offline(False)
        for other in context.pages:
            if other is not page:
                other.close()
        # One of the same site, so that the process which has compiled everything stays.
        page.goto(page.evaluate("location.origin") + "/healthz", timeout=5_000)
        context.clear_cookies()
        context.clear_permissions()
        page.mouse.move(0, 0)
        own = page.evaluate("() => { localStorage.clear(); sessionStorage.clear(); return `${Date}`; }")
        assert "[native code]" in own, "a test that turns the clock asks for new_page(fresh=True)"


@pytest.fixture(scope="session")
def windows(browser: Browser) -> Windows:
    return Windows(browser)


@pytest.fixture
def new_page(windows: Windows) -> Iterator[NewPage]:
    """Makes a page in a browser profile of its own, in which nothing of other tests is to be found.

    `fresh` is for tests that cannot leave the page as it was (the clock, scripts that come before ours), and for those
    about everything that is sent: nothing is in the browser's cache then.
    """
    given: list[tuple[Page, bool, bool]] = []

    def make(
        *, dark: bool = False, width: int = 1440, height: int = 900, touch: bool = False, fresh: bool = False
    ) -> Page:
        page = windows.make(touch=touch) if fresh else windows.take(touch=touch)
        given.append((page, touch, fresh))
        page.set_viewport_size({"width": width, "height": height})
        page.emulate_media(color_scheme="dark" if dark else "light")
        return page

    yield make
    for page, touch, fresh in given:
        if fresh:
            windows.close(page)
        else:
            windows.give_back(page, touch=touch)


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


def another_page(page: Page) -> Page:
    """A page in the same profile, of the same size and theme, that has loaded nothing: every body can be read."""
    dark = page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches")
    other = page.context.new_page()
    if page.viewport_size is not None:
        other.set_viewport_size(page.viewport_size)
    other.emulate_media(color_scheme="dark" if dark else "light")
    return other


def turn(page: Page, theme: Literal["dark", "light"]) -> None:
    """Turn the page's theme, and wait until its frame has it."""
    page.emulate_media(color_scheme=theme)
    expect(page.locator("[data-theme]").first).to_have_attribute("data-theme", theme)


def screenshot(page: Page, name: str) -> Path:
    """Keep a picture of the page as an artefact of the test run."""
    ARTEFACTS.mkdir(exist_ok=True)
    path = ARTEFACTS / f"{name}.png"
    page.screenshot(path=path)
    return path
