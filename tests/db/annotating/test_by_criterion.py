"""How far each criterion of a study is."""

from __future__ import annotations

from db.annotating.status import progress_by_criterion
from db.engine import Database
from tests.db.releasing.test_states import label, two_by


def test_labels_that_stand_are_counted_by_criterion(database: Database) -> None:
    study = two_by(database, 3)
    label(study, "yy", "nn")
    about = (database, study.researcher, study.study_id)
    assert [(row.title, row.labels, row.cannot_judge) for row in progress_by_criterion(*about)] == [
        ("Right", 4, 0), ("Clear", 4, 0),
    ]  # fmt: skip
