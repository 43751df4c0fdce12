"""An answer with seven images judged by keyboard alone, its review, and real answers of MMDocRAG."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from sqlmodel import col, select

from annotators.designing.design import StudyDesign
from annotators.protocols import PROTOCOLS
from db.annotating.annotations import work
from db.designing.making import create_study
from db.models import StoredLabel
from db.people.accounts import actor_named
from db.projects import create_project
from exports.bundles.bundle import export_project
from exports.importing.items import import_paths
from tests.e2e.conftest import NewPage, another_page, screenshot, sign_in
from tests.e2e.own_items import DOCUMENT, item, make_own_scene, open_as
from tests.e2e.scene import ANNOTATORS, Scene, wait_until_saved
from tests.e2e.test_disclosure import Wire
from tests.makers import read_guidelines
from tests.servers import RunningServer, running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

LAPTOP = {"width": 1366, "height": 768}
PARAGRAPHS = (
    "The converter stands at the end of the pier and turns with the tide.",
    "Its blades went to the yard, where they were weighed one by one.",
    "The cable runs along the wall and was laid anew in spring.",
    "A gauge by the stairs shows the height of the water.",
    "The hut holds the switchgear and a spare bearing.",
    "ثم وصل التقرير السنوي إلى الميناء.",
    "The board met in March and approved the accounts.",
)
ANSWER = "\n\n".join(f"{paragraph}\n\n<PIC>" for paragraph in PARAGRAPHS)
SECRETS = {"system": "secret-system", "metadata": {"note": "secret-note"}, "category": "secret-category"}


def images() -> list[dict[str, Any]]:
    return [
        {
            "key": f"hidden-{letter}", "caption": f"What stands at {letter}",
            "document": DOCUMENT, "page": number % 4 + 1, "box": [0.1, 0.1 + 0.05 * number, 0.9, 0.4 + 0.05 * number],
        }
        for number, letter in enumerate("gfedcba")
    ]  # fmt: skip


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("home")) as running:
        yield running


@pytest.fixture(scope="module")
def scene(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    """A study of two answers with seven images each."""
    rows = [
        item(number, evidence=0, answer=ANSWER, images=images(), references=["The converter was renewed."], **SECRETS)
        for number in (1, 2)
    ]
    folder = tmp_path_factory.mktemp("in")
    return make_own_scene(server, folder, rows, protocol="multimodal_answer", name="Answers")


def study(server: RunningServer, project_id: int, protocol: str) -> Scene:
    """Another study of a project's items."""
    design = StudyDesign(name=protocol, annotators=ANNOTATORS, overlap=3, order="given")
    made = create_study(server.db, server.admin, project_id, protocol=PROTOCOLS.get(protocol), design=design)
    read_guidelines(server.db, made.study_id)
    return Scene(server, project_id, made.study_id)


def press(page: Page, keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def stored(scene: Scene, n: int) -> dict[tuple[str, str], Any]:
    """The labels that were stored last."""
    with scene.server.db.read() as session:
        last = session.exec(select(StoredLabel).order_by(col(StoredLabel.id).desc()).limit(n)).all()
    return {(label.criterion, label.target): label.value for label in last}


def test_a_finger_judges_images_on_a_tablet(new_page: NewPage, scene: Scene) -> None:
    page = new_page(width=1024, height=768, touch=True)
    sign_in(page, scene.server, "chloe")
    page.goto(scene.address())
    card = page.get_by_test_id("answer").locator("figure.judged").get_by_test_id("image-card")
    expect(card).to_be_visible()
    names = card.locator(".c-title").evaluate_all("names => names.map((name) => name.offsetHeight)")
    assert names and max(names) <= 30, "the name of a criterion is broken"
    buttons = page.locator(".image-card .seg > button:visible, .order button:visible")
    sizes = buttons.evaluate_all("all => all.map((one) => [one.offsetWidth, one.offsetHeight])")
    assert min(min(size) for size in sizes) >= 44
    for button in page.locator(".order button").all():
        right = button.evaluate("one => one.getBoundingClientRect().right")
        assert right <= 1024, "the arrows of the order are off the screen"
    screenshot(page, "images-touch")


@pytest.mark.parametrize("dark", [False, True])
def test_seven_images_are_judged_where_they_stand_by_as_many_keys_as_the_docs_say(
    new_page: NewPage, scene: Scene, dark: bool
) -> None:
    first = new_page(fresh=True, dark=dark, **LAPTOP)
    sign_in(first, scene.server, "ben" if dark else "ada")
    page = another_page(first)
    wire = Wire(page)
    page.goto(scene.address())
    answer = page.get_by_test_id("answer")
    expect(answer.locator("figure")).to_have_count(7)
    framed = answer.locator("figure.judged")
    for number in range(1, 8):
        expect(framed).to_have_attribute("data-image", f"I{number}")
        expect(framed).to_be_in_viewport()
        card = framed.get_by_test_id("image-card")
        expect(card.locator('[data-criterion="placed_well"]')).to_be_in_viewport(ratio=1)
        press(page, "54" if number != 3 else "21")
        if number == 3:
            screenshot(page, f"multimodal-{'dark' if dark else 'light'}")
        press(page, "y" if number != 3 else "n1")  # the third belongs after the first paragraph
    expect(page.get_by_test_id("images-count")).to_have_text("7 of 7 images judged")
    page.keyboard.press("m")  # raw, and rendered again: the cards are beside their images
    expect(answer.get_by_test_id("image-card")).to_have_count(7)
    page.keyboard.press("m")
    expect(answer.get_by_test_id("image-card")).to_have_count(7)
    press(page, "2134567")
    screenshot(page, f"multimodal-order-{'dark' if dark else 'light'}")
    press(page, "4")
    page.keyboard.press("Enter")
    expect(framed).to_have_attribute("data-image", "I1")  # the next answer
    press(page, "54y" * 7 + "04")
    page.keyboard.press("Enter")
    wait_until_saved(page)
    keys = [f"hidden-{letter}" for letter in "gfedcba"]
    assert stored(scene, 23)["image_order", "item"] == keys
    for secret in (*keys, "secret-system", "secret-note", "secret-category"):
        assert not wire.has(secret), secret
    assert wire.has("What stands at a")
    both = stored(scene, 23 + 24)
    assert both["place", f"image:{keys[2]}"] == "block:1"
    assert both["placed_well", f"image:{keys[2]}"] == "no"


def test_a_review_gives_every_problem_by_one_key_and_is_read_back(
    new_page: NewPage, scene: Scene, tmp_path: Path
) -> None:
    review = study(scene.server, scene.project_id, "multimodal_review")
    page = open_as(new_page, review, "chloe", **LAPTOP)
    press(page, "26")
    screenshot(page, "multimodal-review")
    page.keyboard.press("Enter")
    expect(page.locator('[data-criterion="problems"] [aria-checked="true"]')).to_have_count(0)
    press(page, "0")
    page.keyboard.press("Enter")
    wait_until_saved(page)
    assert stored(review, 1) == {("problems", "item"): []}
    export_project(
        review.server.db, review.server.admin, review.project_id, to=tmp_path / "out", study_id=review.study_id
    )
    with (tmp_path / "out/labels.csv").open() as file:
        values = [row["value"] for row in csv.DictReader(file)]
    assert values == ['["answer_wrong","image_misplaced"]', "[]"]


def test_a_real_answer_with_seven_images_goes_through_both_protocols(
    new_page: NewPage, server: RunningServer, scene: Scene, shared_data: Path, tmp_path: Path
) -> None:
    """The images of MMDocRAG have names and no bytes: they stand at their places and say so."""
    source = shared_data / "mmdocrag" / "gpt-4.1_multimodal_quotes15_response.jsonl"
    longest = max(source.read_text().splitlines(), key=lambda line: line.count("!["))
    (tmp_path / source.name).write_text(longest + "\n")
    project_id = create_project(server.db, server.admin, "MMDocRAG")
    import_paths(
        server.db,
        server.admin,
        project_id,
        paths=[tmp_path / source.name],
        format_name="mmdocrag",
        data_folder=server.home / "data" / "documents",
    )
    made = study(server, project_id, "multimodal_answer")
    [presented] = work(server.db, actor_named(server.db, "ada"), made.study_id)["items"]
    n = len(presented["images"])
    assert n >= 5
    page = open_as(new_page, made, "ada", **LAPTOP)
    figures = page.get_by_test_id("answer").locator("figure")
    expect(figures).to_have_count(presented["answer"].count("!["))  # one that comes twice stands at both its places
    assert len({figure.get_attribute("data-image") for figure in figures.all()}) == n
    press(page, "54y" * n)
    screenshot(page, "multimodal-real")
    press(page, "04")
    page.keyboard.press("Enter")
    wait_until_saved(page)
    assert len([key for key in stored(made, 3 * n + 2) if key[0] == "relevance"]) == n
    reviewed = study(server, project_id, "multimodal_review")
    page.goto(reviewed.address())
    expect(page.get_by_test_id("answer")).to_be_visible()
    press(page, "7")
    page.keyboard.press("Enter")
    wait_until_saved(page)
    assert stored(reviewed, 1) == {("problems", "item"): ["image_description_wrong"]}
