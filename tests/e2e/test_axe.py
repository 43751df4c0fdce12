"""No page has a serious or critical finding of axe-core, light and dark, in the states that people meet."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect

from app.cli.sample_project import ANNOTATOR, PROJECT, make_sample_project
from app.navigation import ENTRIES, load_pages
from db.people import set_password
from db.projects import find_project
from tests.e2e.conftest import NewPage, sign_in
from tests.e2e.screenshots import addresses
from tests.servers import PASSWORD, RunningServer, running_server

pytestmark = pytest.mark.e2e

GRAVE = {"serious", "critical"}

STREAMLITS_OWN: dict[str, list[str]] = {}
"""Rule → what of Streamlit's own markup it is not asked about, each with the reason."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    home = tmp_path_factory.mktemp("axe")
    with running_server(home) as running:
        make_sample_project(running.db, running.admin, home / "sample", home / "data" / "documents")
        set_password(running.db, running.admin, ANNOTATOR, password=PASSWORD)
        yield running


def findings(page: Page) -> list[str]:
    """What axe finds that is serious or critical: rule, what it says, and where."""
    result: dict[str, Any] = Axe().run(page).response
    found = []
    for rule in result["violations"]:
        if rule["impact"] not in GRAVE:
            continue
        for node in rule["nodes"]:
            where = _flat(node["target"])
            if any(own in where or own in node["html"] for own in STREAMLITS_OWN.get(rule["id"], [])):
                continue
            found.append(f"{rule['id']} ({rule['impact']}): {where}\n    {node['html'][:240]}\n    {_why(node)}")
    return found


def _flat(target: Any) -> str:
    """Where a finding is; within a shadow root it is a list of selectors."""
    return " ".join(_flat(one) for one in target) if isinstance(target, list) else str(target)


def _why(node: dict[str, Any]) -> str:
    return "; ".join(check["message"] for kind in ("any", "all", "none") for check in node[kind])[:300]


def settle(page: Page) -> None:
    """Until the page has drawn itself and nothing moves: colours that fade in have no contrast yet."""
    page.wait_for_load_state("networkidle")
    expect(page.locator('[data-testid="stStatusWidget"]')).to_have_count(0)
    page.wait_for_timeout(900)


def check(page: Page, name: str, into: dict[str, list[str]]) -> None:
    found = findings(page)
    if found:
        into[name] = found


def report(found: dict[str, list[str]]) -> str:
    return "\n".join(f"{name}:\n  " + "\n  ".join(lines) for name, lines in found.items())


@pytest.mark.parametrize("dark", [False, True])
def test_the_pages_of_the_shell(server: RunningServer, new_page: NewPage, dark: bool) -> None:
    page = new_page(dark=dark)
    found: dict[str, list[str]] = {}
    page.goto(f"{server.url}/sign-in")
    check(page, "sign-in", found)
    page.get_by_label("Name").fill("admin")
    page.get_by_label("Password", exact=True).fill("not the password")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert")).to_be_visible()
    check(page, "sign-in refused", found)
    sign_in(page, server, "admin")
    visited = {"annotate", "adjudicate"}
    for name, address in addresses(server).items():
        if name in visited:
            continue
        page.goto(address)
        settle(page)
        check(page, name, found)
        visited.add(name)
    project_id = find_project(server.db, server.admin, PROJECT).project_id
    page.goto(f"{server.url}/data?project={project_id}")
    page.get_by_role("link", name="Open", exact=True).or_(page.locator('a[href*="item?"]')).first.click()
    settle(page)
    assert "/item" in page.url
    check(page, "item", found)
    page.get_by_role("button", name="admin").click()
    settle(page)
    check(page, "the person's menu", found)
    page.goto(f"{server.url}/sign-out")
    check(page, "sign-out", found)
    assert not found, report(found)
    # what is not visited here is either not there, or reached only from an item or an invitation
    assert {entry.name for entry in ENTRIES if entry.name in load_pages()} - visited <= {"item", "revise"}


@pytest.mark.parametrize("dark", [False, True])
def test_the_annotators_page(server: RunningServer, new_page: NewPage, dark: bool) -> None:
    page = new_page(dark=dark)
    found: dict[str, list[str]] = {}
    sign_in(page, server, ANNOTATOR)
    places = addresses(server)
    for name in ("home", "my_work", "account"):
        page.goto(places.get(name, f"{server.url}/{name}"))
        settle(page)
        check(page, f"{name} of an annotator", found)
    page.goto(places["annotate"])
    page.get_by_test_id("item").wait_for()
    settle(page)
    check(page, "the first step", found)
    if page.get_by_test_id("item").get_attribute("data-step") == "0":
        for key in ("1", "1", "Enter"):
            page.keyboard.press(key)
    page.locator('[data-testid="page"] img').first.wait_for()
    settle(page)
    check(page, "the second step", found)
    page.keyboard.press("1")
    page.keyboard.press("f")
    for key, name in (
        ("c", "a comment"),
        ("x", "cannot judge"),
        ("s", "a reason to skip"),
        ("g", "the guidelines"),
        ("?", "the keys"),
        ("/", "the search"),
        ("Enter", "what is missing"),
    ):
        page.keyboard.press(key)
        page.wait_for_timeout(500)
        check(page, name, found)
        for _ in range(2):
            page.keyboard.press("Escape")
    page.set_viewport_size({"width": 720, "height": 450})
    settle(page)
    check(page, "at 200 %", found)
    page.keyboard.press("f")
    assert not found, report(found)


@pytest.mark.parametrize("dark", [False, True])
def test_the_adjudicators_page(server: RunningServer, new_page: NewPage, dark: bool) -> None:
    page = new_page(dark=dark)
    found: dict[str, list[str]] = {}
    sign_in(page, server, "admin")
    page.goto(addresses(server)["adjudicate"])
    page.get_by_test_id("dispute").wait_for()
    settle(page)
    check(page, "a dispute", found)
    for key, name in (("r", "to whom it goes back"), ("?", "the keys"), ("Enter", "what is missing")):
        page.keyboard.press(key)
        page.wait_for_timeout(500)
        check(page, name, found)
        page.keyboard.press("Escape")
    assert not found, report(found)
