"""Tables on request: agreement, alignment, posteriors, revisions, events; each derived again, without names."""

from __future__ import annotations

import csv
import io
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pandas as pd
import pytest

from db.annotating.amendments import StudyChange, amend_study
from db.engine import Database
from db.quality.omissions import leave_out, restore
from exports.agreement.study import agreement_report
from exports.bundles.bundle import export_project
from exports.bundles.verify import verify_against, verify_folder
from exports.importing.items import import_paths
from tests.exports.labelled import PEOPLE, Labelled, labelled_study
from tests.makers import StudyInUse, make_member, make_person, make_project

FORMATS = ("labels", "adjudicated", "agreement", "alignment", "revisions", "events")


@pytest.fixture
def made(sqlite_database: Database) -> Labelled:
    return labelled_study(sqlite_database, items=25)


def exported(db: Database, made: Labelled, to: Path, **options: Any) -> Path:
    export_project(
        db, made.researcher, made.project_id, to=to, study_id=made.study_id, formats=FORMATS,
        options={"posterior": "dawid_skene"}, **options,
    )  # fmt: skip
    return to


def rows(path: Path) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))


def test_each_comes_in_every_type_and_is_derived_again(
    sqlite_database: Database, made: Labelled, tmp_path: Path
) -> None:
    folder = exported(sqlite_database, made, tmp_path / "out", typed=("parquet", "xlsx"))
    for name in FORMATS:
        assert {f"{name}.{ending}" for ending in ("csv", "parquet", "xlsx")} <= {path.name for path in folder.iterdir()}
        assert len(pd.read_parquet(folder / f"{name}.parquet")) == len(rows(folder / f"{name}.csv"))
    dictionary = {(row["table"], row["column"]) for row in rows(folder / "data_dictionary.csv")}
    assert {("agreement", "n_ratings"), ("events", "details"), ("adjudicated", "posterior")} <= dictionary
    assert verify_folder(folder).ok
    assert verify_against(sqlite_database, made.researcher, folder).to_json()["changed"] == []
    events = pd.read_parquet(folder / "events.parquet")
    assert str(events["time"].dtype) == "datetime64[us, UTC]"


def test_agreement_is_that_of_the_page(sqlite_database: Database, made: Labelled, tmp_path: Path) -> None:
    folder = exported(sqlite_database, made, tmp_path / "out")
    report = agreement_report(sqlite_database, made.researcher, made.study_id, named=False)
    there = [statistic.to_json() for criterion in report.criteria for statistic in criterion.statistics]
    found = rows(folder / "agreement.csv")
    assert len(found) == len(there) > 20
    for row, statistic in zip(found, there, strict=True):
        assert row["statistic"] == statistic["name"]
        assert (float(row["value"]) if row["value"] else None) == pytest.approx(statistic["value"], rel=1e-11)
        assert (row["value"] == "") == (row["reason"] != "")


def test_soft_labels_and_posteriors_stand_beside_final_labels(
    sqlite_database: Database, made: Labelled, tmp_path: Path
) -> None:
    folder = exported(sqlite_database, made, tmp_path / "out")
    of_right = [row for row in rows(folder / "adjudicated.csv") if row["criterion"] == "right"]
    for row in of_right:
        for column in ("soft_label", "posterior"):
            assert sum(orjson.loads(row[column]).values()) == pytest.approx(1, abs=1e-4)
    unanimous = next(row for row in of_right if row["how"] == "unanimous")
    assert orjson.loads(unanimous["soft_label"]) == {unanimous["label"]: 1.0}
    assert orjson.loads(unanimous["posterior"])[unanimous["label"]] > 0.5
    texts = [row for row in rows(folder / "adjudicated.csv") if row["criterion"] == "problems"]
    assert {row["posterior"] for row in texts} == {""}


def test_without_names_no_table_names_anybody(sqlite_database: Database, made: Labelled, tmp_path: Path) -> None:
    folder = exported(sqlite_database, made, tmp_path / "out")
    cells = [cell for path in folder.glob("*.csv") for row in csv.reader(path.open(encoding="utf-8")) for cell in row]
    who = (*PEOPLE, made.researcher.name)
    assert [cell for cell in cells if any(f'"{name}"' in cell or cell == name for name in who)] == []
    named = exported(sqlite_database, made, tmp_path / "named", names=True)
    assert "ada ⇄ ben" in {row["raters"] for row in rows(named / "agreement.csv")}


def test_where_a_file_lay_that_was_imported_is_told_to_nobody(sqlite_database: Database, tmp_path: Path) -> None:
    admin, project_id = make_person(sqlite_database, admin=True), make_project(sqlite_database)
    given = tmp_path / "somebodys-login" / "items.jsonl"
    given.parent.mkdir()

    for n, paths in enumerate(([given], [given.parent])):
        given.write_text(f'{{"id": "{n}", "question": "Why?", "answer": "So."}}\n')
        import_paths(sqlite_database, admin, project_id, paths=paths, data_folder=tmp_path / "data")
    export_project(sqlite_database, admin, project_id, to=tmp_path / "out", formats=["events"])
    told = [orjson.loads(row["details"]) for row in rows(tmp_path / "out" / "events.csv")]
    assert [details["source"] for details in told if "source" in details] == ["items.jsonl", "somebodys-login"]
    assert str(tmp_path) not in (tmp_path / "out" / "events.csv").read_text()


def test_who_is_amended_drops_out_or_is_given_a_quota_is_called_as_elsewhere(
    sqlite_database: Database, tmp_path: Path
) -> None:
    study = StudyInUse(sqlite_database, items=4, annotators=3, overlap=2)
    study.label_all(0)
    late = make_person(sqlite_database, "Wdora Secretname")
    make_member(sqlite_database, study.project_id, late, "annotator")
    first = study.annotators[0].name
    changes = [StudyChange(add=[late.name]), StudyChange(quotas={first: 9, late.name: 7}),
               StudyChange(remove=[late.name])]  # fmt: skip
    for change in changes:
        amend_study(sqlite_database, study.researcher, study.study_id, change=change, reason="more hands")
    long_ago = datetime(2020, 1, 1, tzinfo=UTC)
    leave_out(sqlite_database, study.researcher, study.study_id, annotator=first, since=long_ago, reason="why")
    restore(sqlite_database, study.researcher, study.study_id, annotator=first, reason="all right")
    of: dict[str, Any] = {"study_id": study.study_id, "formats": ["events", "report"]}
    export_project(sqlite_database, study.researcher, study.project_id, to=tmp_path / "out", **of)
    told = [orjson.loads(row["details"]) for row in rows(tmp_path / "out" / "events.csv")]
    said = [change for details in told for change in details.get("changes", [])]
    assert len(said) == 4
    assert all(re.fullmatch(r"(quota of )?P\d+ (joined|left|9|7)", change) for change in said), said
    assert {details["person"] for details in told if "person" in details} <= {change.split()[2] for change in said[1:3]}
    manifest = orjson.loads((tmp_path / "out" / "manifest.json").read_bytes())
    quotas = next(row for row in manifest["studies"][0]["amendments"] if row["what"] == "quota")
    assert quotas["after"] == {"A1": 9, "somebody without labels": 7}
    whole = b"".join(path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file())
    assert b"Secretname" not in whole
    assert "| quota | A1: none, somebody without labels: none | A1: 9, somebody without labels: 7 |" in whole.decode(
        errors="replace"
    )
    assert verify_against(sqlite_database, study.researcher, tmp_path / "out").ok
    make_person(sqlite_database, "study")  # an account that is called as a study is
    assert verify_against(sqlite_database, study.researcher, tmp_path / "out").ok
    # A report of which only the numbers can be compared, since labels are left out by now, is changed all the same.
    leave_out(sqlite_database, study.researcher, study.study_id, annotator=first, since=long_ago, reason="again")
    path = tmp_path / "out" / "report" / "dataset.md"
    path.write_text(path.read_text() + "x")
    found = verify_against(sqlite_database, study.researcher, tmp_path / "out")
    assert (list(found.changed), found.notes) == (["report/dataset.md"], [])
