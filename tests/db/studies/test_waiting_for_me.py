"""What is said to wait for somebody is what the page behind it then offers, for each role."""

from __future__ import annotations

from datetime import timedelta

from sqlmodel import col, select

from db.adjudicating.adjudications import UnitDecision, adjudicate, count_disputed, disputes, disputes_for_me
from db.adjudicating.leases import take_item
from db.annotating.amendments import set_state
from db.engine import Database
from db.models import Assignment, Membership, Study, StudyMember, StudyState, now
from db.permissions import Actor
from db.studies.design import StudyRow, my_studies
from tests.db.adjudicating.test_adjudications import adjudicator, voted
from tests.makers import StudyInUse


def row(study: StudyInUse, actor: Actor) -> StudyRow:
    [found] = [row for row in my_studies(study.db, actor) if row.study_id == study.study_id]
    return found


def agrees(study: StudyInUse, who: int) -> int:
    """What is said to be left for an annotator, which is something exactly when the page gives something."""
    left = row(study, study.annotators[who]).left_for_me
    assert bool(left) == bool(study.work(who)["items"]), (who, left)
    return left


def test_an_annotator_is_told_of_items_exactly_while_the_page_gives_some(database: Database) -> None:
    study = StudyInUse(database, items=6, annotators=3, overlap=2)
    assert [row(study, actor).left_for_me for actor in study.annotators] == [4, 4, 4]
    # Two do all of it: nothing is left for the third, whatever an equal part would be.
    for who in (0, 1):
        for n in range(6):
            agrees(study, who)
            study.submit(who, study.work(who)["items"][0], {"right": "yes"}, uid=f"{who}-{n}")
    assert [agrees(study, who) for who in range(3)] == [0, 0, 0]


def test_who_has_done_an_equal_part_goes_on_while_others_leave_something(database: Database) -> None:
    study = StudyInUse(database, items=4, annotators=2, overlap=1)
    for n in range(3):
        assert agrees(study, 0) >= 1
        study.submit(0, study.work(0)["items"][0], {"right": "yes"}, uid=f"a{n}")
    mine = row(study, study.annotators[0])
    assert (mine.done, mine.of) == (3, 4)
    assert agrees(study, 0) == 1


def test_nothing_waits_in_a_study_that_gives_nothing_to_the_person(database: Database) -> None:
    study = StudyInUse(database, items=3, annotators=2, overlap=2)
    assert agrees(study, 0) == 3
    for change in ("paused_at", "left_out_from", "failed_at"):
        with database.write() as session:
            member = session.get_one(StudyMember, (study.study_id, study.annotators[0].person_id))
            setattr(member, change, now())
        assert agrees(study, 0) == 0, change
        with database.write() as session:
            setattr(session.get_one(StudyMember, (study.study_id, study.annotators[0].person_id)), change, None)
    with database.write() as session:
        session.get_one(StudyMember, (study.study_id, study.annotators[1].person_id)).quota = 1
    assert agrees(study, 1) == 1
    study.submit(1, study.work(1)["items"][0], {"right": "yes"})
    assert agrees(study, 1) == 0
    set_state(database, study.researcher, study.study_id, state=StudyState.PAUSED, reason="a break")
    assert agrees(study, 0) == 0
    set_state(database, study.researcher, study.study_id, state=StudyState.RUNNING, reason="on")
    with database.write() as session:
        session.get_one(Study, study.study_id).deadline = now() - timedelta(minutes=1)
    assert agrees(study, 0) == 0


def test_what_others_let_lapse_counts_and_what_they_hold_does_not(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=1)
    assert agrees(study, 0) == 1
    assert row(study, study.annotators[1]).left_for_me == 0
    assert study.work(1)["items"] == []
    with database.write() as session:
        for held in session.exec(select(Assignment).where(col(Assignment.lease_until).is_not(None))):
            held.lease_until = now() - timedelta(minutes=1)
    assert row(study, study.annotators[1]).left_for_me == 1
    assert len(study.work(1)["items"]) == 1


def offered(study: StudyInUse, actor: Actor) -> int:
    """How many items an adjudicator is told of, which is how many the desk has for them."""
    n = len(disputes(study.db, actor, study.study_id))
    assert disputes_for_me(study.db, actor).get(study.study_id, 0) == n
    assert count_disputed(study.db, actor, study.project_id) == n
    return n


def test_an_adjudicator_is_told_of_what_they_may_decide_and_nobody_else_has(database: Database) -> None:
    study = voted(database, ("yes", "no"), ("no", "yes"), ("yes", "yes"))
    rosa, sam, own = adjudicator(study), adjudicator(study), study.annotators[0]
    with database.write() as session:
        session.get_one(Membership, (study.project_id, own.person_id)).role = "adjudicator"
    assert [offered(study, actor) for actor in (rosa, sam, own)] == [2, 2, 0]
    first = disputes(database, rosa, study.study_id)[0].study_item_id
    take_item(database, rosa, first)
    assert [offered(study, actor) for actor in (rosa, sam)] == [2, 1]
    assert row(study, rosa).disputed == 2
    adjudicate(database, rosa, first, uid="d", decisions=[UnitDecision("right", "item", "yes")])
    assert [offered(study, actor) for actor in (rosa, sam)] == [1, 1]
    assert study.annotators[1].person_id not in disputes_for_me(database, study.annotators[1])
    assert disputes_for_me(database, study.annotators[1]) == {}
