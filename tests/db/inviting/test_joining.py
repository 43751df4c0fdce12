"""People from outside: in by a link once each, under a name that says nothing, out with a code, handing back."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from sqlalchemy import update
from sqlmodel import select

from annotators.errors import AssayError, Conflict, InvalidInput, NotFound, TooManyAttempts
from db.annotating.amendments import StudyChange, amend_study, set_state
from db.annotating.annotations import work
from db.annotating.assignments import skip
from db.engine import Database
from db.inviting.invitations import InvitationTerms, invitations_of, invite, revoke_invitation
from db.inviting.joining import Standing, how_far, invited, is_from_outside, join, leave
from db.models import Account, Assignment, Event, Invitation, OutsideAnnotator, Person, StudyMember, StudyState, now
from db.people.accounts import erase_person
from db.people.sign_in import FREE_BY_ADDRESS, session_actor
from db.permissions import Actor
from db.studies.design import my_studies
from tests.db.studies.recount import recount
from tests.makers import StudyInUse, make_person

PID = "5f2b-prolific"


def open_study(db: Database, **changes: Any) -> StudyInUse:
    return StudyInUse(db, **{"items": 6, "annotators": 1, "overlap": 2, "outside": 3, **changes})


def link(study: StudyInUse, **terms: Any) -> str:
    return invite(study.db, study.researcher, study.study_id, terms=InvitationTerms(**terms))


def come_in(study: StudyInUse, token: str, recruiter_id: str = "", known: Actor | None = None) -> Actor:
    session_token, study_id = join(study.db, token, recruiter_id=recruiter_id, known=known)
    assert study_id == study.study_id
    actor = session_actor(study.db, session_token)
    assert actor is not None
    return actor


def label_as(study: StudyInUse, actor: Actor, most: int = 1000) -> int:
    study.annotators.append(actor)
    who, done = len(study.annotators) - 1, 0
    while done < most and (items := study.work(who)["items"]):
        study.submit(who, items[0], {"right": "yes"})
        done += 1
    return done


def n_people(db: Database) -> int:
    with db.read() as session:
        return len(session.exec(select(OutsideAnnotator)).all())


def test_somebody_from_outside_labels_their_items_and_ends_with_the_code(database: Database) -> None:
    study = open_study(database)
    token = link(study, quota=2, code="DONE42", code_else="LEFT1", return_url="https://recruiter.example/done?cc=1")
    found = invited(database, token, "203.0.113.9")
    assert (found.study, found.title, found.quota) == ("study", "Tiny", 2)
    guest = come_in(study, token)
    assert guest.name.startswith("guest-")
    assert not guest.is_admin
    assert is_from_outside(database, guest, study.study_id)
    assert not is_from_outside(database, study.annotators[0], study.study_id)
    assert [row.name for row in my_studies(database, guest)] == ["study"]
    at_first = how_far(database, guest, study.study_id)
    assert (at_first.outcome, at_first.code, at_first.done, at_first.quota) == (None, None, 0, 2)
    assert len(work(database, guest, study.study_id)["items"]) <= 2
    assert label_as(study, guest) == 2
    assert work(database, guest, study.study_id)["finished"]
    assert work(database, guest, study.study_id)["progress"] == {"done": 2, "of": 2, "seconds_today": 4}
    assert how_far(database, guest, study.study_id) == Standing("study", 2, 2, complete=True), "to look ends nobody"
    end = leave(database, guest, study.study_id)
    assert (end.outcome, end.code, end.return_url) == ("done", "DONE42", "https://recruiter.example/done?cc=1")
    assert leave(database, guest, study.study_id) == end  # asked again, it is the same
    assert how_far(database, guest, study.study_id) == end
    for ask in (how_far, leave):
        with pytest.raises(NotFound, match="without an invitation"):
            ask(database, study.annotators[0], study.study_id)


def test_who_stops_hands_back_what_they_held_and_gets_the_other_code(database: Database) -> None:
    study = open_study(database, annotators=2)
    guest = come_in(study, link(study, code="DONE42", code_else="LEFT1"))
    label_as(study, guest, most=1)
    end = leave(database, guest, study.study_id)
    assert (end.outcome, end.code, end.done) == ("stopped", "LEFT1", 1)
    with database.read() as session:
        held = session.exec(
            select(Assignment.state).where(Assignment.person_id == guest.person_id, Assignment.state == "leased")
        ).all()
        assert held == []
        assert recount(session, study.study_id)["open"] == 6 * 2 - 1
    assert work(database, guest, study.study_id)["items"] == []
    assert study.label_all(0) + study.label_all(1) == 11


def test_whom_the_study_gives_nothing_any_more_ends_as_failed(database: Database) -> None:
    study = open_study(database)
    guest = come_in(study, link(study, code="DONE42", code_else="LEFT1"))
    with database.write() as session:
        session.execute(
            update(StudyMember).where(StudyMember.person_id == guest.person_id).values(paused_at=now())  # type: ignore[arg-type]
        )
    end = leave(database, guest, study.study_id)
    assert (end.outcome, end.code) == ("failed", "LEFT1")


def skip_all(study: StudyInUse, actor: Actor) -> int:
    """Skip whatever there is; how many items that were."""
    skipped = 0
    while items := work(study.db, actor, study.study_id)["items"]:
        skip(study.db, actor, study.study_id, assignment_id=items[0]["assignment"], reason="no")
        skipped += 1
    return skipped


@pytest.mark.parametrize("quota", [3, None])
def test_who_skips_everything_has_done_nothing(database: Database, quota: int | None) -> None:
    study = open_study(database)
    guest = come_in(study, link(study, code="DONE42", code_else="LEFT1", quota=quota))
    assert skip_all(study, guest) == 6
    assert not how_far(database, guest, study.study_id).complete
    end = leave(database, guest, study.study_id)
    assert (end.outcome, end.code, end.done) == ("stopped", "LEFT1", 0)


def test_who_skips_what_was_planted_has_not_done_all(database: Database) -> None:
    study = open_study(database, items=8, overlap=1, repeats={"rate": 0.5, "after": 1})
    guest = come_in(study, link(study, code="DONE42", code_else="LEFT1"))
    study.annotators.append(guest)
    skipped = 0
    while items := study.work(1)["items"]:
        with database.read() as session:
            planted = session.get_one(Assignment, items[0]["assignment"]).kind != "slot"
        if planted:
            skip(database, guest, study.study_id, assignment_id=items[0]["assignment"], reason="again?")
            skipped += 1
        else:
            study.submit(1, items[0], {"right": "yes"})
    assert skipped > 0
    assert leave(database, guest, study.study_id).outcome == "stopped"


def test_who_was_given_less_than_their_quota_and_submitted_it_has_done_all(database: Database) -> None:
    study = open_study(database)
    guest = come_in(study, link(study, code="DONE42", code_else="LEFT1", quota=9))
    label_as(study, guest)
    assert how_far(database, guest, study.study_id).complete
    assert leave(database, guest, study.study_id).code == "DONE42"


@pytest.mark.parametrize("state", [StudyState.PAUSED, StudyState.CLOSED])
def test_a_study_that_halts_asks_its_guests_to_come_back_and_pays_nobody_for_it(
    database: Database, state: StudyState
) -> None:
    study = open_study(database)
    token = link(study, code="DONE42", code_else="LEFT1", quota=3)
    guest = come_in(study, token)
    label_as(study, guest, most=1)
    set_state(database, study.researcher, study.study_id, state=state, reason="lunch")
    for _ in range(2):
        found = how_far(database, guest, study.study_id)
        assert (found.outcome, found.code, found.complete, found.later) == (None, None, False, True)
        assert found.halted == f"It is {state}: lunch"
    end = leave(database, guest, study.study_id)
    assert (end.outcome, end.code, end.done) == ("failed", "LEFT1", 1)
    set_state(database, study.researcher, study.study_id, state=StudyState.RUNNING, reason="back")
    assert how_far(database, guest, study.study_id) == Standing("study", 1, 3)
    [row] = invitations_of(database, study.researcher, study.study_id)
    assert [person.outcome for person in row.people] == [None]
    assert come_in(study, token, known=guest).person_id == guest.person_id
    assert label_as(study, guest) == 2
    assert leave(database, guest, study.study_id).code == "DONE42"


@pytest.mark.parametrize("quota", [1, None])
def test_who_had_done_all_when_the_study_halted_has_done_all(database: Database, quota: int | None) -> None:
    study = open_study(database)
    guest = come_in(study, link(study, code="DONE42", quota=quota))
    label_as(study, guest)
    set_state(database, study.researcher, study.study_id, state=StudyState.CLOSED, reason="enough")
    assert how_far(database, guest, study.study_id).complete
    assert leave(database, guest, study.study_id).code == "DONE42"


def test_who_is_taken_into_the_study_again_has_not_ended(database: Database) -> None:
    study = open_study(database)
    guest = come_in(study, link(study, code="DONE42", code_else="LEFT1", quota=2))
    assert leave(database, guest, study.study_id).outcome == "stopped"
    change = StudyChange(add=(guest.name,))
    amend_study(database, study.researcher, study.study_id, change=change, reason="by mistake")
    assert how_far(database, guest, study.study_id).outcome is None
    assert label_as(study, guest) == 2
    assert leave(database, guest, study.study_id).code == "DONE42"


def test_a_recruiters_id_brings_back_the_same_person_and_ends_their_other_session(database: Database) -> None:
    study = open_study(database)
    token = link(study, uses=2, parameter="PROLIFIC_PID")
    first_token, _ = join(database, token, recruiter_id=PID)
    first = session_actor(database, first_token)
    again = come_in(study, token, f" {PID} ")
    assert first is not None
    assert again.person_id == first.person_id
    assert session_actor(database, first_token) is None
    assert come_in(study, token, "another").person_id != first.person_id
    with pytest.raises(NotFound, match="used up"):
        join(database, token, recruiter_id="a third")
    assert come_in(study, token, PID).person_id == first.person_id
    assert n_people(database) == 2
    for wrong in ("", "  ", "x" * 201, "a\nb"):
        with pytest.raises(InvalidInput, match="lacks your id"):
            join(database, token, recruiter_id=wrong)


def test_who_replays_an_id_puts_nobody_out_of_their_work(database: Database) -> None:
    study = open_study(database)
    token = link(study, parameter="PROLIFIC_PID")
    guest_token, _ = join(database, token, recruiter_id=PID)
    guest = session_actor(database, guest_token)
    assert guest is not None
    study.annotators.append(guest)
    assert study.work(len(study.annotators) - 1)["items"], "an item is before them"
    with pytest.raises(Conflict, match=r"at work in another browser.*in \d+ minutes"):
        join(database, token, recruiter_id=PID)
    assert session_actor(database, guest_token) is not None
    assert come_in(study, token, PID, known=guest).person_id == guest.person_id, "the same browser goes on"
    with database.write() as session:
        past = now() - timedelta(minutes=1)
        session.exec(update(Assignment).where(Assignment.person_id == guest.person_id).values(lease_until=past))  # type: ignore[arg-type]
    assert come_in(study, token, PID).person_id == guest.person_id
    with database.read() as session:
        [event] = session.exec(select(Event).where(Event.kind == "annotator came back")).all()
    assert event.details["browser"] == "another"


def test_a_link_without_ids_makes_somebody_new_unless_the_browser_knows_them(database: Database) -> None:
    study = open_study(database)
    token = link(study, uses=2)
    first = come_in(study, token)
    assert come_in(study, token, known=first).person_id == first.person_id
    assert come_in(study, token, known=study.annotators[0]).person_id != study.annotators[0].person_id
    assert n_people(database) == 2
    with pytest.raises(NotFound, match="used up"):
        join(database, token)


def test_a_link_that_is_past_revoked_or_guessed_lets_nobody_in(database: Database) -> None:
    study = open_study(database)
    past, revoked = link(study), link(study)
    with database.write() as session:
        row = session.exec(select(Invitation).order_by(Invitation.id)).first()  # type: ignore[arg-type]
        assert row is not None
        row.expires_at = now() - timedelta(seconds=1)
        session.add(row)
        assert past not in row.token_hash
    assert revoke_invitation(database, study.researcher, study.study_id, invitation_id=2)
    assert not revoke_invitation(database, study.researcher, study.study_id, invitation_id=2)
    for token in (past, revoked, "guessed", ""):
        for ask in (lambda token=token: invited(database, token, None), lambda token=token: join(database, token)):
            with pytest.raises(NotFound, match="used up, has expired or was withdrawn"):
                ask()
    with pytest.raises(NotFound, match="no invitation 99"):
        revoke_invitation(database, study.researcher, study.study_id, invitation_id=99)
    assert n_people(database) == 0


def test_guessing_links_gets_slow_as_guessing_passwords_does(database: Database) -> None:
    study = open_study(database)
    token = link(study)
    with pytest.raises(TooManyAttempts):
        for number in range(FREE_BY_ADDRESS + 5):
            try:
                (invited if number % 2 else join)(database, f"guess {number}", "203.0.113.9")  # type: ignore[operator]
            except NotFound:
                continue
    assert invited(database, token, "203.0.113.10").study == "study"


def test_of_many_who_come_at_once_no_more_get_in_than_the_link_is_for(database: Database) -> None:
    study = open_study(database)
    token, errors, people = link(study, uses=3), list[BaseException](), list[int]()

    def try_it() -> None:
        try:
            people.append(come_in(study, token).person_id)
        except NotFound:
            pass
        except AssayError as error:
            errors.append(error)

    threads = [threading.Thread(target=try_it) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (errors, len(set(people)), len(people), n_people(database)) == ([], 3, 3, 3)


def test_what_a_recruiter_calls_people_is_told_only_when_asked_for_and_logged(database: Database) -> None:
    study = open_study(database)
    guest = come_in(study, link(study, parameter="PROLIFIC_PID"), PID)
    label_as(study, guest, most=2)
    [row] = invitations_of(database, study.researcher, study.study_id)
    assert [(person.name, person.recruiter_id, person.submitted) for person in row.people] == [(guest.name, None, 2)]
    assert "recruiter_id" not in row.to_json()["people"][0]
    [row] = invitations_of(database, study.researcher, study.study_id, recruiter_ids=True)
    assert row.to_json()["people"][0]["recruiter_id"] == PID
    with database.read() as session:
        events = session.exec(select(Event)).all()
        assert "recruiter's ids read" in [event.kind for event in events]
        assert not [event for event in events if PID in repr(event.details)]
        assert PID not in repr(session.exec(select(Account)).all())
    erase_person(database, make_person(database, admin=True), guest.name)
    [row] = invitations_of(database, study.researcher, study.study_id, recruiter_ids=True)
    assert [(person.name, person.recruiter_id) for person in row.people] == [(None, None)]


def test_a_study_that_takes_nobody_says_so(database: Database) -> None:
    study = open_study(database)
    token = link(study)
    set_state(database, study.researcher, study.study_id, state=StudyState.PAUSED, reason="lunch")
    with pytest.raises(Conflict, match="takes nobody now"):
        join(database, token)
    with database.read() as session:
        assert [row.used for row in session.exec(select(Invitation))] == [0]
        assert len(session.exec(select(Person)).all()) == 2
    set_state(database, study.researcher, study.study_id, state=StudyState.CLOSED, reason="enough")
    with pytest.raises(Conflict, match="is closed"):
        link(study)


@pytest.mark.parametrize(
    ("terms", "said"),
    [
        ({"uses": 0}, "A link for 0 people"),
        ({"lasts": timedelta(0)}, "lasts 0 days"),
        ({"quota": 0}, "At most 0 items"),
        ({"parameter": "a b"}, "'a b' cannot name a part of an address"),
        ({"code": ""}, "The code '' is none"),
        ({"return_url": "http://recruiter.example"}, "no address to return to"),
        ({"return_url": "javascript:alert(1)"}, "no address to return to"),
        ({"return_url": "https://"}, "no address to return to"),
        ({"return_url": "//evil.example"}, "no address to return to"),
        ({"return_url": "https://a@evil.example"}, "no address to return to"),
        ({"return_url": "https://evil.example/\n"}, "no address to return to"),
    ],
)
def test_terms_that_cannot_be_held_are_refused(sqlite_database: Database, terms: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        link(open_study(sqlite_database), **terms)
