"""Looking at pages: sharp at every zoom, panning, turning, two pages, jumping, and boxes that lie where they belong."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.e2e.conftest import NewPage, screenshot
from tests.e2e.scene import Scene
from tests.e2e.viewer_scene import (
    ROOT,
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
)
from tests.servers import running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

SHAPES = [
    Shape(),
    Shape(rotate=90),
    Shape(width=842, height=595),
    Shape(width=200, height=700),
    Shape(rotate=180),
    Shape(rotate=270),
    Shape(width=1684, height=2384),
]


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder: Path = tmp_path_factory.mktemp("viewer")
    units = [table(number, "mixed.pdf", number, red_box(shape)) for number, shape in enumerate(SHAPES, 1)]
    rows = [{"answer": "Yes.", "documents": ["mixed.pdf"], "evidence": units}]
    with running_server(folder / "home") as server:
        yield make_viewer_scene(server, folder / "items", rows, {"mixed.pdf": pdf(SHAPES)}, overlap=3)


@pytest.fixture
def page(new_page: NewPage, scene: Scene) -> Page:
    shown = open_viewer(new_page, scene)
    shown.locator('[data-testid="page"] img').first.wait_for()
    return shown


# Whether the picture of page 1, or every tile over it, has as many pixels as the screen shows of it.
SHARP = f"""() => {{
  const own = {ROOT}.querySelector('[data-testid=page][data-page="1"]');
  const dense = (picture) => picture.naturalWidth >= 0.98 * picture.getBoundingClientRect().width * devicePixelRatio;
  const tiles = [...own.querySelectorAll('.tiles img')];
  return dense(own.querySelector('.picture img')) || (tiles.length > 0 && tiles.every(dense));
}}"""


def unit_on(page: Page, number: int) -> str:
    """The key of the unit on a page of the document: their order is not the item's."""
    return page.get_by_test_id("unit-chip").filter(has_text=f"p. {number}").locator("b").inner_text()


def show_unit(page: Page, number: int) -> str:
    key = unit_on(page, number)
    page.get_by_test_id("unit-chip").filter(has_text=f"p. {number}").click()
    wait_for_picture(page, number)
    settle(page)
    return key


def current_page(page: Page) -> str:
    return page.get_by_test_id("page-number").input_value()


def zoom(page: Page) -> int:
    return int(page.get_by_test_id("zoom").inner_text().removesuffix(" %"))


@pytest.mark.parametrize("number", range(1, len(SHAPES) + 1))
def test_a_box_lies_on_what_it_is_about_whatever_the_shape_of_the_page(page: Page, number: int) -> None:
    key = show_unit(page, number)
    page.keyboard.press("p")  # the whole page
    settle(page)
    for _ in range(4):
        box = page.locator(f'[data-testid="evidence-box"][data-unit="{key}"]')
        assert_same_place(place_of_box(box), red_on_screen(page, number))
        page.keyboard.press("r")
        settle(page)


def test_zooming_is_about_the_pointer_and_keeps_a_picture_in_view(page: Page) -> None:
    key = show_unit(page, 1)
    box = page.locator(f'[data-testid="evidence-box"][data-unit="{key}"]')
    left, top, *_ = place_of_box(box)
    x, y = round(left), round(top)
    page.evaluate(
        f"""() => {{
          window.bare = 0;
          const look = () => {{
            const own = [...{ROOT}.querySelectorAll('[data-testid=page][data-page="1"] .picture img')];
            if (!own.some((picture) => picture.complete && picture.naturalWidth)) window.bare += 1;
            requestAnimationFrame(look);
          }};
          look();
        }}"""
    )
    page.mouse.move(x, y)
    page.keyboard.down("Control")
    for _ in range(8):
        page.mouse.wheel(0, -50)
    page.keyboard.up("Control")
    expect(page.get_by_test_id("zoom")).not_to_have_text("100 %")
    factor = zoom(page) / 100
    assert factor > 3
    assert_same_place(place_of_box(box)[:2], (x + (left - x) * factor, y + (top - y) * factor), within=2)
    page.wait_for_timeout(600)
    settle(page)
    assert page.evaluate("window.bare") == 0, "for some frames there was no picture"


def test_every_zoom_is_sharp(page: Page) -> None:
    show_unit(page, 1)
    for _ in range(9):
        page.keyboard.press("+")
        page.wait_for_timeout(200)
        page.wait_for_function(SHARP)
    assert zoom(page) > 400
    screenshot(page, "viewer-zoomed")


def test_a_zoomed_page_is_dragged(page: Page) -> None:
    key = show_unit(page, 1)
    for _ in range(4):
        page.keyboard.press("+")
    box = page.locator(f'[data-testid="evidence-box"][data-unit="{key}"]')
    left, top, *_ = place_of_box(box)
    page.mouse.move(500, 600)
    page.mouse.down()
    page.mouse.move(440, 540, steps=5)
    page.mouse.up()
    assert_same_place(place_of_box(box)[:2], (left - 60, top - 60), within=2)


def test_two_fingers_zoom_and_one_scrolls(page: Page) -> None:
    show_unit(page, 1)
    session = page.context.new_cdp_session(page)

    def touch(kind: str, *points: tuple[float, float]) -> None:
        fingers = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})

    touch("touchStart", (400, 400))
    touch("touchStart", (400, 400), (500, 400))
    for step in range(1, 6):
        touch("touchMove", (400 - 20 * step, 400), (500 + 20 * step, 400))
        page.wait_for_timeout(60)
    expect(page.get_by_test_id("zoom")).to_have_text("300 %")
    touch("touchEnd")
    before = place_of(wait_for_picture(page, 1))[1]
    touch("touchStart", (400, 500))
    for step in range(1, 6):
        touch("touchMove", (400, 500 - 20 * step))
        page.wait_for_timeout(60)
    touch("touchEnd")
    page.wait_for_timeout(300)
    assert place_of(wait_for_picture(page, 1))[1] < before - 40


def test_fit_rotate_and_two_pages_by_key(page: Page) -> None:
    show_unit(page, 1)
    page.keyboard.press("p")
    whole = place_of(wait_for_picture(page, 1))
    view = place_of(page.locator(".pages"))
    assert whole[3] - whole[1] <= view[3] - view[1]
    page.keyboard.press("w")
    assert zoom(page) == 100
    page.keyboard.press("d")
    left, right = place_of(wait_for_picture(page, 1)), place_of(wait_for_picture(page, 2))
    assert left[2] < right[0]
    assert abs(left[1] - right[1]) < 1
    page.keyboard.press("]")
    assert current_page(page) == "3"
    screenshot(page, "viewer-two-pages")
    page.keyboard.press("d")
    place = place_of(wait_for_picture(page, 3))
    assert place[2] - place[0] > 1.8 * (left[2] - left[0])


def test_jump_by_number_and_turn_by_key(page: Page) -> None:
    field = page.get_by_test_id("page-number")
    field.fill("5")
    field.press("Enter")
    wait_for_picture(page, 5)
    expect(page.locator('[data-testid="thumbnail"][aria-current="page"]')).to_have_attribute("data-page", "5")
    page.keyboard.press("[")
    assert current_page(page) == "4"
    field.fill("999")
    field.press("Enter")
    assert current_page(page) == str(len(SHAPES))
    thumbnail = page.locator('[data-testid="thumbnail"][data-page="2"]')
    assert unit_on(page, 2) in (thumbnail.get_attribute("aria-label") or "")


def test_a_table_opens_enlarged_and_escape_goes_back(page: Page) -> None:
    key = show_unit(page, 4)
    before = zoom(page)
    page.keyboard.press("e")
    settle(page)
    box = page.locator(f'[data-testid="evidence-box"][data-unit="{key}"]')
    place, view = place_of_box(box), place_of(page.locator(".pages"))
    assert place[2] - place[0] > 0.9 * (view[2] - view[0])
    assert_same_place(place, red_on_screen(page, 4), within=5)
    page.keyboard.press("Escape")
    assert zoom(page) == before


def test_everything_is_named_and_reached_by_keyboard(page: Page) -> None:
    for tool in page.locator('[role="toolbar"] button:visible').all():
        assert tool.get_attribute("aria-label") or tool.inner_text().strip()
    page.keyboard.press("?")
    sheet = page.get_by_test_id("key-sheet")
    for words in ("Search the document", "Next hit", "Two pages", "Enlarge", "Mark what supports"):
        expect(sheet).to_contain_text(words, ignore_case=True)


def test_a_page_that_is_shown_is_its_own_thumbnail(page: Page) -> None:
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url.split("/page-images/")[-1]))
    page.reload()
    page.locator('[data-testid="page"] img').first.wait_for()
    strip = page.locator(".strip button")
    expect(strip.nth(3).locator("img")).to_have_count(1)
    expect(strip.first.locator("img")).to_have_count(1)
    pictures = [address.split("/")[1] for address in asked if "?w=" in address]
    first = [int(picture.split("?")[0].split("-")[0]) for picture in pictures if "w=160" in picture]
    assert first, pictures
    assert 1 not in first, pictures
    assert len([picture for picture in pictures if picture.startswith("1?")]) == 1, pictures


def test_thumbnails_are_where_the_strip_stands_after_it_was_hidden_or_taken_out(page: Page) -> None:
    page.set_viewport_size({"width": 1366, "height": 420})
    strip, seen = page.locator(".strip"), page.locator(".strip [aria-current=page]")
    strip.evaluate("strip => { strip.style.display = 'none'; }")
    page.wait_for_timeout(100)  # it has to be told that it has no height
    for _ in SHAPES[1:]:
        page.keyboard.press("]")
    strip.evaluate("strip => { strip.style.display = ''; }")
    expect(seen).to_have_attribute("data-page", str(len(SHAPES)))
    expect(seen).to_be_in_viewport(ratio=0.9)
    strip.evaluate("strip => strip.parentElement.prepend(strip)")
    assert strip.evaluate("strip => strip.scrollTop") == 0
    expect(page.locator('.strip [data-page="1"]')).to_be_in_viewport(ratio=0.9)
