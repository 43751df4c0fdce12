"""Qualification for a study: its items with right labels, who has passed, and who is let in all the same."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from sqlalchemy import update
from sqlmodel import Session, col, select

from annotators.asking.qualifying import Qualifying
from annotators.errors import Conflict, InvalidInput, NotFound, Problem
from annotators.figures import count
from db.annotating.amendments import add_amendment, amended_study, lock_team, locked_study, stated_reason
from db.annotating.qualifying import tries_by_person
from db.engine import Database
from db.models import Account, AnnotationKind, Assignment, AssignmentState, Event, Purpose, Study, StudyMember, now
from db.people.accounts import names_of
from db.permissions import RESEARCHERS, Actor, On, operation, record
from db.quality.gold import GoldRow, add_known_items, possible_rows

_LET_IN = "annotator let in"
"""The kind of event that says of somebody that they were let in."""


@dataclass(frozen=True)
class QualificationSet:
    """What `set_qualification` has done: items and labels that it added, and what the study asks of annotators now."""

    added: int
    labels: int
    qualifying: Qualifying

    def to_json(self) -> dict[str, Any]:
        """As `assay study qualify --json` prints it."""
        return {"added": self.added, "labels": self.labels, **self.qualifying.to_settings()}


@dataclass(frozen=True)
class LetIn:
    """That somebody was let in without passing: by whom, why, when."""

    by: str
    reason: str
    at: datetime

    def to_json(self) -> dict[str, Any]:
        """As `assay annotators --json` prints it."""
        return {"by": self.by, "reason": self.reason, "at": self.at.isoformat()}


@dataclass(frozen=True)
class QualificationOf:
    """How somebody stands: `open`, `passed`, `failed`, `let_in`; tries begun, right of the labels of the latest.

    `let_in` says by whom and why, where they did not pass.
    """

    person_id: int
    name: str
    state: str
    tries: int
    right: int
    labels: int
    let_in: LetIn | None = None

    @property
    def may_be_let_in(self) -> bool:
        """Whether they get none of the study's items until they pass or are let in."""
        return self.state in ("open", "failed")

    def in_words(self) -> str:
        """`passed: 21 of 24 right, 1 try`, `let in by eve: they asked (1 of 4 right, 2 tries)`, `not begun`."""
        tried = f"{self.right:,} of {self.labels:,} right, {count(self.tries, 'try', 'tries')}" if self.tries else ""
        if self.let_in is not None:
            return f"let in by {self.let_in.by}: {self.let_in.reason}" + (f" ({tried})" if tried else "")
        if self.state == "open":
            return f"under way: {tried}" if tried else "not begun"
        return f"{self.state}: {tried}" if tried else self.state

    def to_json(self) -> dict[str, Any]:
        """As `assay annotators --json` prints it."""
        let_in = {} if self.let_in is None else {"let_in": self.let_in.to_json()}
        return {"state": self.state, "tries": self.tries, "right": self.right, "labels": self.labels, **let_in}


@operation(On.STUDY, RESEARCHERS)
def set_qualification(
    db: Database,
    actor: Actor,
    study_id: int,
    *,
    rows: Sequence[GoldRow] = (),
    mark: float | None = None,
    tries: int | None = None,
    reason: str,
    problems: Sequence[Problem] = (),
    where_possible: bool = False,
) -> QualificationSet:
    """Ask annotators to qualify: items with right labels and explanations, the share that has to be right, the tries.

    `where_possible`: rows about items that the project lacks, or that are in the study already, are left out, and
    not refused as long as some are left.

    An amendment, as the study may be under way: who has not passed gets none of its items from then on, those who
    annotate in it already as well. Raises InvalidInput with all that is wrong, Conflict for a study that is closed or
    whose labels were made elsewhere.
    """
    why = stated_reason(reason)
    with db.write() as session:
        lock_team(session, study_id)
        study = amended_study(session, study_id)
        if where_possible and not (rows := possible_rows(session, study, rows)):
            raise InvalidInput(
                "None of these items can be added: the project lacks them, or they are in the study already. Take "
                "items for the study that leave some to qualify by."
            )
        added, labels = add_known_items(session, study, rows, problems, Purpose.QUALIFICATION)
        before = Qualifying.of(study.settings)
        after = replace(
            before,
            items=before.items + added,
            mark=before.mark if mark is None else mark,
            tries=before.tries if tries is None else tries,
        )
        after.check()
        if after == before:
            raise InvalidInput("Nothing would change. Give a file with items, or a mark or tries that differ.")
        study.settings = {**study.settings, "qualifying": after.to_settings()}
        add_amendment(
            session, actor, study,
            what="qualification", before=before.to_settings(), after=after.to_settings(), reason=why,
        )  # fmt: skip
        details = {"changes": [f"{added:,} qualification items"], "reason": why, **after.to_settings()}
        record(session, actor, "study amended", "study", study_id, project_id=study.project_id, details=details)
        return QualificationSet(added, labels, after)


@operation(On.STUDY, RESEARCHERS)
def let_in(db: Database, actor: Actor, study_id: int, *, annotator: str, reason: str) -> None:
    """Let somebody who has not passed the qualification have the study's items; the reason is in the audit log.

    Raises InvalidInput without a reason, NotFound for somebody who is no annotator of the study, Conflict where there
    is no qualification or they have passed it.
    """
    if not (why := reason.strip()[:2000]):
        raise InvalidInput("Say why: the reason is kept in the audit log.")
    with db.write() as session:
        team = lock_team(session, study_id).there
        study = locked_study(session, study_id)
        found = session.exec(select(Account.person_id).where(Account.name == annotator)).first()
        if found is None or found not in team:
            there = ", ".join(sorted(names_of(session, set(team)).values())) or "nobody"
            raise NotFound(f"{annotator!r} is no annotator of the study. Annotators: {there}.")
        member = team[found]
        if not Qualifying.of(study.settings).items:
            raise Conflict(
                f"Study {study.name!r} asks for no qualification: there is nothing to let {annotator!r} into."
            )
        if member.qualified_at is not None:
            raise Conflict(f"{annotator!r} gets the study's items already: they passed, or were let in.")
        member.qualified_at, member.failed_at = now(), None
        session.add(member)
        begun = update(Assignment).where(
            col(Assignment.study_id) == study_id,
            col(Assignment.person_id) == found,
            col(Assignment.kind) == AnnotationKind.QUALIFICATION,
            col(Assignment.state) == AssignmentState.LEASED,
        )
        session.execute(begun.values(state=AssignmentState.EXPIRED.value))
        details = {"person": found, "reason": why}
        record(session, actor, _LET_IN, "study", study_id, project_id=study.project_id, details=details)


@operation(On.STUDY, RESEARCHERS)
def qualifications(db: Database, _actor: Actor, study_id: int) -> list[QualificationOf]:
    """How every annotator stands, by person; empty where the study asks for no qualification."""
    with db.read() as session:
        study = session.get_one(Study, study_id)
        if not Qualifying.of(study.settings).items:
            return []
        query = select(StudyMember).where(StudyMember.study_id == study_id).order_by(col(StudyMember.person_id))
        members = session.exec(query).all()
        names = names_of(session, [member.person_id for member in members])
        tried, let_in_so = tries_by_person(session, study), _let_in(session, study_id)
        return [
            QualificationOf(
                member.person_id,
                names[member.person_id],
                _state(member, let_in_so),
                *tried.get(member.person_id, (0, 0, 0)),
                let_in_so.get(member.person_id),
            )
            for member in members
        ]


def _state(member: StudyMember, let_in_so: Mapping[int, LetIn]) -> str:
    if member.qualified_at is None:
        return "failed" if member.failed_at else "open"
    return "let_in" if member.person_id in let_in_so else "passed"


def _let_in(session: Session, study_id: int) -> dict[int, LetIn]:
    """Person → that they were let in, as the audit log has it: nobody who passed is."""
    rows = session.exec(
        select(Event)
        .where(Event.thing == "study", Event.thing_id == study_id, Event.kind == _LET_IN)
        .order_by(col(Event.id))
    ).all()
    names = names_of(session, {row.person_id for row in rows if row.person_id is not None})
    return {row.details["person"]: LetIn(names[row.person_id or 0], row.details["reason"], row.at) for row in rows}
