"""The top bar at every width: the project, the groups and the person's menu never lie over each other; keyboard."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect

from db.projects import create_project
from tests.e2e.conftest import NewPage, sign_in, sign_in_by_form
from tests.makers import StudyInUse
from tests.servers import RunningServer, running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("home")) as running:
        create_project(running.db, running.admin, "Energy reports of the northern islands, second round")
        create_project(running.db, running.admin, "Harbour finance")
        yield running


@pytest.mark.parametrize("width", [390, 600, 767, 768, 820, 1024, 1366])
def test_project_links_and_person_do_not_overlap(server: RunningServer, new_page: NewPage, width: int) -> None:
    page = new_page(width=width)
    sign_in_by_form(page, server, "admin")
    expect(page.get_by_role("heading", name="Home")).to_be_visible()
    bar = page.locator(".assay-lines")
    expect(bar.get_by_role("link", name="Help")).to_be_visible()
    expect(bar.get_by_role("link", name="Adjudicate")).to_be_visible()
    places = page.evaluate(
        """() => {
          const chosen = '.st-key-assay-project, .st-key-assay-person, .assay-groups a, .assay-aside a, .assay-pages a';
          return [...document.querySelectorAll(chosen)].map((element) => {
            const { left, right, top, bottom } = element.getBoundingClientRect();
            return [left, right, top, bottom];
          }).filter(([left, right]) => right > left);
        }"""
    )
    assert len(places) == 2 + 4 + 1 + 6  # the project, the person; four groups; Help; the pages of Work
    for place, before in enumerate(places):
        assert before[1] <= width + 1, (width, before)
        for after in places[place + 1 :]:
            apart = before[1] <= after[0] + 1 or after[1] <= before[0] + 1
            assert apart or before[3] <= after[2] + 1 or after[3] <= before[2] + 1, (width, before, after)


def test_the_groups_lead_to_their_pages_within_the_session(server: RunningServer, new_page: NewPage) -> None:
    page = new_page(width=1024)
    sign_in_by_form(page, server, "admin")
    groups, pages = (page.get_by_role("navigation", name=name, exact=True) for name in ("Groups of pages", "Pages"))
    expect(groups.get_by_role("link")).to_have_text(["Work", "Data", "Results", "Administration"])
    expect(pages.get_by_role("link")).to_have_text(["Home", "My work", "Studies", "Protocols", "Adjudicate", "Revise"])
    expect(pages.get_by_role("link", name="Home")).to_have_attribute("aria-current", "page")
    page.evaluate("window.kept = 'this window'")
    groups.get_by_role("link", name="Administration").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="People", level=1)).to_be_visible()
    expect(groups.get_by_role("link", name="Administration")).to_have_attribute("aria-current", "true")
    expect(groups.get_by_role("link", name="Administration")).to_be_focused()
    page.keyboard.press("Tab")  # Help
    for _ in range(3):
        page.keyboard.press("Tab")
    expect(pages.get_by_role("link", name="Audit")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="Audit")).to_be_visible()
    assert "/audit" in page.url
    assert page.evaluate("window.kept") == "this window"
    page.go_back()
    expect(page.get_by_role("heading", name="People", level=1)).to_be_visible()
    page.go_forward()
    page.reload()
    expect(pages.get_by_role("link", name="Audit")).to_have_attribute("aria-current", "page")
    with page.context.expect_page() as opened:
        pages.get_by_role("link", name="Jobs").click(modifiers=["Control"])
    assert "/jobs" in opened.value.url


def test_what_waits_stands_beside_its_page(server: RunningServer, new_page: NewPage) -> None:
    study = StudyInUse(server.db, items=3, annotators=2, overlap=2)
    for who, value in ((0, "yes"), (1, "no")):
        study.label_all(who, value)
    page = new_page()
    sign_in(page, server, "admin")
    page.goto(f"{server.url}/studies?project={study.project_id}")
    waiting = page.get_by_role("navigation", name="Pages").get_by_role("link", name="Adjudicate")
    expect(waiting).to_contain_text("3")
    waiting.click()
    row = page.get_by_role("table", name="Studies by how many items are disputed").get_by_role("row").nth(1)
    expect(row).to_contain_text("just now")
    row.get_by_role("link", name="Adjudicate").click()
    page.get_by_test_id("dispute").wait_for()


def test_a_group_without_a_page_for_this_person_is_not_shown(server: RunningServer, new_page: NewPage) -> None:
    server.person("zoe", default_role="annotator")
    page = new_page()
    sign_in_by_form(page, server, "zoe")
    groups = page.get_by_role("navigation", name="Groups of pages")
    expect(groups.get_by_role("link")).to_have_text(["Work"])
