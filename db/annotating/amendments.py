"""Amendments: what changes in a study that is under way, by whom and why; what it was frozen with stays.

Every amendment locks the places of all annotators first. Who gets or submits work locks their own place first as well,
so that an amendment stands between two submissions, never in the middle of one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, NamedTuple

from sqlalchemy import text
from sqlmodel import Session, col, select

from annotators.designing.arms import PEOPLE
from annotators.designing.own_figures import OWN_FIGURES, PROGRESS
from annotators.errors import Conflict, InvalidInput, NotFound
from db.allotting.ledger import first_step, is_discarded, lacks_slots, take_open_slot
from db.allotting.settling import fill, reopen_slot, update_settlements
from db.allotting.slots import is_balanced, share_out, waiting_by_person
from db.annotating.assignments import give_back
from db.engine import Database
from db.models import (
    Account,
    Amendment,
    Assignment,
    AssignmentState,
    Invitation,
    OutsideAnnotator,
    Study,
    StudyMember,
    StudyState,
    now,
)
from db.people.accounts import names_of
from db.people.named import AMENDED, OF_PEOPLE, by_number
from db.permissions import READERS, RESEARCHERS, Actor, On, operation, record
from db.phases.answers import standing_of
from db.studies import tallies
from db.studies.design import check_overlap, person_who_may_annotate, protocol_of
from db.studies.tallies import Tallies

_LEADS_TO = {
    StudyState.RUNNING: "started",
    StudyState.PAUSED: "paused",
    StudyState.CLOSED: "closed",
}


_UNFINISHED = (AssignmentState.OPEN, AssignmentState.LEASED, AssignmentState.RETURNED)


@dataclass(frozen=True)
class StudyChange:
    """What an amendment is to change; what is None or empty stays.

    `deadline`: nobody gets items after it; `no_deadline` takes it away. Annotators are added and removed by name.
    `quota`: nobody is given more items; `no_quota` takes it away; `quotas` says so of some, by name (None: no limit).
    `own_figures`: what annotators see of their own (annotators/designing/own_figures.py).
    `hand_on`: the open slots that are allotted to these people, by name, go to the others.
    """

    overlap: int | None = None
    add: tuple[str, ...] = ()
    remove: tuple[str, ...] = ()
    deadline: datetime | None = None
    no_deadline: bool = False
    quota: int | None = None
    no_quota: bool = False
    quotas: Mapping[str, int | None] = field(default_factory=dict)
    own_figures: str | None = None
    hand_on: tuple[str, ...] = ()


@dataclass(frozen=True)
class AmendmentRow:
    """One amendment: when, by whom (None: by nobody, as the study says what follows), what, from what to what, and why.

    `what`: `state`, `overlap`, `deadline`, `annotators`, `quota`, `slots`, `own_figures`, `gold`, `qualification`.
    Annotators are names, a deadline is an ISO time, gold is how many there are and what is planted how (`Planting`),
    qualification what is asked (`Qualifying`), a quota how many items each annotator judges at most, slots how many
    open ones are allotted to each, own figures what annotators see, a state or an overlap is itself.
    """

    at: datetime
    by: str | None
    what: str
    before: Any
    after: Any
    reason: str

    def to_json(self) -> dict[str, Any]:
        """As `assay study show --json` prints it."""
        return {
            "at": self.at.isoformat(),
            "by": self.by,
            "what": self.what,
            "before": self.before,
            "after": self.after,
            "reason": self.reason,
        }


class _Team(NamedTuple):
    there: dict[int, StudyMember]
    """Everybody who is or was an annotator of the study, by person."""

    @property
    def active(self) -> list[int]:
        return [person_id for person_id, member in self.there.items() if member.left_at is None]


@operation(On.STUDY, READERS)
def amendments_of(db: Database, _actor: Actor, study_id: int) -> list[AmendmentRow]:
    """The study's amendments, oldest first."""
    with db.read() as session:
        rows = amendments_by_study(session, [study_id])[study_id]
        people = {row.person_id for row in rows if row.person_id is not None}
        for row in rows:
            people |= set(row.before or []) | set(row.after or []) if row.what == "annotators" else set()
            people |= {int(person) for person in (*row.before, *row.after)} if row.what in OF_PEOPLE else set()
        names = names_of(session, people)

        def value(row: Amendment, given: Any) -> Any:
            if row.what in OF_PEOPLE:
                return {names[int(person_id)]: quota for person_id, quota in given.items()}
            return [names[person_id] for person_id in given] if row.what == "annotators" else given

        return [
            AmendmentRow(
                row.created_at,
                None if row.person_id is None else names[row.person_id],
                row.what,
                value(row, row.before),
                value(row, row.after),
                row.reason,
            )
            for row in rows
        ]


def amendments_by_study(session: Session, study_ids: Sequence[int]) -> dict[int, list[Amendment]]:
    """Study → its amendments, oldest first, as this session sees the database."""
    found: dict[int, list[Amendment]] = {study_id: [] for study_id in study_ids}
    query = select(Amendment).where(col(Amendment.study_id).in_(study_ids)).order_by(col(Amendment.id))
    for row in session.exec(query):
        found[row.study_id].append(row)
    return found


@operation(On.STUDY, RESEARCHERS)
def set_state(db: Database, actor: Actor, study_id: int, *, state: StudyState, reason: str) -> bool:
    """Pause, close or start a study again; False where it is in that state already.

    Paused and closed, nobody gets items. What is submitted all the same is stored: it counts in a paused study, and is
    surplus in a closed one; where that is started again, it comes back to who submitted it. Raises InvalidInput without
    a reason, Conflict for pausing a study that is closed.
    """
    why = stated_reason(reason)
    with db.write() as session:
        team = lock_team(session, study_id)
        study = locked_study(session, study_id)
        if study.state == state:
            return False
        if study.state == StudyState.CLOSED and state == StudyState.PAUSED:
            raise Conflict(f"Study {study.name!r} is closed, so that there is nothing to pause. Start it again first.")
        add_amendment(session, actor, study, what="state", before=study.state, after=state.value, reason=why)
        reopened, study.state = study.state == StudyState.CLOSED, state.value
        if state == StudyState.RUNNING:
            _take_guests_back(session, study)
        if reopened:
            _ask_late_again(session, study, team)
        record(
            session, actor, f"study {_LEADS_TO[state]}", "study", study_id,
            project_id=study.project_id, details={"reason": why},
        )  # fmt: skip
        return True


def _take_guests_back(session: Session, study: Study) -> None:
    """Give a study that goes on those from outside back who ended only because it gave nobody any items."""
    ended = (
        select(OutsideAnnotator, StudyMember)
        .join(Invitation, col(Invitation.id) == col(OutsideAnnotator.invitation_id))
        .join(StudyMember, col(StudyMember.person_id) == col(OutsideAnnotator.person_id))
        .where(Invitation.study_id == study.id, StudyMember.study_id == study.id)
        .where(OutsideAnnotator.outcome == "failed", col(StudyMember.left_at) == col(OutsideAnnotator.ended_at))
    )
    for outside, place in session.exec(ended).all():
        outside.outcome = outside.ended_at = place.left_at = None
        session.add_all((outside, place))


_SUBMITTED_LATE = (
    "You submitted this while the study was closed, so that it did not count. Submit it again, and it does."
)


def _ask_late_again(session: Session, study: Study, team: _Team) -> None:
    """Give back what was submitted since the study was closed: who has had an item is never given a slot of it anew.

    The slot that was surplus is its annotator's again, with their labels filled in; of who is in the study no more, it
    is open to others.
    """
    assert study.id is not None
    session.flush()
    closed_at = max(
        (
            row.created_at
            for row in amendments_by_study(session, [study.id])[study.id]
            if row.after == StudyState.CLOSED
        ),
        default=None,
    )
    if closed_at is None:
        return
    connection, counts = session.connection(), Tallies(study.id)
    late = (
        select(Assignment)
        .where(Assignment.study_id == study.id, Assignment.kind == "slot")
        .where(Assignment.state == AssignmentState.SURPLUS, col(Assignment.ended_at) >= closed_at)
        .order_by(col(Assignment.ended_at), col(Assignment.id))
        .with_for_update()
    )
    for row in session.exec(late).all():
        if is_discarded(connection, row.study_item_id):
            continue
        lacks = lacks_slots(connection, study, row.study_item_id)
        member = team.there.get(row.person_id or 0)
        if member is None or member.left_at is not None or member.left_out_from is not None:
            if lacks:
                reopen_slot(connection, study, row.study_item_id, counts)
            continue
        if not lacks:
            if not take_open_slot(connection, row.study_item_id, row.person_id):
                continue
            counts.move(AssignmentState.OPEN, None)
        row.state, row.reason = AssignmentState.RETURNED, _SUBMITTED_LATE
        row.sitting, row.steps_done = row.sitting + 1, first_step(connection, study, row.study_item_id)
        session.add(row)
        session.flush()
        counts.move(AssignmentState.SURPLUS, AssignmentState.RETURNED, row.person_id)
    session.refresh(study, ["next_queue"])  # slots that were opened have moved it
    counts.write(connection)


@operation(On.STUDY, RESEARCHERS)
def amend_study(db: Database, actor: Actor, study_id: int, *, change: StudyChange, reason: str) -> list[str]:
    """Change a study that is under way; what was changed, in words.

    A higher overlap gives each item as many more slots, at the end of the queue; a lower one takes open slots away,
    while what somebody has at hand or has submitted counts. Items are settled, or wait again, as they then stand. Who
    is removed gives back what they have not submitted; what they submitted stands.

    Raises InvalidInput for a change that could not be carried out (more overlap than annotators, somebody who may not
    annotate here or is no annotator of the study, a deadline that has passed), or that changes nothing; Conflict for a
    study that is closed.
    """
    with db.write() as session:
        return amend_in(session, actor, study_id, change=change, reason=reason)


def amend_in(session: Session, actor: Actor, study_id: int, *, change: StudyChange, reason: str) -> list[str]:
    """As `amend_study`, in the caller's transaction."""
    why = stated_reason(reason)
    team = lock_team(session, study_id)
    study = amended_study(session, study_id)
    team_before = set(team.active)
    words = [
        *_change_team(session, actor, study, team, change=change, reason=why),
        *_change_overlap(session, actor, study, change=change, reason=why),
        *_share_out(session, actor, study, before=team_before, change=change, reason=why),
        *_change_deadline(session, actor, study, change=change, reason=why),
        *_change_quotas(session, actor, study, change=change, reason=why),
        *_change_own_figures(session, actor, study, change=change, reason=why),
    ]
    if not words:
        raise InvalidInput(
            "Nothing would change. Give an overlap, annotators, a deadline, a quota or own figures that differ."
        )
    _check_quotas(session, study)
    n_active = max(len(lock_team(session, study_id).active), int(study.settings.get("outside", 0)))
    check_overlap(max(study.overlap, study.settings.get("part_overlap", 0)), n_active, what="are left")
    # Whoever is named in what was changed is of the team, or was.
    team_of_study = select(StudyMember.person_id).where(StudyMember.study_id == study_id)
    accounts = select(Account.name, Account.person_id).where(col(Account.person_id).in_(team_of_study))
    numbers = dict(session.exec(accounts).all())
    record(
        session, actor, AMENDED, "study", study_id,
        project_id=study.project_id, details={"changes": by_number(words, numbers), "reason": why},
    )  # fmt: skip
    return words


def stated_reason(reason: str) -> str:
    """The reason as it is kept; InvalidInput where there is none."""
    if not (why := reason.strip()):
        raise InvalidInput("Say why the study is changed: the reason is kept, and stands in its exports.")
    return why[:2000]


def lock_team(session: Session, study_id: int) -> _Team:
    """The study's annotators, locked, so that nobody gets or submits work meanwhile."""
    query = select(StudyMember).where(StudyMember.study_id == study_id).order_by(col(StudyMember.person_id))
    return _Team({member.person_id: member for member in session.exec(query.with_for_update())})


def locked_study(session: Session, study_id: int) -> Study:
    """The study's row, locked; to be asked for after `lock_team`."""
    return session.get_one(Study, study_id, with_for_update=True)


def amended_study(session: Session, study_id: int) -> Study:
    """As `locked_study`, of a study that can be amended; Conflict where it is closed, or has labels made elsewhere."""
    study = locked_study(session, study_id)
    if study.state == StudyState.CLOSED:
        raise Conflict(f"Study {study.name!r} is closed, and stays as it is. Start it again to amend it.")
    if study.settings.get("foreign"):
        raise Conflict(f"The labels of study {study.name!r} were made elsewhere: nobody is given its items.")
    return study


def add_amendment(
    session: Session, actor: Actor, study: Study, *, what: str, before: Any, after: Any, reason: str
) -> None:
    """Keep an amendment of a study that is locked."""
    assert study.id is not None
    session.add(
        Amendment(study_id=study.id, what=what, before=before, after=after, reason=reason, person_id=actor.person_id)
    )
    study.amended += 1
    session.add(study)


# The team -------------------------------------------------------------------------------------------------------------


def _change_team(
    session: Session, actor: Actor, study: Study, team: _Team, *, change: StudyChange, reason: str
) -> list[str]:
    assert study.id is not None
    if both := set(change.add) & set(change.remove):
        raise InvalidInput(f"{sorted(both)[0]!r} is both added and removed. Name them once.")
    before, let_go_on = team.active, list[str]()
    for name in dict.fromkeys(change.add):
        person_id = person_who_may_annotate(session, study.project_id, name)
        member = team.there.get(person_id)
        if member is not None and member.left_at is None and member.paused_at is None:
            raise InvalidInput(f"{name!r} is an annotator of the study already. Leave them out.")
        if (standing := standing_of(session, study, person_id)) is not None and standing.declined:
            raise Conflict(f"{name!r} declined to take part, and is not asked again. Leave them out.")
        if member is None:
            _check_arm(session, study, person_id, name)
            quota = study.settings.get("quota")
            member = team.there[person_id] = StudyMember(study_id=study.id, person_id=person_id, quota=quota)
        if member.paused_at is not None and member.left_at is None:
            let_go_on.append(name)
        member.left_at = member.paused_at = None
        session.add(member)
    counts = Tallies(study.id)
    for name in dict.fromkeys(change.remove):
        found = session.exec(select(Account.person_id).where(Account.name == name)).first()
        if found is None or found not in before:
            there = ", ".join(sorted(names_of(session, set(before)).values())) or "nobody"
            raise NotFound(f"{name!r} is no annotator of the study. Annotators: {there}.")
        team.there[found].left_at = now()
        session.add(team.there[found])
        give_back(session.connection(), study, found, counts)
    session.flush()
    counts.write(session.connection())
    after = team.active
    if set(after) == set(before) and not let_go_on:
        return []
    add_amendment(session, actor, study, what="annotators", before=before, after=after, reason=reason)
    return [
        *(f"{name} {'goes on' if name in let_go_on else 'joined'}" for name in dict.fromkeys(change.add)),
        *(f"{name} left" for name in dict.fromkeys(change.remove)),
    ]


def _check_arm(session: Session, study: Study, person_id: int, name: str) -> None:
    """InvalidInput for somebody who was dealt to another arm, where people are dealt out to arms."""
    arm = study.settings.get("arm")
    if arm is None or arm["allot"] != PEOPLE:
        return
    rows = select(Study).join(StudyMember, col(StudyMember.study_id) == col(Study.id))
    for other in session.exec(rows.where(StudyMember.person_id == person_id, Study.project_id == study.project_id)):
        theirs = other.settings.get("arm")
        if theirs is not None and theirs["first"] == arm["first"]:
            raise InvalidInput(
                f"{name!r} is of another arm ({other.name}): who has seen one may not be in another. Add somebody else."
            )


# The overlap ----------------------------------------------------------------------------------------------------------

_PLACES = text(
    "SELECT x.id FROM study_item x WHERE x.study_id = :study AND x.purpose IN ('sample', 'recheck') ORDER BY x.id"
)
_LABELLED = text("SELECT z.study_item_id FROM settlement z WHERE z.study_id = :study ORDER BY z.study_item_id")


def _change_overlap(session: Session, actor: Actor, study: Study, *, change: StudyChange, reason: str) -> list[str]:
    """Items with labels are settled, or wait again, as they then stand; then slots are opened and taken away."""
    assert study.id is not None
    before, after = study.overlap, change.overlap
    if after is None or after == before:
        return []
    if after < 1:
        raise InvalidInput(f"An overlap of {after} gives nobody an item. Give at least 1, or close the study.")
    study.overlap = after
    add_amendment(session, actor, study, what="overlap", before=before, after=after, reason=reason)
    session.flush()
    connection, counts = session.connection(), Tallies(study.id)
    labelled = list(connection.execute(_LABELLED, {"study": study.id}).scalars())
    update_settlements(connection, study, protocol_of(study), labelled, counts)
    fill(connection, study, list(connection.execute(_PLACES, {"study": study.id}).scalars()), counts)
    counts.write(connection)
    session.refresh(study, ["next_queue"])  # slots that were opened have moved it
    return [f"overlap {before} → {after}"]


# The deadline ---------------------------------------------------------------------------------------------------------


def _change_deadline(session: Session, actor: Actor, study: Study, *, change: StudyChange, reason: str) -> list[str]:
    if change.deadline is not None and change.no_deadline:
        raise InvalidInput("A deadline is both given and taken away. Leave one of them out.")
    wanted = None if change.deadline is None else change.deadline.astimezone(UTC)
    if wanted == study.deadline or (wanted is None and not change.no_deadline):
        return []
    if wanted is not None and wanted <= now():
        raise InvalidInput(f"The deadline {change.deadline:%Y-%m-%d %H:%M} has passed. Give a later one, or pause.")
    before, after = (None if at is None else at.isoformat() for at in (study.deadline, wanted))
    study.deadline = wanted
    if study.state == StudyState.RUNNING:
        _take_guests_back(session, study)
    add_amendment(session, actor, study, what="deadline", before=before, after=after, reason=reason)
    return [f"deadline {'taken away' if change.deadline is None else f'{change.deadline:%Y-%m-%d %H:%M}'}"]


# Quotas ---------------------------------------------------------------------------------------------------------------


def _change_quotas(session: Session, actor: Actor, study: Study, *, change: StudyChange, reason: str) -> list[str]:
    asked = change.quota is not None or change.quotas
    if asked and is_balanced(study):
        raise InvalidInput(f"The items of study {study.name!r} are allotted beforehand: it has no place for quotas.")
    if change.quota is not None and change.no_quota:
        raise InvalidInput("A quota is both given and taken away. Leave one of them out.")
    team = lock_team(session, study.id or 0)
    names = names_of(session, set(team.active))
    people = {name: team.there[person_id] for person_id, name in names.items()}
    if stranger := next((name for name in change.quotas if name not in people), None):
        there = ", ".join(sorted(people)) or "nobody"
        raise NotFound(f"{stranger!r} is no annotator of the study. Annotators: {there}.")
    for quota in (change.quota, *change.quotas.values()):
        if quota is not None and quota < 1:
            raise InvalidInput(f"A quota of {quota} gives nobody an item. Give at least 1, or none.")
    before = {name: member.quota for name, member in people.items()}
    general = change.quota is not None or change.no_quota
    after = {name: change.quotas.get(name, change.quota if general else quota) for name, quota in before.items()}
    of_all = change.quota if general else study.settings.get("quota")
    if before == after and of_all == study.settings.get("quota"):
        return []
    for name, quota in after.items():
        people[name].quota = quota
        session.add(people[name])
    study.settings = {name: value for name, value in study.settings.items() if name != "quota"} | (
        {} if of_all is None else {"quota": of_all}
    )
    of_person = {name: str(member.person_id) for name, member in people.items()}
    changed = [name for name in before if before[name] != after[name]]
    add_amendment(
        session, actor, study, what="quota", reason=reason,
        before={of_person[name]: before[name] for name in changed},
        after={of_person[name]: after[name] for name in changed},
    )  # fmt: skip
    if general and not change.quotas:
        return [f"quota {'taken away' if of_all is None else of_all}"]
    return [f"quota of {name} {'taken away' if after[name] is None else after[name]}" for name in changed]


def _change_own_figures(session: Session, actor: Actor, study: Study, *, change: StudyChange, reason: str) -> list[str]:
    before, after = study.settings.get("own_figures", PROGRESS), change.own_figures
    if after is None or after == before:
        return []
    if after not in OWN_FIGURES:
        raise InvalidInput(f"{after!r} says not what annotators see of their figures. Known: {', '.join(OWN_FIGURES)}.")
    study.settings = {**study.settings, "own_figures": after}
    add_amendment(session, actor, study, what="own_figures", before=before, after=after, reason=reason)
    return [f"own figures {before} → {after}"]


def _check_quotas(session: Session, study: Study) -> None:
    """InvalidInput where the quotas of those who annotate leave slots open, while there are any."""
    team = lock_team(session, study.id or 0)
    if not team.active or int(study.settings.get("outside", 0)):
        return
    can = 0
    for person_id in team.active:
        quota = team.there[person_id].quota
        if quota is None:
            return
        can += max(0, quota - tallies.done(tallies.counts(session, study.id or 0, person_id)))
    counts = tallies.counts(session, study.id or 0)
    wanted = sum(counts.get(state, 0) for state in _UNFINISHED)
    if can < wanted:
        raise InvalidInput(
            f"{wanted:,} annotations are still wanted, and the quotas of those who are left allow {can:,}. Raise the "
            "quotas in the same amendment, add annotators, or lower the overlap."
        )


# Slots that are allotted ----------------------------------------------------------------------------------------------


def _share_out(
    session: Session, actor: Actor, study: Study, *, before: set[int], change: StudyChange, reason: str
) -> list[str]:
    """Where slots are allotted to people, hand on those of who left or is named; newcomers take over their part."""
    if not is_balanced(study):
        if change.hand_on:
            raise InvalidInput(f"Nothing of study {study.name!r} is allotted to anybody: there is nothing to hand on.")
        return []
    assert study.id is not None
    session.flush()
    session.refresh(study, ["next_queue"])
    team, connection = lock_team(session, study.id), session.connection()
    names = names_of(session, set(team.there))
    by_name = {name: person_id for person_id, name in names.items()}
    waiting = waiting_by_person(connection, study.id)
    if stranger := next((name for name in change.hand_on if name not in by_name), None):
        raise NotFound(f"{stranger!r} was never an annotator of the study. Those were: {', '.join(sorted(by_name))}.")
    of = {by_name[name] for name in change.hand_on}
    counts = Tallies(study.id)
    for person_id in of:
        give_back(connection, study, person_id, counts)
    counts.write(connection)
    session.refresh(study, ["next_queue"])
    newcomers = set(team.active) - before
    if not of and set(team.active) == before and change.overlap is None:
        return []
    moved = share_out(connection, study, of=of, newcomers=newcomers)
    session.add(study)
    if not moved:
        return []
    after = waiting_by_person(connection, study.id)
    add_amendment(
        session, actor, study, what="slots", reason=reason,
        before={str(person): n for person, n in waiting.items()}, after={str(person): n for person, n in after.items()},
    )  # fmt: skip
    return [f"{moved:,} {'slot' if moved == 1 else 'slots'} handed on"]
