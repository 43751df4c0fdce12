"""What leaves for another program: only what counts."""

from __future__ import annotations

from datetime import UTC, datetime

from db.elsewhere.handed_over import items_elsewhere, labels_elsewhere
from db.engine import Database
from db.quality.omissions import leave_out, restore
from tests.makers import StudyInUse


def test_labels_that_are_left_out_are_told_to_nobody(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=2, overlap=2)
    study.label_all(0)
    study.label_all(1)
    [item, _] = items_elsewhere(database, study.researcher, study.study_id)

    def told() -> list[str]:
        return sorted(labels_elsewhere(database, study.researcher, study.study_id, item=item))

    assert told() == ["A1", "A2"]
    about = {"annotator": study.annotators[0].name, "reason": "they did not read"}
    leave_out(database, study.researcher, study.study_id, **about, since=datetime(2020, 1, 1, tzinfo=UTC))
    assert told() == ["A2"]
    restore(database, study.researcher, study.study_id, **about)
    assert told() == ["A1", "A2"]
