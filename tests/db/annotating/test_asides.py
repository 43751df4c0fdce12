"""What a study asks beside labels: confidence, and how many others will say the same."""

from __future__ import annotations

from typing import Any

import pytest
from sqlmodel import select

from annotators.errors import InvalidInput
from db.annotating.annotations import reopen, work
from db.engine import Database
from db.models import StoredLabel, Study
from db.studies.why import explain_label
from tests.makers import StudyInUse

SURE = {"confidence": "high", "same": 8}


def stored(study: StudyInUse) -> list[tuple[Any, ...]]:
    with study.db.read() as session:
        return [(row.value, row.confidence, row.same) for row in session.exec(select(StoredLabel)).all()]


def asked(study: StudyInUse) -> dict[str, Any]:
    found: dict[str, Any] = work(study.db, study.annotators[0], study.study_id)["study"]["protocol"]
    return found


def test_what_is_said_is_stored_with_the_label_and_shown_when_it_is_opened_again(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1, ask=("same", "confidence"))
    with database.read() as session:
        assert session.get_one(Study, study.study_id).settings["ask"] == ["confidence", "same"]
    protocol = asked(study)
    assert protocol["steps"][0]["criteria"][:3] == ["right", "right.confidence", "right.same"]
    beside = protocol["criteria"][1]
    assert beside["aside"] == {"of": "right", "field": "confidence", "title": "How sure are you?"}
    assert [label["key"] for label in beside["labels"]] == ["1", "2", "3"]
    assert [label["key"] for label in protocol["criteria"][2]["labels"]] == [*"0123456789", "t"]
    study.submit(0, study.work(0)["items"][0], {"right": "yes"}, beside=SURE)
    assert stored(study) == [("yes", "high", 8)]
    again = reopen(database, study.annotators[0], study.study_id)
    assert {name: again["previous"][0][name] for name in SURE} == SURE
    study.submit(0, again, {"right": "no"}, beside={"confidence": "low", "same": 0})
    assert stored(study) == [("yes", "high", 8), ("no", "low", 0)], "a correction is a new label"
    told = explain_label(database, study.researcher, study.study_id, item="i00001", criterion="right")
    assert [(act.label, act.confidence, act.same) for act in told.steps if act.did == "labelled"] == [
        ("yes", "high", 8),
        ("no", "low", 0),
    ]


@pytest.mark.parametrize(
    ("beside", "message"),
    [
        ({}, "'Right': How sure are you? Say it for every label."),
        ({"confidence": "high"}, "How many of 10 others will say the same? Say it for every label."),
        ({"confidence": "sure", "same": 1}, "confidence is 'sure'. Give one of low, medium, high."),
        ({"confidence": "low", "same": 11}, "same is 11. Give one of 0, 1, 2"),
        ({"confidence": "low", "same": True}, "same is True"),
        ({"confidence": ["low"], "same": 2.0}, "confidence is ['low']"),
        ({"confidence": "low", "same": 2.0}, "same is 2.0"),
    ],
)
def test_what_is_missing_or_wrong_is_refused(sqlite_database: Database, beside: dict[str, Any], message: str) -> None:
    study = StudyInUse(sqlite_database, items=1, annotators=1, overlap=1, ask=("confidence", "same"))
    item = study.work(0)["items"][0]
    with pytest.raises(InvalidInput) as refused:
        study.submit(0, item, {"right": "yes"}, beside=beside)
    assert message in str(refused.value)
    assert stored(study) == []


def test_nothing_is_asked_or_taken_where_the_study_does_not_ask(sqlite_database: Database) -> None:
    study = StudyInUse(sqlite_database, items=1, annotators=1, overlap=1)
    assert not any("aside" in criterion for criterion in asked(study)["criteria"])
    with pytest.raises(InvalidInput, match="confidence 'high', which is not asked"):
        study.submit(0, study.work(0)["items"][0], {"right": "yes"}, beside={"confidence": "high"})


def test_what_cannot_be_judged_has_no_confidence(sqlite_database: Database) -> None:
    study = StudyInUse(sqlite_database, items=1, annotators=1, overlap=1, ask=("confidence",))
    item = study.work(0)["items"][0]
    unclear = {"cannot_judge": True, "reason": "The page is missing."}
    with pytest.raises(InvalidInput, match="which is not asked"):
        study.submit(0, item, {"right": None}, beside={**unclear, "confidence": "low"})
    study.submit(0, item, {"right": None}, beside=unclear)
    assert stored(study) == [(None, None, None)]


def test_only_what_is_known_can_be_asked_and_only_of_whole_items(sqlite_database: Database) -> None:
    with pytest.raises(InvalidInput, match=r"'mood' cannot be asked beside a label. Known: confidence, same."):
        StudyInUse(sqlite_database, ask=("mood",))
    with pytest.raises(InvalidInput, match="No criterion of the protocol 'evidence_pages' is about the item"):
        StudyInUse(sqlite_database, protocol="evidence_pages", ask=("confidence",))
