"""Exports of releases: what was frozen, whatever has come since, and derived again by verify."""

from __future__ import annotations

import csv
from pathlib import Path

import orjson
import pytest

from annotators.errors import InvalidInput, NotFound
from db.engine import Database
from db.releasing.endings import end_item
from db.releasing.releases import make_release
from db.studies.revisions import revise_item
from exports.bundles.bundle import export_project
from exports.bundles.verify import verify_against, verify_folder
from tests.db.releasing.test_states import label, two_by
from tests.makers import StudyInUse


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
