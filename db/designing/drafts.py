"""Drafts of studies: designs that can be changed and deleted, and that nobody gets items of, until they are started."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session, col, select

from annotators.designing.design import StudyDesign
from annotators.errors import Conflict
from annotators.protocols import Protocol
from db.designing.making import create_in, design_checked
from db.engine import Database
from db.models import Study, StudyDraft, now
from db.names import no_study
from db.people.accounts import names_of
from db.permissions import IN_STUDIES, READERS, RESEARCHERS, Actor, On, operation, record, role_in
from db.studies.design import StudyMade, StudyPlan, people_of

_QUOTAS = "quotas_by_person"
"""Under which a draft keeps the quotas of single annotators."""


@dataclass(frozen=True)
class DraftOfStudy:
    """A draft: its id, the protocol as it was chosen, the design, by whom and when it was changed last."""

    draft_id: int
    project_id: int
    protocol: Protocol
    design: StudyDesign
    by: str | None
    changed_at: datetime


@operation(On.PROJECT, RESEARCHERS)
def save_draft(
    db: Database, actor: Actor, project_id: int, *, protocol: Protocol, design: StudyDesign, instead_of: str = ""
) -> StudyPlan:
    """Keep a design as a draft; what it would make now. A draft of its name, or `instead_of`, is changed by it.

    Raises what `create_study` would raise, and Conflict for the name of a study that was started.
    """
    with db.write() as session:
        plan = design_checked(session, actor, project_id, protocol, design, drafts=True)
        names = {instead_of.strip() or design.name.strip(), design.name.strip()}
        there = {draft.name: draft for draft in _drafts(session, project_id) if draft.name in names}
        if len(there) > 1:
            raise Conflict(f"The project has a draft named {design.name!r} already. Choose another name.")
        draft = next(iter(there.values()), None) or StudyDraft(project_id=project_id, name="")
        did = "study draft made" if draft.id is None else "study draft changed"
        team = people_of(session, project_id, design)
        numbers = dict(zip(design.annotators, team, strict=True))
        kept = design.model_copy(update={"name": design.name.strip(), "protocol": protocol.name})
        said = kept.model_dump(mode="json", exclude={"annotators", "quotas"}, exclude_defaults=True)
        if design.quotas:  # by numbers, so that no name outlives its account
            said[_QUOTAS] = {str(numbers[name]): quota for name, quota in design.quotas.items()}
        draft.name, draft.protocol = kept.name, protocol.model_dump(mode="json")
        draft.design, draft.team = said, team  # whole, as a change within is not seen
        draft.changed_by, draft.changed_at = actor.person_id, now()
        session.add(draft)
        session.flush()
        details = {"name": draft.name, "protocol": protocol.name}
        record(session, actor, did, "study draft", draft.id, project_id=project_id, details=details)
        return plan


@operation(On.PROJECT, IN_STUDIES)
def drafts_of(db: Database, actor: Actor, project_id: int) -> list[DraftOfStudy]:
    """The project's drafts, oldest first; annotators see none."""
    with db.read() as session:
        if role_in(session, actor.person_id, project_id) not in READERS:
            return []
        rows = _drafts(session, project_id)
        people = {person_id for row in rows for person_id in (*row.team, row.changed_by)}
        names = names_of(session, {person_id for person_id in people if person_id is not None})
        return [_read(row, names) for row in rows]


@operation(On.PROJECT, IN_STUDIES)
def find_draft(db: Database, actor: Actor, project_id: int, *, name: str) -> DraftOfStudy | None:
    """The draft of this name, None where there is none."""
    return next((draft for draft in drafts_of(db, actor, project_id) if draft.design.name == name), None)


@operation(On.PROJECT, RESEARCHERS)
def start_draft(db: Database, actor: Actor, project_id: int, *, name: str) -> StudyMade:
    """Freeze a draft into a study, as `create_study` does; it is a draft no more. Raises what that raises."""
    with db.write() as session:
        draft = _named(session, project_id, name)
        found = _read(draft, names_of(session, set(draft.team)))
        made = create_in(session, actor, project_id, protocol=found.protocol, design=found.design, of_draft=True)
        session.delete(draft)
        return made


@operation(On.PROJECT, RESEARCHERS)
def delete_draft(db: Database, actor: Actor, project_id: int, *, name: str) -> None:
    """Delete a draft. Raises Conflict for a study that was started: it stays, and can be closed."""
    with db.write() as session:
        draft = _named(session, project_id, name)
        details = {"name": draft.name}
        record(session, actor, "study draft deleted", "study draft", draft.id, project_id=project_id, details=details)
        session.delete(draft)


def _drafts(session: Session, project_id: int) -> list[StudyDraft]:
    query = select(StudyDraft).where(StudyDraft.project_id == project_id).order_by(col(StudyDraft.id))
    return list(session.exec(query))


def _named(session: Session, project_id: int, name: str) -> StudyDraft:
    drafts = {draft.name: draft for draft in _drafts(session, project_id)}
    if name in drafts:
        return drafts[name]
    states = dict(session.exec(select(Study.name, Study.state).where(Study.project_id == project_id)).all())
    if name in states:
        raise Conflict(
            f"Study {name!r} is {states[name]}, and no draft: what people have submitted is never deleted. Close it "
            "instead."
        )
    raise no_study(name, [*drafts, *states])


def _read(draft: StudyDraft, names: dict[int, str]) -> DraftOfStudy:
    team = tuple(names[person_id] for person_id in draft.team)
    design = {name: value for name, value in draft.design.items() if name != _QUOTAS}
    if quotas := draft.design.get(_QUOTAS):
        design["quotas"] = {names[int(number)]: quota for number, quota in quotas.items()}
    return DraftOfStudy(
        draft.id or 0,
        draft.project_id,
        Protocol.model_validate(draft.protocol),
        StudyDesign.model_validate({**design, "annotators": team}),
        None if draft.changed_by is None else names.get(draft.changed_by),
        draft.changed_at,
    )
