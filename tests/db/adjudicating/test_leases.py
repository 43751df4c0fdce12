"""Two adjudicators never work on one item unknowingly."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from sqlmodel import select

from annotators.errors import Conflict
from db.adjudicating.adjudications import UnitDecision, adjudicate, disputes
from db.adjudicating.leases import LEASE, held_by_others, leave_item, take_item
from db.engine import Database
from db.models import AdjudicationLease, now
from db.permissions import Actor
from tests.db.adjudicating.test_adjudications import adjudicator, voted
from tests.makers import StudyInUse

DECIDE = [UnitDecision("right", "item", "yes")]


def queue(study: StudyInUse, actor: Actor) -> list[int]:
    return [row.study_item_id for row in disputes(study.db, actor, study.study_id)]


def idle(study: StudyInUse, minutes: float) -> None:
    """As if nobody had done anything for so long."""
    with study.db.write() as session:
        for row in session.exec(select(AdjudicationLease)):
            row.lease_until -= timedelta(minutes=minutes)
            session.add(row)


def test_what_one_has_the_other_is_not_offered_and_sees_who_has_it(database: Database) -> None:
    study = voted(database, ("yes", "no"), ("no", "yes"))
    rosa, sam = adjudicator(study), adjudicator(study)
    first, second = queue(study, rosa)
    taken = take_item(database, rosa, first)
    assert (taken.mine, taken.by) == (True, rosa.name)
    assert timedelta() < taken.until - now() <= LEASE
    assert (queue(study, rosa), queue(study, sam)) == ([first, second], [second])
    refused = take_item(database, sam, first)
    assert (refused.mine, refused.by, refused.until) == (False, rosa.name, taken.until)
    assert held_by_others(database, rosa, study.study_id) == []
    assert [(row.study_item_id, row.by) for row in held_by_others(database, sam, study.study_id)] == [
        (first, rosa.name)
    ]
    leave_item(database, sam, first)  # of another's lease nothing changes
    assert queue(study, sam) == [second]
    leave_item(database, rosa, first)
    assert queue(study, sam) == [first, second]


def test_a_lease_ends_by_doing_nothing_and_can_be_taken_over(database: Database) -> None:
    study = voted(database, ("yes", "no"))
    rosa, sam = adjudicator(study), adjudicator(study)
    [item] = queue(study, rosa)
    minutes = LEASE.total_seconds() / 60
    take_item(database, rosa, item)
    idle(study, minutes - 1)
    before = take_item(database, rosa, item).until  # doing something keeps it
    assert before - now() > LEASE - timedelta(minutes=1)
    idle(study, minutes - 1)
    assert not take_item(database, sam, item).mine
    idle(study, 1)
    assert queue(study, sam) == [item]
    assert take_item(database, sam, item).mine
    assert take_item(database, rosa, item).by == sam.name


def test_a_late_decision_counts_unless_another_is_stored(database: Database) -> None:
    study = voted(database, ("yes", "no"), ("yes", "no"))
    rosa, sam = adjudicator(study), adjudicator(study)
    first, second = queue(study, rosa)
    for item in (first, second):
        take_item(database, rosa, item)
    idle(study, 60)
    for item in (first, second):
        assert take_item(database, sam, item).mine
    assert adjudicate(database, rosa, first, uid="late", decisions=DECIDE) > 0
    with pytest.raises(Conflict, match="has adjudicated this item meanwhile"):
        adjudicate(database, sam, first, uid="later", decisions=DECIDE)
    assert adjudicate(database, sam, second, uid="in time", decisions=DECIDE) > 0
    with pytest.raises(Conflict, match="has adjudicated this item meanwhile"):
        adjudicate(database, rosa, second, uid="too late", decisions=DECIDE)
    assert held_by_others(database, rosa, study.study_id) == []


def test_what_was_settled_since_it_was_fetched_is_told_as_such(database: Database) -> None:
    study = voted(database, ("yes", "no"))
    rosa, sam = adjudicator(study), adjudicator(study)
    [item] = queue(study, rosa)
    assert take_item(database, rosa, item).state == "disputed"
    adjudicate(database, rosa, item, uid="first", decisions=DECIDE)
    late = take_item(database, sam, item)
    assert (late.mine, late.state) == (True, "adjudicated")


def test_of_many_who_take_an_item_at_once_one_has_it(database: Database) -> None:
    study = voted(database, *[("yes", "no")] * 5)
    people = [adjudicator(study) for _ in range(6)]
    items = queue(study, people[0])
    for item in items:
        with ThreadPoolExecutor(len(people)) as pool:
            found = list(pool.map(lambda actor, item=item: take_item(database, actor, item), people))  # type: ignore[misc]
        assert sum(lease.mine for lease in found) == 1
        assert len({lease.by for lease in found}) == 1
