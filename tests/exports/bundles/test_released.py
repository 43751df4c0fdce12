"""Exports of releases: what was frozen, whatever has come since, and derived again by verify."""

from __future__ import annotations

import csv
import uuid
from copy import copy
from pathlib import Path
from typing import Any

import orjson
import pyarrow.parquet as pq
import pytest

from annotators.asking.submissions import GivenLabel
from annotators.criteria import Label
from annotators.criteria.choice import Choice
from annotators.designing.design import StudyDesign
from annotators.errors import InvalidInput, NotFound
from annotators.items.targets import TargetKind
from annotators.protocols import Material, Protocol, Step
from db.annotating.annotations import submit
from db.annotating.committing import StepSubmission
from db.designing.making import create_study
from db.engine import Database
from db.releasing.endings import end_item
from db.releasing.releases import make_release
from db.studies.revisions import revise_item
from exports.bundles.bundle import export_project
from exports.bundles.verify import verify_against, verify_folder
from tests.db.releasing.test_states import label, two_by
from tests.makers import StudyInUse, tiny_protocol


def released(db: Database) -> StudyInUse:
    study = two_by(db, 2, n_evidence=1)
    label(study, "yy", "nn")
    make_release(db, study.researcher, study.project_id, name="v1")
    about = (db, study.researcher, study.project_id)
    revise_item(*about, external_id="i00001", fields={"answer": "Another."}, reason="later")
    end_item(*about, external_id="i00002", state="accepted", reason="later")
    return study


def export(study: StudyInUse, to: Path, **options: object) -> None:
    formats = {"formats": ["native", "adjudicated", "table"], **options}
    export_project(study.db, study.researcher, study.project_id, to=to, release="v1", **formats)  # type: ignore[arg-type]


def test_an_export_of_a_release_has_what_was_frozen(database: Database, tmp_path: Path) -> None:
    study = released(database)
    export(study, tmp_path / "v1")
    [item] = [orjson.loads(line) for line in (tmp_path / "v1/native/items.jsonl").read_bytes().splitlines()]
    assert (item["id"], item["answer"]) == ("i00001", "Answer of i00001.")
    [document] = (tmp_path / "v1/native/documents.jsonl").read_bytes().splitlines()
    assert orjson.loads(document)["key"] == "i00001.pdf"
    with (tmp_path / "v1/adjudicated.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [(row["criterion"], row["label"], row["how"], row["votes"], row["study"]) for row in rows] == [
        ("clear", "no", "unanimous", '{"no":2}', "study"), ("right", "yes", "unanimous", '{"yes":2}', "study"),
    ]  # fmt: skip
    assert {row["label_version"] for row in rows} == {"1"}
    manifest = orjson.loads((tmp_path / "v1/manifest.json").read_bytes())
    assert manifest["filters"]["release"] == "v1"
    assert [row["name"] for row in manifest["studies"]] == ["study"]
    assert verify_folder(tmp_path / "v1").ok
    end_item(database, study.researcher, study.project_id, external_id="i00001", state="rejected", reason="later")
    assert verify_against(database, study.researcher, tmp_path / "v1").ok


def test_what_a_release_does_not_hold_is_refused(sqlite_database: Database, tmp_path: Path) -> None:
    study = released(sqlite_database)
    with pytest.raises(InvalidInput, match="no 'labels'"):
        export(study, tmp_path / "a", formats=["native", "labels"])
    with pytest.raises(InvalidInput, match="Leave the study out"):
        export(study, tmp_path / "a", study_id=study.study_id)
    with pytest.raises(NotFound, match="no release 'v2'"):
        export_project(sqlite_database, study.researcher, study.project_id, to=tmp_path / "a", release="v2",
                       formats=["native"])  # fmt: skip
    assert not (tmp_path / "a").exists()


# Final labels in other formats ----------------------------------------------------------------------------------------

LICENCE = {"licence": "cc-by-4.0"}
SUPPORTED = Choice(
    name="supported", title="Supports", target=TargetKind.EVIDENCE, labels=[Label(value="yes"), Label(value="no")]
)


def on_evidence(**labels: Any) -> Protocol:
    """Is the answer right, and does each unit support it?"""
    right = tiny_protocol().criteria[0]
    supported = SUPPORTED.model_copy(update=labels)
    shows = [Material.QUESTION, Material.ANSWER, Material.EVIDENCE]
    step = Step(name="all", title="All", shows=shows, criteria=["right", "supported"])
    return tiny_protocol(name="on_evidence", criteria=[right, supported], steps=[step])


def judged(study: StudyInUse, units: str) -> None:
    """Everybody finds each answer right, and of its units what these words say: y, n."""
    for who in range(len(study.annotators)):
        while items := study.work(who)["items"]:
            [item] = items[:1]
            said = [GivenLabel("right", "item", "yes")]
            words = {"y": "yes", "n": "no"}
            said += [
                GivenLabel("supported", target, words[word])
                for target, word in zip(sorted(item["units"]["supported"]), units, strict=True)
            ]
            about = (uuid.uuid4().hex, item["assignment"], item["sitting"], item["step"], tuple(said))
            submit(study.db, study.annotators[who], study.study_id, step=StepSubmission(*about, seconds=1.0))


def of_evidence(db: Database, units: str, **changes: Any) -> StudyInUse:
    changes = {"protocol": on_evidence(), "n_evidence": len(units), "items": 2, "annotators": 2, "overlap": 2} | changes
    study = StudyInUse(db, **changes)
    judged(study, units)
    return study


def another(study: StudyInUse, protocol: Protocol, name: str = "second") -> StudyInUse:
    """A further study of the same project with the same people."""
    design = StudyDesign(name=name, annotators=tuple(one.name for one in study.annotators), overlap=2, order="given")
    made = create_study(study.db, study.researcher, study.project_id, protocol=protocol, design=design)
    further = copy(study)
    further.study_id, further.made = made.study_id, made
    return further


def lines(file: Path) -> list[list[str]]:
    return [line.split("\t") for line in file.read_text().splitlines()]


def parquet(folder: Path, config: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = pq.read_table(folder / "huggingface" / config / "test.parquet").to_pylist()
    return found


def test_the_judgements_of_a_release_are_its_final_labels(database: Database, tmp_path: Path) -> None:
    study = of_evidence(database, "ny")  # sorted by key: the distractor first, so that every role is contradicted
    make_release(database, study.researcher, study.project_id, name="v1")
    export(study, tmp_path / "v1", formats=["qrels", "adjudicated"])
    with (tmp_path / "v1/adjudicated.csv").open() as file:
        final = {(row["item"], row["target"]): row["label"] for row in csv.DictReader(file)}
    by_key = {"gold-1": 2, "distractor-2": 1}  # key → its page
    expected = {
        (f"q-{item}", f"{item}.pdf#{page}"): str(int(final[item, f"evidence:{key}"] == "yes"))
        for item in ("i00001", "i00002")
        for key, page in by_key.items()
    }
    assert set(expected.values()) == {"0", "1"}
    rows = lines(tmp_path / "v1/qrels/qrels/test.tsv")[1:]
    assert {(query, document): grade for query, document, grade in rows} == expected
    assert expected["q-i00001", "i00001.pdf#2"] == "1" and final["i00001", "evidence:gold-1"] == "yes"
    agreed = lines(tmp_path / "v1/qrels/agreed.tsv")
    assert [row[3:] for row in agreed[1:]] == [["2", "2", "unanimous"]] * 4
    assert verify_against(database, study.researcher, tmp_path / "v1").ok


def test_a_release_on_the_hub_has_its_final_labels_and_says_which_it_is(database: Database, tmp_path: Path) -> None:
    study = of_evidence(database, "yn")
    made = make_release(database, study.researcher, study.project_id, name="v1")
    export(study, tmp_path / "v1", formats=["huggingface", "adjudicated"], options=LICENCE)
    with (tmp_path / "v1/adjudicated.csv").open() as file:
        final = [
            (row["item"], row["criterion"], row["target"], row["label"], row["study"]) for row in csv.DictReader(file)
        ]
    there = parquet(tmp_path / "v1", "adjudicated")
    names = ("item", "criterion", "target", "label", "study")
    assert [tuple(row[name] for name in names) for row in there] == final
    assert {(row["label"], row["n"], row["share"]) for row in parquet(tmp_path / "v1", "soft_labels")} == {
        ("yes", 2, 1.0), ("no", 2, 1.0),
    }  # fmt: skip
    folder = tmp_path / "v1/huggingface"
    assert not (folder / "labels").exists() and not (folder / "label_arrays").exists()
    card = (folder / "README.md").read_text()
    assert "# v1" in card and made.sha256 in card and "unanimous 6" in card
    assert orjson.loads((folder / "protocol.json").read_bytes())["name"] == "on_evidence"
    told = export_project(study.db, study.researcher, study.project_id, to=tmp_path / "no", release="v1",
                          formats=["huggingface"], options=LICENCE, dry_run=True)  # fmt: skip
    assert told.lost["huggingface"] == []
    assert verify_against(database, study.researcher, tmp_path / "v1").ok


def test_where_several_studies_settle_a_unit_the_last_of_them_counts(database: Database, tmp_path: Path) -> None:
    study = of_evidence(database, "yy")
    labels = [Label(value="no"), Label(value="yes")]
    further = another(study, on_evidence(labels=labels, positive="no"))
    judged(further, "yn")
    about = (database, study.researcher, study.project_id)
    make_release(*about, name="v1")
    export(study, tmp_path / "v1", formats=["qrels", "huggingface", "ragas"], options=LICENCE)
    # `no` of the second study is its positive label, so that each grade is its own study's.
    expected = [["q-i00001", "i00001.pdf#1", "0"], ["q-i00001", "i00001.pdf#2", "1"]]
    assert sorted(lines(tmp_path / "v1/qrels/qrels/test.tsv")[1:])[:2] == expected
    both = {(row["study"], row["label"]) for row in parquet(tmp_path / "v1", "adjudicated") if row["target"] != "item"}
    assert both == {("study", "yes"), ("second", "yes"), ("second", "no")}
    protocols = {path.name for path in (tmp_path / "v1/huggingface/protocols").iterdir()}
    assert protocols == {"study.json", "second.json"}
    named = {"labels_of": ["study", "second"], "options": LICENCE}
    export_project(*about, to=tmp_path / "named", formats=["qrels", "huggingface"], **named)
    for path in ("qrels/qrels/test.tsv", "qrels/agreed.tsv", "huggingface/adjudicated/test.parquet"):
        assert (tmp_path / "named" / path).read_bytes() == (tmp_path / "v1" / path).read_bytes()
    export_project(*about, to=tmp_path / "turned", formats=["qrels"], labels_of=["second", "study"])
    assert {row[2] for row in lines(tmp_path / "turned/qrels/qrels/test.tsv")[1:]} == {"1"}
    with pytest.raises(InvalidInput, match=r"argilla has a place for the labels of one study"):
        export_project(*about, to=tmp_path / "no", formats=["argilla", "qrels"], labels_of=["study", "second"])
