"""A table of labels says which were asked for because people disagreed, so that its agreement is the study's."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest

from annotators.agreement.report import agreement_report as report_of
from db.engine import Database
from exports.agreement.rating_tables import RatingColumns, read_ratings
from exports.agreement.study import agreement_report
from exports.bundles import bundle
from exports.bundles.bundle import export_project
from exports.bundles.manifest import Manifest
from exports.bundles.verify import verify_against
from exports.columns.columns import read_columns
from tests.db.annotating.test_mixed_overlap import given, label
from tests.makers import StudyInUse


def contested(database: Database) -> StudyInUse:
    """Six items of two planned annotations; on two of them people disagree, and a third is asked."""
    study = StudyInUse(database, items=6, annotators=4, overlap=2, most_overlap=3, rule="majority")
    first, second = sorted(given(study))[:2]
    label(study, 0, {first: "no", second: "no"})
    label(study, 1)
    label(study, 2)
    return study


def export(study: StudyInUse, to: Path, **options: Any) -> Manifest:
    return export_project(
        study.db, study.researcher, study.project_id, to=to, formats=["labels"], study_id=study.study_id, **options
    )


def test_the_agreement_of_the_table_is_that_of_the_study(database: Database, tmp_path: Path) -> None:
    study = contested(database)
    made = export(study, tmp_path / "out", typed=["parquet"])
    assert made.filters["says_added"] is True
    assert verify_against(database, study.researcher, tmp_path / "out").ok
    table = read_columns(tmp_path / "out/labels.csv")
    assert table["added"].count("true") == 2
    assert pq.read_table(tmp_path / "out/labels.parquet")["added"].to_pylist() == [
        cell == "true" for cell in table["added"]
    ]
    for ending in ("csv", "parquet"):
        read = read_ratings(tmp_path / f"out/labels.{ending}", RatingColumns())
        assert read.left_out == {"added where people disagreed": 2}
        [of_table] = report_of(read.tables, resamples=0)
        [of_study] = agreement_report(database, study.researcher, study.study_id, resamples=0).criteria
        for name in ("percent_agreement", "krippendorff_alpha_nominal"):
            values = [found and found.value for found in (of_table.find(name), of_study.find(name))]
            assert values[0] == pytest.approx(values[1], abs=1e-12)


def test_a_study_that_asks_no_more_people_says_nothing_of_it(database: Database, tmp_path: Path) -> None:
    study = StudyInUse(database, items=2, annotators=2, overlap=2)
    label(study, 0)
    export(study, tmp_path / "out")
    assert "added" not in read_columns(tmp_path / "out/labels.csv").cells


def test_an_export_that_was_made_before_verifies(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = contested(database)
    with monkeypatch.context() as earlier:
        earlier.setattr(bundle, "Selection", partial(bundle.Selection, says_added=False))
        made = export(study, tmp_path / "out")
    assert "says_added" not in made.filters
    assert "added" not in read_columns(tmp_path / "out/labels.csv").cells
    assert verify_against(database, study.researcher, tmp_path / "out").ok


def test_a_column_called_added_of_a_table_of_others_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("item,annotator,value,added\na,r,yes,2026-03-01\na,s,yes,2026-03-02\n")
    assert read_ratings(path, RatingColumns()).left_out == {}
