"""When a study may be finished: from its own annotations of the last days, and nothing where nothing can be said."""

from __future__ import annotations

from datetime import datetime, timedelta

import pytest
from sqlmodel import col, select

from db.annotating import status
from db.annotating.amendments import set_state
from db.annotating.my_progress import my_progress
from db.annotating.status import study_status
from db.engine import Database
from db.guards import lifted
from db.models import Annotation, StudyState, now
from db.studies.design import list_studies
from tests.makers import StudyInUse


def spread(study: StudyInUse, per_day: list[int]) -> None:
    """As if the annotations so far had come on these days, the last one today."""
    with study.db.write() as session, lifted(session.connection()):
        rows = iter(
            session.exec(
                select(Annotation).where(Annotation.study_id == study.study_id).order_by(col(Annotation.id))
            ).all()
        )
        for day, n in enumerate(per_day):
            for _ in range(n):
                next(rows).created_at = now() - timedelta(days=len(per_day) - 1 - day, hours=12)
        assert next(rows, None) is None
        session.flush()


def labelled(database: Database, n: int) -> StudyInUse:
    study = StudyInUse(database, items=100, annotators=1, overlap=1)
    for _ in range(n):
        study.submit(0, study.work(0)["items"][0], {"right": "yes"})
    return study


def days_to(study: StudyInUse, name: str) -> float | None:
    found = study_status(study.db, study.researcher, study.study_id)["finish"]
    at = found and found[name]
    return None if at is None else (datetime.fromisoformat(at) - now()).total_seconds() / 86_400


def test_it_follows_from_the_last_days(database: Database) -> None:
    study = labelled(database, 20)
    other = labelled(database, 8)
    spread(study, [4, 5, 3, 4, 4])
    spread(other, [0, 0, 8])
    assert days_to(study, "at") == pytest.approx(20, abs=0.01)  # 80 left, 4 a day
    low, high = days_to(study, "low"), days_to(study, "high")
    assert low is not None
    assert high is not None
    assert 10 < low < 20 < high < 40
    assert days_to(other, "at") is None  # one day of work tells nothing
    set_state(database, study.researcher, study.study_id, state=StudyState.PAUSED, reason="a holiday")
    assert days_to(study, "at") is None


def test_days_before_the_latest_that_are_looked_at_are_left_out(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = labelled(database, 20)
    spread(study, [4, 4, 4, 4, 4])
    monkeypatch.setattr(status, "_LATEST", 18)
    assert days_to(study, "at") is None  # of the first day only a part would be counted


def test_who_has_done_an_equal_part_and_goes_on_never_reads_that_all_is_done(database: Database) -> None:
    """One of two does more than half, while the other has begun nothing: what is at hand is still to be done."""
    study = StudyInUse(database, items=30, annotators=2, overlap=1)
    for done in range(1, 30):
        study.submit(0, study.work(0)["items"][0], {"right": "yes"})
        seen = study.work(0)
        progress, at_hand = seen["progress"], len(seen["items"])
        [row] = list_studies(database, study.annotators[0], study.project_id)
        [own] = my_progress(database, study.annotators[0])
        assert progress["done"] == row.done == own.done == done
        assert progress["of"] >= max(15, done + at_hand), (done, at_hand, progress)
        assert row.of == own.of == done + row.left_for_me
        assert row.left_for_me >= at_hand > 0


def test_who_has_nothing_left_has_done_all_there_is_where_others_did_more_than_an_equal_part(
    database: Database,
) -> None:
    study = StudyInUse(database, items=40, annotators=2, overlap=1)
    assert study.work(1)["progress"] == {"done": 0, "of": 20, "seconds_today": 0}
    others = study.label_all(0)
    mine = 40 - others
    [row] = list_studies(database, study.annotators[1], study.project_id)
    assert 0 < mine < 20
    assert (row.done, row.of, row.left_for_me) == (0, mine, mine)
    assert [(own.done, own.of) for own in my_progress(database, study.annotators[1])] == [(0, mine)]
    for _ in range(mine):
        seen = study.work(1)
        assert (seen["finished"], seen["progress"]["of"]) == (False, 20)
        answer = study.submit(1, seen["items"][0], {"right": "yes"})
    assert (answer.finished, answer.progress["done"], answer.progress["of"]) == (True, mine, mine)
    assert study.work(1)["progress"]["of"] == mine
    [row] = list_studies(database, study.annotators[1], study.project_id)
    assert (row.done, row.of, row.left_for_me) == (mine, mine, 0)
    assert [(own.done, own.of) for own in my_progress(database, study.annotators[1])] == [(mine, mine)]
