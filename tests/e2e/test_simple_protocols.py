"""Protocols on a real item each, by keyboard: nothing hidden on the wire, and the labels come back, also as a file."""

from __future__ import annotations

import csv
import json
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from annotators.designing.design import StudyDesign
from annotators.protocols import PROTOCOLS
from db.annotating.annotations import my_work
from db.designing.making import create_study
from db.people.accounts import actor_named
from db.projects import create_project
from db.studies.ratings import CriterionRatings, ratings
from exports.bundles.bundle import export_project
from exports.importing.items import import_paths
from exports.importing.labels import import_label_table
from exports.results.document import Results
from exports.sample import write_sample
from tests.e2e.conftest import NewPage, another_page, screenshot, sign_in
from tests.e2e.own_items import DOCUMENT
from tests.e2e.scene import judgement, wait_until_saved
from tests.e2e.test_disclosure import Wire
from tests.makers import read_guidelines
from tests.servers import RunningServer, running_server

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

UNIDOC, FATHOMS, PICTURED = "UniDoc", "FATHOMS", "Pictured"
CHECKED, SINGLE, STEPS, REPORT = "RAGChecker", "Double-Bench", "Steps", "MMLongBench"


@dataclass(frozen=True)
class Case:
    """A protocol on an item of one of the projects: the keys before Enter, and what they mean, by criterion.

    `hides` is off the wire at the first step. `then` are the keys of a second one, which shows what `then_shows` names
    of it, while what `then_hides` names stays off.
    """

    project: str
    keys: str | list[str]
    means: dict[str, list[Any]]
    hides: tuple[str, ...]
    then: str = ""
    then_shows: tuple[str, ...] = ()
    then_hides: tuple[str, ...] = ()


CASES = {
    "self_contained": Case(UNIDOC, "2", {"self_contained": ["false"]}, ("answer", "evidence")),
    "human_like": Case(UNIDOC, "1", {"human_like": ["true"]}, ("answer", "evidence")),
    "factuality": Case(UNIDOC, "12", {"question_factual": ["factual"], "answer_factual": ["not_factual"]}, ("used",)),
    "completeness": Case(UNIDOC, "2", {"complete": ["incomplete"]}, ("used",)),
    "grounding": Case(UNIDOC, "12", {"grounding": ["required", "not_required"]}, ("used",)),
    "qa_verification": Case(
        UNIDOC,
        "12",
        {
            "self_contained": ["true"],
            "human_like": ["false"],
            "question_factual": ["factual"],
            "answer_factual": ["factual"],
            "complete": ["incomplete"],
            "grounding": ["required", "not_required"],
        },
        ("answer", "evidence", "used"),
        then="11212",
        then_shows=("answer",),
        then_hides=("used",),
    ),
    "ambiguity": Case(UNIDOC, "1", {"ambiguity": ["clear"]}, ("answer", "evidence")),
    "abstention": Case(FATHOMS, "1", {"abstention": ["statement"]}, ("system",)),
    "metric_agreement": Case(
        FATHOMS, "52", {"correctness_agreement": [5], "hallucination_agreement": [2]}, ("system",)
    ),
    "metric_agreement_blind": Case(
        FATHOMS,
        "41",
        {
            "correctness": ["0.75"],
            "abstention": ["statement"],
            "correctness_agreement": [4],
            "hallucination_agreement": [1],
        },
        ("system", "scores"),
        then="41",
        then_shows=("scores",),
        then_hides=("system",),
    ),
    "query_review": Case(UNIDOC, "1", {"query_category": ["A"]}, ("answer", "evidence")),
    "answer_grading": Case(FATHOMS, "t", {"grade": [10]}, ("system",)),
    "claim_recall": Case(
        CHECKED, "112A", {"recalled": ["in_answer"] * 2 + ["not_in_answer"] * 20}, ("claim", "reference")
    ),
    "claim_correctness": Case(
        CHECKED,
        "123" + "1" * 8,
        {"correctness": ["contradiction"] + ["entailment"] * 9 + ["neutral"]},
        ("gold claim", "answer"),
    ),
    "single_hop_checklist": Case(
        SINGLE,
        "1211",
        {
            "names_no_source": ["pass"],
            "answer_right": ["fail"],
            "self_contained": ["pass"],
            "one_modality": ["pass"],
        },
        ("category",),
    ),
    "multi_hop_checklist": Case(
        STEPS,
        "1122",
        {"question_clear": ["pass"], "steps_right": ["pass"], "steps_unique": ["fail"], "worth_asking": ["fail"]},
        ("category",),
    ),
    "evidence_pages": Case(
        REPORT,
        ["ArrowRight", "ArrowRight", "1", "ArrowRight", "1", "A"],
        {"evidence_page": ["evidence"] * 2 + ["not_evidence"] * 21},
        ("answer", "gold"),
    ),
    "ambiguity_with_image": Case(PICTURED, "1", {"ambiguity": ["clear"]}, ("answer",)),
}


@dataclass(frozen=True)
class World:
    """The server, and of each project its id and the item that is labelled, as it was written or imported."""

    server: RunningServer
    projects: dict[str, int]
    items: dict[str, dict[str, Any]]
    folder: Path


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory, shared_data: Path) -> Iterator[World]:
    folder = tmp_path_factory.mktemp("simple")
    unidoc = json.loads((shared_data / "unidoc" / "finance.json").read_text(encoding="utf-8"))[0]
    fathoms = sorted((shared_data / "fathoms" / "results").rglob("*.json"))[0]
    write_sample(folder / "sample")
    pictured = {
        "id": "pictured",
        "question": "Which year does the title of this report name?",
        "answer": "The one after the converter was renewed.",
        "images": [{"key": "q", "document": DOCUMENT, "page": 1, "of": "question"}],
        "documents": [DOCUMENT],
    }
    (folder / "unidoc.json").write_text(json.dumps([unidoc]))
    (folder / "sample" / "items.jsonl").write_text(json.dumps(pictured) + "\n")
    checked = json.loads((shared_data / "ragchecker" / "checking_outputs.json").read_text())
    first = checked["results"][0]
    (folder / "checking.json").write_text(json.dumps({**checked, "results": [first]}))
    single = json.loads((shared_data / "double_bench" / "single_bench_slice.json").read_text())[0]
    (folder / "single.json").write_text(json.dumps([single]))
    two = [{f"question{n}": f"And number {n}?", f"answer{n}": "Yes.", "reference_page": [n]} for n in range(2)]
    (folder / "steps.json").write_text(json.dumps([{**single, "uid": "many", "steps": two}]))
    report = json.loads((shared_data / "mmlongbench" / "samples.json").read_text())[0]
    (folder / "report" / "documents").mkdir(parents=True)
    shutil.copy(shared_data / "mmlongbench" / "documents" / report["doc_id"], folder / "report" / "documents")
    (folder / "report" / "samples.json").write_text(json.dumps([report]))
    with running_server(folder / "home") as server:
        server.person("ada", default_role="annotator")
        projects = {}
        for name, paths in (
            (UNIDOC, [folder / "unidoc.json"]), (FATHOMS, [fathoms]), (PICTURED, [folder / "sample"]),
            (CHECKED, [folder / "checking.json"]), (SINGLE, [folder / "single.json"]), (STEPS, [folder / "steps.json"]),
            (REPORT, [folder / "report"]),
        ):  # fmt: skip
            projects[name] = create_project(server.db, server.admin, name)
            import_paths(
                server.db, server.admin, projects[name], paths=paths, data_folder=server.home / "data" / "documents"
            )
        items = {
            UNIDOC: {
                "answer": unidoc["complete_answer"],
                "evidence": "figure-5-5.jpg",
                "used": '"used"',
            },
            FATHOMS: {"system": fathoms.stem, "scores": '"scores":['},
            PICTURED: {"answer": pictured["answer"]},
            CHECKED: {
                "answer": first["response"],
                "claim": " ".join(first["response_claims"][0]),
                "gold claim": " ".join(first["gt_answer_claims"][-1]),
                "reference": first["gt_answer"],
            },
            SINGLE: {"category": single["query_type"]},
            STEPS: {"category": single["query_type"]},
            REPORT: {"answer": report["answer"], "gold": '"gold"'},
        }
        yield World(server, projects, items, folder)


@pytest.mark.parametrize("name", CASES)
def test_an_item_is_labelled_by_keyboard_and_read_back(world: World, new_page: NewPage, name: str) -> None:
    case, server = CASES[name], world.server
    project_id = world.projects[case.project]
    protocol = PROTOCOLS.get(name)
    design = StudyDesign(
        name=name, annotators=("ada",), overlap=1, sample=1, order="given",
        keep_lacking=name == "grounding",  # of evidence whose documents are not there
    )  # fmt: skip
    study_id = create_study(server.db, server.admin, project_id, protocol=protocol, design=design).study_id
    read_guidelines(server.db, study_id)
    first = new_page(fresh=True)
    sign_in(first, server, "ada")
    page = another_page(first)
    wire = Wire(page)
    page.goto(f"{server.url}/annotate?study={study_id}")
    expect(judgement(page)).to_be_visible()
    page.wait_for_timeout(500)  # look-ahead
    for hidden in case.hides:
        assert not wire.has(world.items[case.project][hidden]), hidden
    screenshot(page, f"protocol-{name}")
    page.emulate_media(color_scheme="dark")
    screenshot(page, f"protocol-{name}-dark")
    for key in case.keys:
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    if case.then:
        expect(judgement(page)).to_have_attribute("data-step", "1")
        page.wait_for_timeout(700)  # an Enter before belongs to the step before
        for hidden in case.then_hides:
            assert not wire.has(world.items[case.project][hidden]), hidden
        for shown in case.then_shows:
            assert wire.has(world.items[case.project][shown]), shown
        screenshot(page, f"protocol-{name}-then")
        for key in case.then:
            page.keyboard.press(key)
        page.keyboard.press("Enter")
    expect(page.get_by_test_id("finished")).to_be_visible()
    wait_until_saved(page)

    meant = sorted((criterion, str(value)) for criterion, values in case.means.items() for value in values)
    at_first = protocol.steps[0].criteria  # a later step is not sent before its time, labels included
    assert sorted(read_back(page, server, study_id)) == [label for label in meant if label[0] in at_first]
    ada = actor_named(server.db, "ada")
    assert next(row.study for row in my_work(server.db, ada)) == name
    results = Results.of_study(server.db, server.admin, study_id)
    given = {column.criterion.name: sorted(column.values, key=str) for column in results_of(server, study_id)}
    assert {criterion: given[criterion] for criterion in case.means} == {
        criterion: sorted(values, key=str) for criterion, values in case.means.items()
    }
    to = world.folder / f"export-{name}"
    export_project(server.db, server.admin, project_id, to=to, study_id=study_id, formats=("labels",), names=True)
    [labels] = to.rglob("labels.csv")
    with labels.open(encoding="utf-8-sig", newline="") as table:
        exported = [(row["criterion"], row["value"]) for row in csv.DictReader(table)]
    assert sorted(exported) == meant
    again = design.model_copy(update={"name": f"{name} again"})
    other = create_study(server.db, server.admin, project_id, protocol=protocol, design=again).study_id
    import_label_table(server.db, server.admin, project_id, study=f"{name} again", path=labels)
    assert rows_of(Results.of_study(server.db, server.admin, other)) == rows_of(results)


def read_back(page: Page, server: RunningServer, study_id: int) -> list[tuple[str, str]]:
    """(criterion, value) of the labels given last, as the annotator's page gets them when it is opened again."""
    answer = page.request.post(
        f"{server.url}/api/studies/{study_id}/reopen",
        data={"assignment": None},
        headers={"X-Assay": "1", "Origin": server.url},
    )
    assert answer.ok, answer.text()
    return [(given["criterion"], str(given["value"])) for given in answer.json()["item"]["previous"]]


def results_of(server: RunningServer, study_id: int) -> list[CriterionRatings]:
    return ratings(server.db, server.admin, study_id).criteria


def rows_of(results: Results) -> list[dict[str, Any]]:
    return [figure.to_json() for figure in results.figures]
