"""Few keys and no accidents: guidelines first, the rest at once, flags that say why, tools without letters."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from playwright.sync_api import Locator, Page, Route, expect
from sqlmodel import col, select

from db.annotating.guidelines import READ
from db.models import Event, StoredLabel, Submission
from tests.e2e.conftest import NewPage, screenshot, sign_in
from tests.e2e.own_items import item, make_own_scene, open_as
from tests.e2e.scene import Scene, answer_first_step, judgement, wait_for_step, wait_until_saved
from tests.servers import RunningServer, running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

LAPTOP = {"width": 1366, "height": 768}
BLINK_MS = 700  # an Enter right after something appeared belongs to what was there before


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("gestures") / "home") as running:
        yield running


@pytest.fixture(scope="module")
def scene(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """Items of forty and of two units, whose guidelines everybody has read."""
    rows = [item(1, evidence=40), *(item(number, evidence=2) for number in range(2, 6))]
    return make_own_scene(server, tmp_path_factory.mktemp("items"), rows, name="Gestures")


@pytest.fixture
def unread(server: RunningServer, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest) -> Scene:
    """A study whose guidelines nobody has read."""
    rows = [item(number) for number in range(1, 4)]
    name = request.node.name[:60]
    return make_own_scene(server, tmp_path_factory.mktemp("items"), rows, name=name, guidelines_read=False)


def guidelines(page: Page) -> Locator:
    return page.get_by_test_id("guidelines")


def chosen(page: Page) -> int:
    return page.locator('[data-testid="criterion"] [aria-checked="true"]').count()


def read_events(scene: Scene) -> list[Event]:
    with scene.server.db.read() as session:
        return list(session.exec(select(Event).where(Event.kind == READ, Event.thing_id == scene.study_id)))


# Guidelines first -----------------------------------------------------------------------------------------------------


def test_the_guidelines_come_before_the_first_item_until_one_says_that_they_are_read(
    new_page: NewPage, unread: Scene
) -> None:
    page = open_as(new_page, unread, "ada", **LAPTOP)
    expect(guidelines(page)).to_be_visible()
    screenshot(page, "guidelines-first")
    page.wait_for_timeout(BLINK_MS)
    for key in ("1", "Escape", "g", "z", "s", "f", "Escape"):
        page.keyboard.press(key)
    expect(guidelines(page)).to_be_visible()
    expect(page.get_by_test_id("flag-note")).to_be_hidden()
    assert chosen(page) == 0
    expect(page.get_by_test_id("guidelines-hint")).to_contain_text("Space scrolls")
    for key, further in (("Space", True), ("Shift+Space", False), ("Enter", True)):
        page.keyboard.press(key)  # a screen further, or back: the end has not been seen
        expect(guidelines(page)).to_be_visible()
        assert (page.locator(".guidelines-text").evaluate("text => text.scrollTop") > 200) == further
    assert read_events(unread) == []

    page.keyboard.press("End")
    expect(page.get_by_test_id("guidelines-hint")).to_contain_text("You are asked once")
    page.keyboard.press("Enter")
    expect(guidelines(page)).to_be_hidden()
    page.keyboard.press("1")  # and the keys give labels
    expect(page.locator('[data-criterion="self_contained"] [aria-checked="true"]')).to_have_count(1)
    page.wait_for_timeout(300)
    [event] = read_events(unread)
    assert event.details["protocol"] == "qa_verification"

    page.reload()
    expect(judgement(page)).to_be_visible()
    expect(guidelines(page)).to_be_hidden()
    elsewhere = open_as(new_page, unread, "ada")
    expect(guidelines(elsewhere)).to_be_hidden()
    someone_else = open_as(new_page, unread, "ben")
    expect(guidelines(someone_else)).to_be_visible()
    assert len(read_events(unread)) == 1


def test_guidelines_that_come_first_have_the_whole_of_a_small_screen(new_page: NewPage, unread: Scene) -> None:
    """Though the first step of this study has nothing but a question, which is no taller than a hand."""
    for width, height in ((820, 1180), (390, 844)):
        page = open_as(new_page, unread, "ada", width=width, height=height)
        expect(guidelines(page)).to_be_visible()
        screenshot(page, f"guidelines-first-{width}")
        box, button = guidelines(page).bounding_box(), page.get_by_test_id("guidelines-read").bounding_box()
        assert box is not None
        assert button is not None
        assert (box["x"], box["y"], box["width"], box["height"]) == (0, 0, width, height)
        assert button["y"] + button["height"] > height - 40


def test_what_was_read_without_a_connection_is_kept_and_sent_later_as_one_event(
    new_page: NewPage, unread: Scene
) -> None:
    page = open_as(new_page, unread, "ben")
    asked: list[str] = []

    def drop(route: Route) -> None:
        asked.append(route.request.url)
        route.abort()

    page.route("**/guidelines", drop)
    page.get_by_test_id("guidelines-read").click()
    expect(guidelines(page)).to_be_hidden()
    page.reload()  # the server does not know yet, this browser does
    expect(judgement(page)).to_be_visible()
    expect(guidelines(page)).to_be_hidden()
    assert asked
    assert read_events(unread) == []
    page.unroute("**/guidelines")
    page.evaluate("window.dispatchEvent(new Event('online'))")
    page.wait_for_function("window.assayOutbox.waiting === 0")
    assert len(read_events(unread)) == 1


def test_reading_takes_one_request_for_the_whole_study_and_no_time_from_the_item(
    new_page: NewPage, unread: Scene
) -> None:
    page = new_page(fresh=True)
    page.clock.install()
    sent: list[str] = []
    page.on("request", lambda request: sent.append(request.url))
    sign_in(page, unread.server, "chloe")
    page.goto(unread.address())
    expect(guidelines(page)).to_be_visible()
    page.clock.fast_forward("04:00")
    page.get_by_test_id("guidelines-read").focus()
    page.keyboard.press("Enter")  # on the button it needs no end
    expect(guidelines(page)).to_be_hidden()
    page.clock.run_for(1000)
    for _ in range(2):
        answer_first_step(page)
        for key in ("1", "1", "1", "1", "1", "Enter"):
            page.keyboard.press(key)
        wait_for_step(page, "Question alone")
        page.clock.run_for(1000)
    wait_until_saved(page)
    assert len([url for url in sent if url.endswith("/guidelines")]) == 1
    with unread.server.db.read() as session:
        newest = session.exec(select(Submission).order_by(col(Submission.id).desc()).limit(4)).all()
    assert max(submission.seconds or 0 for submission in newest) < 60


# The rest at once -----------------------------------------------------------------------------------------------------


def to_second_step(page: Page) -> None:
    """The step with evidence, which a test before may have reached already."""
    if judgement(page).get_attribute("data-step") == "0":
        answer_first_step(page)
    wait_for_step(page, "With answer and evidence")


def to_forty_units(page: Page) -> None:
    answer_first_step(page)
    expect(page.locator('[data-criterion="grounding"]')).to_have_count(40)


def test_forty_units_of_which_two_are_required_take_eight_keys(new_page: NewPage, scene: Scene) -> None:
    page = open_as(new_page, scene, "ada", **LAPTOP)
    to_forty_units(page)
    rest = page.get_by_test_id("rest")
    expect(rest).to_have_accessible_name("Evidence needed for this answer: The rest: Not required")
    expect(rest.locator(":scope > :not(.unseen)")).to_have_text(["The rest: Not required", "A"])
    expect(rest).to_be_in_viewport()
    keys = ["1", "1", "1", "1", "1", "a", "Enter"]
    assert len(keys) <= 8
    for key in keys[:-1]:
        page.keyboard.press(key)
    expect(page.get_by_test_id("rest-words")).to_have_text("38 units labelled “Not required” at once")
    screenshot(page, "rest-given")
    page.keyboard.press(keys[-1])
    wait_for_step(page, "Question alone")
    wait_until_saved(page)
    with scene.server.db.read() as session:
        last = session.exec(select(Submission.id).order_by(col(Submission.id).desc())).first()
        given = session.exec(select(StoredLabel).where(StoredLabel.submission_id == last)).all()
    values = [label.value for label in given if label.criterion == "grounding"]
    assert (values.count("required"), values.count("not_required")) == (2, 38)


def test_z_right_after_takes_all_of_them_back_and_says_so_beforehand(new_page: NewPage, scene: Scene) -> None:
    page = open_as(new_page, scene, "ben", **LAPTOP)
    to_forty_units(page)
    for key in ("1", "1", "1"):
        page.keyboard.press(key)
    required = page.locator('[data-criterion="grounding"]').nth(6)
    required.click()
    page.keyboard.press("1")
    back = page.get_by_test_id("back")
    expect(back).to_have_text("Backz")
    page.get_by_test_id("rest").click()
    expect(back).to_have_text("Undoz")
    expect(page.get_by_test_id("rest-undo")).to_be_visible()
    assert chosen(page) == 43
    page.keyboard.press("z")
    expect(back).to_have_text("Backz")
    assert chosen(page) == 4  # those before it stay
    expect(required.locator('[aria-checked="true"]')).to_have_count(1)

    page.keyboard.press("a")
    assert chosen(page) == 43
    required.click()
    page.keyboard.press("2")  # anything that is given afterwards ends the way back
    expect(back).to_have_text("Backz")
    expect(page.get_by_test_id("rest-undo")).to_be_hidden()
    page.keyboard.press("z")
    expect(page.get_by_test_id("notice")).to_contain_text("There is nothing to go back to")
    assert chosen(page) == 43


def test_with_few_units_there_is_no_such_button(new_page: NewPage, scene: Scene) -> None:
    page = open_as(new_page, scene, "chloe")
    to_forty_units(page)
    for key in ("1", "1", "1", "a", "Enter"):
        page.keyboard.press(key)
    answer_first_step(page)
    expect(page.locator('[data-criterion="grounding"]')).to_have_count(2)
    expect(page.get_by_test_id("rest")).to_be_hidden()
    page.keyboard.press("a")
    assert chosen(page) == 0
    expect(page.get_by_test_id("notice")).to_contain_text("too few units")


# Flags and reasons ----------------------------------------------------------------------------------------------------


def test_a_flag_is_raised_at_once_and_may_say_why(new_page: NewPage, unread: Scene) -> None:
    page = open_as(new_page, unread, "ada", **LAPTOP)
    page.get_by_test_id("guidelines-read").click()
    note = page.get_by_test_id("flag-note")
    page.keyboard.press("f")
    expect(note).to_have_text("Flagged for the researcherSay whyF")
    page.keyboard.press("1")  # is a label, not a word of the reason
    expect(page.locator('[data-criterion="self_contained"] [aria-checked="true"]')).to_have_count(1)
    page.keyboard.press("Shift+F")
    expect(page.get_by_role("dialog", name="Why do you flag this item? You need not say.")).to_be_visible()
    screenshot(page, "flag-why")
    page.keyboard.type("The chart has no axis")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("and no year.")
    page.keyboard.press("Enter")
    expect(note).to_contain_text("Flagged for the researcher: The chart has no axis\nand no year.")
    expect(page.get_by_test_id("saved")).to_have_attribute("data-state", "draft")
    page.reload()
    expect(note).to_contain_text("and no year.")
    page.keyboard.press("f")
    expect(note).to_be_hidden()
    page.keyboard.press("f")  # its words come back with it
    expect(note).to_contain_text("and no year.")
    answer = page.locator('[data-criterion="human_like"]')
    answer.click()
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    wait_for_step(page, "With answer and evidence")
    page.keyboard.press("f")
    page.get_by_test_id("flag_reason").click()
    page.keyboard.press("Enter")  # nothing need be said
    for key in ("1", "1", "1", "1", "1", "Enter"):
        page.keyboard.press(key)
    wait_for_step(page, "Question alone")
    wait_until_saved(page)
    with unread.server.db.read() as session:
        flags = session.exec(select(Submission.flag).order_by(col(Submission.id).desc()).limit(2)).all()
    assert list(flags) == ["flagged", "The chart has no axis\nand no year."]


def test_enter_submits_a_reason_and_a_comment_and_shift_enter_breaks_a_line(new_page: NewPage, unread: Scene) -> None:
    page = open_as(new_page, unread, "ada")
    page.get_by_test_id("guidelines-read").click()
    page.keyboard.press("x")
    page.keyboard.press("Enter")  # not complete
    expect(page.get_by_role("alert").filter(has_text="Pick a reason or write one.")).to_be_visible()
    page.keyboard.type("Two lines")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("of it")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("cannot-judge-note")).to_contain_text("Two lines\nof it")
    page.keyboard.press("c")
    page.keyboard.type("First")
    page.keyboard.press("Shift+Enter")
    page.keyboard.type("second")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("comment-field")).to_have_count(0)
    expect(page.get_by_text(re.compile("Comment: First\\s+second"))).to_be_visible()
    before = judgement(page).get_attribute("data-assignment")
    page.keyboard.press("s")
    page.keyboard.type("I wrote it")
    page.keyboard.press("Enter")
    expect(page.locator(f'[data-testid="item"][data-assignment="{before}"]')).to_have_count(0)


# Tools ----------------------------------------------------------------------------------------------------------------

TOOLS = ("search", "zoom_out", "zoom_in", "fit_width", "fit_page", "two_pages", "rotate", "mark", "passages")


def test_the_tools_are_icons_whose_names_and_keys_are_in_a_tip_on_hover_and_on_focus(
    new_page: NewPage, scene: Scene
) -> None:
    page = open_as(new_page, scene, "ada", **LAPTOP)
    to_second_step(page)
    for name in TOOLS:
        tool = page.get_by_test_id(name)
        assert tool.inner_text() == ""
        assert tool.get_attribute("aria-label")
        expect(tool.locator("svg")).to_be_visible()
    tip = page.locator(".view > .tip")
    page.get_by_test_id("fit_page").hover()
    expect(tip).to_have_text("Fit page p")
    screenshot(page, "tools-tip")
    page.mouse.move(700, 600)
    expect(tip).to_be_hidden()
    page.get_by_test_id("zoom_out").focus()
    page.keyboard.press("Tab")
    expect(page.get_by_test_id("zoom_in")).to_be_focused()
    expect(tip).to_have_text("Zoom in +")
    assert [page.get_by_test_id(name).locator("kbd").inner_text() for name in ("previous_page", "next_page")] == [
        "[",
        "]",
    ]


def test_a_finger_sees_no_key_on_any_button(new_page: NewPage, scene: Scene) -> None:
    page = open_as(new_page, scene, "ada", width=820, height=1180, touch=True)
    to_second_step(page)
    seen = page.get_by_test_id("annotate").evaluate(
        """(host) => [...host.shadowRoot.querySelectorAll('button')].filter((button) => button.checkVisibility()).map(
          (button) => [
            button.dataset.testid, button.innerText.trim(), button.querySelector('kbd')?.checkVisibility() ?? false,
          ],
        )"""
    )
    assert len(seen) > 20
    assert [event for event in seen if event[2]] == []
    letters = [event for event in seen if len(event[1]) == 1 and not event[1].isdigit()]
    assert letters == []
    for name in ("previous_page", "next_page"):
        expect(page.get_by_test_id(name).locator("svg")).to_be_visible()
    small = page.get_by_test_id("annotate").evaluate(
        """(host) => [...host.shadowRoot.querySelectorAll('button, select, input, a')].filter((one) => {
          const { width, height } = one.getBoundingClientRect();
          const least = /_hit$/.test(one.dataset.testid) ? 24 : 44;
          return one.checkVisibility() && width > 0 && Math.min(width, height) < least;
        }).map((one) => [one.dataset.testid, one.className, one.getBoundingClientRect().width])"""
    )
    assert small == []
    screenshot(page, "tools-touch")


def test_thumbnails_are_one_tab_stop_with_arrows_within(new_page: NewPage, scene: Scene) -> None:
    page = open_as(new_page, scene, "ada", **LAPTOP)
    to_second_step(page)
    thumbnails = page.get_by_test_id("thumbnail")
    expect(thumbnails.first).to_be_visible()
    stops = page.locator('[data-testid="thumbnail"][tabindex="0"]')
    expect(stops).to_have_count(1)
    stops.focus()
    at = int(stops.get_attribute("data-page") or 0)
    shown = page.get_by_test_id("page-number").input_value()
    page.keyboard.press("ArrowDown")
    focused = page.locator('[data-testid="thumbnail"]:focus')
    expect(focused).to_have_attribute("data-page", str(at + 1))
    expect(stops).to_have_attribute("data-page", str(at + 1))
    expect(page.get_by_test_id("page-number")).to_have_value(shown)  # only Enter opens
    page.keyboard.press("End")
    last = int(focused.get_attribute("data-page") or 0)
    assert last > at + 1
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("page-number")).to_have_value(str(last))
    page.keyboard.press("Home")
    expect(focused).to_have_attribute("data-page", "1")
    page.keyboard.press("ArrowUp")
    expect(focused).to_have_attribute("data-page", "1")
    page.keyboard.press("Tab")
    expect(focused).to_have_count(0)
    assert chosen(page) == 0
