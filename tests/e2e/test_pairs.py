"""A real pair judged by keyboard alone: side by side, without a name on the wire, and kept for the right system."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from annotators.designing.design import StudyDesign
from annotators.protocols import PROTOCOLS
from db.designing.making import create_study
from db.projects import create_project
from exports.bundles.bundle import export_project
from exports.importing.items import import_paths
from tests.e2e.conftest import ARTEFACTS, NewPage, another_page, sign_in
from tests.e2e.test_disclosure import Wire
from tests.makers import read_guidelines
from tests.servers import RunningServer, running_server
from tests.waiting import until

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

SYSTEMS = ("e5_mistral_gpt_4", "bm25_llama3_70b")
ARABIC = ("nakhla", "wadi")


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("pairs") / "home") as running:
        for name in ("ada", "ben"):
            running.person(name, default_role="annotator")
        yield running


def study_of(
    server: RunningServer, name: str, path: Path, format_name: str, systems: tuple[str, str]
) -> tuple[int, int]:
    """(project, study) of the pairs of these systems in a file; at most two, the first of which stands turned."""
    project_id = create_project(server.db, server.admin, name)
    data = server.home / "data" / "documents"
    import_paths(server.db, server.admin, project_id, paths=[path], format_name=format_name, data_folder=data)
    design = StudyDesign(
        name=name, annotators=("ada", "ben"), overlap=2, pairs=systems, sample=2, seed=1, order="given"
    )
    protocol = PROTOCOLS.get("pairwise_preference")
    made = create_study(server.db, server.admin, project_id, protocol=protocol, design=design)
    read_guidelines(server.db, made.study_id)
    return project_id, made.study_id


def judged(page: Page, keys: str) -> None:
    """Give the labels of one pair with these keys, and submit."""
    for key in keys:
        page.keyboard.press(key)
    page.keyboard.press("Enter")


def wait_until_saved(page: Page, study_id: int) -> None:
    """Until the server says that one pair is done."""
    work = "async (url) => (await (await fetch(url)).json()).progress.done"
    until(lambda: page.evaluate(work, f"/api/studies/{study_id}/work") >= 1)


def labels_in(folder: Path) -> list[dict[str, str]]:
    [path] = folder.glob("studies/*/labels.csv")
    with path.open(encoding="utf-8-sig", newline="") as table:
        return list(csv.DictReader(table))


@pytest.mark.parametrize("marked", [True, False])
def test_a_real_pair_is_judged_by_keyboard_and_comes_out_for_its_systems(
    server: RunningServer, new_page: NewPage, shared_data: Path, tmp_path: Path, *, marked: bool
) -> None:
    source = shared_data / "ragchecker/human_labeled_data.json"
    project_id, study_id = study_of(server, f"Duel {marked}", source, "ragchecker", SYSTEMS)
    opened = new_page(fresh=True, width=1366, height=768)
    sign_in(opened, server, "ada")
    page = another_page(opened)
    wire = Wire(page)
    page.goto(f"{server.url}/annotate?study={study_id}")
    sides = page.get_by_test_id("side")
    expect(sides).to_have_count(2)
    left, right = (sides.nth(at).bounding_box() for at in (0, 1))
    assert left is not None
    assert right is not None
    assert left["y"] == pytest.approx(right["y"], abs=2), "side by side"
    assert right["x"] >= left["x"] + left["width"]
    ARTEFACTS.mkdir(exist_ok=True)
    page.screenshot(path=ARTEFACTS / "pairs-real.png")
    page.wait_for_timeout(700)  # an Enter before that belongs to the item before
    if not marked:
        with page.expect_response("**/preferences"):
            page.keyboard.press("v")
        page.reload()  # the setting stays, and this time nothing was ever marked
        expect(sides).to_have_count(2)
        page.wait_for_timeout(700)
    judged(page, "543")
    wait_until_saved(page, study_id)
    if not marked:
        with page.expect_response("**/preferences"):
            page.keyboard.press("v")  # for the tests that follow
    if marked:  # what came before a reload can no more be read
        for name in (*SYSTEMS, "e5_mistral", "llama3", "gpt_4"):
            assert not wire.has(name), f"{name!r} was sent"
        assert wire.has('"answers"')
    export_project(server.db, server.admin, project_id, to=tmp_path / "export")
    rows = labels_in(tmp_path / "export")
    assert {"pair_marks" in row["shown"].split() for row in rows} == {marked}
    given = {row["criterion"]: int(row["value"]) for row in rows}
    turned = -1 if rows[0]["left"] == "other_item" else 1
    assert given == {"correctness": 2 * turned, "completeness": turned, "overall": 0}
    assert {(row["system"], row["other_system"]) for row in rows} == {SYSTEMS}


def arabic_items(folder: Path) -> Path:
    long = "يجب على الجمعية أن تحصل على موافقة مالك الأرض قبل الحفر. " * 60
    rows = [
        {
            "id": f"q{number}:{system}", "question_key": f"q{number}", "question": "متى يفتح المسبح، وكم ثمن التذكرة؟",
            "answer": answer, "system": system, "language": "ar", "references": ["يفتح في الأول من مايو. " * 9],
        }
        for number in range(2)
        for system, answer in zip(ARABIC, ("يفتح في الأول من مايو.", long), strict=True)
    ]  # fmt: skip
    path = folder / "items.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
def test_an_arabic_pair_reads_from_the_right_and_the_long_answer_can_be_read_on(
    server: RunningServer, new_page: NewPage, tmp_path: Path, dark: bool
) -> None:
    _, study_id = study_of(server, f"Arabic {dark}", arabic_items(tmp_path), "native", ARABIC)
    page = new_page(width=1366, height=768, dark=dark)
    sign_in(page, server, "ben")
    page.goto(f"{server.url}/annotate?study={study_id}")
    sides = page.get_by_test_id("side")
    expect(sides).to_have_count(2)
    boxes = [sides.nth(at).bounding_box() for at in (0, 1)]
    assert boxes[0] is not None
    assert boxes[1] is not None
    assert boxes[0]["x"] < boxes[1]["x"], "A stays left"
    assert sides.nth(0).evaluate("(side) => getComputedStyle(side.querySelector('p') ?? side).direction") == "rtl"
    expect(page.get_by_test_id("facing").get_by_test_id("more-words")).to_contain_text("more words")
    page.screenshot(path=ARTEFACTS / f"pairs-arabic-{'dark' if dark else 'light'}.png")
    marks = sides.locator("mark.only")
    expect(marks).not_to_have_count(0)
    page.keyboard.press("v")
    expect(marks).to_have_count(0)
    fold = page.get_by_test_id("fold-references")
    for unfolded in ("true", "false"):
        page.keyboard.press("u")
        expect(fold).to_have_attribute("aria-expanded", unfolded)
    page.keyboard.press("v")
    expect(marks).not_to_have_count(0)
    boxes = [sides.nth(at).bounding_box() for at in (0, 1)]
    tops = [box["y"] for box in boxes if box]
    page.keyboard.press("Space")
    page.wait_for_timeout(300)  # it is scrolled
    moved = [side["y"] for at in (0, 1) if (side := sides.nth(at).bounding_box())]
    assert moved[0] - tops[0] == pytest.approx(moved[1] - tops[1], abs=1), "scrolled together"
    page.wait_for_timeout(700)
    judged(page, "121")
    wait_until_saved(page, study_id)
