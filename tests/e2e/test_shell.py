"""Signing in and out, and the shell around the pages, in a real browser."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from db.people.accounts import revoke_sessions
from db.projects import create_project
from tests.e2e.conftest import NewPage, screenshot, sign_in_by_form
from tests.servers import RunningServer, running_server

pytestmark = pytest.mark.e2e


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("home")) as running:
        create_project(running.db, running.admin, "Energy reports")
        create_project(running.db, running.admin, "Harbour finance")
        running.person("ana", default_role="annotator")
        yield running


def _watch(page: Page, server: RunningServer) -> list[str]:
    """What the page asks of other servers, asks in vain, and what its security policy refuses: should stay empty."""
    found: list[str] = []
    ours = (server.url, server.url.replace("http", "ws"), "data:", "blob:")
    page.on("request", lambda request: None if request.url.startswith(ours) else found.append(request.url))
    page.on("response", lambda answer: found.append(answer.url) if answer.status >= 400 else None)
    page.on("console", lambda line: found.append(line.text) if "Content Security Policy" in line.text else None)
    page.on("pageerror", lambda error: found.append(str(error)))
    return found


@pytest.mark.parametrize("dark", [False, True])
def test_the_pages_ask_nothing_of_other_servers_and_nothing_in_vain(
    server: RunningServer, new_page: NewPage, dark: bool
) -> None:
    page = new_page(dark=dark)
    problems = _watch(page, server)
    page.goto(f"{server.url}/people")
    assert "/sign-in" in page.url
    screenshot(page, f"sign-in-{'dark' if dark else 'light'}")
    sign_in_by_form(page, server, "admin")
    places = (
        ("Home", "Work", "four steps to"),
        ("People", "Administration", "Add people"),
        ("Audit", "Administration", "session opened"),
    )
    for name, group, text in places:
        page.get_by_role("link", name=group, exact=True).click()
        page.get_by_role("link", name=name, exact=True).click()
        expect(page.get_by_text(text).first).to_be_visible()
        page.wait_for_timeout(500)
        screenshot(page, f"{name.lower()}-{'dark' if dark else 'light'}")
    page.get_by_role("link", name="People", exact=True).click()
    page.get_by_role("textbox", name="One a line: name, role").fill("zoe")
    page.get_by_role("button", name="Preview").click()
    add = page.get_by_role("button", name="Add 1 person", exact=True).locator("p")
    expected = "rgb(16, 32, 44)" if dark else "rgb(255, 255, 255)"
    expect(add).to_have_css("color", expected)  # what can be read on the accent of this theme
    assert problems == []


def test_one_comes_back_to_the_page_that_was_asked_for(server: RunningServer, new_page: NewPage) -> None:
    page = new_page()
    page.goto(f"{server.url}/audit?project=2")
    page.get_by_label("Name").fill("admin")
    page.get_by_label("Password", exact=True).fill("wrong password")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_contain_text("The name or the password is wrong")
    page.get_by_label("Password", exact=True).fill("four plain words here")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Audit")).to_be_visible()
    assert page.url.endswith("/audit?project=2")
    expect(page.get_by_role("combobox", name="Project").first).to_have_value("Harbour finance")


def test_signing_out_says_what_still_waits_in_this_browser(server: RunningServer, new_page: NewPage) -> None:
    page = new_page()
    sign_in_by_form(page, server, "ana")
    page.get_by_role("button", name="ana").click()
    page.get_by_role("link", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign out", exact=True)).to_be_visible()
    person_id = page.evaluate("document.querySelector('script').textContent.match(/=== '(\\d+)'/)[1]")
    page.evaluate(f"localStorage.setItem('assay.outbox.1/{person_id}/7/0001', '{{}}')")
    page.evaluate("localStorage.setItem('assay.outbox.1/987654/7/0001', '{}')")  # somebody else's, at the same browser
    page.reload()
    expect(page.get_by_role("status")).to_contain_text("1 submitted item is still waiting")
    page.get_by_role("button", name="Sign out and leave it waiting").click()
    page.wait_for_url("**/sign-in")
    page.goto(f"{server.url}/people")
    assert page.url.endswith("/sign-in?next=/people")
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.startsWith('assay.outbox')).length") == 2


def test_a_session_that_ends_while_a_page_is_open_leads_to_signing_in(server: RunningServer, new_page: NewPage) -> None:
    page = new_page()
    sign_in_by_form(page, server, "ana")
    expect(page.get_by_role("heading", name="Home")).to_be_visible()
    revoke_sessions(server.db, server.admin, "ana")
    page.get_by_role("button", name="ana").click()
    page.get_by_role("link", name="Password and sessions").click()
    expect(page.get_by_role("heading", name="Signed out")).to_be_visible()
    page.get_by_role("link", name="Sign in").click()
    expect(page.get_by_label("Password", exact=True)).to_be_visible()


def test_the_shell_fits_a_tablet(server: RunningServer, new_page: NewPage, tmp_path: Path) -> None:
    page = new_page(width=720, height=900)
    sign_in_by_form(page, server, "admin")
    expect(page.get_by_role("heading", name="Home")).to_be_visible()
    page.wait_for_timeout(500)
    screenshot(page, "home-tablet")
    wide = page.evaluate("document.documentElement.scrollWidth")
    assert wide <= 720
    person, project = (page.locator(f".st-key-assay-{name}").bounding_box() for name in ("person", "project"))
    assert person is not None
    assert project is not None
    assert project["x"] + project["width"] <= person["x"]
