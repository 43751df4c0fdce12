"""What annotators do: get work, save drafts, commit steps, open again what they submitted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import bindparam, update
from sqlmodel import Session, col, select

from annotators.asking.asides import asked_by, for_browser
from annotators.designing.phases import AFTER, CONSENT, DECLINED, PHASES
from annotators.errors import Conflict, InvalidInput, NotFound, shown
from annotators.keys import ACTIONS
from annotators.protocols import Protocol
from annotators.times import today_began
from db.allotting.slots import is_balanced, share_out
from db.annotating.assignments import (
    AHEAD,
    Hand,
    Member,
    give_back,
    is_halted,
    last_submitted,
    lease,
    member_of,
    own,
    save,
    why_halted,
)
from db.annotating.committing import StepSubmission, commit, within_a_day
from db.annotating.guidelines import readers
from db.annotating.planting import plant
from db.annotating.presentations import next_step, present, to_compare
from db.annotating.qualifying import feedback_on, items_to_qualify, must_qualify, progress_of_try, why_failed
from db.annotating.spent_today import spent_today
from db.engine import Database
from db.models import (
    AnnotationKind,
    Assignment,
    AssignmentState,
    Draft,
    Invitation,
    ItemVersion,
    OutsideAnnotator,
    PhaseAnswer,
    Project,
    Study,
    StudyItem,
    StudyMember,
    StudyState,
    now,
)
from db.permissions import ANNOTATORS, Actor, On, operation, record
from db.phases.answers import check_items_are_open, standing_of, stored
from db.query import pick, table_of
from db.studies.design import asks_of, equal_part, protocol_of
from db.studies.places import SEES_OWN, check_sees_own, sees_own
from db.studies.tallies import Tallies

MAX_DRAFT = 400_000


@dataclass(frozen=True)
class Submitted:
    """The answer to a commit: what became of it, the same item's next step if there is one, and the items at hand.

    `halted` says why the study gives nobody, or this person, any items now; `enough`, that they have reached their
    quota. `phase` is what is open around the items (`_open_phase`). `feedback` on an item of the qualification
    (`feedback_on`).
    """

    saved_at: datetime
    status: str
    item: dict[str, Any] | None
    items: list[dict[str, Any]]
    progress: dict[str, Any]
    finished: bool
    halted: str | None
    phase: dict[str, Any] | None
    enough: str | None
    feedback: dict[str, Any] | None = None


# Work -----------------------------------------------------------------------------------------------------------------


@operation(On.STUDY, ANNOTATORS)
def work(
    db: Database, actor: Actor, study_id: int, *, have: Sequence[int] = (), about: bool = True, ahead: int = AHEAD
) -> dict[str, Any]:
    """The item to do now and a few ahead, leased to this person, with what their next step shows.

    Items whose assignment id is in `have` come as a stub, as the browser has them already. `about` adds the study, its
    protocol, whether this person has read its guidelines, and the keys.
    """
    with db.write() as session:
        member = member_of(session, study_id, actor.person_id, alone=True)
        connection, counts = session.connection(), Tallies(study_id)
        hand = _hand(session, member, counts, ahead)
        counts.write(connection)
    study = member.study
    with db.read() as session:
        out: dict[str, Any] = {
            "items": _items(session, member, hand, have),
            **_how_far(session, member, hand),
        }
        if about:
            protocol = protocol_of(study)
            project = session.get_one(Project, study.project_id)
            out["study"] = {
                "id": study_id,
                "name": study.name,
                "project": project.name,
                "protocol": protocol_for_browser(protocol, asked_by(study.settings)),
                "protocol_hash": study.protocol_hash,
                "guidelines_read": actor.person_id in readers(session, study, actor.person_id),
                **({"suggestions": "after"} if study.settings.get("suggestions") == "after" else {}),
            }
            out["keys"] = {action: list(pair) for action, pair in ACTIONS.items()}
            out["person"] = {"name": actor.name, "id": actor.person_id}
            out["last"] = last_submitted(session, study_id, actor.person_id)
        return out


def _hand(session: Session, member: Member, counts: Tallies, ahead: int) -> Hand:
    connection, standing = session.connection(), standing_of(session, member.study, member.person_id)
    if standing is not None and (standing.declined or standing.before_items):
        return lease(connection, member, counts, ahead=ahead, nothing_new=True)
    if must_qualify(member) and not is_halted(member):
        waiting = lease(connection, member, counts, ahead=ahead, nothing_new=True)
        return replace(waiting, items=items_to_qualify(connection, member, ahead=ahead))
    hand = lease(connection, member, counts, ahead=ahead)
    plant(connection, member, hand.fresh, counts)
    return hand


def protocol_for_browser(protocol: Protocol, asks: Sequence[str] = ()) -> dict[str, Any]:
    """The parts of a protocol that the annotator's page needs, labels with their keys and titles filled in.

    What the study asks beside labels (`asks`) follows each criterion as one more.
    """
    beside = {criterion.name: for_browser(criterion, asks) for criterion in protocol.criteria} if asks else {}
    return {
        "name": protocol.name,
        "version": protocol.version,
        "title": protocol.title,
        "summary": protocol.summary,
        "guidelines": protocol.guidelines,
        "steps": [
            {
                "name": step.name,
                "title": step.title,
                "criteria": [
                    name
                    for criterion in step.criteria
                    for name in (criterion, *(aside["name"] for aside in beside.get(criterion, ())))
                ],
            }
            for step in protocol.steps
        ],
        "criteria": [
            shown
            for criterion in protocol.criteria
            for shown in (criterion.for_browser(), *beside.get(criterion.name, ()))
        ],
        "consequences": [
            {
                **consequence.model_dump(mode="json", include={"when", "then"}),
                "sentence": consequence.sentence(
                    protocol.criterion(consequence.when.criterion), protocol.criterion(consequence.then.criterion)
                ),
            }
            for consequence in protocol.consequences
        ],
    }


def _items(session: Session, member: Member, hand: Hand, have: Sequence[int]) -> list[dict[str, Any]]:
    wanted = [row for row in hand.items if row.id not in have]
    fresh = {item["assignment"]: item for item in present(session, member.study, wanted)}
    for row in wanted:
        if row.kind == AnnotationKind.QUALIFICATION:
            fresh[row.id]["qualifying"] = progress_of_try(session, member, row)
    return [fresh.get(row.id) or {"assignment": row.id, "kept": True} for row in hand.items]


def _how_far(session: Session, member: Member, hand: Hand) -> dict[str, Any]:
    """How far the person is; whether everything is done, and why nothing is given out, in words for the annotator."""
    phase = _open_phase(session, member, hand)
    halted = _why_nothing(session, member) if is_halted(member) else None
    nothing_left = not hand.items and halted is None
    enough = None
    if nothing_left and member.quota is not None and hand.done >= member.quota:
        enough = f"You have done {hand.done:,} items, as many as are asked of you. What is left waits for others."
    # An equal part is what people can expect; where others did more, what they did is all there is.
    at_the_end = nothing_left and (phase is None or phase["phase"] == AFTER)
    at_hand = sum(row.kind != AnnotationKind.QUALIFICATION for row in hand.items)
    of = hand.done if at_the_end else equal_part(member.study, hand.members, hand.done, member.quota, at_hand=at_hand)
    spent = spent_today(session, member.person_id, today_began())
    progress = {"done": hand.done, "of": of, "seconds_today": round(spent)}
    finished = nothing_left and phase is None
    return {"progress": progress, "finished": finished, "halted": halted, "enough": enough, "phase": phase}


def _why_nothing(session: Session, member: Member) -> str:
    """Why the person gets no items, in words for them."""
    standing = standing_of(session, member.study, member.person_id)
    if standing is not None and standing.declined:
        return "You declined to take part. You will not be asked again. Thank you for your time."
    return why_failed(session, member) if member.failed_at is not None else why_halted(session, member)


# Phases around the items ----------------------------------------------------------------------------------------------


def _open_phase(session: Session, member: Member, hand: Hand) -> dict[str, Any] | None:
    """What is put to the person now besides items: the `text` of the consent, or a `protocol` of questions.

    The last one opens once there is nothing left for somebody who has done something.
    """
    standing = None if is_halted(member) else standing_of(session, member.study, member.person_id)
    if standing is None:
        return None
    name = standing.before_items
    if name is None and standing.after_items and hand.done and not hand.items and not must_qualify(member):
        name = AFTER
    if name is None:
        return None
    if name == CONSENT:
        return {"phase": CONSENT, "text": standing.phases.consent}
    return {"phase": name, "protocol": protocol_for_browser(standing.phases.questionnaire(name))}


@operation(On.STUDY, ANNOTATORS)
def answer_phase(
    db: Database,
    actor: Actor,
    study_id: int,
    *,
    uid: str,
    phase: str,
    answers: Mapping[str, Any],
    seconds: float | None = None,
    ahead: int = AHEAD,
) -> dict[str, Any]:
    """Keep what somebody says in the phase that is open to them; what comes next, as `work` has it.

    `answers` are values by question; to the consent `{"consent": "agreed"}` or `declined`, by which they leave the
    study and give back what they hold. The same `uid` is stored once. Raises InvalidInput for answers that do not fit
    the questions, Conflict for a phase that is not open, with the one that is.
    """
    with db.write() as session:
        member = member_of(session, study_id, actor.person_id, alone=True)
        if phase not in PHASES:
            raise InvalidInput(f"{shown(phase)} is no phase. Known: {', '.join(PHASES)}.")
        connection, counts = session.connection(), Tallies(study_id)
        status, known = "duplicate", stored(session, uid)
        if known is None:
            status, known = "done", _answer_open(session, actor, member, counts, phase=phase, answers=answers)
            known.uid, known.seconds = uid, within_a_day(seconds)
            session.add(known)
            session.flush()
        elif (known.person_id, known.study_id, known.phase) != (actor.person_id, study_id, phase):
            raise Conflict(f"The id {shown(uid)} was used for something else. Reload the page and try again.")
        saved_at = known.created_at
        member = member_of(session, study_id, actor.person_id)
        hand = _hand(session, member, counts, ahead)
        counts.write(connection)
    with db.read() as session:
        return {
            "status": status,
            "item": None,
            "saved_at": saved_at,
            "items": _items(session, member, hand, ()),
            **_how_far(session, member, hand),
        }


def _answer_open(
    session: Session, actor: Actor, member: Member, counts: Tallies, *, phase: str, answers: Mapping[str, Any]
) -> PhaseAnswer:
    """What is to be stored of a phase that is open to the person, who leaves the study where they decline."""
    study = member.study
    assert study.id is not None
    standing = standing_of(session, study, actor.person_id)
    if standing is None or phase not in standing.phases.asked():
        raise Conflict(f"This study has no phase {phase!r}. Ask for work to see what is open.")
    if standing.declined:
        raise Conflict("You declined to take part in this study.")
    if phase in standing.answered:
        raise Conflict(f"The phase {phase!r} was answered already, and is asked once.")
    if phase == AFTER and standing.before_items is None:
        hand = _hand(session, member, counts, 0)
        if hand.items or not hand.done or must_qualify(member):
            raise Conflict("The phase 'after' opens once your last item is submitted. Ask for work first.")
    elif is_halted(member):
        raise Conflict(why_halted(session, member))
    elif phase != standing.before_items:
        raise Conflict(f"The phase {phase!r} is not open: {standing.before_items!r} comes first.")
    said = standing.phases.checked(phase, answers)
    details = {"phase": phase} | ({"answer": said[0]["value"]} if phase == CONSENT else {})
    record(session, actor, "phase answered", "study", study.id, project_id=study.project_id, details=details)
    if phase == CONSENT and said[0]["value"] == DECLINED:
        place = session.get_one(StudyMember, (study.id, actor.person_id))
        place.left_at = now()
        session.add(place)
        session.flush()
        session.execute(_DECLINE, {"study": study.id, "person": actor.person_id, "moment": now()})
        give_back(session.connection(), study, actor.person_id, counts)
        if is_balanced(study):
            locked = session.get_one(Study, study.id, with_for_update=True, populate_existing=True)
            share_out(session.connection(), locked, of={actor.person_id})
            session.add(locked)
            session.flush()
    return PhaseAnswer(uid="", study_id=study.id, person_id=actor.person_id, phase=phase, answers=said)


_OUTSIDE = table_of(OutsideAnnotator)
_BY_ITS_LINKS = pick(Invitation.id).where(col(Invitation.study_id) == bindparam("study"))
_DECLINE = (
    update(_OUTSIDE)
    .where(_OUTSIDE.c.person_id == bindparam("person"), _OUTSIDE.c.invitation_id.in_(_BY_ITS_LINKS))
    .values(outcome=DECLINED, ended_at=bindparam("moment"))
)
"""Who came from outside has ended by declining."""


# Drafts ---------------------------------------------------------------------------------------------------------------


@operation(On.STUDY, ANNOTATORS)
def save_draft(
    db: Database,
    actor: Actor,
    study_id: int,
    *,
    assignment_id: int,
    sitting: int,
    step: int,
    content: dict[str, Any],
    seconds: float = 0,
    size: int = 0,
) -> datetime:
    """Keep what was entered but not committed, and hold on to the lease. The latest draft of a step replaces it.

    A draft for a step that was committed meanwhile is dropped: what was committed stands. Raises Conflict for one whose
    `revision` (how often the browser says that it was changed) is below that of the one that is kept: a request that
    was late on its way, or another computer that does not know of the changes yet, does not undo them.
    """
    if size > MAX_DRAFT:
        raise InvalidInput(f"A draft of {size} bytes is larger than {MAX_DRAFT}. Shorten the texts.")
    moment = now()
    with db.write() as session:
        study = member_of(session, study_id, actor.person_id, alone=True).study
        check_items_are_open(session, study, actor.person_id)
        connection = session.connection()
        row, _ = own(connection, actor, study_id, assignment_id)
        if next_step(row, protocol_of(study), asks_of(connection, study, row.study_item_id)) != (sitting, step):
            return moment
        draft = session.get(Draft, (assignment_id, step)) or Draft(assignment_id=assignment_id, step=step, content={})
        if _revision(content) < _revision(draft.content):
            raise Conflict(
                "A newer draft of this item is kept already, from another window. Reload the page to see it."
            )
        draft.content, draft.seconds, draft.saved_at = content, within_a_day(seconds) or 0, moment
        session.add(draft)
        if row.state == AssignmentState.LEASED:
            row.lease_until = moment + timedelta(minutes=study.lease_minutes)
            save(connection, row)
    return moment


def _revision(content: dict[str, Any]) -> int:
    given = content.get("revision")
    return given if isinstance(given, int) else 0


# Submitting -----------------------------------------------------------------------------------------------------------


@operation(On.STUDY, ANNOTATORS)
def submit(
    db: Database, actor: Actor, study_id: int, *, step: StepSubmission, have: Sequence[int] = (), ahead: int = AHEAD
) -> Submitted:
    """Commit one step. Nothing that passes validation is ever thrown away.

    The last step completes the annotation. It counts if the slot is still this person's, or if its lease ran out and
    another slot of the item is free; otherwise it is stored as surplus. A step of a completed assignment begins a new
    sitting, whose annotation supersedes the earlier one. Raises InvalidInput for labels that do not fit the protocol,
    Conflict for a step that is not the next one, NotAllowed for somebody else's assignment.
    """
    with db.write() as session:
        member = member_of(session, study_id, actor.person_id, alone=True)
        study, protocol = member.study, protocol_of(member.study)
        check_items_are_open(session, study, actor.person_id)
        connection, counts = session.connection(), Tallies(study_id)
        row, known = own(connection, actor, study_id, step.assignment_id, uid=step.uid)
        if known is not None:
            if (known.person_id, known.assignment_id) != (actor.person_id, step.assignment_id):
                raise Conflict(
                    f"Submission id {step.uid!r} was used for something else. Reload the page and try again."
                )
            status, saved_at = "duplicate", known.created_at
        else:
            status, saved_at = commit(session, member, protocol, row=row, step=step, counts=counts)
        hand = _hand(session, member, counts, ahead)
        counts.write(connection)
    with db.read() as session:
        following = None
        if not sees_own(member):
            pass  # what was on its way is stored; nothing more is shown
        elif row.steps_done < len(protocol.steps) and row.state not in (AssignmentState.OPEN, AssignmentState.SKIPPED):
            [following] = _items(session, member, replace(hand, items=[row]), ())
        elif status == "done" and row.kind != AnnotationKind.QUALIFICATION:
            following = to_compare(session, study, row)
        return Submitted(
            feedback=feedback_on(session, member, row)
            if row.kind == AnnotationKind.QUALIFICATION and following is None
            else None,
            saved_at=saved_at,
            status=status,
            item=following,
            items=_items(session, member, hand, [*have, row.id] if following else have),
            **_how_far(session, member, hand),
        )


# My work --------------------------------------------------------------------------------------------------------------


@operation(On.STUDY, ANNOTATORS)
def reopen(db: Database, actor: Actor, study_id: int, *, assignment_id: int | None = None) -> dict[str, Any]:
    """The presentation of something I submitted, to look at and correct; without an id, the last one."""
    with db.read() as session:
        member = member_of(session, study_id, actor.person_id)
        check_sees_own(member)
        check_items_are_open(session, member.study, actor.person_id)
        wanted = assignment_id or last_submitted(session, study_id, actor.person_id)
        if wanted is None:
            raise NotFound("You have not submitted anything in this study yet.")
        row = session.get(Assignment, wanted)
        if row is None or row.study_id != study_id or row.person_id != actor.person_id:
            raise NotFound(f"There is no assignment {wanted} of yours in this study.")
        if row.state in (AssignmentState.OPEN, AssignmentState.SKIPPED):
            raise Conflict(f"This item is {row.state} and cannot be opened again.")
        if row.kind == AnnotationKind.QUALIFICATION:
            raise Conflict("Items of the qualification cannot be opened again: what is right was told.")
        study = session.get_one(Study, study_id)
        if study.state == StudyState.CLOSED:
            raise Conflict("The study is closed: its labels stay as they are. Ask its researcher to start it again.")
        return present(session, study, [row])[0]


@dataclass(frozen=True)
class MyItem:
    """Something I did or have at hand: which study and question, in which state, when, and why it was returned."""

    study_id: int
    study: str
    assignment_id: int
    question: str
    state: str
    when: datetime | None
    reason: str | None
    sitting: int


@operation(On.APP, anyone_signed_in=True)
def my_work(
    db: Database, actor: Actor, *, search: str = "", before: int | None = None, limit: int = 50
) -> list[MyItem]:
    """What I submitted, was returned, skipped or let expire, in studies that I am in; latest first, paged by id."""
    states = [state for state in AssignmentState if state not in (AssignmentState.OPEN, AssignmentState.LEASED)]
    query = (
        select(Assignment, Study.name, ItemVersion.question)
        .join(Study, col(Study.id) == Assignment.study_id)
        .join(StudyItem, col(StudyItem.id) == Assignment.study_item_id)
        .join(ItemVersion, col(ItemVersion.id) == StudyItem.item_version_id)
        .where(Assignment.person_id == actor.person_id, col(Assignment.state).in_(states))
        .where(Assignment.kind != AnnotationKind.QUALIFICATION, SEES_OWN)
        .order_by(col(Assignment.id).desc())
        .limit(limit)
    )
    if before is not None:
        query = query.where(col(Assignment.id) < before)
    if search.strip():
        query = query.where(col(ItemVersion.question).icontains(search.strip(), autoescape=True))
    with db.read() as session:
        return [
            MyItem(row.study_id, study, row.id or 0, question, row.state, row.ended_at, row.reason, row.sitting)
            for row, study, question in session.exec(query)
        ]
