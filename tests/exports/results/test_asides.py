"""Confidence set against what is right, and surprisingly popular labels, of a study whose sums are done by hand."""

from __future__ import annotations

import pytest
from sqlmodel import col, select

from annotators.intervals.bootstrap import Resampling
from db.adjudicating.adjudications import UnitDecision, adjudicate
from db.engine import Database
from db.models import StudyItem
from exports.results.asides import Asides
from exports.results.labels import StudyLabels
from tests.makers import StudyInUse


def test_confidence_and_popularity_of_each_criterion(sqlite_database: Database) -> None:
    study = StudyInUse(sqlite_database, items=4, annotators=3, overlap=3, ask=("confidence", "same"))
    given = {
        0: [("yes", "high", 10)] * 4,
        1: [("yes", "high", 9), ("yes", "low", 10), ("yes", "high", 10), ("yes", "medium", 9)],
        2: [("yes", "medium", 8), ("no", "high", 3), ("no", "low", 2), ("yes", "low", 6)],
    }
    for who, labels in given.items():
        for value, confidence, same in labels:
            item = study.work(who)["items"][0]
            study.submit(who, item, {"right": value}, beside={"confidence": confidence, "same": same})
    actor = study.researcher
    with study.db.read() as session:
        ids = session.exec(select(col(StudyItem.id)).order_by(col(StudyItem.position))).all()
    adjudicate(study.db, actor, ids[1], uid="d1",
               decisions=[UnitDecision("right", "item", "no", "It says so on page 2.")])  # fmt: skip
    adjudicate(study.db, actor, ids[2], uid="d2",
               decisions=[UnitDecision("right", "item", "yes")])  # fmt: skip
    found = Asides().make(StudyLabels.of(study.db, actor, study.study_id), Resampling(0))
    values = {(figure.name, figure.label): (figure.value, figure.n) for figure in found.figures}
    # Settled: yes, no, yes, yes. High: ada yes ×4 (3 right), ben yes on 1 and 3 (2 right), chloe no on 2 (right).
    assert values["confident_and_settled", "high"] == (pytest.approx(6 / 7), 7)
    assert values["confident_and_settled", "low"] == (pytest.approx(1 / 3), 3)  # ben 2 wrong, chloe 3 wrong, 4 right
    assert values["confident_and_settled", "medium"] == (1.0, 2)
    # With most of the rest: chloe's "no" is against ada and ben; beside ada and ben stand a yes and a no on items 2, 3.
    assert values["confident_and_rest", "high"] == (0.75, 4)
    assert values["expected_same", None] == (pytest.approx((40 + 38 + 19) / 120), 12)
    assert values["actual_same", None] == (
        pytest.approx((1 + 0.5 + 0.5 + 1 + 1 + 0.5 + 0.5 + 1 + 1 + 0 + 0 + 1) / 12),
        12,
    )
    # Items 2 and 3: expected of no (0 + 0 + .3) / 3 and (0 + 0 + .2) / 3, given by 1 of 3: no is surprisingly popular.
    assert values["popular_is_most", None] == (0.5, 4)
    assert values["most_right", None] == values["popular_right", None] == (0.5, 2)
    listed = found.sections[1].tables[1]
    assert [tuple(row) for row in listed.rows] == [
        ("i00002", "Right", "yes", "no", "no"),
        ("i00003", "Right", "yes", "no", "yes"),
    ]


def test_a_study_that_asks_nothing_has_no_such_report(sqlite_database: Database) -> None:
    study = StudyInUse(sqlite_database, items=1, annotators=1, overlap=1)
    study.label_all(0)
    found = Asides().make(StudyLabels.of(study.db, study.researcher, study.study_id), Resampling(0))
    assert (list(found.figures), list(found.sections)) == ([], [])
