"""What annotators of another tool are asked about: all that ours are, and nothing that tells them the answer."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import orjson
import pytest

from annotators.designing.design import StudyDesign
from annotators.items.parsed import ForeignLabel
from annotators.protocols import PROTOCOLS
from db.designing.making import create_study
from db.elsewhere.handed_over import items_elsewhere
from db.elsewhere.labels import import_labels
from db.studies.revisions import revise_item
from exports.bundles.bundle import export_project
from exports.bundles.verify import verify_against
from exports.converting import convert_files
from exports.formats import FORMATS
from exports.formats.base import labels_of
from exports.label_studio.labelling import labellings_of
from exports.label_studio.tasks import task_data
from exports.reading.sources import open_sources
from tests.exports.formats.places import Place
from tests.exports.formats.test_labels_in_files import every_label
from tests.exports.sources import write_pdf
from tests.makers import make_member, make_person


def study_of_pages(place: Place, folder: Path, row: dict[str, Any], pages: int, annotator: str) -> int:
    """A study of the pages of an item's document `d.pdf`."""
    (folder / "documents").mkdir(parents=True)
    (folder / "items.jsonl").write_bytes(orjson.dumps(row))
    write_pdf(folder / "documents" / "d.pdf", pages=pages)
    place.take(folder)
    design = StudyDesign(name="pages", annotators=(annotator,), overlap=1)
    protocol = PROTOCOLS.get("evidence_pages")
    return create_study(place.db, place.actor, place.project, protocol=protocol, design=design).study_id


@pytest.mark.parametrize(("name", "file"), [("argilla", "page/records.json"), ("potato", "page/data.json")])
def test_all_pages_of_a_document_are_asked_about_and_not_those_of_evidence_alone(
    place: Place, tmp_path: Path, name: str, file: str
) -> None:
    row = {
        "id": "a", "question": "Q?", "answer": "A", "documents": ["d.pdf", "gone.pdf"],
        "evidence": [{"role": "gold", "kind": "page", "document": "d.pdf", "pages": [2]}],
    }  # fmt: skip
    make_member(place.db, place.project, make_person(place.db, "ada"), "annotator")
    study_id = study_of_pages(place, tmp_path / "in", row, 3, "ada")
    about: dict[str, Any] = {"study_id": study_id, "formats": [name], "data_folder": place.home}
    export_project(place.db, place.actor, place.project, to=tmp_path / "out", **about)
    tasks = orjson.loads((tmp_path / "out" / name / file).read_bytes())
    pages = [re.findall(r"page:d\.pdf:(\d)", orjson.dumps(task).decode())[0] for task in tasks]
    assert pages == ["1", "2", "3"]


@pytest.mark.parametrize(("name", "file"), [("argilla", "page/records.json"), ("potato", "page/data.json")])
def test_steps_are_called_by_number_and_come_back_by_their_keys(
    place: Place, tmp_path: Path, name: str, file: str
) -> None:
    row = {
        "id": "a", "question": "Q?", "answer": "A", "documents": ["d.pdf"],
        "hops": [{"key": "needless", "question": "Which pier?"}, {"key": "H1"}],
    }  # fmt: skip
    study_id = study_of_pages(place, tmp_path / "in", row, 2, place.actor.name)
    [criterion] = PROTOCOLS.get("evidence_pages").criteria
    yes, no = (label.value for label in criterion.label_list())
    said = [("page:d.pdf:1|hop:needless", yes), ("page:d.pdf:2|hop:needless", no),
            ("page:d.pdf:1|hop:H1", no), ("page:d.pdf:2|hop:H1", yes)]  # fmt: skip
    rows = [
        ForeignLabel(line, "a", "ada", criterion.name, target, str(value))
        for line, (target, value) in enumerate(said, 2)
    ]
    import_labels(place.db, place.actor, study_id, rows=rows, source="t.csv")
    to = tmp_path / "out"
    export_project(
        place.db, place.actor, place.project, to=to, study_id=study_id, formats=[name], data_folder=place.home
    )
    handed_on = [path for path in (to / name).rglob("*") if path.is_file() and "key" not in path.parts]
    assert not any(b"needless" in path.read_bytes() for path in handed_on)
    tasks = orjson.loads((to / name / file).read_bytes())
    units = [(task["fields"] if name == "argilla" else task)["unit"] for task in tasks]
    assert units == [f"d.pdf, page {page} | {step}" for step in ("Which pier?", "H2") for page in (1, 2)]
    assert [re.findall(r"hop:(\w+)", orjson.dumps(task).decode())[0] for task in tasks] == ["H1", "H1", "H2", "H2"]
    with open_sources([to / name]) as sources:
        labels = list(labels_of(FORMATS.get(name).read(sources)))
    assert sorted((label.target, label.value) for label in labels) == sorted(said)


# Scores that are judged -----------------------------------------------------------------------------------------------

FILES = {"argilla": "records.json", "potato": "data.json"}
AGREE = ("correctness_agreement", "hallucination_agreement")


def study_of_scores(place: Place, folder: Path, protocol: str) -> int:
    """A study of two items with scores, of which ada has judged the first."""
    rows = [
        {
            "id": f"q{number}", "question": "Which two metals?", "answer": "Bronze.", "references": [["copper", "tin"]],
            "scores": [{"scorer": "zeta", "name": "correctness", "value": value},
                       {"scorer": "zeta", "name": "hallucination", "value": 1},
                       {"scorer": "other", "name": "unjudged", "value": 0.625}],
        }
        for number, value in enumerate((0.37, 0.84), 1)
    ]  # fmt: skip
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "items.jsonl").write_bytes(b"\n".join(map(orjson.dumps, rows)))
    place.take(folder / "items.jsonl")
    design = StudyDesign(
        name="agree", annotators=(place.actor.name,), overlap=1, order="given", show_scores=("imported:zeta",)
    )
    asked = PROTOCOLS.get(protocol)
    study = create_study(place.db, place.actor, place.project, protocol=asked, design=design).study_id
    given = [
        ForeignLabel(line, "q1", "ada", criterion.name, "item", str(criterion.label_list()[1].value))
        for line, criterion in enumerate(asked.criteria, 2)
        if criterion.when is None
    ]
    import_labels(place.db, place.actor, study, rows=given, source="t.csv")
    return study


def exported(place: Place, study: int, to: Path, name: str) -> Path:
    """The folder of a study's export in a format, of which nothing is lost but the times of labels."""
    about: dict[str, Any] = {"study_id": study, "formats": [name]}
    told = export_project(place.db, place.actor, place.project, to=to, **about, dry_run=True)
    assert {lost.path for lost in told.lost[name]} <= {"labels.time"}
    export_project(place.db, place.actor, place.project, to=to, **about)
    assert verify_against(place.db, place.actor, to).ok
    return to / name


def tasks_in(folder: Path, name: str) -> list[dict[str, str]]:
    """The fields of the tasks of a folder; those of a task are among those that the settings or the config name."""
    tasks = orjson.loads((folder / FILES[name]).read_bytes())
    if name == "argilla":
        fields = {field["name"] for field in orjson.loads((folder / "settings.json").read_bytes())["fields"]}
        assert all(task["fields"].keys() <= fields for task in tasks)
        return [task["fields"] for task in tasks]
    shown = re.findall(r"- key: (\w+)", (folder / "config.yaml").read_text())
    return [{field: task[field] for field in shown} for task in tasks]


def comes_back(place: Place, folder: Path, again: Path) -> bool:
    """Whether all labels are there a second time once the export of the only study was imported."""
    before = [label[1:] for label in every_label(place)]
    report = Place(place.db, again).take(folder, labels_into="again")
    assert (report.rejected, report.labels.obstacles, report.added) == ([], [], 2)
    return bool(before) and sorted(label[1:] for label in every_label(place)) == sorted(before * 2)


@pytest.mark.parametrize("name", list(FILES))
def test_scores_that_are_judged_are_shown_as_annotators_see_them(place: Place, tmp_path: Path, name: str) -> None:
    study = study_of_scores(place, tmp_path / "in", "metric_agreement")
    folder = exported(place, study, tmp_path / "out", name)
    tasks = tasks_in(folder / "item", name)
    assert [list(task) for task in tasks] == [["question", "answer", "reference", "scores"]] * 2
    [correctness, hallucination] = tasks[0]["scores"].split("\n")
    assert correctness.startswith("zeta, imported Correctness: 0.37 (")
    assert hallucination.startswith("zeta, imported Hallucination: up (")
    [labelling] = labellings_of(PROTOCOLS.get("metric_agreement"))
    there = [
        task_data(labelling, item.materials, study="s", item="i", picture=lambda *_: None)["scores"]
        for item in items_elsewhere(place.db, place.actor, study)
    ]
    assert [task["scores"] for task in tasks] == there, "Label Studio shows the same"
    assert comes_back(place, folder, tmp_path / "again")


@pytest.mark.parametrize("name", list(FILES))
def test_what_is_judged_blind_has_no_score_beside_it(place: Place, tmp_path: Path, name: str) -> None:
    study = study_of_scores(place, tmp_path / "in", "metric_agreement_blind")
    folder = exported(place, study, tmp_path / "out", name)
    assert sorted(path.name for path in folder.iterdir()) == ["item", "item-scores", "key"]
    assert [list(task) for task in tasks_in(folder / "item", name)] == [["question", "answer", "reference"]] * 2
    blind = b"".join(path.read_bytes() for path in (folder / "item").rglob("*") if path.is_file())
    assert b"0.37" not in blind
    assert not [criterion for criterion in AGREE if criterion.encode() in blind]
    later = tasks_in(folder / "item-scores", name)
    assert [task["scores"].partition(" (")[0] for task in later] == [
        "zeta, imported Correctness: 0.37", "zeta, imported Correctness: 0.84",
    ]  # fmt: skip
    ids = [
        task["id"]
        for asked in ("item", "item-scores")
        for task in orjson.loads((folder / asked / FILES[name]).read_bytes())
    ]
    assert len(set(ids)) == 4, "no two tasks are called the same, in whatever folder"
    assert comes_back(place, folder, tmp_path / "again")


def test_a_score_of_an_earlier_answer_is_not_shown_beside_the_new_one(place: Place, tmp_path: Path) -> None:
    study = study_of_scores(place, tmp_path / "in", "metric_agreement")
    for item, fields in (("q1", {"answer": "Copper and tin."}), ("q2", {"category": "metals"})):
        revise_item(
            place.db,
            place.actor,
            place.project,
            external_id=item,
            fields=fields,
            reason="it was wrong",
            from_version=None,
        )
    export_project(place.db, place.actor, place.project, to=tmp_path / "out", study_id=study, formats=["argilla"])
    assert verify_against(place.db, place.actor, tmp_path / "out").ok
    first, second = tasks_in(tmp_path / "out" / "argilla" / "item", "argilla")
    assert (first["answer"], first["scores"].split("\n")[0]) == (
        "Copper and tin.", "zeta, imported Correctness: unscored: this item has no such score",
    )  # fmt: skip
    assert second["scores"].startswith("zeta, imported Correctness: 0.84"), "nothing that was judged was edited"


def test_scores_that_came_with_items_are_shown_where_there_is_no_study(place: Place, tmp_path: Path) -> None:
    study = study_of_scores(place, tmp_path / "in", "metric_agreement")
    folder = exported(place, study, tmp_path / "out", "argilla")
    convert_files([folder], into="potato", output=tmp_path / "converted")
    [first, _] = tasks_in(tmp_path / "converted" / "item", "potato")
    assert first["scores"].startswith("zeta, imported Correctness: 0.37 (")
    assert "Unjudged" not in first["scores"]
