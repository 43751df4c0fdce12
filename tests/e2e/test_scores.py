"""Scores that are judged: in the criterion's row and in view, with the phrases that were counted, none too early."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Locator, Page, expect
from sqlmodel import col, select

from annotators.designing.design import StudyDesign
from annotators.protocols import PROTOCOLS
from db.designing.making import create_study
from db.models import Item, ItemVersion, StoredLabel
from db.projects import create_project
from db.scores.write import run_scorer
from exports.importing.items import import_paths
from tests.e2e.conftest import NewPage, another_page, screenshot, sign_in
from tests.e2e.own_items import item, make_own_scene, open_as
from tests.e2e.scene import ANNOTATORS, Scene, judgement, wait_for_step, wait_until_saved
from tests.e2e.test_disclosure import Wire
from tests.makers import read_guidelines
from tests.servers import RunningServer, running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

LAPTOP = {"width": 1366, "height": 768}


def row(page: Page, criterion: str) -> Locator:
    return page.locator(f'[data-testid="criterion"][data-criterion="{criterion}"]')


def value(page: Page, criterion: str) -> Locator:
    return row(page, criterion).get_by_test_id("score-value")


def expect_judged_in_view(page: Page, criterion: str) -> None:
    """The row is the current one, and its value, its meaning and its labels are on the screen as a whole."""
    expect(row(page, criterion)).to_have_attribute("aria-current", "true")
    for part in (value(page, criterion), row(page, criterion).get_by_role("radiogroup")):
        expect(part).to_be_in_viewport(ratio=1)
    on_top = value(page, criterion).evaluate(
        """(node) => {
          const box = node.getBoundingClientRect();
          const found = node.getRootNode().elementFromPoint(box.left + box.width / 2, box.top + box.height / 2);
          return node === found || node.contains(found);
        }"""
    )
    assert on_top, "something lies over the value"


def expect_found_phrases_marked(page: Page) -> None:
    """What is marked in the answer are the phrases of the best set, each, and nothing else."""
    found = {text.casefold().replace("-", " ") for text in page.locator("[data-best] .found [dir]").all_inner_texts()}
    marks = page.get_by_test_id("answer").locator("mark.found")
    marked = {text.casefold().replace("-", " ") for text in marks.all_text_contents()}
    assert all(any(mark in phrase or phrase in mark for mark in marked) for phrase in found), (found, marked)
    assert all(any(mark in phrase or phrase in mark for phrase in found) for mark in marked), (found, marked)
    expect(page.get_by_test_id("found-phrases")).to_be_visible(visible=bool(found))


@pytest.fixture(scope="module")
def fathoms(shared_data: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """The result files of FATHOMS with its questions, and a study of the longest answer of all."""
    with running_server(tmp_path_factory.mktemp("fathoms") / "home") as server:
        for person in ANNOTATORS:
            server.person(person, default_role="annotator")
        project_id = create_project(server.db, server.admin, "FATHOMS")
        folder = shared_data / "fathoms"
        results = [
            path for group in ("closed", "LlamaIndex RAG") for path in sorted((folder / "results" / group).iterdir())
        ]
        paths = [folder / "questions_answers.json", *results]
        import_paths(
            server.db,
            server.admin,
            project_id,
            paths=paths,
            format_name="fathoms",
            data_folder=server.home / "data" / "documents",
        )
        yield server, project_id


def longest_answers(server: RunningServer, n: int) -> tuple[str, ...]:
    with server.db.read() as session:
        rows = session.execute(
            select(Item.external_id, ItemVersion.answer)
            .join(ItemVersion, col(ItemVersion.item_id) == Item.id)
            .where(Item.system != "reference")
        ).all()
    return tuple(name for name, _ in sorted(rows, key=lambda entry: -len(entry[1]))[:n])


@pytest.mark.parametrize("dark", [False, True])
def test_the_score_is_in_view_when_it_is_judged_for_the_longest_real_answer(
    fathoms: tuple[RunningServer, int], new_page: NewPage, dark: bool
) -> None:
    server, project_id = fathoms
    design = StudyDesign(
        name=f"longest {dark}", annotators=ANNOTATORS, overlap=3, order="given", items=longest_answers(server, 3)
    )
    protocol = PROTOCOLS.get("metric_agreement")
    made = create_study(server.db, server.admin, project_id, protocol=protocol, design=design)
    read_guidelines(server.db, made.study_id)
    page = open_as(new_page, Scene(server, project_id, made.study_id), "ada", dark=dark, **LAPTOP)
    for _ in range(made.n_items):
        assignment = judgement(page).get_attribute("data-assignment")
        expect_judged_in_view(page, "correctness_agreement")
        sets = page.get_by_test_id("phrase-set")
        best = page.locator('[data-testid="phrase-set"][data-best]')
        assert sets.count() >= 1
        share = best.locator(".found").count() / best.locator("li").count()
        assert value(page, "correctness_agreement").inner_text() == f"{share:.2f}"
        said = f"{best.locator('.found').count()} of {best.locator('li').count()}: share of the best set"
        expect(row(page, "correctness_agreement").get_by_test_id("score-meaning")).to_contain_text(said)
        expect_found_phrases_marked(page)
        screenshot(page, f"scores-fathoms-{'dark' if dark else 'light'}-{assignment}")
        page.keyboard.press("4")
        expect_judged_in_view(page, "hallucination_agreement")
        assert value(page, "hallucination_agreement").inner_text() in ("up", "down")
        page.keyboard.press("2")
        page.keyboard.press("Enter")
        expect(page.locator(f'[data-assignment="{assignment}"]')).to_have_count(0)
    expect(page.get_by_test_id("finished")).to_be_visible()


REFERENCES = [["wooden buoy", "harbour chain"], ["buoy of oak"]]


def scored(number: int, **fields: Any) -> dict[str, Any]:
    return item(
        number, evidence=0, answer="They bought a wooden buoy. The wooden buoy floats.", references=REFERENCES, **fields
    )


def scored_scene(server: RunningServer, folder: Path, rows: list[dict[str, Any]], protocol: str) -> Scene:
    """A study by this protocol of items whose phrases were counted as whole words."""
    first = make_own_scene(server, folder, rows, name="Counted", protocol="ambiguity")
    run_scorer(server.db, server.admin, first.project_id, scorer="phrase_recall", parameters={"mode": "word_boundary"})
    design = StudyDesign(name="counted", annotators=ANNOTATORS, overlap=3, order="given")
    made = create_study(server.db, server.admin, first.project_id, protocol=PROTOCOLS.get(protocol), design=design)
    read_guidelines(server.db, made.study_id)
    return Scene(server, first.project_id, made.study_id)


def score(name: str, given: float | None, **fields: Any) -> dict[str, Any]:
    return {"name": name, "value": given, **fields}


OTHERS = [score("rouge_l", 0.5), score("answer_length", 9)]


def test_a_missing_value_is_said_in_its_row_with_the_reason_and_suggests_cannot_judge(
    new_page: NewPage, tmp_path: Path
) -> None:
    rows = [
        scored(1, scores=[score("correctness", 0.5), score("hallucination", None, reason="it timed out"), *OTHERS]),
        scored(2, scores=[score("hallucination", 1)]),
    ]
    with running_server(tmp_path / "home") as server:
        scene = make_own_scene(server, tmp_path / "in", rows, protocol="metric_agreement")
        page = open_as(new_page, scene, "ada", **LAPTOP)
        expect_judged_in_view(page, "correctness_agreement")
        expect(value(page, "correctness_agreement")).to_have_text("0.50")
        others = page.get_by_test_id("scores")  # its line above goes to the edge of the side, which is no whole pixel
        for part in (others.get_by_role("heading"), *others.get_by_role("listitem").all()):
            expect(part).to_be_in_viewport(ratio=1)
        expect(others).to_contain_text("ROUGE-L 0.500")
        expect(others).to_contain_text("Answer length 9")
        expect(others.get_by_role("listitem")).to_have_count(2)
        assert page.get_by_test_id("phrase-set").count() == 0, "nobody knows whether this score counted phrases"
        page.keyboard.press("5")
        expect(value(page, "hallucination_agreement")).to_have_text("unscored: it timed out")
        screenshot(page, "scores-missing")
        page.keyboard.press("x")
        expect(page.get_by_test_id("reason").first).to_contain_text("There is no value to judge")
        page.keyboard.press("1")
        expect(row(page, "hallucination_agreement").get_by_test_id("cannot-judge-note")).to_contain_text("it timed out")
        page.keyboard.press("Enter")
        expect(value(page, "correctness_agreement")).to_have_text("unscored: this item has no such score")
        row(page, "correctness_agreement").get_by_test_id("no-value").click()
        expect_judged_in_view(page, "hallucination_agreement")
        expect(value(page, "hallucination_agreement")).to_have_text("up")
        page.keyboard.press("1")
        page.keyboard.press("Enter")
        wait_until_saved(page)
        expect(page.get_by_test_id("finished")).to_be_visible()
        with server.db.read() as session:
            labels = session.exec(select(StoredLabel).order_by(col(StoredLabel.id))).all()
        assert [(label.value, label.cannot_judge) for label in labels] == [
            (5, False),
            (None, True),
            (None, True),
            (1, False),
        ]


LONG = (
    "The **harbour\nchain** is long.\n\n"
    + "Much more was bought that year.\n\n" * 60
    + "At the end, a wooden-buoy and a wooden buoy."
)


def test_found_phrases_are_marked_and_walked_to_by_key(new_page: NewPage, tmp_path: Path) -> None:
    """In the rendered text across its lines, in the raw text, and on the rail; `.` and `,` go from one to the next."""
    with running_server(tmp_path / "home") as server:
        row = item(1, evidence=0, answer=LONG, references=[["wooden buoy", "harbour chain", "anchor"]])
        page = open_as(new_page, scored_scene(server, tmp_path / "in", [row], "metric_agreement"), "ada", **LAPTOP)
        marks, said = page.get_by_test_id("answer").locator("mark.found"), page.get_by_test_id("found-phrases")
        expect(marks).to_have_text(["harbour chain", "wooden-buoy", "wooden buoy"])
        expect(said).to_contain_text("3 found phrases marked")
        expect(page.get_by_test_id("reading-foot").first).to_contain_text("phrase of the best set, 3×")
        rail = page.get_by_test_id("rail").first.locator(".rail-marks i")
        assert rail.count() == 2, "two of them stand on one line"
        expect(marks.last).not_to_be_in_viewport()
        page.keyboard.press(",")
        expect(marks.last).to_be_in_viewport(ratio=1)
        expect(marks.last).to_have_class("found at")
        expect(said).to_contain_text("Found phrase 3 of 3")
        expect(said).to_be_in_viewport(ratio=1)
        screenshot(page, "scores-found-phrases")
        page.keyboard.press(".")
        expect(said).to_contain_text("Found phrase 1 of 3")
        expect(marks.first).to_be_in_viewport(ratio=1)
        page.keyboard.press("m")
        assert marks.all_text_contents() == ["harbour\nchain", "wooden-buoy", "wooden buoy"]
        expect(page.locator("mark.at")).to_have_count(1)
        assert page.get_by_test_id("answer").text_content() == LONG
        said.get_by_test_id("found-next_hit").click()
        expect(said).to_contain_text("Found phrase 2 of 3")


def test_a_blind_study_tells_neither_values_nor_found_phrases_before_its_second_step(
    new_page: NewPage, tmp_path: Path
) -> None:
    with running_server(tmp_path / "home") as server:
        scene = scored_scene(server, tmp_path / "in", [scored(1), scored(2)], "metric_agreement_blind")
        opened = new_page(fresh=True, **LAPTOP)
        sign_in(opened, server, "ada")
        page = another_page(opened)
        wire = Wire(page)
        page.goto(scene.address())
        wait_for_step(page, "On your own")
        page.wait_for_timeout(1500)  # look-ahead
        assert wire.has("wooden buoy"), "the references are shown"
        hidden = (
            "phrase_sets",
            '"places":',
            "0.50",
            '"best"',
            "of the best set",
            "Whole words, after",
            "Phrase recall",
        )
        for text in hidden:
            assert not wire.has(text), f"{text!r} was sent before its time"
        page.keyboard.press("3")
        page.keyboard.press("1")
        page.keyboard.press("Enter")
        wait_for_step(page, "With the scores")
        expect_judged_in_view(page, "correctness_agreement")
        expect(value(page, "correctness_agreement")).to_have_text("0.50")
        expect(value(page, "hallucination_agreement")).to_have_text("unscored: this study has no such score")
        best = page.locator('[data-testid="phrase-set"][data-best]')
        expect(best).to_contain_text("1 of its 2 phrases is in the answer; this set counts")
        expect(best.locator(".found")).to_contain_text("2×")
        expect(best.locator(".missing")).to_contain_text("harbour chain")
        screenshot(page, "scores-blind")
        assert all(wire.has(text) for text in ("phrase_sets", "Whole words, after", "Phrase recall"))
        work = page.request.get(f"{server.url}/api/studies/{scene.study_id}/work").json()
        ahead = [item for item in work["items"] if item["step"] == 0]
        assert ahead, "the look-ahead has the second item"
        assert not any({"scores", "phrase_sets"} & set(item) for item in ahead)


def test_labels_of_studies_about_scores_are_given_by_what_is_shown(tmp_path: Path) -> None:
    """What the browser gets says the words of the scorer, not guesses from names."""
    with running_server(tmp_path / "home") as server:
        rows = [scored(1, scores=[score("hallucination", 0), score("correctness", 1 / 3)])]
        scene = make_own_scene(server, tmp_path / "in", rows, protocol="metric_agreement")
        client = server.signed_in("ada")
        found = client.get(f"/api/studies/{scene.study_id}/work").json()["items"][0]["scores"]
        assert [(score["criterion"], score["title"], score["words"]) for score in found] == [
            ("correctness_agreement", "Correctness", "0.33"),
            ("hallucination_agreement", "Hallucination", "down"),
        ]
