"""The qualification by keyboard: passed, and failed in the last try."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from db.quality.gold import GoldRow
from db.quality.qualification import qualifications, set_qualification
from tests.e2e.conftest import NewPage, screenshot, sign_in
from tests.e2e.scene import Scene, judgement, make_scene
from tests.makers import make_item
from tests.servers import running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
MISSING = (
    "How much did it improve?",
    "ambiguous",
    "Nothing says what improved, where, or since when: nobody could look.",
)
WHOLE = (
    "Who was the first keeper of the Tern Sound light?",
    "clear",
    "The light is named, and one person was the first.",
)


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder: Path = tmp_path_factory.mktemp("qualification")
    with running_server(folder / "home") as server:
        made = make_scene(server, folder / "sample", items=2, protocol="ambiguity", overlap=2)
        rows = []
        for line, (question, value, why) in enumerate((MISSING, WHOLE), 2):
            make_item(server.db, made.project_id, f"known-{line}", question=question)
            rows.append(GoldRow(line, f"known-{line}", "ambiguity", "item", value, why))
        set_qualification(
            server.db, server.admin, made.study_id, rows=rows, mark=0.9, tries=2, reason="to see who reads"
        )
        yield made


def open_page(scene: Scene, page: Page, name: str) -> None:
    sign_in(page, scene.server, name)
    page.goto(scene.address())
    expect(page.get_by_test_id("qualifying")).to_contain_text("Qualification: item 1 of 2, try 1 of 2.")
    page.keyboard.press("s")  # said at once, not after a reason was given
    expect(page.get_by_text("Items of the qualification cannot be skipped.")).to_be_visible()
    expect(page.get_by_test_id("reason-field")).to_have_count(0)


def answer(page: Page, question: str, *keys: str) -> None:
    """The labels by key; for an ambiguous one the reason is typed."""
    expect(page.get_by_test_id("question")).to_have_text(question)
    for key in keys:
        page.keyboard.press(key)


def say_ambiguous(page: Page) -> None:
    answer(page, MISSING[0], "2")
    page.keyboard.type("What improved?")
    for key in ("Escape", "Enter"):  # out of the field, then submit
        page.keyboard.press(key)


def standing(scene: Scene, name: str) -> tuple[str, int, int, int]:
    rows = qualifications(scene.server.db, scene.server.admin, scene.study_id)
    return next((row.state, row.tries, row.right, row.labels) for row in rows if row.name == name)


def test_who_passes_is_told_after_each_item_and_gets_the_study(scene: Scene, new_page: NewPage) -> None:
    page = new_page(width=1366, height=768)
    open_page(scene, page, "ada")
    answer(page, MISSING[0], "1", "Enter")
    told = page.get_by_test_id("feedback-unit")
    expect(told).to_have_count(1)
    expect(told).to_contain_text("You: Clear. Right: Ambiguous")
    expect(told).to_contain_text(MISSING[2])
    expect(page.get_by_test_id("question")).to_have_text(MISSING[0])
    screenshot(page, "qualification-wrong")
    page.get_by_test_id("submit").click()
    expect(page.get_by_test_id("told")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("qualifying")).to_contain_text("item 2 of 2")
    answer(page, WHOLE[0], "1", "Enter")
    expect(page.get_by_test_id("tried")).to_have_text(
        "The study asks for 90 %. You can try once more: the same items come again."
    )
    screenshot(page, "qualification-again")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("qualifying")).to_contain_text("item 1 of 2, try 2 of 2")
    say_ambiguous(page)
    expect(page.get_by_role("dialog", name="1 of 1 right")).to_be_visible()
    page.keyboard.press("Enter")
    answer(page, WHOLE[0], "1", "Enter")
    expect(page.get_by_role("dialog", name="You have passed: 2 of 2 labels right")).to_be_visible()
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("qualifying")).to_have_count(0)
    expect(judgement(page)).to_be_visible()
    expect(page.get_by_test_id("question")).not_to_have_text(WHOLE[0])
    assert standing(scene, "ada") == ("passed", 2, 2, 2)


def test_who_fails_the_last_try_reads_it_and_gets_nothing(scene: Scene, new_page: NewPage) -> None:
    page = new_page(width=1366, height=768, dark=True)
    open_page(scene, page, "ben")
    for _ in range(2):
        for question in (MISSING[0], WHOLE[0]):
            answer(page, question, "1", "Enter")
            expect(page.get_by_test_id("feedback")).to_be_visible()
            if question == MISSING[0]:
                page.keyboard.press("Escape")  # as good as Enter: it was read
            else:
                screenshot(page, "qualification-failed")
                page.keyboard.press("Enter")
    expect(page.get_by_test_id("halted")).to_contain_text(
        "Thank you for trying. In your last try 1 of 2 labels were right"
    )
    screenshot(page, "qualification-halted")
    page.reload()
    expect(page.get_by_test_id("halted")).to_contain_text("unless its researcher lets you in")
    assert standing(scene, "ben") == ("failed", 2, 1, 2)
