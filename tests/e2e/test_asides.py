"""What a study asks beside labels, answered by key."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from sqlmodel import select

from db.models import StoredLabel
from tests.e2e.conftest import NewPage, screenshot, sign_in
from tests.e2e.scene import Scene, judgement, make_scene, wait_for_step
from tests.servers import running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder: Path = tmp_path_factory.mktemp("asides")
    with running_server(folder / "home") as server:
        yield make_scene(server, folder / "sample", items=2, overlap=1, ask=("confidence", "same"))


def test_confidence_and_what_others_will_say_are_given_by_key(scene: Scene, new_page: NewPage) -> None:
    page = new_page(width=1366, height=768)
    sign_in(page, scene.server, "ada")
    page.goto(scene.address())
    wait_for_step(page, "Question alone")
    rows = judgement(page).locator("[data-testid=criterion]:visible")
    expect(rows).to_have_count(2)
    page.keyboard.press("1")
    expect(rows).to_have_count(4)
    expect(rows.nth(1)).to_have_attribute("aria-current", "true")
    expect(rows.nth(1)).to_contain_text("How sure are you?")
    page.keyboard.press("Enter")
    expect(judgement(page)).to_contain_text("Question is self-contained: how sure; ")
    for key in ("3", "t"):
        page.keyboard.press(key)
    expect(rows.nth(3)).to_have_attribute("aria-current", "true")
    screenshot(page, "asides")
    for key in ("2", "1", "4"):
        page.keyboard.press(key)
    page.reload()
    wait_for_step(page, "Question alone")
    expect(rows).to_have_count(6)
    expect(rows.nth(2).locator("[aria-checked=true]")).to_have_attribute("data-value", "10")
    page.wait_for_timeout(700)  # an Enter within a blink belongs to what was there before
    page.keyboard.press("Enter")
    wait_for_step(page, "With answer and evidence")
    with scene.server.db.read() as session:
        stored = session.exec(select(StoredLabel)).all()
    assert [(row.criterion, row.value, row.confidence, row.same) for row in stored] == [
        ("self_contained", "true", "high", 10),
        ("human_like", "false", "low", 4),
    ]


def test_the_page_has_room_for_them_in_the_dark(scene: Scene, new_page: NewPage) -> None:
    page = new_page(dark=True, width=1366, height=768)
    sign_in(page, scene.server, "ben")
    page.goto(scene.address())
    wait_for_step(page, "Question alone")
    for key in ("1", "3", "8", "1", "2", "5", "Enter"):
        page.keyboard.press(key)
    wait_for_step(page, "With answer and evidence")
    page.keyboard.press("1")
    expect(judgement(page).locator("[aria-current=true]")).to_contain_text("How sure are you?")
    screenshot(page, "asides-dark")
