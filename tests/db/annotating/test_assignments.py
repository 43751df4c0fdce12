"""Slots and leases: who gets what, at most k counting annotations, nothing lost under races."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import func, text, update
from sqlmodel import col, select

from annotators.errors import Conflict, InvalidInput, NotAllowed, NotFound
from db.annotating.annotations import my_work, save_draft
from db.annotating.assignments import lease, member_of, return_to_annotator, skip
from db.engine import Database
from db.items.current import is_set_aside
from db.models import (
    Annotation,
    Assignment,
    AssignmentState,
    Draft,
    SetAside,
    Study,
    StudyMember,
    Submission,
    Tally,
    now,
)
from db.studies import tallies
from db.studies.tallies import Tallies
from tests.db.studies.recount import recount
from tests.makers import StudyInUse
from tests.waiting import until


def counting(study: StudyInUse) -> Counter[int]:
    """Study item → counting annotations."""
    with study.db.read() as session:
        rows = session.execute(
            select(Annotation.study_item_id, func.count())
            .where(Annotation.kind == "regular", col(Annotation.supersedes_id).is_(None))
            .where(~is_set_aside(col(Annotation.id)))
            .group_by(col(Annotation.study_item_id))
        )
        return Counter(dict(rows.all()))


def end_leases(study: StudyInUse, who: int) -> None:
    """As if the lease time had passed."""
    with study.db.write() as session:
        session.execute(
            update(Assignment)
            .where(
                col(Assignment.person_id) == study.annotators[who].person_id,
                col(Assignment.state) == AssignmentState.LEASED,
            )
            .values(lease_until=now() - timedelta(seconds=1))
        )


def consistent(study: StudyInUse) -> None:
    """The kept counts equal the counted ones, and every item has exactly k slots that are open or taken."""
    with study.db.read() as session:
        kept = {state: n for state, n in tallies.counts(session, study.study_id).items() if n}
        assert kept == recount(session, study.study_id)
        overlap = session.get_one(Study, study.study_id).overlap
        slots = session.execute(
            select(Assignment.study_item_id, func.count())
            .where(
                Assignment.study_id == study.study_id,
                Assignment.kind == "slot",
                col(Assignment.state).in_(("open", "leased", "submitted", "returned")),
            )
            .group_by(col(Assignment.study_item_id))
        )
        assert {n for _, n in slots} == {overlap}


def test_each_item_gets_exactly_overlap_annotations_by_different_people(database: Database) -> None:
    study = StudyInUse(database, items=7, annotators=4, overlap=2)
    for who in (0, 1, 2, 3):
        study.label_all(who)
    assert set(counting(study).values()) == {2}
    with database.read() as session:
        pairs = session.execute(select(Annotation.study_item_id, Annotation.person_id)).all()
    assert len(pairs) == len(set(pairs)) == 14
    consistent(study)


def test_items_come_in_the_order_of_the_study(database: Database) -> None:
    study = StudyInUse(database, items=14, annotators=1, overlap=1)
    seen = []
    while items := study.work(0)["items"]:
        seen.append(items[0]["question"])
        study.submit(0, items[0], {"right": "yes"})
    assert seen == [f"Question of i{n:05}?" for n in range(1, 15)]


def test_asking_again_gives_the_same_items(database: Database) -> None:
    study = StudyInUse(database, items=9, annotators=2, overlap=1)
    first = [item["assignment"] for item in study.work(0)["items"]]
    assert [item["assignment"] for item in study.work(0)["items"]] == first
    assert not set(first) & {item["assignment"] for item in study.work(1)["items"]}


def test_two_windows_of_one_person_take_turns(database: Database) -> None:
    """The second asks while the first has taken slots that it cannot see yet: it waits, and gets the same ones."""
    study = StudyInUse(database, items=9, annotators=2, overlap=2)
    me, second = study.annotators[0].person_id, []
    other = threading.Thread(target=lambda: second.extend(study.work(0)["items"]))
    with database.write() as session:
        member = member_of(session, study.study_id, me, alone=True)
        counts = Tallies(study.study_id)
        first = lease(session.connection(), member, counts).items
        counts.write(session.connection())
        other.start()
        other.join(0.5)
        assert other.is_alive()
    other.join()
    assert [item["assignment"] for item in second] == [row.id for row in first]
    consistent(study)


def test_nobody_hoards_the_last_items(database: Database) -> None:
    study = StudyInUse(database, items=4, annotators=4, overlap=1)
    assert len(study.work(0)["items"]) == 2
    assert [len(study.work(who)["items"]) for who in (1, 2)] == [1, 1]


def test_a_skipped_item_goes_to_somebody_else_and_not_back(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=1)
    item = study.work(0)["items"][0]
    skip(database, study.annotators[0], study.study_id, assignment_id=item["assignment"], reason="unreadable")
    assert study.work(0)["finished"]
    assert len(study.work(1)["items"]) == 1
    consistent(study)
    mine = my_work(database, study.annotators[0])
    assert [(item.state, item.reason) for item in mine] == [("skipped", "unreadable")]


def test_skipping_without_a_reason_is_refused(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    item = study.work(0)["items"][0]
    with pytest.raises(InvalidInput, match="reason"):
        skip(database, study.annotators[0], study.study_id, assignment_id=item["assignment"], reason="  ")


def test_somebody_elses_assignment_can_be_neither_skipped_nor_submitted(database: Database) -> None:
    study = StudyInUse(database, items=3, annotators=2, overlap=1)
    item = study.work(0)["items"][0]
    with pytest.raises(NotAllowed):
        skip(database, study.annotators[1], study.study_id, assignment_id=item["assignment"], reason="mine now")
    with pytest.raises(NotAllowed):
        study.submit(1, item, {"right": "yes"})
    with pytest.raises(NotFound):
        study.submit(1, {**item, "assignment": 999_999}, {"right": "yes"})


def test_an_expired_lease_frees_the_slot_at_the_end_of_the_queue(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=1)
    study.work(0)
    assert study.work(1)["finished"]
    end_leases(study, 0)
    assert len(study.work(1)["items"]) == 1
    consistent(study)


def lease_of(study: StudyInUse, assignment_id: int) -> timedelta:
    """For how long from now it is leased."""
    with study.db.read() as session:
        until = session.get_one(Assignment, assignment_id).lease_until
    assert until is not None
    return until - now()


def lease_for(study: StudyInUse, assignment_id: int, left: timedelta) -> None:
    with study.db.write() as session:
        session.get_one(Assignment, assignment_id).lease_until = now() + left


def test_a_lease_is_renewed_by_asking_once_a_quarter_has_passed_and_by_every_draft(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    own = study.work(0)["items"][0]["assignment"]
    with database.read() as session:
        length = timedelta(minutes=session.get_one(Study, study.study_id).lease_minutes)
    whole, a_moment = length, timedelta(seconds=30)
    assert whole - a_moment < lease_of(study, own) <= whole
    lease_for(study, own, 0.9 * length)
    study.work(0)
    assert lease_of(study, own) < 0.91 * length
    lease_for(study, own, 0.5 * length)
    study.work(0)
    assert whole - a_moment < lease_of(study, own) <= whole
    lease_for(study, own, 0.5 * length)
    place = {"assignment_id": own, "sitting": 1, "step": 0}
    save_draft(database, study.annotators[0], study.study_id, **place, content={"comment": "hm"})
    assert whole - a_moment < lease_of(study, own) <= whole


def test_what_was_entered_for_an_item_that_is_given_up_goes_with_it(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    own = study.work(0)["items"][0]["assignment"]
    place = {"assignment_id": own, "sitting": 1, "step": 0}
    save_draft(database, study.annotators[0], study.study_id, **place, content={"comment": "hm"})
    skip(database, study.annotators[0], study.study_id, assignment_id=own, reason="not for me")
    with database.read() as session:
        assert session.exec(select(Draft)).all() == []


def test_the_time_of_a_study_is_that_of_its_annotations_and_not_of_corrections(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    item = study.work(0)["items"][0]
    study.submit(0, item, {"right": "yes"}, seconds=20.0)
    return_to_annotator(database, study.researcher, item["assignment"], reason="look again")
    study.submit(0, study.work(0)["items"][0], {"right": "no"}, seconds=300.0)
    with database.read() as session:
        rows = session.exec(select(Tally).where(Tally.study_id == study.study_id)).all()
        assert {row.person_id: row.seconds for row in rows if row.state == "submitted"} == {
            tallies.EVERYBODY: 20.0,
            study.annotators[0].person_id: 20.0,
        }


def test_who_asks_again_after_the_lease_keeps_what_nobody_else_needed(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=2, overlap=1)
    before = [item["assignment"] for item in study.work(0)["items"]]
    end_leases(study, 0)
    assert [item["assignment"] for item in study.work(0)["items"]] == before
    with database.read() as session:
        rows = session.exec(select(Assignment)).all()
        mine = [row for row in rows if row.person_id == study.annotators[0].person_id]
        assert [(row.state, row.lease_until is not None and row.lease_until > now()) for row in mine] == [
            ("leased", True)
        ] * len(before)
        assert len(rows) == 2
    consistent(study)


def test_somebody_who_comes_back_after_the_lease_finds_the_item_again(database: Database) -> None:
    study = StudyInUse(database, items=3, annotators=2, overlap=2)
    mine = [item["assignment"] for item in study.work(0)["items"]]
    end_leases(study, 0)
    study.work(1)  # the leases end when somebody else asks for work
    with database.read() as session:
        states = {session.get_one(Assignment, assignment).state for assignment in mine}
    assert states == {AssignmentState.EXPIRED}
    assert {item["assignment"] for item in study.work(0)["items"]} <= set(mine)
    consistent(study)


def test_what_was_taken_over_after_the_lease_does_not_come_back(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=1)
    study.work(0)
    end_leases(study, 0)
    assert len(study.work(1)["items"]) == 1
    assert study.work(0)["finished"]
    consistent(study)


def free_again(study: StudyInUse) -> None:
    """The leases of the first person's items are ended by somebody's search, but the slots are not taken yet."""
    end_leases(study, 0)
    with study.db.write() as session:
        session.execute(update(Assignment).values(state="expired"))
        session.execute(
            text(
                "INSERT INTO assignment (study_id, study_item_id, kind, state, queue, sitting, steps_done) "
                "SELECT study_id, study_item_id, 'slot', 'open', 99, 1, 0 FROM assignment"
            )
        )
        session.execute(text("UPDATE tally SET state = 'expired' WHERE state = 'leased'"))
        session.execute(text("UPDATE tally SET n = 1 WHERE state = 'open'"))


def test_a_late_submission_takes_a_free_slot(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=1)
    item = study.work(0)["items"][0]
    free_again(study)
    assert study.submit(0, item, {"right": "yes"}).status == "done"
    assert set(counting(study).values()) == {1}
    consistent(study)


def test_a_late_submission_waits_for_whom_the_slot_is_being_handed_to(database: Database) -> None:
    """Two at once: the slot is not free, though what was written of it is not seen yet."""
    study = StudyInUse(database, items=1, annotators=2, overlap=1)
    item = study.work(0)["items"][0]
    free_again(study)
    status: list[str] = []
    late = threading.Thread(target=lambda: status.append(study.submit(0, item, {"right": "yes"}).status))
    with database.write() as session:
        counts = Tallies(study.study_id)
        member = member_of(session, study.study_id, study.annotators[1].person_id, alone=True)
        lease(session.connection(), member, counts)
        counts.write(session.connection())
        late.start()
        until(lambda: bool(status) or waits_for_a_lock(database))
        assert status == []
    late.join()
    assert status == ["surplus"]
    consistent(study)


def waits_for_a_lock(database: Database) -> bool:
    """Whether another writer waits: on SQLite whoever writes second does so by itself."""
    if database.engine.dialect.name == "sqlite":
        return True
    with database.read() as session:
        return bool(session.execute(text("SELECT count(*) FROM pg_locks WHERE NOT granted")).scalar_one())


def test_a_late_submission_without_a_free_slot_is_kept_as_surplus(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=1)
    late = study.work(0)["items"][0]
    end_leases(study, 0)
    study.submit(1, study.work(1)["items"][0], {"right": "no"})
    assert study.submit(0, late, {"right": "yes"}).status == "surplus"
    with database.read() as session:
        aside = session.execute(select(SetAside.kind, Annotation.person_id).join(Annotation)).all()
    assert aside == [("surplus", study.annotators[0].person_id)]
    assert set(counting(study).values()) == {1}
    consistent(study)


def test_a_returned_item_comes_back_with_the_reason_and_supersedes(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=1, overlap=1)
    item = study.work(0)["items"][0]
    study.submit(0, item, {"right": "yes"})
    return_to_annotator(database, study.researcher, item["assignment"], reason="look at page 3")
    again = study.work(0)["items"][0]  # before what nobody has judged yet
    assert (again["assignment"], again["returned"], again["sitting"]) == (item["assignment"], "look at page 3", 2)
    assert [label["value"] for label in again["previous"]] == ["yes"]
    study.submit(0, again, {"right": "no"})
    with database.read() as session:
        rows = session.execute(select(Annotation.id, Annotation.supersedes_id).order_by(col(Annotation.id))).all()
    assert rows[-1].supersedes_id == rows[0].id
    consistent(study)


def test_only_a_submitted_item_can_be_returned(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    item = study.work(0)["items"][0]
    with pytest.raises(Conflict):
        return_to_annotator(database, study.researcher, item["assignment"], reason="x")


def test_races_never_give_more_than_overlap_counting_annotations(database: Database) -> None:
    """Eight annotators at once on few items; leases of some run out all the time. Nothing is lost, nothing too much."""
    study = StudyInUse(database, items=12, annotators=8, overlap=2)
    errors: list[BaseException] = []
    acknowledged: list[str] = []

    def labour(who: int) -> None:
        try:
            for round_ in range(40):
                items = study.work(who)["items"]
                if not items:
                    return
                if who % 3 == 0 and round_ % 2:
                    end_leases(study, who)
                    study.work((who + 1) % 8)
                uid = f"{who}-{round_}"
                try:
                    study.submit(who, items[0], {"right": "yes"}, uid=uid)
                except Conflict:
                    continue
                acknowledged.append(uid)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=labour, args=(who,)) for who in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    for who in range(8):
        study.label_all(who)
    assert max(counting(study).values()) == 2
    assert sum(counting(study).values()) == 24
    with database.read() as session:
        stored = set(session.execute(select(Submission.uid)).scalars())
        pairs = session.execute(
            select(Annotation.study_item_id, Annotation.person_id).where(Annotation.kind == "regular")
        ).all()
    assert set(acknowledged) <= stored
    assert len(pairs) == len(set(pairs))
    consistent(study)


def test_two_windows_of_one_annotator_share_the_same_items(database: Database) -> None:
    study = StudyInUse(database, items=20, annotators=2, overlap=1)
    found: list[Any] = []
    threads = [threading.Thread(target=lambda: found.append(study.work(0)["items"])) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    final = {item["assignment"] for item in study.work(0)["items"]}
    with database.read() as session:
        leased = session.execute(select(func.count()).where(Assignment.state == AssignmentState.LEASED)).scalar_one()
    assert leased == len(final)
    consistent(study)


def test_the_cursor_moves_so_that_an_annotator_far_ahead_searches_no_further(database: Database) -> None:
    study = StudyInUse(database, items=30, annotators=2, overlap=2)
    study.label_all(0)
    with database.read() as session:
        member = session.get_one(StudyMember, (study.study_id, study.annotators[0].person_id))
        assert member.cursor >= 2 * 29
        assert member.exhausted_at == session.get_one(Study, study.study_id).next_queue


def test_a_slot_lost_by_a_transaction_that_failed_is_found_by_the_last_search(database: Database) -> None:
    """The cursor has passed an open slot, as after another transaction's rollback."""
    study = StudyInUse(database, items=2, annotators=1, overlap=1)
    with database.write() as session:
        member = session.get_one(StudyMember, (study.study_id, study.annotators[0].person_id))
        member.cursor = 10
        session.add(member)
    assert study.label_all(0) == 2
