"""Qualification for a study: its items with right labels, who has passed, and who is let in all the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from sqlalchemy import update
from sqlmodel import col, select

from annotators.asking.qualifying import Qualifying
from annotators.errors import Conflict, InvalidInput, NotFound, Problem
from db.annotating.amendments import add_amendment, amended_study, lock_team, locked_study, stated_reason
from db.annotating.qualifying import tries_by_person
from db.engine import Database
from db.models import Account, AnnotationKind, Assignment, AssignmentState, Purpose, Study, StudyMember, now
from db.people.accounts import names_of
from db.permissions import RESEARCHERS, Actor, On, operation, record
from db.quality.gold import GoldRow, add_known_items, possible_rows


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
class QualificationOf:
    """How somebody stands: `open`, `passed`, `failed`; tries begun, and right of so many labels of the latest one."""

    person_id: int
    name: str
    state: str
    tries: int
    right: int
    labels: int

    def to_json(self) -> dict[str, Any]:
        """As `assay annotators --json` prints it."""
        return {"state": self.state, "tries": self.tries, "right": self.right, "labels": self.labels}


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
            raise Conflict(f"{annotator!r} has passed the qualification already.")
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
        record(session, actor, "annotator let in", "study", study_id, project_id=study.project_id, details=details)


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
        tried = tries_by_person(session, study)
        return [
            QualificationOf(
                member.person_id,
                names[member.person_id],
                "passed" if member.qualified_at else "failed" if member.failed_at else "open",
                *tried.get(member.person_id, (0, 0, 0)),
            )
            for member in members
        ]
