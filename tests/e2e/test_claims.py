"""Claims against evidence, as a grid: walked and labelled with the keyboard alone, at the size of a laptop."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from sqlmodel import select

from annotators.designing.design import StudyDesign
from annotators.protocols import PROTOCOLS
from db.designing.making import create_study
from db.models import StoredLabel
from db.projects import create_project
from exports.bundles.bundle import export_project
from exports.importing.items import import_paths
from tests.conftest import SHARED
from tests.e2e.conftest import NewPage, another_page, screenshot, sign_in
from tests.e2e.disputes import Quarrel, Said, make_disputes
from tests.e2e.own_items import item, make_own_scene, unit
from tests.e2e.scene import ANNOTATORS, Scene, wait_until_saved
from tests.e2e.test_disclosure import Wire
from tests.makers import read_guidelines
from tests.servers import RunningServer, running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

SAID = [
    "The cooperative decided to renew the converter",
    "The converter had stood still since the storm of 2021",
    "Its blades went to the yard in Tern Sound for repair",
    "The turbine was taken apart",
    "The cable to the island holds",
    "The report was published a week later",
    "The renewal cost 9.4 million crowns",
    "A third of the cost was paid by the members",
    "It was finished a year earlier than planned",
    "The new converter feeds 312 homes on the eastern shore of the bay",
    "Two members voted against the renewal",
    "The old converter was given to the museum of the harbour town",
]
ANSWER = ". ".join(SAID) + "."
GOLD = "Gold says that the harbour crane was sold"
KEYS = {"entailment": "1", "neutral": "2", "contradiction": "3"}


def twelve_claims() -> dict[str, Any]:
    """12 claims, 6 units that are asked about and two that are not, and a claim of the reference."""
    units = [
        unit(n, kind="figure" if n > 4 else "passage", role="gold" if n < 3 else "distractor", rank=n, key=f"gold-{n}")
        for n in range(1, 9)
    ]
    claims = [{"key": f"said-{n}", "text": f"{text}."} for n, text in enumerate(SAID, 1)]
    gold = {"key": "gold-1", "text": f"{GOLD}.", "of": "reference"}
    return item(1, answer=ANSWER, claims=[*claims[:4], gold, *claims[4:]], references=[f"{GOLD}."]) | {
        "evidence": units
    }


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    with running_server(tmp_path_factory.mktemp("home")) as running:
        yield running


@pytest.fixture(scope="module")
def scene(server: RunningServer, tmp_path_factory: pytest.TempPathFactory) -> Scene:
    rows = [twelve_claims(), item(2, claims=[{"key": "c1", "text": "It decided to renew the converter."}])]
    return make_own_scene(server, tmp_path_factory.mktemp("in"), rows, protocol="claim_verification")


def at(page: Page) -> Locator:
    return page.get_by_test_id("grid-at")


def open_grid(new_page: NewPage, scene: Scene, name: str, *, dark: bool = False) -> tuple[Page, Wire]:
    opened = new_page(fresh=True, width=1366, height=768, dark=dark)
    sign_in(opened, scene.server, name)
    page = another_page(opened)
    wire = Wire(page)
    page.goto(scene.address())
    expect(page.get_by_test_id("claim-grid")).to_be_visible()
    return page, wire


@pytest.mark.parametrize("dark", [False, True])
def test_twelve_claims_against_six_units_are_labelled_by_keyboard_alone(
    new_page: NewPage, scene: Scene, dark: bool
) -> None:
    page, wire = open_grid(new_page, scene, "ben" if dark else "ada", dark=dark)
    for secret in (GOLD, '"reference"', "gold-1", "distractor", "per_modality", "C13", "E7"):
        assert not wire.has(secret), f"{secret!r} was sent"
    grid = page.get_by_test_id("claim-grid")
    expect(grid.locator("tbody tr")).to_have_count(12)
    expect(grid.get_by_test_id("grid-cell")).to_have_count(12 * 7)
    for cell in (grid.locator("tbody tr").first, grid.locator("tbody tr").last):
        expect(cell).to_be_in_viewport()
    expect(at(page)).to_have_text("C1, Form of the claim")
    for key in "1312321":  # its form, then six units
        page.keyboard.press(key)
    expect(at(page)).to_have_text("C2, Form of the claim")
    for key, words in [
        ("ArrowRight", "C2 against E1"), ("ArrowDown", "C3 against E1"), ("ArrowUp", "C2 against E1"),
        ("ArrowUp", "C1 against E1"), ("ArrowLeft", "C1, Form of the claim"), ("ArrowLeft", "C1, Form of the claim"),
        ("ArrowUp", "C1, Form of the claim"), ("ArrowDown", "C2, Form of the claim"),
    ]:  # fmt: skip
        page.keyboard.press(key)
        expect(at(page)).to_have_text(words)
    page.keyboard.press("2")
    for key in "31":
        page.keyboard.press(key)
    expect(at(page)).to_have_text("C2 against E3")
    page.keyboard.press("A")  # the rest of this claim
    expect(at(page)).to_have_text("C3, Form of the claim")
    marked = page.get_by_test_id("answer").locator("mark.claim")
    expect(marked).to_have_text("Its blades went to the yard in Tern Sound for repair")
    expect(marked).to_be_in_viewport()
    page.set_viewport_size({"width": 683, "height": 384})  # a laptop's screen at 200 %
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    for shown in (grid.locator("tr.cur"), *page.locator(".claim-control [role=radio]:visible").all()):
        expect(shown).to_be_in_viewport(ratio=1)
    screenshot(page, f"claims-200-{'dark' if dark else 'light'}")
    page.set_viewport_size({"width": 1366, "height": 768})
    page.keyboard.press("3")
    page.keyboard.press("x")
    page.keyboard.type("The page is blurred.")
    page.keyboard.press("Enter")
    screenshot(page, f"claims-{'dark' if dark else 'light'}")
    for _ in range(5):
        page.keyboard.press("2")
    for _ in range(9):
        page.keyboard.press("1")
        page.keyboard.press("A")
    expect(page.get_by_test_id("grid-count")).to_have_text("84 of 84 cells")
    screenshot(page, f"claims-done-{'dark' if dark else 'light'}")
    page.keyboard.press("Enter")
    expect(grid.locator("tbody tr")).to_have_count(1)  # the next item
    wait_until_saved(page)
    with scene.server.db.read() as session:
        rows = session.exec(select(StoredLabel).order_by(StoredLabel.id.desc()).limit(84)).all()  # type: ignore[union-attr]
    labels = {(row.criterion, row.target): row.value for row in rows}
    assert len(labels) == 84
    assert {target.split("|")[0] for _, target in labels} == {f"claim:said-{n}" for n in range(1, 13)}
    units = {target.split("|evidence:")[1] for name, target in labels if name == "verdict"}
    assert units == {"gold-1", "gold-2", "gold-3", "gold-5", "gold-6", "gold-7"}
    assert [labels["form", f"claim:said-{n}"] for n in (1, 2, 3)] == ["well_formed", "not_atomic", "not_in_answer"]
    assert sum(row.cannot_judge for row in rows) == 1
    first = sorted(str(value) for (name, target), value in labels.items() if name == "verdict" and "said-1|" in target)
    assert first == ["contradiction"] * 2 + ["entailment"] * 2 + ["neutral"] * 2
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_a_finger_hits_every_cell(new_page: NewPage, scene: Scene) -> None:
    page = new_page(width=1024, height=768, touch=True)
    sign_in(page, scene.server, "chloe")
    page.goto(scene.address())
    cells = page.get_by_test_id("grid-cell")
    expect(cells).to_have_count(12 * 7)
    sizes = cells.evaluate_all("cells => cells.map((cell) => [cell.offsetWidth, cell.offsetHeight])")
    assert min(min(size) for size in sizes) >= 44
    assert page.get_by_test_id("claim-grid").locator(".claim-text").first.evaluate("text => text.offsetWidth") >= 120
    cells.nth(6).scroll_into_view_if_needed()
    cells.nth(6).tap()
    expect(at(page)).to_have_text("C1 against E6")
    screenshot(page, "claims-touch")


def test_disputed_claims_are_decided_a_line_each(new_page: NewPage, server: RunningServer, scene: Scene) -> None:
    """What a claim is held against does not lie over the votes, and three labels stand in one line."""
    server.person("dora", default_role="adjudicator")
    said = {(0, "form", f"claim:C{n}"): {"ben": Said("not_atomic")} for n in range(1, 13)}
    said |= {(0, "verdict", f"claim:C{n}|evidence:E1"): {"ben": Said("neutral")} for n in range(1, 13)}
    study = make_disputes(
        server, scene.project_id, "disputed", Quarrel(said), protocol="claim_verification", show_names=True
    )
    page = new_page(width=1366, height=768)
    sign_in(page, server, "dora")
    page.goto(f"{server.url}/adjudicate?study={study}")
    rows = page.locator("tr.unit.disputed:not(.cur)")
    expect(rows).to_have_count(23)
    assert max(rows.evaluate_all("rows => rows.map((row) => row.offsetHeight)")) <= 36
    for number in range(9):
        expect(rows.nth(number)).to_be_in_viewport(ratio=1)
    heads = page.locator("tr.unit:not(.cur) .unit-head")
    wider = heads.evaluate_all("heads => heads.filter((head) => head.scrollWidth > head.clientWidth + 1).length")
    assert wider == 0
    screenshot(page, "claims-disputed")


def test_every_cell_says_what_a_judge_suggests(new_page: NewPage, server: RunningServer, tmp_path: Path) -> None:
    row = twelve_claims()
    said = {("said-1", "gold-1"): "entailment", ("said-5", "gold-2"): "contradiction"}
    row["metadata"] = {
        "verdicts": [
            {"claim": claim, "against": f"evidence:{key}", "label": label, "source": "judge"}
            for (claim, key), label in said.items()
        ]
    }
    scene = make_own_scene(
        server, tmp_path, [row], protocol="claim_verification", name="Suggested", suggestions="before"
    )
    page, _ = open_grid(new_page, scene, "chloe")
    grid = page.get_by_test_id("claim-grid")
    suggested = grid.locator("[data-testid=grid-cell].suggested")
    expect(suggested).to_have_text(["E", "C"])
    assert "A model suggests: Contradiction" in (suggested.last.get_attribute("aria-label") or "")
    screenshot(page, "claims-suggested")
    target = suggested.last.get_attribute("data-target-of")
    cell = grid.locator(f"[data-testid=grid-cell][data-target-of='{target}']")
    cell.click()
    page.keyboard.press("1")
    expect(cell).to_have_class("page-chip given given-1")
    expect(cell).to_have_attribute("title", "A model suggests: Contradiction")
    expect(suggested).to_have_count(1)


@pytest.mark.skipif(not (SHARED / "data" / "ragchecker").is_dir(), reason="real data (../shared/data) is not here")
def test_a_real_answer_is_labelled_as_its_checker_did_and_read_back(
    new_page: NewPage, server: RunningServer, scene: Scene, tmp_path: Path
) -> None:
    """RAGChecker's first worked example: 11 claims against the first three of its four passages."""
    source = SHARED / "data" / "ragchecker" / "checking_outputs.json"
    result = json.loads(source.read_text())["results"][0]
    project = create_project(server.db, server.admin, "RAGChecker")
    folder = tmp_path / "documents"
    import_paths(server.db, server.admin, project, paths=[source], format_name="ragchecker", data_folder=folder)
    design = StudyDesign(name="Claims", annotators=ANNOTATORS, overlap=2, order="given")
    protocol = PROTOCOLS.get("claim_verification")
    made = create_study(server.db, server.admin, project, protocol=protocol, design=design)
    read_guidelines(server.db, made.study_id)
    page, _ = open_grid(new_page, Scene(server, project, made.study_id), "chloe")
    expect(page.get_by_test_id("grid-cell")).to_have_count(11 * 4)
    address = f"{server.url}/api/studies/{made.study_id}"
    shown = page.request.get(f"{address}/work").json()["items"][0]
    passages = {chunk["text"]: rank for rank, chunk in enumerate(result["retrieved_context"], 1)}
    columns = {unit["key"]: passages[unit["text"]] for unit in shown["evidence"]}
    assert sorted(columns.values()) == [1, 2, 3]
    expected = {}
    for number, labels in enumerate(result["retrieved2response"], 1):
        page.keyboard.press("1")
        for key, rank in columns.items():
            label = expected[f"claim:C{number}|evidence:{key}"] = labels[rank - 1].lower()
            page.keyboard.press(KEYS[label])
    page.keyboard.press("Enter")
    expect(page.get_by_test_id("grid-cell").first).to_have_text("")  # the next item
    wait_until_saved(page)
    again = page.request.post(
        f"{address}/reopen", data={"assignment": shown["assignment"]}, headers={"X-Assay": "1", "Origin": server.url}
    )
    assert again.ok, again.text()
    previous = again.json()["item"]["previous"]
    assert {given["target"]: given["value"] for given in previous if given["criterion"] == "verdict"} == expected
    export_project(server.db, server.admin, project, to=tmp_path / "out", study_id=made.study_id, formats=["labels"])
    with (tmp_path / "out" / "labels.csv").open(encoding="utf-8-sig") as file:
        rows = [row for row in csv.DictReader(file) if row["criterion"] == "verdict"]
    found = {row["target"]: row["value"] for row in rows}
    assert len(found) == 33
    assert sorted(found.values()) == sorted(expected.values())
    entailed = {target.split("|")[0] for target, value in found.items() if value == "entailment"}
    assert len(entailed) == sum("Entailment" in labels[:3] for labels in result["retrieved2response"])
