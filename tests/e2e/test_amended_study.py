"""A study is amended on its page while three people work at it in their browsers."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from sqlmodel import select

from db.annotating.amendments import amendments_of
from db.annotating.status import study_status
from db.models import Annotation
from tests.e2e.conftest import NewPage, screenshot, sign_in
from tests.e2e.own_items import item, make_own_scene, open_as
from tests.e2e.scene import ANNOTATORS, Scene, judgement, wait_until_saved
from tests.makers import tiny_protocol
from tests.servers import RunningServer, running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

ITEMS = 9


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("amended") / "home") as running:
        yield running


def label_one(page: Page) -> None:
    """One item by two keys; ends when another one is there, or the last."""
    assignment = judgement(page).get_attribute("data-assignment") or ""
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.locator(f'[data-assignment="{assignment}"]')).to_have_count(0)


def given(scene: Scene) -> list[tuple[int, int]]:
    """(item, person) of every annotation."""
    query = select(Annotation.study_item_id, Annotation.person_id).where(Annotation.study_id == scene.study_id)
    with scene.server.db.read() as session:
        return [(item_id, person_id) for item_id, person_id in session.exec(query)]


def amend(page: Page, scene: Scene, overlap: int) -> None:
    """Through the form on the tab Design, as the researcher."""
    page.goto(f"{scene.server.url}/study?study={scene.study_id}&show=design")
    page.get_by_role("button", name="Amend…").click()
    page.get_by_role("spinbutton", name="Overlap").fill(str(overlap))
    page.get_by_role("textbox", name="Reason").fill("A pilot shows that one is too few.")
    page.get_by_role("button", name="Amend the study").click()
    expect(page.get_by_text("A pilot shows that one is too few.")).to_be_visible()
    expect(page.get_by_text("The study was amended: overlap")).to_be_visible()
    expect(page.get_by_role("textbox", name="Reason")).to_have_count(0)  # what was done is done: its popover is closed


def work_to_the_end(page: Page) -> None:
    """Until there is nothing left for this person, and all of it is acknowledged."""
    end = page.get_by_test_id("finished").or_(page.get_by_test_id("nothing"))
    for labelled in range(2 * ITEMS):
        expect(judgement(page).or_(end).first).to_be_visible()
        if end.is_visible():
            if labelled:
                wait_until_saved(page)
            return
        label_one(page)
    raise AssertionError("More items than the study has came up.")


def test_an_overlap_that_is_raised_while_three_work_is_met_exactly(
    server: RunningServer, new_page: NewPage, tmp_path: Path
) -> None:
    rows = [item(number) for number in range(1, ITEMS + 1)]
    scene = make_own_scene(server, tmp_path, rows, protocol=tiny_protocol(), overlap=1, name="Raised")
    pages = [open_as(new_page, scene, who) for who in ANNOTATORS]
    for page in pages:
        label_one(page)
    researcher = new_page(width=1366, height=768)
    sign_in(researcher, server, "admin")
    amend(researcher, scene, 2)
    screenshot(researcher, "amended-overlap")
    for page in pages:
        label_one(page)  # what lies before each of them goes on as if nothing were
    for _ in range(2):  # what the first ones had in hand may come to the others
        for page in pages:
            work_to_the_end(page)
            page.reload()
    found = given(scene)
    assert Counter(item_id for item_id, _ in found) == dict.fromkeys({item_id for item_id, _ in found}, 2)
    assert len(found) == len(set(found)) == 2 * ITEMS
    assert study_status(server.db, server.admin, scene.study_id)["finished"]
    [told] = amendments_of(server.db, server.admin, scene.study_id)
    assert (told.what, told.before, told.after) == ("overlap", 1, 2)


def test_a_study_that_is_closed_and_started_again_has_back_what_was_submitted_meanwhile(
    server: RunningServer, new_page: NewPage, tmp_path: Path
) -> None:
    scene = make_own_scene(
        server, tmp_path, [item(1), item(2)], protocol=tiny_protocol(), overlap=3, name="Closed and opened"
    )
    annotator = open_as(new_page, scene, ANNOTATORS[0])
    researcher = new_page(width=1366, height=768)
    sign_in(researcher, server, "admin")
    researcher.goto(f"{server.url}/study?study={scene.study_id}&show=design")
    change_state(researcher, "Close", "Enough for now.")
    annotator.keyboard.press("1")
    annotator.keyboard.press("Enter")
    expect(annotator.get_by_text("It is closed: Enough for now.")).to_be_visible()
    change_state(researcher, "Start again", "We go on.")
    # The button of another state stands where the pressed one stood, and is not open because that one was.
    expect(researcher.get_by_role("button", name="Pause")).to_have_count(1)
    expect(researcher.get_by_role("textbox", name="Reason")).to_have_count(0)
    annotator.get_by_role("button", name="Check again").click()
    # What comes back stands before what nobody has judged yet.
    expect(annotator.get_by_text("You submitted this while the study was closed")).to_be_visible()
    expect(annotator.get_by_role("radio", name="Yes")).to_be_checked()
    annotator.wait_for_timeout(700)  # an Enter that follows another at once belongs to the item before
    annotator.keyboard.press("Enter")
    expect(annotator.get_by_text("You submitted this while the study was closed")).to_be_hidden()
    label_one(annotator)
    expect(annotator.get_by_test_id("finished")).to_be_visible()
    wait_until_saved(annotator)
    assert len(given(scene)) == 3  # of one item what came to the closed study, and again what counts


def change_state(page: Page, label: str, reason: str) -> None:
    page.get_by_role("button", name=label).first.click()
    page.get_by_role("textbox", name="Reason").fill(reason)
    page.get_by_role("button", name=label, exact=True).last.click()
    expect(page.get_by_role("cell", name=reason)).to_be_visible()
    expect(page.get_by_text(re.compile(r"The study is (closed|running) now\."))).to_be_visible()
