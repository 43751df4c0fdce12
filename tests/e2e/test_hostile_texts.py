"""A text cannot freeze a page: it is shown as it was written, the page says so, and the item can be skipped."""

from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from playwright.sync_api import Page, Route, expect

from tests.e2e.conftest import NewPage, screenshot, sign_in
from tests.e2e.own_items import item, make_own_scene, open_as
from tests.e2e.scene import Scene, being_shown, judgement
from tests.servers import running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

CELL = "<td colspan=100 rowspan=100>cell</td>"
SPANNED = "<table>" + f"<tr>{CELL * 190}</tr>" * 15 + "</table>"
"""97 kB within every single limit: 2,850 cells that reach over 28 million places."""

LONG = "A sentence that goes on and on. " * 30_000


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder = tmp_path_factory.mktemp("hostile")
    rows = [
        item(1, question=f"What of meeting number 1?\n{SPANNED}", evidence=1),
        item(2, question=f"What of meeting number 2? {LONG}", evidence=1),
        item(3, question="What of *meeting number 3*?", evidence=1),
    ]
    with running_server(folder / "home") as server:
        yield make_own_scene(server, folder / "in", rows, protocol="ambiguity", name="Hostile")


def _skip(page: Page) -> None:
    page.keyboard.press("s")
    page.get_by_text("The item is broken").click()
    page.keyboard.press("Enter")


def test_each_is_on_the_screen_in_seconds_and_can_be_skipped(scene: Scene, new_page: NewPage) -> None:
    began = time.monotonic()
    page = open_as(new_page, scene, "ada")
    seen = []
    for number in (1, 2, 3):
        expect(page.get_by_test_id("question")).to_contain_text(f"meeting number {number}", timeout=20_000)
        note = page.get_by_test_id("question").get_by_test_id("text-note")
        seen.append(note.inner_text() if note.count() else "")
        screenshot(page, f"hostile-text-{number}")
        _skip(page)
    assert time.monotonic() - began < 60
    assert "more tables or signs than can be drawn" in seen[0]
    assert "characters more are not shown" in seen[1]
    assert seen[2] == ""


def test_an_item_that_stopped_the_page_comes_back_in_plain_texts(scene: Scene, new_page: NewPage) -> None:
    page = open_as(new_page, scene, "ben")
    expect(page.locator("body")).not_to_contain_text("stopped the page")
    assert page.evaluate("localStorage.getItem('assay-showing')") is None  # it is on the screen
    work = page.request.get(f"{scene.server.url}/api/studies/{scene.study_id}/work").json()
    page.evaluate(
        "showing => localStorage.setItem('assay-showing', showing)", being_shown(work["items"][0]["assignment"])
    )
    page.reload()
    expect(judgement(page)).to_be_visible(timeout=20_000)
    expect(page.get_by_text("stopped the page")).to_be_visible()
    expect(page.locator(".item-text.rendered")).to_have_count(0)
    _skip(page)
    expect(page.get_by_test_id("question")).to_contain_text("meeting number 2", timeout=20_000)


def test_an_item_that_cannot_be_drawn_can_be_skipped(scene: Scene, new_page: NewPage) -> None:
    page = new_page()
    sign_in(page, scene.server, "chloe")

    def broken(route: Route) -> None:
        work = route.fetch().json()
        work["items"][0]["evidence"] = [None]
        route.fulfill(json=work)

    page.route("**/api/studies/*/work", broken)
    page.goto(scene.address())
    expect(page.get_by_text("This item cannot be shown")).to_be_visible(timeout=20_000)
    screenshot(page, "hostile-item")
    page.unroute_all(behavior="wait")
    page.get_by_test_id("skip-unshown").click()
    expect(page.get_by_test_id("question")).to_contain_text("meeting number 2", timeout=20_000)
