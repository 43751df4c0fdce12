"""What a study asks beside labels stands in its table of labels, and only there."""

from __future__ import annotations

from pathlib import Path

from db.engine import Database
from exports.bundles.labels.table import COLUMNS
from tests.exports.bundles.test_bundle import Export
from tests.makers import StudyInUse


def test_columns_of_what_was_asked_follow_the_others(sqlite_database: Database, tmp_path: Path) -> None:
    study = StudyInUse(sqlite_database, items=2, annotators=1, overlap=1, ask=("same",))
    study.submit(0, study.work(0)["items"][0], {"right": "yes"}, beside={"same": 7})
    unclear = {"cannot_judge": True, "reason": "The page is missing."}
    study.submit(0, study.work(0)["items"][0], {"right": None}, beside=unclear)
    rows = Export(study, tmp_path / "out").rows("labels.csv")
    assert list(rows[0]) == [*COLUMNS, "same"]
    assert [(row["value"], row["reason"], row["same"]) for row in rows] == [
        ("yes", "", "7"),
        ("", "The page is missing.", ""),
    ]
