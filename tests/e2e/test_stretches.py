"""Stretches of an answer marked by keyboard and by mouse, and decided on where annotators marked otherwise."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from sqlmodel import col, select

from annotators.designing.design import StudyDesign
from annotators.protocols import PROTOCOLS
from db.annotating.annotations import reopen
from db.designing.making import create_study
from db.models import AdjudicatedLabel, StoredLabel
from db.people.accounts import actor_named
from db.projects import create_project
from exports.bundles.bundle import export_project
from exports.importing.items import import_paths
from tests.e2e.conftest import NewPage, another_page, screenshot, sign_in
from tests.e2e.disputes import Quarrel, Said, dispute, make_disputes, row
from tests.e2e.own_items import item, make_own_scene, open_as
from tests.e2e.scene import Scene, wait_until_saved
from tests.e2e.test_disclosure import Wire
from tests.makers import read_guidelines
from tests.servers import running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

ANSWER = """\
The pier was renewed in **nineteen** twelve, 𝄞 after the fire.

ثم وصل التقرير السنوي إلى الميناء.

Its mass is $m = 4$ tonnes. <B>It</B> holds."""
LAPTOP = {"width": 1366, "height": 768}


@pytest.fixture(scope="module")
def scene(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Scene]:
    """A study of three answers with passages."""
    with running_server(tmp_path_factory.mktemp("home")) as server:
        rows = [item(number, evidence=2, answer=ANSWER) for number in (1, 2, 3)]
        server.person("dora", default_role="adjudicator")
        yield make_own_scene(server, tmp_path_factory.mktemp("in"), rows, protocol="unsupported_spans")


def stretch(words: str, label: str) -> dict[str, Any]:
    start = ANSWER.index(words)
    return {"start": start, "end": start + len(words), "label": label, "text": words}


def press(page: Page, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)


def pointed(page: Page) -> str:
    return "".join(page.locator('[data-testid="answer"] mark.pointed').all_inner_texts())


def marked(page: Page) -> list[str]:
    """The labels that stand in the answer behind the stretches."""
    return [mark.get_attribute("data-label") or "" for mark in page.locator("mark[data-label]").all()]


@pytest.mark.parametrize("dark", [False, True])
def test_stretches_are_marked_by_keys_alone(new_page: NewPage, scene: Scene, dark: bool) -> None:
    page = open_as(new_page, scene, "ben" if dark else "ada", dark=dark, **LAPTOP)
    press(page, "1")
    expect(page.get_by_test_id("selected-words")).to_contain_text("Select words of the answer first")
    press(page, "ArrowRight", "ArrowRight", "Shift+ArrowRight", "Shift+ArrowRight", "Shift+ArrowLeft")
    assert pointed(page) == "pier was"
    press(page, "2")
    press(page, "ArrowRight", "ArrowRight", "ArrowRight", "Shift+ArrowRight")  # across emphasis
    assert pointed(page) == "nineteen twelve"
    press(page, "1", "ArrowDown", "Shift+ArrowDown")
    assert pointed(page) == "ثم وصل التقرير السنوي إلى الميناء"
    press(page, "3", "ArrowDown", "ArrowRight", "ArrowRight", "ArrowRight")  # to the formula
    press(page, "4", "ArrowDown", "2")  # the first word of the last sentence, which is in tags
    assert marked(page) == ["Unfounded", "Contradicted", "Debatable", "Benign", "Unfounded"]
    press(page, "Backspace")
    assert marked(page) == ["Unfounded", "Contradicted", "Debatable", "Benign"]
    expect(page.get_by_test_id("stretch")).to_have_count(4)
    screenshot(page, f"stretches-{'dark' if dark else 'light'}")
    press(page, "m")  # as it was written: the marks stand at the same places
    assert marked(page) == ["Unfounded", "Contradicted", "Debatable", "Benign"]
    assert page.locator("mark.stretch-4").inner_text() == "$m = 4$"
    press(page, "m", "?")
    expect(page.get_by_test_id("key-sheet")).to_contain_text("Select more words, or fewer")
    press(page, "Escape", "Enter")
    expect(page.get_by_test_id("stretch")).to_have_count(0)
    press(page, "0", "Enter")  # nothing to mark in the next one
    wait_until_saved(page)
    with scene.server.db.read() as session:
        last = session.exec(select(StoredLabel).order_by(col(StoredLabel.id).desc()).limit(2)).all()
    assert [label.value for label in last] == [
        [],
        [
            stretch("pier was", "unfounded"), stretch("nineteen** twelve", "contradicted"),
            stretch("ثم وصل التقرير السنوي إلى الميناء", "debatable"), stretch("$m = 4$", "benign"),
        ],
    ]  # fmt: skip


def test_words_are_selected_with_the_mouse_and_marks_taken_off_by_button(new_page: NewPage, scene: Scene) -> None:
    page = open_as(new_page, scene, "chloe", **LAPTOP)
    answer = page.get_by_test_id("answer")
    box = answer.locator(".para").first.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 14, box["y"] + 10)
    page.mouse.down()
    page.mouse.move(box["x"] + 70, box["y"] + 10, steps=4)
    page.mouse.up()
    expect(answer.locator("mark.pointed")).not_to_have_count(0)
    assert pointed(page).startswith("The pier")  # whole words, wherever it began
    page.get_by_test_id("label").filter(has_text="Unfounded").click()
    assert marked(page) == ["Unfounded"]
    press(page, "1")  # the same words, another label
    assert marked(page) == ["Contradicted"]
    page.get_by_role("button", name="Take the mark off").click()
    assert marked(page) == []
    press(page, "Enter")
    expect(page.get_by_test_id("notice")).to_contain_text("Not supported by the evidence")


def test_an_adjudicator_takes_what_one_of_them_marked_and_changes_it(new_page: NewPage, scene: Scene) -> None:
    said = {
        "ada": Said([stretch("pier was", "unfounded")]),
        "ben": Said([stretch("pier was renewed", "unfounded"), stretch("holds", "benign")]),
        "chloe": Said([]),
    }
    name = "quarrel"
    quarrel = Quarrel({(0, "unsupported", "item"): said})
    study_id = make_disputes(scene.server, scene.project_id, name, quarrel, protocol="unsupported_spans")
    page = new_page(**LAPTOP)
    sign_in(page, scene.server, "dora")
    page.goto(f"{scene.server.url}/adjudicate?study={study_id}")
    expect(dispute(page)).to_be_visible()
    shown = row(page, "unsupported")
    of_ben = shown.locator("[data-rater]").filter(has_text="“holds” (Benign)")
    expect(of_ben).to_have_count(1)
    expect(shown.locator("[data-rater]").filter(has_text="None")).to_have_count(1)
    expect(page.get_by_test_id("take")).to_have_count(3)
    press(page, {"R1": "a", "R2": "b", "R3": "d"}[of_ben.get_attribute("data-rater") or ""])  # as ben has it
    assert marked(page) == ["Unfounded", "Benign"]
    press(page, "ArrowRight", "ArrowDown", "ArrowDown", "Shift+ArrowDown", "2")
    screenshot(page, "stretches-adjudicate")
    press(page, "Enter")
    expect(page.get_by_test_id("finished")).to_be_visible()
    with scene.server.db.read() as session:
        decided = session.exec(select(AdjudicatedLabel)).one()
    assert decided.value == [
        stretch("pier was renewed", "unfounded"), stretch("Its mass is $m = 4$ tonnes", "unfounded"),
        stretch("holds", "benign"),
    ]  # fmt: skip


def test_a_real_answer_is_marked_read_back_over_the_api_and_exported(
    new_page: NewPage, scene: Scene, shared_data: Path, tmp_path: Path
) -> None:
    server = scene.server
    project_id = create_project(server.db, server.admin, "RAGChecker")
    source = shared_data / "ragchecker" / "checking_inputs.json"
    folder = server.home / "data" / "documents"
    import_paths(server.db, server.admin, project_id, paths=[source], format_name="ragchecker", data_folder=folder)
    design = StudyDesign(name="Real", annotators=("ada", "ben"), overlap=2, order="given")
    protocol = PROTOCOLS.get("unsupported_spans")
    study_id = create_study(server.db, server.admin, project_id, protocol=protocol, design=design).study_id
    read_guidelines(server.db, study_id)
    first = new_page(fresh=True, **LAPTOP)
    sign_in(first, server, "ada")
    page = another_page(first)
    wire = Wire(page)
    page.goto(f"{server.url}/annotate?study={study_id}")
    expect(page.get_by_test_id("answer")).to_be_visible()
    press(page, "ArrowRight", "Shift+ArrowDown", "2")
    words = pointed(page)
    screenshot(page, "stretches-real")
    press(page, "Enter")
    wait_until_saved(page)
    assert not wire.has("retrieved")  # what role a passage has
    actor = actor_named(server.db, "ada")
    opened = reopen(server.db, actor, study_id)
    [given] = opened["previous"]
    [stretch] = given["value"]
    assert opened["answer"][stretch["start"] : stretch["end"]] == stretch["text"]
    assert "".join(stretch["text"].split()) == "".join(words.split())
    export_project(server.db, server.admin, project_id, to=tmp_path / "out", study_id=study_id)
    with (tmp_path / "out/labels.csv").open() as file:
        assert [json.loads(row["value"]) for row in csv.DictReader(file)] == [[stretch]]
