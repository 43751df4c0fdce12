"""Boxes and highlights are seen on a page of any colour, the app's own blue included."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pymupdf
import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, expect

from tests.e2e.conftest import NewPage, screenshot
from tests.e2e.scene import Scene
from tests.e2e.viewer_scene import make_viewer_scene, open_viewer, place_of, settle, table, wait_for_picture
from tests.servers import running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

Colour = tuple[int, int, int]
PAPER: list[Colour] = [(31, 95, 139), (11, 31, 58), (255, 255, 255), (128, 128, 128), (47, 122, 79), (115, 47, 0)]
"""The colour of each page: the accent, dark blue, white, grey, the green of supports, the brown of the current hit."""

SEEN = 3.0
"""The contrast at which lines are seen (WCAG 2.2, 1.4.11)."""


def pdf() -> bytes:
    """A page of each colour with a line of text in white, or in black on white."""
    document = pymupdf.open()
    for paper in PAPER:
        page = document.new_page()
        page.draw_rect(page.rect, color=None, fill=[part / 255 for part in paper])
        ink = (0, 0, 0) if min(paper) > 200 else (1, 1, 1)
        page.insert_text((60, 100), "The ferry carried 412 passengers to the island.", fontsize=16, color=ink)
    data: bytes = document.tobytes()
    return data


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    folder: Path = tmp_path_factory.mktemp("colours")
    boxes = ([0.2, 0.3, 0.7, 0.4], [0.2, 0.45, 0.7, 0.55])
    places = [(page, box) for page in range(1, len(PAPER) + 1) for box in boxes]
    units = [table(number, "papers.pdf", page, box) for number, (page, box) in enumerate(places, 1)]
    rows = [{"answer": "It carried 412 passengers.", "documents": ["papers.pdf"], "evidence": units}]
    with running_server(folder / "home") as server:
        yield make_viewer_scene(server, folder / "items", rows, {"papers.pdf": pdf()}, overlap=3)


def luminance(colour: Colour) -> float:
    """Relative luminance (WCAG 2.2)."""
    parts = [channel / 255 for channel in colour]
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(colour: Colour, other: Colour) -> float:
    light, dark = sorted((luminance(colour), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def across_the_left_edge(page: Page, drawn: Locator) -> list[Colour]:
    """The pixels from eight to the left of a box to two within it, around half its height: as far as a dash goes."""
    left, top, _, bottom = place_of(drawn)
    clip = {"x": round(left) - 8, "y": round((top + bottom) / 2) - 6, "width": 10, "height": 12}
    picture = Image.open(BytesIO(page.screenshot(clip=clip))).convert("RGB")
    return [colour for _, colour in picture.getcolors() or []]  # type: ignore[misc]


def strongest(page: Page, drawn: Locator, paper: Colour) -> float:
    return max(contrast(pixel, paper) for pixel in across_the_left_edge(page, drawn))


def turn_to(page: Page, number: int) -> Locator:
    field = page.get_by_test_id("page-number")
    field.fill(str(number))
    field.press("Enter")
    shown = wait_for_picture(page, number)
    settle(page)
    return shown


@pytest.mark.parametrize("number", range(1, len(PAPER) + 1))
def test_boxes_and_hits_are_seen_on_paper_of_any_colour(new_page: NewPage, scene: Scene, number: int) -> None:
    paper = PAPER[number - 1]
    page = open_viewer(new_page, scene)
    shown = turn_to(page, number)
    boxes = shown.get_by_test_id("evidence-box")
    expect(boxes).to_have_count(2)
    boxes.first.locator("em").click()
    expect(shown.locator('[data-testid="evidence-box"].on')).to_have_count(1)
    for box in boxes.all():
        assert strongest(page, box, paper) >= SEEN

    left, top, right, bottom = place_of(shown)
    page.keyboard.press("M")
    page.mouse.move(left + 0.2 * (right - left), top + 0.22 * (bottom - top))
    page.mouse.down()
    page.mouse.move(left + 0.6 * (right - left), top + 0.27 * (bottom - top), steps=4)
    assert strongest(page, page.locator(".rubber"), paper) >= SEEN
    page.mouse.up()
    assert strongest(page, shown.get_by_test_id("support-box"), paper) >= SEEN

    expect(shown.get_by_test_id("hit-answer").first).to_be_attached()
    hit = shown.locator(".frame.answer").first
    assert any(_differ(pixel, paper) for pixel in across_the_left_edge(page, hit))
    page.keyboard.press("/")
    page.get_by_test_id("search-field").fill("island")
    expect(page.get_by_test_id("search-state")).to_contain_text(f"of {len(PAPER)}")
    for _ in range(len(PAPER)):
        if shown.locator(".frame.search.on").count():
            break
        page.keyboard.press("Enter")
        page.wait_for_timeout(100)
    settle(page)
    assert strongest(page, shown.locator(".frame.search.on"), paper) >= SEEN
    screenshot(page, f"viewer-paper-{number}")


def _differ(colour: Colour, other: Colour) -> bool:
    return max(abs(a - b) for a, b in zip(colour, other, strict=True)) > 60
