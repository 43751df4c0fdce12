"""A study of real answers from the first file to the last decision, at a laptop's screen: set up by hand, labelled and
settled by keyboard alone."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from db.adjudicating.adjudications import settlement_counts
from db.people.accounts import set_member
from db.permissions import Role
from db.projects import my_projects
from db.studies.design import list_studies
from tests.e2e.conftest import NewPage, screenshot, sign_in, sign_in_by_form
from tests.e2e.disputes import row, settle_one, wait_until_saved
from tests.e2e.scene import judgement
from tests.e2e.test_scores import LAPTOP, expect_judged_in_view
from tests.servers import RunningServer, running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

PEOPLE = {"ada": Role.ANNOTATOR, "ben": Role.ANNOTATOR, "dora": Role.ADJUDICATOR}
ITEMS = 4


@pytest.fixture
def server(tmp_path: Path) -> Iterator[RunningServer]:
    with running_server(tmp_path / "home") as running:
        yield running


def choose(page: Page, box: Locator, option: str) -> None:
    """Choose from a list of Streamlit's by typing."""
    box.click()
    box.fill(option)
    page.get_by_role("option", name=option).first.click()


def test_a_study_of_real_answers_from_the_first_file_to_the_last_decision(
    server: RunningServer, shared_data: Path, new_page: NewPage
) -> None:
    study = set_up(server, shared_data / "fathoms", new_page(**LAPTOP))
    for name, keys in (("ada", "52"), ("ben", "12")):
        label(server, study, new_page(**LAPTOP), name, keys)
    settle(server, study, new_page(**LAPTOP))
    counts = settlement_counts(server.db, server.admin, study)
    assert (counts["adjudicated"], counts["disputed"]) == (ITEMS, 0)


def set_up(server: RunningServer, fathoms: Path, page: Page) -> int:
    """Import, people and study on the pages, as the administrator; the study's id."""
    sign_in_by_form(page, server, "admin")
    page.get_by_label("Name of the project").fill("FATHOMS, closed systems")
    page.keyboard.press("Enter")
    page.get_by_role("button", name="Import…").click()
    with page.expect_file_chooser() as opened:
        page.get_by_role("button", name="Upload", exact=True).click()
    opened.value.set_files([*sorted((fathoms / "results" / "closed").iterdir()), fathoms / "questions_answers.json"])
    expect(page.get_by_text("What the import would do")).to_be_visible()
    screenshot(page, "walk-import")
    page.get_by_role("button", name=re.compile(r"^Import \d+ items$")).click()
    expect(page.get_by_role("heading", name="Imported as batch 1")).to_be_visible()
    [project] = my_projects(server.db, server.admin)
    for name, role in PEOPLE.items():
        server.person(name)
        set_member(server.db, server.admin, project.project_id, name=name, role=role)
    page.goto(f"{server.url}/studies?project={project.project_id}")
    choose(page, page.get_by_role("combobox", name="Built-in protocol"), "Metric agreement")
    # Items of the file of questions have no score: they cannot be drawn, and that is said before anything is made.
    expect(page.get_by_test_id("left-out")).to_contain_text("have no score")
    choose(page, page.get_by_role("combobox", name="Sample"), "Some items")
    strata = page.get_by_role("combobox", name="Stratify by")
    strata.click()
    page.get_by_role("option", name="system", exact=True).click()
    page.keyboard.press("Escape")
    size = page.get_by_role("spinbutton", name="Items of each")
    size.fill(str(ITEMS // 2))
    size.press("Enter")
    expect(page.get_by_text(re.compile(rf"{ITEMS} items"))).to_be_visible()
    screenshot(page, "walk-study")
    page.get_by_role("button", name="Create study").click()
    page.wait_for_url(lambda address: "/study?" in address)
    [made] = list_studies(server.db, server.admin, project.project_id)
    assert (made.n_items, made.overlap, made.slots) == (ITEMS, 2, 2 * ITEMS)
    return made.study_id


def label(server: RunningServer, study: int, page: Page, name: str, keys: str) -> None:
    """Label every item by keyboard; each value is on the screen when it is judged."""
    sign_in(page, server, name)
    page.goto(f"{server.url}/annotate?study={study}")
    expect(page.get_by_test_id("guidelines-read")).to_be_visible()
    page.wait_for_timeout(700)  # an Enter before belongs to what was on the screen
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("guidelines-read")).to_be_hidden()
    for number in range(ITEMS):
        assignment = judgement(page).get_attribute("data-assignment")
        for criterion, key in zip(("correctness_agreement", "hallucination_agreement"), keys, strict=True):
            expect_judged_in_view(page, criterion)
            page.keyboard.press(key)
        if number == 0:
            screenshot(page, f"walk-annotate-{name}")
        page.keyboard.press("Enter")
        expect(page.locator(f'[data-assignment="{assignment}"]')).to_have_count(0)
    expect(page.get_by_test_id("finished")).to_be_visible()


def settle(server: RunningServer, study: int, page: Page) -> None:
    """Decide every dispute by keyboard, with the value that it is about on the screen."""
    sign_in(page, server, "dora")
    page.goto(f"{server.url}/adjudicate?study={study}")
    for number in range(ITEMS):
        expect(row(page, "correctness_agreement")).to_be_in_viewport(ratio=1)
        if number == 0:
            screenshot(page, "walk-adjudicate")
        settle_one(page, "4")
    wait_until_saved(page)
