"""What annotators meet, with pictures: tables, figures, scans, dark mode, forty units, none, pages that fail."""

from __future__ import annotations

from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from playwright.sync_api import Page, expect
from sqlmodel import col, select

from annotators.designing.design import StudyDesign
from annotators.protocols import PROTOCOLS
from db.designing.making import create_study
from db.models import Document
from db.people.accounts import list_people
from db.projects import create_project
from tests.e2e.conftest import NewPage, screenshot
from tests.e2e.scene import ANNOTATORS, Scene, answer_first_step, import_sample, make_scene
from tests.e2e.viewer_scene import (
    ROOT,
    Shape,
    make_viewer_scene,
    open_viewer,
    pdf,
    place_of,
    red_box,
    red_on_screen,
    settle,
    table,
    wait_for_picture,
)
from tests.makers import read_guidelines
from tests.servers import RunningServer, running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

SAMPLES = (
    "harrow-bay-2024.pdf",
    "tern-sound-inquiry-7-2023.pdf",
    "corrie-library-night-pilot.pdf",
    "mossgate-peatland-2021-2023.pdf",
)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("states") / "home") as running:
        yield running


def rows_with_units(n: int) -> list[dict[str, Any]]:
    """One item with n units: some beside each other on a page, some for whole pages."""
    units = []
    for number in range(1, n + 1):
        page = (number - 1) % 10 + 1
        unit = table(number, "long.pdf", page, [0.1, 0.15 + 0.012 * number, 0.5, 0.2 + 0.012 * number])
        if number % 4 == 0:
            unit |= {"kind": "page", "box": None}
        units.append(unit)
    return [{"answer": "An answer.", "documents": ["long.pdf"], "evidence": units}]


def see(new_page: NewPage, scene: Scene, kind: str, *, dark: bool = False) -> Page:
    """The second step of an item of the sample, with a unit of this kind shown, everything found and drawn."""
    page = open_viewer(new_page, scene, dark=dark)
    answer_first_step(page)
    page.get_by_test_id("unit-chip").filter(has_text=kind).first.click()
    page.locator('[data-testid="page"] img').first.wait_for()
    settle(page)
    page.locator(".page-words").first.wait_for(state="attached")
    expect(page.get_by_test_id("phrase").first).to_be_visible()
    page.wait_for_timeout(500)
    return page


@pytest.mark.parametrize(
    "what",
    [("table", 0, False), ("figure", 2, False), ("page", 3, False), ("figure", 3, True)],
)
def test_sample_items_look_right(
    new_page: NewPage, server: RunningServer, tmp_path: Path, what: tuple[str, int, bool]
) -> None:
    kind, document, dark = what
    name = f"{kind} {document} {'dark' if dark else 'light'}"
    scene = make_scene_again(server, tmp_path / "sample", SAMPLES[document], name)
    page = see(new_page, scene, kind, dark=dark)
    expect(page.locator('[data-testid="evidence-box"].on, .tags em.on')).to_be_visible()
    assert ("dark" if dark else "light") == page.evaluate(f"{ROOT}.querySelector('.assay').dataset.theme")
    screenshot(page, f"viewer-{name.replace(' ', '-')}")


def make_scene_again(server: RunningServer, folder: Path, document: str, name: str) -> Scene:
    """Another study on the same server, whose annotators may be there already."""
    if not any(person.name == "ada" for person in list_people(server.db, server.admin)):
        return make_scene(server, folder, items=1, documents=(document,), name=name)
    project_id = create_project(server.db, server.admin, f"Sample, {name}")
    import_sample(server, project_id, folder, items=1, documents=(document,))
    design = StudyDesign(name=name, annotators=ANNOTATORS, overlap=3, order="given")
    protocol = PROTOCOLS.get("qa_verification")
    made = create_study(server.db, server.admin, project_id, protocol=protocol, design=design)
    read_guidelines(server.db, made.study_id)
    return Scene(server, project_id, made.study_id)


def test_forty_units(new_page: NewPage, server: RunningServer, tmp_path: Path) -> None:
    scene = make_viewer_scene(server, tmp_path, rows_with_units(40), {"long.pdf": pdf([Shape()] * 12)}, name="forty")
    page = open_viewer(new_page, scene)
    expect(page.get_by_test_id("unit-chip")).to_have_count(40)
    page.keyboard.press("}")
    page.keyboard.press("{")
    for number in range(40):
        page.keyboard.press("{")
        if number == 0:
            expect(page.locator('[data-testid="unit-chip"][aria-current]')).to_contain_text("E40")
            chip = place_of(page.locator('[data-testid="unit-chip"][aria-current]'))
            assert chip[2] <= place_of(page.locator(".legend:not(.phrases-line) .chips"))[2] + 2, "it is in view"
    expect(page.locator('[data-testid="unit-chip"][aria-current]')).to_contain_text("E1")
    settle(page)
    screenshot(page, "viewer-forty-units")
    # No tag lies on another one of the same page.
    overlaps = page.evaluate(
        f"""() => {{
          const pages = [...{ROOT}.querySelectorAll('.tags')];
          return pages.some((tags) => {{
            const boxes = [...tags.children].map((tag) => tag.getBoundingClientRect());
            return boxes.some((a, n) => boxes.slice(n + 1).some((b) => a.left < b.right - 1 && b.left < a.right - 1
              && a.top < b.bottom - 1 && b.top < a.bottom - 1));
          }});
        }}"""
    )
    assert not overlaps


def test_an_image_of_the_answer_is_its_part_of_the_page_and_opens_enlarged(
    new_page: NewPage, server: RunningServer, tmp_path: Path
) -> None:
    shape = Shape(rotate=90)
    image = {"key": "i1", "document": "long.pdf", "page": 2, "box": red_box(shape), "caption": "A red table"}
    rows = [{"answer": "As <PIC> shows.", "documents": ["long.pdf"], "evidence": [], "images": [image]}]
    scene = make_viewer_scene(server, tmp_path, rows, {"long.pdf": pdf([Shape(), shape])}, name="image")
    page = open_viewer(new_page, scene)
    figure = page.get_by_alt_text("A red table")
    expect(figure).to_be_visible()
    page.wait_for_function(f"{ROOT}.querySelector('figure img').naturalWidth > 0")
    left, top, right, bottom = place_of(figure)
    clip = {"x": left + 4, "y": top + 4, "width": right - left - 8, "height": bottom - top - 8}
    colours = Image.open(BytesIO(page.screenshot(clip=clip))).convert("RGB").getextrema()
    assert colours[0][0] > 190, "red from edge to edge"
    assert colours[1][1] < 90
    figure.click()
    wait_for_picture(page, 2)
    settle(page)
    red, view = red_on_screen(page, 2), place_of(page.locator(".pages"))
    assert max((red[2] - red[0]) / (view[2] - view[0]), (red[3] - red[1]) / (view[3] - view[1])) > 0.9


def test_no_units_but_a_document(new_page: NewPage, server: RunningServer, tmp_path: Path) -> None:
    rows = [{"answer": "An answer.", "documents": ["long.pdf"], "evidence": []}]
    scene = make_viewer_scene(server, tmp_path, rows, {"long.pdf": pdf([Shape()] * 2)}, name="none")
    page = open_viewer(new_page, scene)
    wait_for_picture(page, 1)
    expect(page.get_by_test_id("unit-chip")).to_have_count(0)
    for key in ("}", "e", ".", "1", "Enter"):  # none of these has anything to act on, or hinders
        page.keyboard.press(key)
    expect(page.get_by_test_id("finished")).to_be_visible()


def test_no_units_and_no_document(new_page: NewPage, server: RunningServer, tmp_path: Path) -> None:
    scene = make_viewer_scene(server, tmp_path, [{"answer": "An answer.", "evidence": []}], {}, name="nothing")
    page = open_viewer(new_page, scene)
    expect(page.get_by_text("This item has no evidence")).to_be_visible()
    screenshot(page, "viewer-no-evidence")
    for key in ("/", "m", ".", "1", "Enter"):
        page.keyboard.press(key)
    expect(page.get_by_test_id("finished")).to_be_visible()


def damage_stored(server: RunningServer, key: str) -> None:
    """The bytes of a document rot on the disk."""
    with server.db.read() as session:
        sha256 = session.execute(select(Document.sha256).where(col(Document.key) == key)).scalars().one()
    path = server.home / "data" / "documents" / sha256[:2] / sha256
    path.chmod(0o644)
    path.write_bytes(path.read_bytes()[:300])


def test_a_page_that_cannot_be_drawn_says_so_and_can_be_labelled(
    new_page: NewPage, server: RunningServer, tmp_path: Path
) -> None:
    units = [table(1, "broken.pdf", 1, [0.1, 0.1, 0.5, 0.3])]
    rows = [{"answer": "An answer.", "documents": ["broken.pdf"], "evidence": units}]
    scene = make_viewer_scene(server, tmp_path, rows, {"broken.pdf": pdf([Shape()])}, name="broken")
    damage_stored(server, "broken.pdf")
    page = open_viewer(new_page, scene)
    picture = wait_for_picture(page, 1).locator("img").first
    settle(page)
    page.wait_for_timeout(800)
    screenshot(page, "viewer-cannot-be-drawn")
    alt = picture.get_attribute("alt") or ""
    assert len(alt) > len("Page 1 of broken.pdf"), "a screen reader is told why nothing is seen"
    page.keyboard.press("1")
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("finished")).to_be_visible()


def test_a_lost_connection_leaves_the_page_and_can_be_tried_again(
    new_page: NewPage, server: RunningServer, tmp_path: Path
) -> None:
    rows = rows_with_units(4)
    scene = make_viewer_scene(server, tmp_path, rows, {"long.pdf": pdf([Shape()] * 12)}, name="offline")
    page = open_viewer(new_page, scene)
    wait_for_picture(page, 1)
    page.context.set_offline(True)
    field = page.get_by_test_id("page-number")
    field.fill("9")
    field.press("Enter")
    expect(page.locator('[data-page="9"] [data-testid="retry-page"]')).to_be_visible()
    page.context.set_offline(False)  # by itself; the button is for a server that failed once
    wait_for_picture(page, 9)
