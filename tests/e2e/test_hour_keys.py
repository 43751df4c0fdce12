"""Keys of one's own: changed on the sheet, shown on the buttons, the same on every computer, never two alike."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from db.people.accounts import actor_named
from db.people.preferences import my_preferences, set_preference
from tests.e2e.conftest import NewPage, screenshot, sign_in
from tests.e2e.own_items import item, make_own_scene, open_as
from tests.e2e.scene import Scene, answer_first_step, wait_for_step
from tests.servers import running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder: Path = tmp_path_factory.mktemp("keys")
    with running_server(folder / "home") as server:
        yield make_own_scene(server, folder / "sample", [item(number) for number in range(1, 5)], name="Keys")


@pytest.fixture(autouse=True)
def no_settings(scene: Scene) -> Iterator[None]:
    yield
    for name in ("ada", "ben"):
        for setting in ("keys", "label_keys", "next_step"):
            set_preference(scene.server.db, actor_named(scene.server.db, name), setting, value=None)


def sheet(page: Page) -> Locator:
    return page.get_by_test_id("key-sheet")


def change(page: Page, action: str, key: str) -> None:
    """Choose a key on the open sheet and press another."""
    sheet(page).locator(f'[data-action="{action}"]').click()
    page.keyboard.press(key)


def stored(scene: Scene, name: str) -> dict[str, object]:
    return my_preferences(scene.server.db, actor_named(scene.server.db, name))


def test_a_changed_key_is_on_the_button_works_and_is_there_on_another_computer(scene: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, scene, "ada")
    page.keyboard.press("?")
    expect(sheet(page)).to_be_visible()
    sheet(page).locator('[data-action="skip"]').click()
    expect(page.get_by_test_id("key-words")).to_contain_text("Press the new key for “Skip this item”")
    page.keyboard.press("Shift")  # on the way to a capital letter: nothing yet
    screenshot(page, "hour-keys-waiting")
    page.keyboard.press("k")
    expect(page.get_by_test_id("key-words")).to_contain_text("“Skip this item” is now on k")
    page.keyboard.press("Escape")
    expect(sheet(page)).to_be_hidden()
    expect(page.get_by_test_id("skip").locator("kbd")).to_have_text("k")
    expect(page.get_by_test_id("skip")).to_have_attribute("aria-keyshortcuts", "k")
    page.keyboard.press("s")  # the key it had does nothing any more
    expect(page.get_by_role("dialog", name="Why do you skip this item?")).to_have_count(0)
    page.keyboard.press("k")
    expect(page.get_by_role("dialog", name="Why do you skip this item?")).to_be_visible()
    page.keyboard.press("Escape")
    assert stored(scene, "ada") == {"keys": {"skip": "k"}}

    elsewhere = open_as(new_page, scene, "ada")
    expect(elsewhere.get_by_test_id("skip").locator("kbd")).to_have_text("k")
    other_person = open_as(new_page, scene, "ben")
    expect(other_person.get_by_test_id("skip").locator("kbd")).to_have_text("s")


def test_a_key_that_is_taken_is_refused_in_words_and_nothing_changes(scene: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, scene, "ada")
    page.keyboard.press("?")
    change(page, "flag", "x")  # what else is refused, and in which words: tests/js/keys.test.js
    expect(page.get_by_test_id("key-words")).to_contain_text("x is the key of “Cannot judge”")
    expect(page.get_by_test_id("key-words")).to_contain_text("Nothing was changed")
    screenshot(page, "hour-keys-taken")
    change(page, "flag", "Escape")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("flag").locator("kbd")).to_have_text("f")
    assert stored(scene, "ada") == {}


def test_labels_get_keys_of_ones_own_and_lose_them_again(scene: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, scene, "ben")
    page.keyboard.press("?")
    change(page, "self_contained/true", "y")
    change(page, "self_contained/false", "y")
    expect(page.get_by_test_id("key-words")).to_contain_text("y gives the label “True”")
    change(page, "self_contained/false", "n")
    change(page, "comment", "n")
    expect(page.get_by_test_id("key-words")).to_contain_text("n gives the label “False”")
    page.keyboard.press("Escape")
    first = page.locator('[data-criterion="self_contained"]')
    expect(first.locator("kbd")).to_have_text(["y", "n"])
    page.keyboard.press("n")
    expect(first.get_by_role("radio", name="False")).to_be_checked()
    page.reload()
    expect(first.locator("kbd")).to_have_text(["y", "n"])
    page.keyboard.press("?")
    page.get_by_test_id("keys-reset").click()
    expect(page.get_by_test_id("key-words")).to_contain_text("as they were at first")
    page.keyboard.press("Escape")
    expect(first.locator("kbd")).to_have_text(["1", "2"])
    page.wait_for_function("Object.keys(localStorage).every((key) => !key.startsWith('assay.preferences'))")
    assert stored(scene, "ben") == {}


def test_a_change_without_a_connection_holds_at_once_and_is_kept_when_it_is_back(
    scene: Scene, new_page: NewPage
) -> None:
    page = open_as(new_page, scene, "ben")
    page.context.set_offline(True)
    page.keyboard.press("?")
    change(page, "comment", "k")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("comment").locator("kbd")).to_have_text("k")
    assert stored(scene, "ben") == {}
    page.context.set_offline(False)
    page.wait_for_function("Object.keys(localStorage).every((key) => !key.startsWith('assay.preferences'))")
    assert stored(scene, "ben") == {"keys": {"comment": "k"}}


def test_the_account_page_lists_the_changes_and_takes_them_back(scene: Scene, new_page: NewPage) -> None:
    set_preference(scene.server.db, actor_named(scene.server.db, "ben"), "keys", value={"skip": "k"})
    page = new_page()
    sign_in(page, scene.server, "ben")
    page.goto(f"{scene.server.url}/account")
    expect(page.get_by_role("row", name="Skip this item")).to_contain_text("k")
    screenshot(page, "hour-account")
    page.get_by_role("button", name="All keys as they were").click()
    expect(page.get_by_text("All keys are as the program has them.")).to_be_visible()
    assert stored(scene, "ben") == {}


def test_keys_are_letters_while_one_types_and_the_focus_stays_on_the_sheet(scene: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, scene, "ada")
    answer_first_step(page)
    page.keyboard.press("c")
    page.keyboard.type("zsxfg?[]")
    expect(page.get_by_test_id("comment-field").first).to_have_value("zsxfg?[]")
    page.keyboard.press("Escape")
    wait_for_step(page, "With answer and evidence")
    page.keyboard.press("?")
    for _ in range(40):  # never behind the sheet
        page.keyboard.press("Tab")
    inside = page.evaluate(
        "document.querySelector('[data-testid=annotate]').shadowRoot.activeElement?.closest('dialog') !== null"
    )
    assert inside


def test_for_who_wants_that_the_last_label_of_a_step_opens_the_next_but_never_ends_an_item(
    scene: Scene, new_page: NewPage
) -> None:
    page = open_as(new_page, scene, "ben")
    page.keyboard.press("?")
    page.get_by_test_id("next-step").check()
    screenshot(page, "hour-keys-next-step")
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    page.keyboard.press("1")
    wait_for_step(page, "With answer and evidence")  # without Enter
    units = page.locator('[data-testid="criterion"][data-criterion="grounding"]').count()
    for _ in range(3 + units):
        page.keyboard.press("1")
    expect(page.locator('[data-criterion] [aria-checked="true"]')).to_have_count(3 + units)
    wait_for_step(page, "With answer and evidence")
    page.keyboard.press("Enter")
    wait_for_step(page, "Question alone")
    assert stored(scene, "ben") == {"next_step": "at_once"}
