"""The frame of an evidence unit covers nothing of the lines beside it, on dense pages as papers have them."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path

import pymupdf
import pytest
from PIL import Image
from playwright.sync_api import Page, expect

from tests.e2e.conftest import NewPage, screenshot
from tests.e2e.scene import Scene
from tests.e2e.viewer_scene import ROOT, make_viewer_scene, open_viewer, place_of, settle, table, wait_for_picture
from tests.servers import running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

DATA = Path(__file__).parents[3] / "shared" / "data"
PAPER = DATA / "mmlongbench" / "documents" / "2023.acl-long.386.pdf"
INK = 110  # brightness below which a pixel belongs to a letter
LIGHTER = 25  # by how much a letter may become lighter and still not be covered


def dense() -> bytes:
    """Twenty lines of ten points that stand as close as lines do."""
    document = pymupdf.open()
    page = document.new_page()
    for number in range(20):
        line = f"Line {number + 1} of the report jumps quickly beyond what anybody would have thought possible."
        page.insert_text((72, 120 + 11.5 * number), line, fontsize=10)
    data: bytes = document.tobytes()
    return data


def three_lines(data: bytes) -> tuple[int, list[float]]:
    """The first page with a block of at least eight lines, and the box of its fourth to sixth."""
    document = pymupdf.open("pdf", data)
    for number in range(1, document.page_count + 1):
        page = document[number - 1]
        for block in page.get_text("dict")["blocks"]:
            lines = block.get("lines", [])
            if len(lines) < 8:
                continue
            boxes = [line["bbox"] for line in lines[3:6]]
            around = (
                min(box[0] for box in boxes), min(box[1] for box in boxes),
                max(box[2] for box in boxes), max(box[3] for box in boxes),
            )  # fmt: skip
            width, height = page.rect.width, page.rect.height
            return number, [around[0] / width, around[1] / height, around[2] / width, around[3] / height]
    raise AssertionError("no block of eight lines")


@pytest.fixture(scope="module", params=["dense", "paper"])
def scene(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Scene, int]]:
    if request.param == "paper" and not PAPER.is_file():
        pytest.skip("the real data (../shared/data) is not here")
    data = dense() if request.param == "dense" else PAPER.read_bytes()
    number, box = three_lines(data)
    folder: Path = tmp_path_factory.mktemp("frames")
    rows = [{"answer": "So.", "documents": ["a.pdf"], "evidence": [table(1, "a.pdf", number, box)]}]
    with running_server(folder / "home") as server:
        yield make_viewer_scene(server, folder / "items", rows, {"a.pdf": data}), number


def pixels(page: Page, clip: tuple[float, float, float, float]) -> Image.Image:
    left, top, right, bottom = clip
    taken = page.screenshot(clip={"x": left, "y": top, "width": right - left, "height": bottom - top})
    return Image.open(BytesIO(taken)).convert("L")


def test_no_letter_beside_or_beneath_a_frame_is_covered(new_page: NewPage, scene: tuple[Scene, int]) -> None:
    study, number = scene
    page = open_viewer(new_page, study, width=1366, height=768)
    shown = wait_for_picture(page, number)
    box = shown.locator('[data-testid="evidence-box"].on.light')
    expect(box).to_be_visible()
    settle(page)
    page.mouse.move(5, 5)
    left, top, right, bottom = place_of(box)
    tag = place_of(box.locator("em"))
    clip = (round(left) - 8, round(top) - 24, round(right) + 8, round(bottom) + 24)
    framed = pixels(page, clip)
    screenshot(page, f"frame-{number}")
    page.evaluate(
        f"{ROOT}.querySelectorAll('.boxes, .lights').forEach((layer) => {{ layer.style.visibility = 'hidden'; }})"
    )
    plain = pixels(page, clip)
    before, after = plain.tobytes(), framed.tobytes()  # a byte a pixel, row by row
    assert before != after
    covered = [
        (x, y)
        for y in range(plain.height)
        for x in range(plain.width)
        if before[y * plain.width + x] < INK
        and after[y * plain.width + x] > before[y * plain.width + x] + LIGHTER
        and not (tag[0] - 2 <= x + clip[0] <= tag[2] + 2 and tag[1] - 2 <= y + clip[1] <= tag[3] + 2)
    ]
    assert covered == []
