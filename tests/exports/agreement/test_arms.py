"""Arms side by side: shares of labels and their difference with an interval, and the coefficient's."""

from __future__ import annotations

import math
from typing import Any

import pytest
from scipy import stats

from annotators.designing.arms import Arm
from annotators.designing.design import StudyDesign
from annotators.errors import NotAllowed
from db.designing.making import create_study
from db.engine import Database
from db.studies.ratings import ratings
from exports.agreement.arms import beside, labels_beside
from exports.agreement.study import agreement_report
from tests.exports.labelled import labelled_study
from tests.makers import StudyInUse, tiny_protocol

ITEMS = 8


def labelled(database: Database, allot: str, in_arms: int = 2) -> tuple[StudyInUse, list[int]]:
    """Arm a says yes of three items in four, arm b of one in four; by one annotator each, or the same two."""
    study = StudyInUse(database, items=ITEMS, annotators=2, overlap=1)
    design = StudyDesign(
        name="tone",
        annotators=tuple(actor.name for actor in study.annotators),
        overlap=1,
        order="given",
        arms=(Arm(name="a"), Arm(name="b")),
        allot=allot,
    )
    about: dict[str, Any] = {"protocol": tiny_protocol(), "design": design}
    made = create_study(database, study.researcher, study.project_id, **about)
    arms = [arm.study_id or 0 for arm in made.arms]
    for study_id, no in zip(arms[:in_arms], (1, 3), strict=False):
        study.study_id = study_id
        done = 0
        for who in (0, 1):
            try:
                items = study.work(who)["items"]
            except NotAllowed:  # they are of the other arm
                continue
            while items:
                study.submit(who, items[0], {"right": "no" if done % 4 < no else "yes"})
                done, items = done + 1, study.work(who)["items"]
    return study, arms


@pytest.mark.parametrize("allot", ["people", "items"])
def test_shares_of_labels_and_their_difference_stand_side_by_side(database: Database, allot: str) -> None:
    study, arms = labelled(database, allot)
    sides = [ratings(database, study.researcher, arm) for arm in arms]
    [found] = beside(sides[0], sides[1], ("tone / a", "tone / b"), resamples=50)
    yes = next(row for row in found.labels if row.label == "yes")
    assert (yes.a, yes.b, yes.value) == (0.75, 0.25, 0.5)
    if allot == "people":
        # Of each four items, two differ: the residuals (d - 0.5) / 8 are ±0.5 / 8, so s = √(8 · 0.25/64 · 8/7).
        error, freedom = math.sqrt(8 * 0.25 / 64 * 8 / 7), 7
    else:
        # Four items each: Σ ((x - 0.75) / 4)² = (3 · 0.0625 + 0.5625) / 16 = 0.046875, and the same for b; 8/7 of it.
        error, freedom = math.sqrt(2 * 0.046875 * 8 / 7), 7
    reach = stats.t.ppf(0.975, freedom) * error
    assert (yes.low, yes.high) == (pytest.approx(max(-1, 0.5 - reach)), pytest.approx(min(1, 0.5 + reach)))
    table = found.table()
    assert table.columns == ("", "tone / a", "tone / b", "tone / a − tone / b", "p")
    assert found.to_json()["labels"][0]["a"] + found.to_json()["labels"][1]["a"] == 1
    assert found.agreement is not None and found.agreement.reason is not None, "one label an item: nothing to agree on"


def test_a_criterion_that_nobody_has_labelled_in_one_arm_is_there_with_the_reason(sqlite_database: Database) -> None:
    study, arms = labelled(sqlite_database, "people", in_arms=1)
    sides = [ratings(sqlite_database, study.researcher, arm) for arm in arms]
    [found] = beside(sides[0], sides[1], ("tone / a", "tone / b"))
    assert (found.labels, found.agreement) == ([], None)
    assert found.reason == "nobody has labelled it in tone / b yet"
    assert found.to_json()["reason"] == found.reason


def test_labels_stand_in_the_order_of_their_scale_not_by_how_often_they_were_given(sqlite_database: Database) -> None:
    made = labelled_study(sqlite_database, items=30)
    report = agreement_report(sqlite_database, made.researcher, made.study_id, resamples=0)
    of = {criterion.criterion.name: criterion for criterion in report.criteria}
    assert list(of["clarity"].shares) == ["1", "2", "3", "4", "5"]
    assert sorted(of["clarity"].shares.values()) != list(of["clarity"].shares.values())[::-1], "3 was given most often"
    assert list(of["right"].shares) == ["yes", "no"], "declared labels that have no order stand as they are declared"
    numbers = [int(label) for label in of["share"].shares]
    assert numbers == sorted(numbers)
    most = of["share"].most_given(3)
    assert [label for label, _ in most] == sorted((label for label, _ in most), key=int)
    assert min(share for _, share in most) >= max(
        share for label, share in of["share"].shares.items() if label not in dict(most)
    )
    both = labels_beside(of["clarity"], of["clarity"], ("a", "b"))
    assert [row.label for row in both.labels] == ["1", "2", "3", "4", "5"]
