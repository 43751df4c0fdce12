"""Documents whose every word and mark a test knows, and studies about them: where tests of the viewer begin."""

from __future__ import annotations

import itertools
import json
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import pymupdf
from PIL import Image, ImageChops
from playwright.sync_api import Locator, Page, expect

from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.designing.design import StudyDesign
from annotators.protocols import Material, Protocol, Step
from db.designing.making import create_study
from db.people.accounts import list_people
from db.projects import create_project
from exports.importing.items import import_paths
from tests.e2e.conftest import NewPage, sign_in
from tests.e2e.scene import ANNOTATORS, Scene, judgement
from tests.makers import read_guidelines
from tests.servers import RunningServer

RED = (0.86, 0.08, 0.12)
ROOT = "document.querySelector('[data-testid=annotate], [data-testid=adjudicate]').shadowRoot"
LINES = (
    "The ferry Calder Queen left the harbour at noon",
    "with 412 passengers and a crew of nineteen people.",
    "Steering was lost for eleven minutes near the point.",
    "An efficient cooling pump would have kept the oil cold.",
)

_NUMBER = itertools.count(1)
"""Of the scenes of this process: a test that has a second go makes its scene once more."""


@dataclass(frozen=True)
class Shape:
    """One page to draw: its size in points, its /Rotate, and its lines."""

    width: float = 595
    height: float = 842
    rotate: int = 0
    words: tuple[str, ...] = LINES


def pdf(shapes: list[Shape]) -> bytes:
    """A document with a heading, four lines, and a red rectangle as a table on every page."""
    document = pymupdf.open()
    for number, shape in enumerate(shapes, 1):
        page = document.new_page(width=shape.width, height=shape.height)
        size = min(shape.width, shape.height) / 32
        page.insert_text(
            (shape.width * 0.1, shape.height * 0.1), f"Section {number} of the inquiry", fontsize=size * 1.4
        )
        for at, line in enumerate(shape.words):
            page.insert_text((shape.width * 0.1, shape.height * (0.2 + 0.05 * at)), line, fontsize=size)
        page.draw_rect(red_place(shape), color=RED, fill=RED)
        page.set_rotation(shape.rotate)
    data: bytes = document.tobytes()
    return data


def red_place(shape: Shape) -> pymupdf.Rect:
    """Where the red rectangle is drawn, in points of the page before it is rotated."""
    return pymupdf.Rect(shape.width * 0.2, shape.height * 0.5, shape.width * 0.7, shape.height * 0.62)


def red_box(shape: Shape) -> list[float]:
    """The same in fractions of the page as displayed: what an item says of it."""
    x0, y0, x1, y1 = 0.2, 0.5, 0.7, 0.62
    boxes = {
        0: [x0, y0, x1, y1],
        90: [1 - y1, x0, 1 - y0, x1],
        180: [1 - x1, 1 - y1, 1 - x0, 1 - y0],
        270: [y0, 1 - x1, y1, 1 - x0],
    }
    return boxes[shape.rotate]


def table(number: int, document: str, page: int, box: list[float], **fields: Any) -> dict[str, Any]:
    return {
        "key": f"e{number}",
        "kind": "table",
        "document": document,
        "pages": [page],
        "box": box,
        "text": "Red.",
        **fields,
    }


def one_step() -> Protocol:
    """Everything at once; a label for the item, and one for each evidence unit."""
    yes_no = [Label(value="yes", title="Yes"), Label(value="no", title="No")]
    shows = [Material.QUESTION, Material.ANSWER, Material.REFERENCES, Material.EVIDENCE, Material.DOCUMENTS]
    shows.append(Material.IMAGES)
    return Protocol(
        name="viewer",
        title="Viewer",
        guidelines="Is the answer right, and is each unit needed?",
        criteria=[
            Choice(name="right", title="The answer is right", labels=yes_no),
            Choice(name="needed", title="Needed", target="evidence", labels=yes_no, required=False),
        ],
        steps=[Step(name="all", title="All", shows=shows, criteria=["right", "needed"])],
    )


def make_viewer_scene(
    server: RunningServer,
    folder: Path,
    rows: list[dict[str, Any]],
    documents: dict[str, bytes],
    *,
    name: str = "Viewer",
    overlap: int = 1,
    protocol: Protocol | None = None,
) -> Scene:
    """Import these items and documents and make a study of them for all annotators."""
    (folder / "documents").mkdir(parents=True)
    for key, data in documents.items():
        (folder / "documents" / key).write_bytes(data)
    lines = [json.dumps({"key": key, "title": key, "path": f"documents/{key}"}) for key in documents]
    (folder / "documents.jsonl").write_text("".join(f"{line}\n" for line in lines))
    made = [{"id": f"v{number}", "question": f"Question {number}?", **row} for number, row in enumerate(rows, 1)]
    (folder / "items.jsonl").write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in made))
    known = {row.name for row in list_people(server.db, server.admin)}
    for person in ANNOTATORS:
        if person not in known:
            server.person(person, default_role="annotator")
    project_id = create_project(server.db, server.admin, f"Inquiry {next(_NUMBER)}, {name}")
    report = import_paths(
        server.db,
        server.admin,
        project_id,
        paths=[folder],
        format_name="native",
        data_folder=server.home / "data" / "documents",
    ).to_json()
    assert report["rejected"] == []
    design = StudyDesign(name=name, annotators=ANNOTATORS, overlap=overlap, order="given")
    study = create_study(server.db, server.admin, project_id, protocol=protocol or one_step(), design=design)
    read_guidelines(server.db, study.study_id)
    return Scene(server, project_id, study.study_id)


def open_viewer(new_page: NewPage, scene: Scene, name: str = "ada", **options: Any) -> Page:
    """An annotator's page with the first picture on it."""
    page = new_page(**options)
    sign_in(page, scene.server, name)
    page.goto(scene.address())
    expect(judgement(page)).to_be_visible()
    return page


# What is on the screen ------------------------------------------------------------------------------------------------


def wait_for_picture(page: Page, number: int) -> Locator:
    """The page of the document, once its picture is there."""
    shown = page.locator(f'[data-testid="page"][data-page="{number}"]')
    expect(shown.locator("img").first).to_be_visible()
    return shown


def wait_for_words(page: Page, number: int) -> Locator:
    """The words of a page, once they lie over its picture."""
    words = page.locator(f'[data-testid="page"][data-page="{number}"] .page-words span')
    expect(words.first).to_be_attached()
    return words


def press_all(page: Page, keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def settle(page: Page) -> None:
    """Until no picture that is seen is still coming: two looks in a row find the same ones complete."""
    page.wait_for_function(
        f"""() => {{
          const seen = [...{ROOT}.querySelectorAll('[data-testid=page] img')];
          const now = seen.map((picture) => picture.currentSrc + picture.complete).join() + seen.length;
          const same = window.settledBefore === now && seen.length > 0 && seen.every((picture) => picture.complete);
          window.settledBefore = now;
          return same;
        }}""",
        polling=350,
    )


def red_on_screen(page: Page, number: int) -> tuple[float, float, float, float]:
    """Where the red of this page lies in the view, in CSS pixels."""
    own, view = place_of(page.locator(f'[data-testid="page"][data-page="{number}"]')), place_of(page.locator(".pages"))
    left, top = max(own[0], view[0]), max(own[1], view[1])
    width, height = min(own[2], view[2]) - left, min(own[3], view[3]) - top
    clip = {"x": left, "y": top, "width": width, "height": height}
    picture = Image.open(BytesIO(page.screenshot(clip=clip))).convert("RGB")
    scale = picture.width / width
    red, green, blue = picture.split()
    low = Image.merge("RGB", (green, blue, green)).convert("L", matrix=(0.5, 0.5, 0, 0))
    mask = ImageChops.multiply(
        red.point(lambda value: 255 * (value > 190)), low.point(lambda value: 255 * (value < 90))
    )
    box = mask.getbbox()
    assert box, "nothing red is in view"
    return left + box[0] / scale, top + box[1] / scale, left + box[2] / scale, top + box[3] / scale


def place_of(locator: Locator) -> tuple[float, float, float, float]:
    box = locator.bounding_box()
    assert box
    return box["x"], box["y"], box["x"] + box["width"], box["y"] + box["height"]


def place_of_box(locator: Locator) -> tuple[float, float, float, float]:
    """What a box on a page is drawn around: its line runs 3 pixels outside of it."""
    left, top, right, bottom = place_of(locator)
    return left + 3, top + 3, right - 3, bottom - 3


def assert_same_place(place: tuple[float, ...], other: tuple[float, ...], within: float = 4.0) -> None:
    assert max(abs(a - b) for a, b in zip(place, other, strict=True)) <= within, (place, other)
