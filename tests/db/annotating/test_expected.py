"""When a study is expected to be done, and how far each criterion is."""

from __future__ import annotations

from datetime import timedelta

import pytest
from sqlalchemy import text

from db import guards
from db.annotating.amendments import set_state
from db.annotating.status import expected_finish, progress_by_criterion
from db.engine import Database
from db.models import StudyState, now
from db.query import database_time
from tests.db.releasing.test_states import label, two_by


def test_the_rate_since_the_first_label_says_when_the_rest_is_there(database: Database) -> None:
    study = two_by(database, 10)
    about = (database, study.researcher, study.study_id)
    label(study, "yy", "yy")
    assert expected_finish(*about) is None, "four annotations tell no rate"
    label(study, "yy", "yy", "yy")
    with database.write() as session, guards.lifted(session.connection()):
        session.execute(
            text("UPDATE annotation SET created_at = :at"), {"at": database_time(session, now() - timedelta(hours=5))}
        )
    found = expected_finish(*about)
    assert found is not None
    # Ten in five hours; ten are left.
    assert (found.at - now()).total_seconds() == pytest.approx(5 * 3600, rel=0.01)
    assert [(row.title, row.labels, row.cannot_judge) for row in progress_by_criterion(*about)] == [
        ("Right", 10, 0), ("Clear", 10, 0),
    ]  # fmt: skip
    set_state(*about, state=StudyState.PAUSED, reason="a break")
    assert expected_finish(*about) is None
