"""Exports: what they hold, and that they are of one moment."""

from __future__ import annotations

import csv
import hashlib
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq
import pytest
from sqlmodel import select

from annotators.asking.submissions import GivenLabel
from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.criteria.grade import Grade
from annotators.criteria.several import Several
from annotators.criteria.text import Text
from annotators.errors import AssayError, Conflict, InvalidInput, NotAllowed, NotFound
from annotators.items.parsed import ForeignLabel, ParsedDocument
from annotators.protocols import Material, Protocol, Step
from db.annotating.annotations import Submitted, reopen, submit
from db.annotating.committing import StepSubmission
from db.elsewhere.labels import import_labels
from db.engine import Database, DatabaseBusy
from db.items.documents import document_file
from db.items.imports import import_items
from db.models import Account, Event, ItemVersion, StudyItem
from db.people.pseudonyms import pseudonyms
from exports.bundles.bundle import export_project
from exports.bundles.labels.table import COLUMNS
from exports.bundles.manifest import Manifest
from exports.bundles.verify import verify_against
from exports.cells import original
from exports.reading.json_files import json_lines
from exports.reading.sources import open_sources
from tests.db.items.test_imports import Rows
from tests.db.test_waiting import held, impatient
from tests.exports.sources import write_pdf
from tests.makers import StudyInUse, make_item, make_member, make_person


def protocol() -> Protocol:
    return Protocol(
        name="two_steps",
        title="Two steps",
        guidelines="Judge, then explain.",
        criteria=[
            Choice(name="right", title="Right", labels=[Label(value="yes"), Label(value="no")]),
            Grade(name="grade", title="Grade", labels=[Label(value=-1), Label(value=0), Label(value=1)]),
            Several(name="faults", title="Faults", required=False, labels=[Label(value="short"), Label(value="long")]),
            Text(name="why", title="Why", required=False),
        ],
        steps=[
            Step(name="judge", title="Judge", shows=[Material.QUESTION, Material.ANSWER], criteria=["right", "grade"]),
            Step(name="explain", title="Explain", shows=[Material.REFERENCES], criteria=["faults", "why"]),
        ],
    )


class Export:
    """An export folder, read."""

    def __init__(self, study: StudyInUse, to: Path, *, whole: bool = False, **options: Any) -> None:
        self.folder = to
        study_id = None if whole else study.study_id
        self.manifest: Manifest = export_project(
            study.db, study.researcher, study.project_id, to=to, study_id=study_id, **options
        )

    def rows(self, name: str) -> list[dict[str, str]]:
        with (self.folder / name).open(encoding="utf-8", newline="") as file:
            return list(csv.DictReader(file))

    def names(self) -> list[str]:
        return sorted(path.relative_to(self.folder).as_posix() for path in self.folder.rglob("*") if path.is_file())


def give(
    study: StudyInUse, who: int, labels: list[GivenLabel], item: dict[str, Any] | None = None, **fields: Any
) -> Submitted:
    """Commit a step of `item`, or of the one at hand."""
    item = item or study.work(who)["items"][0]
    uid = f"{who}-{item['assignment']}-{item['sitting']}-{item['step']}"
    step = StepSubmission(uid, item["assignment"], item["sitting"], item["step"], tuple(labels), **fields)
    return submit(study.db, study.annotators[who], study.study_id, step=step)


def first_step(value: str, grade: int = 0) -> list[GivenLabel]:
    return [GivenLabel("right", "item", value), GivenLabel("grade", "item", grade)]


@pytest.fixture
def study(database: Database) -> StudyInUse:
    return StudyInUse(database, items=2, annotators=2, overlap=2, protocol=protocol())


def test_every_label_has_a_row_with_all_that_is_known_of_it(study: StudyInUse, tmp_path: Path) -> None:
    give(study, 0, first_step("yes", -1), seconds=3.5)
    explained = [
        GivenLabel("faults", "item", ["short", "long"]),
        GivenLabel("why", "item", "It says “4,100”,\nwhich is right."),
    ]
    give(study, 0, explained, comment="well", flag="look", seconds=1.0)
    export = Export(study, tmp_path / "out")
    rows = export.rows("labels.csv")
    assert [tuple(row[name] for name in ("criterion", "value", "seconds", "step", "shown")) for row in rows] == [
        ("right", "yes", "3.5", "1", "answer question"),
        ("grade", "-1", "3.5", "1", "answer question"),
        ("faults", '["short","long"]', "1.0", "2", "answer question references"),
        ("why", "It says “4,100”,\nwhich is right.", "1.0", "2", "answer question references"),
    ]
    first = rows[0]
    assert list(first) == list(COLUMNS)
    assert {name: first[name] for name in ("item", "item_version", "question", "system", "annotator", "target")} == {
        "item": "i00001", "item_version": "1", "question": "q-i00001", "system": "s0", "annotator": "A1",
        "target": "item",
    }  # fmt: skip
    assert (first["protocol"], first["protocol_version"], first["kind"]) == ("two_steps", "1", "regular")
    assert (first["current"], first["complete"], first["cannot_judge"]) == ("true", "true", "false")
    assert (rows[2]["submission_comment"], rows[2]["flag"]) == ("well", "look")
    assert first["time"].endswith("Z") and first["time"][10] == "T"
    assert export.manifest.counts["labels"] == 4


def test_what_cannot_be_judged_has_no_value_and_a_reason(study: StudyInUse, tmp_path: Path) -> None:
    unsure = [GivenLabel("right", "item", None, True, "page missing"), GivenLabel("grade", "item", 1)]
    give(study, 0, unsure)
    [row, _] = Export(study, tmp_path / "out").rows("labels.csv")
    assert (row["value"], row["cannot_judge"], row["reason"]) == ("", "true", "page missing")


def test_labels_of_an_unfinished_item_are_there_and_marked(study: StudyInUse, tmp_path: Path) -> None:
    give(study, 0, first_step("yes"))
    rows = Export(study, tmp_path / "out").rows("labels.csv")
    assert [(row["complete"], row["current"], row["kind"]) for row in rows] == [("false", "true", "")] * 2
    assert Export(study, tmp_path / "out2").rows("adjudicated.csv") == []


def test_a_correction_leaves_both_and_says_which_counts(study: StudyInUse, tmp_path: Path) -> None:
    give(study, 0, first_step("yes"))
    give(study, 0, [])
    again = reopen(study.db, study.annotators[0], study.study_id)
    next_step = give(study, 0, first_step("no"), again).item
    give(study, 0, [], next_step)
    rows = [row for row in Export(study, tmp_path / "out").rows("labels.csv") if row["criterion"] == "right"]
    assert [(row["value"], row["current"], row["complete"]) for row in rows] == [
        ("yes", "false", "true"),
        ("no", "true", "true"),
    ]


def test_final_labels_say_how_they_were_reached(database: Database, tmp_path: Path) -> None:
    study = StudyInUse(database, items=3, annotators=3, overlap=3, rule="majority")
    for who, values in enumerate([("yes", "yes", "yes"), ("yes", "no", "yes"), ("yes", "yes", None)]):
        for value in values:
            if value:
                study.submit(who, study.work(who)["items"][0], {"right": value})
    rows = Export(study, tmp_path / "out").rows("adjudicated.csv")
    assert [(row["item"], row["label"], row["how"], orjson.loads(row["votes"]), row["n"]) for row in rows] == [
        ("i00001", "yes", "unanimous", {"yes": 3}, "3"),
        ("i00002", "yes", "majority", {"yes": 2, "no": 1}, "3"),
        ("i00003", "", "open", {"yes": 2}, "2"),
    ]
    assert {(row["system"], row["question"]) for row in rows} == {
        ("s0", "q-i00001"), ("s1", "q-i00002"), ("s0", "q-i00003"),
    }  # fmt: skip


def test_names_leave_only_when_asked_for(study: StudyInUse, tmp_path: Path) -> None:
    give(study, 1, first_step("yes"))
    give(study, 0, first_step("yes"))
    names = {actor.name for actor in study.annotators}
    plain = Export(study, tmp_path / "plain")
    # A1 is who submitted first, whatever their ids.
    with study.db.read() as session:
        assert pseudonyms(session, study.study_id) == {
            study.annotators[1].person_id: "A1", study.annotators[0].person_id: "A2",
        }  # fmt: skip
    for name in names:
        assert not any(name in (plain.folder / file).read_text() for file in plain.names())
    named = Export(study, tmp_path / "named", names=True)
    assert {row["annotator"] for row in named.rows("labels.csv")} == names


def test_an_erased_person_keeps_the_pseudonym(study: StudyInUse, tmp_path: Path) -> None:
    give(study, 0, first_step("yes"))
    with study.db.write() as session:
        session.delete(session.get_one(Account, study.annotators[0].person_id))
    assert {row["annotator"] for row in Export(study, tmp_path / "out", names=True).rows("labels.csv")} == {"A1"}


def test_no_cell_runs_as_a_formula(database: Database, tmp_path: Path) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    bad = "=HYPERLINK(1)"
    with database.write() as session:
        session.get_one(Account, study.annotators[0].person_id).name = "@SUM(1)"
    study.submit(0, study.work(0)["items"][0], {"right": "yes"}, comment=bad, flag="+1 for this")
    export = Export(study, tmp_path / "out", names=True)
    [row] = export.rows("labels.csv")
    assert (row["submission_comment"], row["flag"], row["annotator"]) == ("'" + bad, "'+1 for this", "'@SUM(1)")
    assert original(row["submission_comment"]) == bad


def test_imported_labels_are_exported_as_such(study: StudyInUse, tmp_path: Path) -> None:
    rows = [ForeignLabel(2, "i00001", "elsewhere", "right", "item", "no"),
            ForeignLabel(3, "i00001", "elsewhere", "grade", "item", "1")]  # fmt: skip
    import_labels(study.db, study.researcher, study.study_id, rows=rows, source="t.csv")
    found = Export(study, tmp_path / "out").rows("labels.csv")
    assert [(row["criterion"], row["value"], row["kind"], row["complete"]) for row in found] == [
        ("right", "no", "imported", "true"),
        ("grade", "1", "imported", "true"),
    ]


def test_labels_that_came_without_a_time_leave_without_one(study: StudyInUse, tmp_path: Path) -> None:
    at = datetime(2025, 3, 1, 12, tzinfo=UTC)
    rows = [
        ForeignLabel(line, "i00001", who, name, "item", value, when)
        for line, (who, name, value, when) in enumerate(
            [("dated", "right", "no", at), ("dated", "grade", "1", at), ("undated", "right", "no", None),
             ("undated", "grade", "1", None)], 2,
        )
    ]  # fmt: skip
    import_labels(study.db, study.researcher, study.study_id, rows=rows, source="t.csv")
    give(study, 0, first_step("yes"))
    export = Export(study, tmp_path / "out", names=True, formats=["labels", "huggingface"], options={"licence": "mit"})
    times = {row["annotator"]: row["time"] for row in export.rows("labels.csv")}
    assert times.pop("dated") == "2025-03-01T12:00:00.000000Z"
    assert times.pop("undated") == ""
    assert [bool(time) for time in times.values()] == [True]
    table = pq.read_table(export.folder / "huggingface" / "labels" / "test.parquet").to_pylist()
    assert {row["annotator"]: row["time"] for row in table if row["annotator"].endswith("dated")} == {
        "dated": "2025-03-01T12:00:00.000000Z", "undated": None,
    }  # fmt: skip
    assert verify_against(study.db, study.researcher, export.folder).ok


def test_the_manifest_says_what_was_exported_of_which_state(study: StudyInUse, tmp_path: Path) -> None:
    give(study, 0, first_step("yes"))
    export = Export(study, tmp_path / "out")
    manifest = orjson.loads((export.folder / "manifest.json").read_bytes())
    assert manifest == export.manifest.to_json()
    assert manifest["filters"] == {
        "study": "study", "formats": ["native", "labels", "adjudicated"], "names": False, "documents": False,
        "says_fell": True, "says_added": True, "says_how": True, "says_versions": True,
    }  # fmt: skip
    [snapshot] = manifest["studies"]
    assert snapshot["protocol"]["sha256"] == protocol().digest()
    assert snapshot["protocol"]["definition"] == protocol().model_dump(mode="json")
    assert snapshot["sample_sha256"] == study.made.sample_hash
    assert sorted(file["path"] for file in manifest["files"]) == [
        name for name in export.names() if name != "manifest.json"
    ]
    for file in manifest["files"]:
        data = (export.folder / file["path"]).read_bytes()
        assert (hashlib.sha256(data).hexdigest(), len(data)) == (file["sha256"], file["bytes"])
    assert manifest["counts"] == {
        "items": 2, "documents": 0, "documents_with_bytes": 0, "labels": 2,
        "final_labels_decided_by_adjudicators": 0, "final_labels_unanimous": 0, "final_labels_by_majority": 0,
        "units_open": 0,
    }  # fmt: skip
    with study.db.read() as session:
        last = session.exec(select(Event).order_by(Event.id.desc())).first()  # type: ignore[union-attr]
    assert last is not None
    assert (last.kind, last.thing_id) == ("exported", study.study_id)
    assert manifest["event"] < (last.id or 0)
    digest = hashlib.sha256((export.folder / "manifest.json").read_bytes()).hexdigest()
    assert last.details["manifest_sha256"] == digest


def test_what_formats_cannot_carry_is_said_before_and_in_the_manifest(study: StudyInUse, tmp_path: Path) -> None:
    to, formats = tmp_path / "out", ["native", "potato", "qrels"]
    about: dict[str, Any] = {"to": to, "study_id": study.study_id, "formats": formats}
    before = export_project(study.db, study.researcher, study.project_id, **about, dry_run=True)
    assert not to.exists()
    assert set(before.losses) == {"potato", "qrels"}
    assert "answers" in before.losses["qrels"]
    lost = {(name, one.what): (one.n, one.of) for name, some in before.lost.items() for one in some}
    assert lost["qrels", "items"] == (2, 2)
    assert set(before.lost) == {"potato", "qrels"}
    done = export_project(study.db, study.researcher, study.project_id, **about)
    assert (done.losses, done.counts, done.files) == (before.losses, before.counts, before.files)
    assert orjson.loads((to / "manifest.json").read_bytes())["losses"] == before.losses
    assert verify_against(study.db, study.researcher, to).ok


def test_a_whole_project_has_a_folder_for_each_study(study: StudyInUse, tmp_path: Path) -> None:
    make_item(study.db, study.project_id, "not-in-the-study")
    export = Export(study, tmp_path / "out", whole=True, formats=["native", "labels", "adjudicated", "scores"])
    assert export.names() == [
        "manifest.json", "native/documents.jsonl", "native/items.jsonl", "scores.csv", "studies/study/adjudicated.csv",
        "studies/study/labels.csv",
    ]  # fmt: skip
    assert export.manifest.counts["items"] == 3
    assert Export(study, tmp_path / "one").manifest.counts["items"] == 2


def test_a_study_is_exported_with_the_items_as_they_are_now(study: StudyInUse, tmp_path: Path) -> None:
    with study.db.write() as session:
        item = session.exec(select(StudyItem).order_by(StudyItem.position)).first()
        assert item is not None
        frozen = session.get_one(ItemVersion, item.item_version_id)
        session.add(
            ItemVersion(
                item_id=frozen.item_id, number=2, question="Revised?", content_hash="new", batch_id=frozen.batch_id
            )
        )
    give(study, 0, first_step("yes"))
    export = Export(study, tmp_path / "out")
    with open_sources([export.folder / "native/items.jsonl"]) as sources:
        rows = [line[1] for line in json_lines(sources.files[0]) if isinstance(line, tuple)]
    assert [row["question"] for row in rows] == ["Revised?", "Question of i00002?"]
    assert {row["item_version"] for row in export.rows("labels.csv")} == {"1"}


def test_a_folder_that_is_in_use_is_not_written_into(study: StudyInUse, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    (tmp_path / "out/mine.txt").write_text("keep")
    with pytest.raises(Conflict, match="not empty"):
        Export(study, tmp_path / "out")
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith((".", "out"))] == ["out"]
    (tmp_path / "empty").mkdir()
    Export(study, tmp_path / "empty")


def test_an_export_that_fails_leaves_nothing(study: StudyInUse, tmp_path: Path) -> None:
    home = tmp_path / "home"
    source = write_pdf(tmp_path / "a.pdf")
    reading = Rows(documents=(ParsedDocument("d", 1, "a.pdf", path=source),))
    import_items(study.db, study.researcher, study.project_id, reading=reading, data_folder=home)
    stored = document_file(home, hashlib.sha256(source.read_bytes()).hexdigest())
    stored.write_bytes(b"damaged")
    with pytest.raises(AssayError, match="are damaged"):
        Export(study, tmp_path / "out", whole=True, data_folder=home)
    stored.unlink()
    with pytest.raises(AssayError, match="missing from the data folder"):
        Export(study, tmp_path / "out", whole=True, data_folder=home)
    assert not [path for path in tmp_path.iterdir() if "out" in path.name]


def test_what_cannot_be_exported_is_named(study: StudyInUse, tmp_path: Path) -> None:
    with pytest.raises(
        InvalidInput, match=r"'excel' is not a format.*native, labels, derived, adjudicated, questionnaires"
    ):
        Export(study, tmp_path / "out", formats=["excel"])
    with pytest.raises(NotFound, match="no study 99"):
        export_project(study.db, study.researcher, study.project_id, to=tmp_path / "out", study_id=99)
    viewer = make_person(study.db)
    make_member(study.db, study.project_id, viewer, "viewer")
    with pytest.raises(NotAllowed):
        export_project(study.db, viewer, study.project_id, to=tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_tables_open_in_a_spreadsheet_library(study: StudyInUse, tmp_path: Path) -> None:
    pandas = pytest.importorskip("pandas")
    give(study, 0, first_step("yes", -1))
    frame = pandas.read_csv(Export(study, tmp_path / "out").folder / "labels.csv")
    assert frame.shape == (2, len(COLUMNS))
    assert sys.maxsize > frame["seconds"].isna().sum() == 2


def test_an_export_that_cannot_be_logged_is_not_there(study: StudyInUse, tmp_path: Path) -> None:
    db = impatient(study.db, 0.2)
    to = tmp_path / "exports" / "out"
    with held(study.db), pytest.raises(DatabaseBusy):
        export_project(db, study.researcher, study.project_id, to=to, names=True)
    db.dispose()
    assert list(to.parent.iterdir()) == []
    export_project(study.db, study.researcher, study.project_id, to=to, names=True)
    assert verify_against(study.db, study.researcher, to).ok
