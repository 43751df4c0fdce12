"""How well each annotator does: beside most of the rest, by the study's own labels, and what calls for a look."""

from __future__ import annotations

import random

import pytest
from sqlmodel import select

from annotators.errors import NotAllowed
from db.engine import Database
from db.models import Annotation, Assignment, StoredLabel, Submission
from db.quality.gold import GoldRow, gold_given, set_gold
from exports.agreement.quality import AnnotatorQuality, annotator_quality
from tests.makers import StudyInUse, make_item


def labelled(database: Database, items: int = 60) -> StudyInUse:
    """Three annotators: the first two follow the item, the third clicks "yes" through the middle at a second each."""
    study, draw = StudyInUse(database, items=items, annotators=3, overlap=3), random.Random(4)
    right = [draw.choice(["yes", "no"]) for _ in range(items)]
    for who in range(3):
        for number in range(items):
            item = study.work(who)["items"][0]
            clicked = who == 2 and 20 <= number < 40
            value = "yes" if clicked else right[number] if draw.random() < 0.9 else "no"
            study.submit(who, item, {"right": value}, seconds=1.0 if clicked else draw.lognormvariate(3, 0.4))
    return study


def quality(study: StudyInUse) -> list[AnnotatorQuality]:
    found = annotator_quality(study.db, study.researcher, study.study_id)
    return sorted(found, key=lambda annotator: annotator.member.person_id)


def test_who_clicks_through_is_remarked_with_numbers_and_the_others_are_not(sqlite_database: Database) -> None:
    first, second, third = quality(labelled(sqlite_database))
    assert (first.remarks, second.remarks) == ([], [])
    assert [remark.kind for remark in third.remarks] == ["pace", "straight-lining"]
    pace, straight = third.remarks
    assert pace.p <= 0.01
    assert "in a row took 1.0 s (median;" in pace.text
    assert "i00021" <= pace.first < pace.last <= "i00040"
    assert straight.text.startswith("Right: yes 2")
    assert straight.first <= "i00021"
    assert straight.last >= "i00040"
    assert (third.with_rest.value or 0) < (first.with_rest.value or 0)


def test_agreement_with_the_rest_leaves_the_annotator_out_of_the_majority(sqlite_database: Database) -> None:
    study = StudyInUse(sqlite_database, items=12, annotators=3, overlap=3)
    for who, value in enumerate(("yes", "yes", "no")):
        study.label_all(who, value)
    first, _, third = quality(study)
    assert (first.with_rest.n, first.with_rest.value) == (0, None), "of the other two one said yes, one no"
    assert first.with_rest.reason == "nobody else has judged what they judged, or they are divided"
    assert (third.with_rest.n, third.with_rest.value, third.with_rest.low) == (12, 0.0, 0.0)
    assert 0 < (third.with_rest.high or 0) < 0.35
    assert third.by_criterion["right"] == third.with_rest


def test_too_few_labels_are_said_to_be_too_few(sqlite_database: Database) -> None:
    study = StudyInUse(sqlite_database, items=4, annotators=2, overlap=2)
    study.label_all(0), study.label_all(1)
    found = quality(study)[0]
    assert (found.with_rest.value, found.with_rest.reason) == (None, "4 labels are too few: 10 are needed")
    document = found.to_json()
    assert {"annotator", "submitted", "with_rest", "seconds_per_item", "warnings", "state"} <= document.keys()
    assert (document["state"], document["submitted"], document["seconds_per_item"]) == ("active", 4, 2.0)
    with pytest.raises(NotAllowed):
        annotator_quality(sqlite_database, study.annotators[0], study.study_id)


def test_labels_of_items_that_came_again_are_set_beside_the_first(sqlite_database: Database) -> None:
    study = labelled(sqlite_database, items=24)
    assert quality(study)[0].self_agreement is None
    with study.db.write() as session:
        mine = (Annotation.person_id == study.annotators[0].person_id, Annotation.kind == "regular")
        for number, row in enumerate(session.exec(select(Annotation).where(*mine).limit(20)).all()):
            [label] = session.exec(select(StoredLabel).where(StoredLabel.assignment_id == row.assignment_id)).all()
            about = {"study_id": row.study_id, "study_item_id": row.study_item_id, "person_id": row.person_id}
            slot = Assignment(**about, kind="repeat", state="submitted", queue=0, steps_done=1)
            session.add(slot)
            session.flush()
            step = Submission(uid=f"again-{number}", assignment_id=slot.id, person_id=row.person_id)
            session.add_all([step, Annotation(**about, assignment_id=slot.id, kind="repeat")])
            session.flush()
            other = "no" if label.value == "yes" else "yes"
            value = label.value if number < 15 else other
            session.add(StoredLabel(submission_id=step.id, assignment_id=slot.id, criterion="right", value=value))
    found, second, _ = quality(study)
    assert found.self_agreement is not None
    assert (found.self_agreement.n, found.self_agreement.value) == (20, 0.75)
    assert 0.5 < (found.self_agreement.low or 0) < 0.75 < (found.self_agreement.high or 0) < 0.92
    assert second.self_agreement is None
    assert found.with_rest.n <= 24, "a repeat is no second label of the study"


def test_gold_labels_are_counted_as_right_or_wrong_and_by_quarter(sqlite_database: Database) -> None:
    study = StudyInUse(sqlite_database, items=60, annotators=2, overlap=2)
    names = [f"g{number}" for number in range(24)]
    for name in names:
        make_item(study.db, study.project_id, name)
    rows = [GoldRow(line, name, "right", "item", "yes") for line, name in enumerate(names, 2)]
    rates = {"gold_rate": 0.4, "mark": 0.9}
    set_gold(study.db, study.researcher, study.study_id, rows=rows, rates=rates, reason="to see who reads")
    done = 0
    while items := study.work(0)["items"]:
        done += 1
        study.submit(0, items[0], {"right": "yes" if done <= 60 else "no"})
    first, second = quality(study)
    given = gold_given(study.db, study.researcher, study.study_id)
    right = sum(label.value == "yes" for label in given)
    assert 0 < right < len(given) == 24
    assert first.gold is not None
    assert (first.gold.n, first.gold.hits) == (24, right)
    assert (first.gold.low or 1) < right / 24 < (first.gold.high or 0)
    assert first.to_json()["gold"] | {"low": 0, "high": 0, "method": ""} == {
        "n": 24, "right": right, "low": 0, "high": 0, "method": ""
    }  # fmt: skip
    assert [quarter.gold.n for quarter in first.quarters] != []
    assert sum(quarter.gold.n for quarter in first.quarters) == 24
    assert (first.quarters[0].gold.hits, first.quarters[3].gold.hits) == (first.quarters[0].gold.n, 0)
    assert [remark.text for remark in first.remarks if remark.kind == "gold"] == [
        f"{right} of 24 labels of gold items are right; the mark is 90 %"
    ]
    assert (second.gold, second.quarters, second.to_json()["gold"]) == (None, [], None)
