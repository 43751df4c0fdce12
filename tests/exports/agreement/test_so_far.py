"""Agreement so far: on all shared items of a small study, on some that stay drawn of a large one."""

from __future__ import annotations

import pytest

from db.engine import Database
from db.studies.ratings import shared_items
from exports.agreement import so_far
from exports.agreement.so_far import agreement_so_far, changes_with
from exports.agreement.study import agreement_report
from tests.makers import StudyInUse


def labelled(db: Database, n: int) -> StudyInUse:
    study = StudyInUse(db, items=n, annotators=2, overlap=2)
    for who in (0, 1):
        done = 0
        while items := study.work(who)["items"]:
            study.submit(who, items[0], {"right": "yes" if done % 3 or (who and done % 2) else "no"})
            done += 1
    return study


def test_a_small_study_is_measured_whole_as_its_report_does(database: Database) -> None:
    study = labelled(database, 12)
    found = agreement_so_far(database, study.researcher, study.study_id)
    report = agreement_report(database, study.researcher, study.study_id)
    assert (found.looked_at, found.shared) == (12, 12)
    assert [each.found for each in found.criteria] == [each.headline for each in report.criteria]
    assert found.criteria[0].found is not None and found.criteria[0].found.low is not None


def test_of_a_large_one_some_items_are_drawn_and_stay_drawn(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    study = labelled(database, 12)
    about = (database, study.researcher, study.study_id)
    drawn = shared_items(*about, most=5).drawn
    assert drawn is not None and len(drawn) == 5
    assert set(shared_items(*about, most=3).drawn or ()) < set(drawn)
    monkeypatch.setattr(so_far, "MOST", 5)
    found = agreement_so_far(*about)
    assert (found.looked_at, found.shared) == (5, 12)
    assert found.criteria[0].found is not None and found.criteria[0].found.n_units == 5


def test_it_is_measured_anew_with_each_of_the_first_labels_and_then_with_each_hundredth_part() -> None:
    assert len({changes_with(n) for n in range(1, 101)}) == 100
    assert changes_with(10_000) == changes_with(10_050) != changes_with(10_200)
