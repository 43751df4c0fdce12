"""Hours at the page: drafts that survive, the next item at once, going back, My work, time that pauses, breaks."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, expect
from sqlmodel import col, select

from db.annotating.amendments import set_state
from db.models import Annotation, Assignment, Draft, Study, StudyState, Submission
from db.people.accounts import actor_named
from db.people.preferences import my_preferences, set_preference
from tests.e2e.conftest import NewPage, screenshot, sign_in
from tests.e2e.own_items import item, make_own_scene, open_as
from tests.e2e.scene import (
    Scene,
    answer_first_step,
    answer_second_step,
    judgement,
    question,
    wait_for_step,
    wait_until_saved,
)
from tests.servers import RunningServer, running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

HIDE = """(hidden) => {
  Object.defineProperty(document, 'hidden', { configurable: true, get: () => hidden });
  document.dispatchEvent(new Event('visibilitychange'));
}"""
"""The tab goes behind another, or comes back: headless Chromium has no tab bar to do it with."""


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("flow") / "home") as running:
        yield running


@pytest.fixture
def scene(server: RunningServer, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Scene:
    """Every test has a study of its own, of eight items that each annotator gets."""
    rows = [item(number) for number in range(1, 9)]
    return make_own_scene(server, tmp_path_factory.mktemp("sample"), rows, name=request.node.name[:60])


def wait_for_draft(page: Page) -> None:
    """Until the server has what was entered."""
    expect(page.get_by_test_id("saved")).to_have_attribute("data-state", "draft")


def chosen(page: Page, criterion: str) -> list[str]:
    labels = page.locator(f'[data-criterion="{criterion}"] [aria-checked="true"] span')
    return labels.all_inner_texts()


def label_one(page: Page) -> str:
    """Both steps of the item on the screen; its question."""
    asked, assignment = question(page), judgement(page).get_attribute("data-assignment") or ""
    answer_first_step(page)
    answer_second_step(page)
    expect(page.locator(f'[data-assignment="{assignment}"]')).to_have_count(0)
    return asked


# A study that is amended meanwhile ------------------------------------------------------------------------------------


def submitted(scene: Scene) -> int:
    with scene.server.db.read() as session:
        return len(session.exec(select(Annotation.id).where(Annotation.study_id == scene.study_id)).all())


def pause(scene: Scene, state: StudyState = StudyState.PAUSED) -> None:
    set_state(scene.server.db, scene.server.admin, scene.study_id, state=state, reason="the guidelines change")


def test_after_a_pause_nothing_that_was_looked_ahead_at_is_shown_and_nothing_submitted_is_lost(
    scene: Scene, new_page: NewPage
) -> None:
    page = open_as(new_page, scene, "ada")
    answer_first_step(page)
    pause(scene)
    answer_second_step(page)
    halted = page.get_by_test_id("halted")
    expect(halted).to_contain_text("the guidelines change")
    expect(judgement(page)).to_be_hidden()
    wait_until_saved(page)
    assert submitted(scene) == 1
    screenshot(page, "annotate-halted")
    pause(scene, StudyState.RUNNING)
    page.get_by_test_id("check-again").click()
    expect(judgement(page)).to_be_visible()
    label_one(page)
    wait_until_saved(page)
    assert submitted(scene) == 2


def test_an_item_that_was_begun_before_the_pause_was_known_stays_until_it_is_submitted(
    scene: Scene, new_page: NewPage
) -> None:
    page = open_as(new_page, scene, "ada")
    label_one(page)
    wait_until_saved(page)
    wait_for_step(page, "Question alone")
    page.keyboard.press("1")
    pause(scene)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    answer_second_step(page)
    expect(page.get_by_test_id("halted")).to_contain_text("the guidelines change")
    wait_until_saved(page)
    assert submitted(scene) == 2


# Drafts ---------------------------------------------------------------------------------------------------------------


def test_a_draft_survives_a_dropped_connection_a_reload_and_another_computer(scene: Scene, new_page: NewPage) -> None:
    office = open_as(new_page, scene, "ada")
    answer_first_step(office)
    office.keyboard.press("1")
    wait_for_draft(office)
    office.context.set_offline(True)
    office.keyboard.press("2")
    office.keyboard.press("c")
    office.keyboard.type("The year is not on the page.")
    office.keyboard.press("Escape")
    expect(office.get_by_test_id("saved")).to_have_attribute("data-state", "offline")
    screenshot(office, "hour-draft-offline")
    office.context.set_offline(False)
    wait_for_draft(office)
    office.reload()
    expect(judgement(office)).to_be_visible()
    assert (chosen(office, "question_factual"), chosen(office, "answer_factual")) == (["Factual"], ["Not factual"])
    expect(office.get_by_text("Comment: The year is not on the page.")).to_be_visible()

    home = open_as(new_page, scene, "ada")
    wait_for_step(home, "With answer and evidence")
    assert (chosen(home, "question_factual"), chosen(home, "answer_factual")) == (["Factual"], ["Not factual"])
    expect(home.get_by_text("Comment: The year is not on the page.")).to_be_visible()


def test_what_was_given_later_at_another_computer_is_shown_whatever_its_clock_says(
    scene: Scene, new_page: NewPage
) -> None:
    office = open_as(new_page, scene, "ada")
    answer_first_step(office)
    office.keyboard.press("1")
    wait_for_draft(office)
    home = new_page(fresh=True)
    home.clock.set_fixed_time("2001-01-01T08:00:00")  # this computer's clock is decades behind
    sign_in(home, scene.server, "ada")
    home.goto(scene.address())
    wait_for_step(home, "With answer and evidence")
    home.keyboard.press("ArrowUp")
    home.keyboard.press("2")
    expect(home.get_by_test_id("saved")).to_have_attribute("data-state", "draft")
    _wait_until_stored(scene, "not_factual")

    office.reload()  # its own copy in the browser is older, though its clock is ahead
    expect(judgement(office)).to_be_visible()
    assert chosen(office, "question_factual") == ["Not factual"]


def _wait_until_stored(scene: Scene, value: str) -> None:
    for _ in range(100):
        with scene.server.db.read() as session:
            own = select(Draft.content).join(Assignment, col(Assignment.id) == Draft.assignment_id)
            contents = session.exec(own.where(Assignment.study_id == scene.study_id)).all()
        if any(label["value"] == value for content in contents for label in content["labels"]):
            return
        time.sleep(0.05)
    raise AssertionError(f"no draft has {value}: {contents}")


def test_a_window_left_open_takes_over_what_was_done_elsewhere_when_one_comes_back(
    scene: Scene, new_page: NewPage
) -> None:
    office = new_page(fresh=True)
    office.clock.install()
    sign_in(office, scene.server, "ben")
    office.goto(scene.address())
    answer_first_step(office)
    asked = question(office)
    office.keyboard.press("1")
    office.clock.run_for(2000)
    office.evaluate(HIDE, True)
    home = open_as(new_page, scene, "ben")
    wait_for_step(home, "With answer and evidence")
    home.keyboard.press("ArrowUp")
    home.keyboard.press("2")
    home.keyboard.press("2")
    wait_for_draft(home)

    office.clock.fast_forward("30:00")
    office.evaluate(HIDE, False)
    expect(office.get_by_test_id("notice")).to_contain_text("You went on with this item at another computer")
    assert chosen(office, "question_factual") == ["Not factual"]

    office.evaluate(HIDE, True)
    home.keyboard.press("1")
    for _ in range(2):
        home.keyboard.press("1")
    home.keyboard.press("Enter")
    expect(home.get_by_test_id("question")).not_to_have_text(asked)
    wait_until_saved(home)
    office.clock.fast_forward("30:00")
    office.evaluate(HIDE, False)
    expect(office.get_by_test_id("question")).not_to_have_text(asked)
    expect(office.get_by_test_id("notice")).to_contain_text("You submitted that item at another computer")


def test_a_window_that_saves_over_newer_work_is_told_and_shows_that(scene: Scene, new_page: NewPage) -> None:
    office = open_as(new_page, scene, "ada")
    answer_first_step(office)
    office.keyboard.press("1")
    wait_for_draft(office)
    home = open_as(new_page, scene, "ada")
    wait_for_step(home, "With answer and evidence")
    for key in ("ArrowUp", "2", "ArrowUp", "1", "ArrowUp", "2"):
        home.keyboard.press(key)
    _wait_until_stored(scene, "not_factual")
    office.keyboard.press("1")  # nobody has told this window
    expect(office.get_by_test_id("notice")).to_contain_text("You went on with this item at another computer")
    assert chosen(office, "question_factual") == ["Not factual"]
    assert chosen(office, "answer_factual") == []


# On and back ----------------------------------------------------------------------------------------------------------


def test_the_next_item_is_there_before_the_server_has_answered(scene: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, scene, "ada")
    asked = question(page)
    answer_first_step(page)
    held: list[Route] = []

    def hold(route: Route) -> None:
        held.append(route)

    page.route("**/submit", hold)
    with page.expect_request("**/submit"):
        answer_second_step(page)
    expect(page.get_by_test_id("question")).not_to_have_text(asked)
    wait_for_step(page, "Question alone")
    expect(page.get_by_test_id("saved")).to_have_attribute("data-state", "saving")
    page.wait_for_function("true")  # what was asked for is told in order: now the request has come to be held
    assert len(held) == 1
    page.keyboard.press("1")  # and can be worked on
    expect(page.locator('[data-criterion="self_contained"] [aria-checked="true"]')).to_have_count(1)
    held[0].continue_()
    wait_until_saved(page)
    expect(page.get_by_test_id("progress")).to_have_text(re.compile(r"^1 of"))


def test_z_goes_back_item_by_item_and_a_correction_is_a_new_version(scene: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, scene, "ada")
    first, second = label_one(page), label_one(page)
    third = question(page)
    wait_until_saved(page)
    page.keyboard.press("z")
    expect(page.get_by_test_id("question")).to_have_text(second)
    expect(page.get_by_text("You are correcting an item that you submitted")).to_be_visible()
    page.keyboard.press("z")
    expect(page.get_by_test_id("question")).to_have_text(first)
    wait_for_step(page, "Question alone")
    assert chosen(page, "self_contained") == ["True"]
    page.keyboard.press("ArrowUp")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    wait_for_step(page, "With answer and evidence")
    assert chosen(page, "answer_factual") == ["Factual"]
    page.wait_for_timeout(700)  # an Enter right after a step appeared belongs to the one before
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("question")).to_have_text(third)  # what was left for the correction comes back
    wait_until_saved(page)
    with scene.server.db.read() as session:
        rows = session.exec(
            select(Annotation).where(Annotation.study_id == scene.study_id).order_by(col(Annotation.id))
        ).all()
    assert [row.sitting for row in rows] == [1, 1, 2]
    assert rows[2].supersedes_id == rows[0].id


def test_my_work_is_searched_and_an_item_opened_again_from_it(scene: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, scene, "chloe")
    asked = [label_one(page) for _ in range(3)]
    wait_until_saved(page)
    page.goto(f"{scene.server.url}/my_work?project={scene.project_id}")
    field = page.get_by_label("Search")
    number = asked[1].split()[-1].rstrip("?")
    field.fill(f"NUMBER {number}")  # in any case
    field.press("Enter")
    rows = page.get_by_role("table", name="What I did, latest first").get_by_role("row")
    expect(rows.filter(has_text=scene_name(scene))).to_have_count(1)
    screenshot(page, "hour-my-work")
    rows.filter(has_text=scene_name(scene)).get_by_role("link", name="Open again").click()
    expect(page.get_by_test_id("question")).to_have_text(asked[1])
    expect(page.get_by_text("You are correcting an item that you submitted")).to_be_visible()
    page.get_by_test_id("leave").click()
    expect(page.get_by_test_id("question")).not_to_have_text(asked[1])

    page.goto(f"{scene.server.url}/my_work?project={scene.project_id}")
    field.fill("100% of nothing_")  # signs that a search in a database gives a meaning of their own
    field.press("Enter")
    expect(page.get_by_text("No question of yours has this in it.")).to_be_visible()


def scene_name(scene: Scene) -> str:
    with scene.server.db.read() as session:
        return session.get_one(Study, scene.study_id).name


# Time and breaks ------------------------------------------------------------------------------------------------------


def test_time_on_an_item_stands_still_while_the_tab_is_hidden_and_while_nothing_happens(
    scene: Scene, new_page: NewPage
) -> None:
    page = new_page(fresh=True)
    page.clock.install()
    sign_in(page, scene.server, "ada")
    page.goto(scene.address())
    wait_for_step(page, "Question alone")
    page.clock.fast_forward(60_000)  # a minute of reading
    page.keyboard.press("1")
    page.evaluate(HIDE, True)
    page.clock.fast_forward("02:00:00")  # two hours behind another tab
    page.evaluate(HIDE, False)
    page.clock.fast_forward(30_000)
    page.keyboard.press("1")
    page.keyboard.press("Shift")
    page.clock.fast_forward("01:00:00")  # an hour without a sign of life counts as five minutes
    page.keyboard.press("Enter")
    wait_for_step(page, "With answer and evidence")
    with scene.server.db.read() as session:
        seconds = session.exec(select(Submission.seconds).order_by(col(Submission.id).desc())).first()
    assert seconds == pytest.approx(60 + 30 + 300, abs=10)


def work_for(page: Page, minutes: int) -> None:
    """So many minutes with a sign of life every four."""
    for _ in range(0, minutes, 4):
        page.clock.fast_forward(4 * 60_000)
        page.keyboard.press("Shift")
        page.clock.run_for(20_000)


def test_a_break_is_suggested_between_items_takes_no_keys_and_can_be_switched_off(
    scene: Scene, new_page: NewPage
) -> None:
    server = scene.server
    page = new_page(fresh=True)
    page.clock.install()
    sign_in(page, server, "ben")
    page.goto(scene.address())
    wait_for_step(page, "Question alone")
    page.keyboard.press("Shift")
    work_for(page, 60)
    line = page.get_by_test_id("break")
    expect(line).to_be_hidden()  # not in the middle of an item
    answer_first_step(page)
    expect(line).to_contain_text("A short break keeps judgements steady")
    screenshot(page, "hour-break")
    focused = page.evaluate(
        "document.querySelector('[data-testid=annotate]').shadowRoot.activeElement?.getAttribute('data-testid')"
    )
    assert focused == "label"
    answer_second_step(page)  # every key goes on doing what it does
    wait_until_saved(page)
    expect(line).to_be_visible()
    page.get_by_test_id("break-later").click()
    expect(line).to_be_hidden()
    page.keyboard.press("1")  # the click has not taken the focus either
    expect(page.locator('[data-criterion="self_contained"] [aria-checked="true"]')).to_have_count(1)
    work_for(page, 12)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    wait_for_step(page, "With answer and evidence")
    expect(line).to_be_visible()
    page.get_by_test_id("break-off").click()
    work_for(page, 80)
    answer_second_step(page)
    wait_for_step(page, "Question alone")
    expect(line).to_be_hidden()
    assert my_preferences(server.db, actor_named(server.db, "ben")) == {"break_after": 0}
    page.keyboard.press("?")
    expect(page.get_by_label("Suggest a break")).to_have_value("0")


def test_the_account_page_sets_when_a_break_is_suggested(scene: Scene, new_page: NewPage) -> None:
    page = new_page()
    sign_in(page, scene.server, "ada")
    page.goto(f"{scene.server.url}/account")
    page.get_by_text("Suggest a break on the annotator's page").click()
    page.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    assert my_preferences(scene.server.db, actor_named(scene.server.db, "ada")) == {"break_after": 0}
    set_preference(scene.server.db, actor_named(scene.server.db, "ada"), "break_after", value=None)
