"""Everybody who has a place in a study, against everything that counts them, lets them in, or waits for them."""

from __future__ import annotations

from collections import Counter
from datetime import timedelta

import pytest
from sqlmodel import col, select

from annotators.errors import AssayError
from db.annotating.amendments import StudyChange, amend_study
from db.annotating.annotations import work
from db.annotating.assignments import _left, member_of, skip
from db.annotating.status import study_status
from db.designing.by_score import _waits
from db.engine import Database
from db.models import Assignment, Person, Settlement, Study, StudyItem, StudyMember, now
from db.people.accounts import erase_person, remove_member, set_member
from db.quality.omissions import leave_out
from db.releasing.recheck import fresh_people
from db.studies.design import list_studies, my_studies
from db.studies.places import who_gets_items
from tests.makers import StudyInUse, first_administrator

GETS = {
    "here": True,
    "let go on": True,
    "by a default role": True,
    "administrator": True,
    "left": False,
    "labels left out": False,
    "paused": False,
    "failed": False,
    "erased": False,
    "former member": False,
    "viewer": False,
}
"""What is the matter with somebody's place → whether they get items of the study."""


def put(study: StudyInUse, who: int, what: str) -> None:
    """Bring it about that this is the matter with somebody."""
    db, actor = study.db, study.annotators[who]
    admin = first_administrator(db)
    about = (db, study.researcher, study.study_id)
    with db.write() as session:
        place = session.get_one(StudyMember, (study.study_id, actor.person_id))
        person = session.get_one(Person, actor.person_id)
        if what in ("paused", "let go on"):
            place.paused_at = now()
        if what == "failed":
            place.failed_at = now()
        if what == "by a default role":
            person.default_role = "annotator"
        if what == "administrator":
            person.is_admin = True
    if what == "let go on":
        amend_study(*about, change=StudyChange(add=(actor.name,)), reason="they read now")
    if what == "left":
        amend_study(*about, change=StudyChange(remove=(actor.name,)), reason="on leave")
    if what == "labels left out":
        leave_out(*about, annotator=actor.name, since=now() - timedelta(days=1), reason="careless")
    if what == "erased":
        erase_person(db, admin, actor.name)
    if what in ("former member", "by a default role", "administrator"):
        remove_member(db, study.researcher, study.project_id, name=actor.name)
    if what == "viewer":
        set_member(db, study.researcher, study.project_id, name=actor.name, role="viewer")


@pytest.mark.parametrize("what", GETS)
def test_who_gets_items_is_counted_let_in_and_waited_for_and_nobody_else(sqlite_database: Database, what: str) -> None:
    gets, db = GETS[what], sqlite_database
    study = StudyInUse(db, items=3, annotators=3, overlap=2, most_overlap=3)
    third = study.annotators[2]
    with db.read() as session:
        first, second, _ = session.exec(
            select(StudyItem.id).where(StudyItem.study_id == study.study_id).order_by(col(StudyItem.position))
        ).all()
    assert first is not None and second is not None
    put(study, 2, what)
    # Two disagree on the first item, and skip the second.
    for who, said in enumerate(("yes", "no")):
        study.submit(who, study.work(who)["items"][0], {"right": said})
        skip(db, study.annotators[who], study.study_id, assignment_id=study.work(who)["items"][0]["assignment"],
             reason="cannot read it")  # fmt: skip
    with db.read() as session:
        row = session.get_one(Study, study.study_id)
        assert (third.person_id in who_gets_items(session, study.study_id)) == gets
        member = member_of(session, study.study_id, study.annotators[0].person_id)
        assert _left(session.connection(), member).members == 2 + gets, "who shares what is left"
        asked = session.get_one(Settlement, first)
        assert asked.state == ("pending" if gets else "disputed"), "one more is asked where somebody is left"
        assert (third.person_id in fresh_people(session, row, [])[0]) == gets, "rechecks"
        assert _waits(session.connection(), row, second) == gets, "an order by a score"
    status = study_status(db, study.researcher, study.study_id)
    assert [one["gets_items"] for one in status["annotators"]] == [True, True, gets]
    assert status["stuck"] == (0 if gets else 1)
    try:
        found = work(db, third, study.study_id)
    except AssayError:
        assert what in ("erased", "former member", "viewer"), "at the door"
        found = {"items": []}
    assert bool(found["items"]) == gets
    if what not in ("erased", "former member"):
        [mine] = list_studies(db, third, study.project_id)
        assert (bool(mine.left_for_me), mine.is_annotator) == (gets, what not in ("left", "viewer"))
        assert [one.left_for_me for one in my_studies(db, third)] == [mine.left_for_me]
    done = leave_out(
        db, study.researcher, study.study_id, annotator=study.annotators[0].name,
        since=now() - timedelta(days=1), reason="careless",
    )  # fmt: skip
    assert done.short == (0 if gets else 1), "two are wanted, and the second is left, and who gets items"


@pytest.mark.parametrize("what", GETS)
def test_slots_that_are_allotted_go_to_those_who_get_items(sqlite_database: Database, what: str) -> None:
    study = StudyInUse(sqlite_database, items=12, annotators=4, overlap=2, queue="balanced")
    person = study.annotators[3].person_id

    def shares() -> Counter[int | None]:
        with sqlite_database.read() as session:
            slots = select(Assignment.allotted_to).where(
                Assignment.study_id == study.study_id, Assignment.kind == "slot", Assignment.state == "open"
            )
            return Counter(session.exec(slots).all())

    before = shares()[person]
    put(study, 3, what)
    amend_study(
        sqlite_database, study.researcher, study.study_id,
        change=StudyChange(remove=(study.annotators[0].name,)), reason="on leave",
    )  # fmt: skip
    after = shares()
    if GETS[what]:
        assert after[person] > before == 6
    elif what in ("left", "erased", "former member", "viewer"):
        assert after[person] == 0, "they cannot come back by themselves: others have their slots"
    else:
        assert after[person] <= before
