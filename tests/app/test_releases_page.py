"""The page Releases, the release on the page Export, and ends by hand on an item's page."""

from __future__ import annotations

import pytest

from app.wording import plain
from db.releasing.endings import end_item
from db.releasing.releases import list_releases, make_release
from tests.app.filled import Filled, no_problem, press
from tests.app.pages import Pages


@pytest.fixture
def filled(pages: Pages) -> Filled:
    return Filled(pages)


def accept(filled: Filled, item: str, state: str | None = "accepted") -> None:
    end_item(filled.pages.db, filled.study.researcher, filled.project_id, external_id=item, state=state, reason="read")


def test_a_release_is_made_and_two_are_compared(filled: Filled) -> None:
    page = filled.open("rosa", "releases")
    assert "Nothing has been released yet." in no_problem(page)
    page.text_input(key="release-name").input("v1")
    press(page, "Make the release")
    assert "No item is accepted yet" in page.error[0].value
    accept(filled, "i00001")
    page = filled.open("rosa", "releases")
    page.text_input(key="release-name").input("v1").run()
    assert plain("Left out: 1 accepted item with something open: i00001.") in no_problem(page)
    page.checkbox(key="release-open").check().run()
    assert "1 item with" in no_problem(press(page, "Make the release")) + page.success[0].value
    accept(filled, "i00001", "rejected")
    accept(filled, "i00002")
    make_release(filled.pages.db, filled.study.researcher, filled.project_id, name="v2", keep=["open"])
    for who in ("rosa", "vera"):
        shown = no_problem(filled.open(who, "releases"))
        assert "Items that came and went" in shown
        assert shown.index(">i00002<") < shown.index(">i00001<")
    page = filled.open("vera", "releases")
    assert not page.button
    page.selectbox(key="release-from").select("v2").run()
    assert "They have the same items and labels." in no_problem(page)


def test_a_release_is_chosen_for_the_export_and_has_no_single_labels(filled: Filled) -> None:
    accept(filled, "i00001")
    make_release(filled.pages.db, filled.study.researcher, filled.project_id, name="v1", keep=["open"])
    page = filled.open("rosa", "exports", release="v1")
    assert [box.key for box in page.checkbox if box.key == "exports-format-labels"] == []
    press(page, "Make the export")
    assert "v1.zip" in no_problem(page)


def test_an_item_is_ended_on_its_page_and_taken_up_again(filled: Filled) -> None:
    assert "disputed" in no_problem(filled.open("vera", "item", item=1))
    page = filled.open("rosa", "item", item=1)
    press(page, "Save")
    assert "Say why" in page.error[0].value
    page.selectbox(key="end-state-i00001-disputed").select("rejected")
    page.text_input(key="end-reason-i00001-disputed").input("The source is gone.")
    press(page, "Save")
    assert "rejected" in no_problem(page)
    assert "rejected" in no_problem(filled.open("rosa", "data"))
    page.text_input(key="end-reason-i00001-rejected").input("It is back.")
    press(page, "Save")
    assert "disputed" in no_problem(page)
    assert list_releases(filled.pages.db, filled.study.researcher, filled.project_id) == []
