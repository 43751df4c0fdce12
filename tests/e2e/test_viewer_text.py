"""Reading pages: words that are selected and copied, the search, phrases of the answer, and where passages stand."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageOps
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import NewPage, screenshot, sign_in
from tests.e2e.scene import Scene, answer_first_step, make_scene
from tests.e2e.viewer_scene import (
    LINES,
    ROOT,
    Shape,
    make_viewer_scene,
    open_viewer,
    pdf,
    place_of,
    wait_for_picture,
    wait_for_words,
)
from tests.servers import running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

OTHER = ("Nothing of note happened on the other days,", "apart from a dance in the saloon.")
PASSAGE = "Steering was lost for eleven minutes near the point. An efficient cooling pump would have kept the oil cold."
SHAPES = [
    Shape(words=OTHER),
    Shape(),
    Shape(words=OTHER),
    Shape(rotate=90),
    Shape(words=(*OTHER, "a crew of nineteen")),
]


def rows() -> list[dict[str, Any]]:
    unit = {"key": "e1", "kind": "passage", "document": "ferry.pdf", "pages": [2], "text": PASSAGE}
    return [
        {
            "answer": "The ferry carried 412 passengers and a crew of nineteen, and the anchor weighed 3,300 kg.",
            "references": ["Steering was lost for eleven minutes."],
            "documents": ["ferry.pdf"],
            "evidence": [unit],
        }
    ]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder: Path = tmp_path_factory.mktemp("viewer-text")
    with running_server(folder / "home") as server:
        yield make_viewer_scene(server, folder / "items", rows(), {"ferry.pdf": pdf(SHAPES)}, overlap=3)


@pytest.fixture
def page(new_page: NewPage, scene: Scene) -> Page:
    shown = open_viewer(new_page, scene)
    wait_for_picture(shown, 2)
    return shown


def selected(page: Page) -> str:
    return str(page.evaluate(f"{ROOT}.getSelection().toString()"))


def word(words: Locator, text: str) -> Locator:
    return words.get_by_text(text, exact=True).first


def select(page: Page, first: Locator, last: Locator, *, against: bool = False) -> None:
    """By dragging over both words; `against` the reading direction, where the text stands on its head."""
    begin, until = place_of(first), place_of(last)
    along = 0 if begin[2] - begin[0] > begin[3] - begin[1] else 1  # the axis on which the words follow each other
    before, after = (0.1, 0.01) if against else (0.01, 0.1)  # a word's element has the blank after it too
    start = begin[along] + before * (begin[along + 2] - begin[along]) + 0.5
    end = until[along + 2] - after * (until[along + 2] - until[along]) - 0.5
    across = (begin[1 - along] + begin[3 - along]) / 2, (until[1 - along] + until[3 - along]) / 2
    points = [(start, across[0]), ((start + end) / 2, sum(across) / 2), (end, across[1])]
    for number, point in enumerate(points):
        x, y = point if along == 0 else reversed(point)
        page.mouse.move(x, y, steps=4)
        if number == 0:
            page.mouse.down()
    page.mouse.up()


@pytest.mark.parametrize("turns", [0, 1, 2, 3])
@pytest.mark.parametrize("number", [2, 4])
def test_text_is_selected_on_upright_and_turned_pages(page: Page, number: int, turns: int) -> None:
    field = page.get_by_test_id("page-number")
    field.fill(str(number))
    field.press("Enter")
    wait_for_picture(page, number)
    for _ in range(turns):
        page.keyboard.press("r")
    page.keyboard.press("p")
    words = wait_for_words(page, number)
    page.wait_for_timeout(300)
    upside = turns in (2, 3) if number == 2 else turns in (1, 2)
    ends = word(words, "eleven"), word(words, "minutes")
    select(page, *(reversed(ends) if upside else ends), against=upside)
    assert selected(page).split() == ["eleven", "minutes"]


def test_selected_lines_are_copied_as_lines(page: Page) -> None:
    words = wait_for_words(page, 2)
    page.wait_for_timeout(300)
    select(page, word(words, "412"), word(words, "lost"))
    assert selected(page).strip() == "412 passengers and a crew of nineteen people.\nSteering was lost"
    expect(page.get_by_test_id("use-selection")).to_be_visible()


def test_words_lie_on_the_words_of_the_picture(page: Page) -> None:
    """Dark pixels of the picture are inside the words' boxes, and nowhere beside them on their line."""
    words = wait_for_words(page, 2)
    page.wait_for_timeout(300)
    shown = word(words, "passengers")
    left, top, right, bottom = place_of(shown)
    clip = {"x": left - 3, "y": top, "width": right - left, "height": bottom - top}  # the last part is a blank
    ink = ImageOps.invert(Image.open(BytesIO(page.screenshot(clip=clip))).convert("L")).point(lambda v: 255 * (v > 120))
    box = ink.getbbox()
    assert box
    assert 1 <= box[0] <= 8
    assert box[2] >= (right - left) * 0.85


def test_search_walks_through_the_document(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("nineteen")
    state = page.get_by_test_id("search-state")
    expect(state).to_contain_text("1 of 3")
    expect(state).to_contain_text("page 2")
    for number, hits in ((2, "1 hit"), (4, "1 hit"), (5, "1 hit")):
        assert hits in (
            page.locator(f'[data-testid="thumbnail"][data-page="{number}"]').get_attribute("aria-label") or ""
        )
    page.keyboard.press("Enter")
    expect(state).to_contain_text("2 of 3")
    wait_for_picture(page, 4)
    hit = page.locator('[data-page="4"] [data-testid="hit-search"].on')
    expect(hit).to_be_visible()
    assert_covers(hit, wait_for_words(page, 4), "nineteen")
    screenshot(page, "viewer-search")
    page.keyboard.press("Shift+Enter")
    expect(state).to_contain_text("1 of 3")
    page.keyboard.press("Escape")
    expect(page.get_by_test_id("search-field")).to_be_hidden()
    expect(page.locator('[data-testid="hit-search"]')).to_have_count(0)
    page.keyboard.press("1")  # the keys give labels again
    expect(page.locator('[data-criterion="right"] [aria-checked="true"]')).to_have_text("Yes1")


def test_what_is_not_in_the_document_is_said_to_be_absent(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("submarine")
    expect(page.get_by_test_id("search-state")).to_have_text("Not found in this document")


def test_phrases_are_counted_walked_and_said_to_be_absent(page: Page) -> None:
    phrases = page.get_by_test_id("phrase")
    expect(phrases.first).to_be_visible()
    people = phrases.filter(has_text="412")
    expect(people).to_contain_text("2× p. 2, 4")
    expect(page.get_by_test_id("all-phrases")).to_have_text("1 not found")
    assert "found 2 times, pages 2, 4" in (people.get_attribute("title") or "")
    page.get_by_test_id("all-phrases").click()
    expect(page.get_by_test_id("phrases-absent")).to_be_visible()
    expect(page.get_by_test_id("phrases-absent")).to_contain_text("Not found on these pages")
    expect(page.get_by_test_id("phrases-absent")).to_contain_text("3,300")
    expect(page.locator('[data-page="2"] [data-testid="hit-answer"]').first).to_be_visible()
    expect(page.locator('[data-page="2"] [data-testid="hit-reference"]').first).to_be_visible()
    screenshot(page, "viewer-phrases")
    seen = set()
    for _ in range(12):
        page.keyboard.press(".")
        seen.add(page.get_by_test_id("page-number").input_value())
    assert {"2", "4"} <= seen
    people.click()
    expect(people).to_have_attribute("aria-current", "true")
    page.get_by_test_id("phrases").click()
    expect(page.locator('[data-testid="hit-answer"]')).to_have_count(0)


def test_a_passage_without_a_box_is_found_on_its_page(page: Page) -> None:
    place = page.locator('[data-page="2"] [data-testid="evidence-place"]')
    expect(place).to_be_visible()
    lights = page.locator('[data-page="2"] .hl.found')
    words = wait_for_words(page, 2)
    assert_covers(lights.first, words, "Steering")
    assert_covers(lights.last, words, "cooling")


def test_tags_hide_no_word_of_the_page(new_page: NewPage, tmp_path: Path) -> None:
    """Two passages that begin in the middle of a line, of which one goes on to the next, and one with a box."""
    texts = ["so on to the end Steering was lost", "eleven minutes near the point."]
    units = [
        {"key": f"e{number}", "kind": "passage", "document": "ferry.pdf", "pages": [1], "text": text}
        for number, text in enumerate(texts, 1)
    ]
    units.append({**units[0], "key": "e3", "text": "", "box": [0.1, 0.33, 0.6, 0.36]})
    row = {"answer": "It did.", "documents": ["ferry.pdf"], "evidence": units}
    lines = tuple(f"{line} and so on to the end" for line in LINES[:2])
    shape = Shape(words=(*lines, *LINES[2:]))
    with running_server(tmp_path / "home") as server:
        scene = make_viewer_scene(server, tmp_path / "items", [row], {"ferry.pdf": pdf([shape])})
        page = open_viewer(new_page, scene)
        tags = page.locator('[data-page="1"] .ev em')
        expect(tags).to_have_count(3)
        words = [place_of(word) for word in wait_for_words(page, 1).locator("span").all()]
        screenshot(page, "viewer-tags")
        for tag in tags.all():
            left, top, right, bottom = place_of(tag)
            for x0, y0, x1, y1 in words:
                assert min(right, x1) - max(left, x0) < 2 or min(bottom, y1) - max(top, y0) < 3, tag.inner_text()


def test_the_page_can_be_used_before_anything_is_found(new_page: NewPage, scene: Scene) -> None:
    """Phrases, passages and words that never come keep nobody from labelling."""
    page = new_page()
    for route in ("**/phrases?**", "**/passages?**", "**/page-words/**"):
        page.route(route, lambda asked: asked.fulfill(status=404, json={"error": "gone", "kind": "NotFound"}))
    sign_in(page, scene.server, "ben")
    page.goto(scene.address())
    wait_for_picture(page, 2)
    expect(page.locator(".phrases-line")).to_be_hidden()
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("finished")).to_be_visible()


def assert_covers(box: Locator, words: Locator, text: str) -> None:
    """The box lies over the word, whose element has the blank after it too, and little beside it."""
    outer, inner = place_of(box), place_of(word(words, text))
    shared = [min(outer[2], inner[2]) - max(outer[0], inner[0]), min(outer[3], inner[3]) - max(outer[1], inner[1])]
    assert min(shared) > 0
    assert shared[0] >= 0.75 * (inner[2] - inner[0])
    assert shared[1] >= 0.75 * (inner[3] - inner[1])


def test_arabic_words_are_copied_in_reading_order(new_page: NewPage, tmp_path: Path) -> None:
    with running_server(tmp_path / "home") as server:
        scene = make_scene(server, tmp_path / "sample", items=1, documents=("ain-rayhan-2024.pdf",))
        page = open_viewer(new_page, scene)
        answer_first_step(page)
        page.locator(".page-words span").first.wait_for()
        page.wait_for_timeout(500)
        screenshot(page, "viewer-arabic")
        layer = page.locator(".page-words").first
        assert layer.evaluate("one => [...one.querySelectorAll('span')].filter((s) => s.dir === 'rtl').length") > 20
        line = layer.evaluate(
            """one => {
              const spans = [...one.querySelectorAll('span')];
              const words = spans.map((s) => [s.innerText.trim(), s.getBoundingClientRect()]);
              const at = words.findIndex(([text, box], n) => n > 20 && words.slice(n, n + 4).every(
                ([t, b]) => /[\\u0600-\\u06ff]{3}/.test(t) && Math.abs(b.top - box.top) < 3));
              return words.slice(at, at + 4).map(([text, box]) => box.left);
            }"""
        )
        assert line == sorted(line, reverse=True), "Arabic words follow each other from right to left"
