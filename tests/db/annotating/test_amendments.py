"""Studies that are paused, closed and amended: who gets what then, and that nothing submitted is lost."""

from __future__ import annotations

import threading
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest
from sqlmodel import col, func, select

from annotators.errors import AssayError, Conflict, InvalidInput, NotFound
from db.annotating.amendments import StudyChange, amend_study, amendments_of, set_state
from db.annotating.annotations import reopen
from db.annotating.assignments import skip
from db.annotating.status import study_status
from db.engine import Database
from db.models import Annotation, Assignment, SetAside, Settlement, Study, StudyMember, StudyState, now
from db.studies import tallies
from db.studies.design import list_studies, my_studies, study_facts
from tests.db.studies.recount import recount
from tests.makers import StudyInUse, make_member, make_person

YES = {"right": "yes"}


def amend(study: StudyInUse, reason: str = "a reason", **change: Any) -> list[str]:
    wanted = StudyChange(**change)
    return amend_study(study.db, study.researcher, study.study_id, change=wanted, reason=reason)


def to(study: StudyInUse, state: StudyState, reason: str = "the guidelines change") -> bool:
    return set_state(study.db, study.researcher, study.study_id, state=state, reason=reason)


def kinds(study: StudyInUse) -> Counter[str]:
    """How the annotations count."""
    with study.db.read() as session:
        how = func.coalesce(SetAside.kind, Annotation.kind)
        query = select(how).select_from(Annotation).outerjoin(SetAside, col(SetAside.annotation_id) == Annotation.id)
        return Counter(session.exec(query.where(Annotation.study_id == study.study_id)).all())


def settled(study: StudyInUse) -> Counter[str]:
    with study.db.read() as session:
        return Counter(session.exec(select(Settlement.state).where(Settlement.study_id == study.study_id)).all())


def slots(study: StudyInUse) -> Counter[int]:
    """How many items have so many slots that are open or taken; the kept counts are right besides."""
    live = ("open", "leased", "submitted", "returned")
    with study.db.read() as session:
        kept = {state: n for state, n in tallies.counts(session, study.study_id).items() if n}
        assert kept == recount(session, study.study_id)
        rows = session.exec(select(Assignment.study_item_id).where(col(Assignment.state).in_(live))).all()
    return Counter(Counter(rows).values())


# States ---------------------------------------------------------------------------------------------------------------


def test_a_paused_study_gives_no_items_and_says_why(database: Database) -> None:
    study = StudyInUse(database, items=3, annotators=1, overlap=1)
    item = study.work(0)["items"][0]
    assert to(study, StudyState.PAUSED)
    assert not to(study, StudyState.PAUSED)
    work = study.work(0)
    assert (work["items"], work["finished"]) == ([], False)
    assert work["halted"] == "It is paused: the guidelines change"
    answer = study.submit(0, item, YES)
    assert (answer.status, answer.items, answer.halted) == ("done", [], work["halted"])
    assert kinds(study) == {"regular": 1}
    assert to(study, StudyState.RUNNING, "new guidelines")
    assert study.work(0)["halted"] is None
    assert study.label_all(0) == 2
    assert study.work(0)["finished"]


def test_what_comes_to_a_closed_study_is_kept_as_surplus(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=1, overlap=1)
    first, second = study.work(0)["items"]
    study.submit(0, first, YES)
    to(study, StudyState.CLOSED, "enough")
    assert study.submit(0, second, YES).status == "surplus"
    assert kinds(study) == {"regular": 1, "surplus": 1}
    with pytest.raises(Conflict, match="The study is closed"):
        reopen(database, study.annotators[0], study.study_id)
    with pytest.raises(Conflict, match="is closed, so that there is nothing to pause"):
        to(study, StudyState.PAUSED)
    with pytest.raises(Conflict, match="is closed, and stays as it is"):
        amend(study, overlap=1)
    assert to(study, StudyState.RUNNING, "one was missing")


def test_what_came_to_a_closed_study_comes_back_when_it_is_started_again(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=2, overlap=2)
    first, second = study.work(0)["items"]
    study.submit(0, first, YES)
    to(study, StudyState.CLOSED, "enough")
    assert study.submit(0, second, YES).status == "surplus"
    assert slots(study) == {2: 1, 1: 1}
    to(study, StudyState.RUNNING, "one was missing")
    assert slots(study) == {2: 2}
    [again] = study.work(0)["items"]
    assert (again["assignment"], again["sitting"]) == (second["assignment"], 2)
    assert again["returned"].startswith("You submitted this while the study was closed")
    assert [label["value"] for label in again["previous"]] == ["yes"]
    to(study, StudyState.CLOSED, "enough after all")
    assert study.submit(0, again, YES).status == "surplus"
    to(study, StudyState.RUNNING, "no, we go on")
    [again] = study.work(0)["items"]
    assert study.submit(0, again, YES).status == "done"
    assert study.label_all(1) == 2
    assert settled(study) == {"agreed": 2}
    assert kinds(study) == {"regular": 4, "surplus": 2}
    assert slots(study) == {2: 2}


def test_what_somebody_submitted_late_who_left_goes_to_others(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=1)
    [item] = study.work(0)["items"]
    to(study, StudyState.CLOSED, "enough")
    assert study.submit(0, item, YES).status == "surplus"
    with database.write() as session:
        for member in session.exec(select(StudyMember).where(StudyMember.person_id == study.annotators[0].person_id)):
            member.left_at = now()
    to(study, StudyState.RUNNING, "one was missing")
    assert slots(study) == {1: 1}
    assert study.label_all(1) == 1


def test_a_change_needs_a_reason_and_has_to_change_something(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=1)
    with pytest.raises(InvalidInput, match="Say why"):
        to(study, StudyState.PAUSED, "  ")
    with pytest.raises(InvalidInput, match="Say why"):
        amend(study, reason="", overlap=2)
    with pytest.raises(InvalidInput, match="Nothing would change"):
        amend(study, overlap=1)
    assert amendments_of(database, study.researcher, study.study_id) == []


def test_nobody_gets_items_after_the_deadline(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=1, overlap=1)
    with pytest.raises(InvalidInput, match="has passed"):
        amend(study, deadline=now() - timedelta(hours=1))
    amend(study, deadline=now() + timedelta(hours=1))
    assert study.work(0)["halted"] is None
    with database.write() as session:  # as if the hour had passed
        row = session.get_one(Study, study.study_id)
        row.deadline, row.amended = now() - timedelta(seconds=1), row.amended + 1
    assert study.work(0)["halted"].startswith("Its deadline was 2")
    assert amend(study, no_deadline=True) == ["deadline taken away"]
    assert study.label_all(0) == 2


# The overlap ----------------------------------------------------------------------------------------------------------


def test_a_higher_overlap_gives_every_item_another_slot_and_lets_it_wait_again(database: Database) -> None:
    study = StudyInUse(database, items=3, annotators=3, overlap=1)
    study.label_all(0)
    assert settled(study) == {"agreed": 3}
    assert amend(study, overlap=3) == ["overlap 1 → 3"]
    assert settled(study) == {"pending": 3}
    assert slots(study) == {3: 3}
    study.label_all(1, "no")
    study.label_all(2)
    assert settled(study) == {"disputed": 3}
    assert study_status(database, study.researcher, study.study_id)["finished"]


def test_a_lower_overlap_takes_open_slots_and_settles_what_has_enough(database: Database) -> None:
    study = StudyInUse(database, items=4, annotators=3, overlap=3)
    first = study.work(0)["items"][0]
    study.submit(0, first, YES)
    for item in study.work(1)["items"][:2]:
        study.submit(1, item, {"right": "no"})
    at_hand = study.work(2)["items"][0]
    amend(study, overlap=2, remove=(study.annotators[0].name,))
    assert settled(study) == {"disputed": 1, "pending": 1}
    assert study.submit(2, at_hand, YES).status == "done"
    study.label_all(1)
    study.label_all(2)
    status = study_status(database, study.researcher, study.study_id)
    assert (status["finished"], status["stuck"]) == (True, 0)
    assert slots(study) in ({2: 4}, {2: 3, 3: 1})


def test_raised_and_lowered_again_an_item_has_no_slot_too_many(database: Database) -> None:
    study = StudyInUse(database, items=3, annotators=3, overlap=3)
    for who in range(3):
        study.submit(who, study.work(who)["items"][0], YES)
    amend(study, overlap=1)
    amend(study, overlap=3)
    assert slots(study) == {3: 3}


def test_what_somebody_skips_after_the_overlap_was_lowered_is_not_opened_again(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=2)
    mine, theirs = (study.work(who)["items"][0] for who in (0, 1))
    amend(study, overlap=1)
    skip(database, study.annotators[0], study.study_id, assignment_id=mine["assignment"], reason="not mine")
    assert slots(study) == {1: 1}
    study.submit(1, theirs, YES)
    assert settled(study) == {"agreed": 1}


def test_an_overlap_above_the_team_is_refused_whole(database: Database) -> None:
    study = StudyInUse(database, items=1, annotators=2, overlap=2)
    with pytest.raises(InvalidInput, match="overlap of 3 needs as many different annotators; 2 are left"):
        amend(study, overlap=3)
    with pytest.raises(InvalidInput, match="overlap of 2 needs as many different annotators; 1 are left"):
        amend(study, remove=(study.annotators[0].name,))
    with pytest.raises(InvalidInput, match="gives nobody an item"):
        amend(study, overlap=0)
    assert slots(study) == {2: 1}
    assert study_facts(database, study.researcher, study.study_id).amended == 0


# The team -------------------------------------------------------------------------------------------------------------


def test_who_leaves_gives_back_what_is_at_hand_and_what_is_on_its_way_is_kept(database: Database) -> None:
    study = StudyInUse(database, items=4, annotators=2, overlap=1)
    first, second = study.work(0)["items"][:2]
    study.submit(0, first, YES)
    amend(study, remove=(study.annotators[0].name,))
    assert study.work(0)["halted"].startswith("You are no annotator of this study any more")
    assert study.label_all(1) == 3
    assert study.submit(0, second, YES).status == "surplus"
    assert kinds(study) == {"regular": 4, "surplus": 1}
    [mine] = my_studies(database, study.annotators[0])
    assert (mine.is_annotator, mine.done, mine.state) == (False, 1, "running")


def test_somebody_who_joins_shares_the_work_and_may_come_back(database: Database) -> None:
    study = StudyInUse(database, items=6, annotators=1, overlap=1)
    new = make_person(database)
    with pytest.raises(InvalidInput, match="may not annotate in this project"):
        amend(study, add=(make_person(database, role=None).name,))
    with pytest.raises(NotFound, match="There is nobody named 'nobody'"):
        amend(study, add=("nobody",))
    with pytest.raises(NotFound, match="is no annotator of the study"):
        amend(study, remove=(new.name,))
    make_member(database, study.project_id, new, "annotator")
    assert amend(study, add=(new.name,)) == [f"{new.name} joined"]
    study.annotators.append(new)
    taken = study.work(1)["items"]
    assert taken
    amend(study, remove=(new.name,))
    amend(study, add=(new.name,))
    assert {item["assignment"] for item in study.work(1)["items"]} == {item["assignment"] for item in taken}
    with pytest.raises(InvalidInput, match="is an annotator of the study already"):
        amend(study, add=(new.name,))
    with pytest.raises(InvalidInput, match="both added and removed"):
        amend(study, add=(new.name,), remove=(new.name,))
    said = [(row.what, row.before, row.after) for row in amendments_of(database, study.researcher, study.study_id)]
    one, both = [study.annotators[0].name], [study.annotators[0].name, new.name]
    assert said == [("annotators", one, both), ("annotators", both, one), ("annotators", one, both)]
    assert list_studies(database, study.researcher, study.project_id)[0].state == "running"


def test_what_everybody_has_skipped_is_named_as_stuck(database: Database) -> None:
    study = StudyInUse(database, items=2, annotators=2, overlap=1)
    for who in (0, 1):
        item = next(item for item in study.work(who)["items"] if "i00001" in item["question"])
        skip(database, study.annotators[who], study.study_id, assignment_id=item["assignment"], reason="torn page")
    study.label_all(0)
    status = study_status(database, study.researcher, study.study_id)
    assert (status["stuck"], status["finished"]) == (1, False)


# Races ----------------------------------------------------------------------------------------------------------------


def test_amendments_among_submissions_leave_exactly_the_overlap(database: Database) -> None:
    """Six people label and skip while the overlap goes up and down and somebody leaves and comes back."""
    study = StudyInUse(database, items=30, annotators=6, overlap=2)
    errors: list[BaseException] = []

    def labour(who: int) -> None:
        skipped = 0
        try:
            while not (work := study.work(who))["finished"]:
                if not work["items"]:
                    continue
                if who == 1 and skipped < 3:
                    skipped += 1
                    me, assignment = study.annotators[who], work["items"][0]["assignment"]
                    skip(database, me, study.study_id, assignment_id=assignment, reason="no")
                    continue
                study.submit(who, work["items"][0], YES)
        except AssayError as error:
            errors.append(error)

    def lead() -> None:
        last = study.annotators[5].name
        amend(study, overlap=3)
        amend(study, remove=(last,))
        to(study, StudyState.PAUSED)
        to(study, StudyState.RUNNING)
        amend(study, overlap=2)
        amend(study, add=(last,))
        amend(study, overlap=4)

    threads = [threading.Thread(target=labour, args=(who,)) for who in range(5)]
    for thread in threads:
        thread.start()
    lead()
    for thread in threads:
        thread.join()
    labour(5)
    for who in range(6):  # somebody may have found nothing just before the overlap rose
        labour(who)
    assert errors == []
    with database.read() as session:
        given = session.exec(select(Annotation.study_item_id, Annotation.person_id)).all()
    assert len(given) == len(set(given))
    assert set(Counter(item for item, _ in given).values()) == {4}
    assert slots(study) == {4: 30}
    assert settled(study) == {"agreed": 30}
