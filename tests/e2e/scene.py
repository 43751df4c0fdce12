"""A project with the sample documents and a study, on a real server: where tests in the browser begin."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Locator, Page, expect

from annotators.designing.design import StudyDesign
from annotators.protocols import PROTOCOLS
from db.designing.making import create_study
from db.projects import create_project
from exports.importing.items import import_paths
from exports.sample import write_sample
from tests.makers import read_guidelines
from tests.servers import RunningServer

ANNOTATORS = ("ada", "ben", "chloe")


@dataclass(frozen=True)
class Scene:
    """The ids of what was made."""

    server: RunningServer
    project_id: int
    study_id: int

    def address(self) -> str:
        return f"{self.server.url}/annotate?study={self.study_id}"


def make_scene(
    server: RunningServer,
    folder: Path,
    *,
    items: int | None = 6,
    documents: tuple[str, ...] = ("harrow-bay-2024.pdf", "tern-sound-inquiry-7-2023.pdf"),
    protocol: str = "qa_verification",
    overlap: int = 3,
    name: str = "Pilot",
    ask: tuple[str, ...] = (),
) -> Scene:
    """Import sample items about these documents (at least one item of each) and make a study of them."""
    for person in ANNOTATORS:
        server.person(person, default_role="annotator")
    project_id = create_project(server.db, server.admin, f"Energy reports, {name}")
    import_sample(server, project_id, folder, items=items, documents=documents)
    design = StudyDesign(name=name, annotators=ANNOTATORS, overlap=overlap, order="given", ask=ask)
    made = create_study(server.db, server.admin, project_id, protocol=PROTOCOLS.get(protocol), design=design)
    read_guidelines(server.db, made.study_id)
    return Scene(server, project_id, made.study_id)


def import_sample(
    server: RunningServer, project_id: int, folder: Path, *, items: int | None, documents: tuple[str, ...]
) -> None:
    """Items of the sample whose evidence lies on these documents alone, taken from each in turn."""
    write_sample(folder)
    path = folder / "items.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    by_document: dict[str, list[dict[str, object]]] = {key: [] for key in documents}
    for row in rows:
        about = {unit["document"] for unit in row["evidence"]}
        if len(about) == 1 and (key := about.pop()) in by_document:
            by_document[key].append(row)
    chosen = [row for group in zip(*by_document.values(), strict=False) for row in group][:items]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in chosen))
    report = import_paths(
        server.db,
        server.admin,
        project_id,
        paths=[folder],
        format_name="native",
        data_folder=server.home / "data" / "documents",
    )
    assert report.to_json()["rejected"] == []
    assert report.to_json()["added"] == len(chosen)


# The annotator's page, by keyboard ------------------------------------------------------------------------------------


def judgement(page: Page) -> Locator:
    return page.get_by_test_id("item")


def question(page: Page) -> str:
    return page.get_by_test_id("question").inner_text()


def say_that_the_guidelines_are_read(page: Page, before: Callable[[], object] = lambda: None) -> None:
    """Where they come first; `before` is called while they are on the screen."""
    button = page.get_by_test_id("guidelines-read")
    if button.is_visible():
        before()
        button.click()
        expect(button).to_be_hidden()


def wait_for_step(page: Page, step: str) -> None:
    """Until this step's criteria can be answered."""
    expect(page.locator(".steps .now")).to_have_text(step)


def wait_until_saved(page: Page) -> None:
    """Until everything submitted is acknowledged."""
    expect(page.get_by_test_id("saved")).to_have_attribute("data-state", "saved")


def answer_first_step(page: Page, keys: str = "11") -> None:
    """Self-contained and human-like, then Enter; ends when the second step is there."""
    wait_for_step(page, "Question alone")
    for key in keys:
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    wait_for_step(page, "With answer and evidence")


def answer_second_step(page: Page, keys: str = "111") -> None:
    """Question factual, answer factual, complete; then every evidence unit required; then Enter."""
    wait_for_step(page, "With answer and evidence")
    for key in keys:
        page.keyboard.press(key)
    for _ in range(page.locator('[data-testid="criterion"][data-criterion="grounding"]').count()):
        page.keyboard.press("1")
    page.keyboard.press("Enter")


def being_shown(name: int | str) -> str:
    """What a browser keeps while an item is being drawn (`assay-showing`), as where the page was stopped by it."""
    return json.dumps({"assignment": name, "at": int(time.time() * 1000)})
