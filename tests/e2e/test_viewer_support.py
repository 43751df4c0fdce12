"""Support for a label: a box or selected text, drawn and taken away, kept in drafts, stored, shown to adjudicators."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from sqlmodel import col, select

from db.models import StoredLabel
from tests.e2e.conftest import NewPage, screenshot, sign_in
from tests.e2e.scene import Scene, wait_until_saved
from tests.e2e.viewer_scene import (
    Shape,
    assert_same_place,
    make_viewer_scene,
    open_viewer,
    pdf,
    place_of,
    place_of_box,
    red_box,
    red_on_screen,
    settle,
    table,
    wait_for_picture,
    wait_for_words,
)
from tests.servers import running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

SHAPES = [Shape(), Shape(rotate=90)]


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    units = [table(number, "ferry.pdf", number, red_box(shape)) for number, shape in enumerate(SHAPES, 1)]
    rows = [{"answer": f"Answer {number}.", "documents": ["ferry.pdf"], "evidence": units} for number in (1, 2)]
    with running_server(tmp_path / "home") as server:
        yield make_viewer_scene(server, tmp_path / "items", rows, {"ferry.pdf": pdf(SHAPES)}, overlap=2)


def first_page(page: Page) -> Locator:
    field = page.get_by_test_id("page-number")
    field.fill("1")
    field.press("Enter")
    shown = wait_for_picture(page, 1)
    settle(page)
    return shown


def drag(page: Page, x0: float, y0: float, x1: float, y1: float) -> None:
    page.mouse.move(x0, y0)
    page.mouse.down()
    page.mouse.move((x0 + x1) / 2, (y0 + y1) / 2, steps=3)
    page.mouse.move(x1, y1, steps=3)
    page.mouse.up()


def draw_around_red(page: Page, number: int) -> None:
    page.keyboard.press("M")
    expect(page.get_by_test_id("mark-bar")).to_be_visible()
    drag(page, *red_on_screen(page, number))
    expect(page.get_by_test_id("mark-bar")).to_be_hidden()


def notes(page: Page, criterion: str = "right") -> Locator:
    return page.locator(f'[data-criterion="{criterion}"] [data-testid="support-note"]')


def stored(scene: Scene) -> list[list[dict[str, Any]]]:
    with scene.server.db.read() as session:
        statement = select(StoredLabel.rationale).order_by(col(StoredLabel.id))
        return [scalar for scalar in session.execute(statement).scalars() if scalar]


def close_to(box: list[float], other: list[float]) -> bool:
    return max(abs(a - b) for a, b in zip(box, other, strict=True)) < 0.01


def test_a_drawn_box_is_kept_submitted_and_shown_in_adjudication(new_page: NewPage, scene: Scene) -> None:
    page = open_viewer(new_page, scene)
    first_page(page)
    draw_around_red(page, 1)
    expect(notes(page)).to_have_text("Support: box, p. 1×")
    box = page.get_by_test_id("support-box")
    assert_same_place(place_of_box(box), red_on_screen(page, 1))
    screenshot(page, "viewer-support")
    page.keyboard.press("1")
    expect(page.get_by_test_id("saved")).to_contain_text("Draft saved")

    page.reload()  # the draft has it
    expect(notes(page)).to_have_count(1)
    page.locator('[data-criterion="right"]').click(position={"x": 30, "y": 10})
    first_page(page)
    assert_same_place(place_of_box(page.get_by_test_id("support-box")), red_on_screen(page, 1))
    page.keyboard.press("Enter")
    wait_until_saved(page)
    (places,) = stored(scene)
    assert places[0]["document"] == "ferry.pdf"
    assert places[0]["page"] == 1
    assert close_to(places[0]["box"], red_box(SHAPES[0]))

    other = open_viewer(new_page, scene, "ben")
    for key in ("2", "Enter"):
        other.keyboard.press(key)
    wait_until_saved(other)
    judge = new_page()
    sign_in(judge, scene.server, "admin")
    judge.goto(f"{scene.server.url}/adjudicate?study={scene.study_id}")
    judge.get_by_test_id("dispute").wait_for()
    mark = judge.get_by_test_id("mark-box").first
    expect(mark).to_be_attached()
    judge.locator('[data-testid="thumbnail"][data-page="1"]').click()
    wait_for_picture(judge, 1)
    settle(judge)
    assert_same_place(place_of_box(mark), red_on_screen(judge, 1))


def test_a_box_on_a_turned_page_is_stored_as_the_page_is_displayed(new_page: NewPage, scene: Scene) -> None:
    page = open_viewer(new_page, scene)
    page.locator('[data-testid="thumbnail"][data-page="2"]').click()
    wait_for_picture(page, 2)
    page.keyboard.press("p")
    page.keyboard.press("r")
    settle(page)
    draw_around_red(page, 2)
    for key in ("1", "Enter"):
        page.keyboard.press(key)
    wait_until_saved(page)
    ((place,),) = stored(scene)
    assert place["page"] == 2
    assert close_to(place["box"], red_box(SHAPES[1]))


def test_selected_text_is_support(new_page: NewPage, scene: Scene) -> None:
    page = open_viewer(new_page, scene)
    first_page(page)
    words = wait_for_words(page, 1)
    page.wait_for_timeout(300)
    start, end = words.get_by_text("412", exact=True), words.get_by_text("lost", exact=True)
    begin, until = place_of(start), place_of(end)
    drag(page, begin[0] + 1, (begin[1] + begin[3]) / 2, until[2] - 6, (until[1] + until[3]) / 2)
    page.get_by_test_id("use-selection").click()
    expect(notes(page)).to_contain_text("“412 passengers and a crew of nineteen people. Steering was")
    expect(page.get_by_test_id("support-box")).to_have_count(2)  # a box a line
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    wait_until_saved(page)
    ((place,),) = stored(scene)
    assert place["text"] == "412 passengers and a crew of nineteen people.\nSteering was lost"
    assert len(place["boxes"]) == 2


def test_support_by_keyboard_alone(new_page: NewPage, scene: Scene) -> None:
    """The cross goes to a corner, Enter begins, arrows draw, Enter ends; Tab reaches what takes it away."""
    page = open_viewer(new_page, scene)
    first_page(page)
    page.keyboard.press("M")
    for key, times in (("ArrowLeft", 10), ("ArrowUp", 6), ("Enter", 1), ("ArrowRight", 20), ("ArrowDown", 8)):
        for _ in range(times):
            page.keyboard.press(key)
    expect(page.get_by_test_id("rubber")).to_be_visible()
    drawn = place_of(page.get_by_test_id("rubber"))
    page.keyboard.press("Enter")
    expect(notes(page)).to_have_count(1)
    assert_same_place(place_of_box(page.get_by_test_id("support-box")), drawn)
    removing = notes(page).get_by_test_id("remove-support")
    for _ in range(40):
        page.keyboard.press("Tab")
        if removing.evaluate("one => one === one.getRootNode().activeElement"):
            break
    page.keyboard.press("Enter")
    expect(notes(page)).to_have_count(0)
    expect(page.get_by_test_id("support-box")).to_have_count(0)
    page.keyboard.press("M")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("mark-bar")).to_be_hidden()


def test_words_in_a_box_are_taken_as_text_by_the_space_bar(new_page: NewPage, scene: Scene) -> None:
    page = open_viewer(new_page, scene)
    shown = first_page(page)
    wait_for_words(page, 1)
    place = place_of(shown)
    page.locator(".pages").evaluate("one => one.scrollTop = 0")
    page.keyboard.press("p")
    place = place_of(shown)
    page.keyboard.press("M")
    page.keyboard.press("ArrowUp")
    for _ in range(60):  # to the left edge
        page.keyboard.press("ArrowLeft")
    for _ in range(26):
        page.keyboard.press("ArrowUp")
    cross = page.get_by_test_id("cross").evaluate("one => [parseFloat(one.style.left), parseFloat(one.style.top)]")
    assert cross[0] == 0
    page.keyboard.press("Enter")
    for _ in range(90):
        page.keyboard.press("ArrowRight")
    target = 0.335 * (place[3] - place[1])  # beneath the third line, above the fourth
    for _ in range(60):
        rubber = place_of(page.get_by_test_id("rubber"))
        if rubber[3] >= place[1] + target:
            break
        page.keyboard.press("ArrowDown")
    page.keyboard.press(" ")
    expect(notes(page)).to_contain_text("Steering was lost for eleven minutes near the point.")


def test_support_belongs_to_one_label_and_asks_for_it(new_page: NewPage, scene: Scene) -> None:
    page = open_viewer(new_page, scene)
    first_page(page)
    page.keyboard.press("1")  # on to the first unit, whose label is optional
    settle(page)
    page.keyboard.press("M")
    place = place_of(page.locator(".pages"))
    drag(page, place[0] + 200, place[1] + 150, place[0] + 400, place[1] + 300)
    expect(notes(page, "needed")).to_have_count(1)
    expect(notes(page, "right")).to_have_count(0)
    page.keyboard.press("ArrowUp")
    expect(page.get_by_test_id("support-box")).to_have_count(0)
    page.keyboard.press("Enter")  # a place can only support a label that is given
    expect(page.get_by_test_id("notice")).to_contain_text("Needed")
