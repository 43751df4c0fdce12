"""The reviser's page: items that failed are revised by keyboard alone, and what fell is given again by others."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, Route, expect

from db.items.read import item_details
from db.people.accounts import actor_named
from db.releasing.recheck import send_to_recheck, to_recheck
from db.releasing.revising import revise_written
from db.releasing.states import State
from db.studies.revisions import revise_item
from tests.e2e.conftest import NewPage, screenshot, sign_in
from tests.e2e.scene import being_shown
from tests.e2e.test_releasing import GOOD, Place, failing_place, label
from tests.makers import make_member, make_person, read_guidelines

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with failing_place(tmp_path) as found:
        for name in ("rita", "ruth"):
            found.server.person(name, default_role="researcher")
        yield found


@pytest.fixture
def place_with_a_report(tmp_path: Path) -> Iterator[Place]:
    with failing_place(tmp_path, report=True) as found:
        found.server.person("rita", default_role="researcher")
        yield found


def open_queue(page: Page, place: Place, who: str) -> None:
    sign_in(page, place.server, who)
    place.open(page, "revise", queue=1)
    expect(page.get_by_test_id("fields")).to_be_visible()


def at(page: Page, place: Place, number: int) -> None:
    expect(page.get_by_test_id("revision")).to_have_attribute("data-item", str(place.items[number - 1]))


def picture(page: Page, name: str) -> None:
    page.wait_for_timeout(700)
    screenshot(page, f"revise-{name}")


def test_a_box_on_a_page_becomes_evidence_or_an_image_by_keys_and_by_mouse(
    place_with_a_report: Place, new_page: NewPage
) -> None:
    place = place_with_a_report
    page = new_page(width=1366, height=768)
    open_queue(page, place, "rita")
    at(page, place, 1)
    before = len(page.get_by_test_id("fields").locator('[data-part="evidence"]').all())
    keys = page.keyboard
    expect(page.get_by_test_id("page").first).to_be_visible()
    keys.press("M")
    expect(page.get_by_test_id("mark-bar")).to_contain_text("arrows move the cross")
    for key in ("ArrowUp", "Enter", *["ArrowRight"] * 8, *["ArrowDown"] * 6, "Enter"):
        keys.press(key)
    row = page.locator('[data-part="evidence"]').nth(before)
    expect(row).to_be_focused()
    expect(row.locator(".new")).to_have_text("added")
    key = row.get_attribute("data-key") or ""
    expect(page.locator(f'.viewer [data-testid="evidence-box"][data-unit="{key}"]')).to_be_visible()
    expect(page.get_by_test_id("falls")).to_contain_text("complete")
    row.get_by_test_id(f"kind-{key}").select_option("table")
    keys.press("Escape")
    page.get_by_test_id("mark-image").click()
    sheet = page.get_by_test_id("page").first.bounding_box()
    assert sheet is not None
    x, y = sheet["x"] + sheet["width"] * 0.3, sheet["y"] + 120
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 90, y + 70, steps=4)
    page.mouse.up()
    image = page.locator('[data-part="images"]').last
    expect(image).to_be_focused()
    caption = image.locator("textarea")
    caption.fill("Delivered energy.")
    picture(page, "box-light")
    page.emulate_media(color_scheme="dark")
    picture(page, "box-dark")
    # It is there after a reload, and saved with the version.
    page.reload()
    expect(page.locator(f'.viewer [data-testid="evidence-box"][data-unit="{key}"]')).to_be_attached()
    keys.press("c")
    keys.type("The table settles it.")
    keys.press("Control+Enter")
    at(page, place, 2)
    found = item_details(place.server.db, place.server.admin, place.project_id, external_id="q1").item.content
    [added] = [unit for unit in found.evidence if unit.key == key]
    assert (added.kind, added.role, len(added.pages)) == ("table", "gold", 1) and added.box is not None
    assert (found.images[-1].caption, found.images[-1].box is not None) == ("Delivered energy.", True)


def test_two_items_are_revised_by_keyboard_alone_and_what_fell_comes_back_to_fresh_eyes(
    place: Place, new_page: NewPage
) -> None:
    page = new_page(width=1366, height=768)
    sign_in(page, place.server, "rita")
    place.open(page, "")
    page.get_by_role("link", name="Revise").first.click()
    expect(page.get_by_text("2 items in Energy reports wait for you")).to_be_visible()
    page.get_by_role("button", name="Begin").click()
    at(page, place, 1)
    expect(page.get_by_test_id("failing")).to_contain_text("Incomplete 2")
    keys = page.keyboard

    keys.press("Enter")
    expect(page.get_by_test_id("notice")).to_contain_text("Nothing differs")
    keys.press("2")
    keys.press("Control+A")
    keys.type("The cooperative delivered 69 GWh of 83 GWh contracted.")
    expect(page.get_by_test_id("difference-answer").locator("ins")).to_have_text(["The cooperative"])
    expect(page.get_by_test_id("falls")).to_contain_text("complete")
    expect(page.get_by_test_id("stays")).to_contain_text("self-contained")
    keys.press("Escape")
    keys.press("5")
    keys.press("ArrowLeft")
    expect(page.locator(".part-row .moved")).to_contain_text("distractor")
    picture(page, "edited-light")
    page.emulate_media(color_scheme="dark")
    picture(page, "edited-dark")
    page.emulate_media(color_scheme="light")
    keys.press("ArrowRight")
    keys.press("Control+Enter")
    expect(page.get_by_test_id("notice")).to_contain_text("Say why")
    keys.type("Two found it")
    keys.press("Shift+Enter")
    keys.press("Backspace")
    keys.type(" incomplete.")
    keys.press("Enter")  # in a reason it is OK

    at(page, place, 2)
    expect(page.get_by_test_id("news")).to_contain_text("q1: version 2 is saved")
    found = item_details(place.server.db, place.server.admin, place.project_id, external_id="q1")
    assert found.item.content.answer == "The cooperative delivered 69 GWh of 83 GWh contracted."
    assert found.versions[-1].reason == "Two found it incomplete."
    begins = page.get_by_test_id("field-answer").evaluate("node => getComputedStyle(node).unicodeBidi")
    assert begins == "plaintext"
    keys.press("2")
    keys.press("Control+A")
    keys.type("سلّمت التعاونية 69 جيجاواط ساعة.")
    expect(page.get_by_test_id("difference-answer")).to_be_visible()
    picture(page, "arabic")
    # Nothing is lost on a reload.
    page.reload()
    at(page, place, 2)
    expect(page.get_by_test_id("field-answer")).to_have_value("سلّمت التعاونية 69 جيجاواط ساعة.")
    expect(page.get_by_test_id("difference-answer")).to_be_visible()
    keys.press("c")
    keys.type("Shorter.")
    keys.press("Escape")
    keys.press("Enter")
    expect(page.get_by_test_id("nothing").or_(page.get_by_test_id("finished"))).to_be_visible()
    assert place.states()[:2] == [State.IN_RECHECK, State.IN_RECHECK]

    server = place.server
    study_id = place.study_id
    assert [row.fresh for row in to_recheck(server.db, server.admin, study_id)] == [0, 0]
    for name in ("carl", "cora"):
        actor = make_person(server.db, name)
        make_member(server.db, place.project_id, actor, "annotator")
        place.add(actor)
    read_guidelines(server.db, study_id)
    send_to_recheck(server.db, server.admin, study_id, reason="revised")
    for actor in place.added:
        label(server, actor, study_id, set())
    assert place.states()[:2] == [State.ACCEPTED, State.ACCEPTED]
    assert GOOD["complete"] == "complete"


def test_two_revisers_never_have_one_item_unknowingly(place: Place, new_page: NewPage) -> None:
    first, second = new_page(width=1366, height=768), new_page(width=1366, height=768)
    open_queue(first, place, "rita")
    at(first, place, 1)
    open_queue(second, place, "ruth")
    at(second, place, 2)

    # Each puts off what they have: the other's item is not theirs to take.
    second.keyboard.press("s")
    expect(second.get_by_test_id("notice")).to_contain_text("only item left")
    # The second opens the first one's item by its address, and is told; the first to save stands.
    place.open(second, "revise", item=place.items[0])
    at(second, place, 1)
    expect(second.get_by_test_id("news")).to_contain_text("rita has this item before them too")
    second.keyboard.press("1")
    second.keyboard.type(" Really?")
    first.keyboard.press("2")
    first.keyboard.type(" Not all of it.")
    for page in (first, second):
        page.keyboard.press("Escape")
        page.keyboard.press("c")
        page.keyboard.type("As two asked.")
    first.keyboard.press("Control+Enter")
    expect(first.get_by_test_id("news")).to_contain_text("q1: version 2 is saved")
    second.keyboard.press("Control+Enter")
    expect(second.get_by_test_id("notice")).to_contain_text("Somebody saved version 2 since you began from version 1")
    expect(second.get_by_test_id("field-answer")).to_have_value(
        "It delivered 69 GWh of 83 GWh contracted. Not all of it."
    )
    expect(second.get_by_test_id("field-question")).to_have_value(
        "How much did the cooperative deliver in 2024? Really?"
    )
    second.keyboard.press("Control+Enter")
    expect(second.get_by_test_id("finished")).to_contain_text("Version 3 is saved")
    item = item_details(place.server.db, place.server.admin, place.project_id, external_id="q1").item
    assert (item.number, item.content.answer.endswith("Not all of it.")) == (3, True)
    assert item.content.question.endswith("Really?")


def test_an_item_that_was_revised_since_it_was_fetched_ahead_is_passed_over(place: Place, new_page: NewPage) -> None:
    page = new_page(width=1366, height=768)
    open_queue(page, place, "rita")
    at(page, place, 1)
    page.wait_for_load_state("networkidle")  # the one that comes next is here
    about = (place.server.db, actor_named(place.server.db, "ruth"), place.project_id)
    given = {"answer": "It was written anew meanwhile."}
    revise_written(*about, external_id="q2", given=given, reason="as decided", from_version=1)
    page.keyboard.press("2")
    page.keyboard.type(" More.")
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    page.keyboard.type("More is more.")
    page.keyboard.press("Control+Enter")
    expect(page.get_by_test_id("finished")).to_be_visible()
    expect(page.get_by_test_id("news")).to_contain_text("waits for no revision any more. It was passed over.")


def test_an_answer_that_got_lost_is_no_second_version(place: Place, new_page: NewPage) -> None:
    page = new_page(width=1366, height=768)
    open_queue(page, place, "rita")
    page.keyboard.press("2")
    page.keyboard.type(" More.")
    page.keyboard.press("Escape")
    page.keyboard.press("c")
    page.keyboard.type("More is more.")

    def lose(route: Route) -> None:
        route.fetch()
        route.abort()

    page.route("**/api/items/*/revise", lose, times=1)
    page.keyboard.press("Control+Enter")
    expect(page.get_by_test_id("notice")).to_contain_text("it may be saved or not")
    page.keyboard.press("Enter")
    at(page, place, 2)
    found = item_details(place.server.db, place.server.admin, place.project_id, external_id="q1")
    assert (found.item.number, found.item.content.answer.endswith("More.")) == (2, True)


def test_who_rewords_a_claim_is_told_that_verdicts_on_it_fall(place: Place, new_page: NewPage) -> None:
    about = (place.server.db, place.server.admin, place.project_id)
    said = {"claim": "c1", "against": "context", "label": "entailment", "source": "people"}
    fields = {"claims": [{"key": "c1", "text": "It delivered 69 GWh."}], "metadata": {"verdicts": [said]}}
    revise_item(*about, external_id="q1", fields=fields, reason="as they came")
    page = new_page(width=1366, height=768)
    sign_in(page, place.server, "rita")
    place.open(page, "revise", item=place.items[0])
    page.get_by_test_id("field-answer_claims").fill("It delivered less than it had contracted.")
    expect(page.get_by_test_id("verdicts")).to_have_text(
        "1 verdict that came with the item falls: it is on what is edited."
    )


def test_what_cannot_be_kept_or_ended_is_said_and_done_by_key(place: Place, new_page: NewPage) -> None:
    page = new_page(width=1366, height=768)
    open_queue(page, place, "rita")
    page.keyboard.press("7")
    page.get_by_test_id("field-others").fill('{"documents": ["gone.pdf"]}')
    expect(page.get_by_test_id("effects")).to_contain_text("no document 'gone.pdf'")
    page.keyboard.press("Escape")
    page.keyboard.press("Backspace")
    expect(page.get_by_test_id("effects")).to_contain_text("Edit a field")
    page.keyboard.press("k")
    expect(page.get_by_test_id("field-answer_claims")).to_have_value("It delivered 69 GWh of 83 GWh contracted.")
    page.keyboard.press("Escape")
    page.keyboard.press("Backspace")
    page.keyboard.press("o")
    page.get_by_test_id("reason-field").fill("It is complete after all.")
    page.keyboard.press("Enter")
    at(page, place, 2)
    page.keyboard.press("d")
    page.get_by_test_id("reason-field").fill("Nobody asks this.")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("finished")).to_be_visible()
    assert place.states()[:2] == [State.ACCEPTED, State.REJECTED]
    page.keyboard.press("z")
    at(page, place, 2)


def test_an_item_that_cannot_be_drawn_is_left_for_later(place: Place, new_page: NewPage) -> None:
    page = new_page()
    sign_in(page, place.server, "rita")
    breaks = {place.items[0]}

    def broken(route: Route) -> None:
        found = route.fetch().json()
        if found["item_id"] in breaks:
            found["evidence"] = [None]
        route.fulfill(json=found)

    page.route("**/api/items/*/revision", broken)
    place.open(page, "revise", queue=1)
    expect(page.get_by_text("This item cannot be shown")).to_be_visible()
    picture(page, "cannot-be-shown")
    page.get_by_test_id("skip-unshown").click()
    at(page, place, 2)
    breaks.clear()
    page.evaluate(
        "showing => localStorage.setItem('assay-showing', showing)", being_shown(f"revision {place.items[0]}")
    )
    page.reload()
    at(page, place, 1)
    expect(page.get_by_text("This item stopped the page when it was shown last")).to_be_visible()
