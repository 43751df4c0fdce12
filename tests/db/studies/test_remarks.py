"""Remarks of a study, labels of an item, and who is not shown them yet."""

from __future__ import annotations

import uuid
from typing import Any

import pytest
from sqlmodel import select

from annotators.asking.submissions import FLAGGED, GivenLabel
from annotators.errors import NotFound
from db.adjudicating.adjudications import UnitDecision, adjudicate, disputed_item, disputes
from db.annotating.annotations import reopen, submit
from db.annotating.assignments import skip
from db.annotating.committing import StepSubmission
from db.annotating.my_progress import my_progress
from db.engine import Database
from db.models import Item, Membership
from db.studies.remarks import item_labels, item_place, study_remarks
from tests.makers import StudyInUse, make_member, make_person, make_project


def say(
    study: StudyInUse, who: int, label: GivenLabel, *, comment: str | None = None, flag: str | None = None, n: int = 0
) -> int:
    """Submit one label for item number `n` of those at hand, with remarks; the assignment."""
    item = study.work(who)["items"][n]
    return commit(study, who, item, label, comment=comment, flag=flag)


def commit(
    study: StudyInUse,
    who: int,
    item: dict[str, Any],
    label: GivenLabel,
    *,
    comment: str | None = None,
    flag: str | None = None,
) -> int:
    step = StepSubmission(
        uuid.uuid4().hex, item["assignment"], item["sitting"], item["step"], (label,), comment, flag, seconds=4.0
    )
    submit(study.db, study.annotators[who], study.study_id, step=step)
    found: int = item["assignment"]
    return found


YES, NO = GivenLabel("right", "item", "yes"), GivenLabel("right", "item", "no")


def test_flags_comments_skips_and_cannot_judge_are_listed_with_their_words(database: Database) -> None:
    study = StudyInUse(database)
    say(study, 0, YES, comment="The table is cut off.", flag="wrong document")
    say(study, 1, GivenLabel("right", "item", None, True, "the page is missing"))
    say(study, 1, GivenLabel("right", "item", "no", comment="See the footnote."))
    skip(
        database, study.annotators[2], study.study_id,
        assignment_id=study.work(2)["items"][0]["assignment"], reason="I wrote this question",
    )  # fmt: skip
    found = study_remarks(database, study.researcher, study.study_id)
    assert [(flag.item, flag.who, flag.text) for flag in found.flags] == [
        ("i00001", study.annotators[0].name, "wrong document")
    ]
    assert {(comment.item, comment.about, comment.text) for comment in found.comments} == {
        ("i00001", "", "The table is cut off."),
        ("i00002", "Right", "See the footnote."),
    }
    assert [(skip.item, skip.text) for skip in found.skips] == [("i00001", "I wrote this question")]
    assert found.cannot_judge == {"Right": 1}
    assert found.reasons == [("Right", "the page is missing", 1)]
    assert found.totals == {"flags": 1, "comments": 2, "skips": 1}


def test_a_flag_says_why_wherever_it_is_shown_and_a_bare_one_says_nothing(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=2)
    say(study, 0, YES, flag="the table is cut off")
    say(study, 1, NO, flag=FLAGGED)
    found = study_remarks(database, study.researcher, study.study_id)
    assert [flag.text for flag in found.flags] == ["", "the table is cut off"]
    [place] = item_labels(database, study.researcher, study.project_id, external_id="i00001")
    assert place.flags == [(study.annotators[0].name, "the table is cut off"), (study.annotators[1].name, "")]
    [dispute] = disputes(database, study.researcher, study.study_id)
    shown = disputed_item(database, study.researcher, dispute.study_item_id)
    assert sorted(shown.flags.values()) == ["", "the table is cut off"]


def test_only_the_latest_sitting_of_a_correction_counts(database: Database) -> None:
    study = StudyInUse(database)
    say(study, 0, GivenLabel("right", "item", None, True, "unsure"), flag="help", comment="first thought")
    again = reopen(database, study.annotators[0], study.study_id)
    commit(study, 0, again, YES, comment="second thought")
    found = study_remarks(database, study.researcher, study.study_id)
    assert ([comment.text for comment in found.comments], found.flags, found.cannot_judge) == (
        ["second thought"],
        [],
        {},
    )


def test_adjudicators_read_remarks_without_names(database: Database) -> None:
    study = StudyInUse(database)
    say(study, 0, YES, comment="hm")
    adjudicator = make_person(database)
    make_member(database, study.project_id, adjudicator, "adjudicator")
    assert study_remarks(database, adjudicator, study.study_id).comments[0].who is None
    [place] = item_labels(database, adjudicator, study.project_id, external_id="i00001")
    assert [label.rater for label in place.labels] == ["R1"]


def test_an_annotator_who_may_read_sees_labels_of_an_item_only_after_giving_their_own(database: Database) -> None:
    study = StudyInUse(database, annotators=2, overlap=2)
    reader = study.annotators[1]
    with database.write() as session:
        session.get_one(Membership, (study.project_id, reader.person_id)).role = "adjudicator"
    say(study, 0, YES, comment="a hint", flag="look")
    [before] = item_labels(database, reader, study.project_id, external_id="i00001")
    assert (before.hidden, before.labels) == (True, [])
    remarks = study_remarks(database, reader, study.study_id)
    assert (remarks.flags, remarks.comments) == ([], [])
    say(study, 1, NO)
    [after] = item_labels(database, reader, study.project_id, external_id="i00001")
    assert not after.hidden
    assert sorted((label.rater, label.value) for label in after.labels) in (
        [("R1", "yes"), ("R2", "no")], [("R1", "no"), ("R2", "yes")],
    )  # fmt: skip
    assert [comment.text for comment in study_remarks(database, reader, study.study_id).comments] == ["a hint"]


def test_an_item_shows_its_labels_and_what_was_decided(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=2)
    say(study, 0, YES)
    say(study, 1, NO)
    [dispute] = disputes(database, study.researcher, study.study_id)
    decision = UnitDecision("right", "item", "no", "the source says otherwise")
    adjudicate(database, study.researcher, dispute.study_item_id, uid="u", decisions=[decision])
    [place] = item_labels(database, study.researcher, study.project_id, external_id="i00001")
    assert (place.study, place.protocol, place.version, place.state) == ("study", "Tiny", 1, "adjudicated")
    assert [(label.rater, label.title, label.target, label.value) for label in place.labels] == [
        (study.annotators[0].name, "Right", "item", "yes"),
        (study.annotators[1].name, "Right", "item", "no"),
    ]
    assert place.decided["right", "item"].value == "no"


def test_an_item_is_found_by_its_id_by_those_who_may_read_its_project(database: Database) -> None:
    study = StudyInUse(database, items=1)
    with database.read() as session:
        item_id = session.exec(select(Item.id)).one()
    assert item_id is not None
    place = item_place(database, study.researcher, item_id=item_id)
    assert (place.project_id, place.external_id) == (study.project_id, "i00001")
    stranger = make_person(database)
    make_member(database, make_project(database), stranger, "researcher")
    for actor, wanted in ((study.annotators[0], item_id), (stranger, item_id), (study.researcher, item_id + 1)):
        with pytest.raises(NotFound, match="no item with id"):
            item_place(database, actor, item_id=wanted)


def test_my_progress_counts_items_and_seconds(database: Database) -> None:
    study = StudyInUse(database, items=3, annotators=3, overlap=3)
    say(study, 0, YES)
    say(study, 0, NO)
    [mine] = my_progress(database, study.annotators[0])
    assert (mine.study, mine.done, mine.of, mine.returned) == ("study", 2, 3, 0)
    assert (mine.seconds, mine.seconds_today, mine.seconds_per_item) == (8, 8, 4.0)
    [other] = my_progress(database, study.annotators[1])
    assert (other.done, other.seconds, other.seconds_per_item) == (0, 0, None)
    assert my_progress(database, study.researcher) == []
