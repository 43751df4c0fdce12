"""How people from outside come in by an invitation, and how they end: done, failed or stopped.

What runs before anybody is known (`invited`, `join`) is no operation with an actor. Nobody ends by looking: only what
they do ends them (`leave`, or declining to take part).
"""

from __future__ import annotations

import math
import secrets
from dataclasses import dataclass
from datetime import timedelta

from sqlmodel import Session, col, select

from annotators.designing.phases import DECLINED
from annotators.errors import Conflict, InvalidInput, NotFound
from annotators.figures import count
from db.annotating.assignments import Member, give_back, is_halted, lease, member_of, why_halted
from db.annotating.qualifying import must_qualify
from db.engine import Database
from db.models import (
    Account,
    Assignment,
    AssignmentState,
    Invitation,
    Membership,
    OutsideAnnotator,
    Person,
    Study,
    StudyMember,
    StudyState,
    WebSession,
    now,
)
from db.people.sign_in import (
    FREE_BY_ADDRESS,
    SESSION,
    count_attempt,
    end_sessions,
    failure_key,
    forgive,
    open_session,
    token_hash,
)
from db.permissions import ANNOTATORS, Actor, On, Role, actor_of, operation, record
from db.phases.answers import standing_of
from db.query import pick
from db.studies import tallies
from db.studies.design import left_to_give
from db.studies.places import is_gone
from db.studies.tallies import Tallies

_SPENT = "This link has been used up, has expired or was withdrawn. Ask whoever gave it to you for another one."
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"
MOST_OF_AN_ID = 200


@dataclass(frozen=True)
class Invited:
    """What a link leads to: the study, what is asked in it, at most how many items, what brings a recruiter's id."""

    study: str
    title: str
    quota: int | None
    parameter: str | None


@dataclass(frozen=True)
class Standing:
    """How far an annotator from outside is; `outcome` is None until they have ended, then with code and address.

    `complete`: whether they would end now as who has done all. `halted` says why the study gives them nothing now;
    `later`: it may give them more.
    """

    study: str
    done: int
    quota: int | None
    complete: bool = False
    halted: str | None = None
    later: bool = False
    outcome: str | None = None
    code: str | None = None
    return_url: str | None = None


def invited(db: Database, token: str, address: str | None) -> Invited:
    """What this link leads to, without using it. `address` is where the request came from.

    Raises NotFound for a link that is unknown, revoked or past, TooManyAttempts for guessing. A link that is used up
    still opens for those who came by it.
    """
    key = _count(db, address)
    with db.write() as session:
        row = _open_invitation(session, token)
        if row is not None:
            forgive(session, None, key)
            study = session.get_one(Study, row.study_id)
            return Invited(study.name, study.protocol.get("title", study.name), _quota(row, study), row.parameter)
    raise NotFound(_SPENT)


def join(
    db: Database,
    token: str,
    address: str | None = None,
    *,
    recruiter_id: str = "",
    known: Actor | None = None,
    lifetime: timedelta = SESSION,
) -> tuple[str, int]:
    """Come in by a link: a session token, and the study's id.

    Somebody whom the recruiter calls so, or (where the link asks for no id) the browser that is signed in as somebody
    who came by it (`known`), goes on as who they were: it makes nobody new, and ends their other sessions. Everybody
    else uses the link once.

    A recruiter's id is no secret: who knows somebody's could come in as them. So that nobody is put out of their work,
    another browser than theirs comes in only while they have nothing before them: an item that they work at is theirs
    until its lease ends. That it came is an event.

    Raises NotFound when it is spent, InvalidInput without the id that it asks for, Conflict for a study that takes
    nobody now, and for an id whose owner is at work in another browser.
    """
    key = _count(db, address)
    with db.write() as session:
        row = _open_invitation(session, token)
        if row is None:
            raise NotFound(_SPENT)
        forgive(session, None, key)
        called = _recruiter_id(row, recruiter_id)
        before = _who_came(session, row, called, known)
        if before is not None:
            person_id = before.person_id
            if known is None or known.person_id != person_id:
                _check_idle(session, row, person_id)
                project_id = session.get_one(Study, row.study_id).project_id
                guest, details = actor_of(session, person_id, "web"), {"invitation": row.id, "browser": "another"}
                came = "annotator came back"
                record(session, guest, came, "study", row.study_id, project_id=project_id, details=details)
            end_sessions(session, person_id)
        else:
            person_id = _newcomer(session, row, called)
        actor = actor_of(session, person_id, "web")
        return open_session(session, actor, lifetime, how="invitation"), row.study_id


def lacks_id(parameter: str) -> str:
    """What is said of a link without the recruiter's id that it asks for."""
    return f"The address lacks your id ({parameter}=…). Open the link again from where you were recruited."


@operation(On.STUDY, ANNOTATORS)
def is_from_outside(db: Database, actor: Actor, study_id: int) -> bool:
    """Whether the actor came to this study by an invitation."""
    with db.read() as session:
        return _outside(session, study_id, actor.person_id) is not None


@operation(On.STUDY, ANNOTATORS)
def how_far(db: Database, actor: Actor, study_id: int) -> Standing:
    """How an annotator from outside stands; it changes nothing.

    Raises NotFound for somebody who did not come by an invitation.
    """
    with db.read() as session:
        outside, invitation = _came(session, study_id, actor.person_id)
        member, done = member_of(session, study_id, actor.person_id), _done(session, study_id, actor.person_id)
        return _standing(session, outside, invitation, member, done)


@operation(On.STUDY, ANNOTATORS)
def leave(db: Database, actor: Actor, study_id: int) -> Standing:
    """End an annotator from outside, as they say; they give back what they hold. Asked again, it is the same.

    Who has submitted all that is asked of them is done: their quota, or everything that they were given where the study
    has no more for them. Whom the study gives nothing (it is paused, closed or past its deadline, or they failed) has
    failed; where it goes on, so do they. Everybody else has stopped, and cannot come back. Raises
    NotFound for somebody who did not come by an invitation.
    """
    with db.write() as session:
        outside, invitation = _came(session, study_id, actor.person_id)
        member = member_of(session, study_id, actor.person_id, alone=True)
        done = _done(session, study_id, actor.person_id)
        if ended_as(outside, member) is None:
            counts = Tallies(study_id)
            if is_halted(member) or must_qualify(member):
                more = _has_more(session, member)
            else:
                more = bool(lease(session.connection(), member, counts, ahead=0).items)
            outcome = _outcome(session, member, done, has_more=more)
            _end(session, actor, member, outside, outcome=outcome, counts=counts)
            counts.write(session.connection())
            member = member_of(session, study_id, actor.person_id)
        return _standing(session, outside, invitation, member, done)


def ended_as(outside: OutsideAnnotator, place: Member) -> str | None:
    """How somebody has ended; None where they have not, or were taken into the study again."""
    return outside.outcome if place.left_at is not None else None


# Private --------------------------------------------------------------------------------------------------------------


def _count(db: Database, address: str | None) -> str | None:
    """Count a look at a link from this address, before it is looked at: guessing gets slow, as at sign-in."""
    if not address:
        return None
    key = failure_key("address", address)
    with db.write() as session:
        count_attempt(session, {key: FREE_BY_ADDRESS}, slowed="")
    return key


def _open_invitation(session: Session, token: str) -> Invitation | None:
    query = select(Invitation).where(
        Invitation.token_hash == token_hash(token),
        col(Invitation.revoked_at).is_(None),
        col(Invitation.expires_at) > now(),
    )
    return session.exec(query.with_for_update()).first()


def _recruiter_id(row: Invitation, given: str) -> str | None:
    if row.parameter is None:
        return None
    called = given.strip()
    if not called or len(called) > MOST_OF_AN_ID or not called.isprintable():
        raise InvalidInput(lacks_id(row.parameter))
    return called


def _who_came(session: Session, row: Invitation, called: str | None, known: Actor | None) -> OutsideAnnotator | None:
    query = select(OutsideAnnotator).where(OutsideAnnotator.invitation_id == row.id)
    if called is not None:
        return session.exec(query.where(OutsideAnnotator.recruiter_id == called)).first()
    return None if known is None else session.exec(query.where(OutsideAnnotator.person_id == known.person_id)).first()


def _check_idle(session: Session, row: Invitation, person_id: int) -> None:
    """Raise Conflict where somebody has an item before them in a browser that is signed in as them."""
    moment = now()
    signed_in = pick(WebSession.person_id).where(
        col(WebSession.person_id) == person_id,
        col(WebSession.revoked_at).is_(None),
        col(WebSession.expires_at) > moment,
        ~col(WebSession.one_time),
    )
    held = pick(Assignment.lease_until).where(
        col(Assignment.study_id) == row.study_id,
        col(Assignment.person_id) == person_id,
        col(Assignment.state) == AssignmentState.LEASED,
        col(Assignment.lease_until) > moment,
    )
    until = session.execute(held.order_by(col(Assignment.lease_until).desc()).limit(1)).scalar_one_or_none()
    if until is None or session.execute(signed_in.limit(1)).first() is None:
        return
    minutes = max(1, math.ceil((until - moment).total_seconds() / 60))
    raise Conflict(
        "Somebody with this id is at work in another browser. Go on there. If that is not you, or the window is gone, "
        f"open the link again in {count(minutes, 'minute')}: what was submitted is kept."
    )


def _newcomer(session: Session, row: Invitation, called: str | None) -> int:
    study = session.get_one(Study, row.study_id)
    if row.used >= row.uses:
        raise NotFound(_SPENT)
    if study.state != StudyState.RUNNING or (study.deadline is not None and study.deadline <= now()):
        raise Conflict("The study takes nobody now. Try again later, or tell whoever gave you the link.")
    assert row.id is not None
    row.used += 1
    session.add(row)
    person = Person()
    session.add(person)
    session.flush()
    assert person.id is not None
    # A name that says nothing of the person, and nothing of what the recruiter calls them.
    session.add(Account(person_id=person.id, name="guest-" + "".join(secrets.choice(_LETTERS) for _ in range(10))))
    session.add(Membership(project_id=study.project_id, person_id=person.id, role=Role.ANNOTATOR))
    session.add(StudyMember(study_id=row.study_id, person_id=person.id, quota=_quota(row, study)))
    session.add(OutsideAnnotator(person_id=person.id, invitation_id=row.id, recruiter_id=called))
    session.flush()
    actor, details = actor_of(session, person.id, "web"), {"invitation": row.id}
    record(session, actor, "annotator joined", "study", study.id, project_id=study.project_id, details=details)
    return person.id


def _quota(row: Invitation, study: Study) -> int | None:
    """How many items somebody who comes by the invitation is given at most: as it says, else as the study does."""
    return row.quota if row.quota is not None else study.settings.get("quota")


def _outside(session: Session, study_id: int, person_id: int) -> tuple[OutsideAnnotator, Invitation] | None:
    query = (
        select(OutsideAnnotator, Invitation)
        .join(Invitation, col(Invitation.id) == col(OutsideAnnotator.invitation_id))
        .where(OutsideAnnotator.person_id == person_id, Invitation.study_id == study_id)
    )
    return session.exec(query).first()


def _came(session: Session, study_id: int, person_id: int) -> tuple[OutsideAnnotator, Invitation]:
    found = _outside(session, study_id, person_id)
    if found is None:
        raise NotFound("You came to this study without an invitation: there is no code to end with.")
    return found


def _done(session: Session, study_id: int, person_id: int) -> int:
    return tallies.done(tallies.counts(session, study_id, person_id))


def _standing(
    session: Session, outside: OutsideAnnotator, invitation: Invitation, member: Member, done: int
) -> Standing:
    outcome = ended_as(outside, member)
    if outcome is None:
        complete = _outcome(session, member, done, has_more=_has_more(session, member)) == "done"
        halted = why_halted(session, member) if is_halted(member) and not complete else None
        later = halted is not None and (not is_gone(member) or member.paused_at is not None)
        return Standing(member.study.name, done, member.quota, complete, halted, later)
    code = invitation.code if outcome == "done" else invitation.code_else
    return Standing(
        member.study.name,
        done,
        member.quota,
        complete=outcome == "done",
        outcome=outcome,
        code=code,
        return_url=invitation.return_url,
    )


def _has_more(session: Session, member: Member) -> bool:
    """Whether the study has about anything left for somebody, even while it gives nothing; they are given nothing."""
    assert member.study.id is not None
    place = session.get_one(StudyMember, (member.study.id, member.person_id))
    return must_qualify(member) or left_to_give(session, member.study, place) > 0


def _outcome(session: Session, member: Member, done: int, *, has_more: bool) -> str:
    """How somebody ends who ends now; `has_more`: the study would give them another item."""
    standing = standing_of(session, member.study, member.person_id)
    if standing is not None and standing.declined:
        return DECLINED
    asked_more = standing is not None and (standing.before_items or (done and standing.after_items))
    if member.quota is not None and done >= member.quota and not (asked_more and not is_halted(member)):
        return "done"
    did_all = done and not has_more and not _has_skipped(session, member)
    if is_halted(member):
        return "done" if did_all and not is_gone(member) else "failed"
    if has_more or asked_more or _has_skipped(session, member):
        return "stopped"
    return "done" if did_all else "failed"


def _has_skipped(session: Session, member: Member) -> bool:
    """Whether somebody skipped anything: the tallies do not count what was planted among their items."""
    skipped = pick(Assignment.id).where(
        col(Assignment.study_id) == member.study.id,
        col(Assignment.person_id) == member.person_id,
        col(Assignment.state) == AssignmentState.SKIPPED,
    )
    return session.execute(skipped.limit(1)).first() is not None


def _end(
    session: Session, actor: Actor, member: Member, outside: OutsideAnnotator, *, outcome: str, counts: Tallies
) -> None:
    study_id = member.study.id
    assert study_id is not None
    outside.outcome, outside.ended_at = outcome, now()
    session.add(outside)
    # Whom a halted study fails leaves at the moment that they end at: by it they are back when the study goes on.
    place = session.get_one(StudyMember, (study_id, actor.person_id))
    place.left_at = place.left_at or outside.ended_at
    session.add(place)
    session.flush()
    give_back(session.connection(), member.study, actor.person_id, counts)
    details, project_id = {"outcome": outcome}, member.study.project_id
    record(session, actor, "annotator ended", "study", study_id, project_id=project_id, details=details)
