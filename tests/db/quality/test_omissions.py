"""Labels of an annotator that are left out from a moment on: what waits again, what counts, and that all comes back."""

from __future__ import annotations

import random
import threading
import time
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from sqlmodel import select

from annotators.errors import Conflict, InvalidInput, NotAllowed, NotFound
from db.adjudicating.adjudications import UnitDecision, adjudicate
from db.annotating.annotations import reopen, work
from db.annotating.assignments import return_to_annotator, skip
from db.annotating.status import study_status
from db.engine import Database
from db.items.as_of import look_back, marks
from db.models import Annotation, Assignment, AssignmentState, Membership, SetAside, Settlement, Tally, now
from db.permissions import Actor
from db.quality.omissions import Decided, leave_out, omissions_of, restore
from db.studies import tallies
from db.studies.ratings import ratings, ratings_stamp
from db.studies.settlements import stream_settled
from db.studies.why import explain_label
from tests.db.studies.recount import recount
from tests.makers import StudyInUse, make_member, make_person

BEFORE = datetime(2020, 1, 1, tzinfo=UTC)


def drop(study: StudyInUse, who: int, since: datetime = BEFORE, reason: str = "at random") -> Decided:
    name = study.annotators[who].name
    return leave_out(study.db, study.researcher, study.study_id, annotator=name, since=since, reason=reason)


def back(study: StudyInUse, who: int, reason: str = "they were right") -> Decided:
    return restore(study.db, study.researcher, study.study_id, annotator=study.annotators[who].name, reason=reason)


def settled(study: StudyInUse) -> dict[int, tuple[str, int, int]]:
    with study.db.read() as session:
        rows = session.exec(select(Settlement).where(Settlement.study_id == study.study_id)).all()
        return {row.study_item_id: (row.state, row.n_annotations, row.n_disputed) for row in rows}


def final(study: StudyInUse) -> list[tuple[Any, ...]]:
    with study.db.read() as session:
        return [(unit.external_id, unit.state, unit.value, unit.n) for unit in stream_settled(session, study.study_id)]


def standing(study: StudyInUse) -> dict[str, Any]:
    """All that a decision may change: slots of people, settlements, counts with their seconds, what is set aside."""
    with study.db.read() as session:
        slots = session.exec(select(Assignment).where(Assignment.study_id == study.study_id)).all()
        counted = session.exec(select(Tally).where(Tally.study_id == study.study_id)).all()
        aside = session.exec(select(SetAside)).all()
        kept = {state: n for state, n in tallies.counts(session, study.study_id).items() if n}
        assert kept == recount(session, study.study_id)
        return {
            "slots": sorted((row.id, row.state, row.person_id, row.sitting) for row in slots if row.person_id),
            "open": sorted(row.study_item_id for row in slots if row.state == AssignmentState.OPEN),
            "counts": {(row.person_id, row.state): (row.n, round(row.seconds, 6)) for row in counted if row.n},
            "aside": sorted((row.annotation_id, row.kind) for row in aside),
            "settled": settled(study),
        }


def test_what_is_left_out_counts_nowhere_and_its_items_wait_again(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=3, overlap=2)
    study.label_all(0, "yes"), study.label_all(1, "no")
    assert {state for state, *_ in settled(study).values()} == {"disputed"}
    stamp = ratings_stamp(database, study.researcher, study.study_id)
    assert drop(study, 1) == Decided(study.annotators[1].name, annotations=2, surplus=0, items=2, short=0)
    assert set(settled(study).values()) == {("pending", 1, 0)}
    assert {(state, n) for _, state, _, n in final(study)} == {("open", 1)}
    assert ratings_stamp(database, study.researcher, study.study_id) != stamp
    counted = ratings(database, study.researcher, study.study_id)
    assert counted.criteria[0].people == [study.annotators[0].person_id]
    found = study.work(1)
    assert (found["items"], found["finished"]) == ([], False)
    assert "left out for now" in found["halted"]
    assert study.label_all(2, "yes") == 2
    assert set(settled(study).values()) == {("agreed", 2, 0)}
    row = study_status(database, study.researcher, study.study_id)["annotators"][1]
    assert (row["submitted"], row["left_out_from"]) == (0, BEFORE.isoformat())


def test_the_slots_are_never_given_to_somebody_who_had_the_item(database: Database) -> None:
    study = StudyInUse(database, items=3, annotators=2, overlap=2)
    study.label_all(0), study.label_all(1)
    assert drop(study, 1).short == 1
    assert (study.label_all(0), study.label_all(1)) == (0, 0)
    assert study_status(database, study.researcher, study.study_id)["stuck"] == 3
    back(study, 1)
    assert set(settled(study).values()) == {("agreed", 2, 0)}


def test_labels_from_before_the_moment_stand(database: Database) -> None:
    study = StudyInUse(database, items=3, annotators=1, overlap=1)
    study.submit(0, study.work(0)["items"][0], {"right": "yes"})
    time.sleep(0.002)
    since = now()
    study.submit(0, study.work(0)["items"][0], {"right": "no"})
    assert drop(study, 0, since).annotations == 1
    assert [(state, value) for _, state, value, _ in final(study)] == [("unanimous", "yes")]
    assert drop(study, 0).annotations == 1, "an earlier moment takes the rest as well"
    assert final(study) == []
    assert drop(study, 0, since).annotations == 1, "a later one puts it back"
    assert [(state, value) for _, state, value, _ in final(study)] == [("unanimous", "yes")]


def test_a_correction_that_is_left_out_takes_what_it_corrected_with_it(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    study.submit(0, study.work(0)["items"][0], {"right": "yes"})
    time.sleep(0.002)
    since = now()
    study.submit(0, reopen(database, study.annotators[0], study.study_id), {"right": "no"})
    drop(study, 0, since)
    assert final(study) == []
    back(study, 0)
    assert [(state, value) for _, state, value, _ in final(study)] == [("unanimous", "no")]


def test_what_comes_while_labels_are_left_out_is_kept_and_left_out(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=2, overlap=1)
    at_hand = study.work(0)["items"]
    study.submit(0, at_hand[0], {"right": "yes"})
    mine = reopen(database, study.annotators[0], study.study_id)
    drop(study, 0)
    assert study.submit(0, at_hand[1], {"right": "yes"}).status == "surplus"
    assert study.submit(0, mine, {"right": "no"}).status == "surplus"
    assert final(study) == []
    assert standing(study)["open"] == sorted(settled(study)), "both items wait for somebody else"
    assert back(study, 0) == Decided(study.annotators[0].name, annotations=2, surplus=0, items=2, short=0)
    assert sorted(value for _, _, value, _ in final(study)) == ["no", "yes"]


def test_what_lost_its_slot_is_surplus_when_it_is_restored(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=2, overlap=1)
    study.label_all(0, "yes")
    drop(study, 0)
    (taken,) = work(database, study.annotators[1], study.study_id, ahead=0)["items"]
    given_back = back(study, 0)
    study.submit(1, taken, {"right": "no"})
    assert (given_back.annotations, given_back.surplus) == (2, 1)
    assert sorted(value for _, _, value, _ in final(study)) == ["no", "yes"]
    surplus = next(row for row in standing(study)["slots"] if row[1] == "surplus")
    again = reopen(database, study.annotators[0], study.study_id, assignment_id=surplus[0])
    assert study.submit(0, again, {"right": "yes"}).status == "surplus", "nor does a correction count"
    assert {n for *_, n in final(study)} == {1}
    with database.read() as session:
        past = marks(session)
    drop(study, 0)
    assert [(value, n) for _, _, value, n in final(study)] == [("no", 1)]
    with database.read() as session:
        look_back(session, past)
        assert {row.kind for row in session.exec(select(SetAside))} == {"surplus"}
        assert {unit.n for unit in stream_settled(session, study.study_id)} == {1}


def test_what_was_adjudicated_stays_and_nobody_adjudicates_what_they_gave(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=3, overlap=2)
    study.label_all(0, "yes"), study.label_all(1, "no")
    first, second = sorted(settled(study))
    adjudicator = make_person(database)
    make_member(database, study.project_id, adjudicator, "adjudicator")
    adjudicate(database, adjudicator, first, uid="a", decisions=[UnitDecision("right", "item", "yes")], reason="so")
    drop(study, 1)
    assert settled(study)[first] == ("adjudicated", 1, 1)
    with database.write() as session:
        session.get_one(Membership, (study.project_id, study.annotators[1].person_id)).role = "adjudicator"
    study.label_all(2, "no")
    with pytest.raises(NotAllowed, match="annotated this item yourself"):
        adjudicate(
            database, study.annotators[1], second, uid="b", decisions=[UnitDecision("right", "item", "yes")], reason="x"
        )


def test_why_and_the_history_tell_it(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=1)
    study.label_all(0, "yes")
    drop(study, 0, reason="one second each")
    told = explain_label(database, study.researcher, study.study_id, item="i00001", criterion="right")
    acts = [(act.did, act.stands, act.annotator, act.reason) for act in told.steps]
    name = study.annotators[0].name
    assert ("labelled", "left_out", None, None) in acts
    assert acts[-1] == ("labels left out", None, name, "one second each")
    back(study, 0, "it was a test")
    told = explain_label(database, study.researcher, study.study_id, item="i00001", criterion="right")
    assert [(act.did, act.reason) for act in told.steps][-1] == ("labels restored", "it was a test")
    rows = omissions_of(database, study.researcher, study.study_id)
    assert [(row.annotator, row.since) for row in rows] == [(name, BEFORE), (name, None)]


def test_whose_labels_are_left_out_is_not_told_where_names_are_not(database: Database) -> None:
    """Beside an item an adjudicator reads that what R2 submitted is left out: with a name here, R2 had one."""
    study = StudyInUse(database, items=1, annotators=2, overlap=1)
    study.label_all(0, "yes")
    drop(study, 0)
    told, name = study.researcher, study.annotators[0].name
    untold = make_person(database)
    make_member(database, study.project_id, untold, "adjudicator")

    def known(actor: Actor) -> tuple[list[str | None], list[bool]]:
        rows = omissions_of(database, actor, study.study_id)
        status = study_status(database, actor, study.study_id)["annotators"]
        return [row.annotator for row in rows], [one["left_out_from"] is not None for one in status]

    assert known(told) == ([name], [True, False])
    assert known(untold) == ([None], [False, False])


def test_a_decision_that_could_not_hold_is_refused(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=1, overlap=1)
    study.label_all(0)
    with pytest.raises(Conflict, match="Nothing of what"):
        back(study, 0)
    with pytest.raises(InvalidInput, match="Say why"):
        drop(study, 0, reason=" ")
    with pytest.raises(InvalidInput, match="still to come"):
        drop(study, 0, now() + timedelta(hours=1))
    with pytest.raises(NotFound, match="is no annotator of the study"):
        leave_out(database, study.researcher, study.study_id, annotator="nobody", since=BEFORE, reason="x")
    drop(study, 0)
    with pytest.raises(Conflict, match="is left out already"):
        drop(study, 0)


@pytest.mark.parametrize("seed", range(4))
def test_leaving_out_and_restoring_is_as_if_nothing_had_been(database: Database, seed: int) -> None:
    """With skips, returns, corrections and disputes, from a moment in the middle; nobody works in between."""
    study, draw = StudyInUse(database, items=8, annotators=4, overlap=2), random.Random(seed)
    moments = []
    for _ in range(22):
        who = draw.randrange(4)
        items, did = study.work(who)["items"], draw.random()
        if not items:
            continue
        if did < 0.15 and items[0]["sitting"] == 1:
            skip(database, study.annotators[who], study.study_id, assignment_id=items[0]["assignment"], reason="odd")
        else:
            study.submit(who, items[0], {"right": draw.choice(["yes", "no"])}, seconds=draw.uniform(1, 9))
            if did > 0.8:
                return_to_annotator(database, study.researcher, items[0]["assignment"], reason="look again")
            elif did > 0.7:
                study.submit(who, reopen(database, study.annotators[who], study.study_id), {"right": "yes"})
        moments.append(now())
        time.sleep(0.001)
    for who in range(4):  # nothing at hand, so that nothing is given back
        with database.write() as session:
            mine = Assignment.person_id == study.annotators[who].person_id
            for row in session.exec(select(Assignment).where(mine, Assignment.state == "leased")):
                session.delete(row)
                session.add(Assignment(study_id=row.study_id, study_item_id=row.study_item_id, queue=row.queue))
                counts = tallies.Tallies(study.study_id)
                counts.move("leased", "open")
                counts.move("leased", None, row.person_id)
                counts.move(None, "leased")
                counts.write(session.connection())
    before, stood = standing(study), final(study)
    for who in range(4):
        drop(study, who, draw.choice(moments))
        with database.read() as session:
            past = marks(session)
            aside = sorted((row.annotation_id, row.kind) for row in session.exec(select(SetAside)))
        back(study, who)
        assert standing(study) == before
        assert final(study) == stood
        with database.read() as session:
            look_back(session, past)
            assert sorted((row.annotation_id, row.kind) for row in session.exec(select(SetAside))) == aside


@pytest.mark.slow
def test_a_decision_stands_between_submissions_never_in_the_middle_of_one(database: Database) -> None:
    study = StudyInUse(database, items=40, annotators=4, overlap=2)
    faults: list[BaseException] = []

    def label(who: int) -> None:
        try:
            for _ in range(60):
                if items := study.work(who)["items"]:
                    study.submit(who, items[0], {"right": "yes"})
                else:
                    time.sleep(0.01)
        except BaseException as fault:
            faults.append(fault)

    def decide() -> None:
        try:
            for _ in range(6):
                drop(study, 0)
                time.sleep(0.03)
                back(study, 0)
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=label, args=(who,)) for who in range(4)] + [threading.Thread(target=decide)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not faults
    for who in range(4):
        study.label_all(who)
    standing(study)
    with database.read() as session:
        live = session.exec(select(Assignment).where(Assignment.state == "submitted")).all()
        given = session.exec(select(Annotation)).all()
    assert sorted(row.study_item_id for row in live) == sorted([*settled(study)] * 2), "two each, no more"
    assert set(settled(study).values()) == {("agreed", 2, 0)}
    assert len({(row.study_item_id, row.person_id) for row in given}) == len(given), "nobody had an item twice"
