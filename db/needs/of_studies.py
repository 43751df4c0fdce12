"""What studies need their researchers for: of one study, and of all of somebody's at once, as Home shows it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from sqlmodel import Session, col, select

from db.engine import Database
from db.models import Project, Study, StudyMember, Tally
from db.needs import items, people, slots
from db.needs.base import Facts, Kind, Need
from db.people.accounts import names_of
from db.permissions import READERS, RESEARCHERS, Actor, On, operation, role_in, roles_of
from db.query import pick

KINDS: tuple[Kind, ...] = (*people.KINDS, *slots.KINDS, *items.KINDS)
"""Everything for which a person or an item waits for the researcher of a study. The order is that of telling."""


@operation(On.STUDY, READERS)
def needs_of(db: Database, actor: Actor, study_id: int) -> list[Need]:
    """What the study needs its researcher for, each with what ends it; for others than researchers nothing."""
    with db.read() as session:
        study = session.get_one(Study, study_id)
        if role_in(session, actor.person_id, study.project_id) not in RESEARCHERS:
            return []
        return _found(session, [study])[study_id]


@operation(On.APP, anyone_signed_in=True)
def my_needs(db: Database, actor: Actor, *, besides: Sequence[str] = ()) -> dict[int, list[Need]]:
    """Study → what it needs its researcher for, of the studies whose researcher the actor is; without the others.

    Only kept counts are read of a study of which nothing waits, so that it costs little with many studies. `besides`
    are kinds that are not asked for.
    """
    with db.read() as session:
        roles = roles_of(session, actor.person_id)
        studies = session.exec(select(Study).order_by(col(Study.id)))
        mine = [study for study in studies if roles.of(study.project_id) in RESEARCHERS]
        return {study_id: found for study_id, found in _found(session, mine, besides).items() if found}


def _found(session: Session, studies: Sequence[Study], besides: Sequence[str] = ()) -> dict[int, list[Need]]:
    ids = [study.id or 0 for study in studies]
    members: dict[int, list[StudyMember]] = defaultdict(list)
    for member in session.exec(
        select(StudyMember).where(col(StudyMember.study_id).in_(ids)).order_by(col(StudyMember.person_id))
    ):
        members[member.study_id].append(member)
    counts: dict[int, dict[int, dict[str, int]]] = defaultdict(lambda: defaultdict(dict))
    rows = pick(Tally.study_id, Tally.person_id, Tally.state, Tally.n).where(col(Tally.study_id).in_(ids))
    for study_id, person_id, state, n in session.execute(rows):
        counts[study_id][person_id][state] = n
    names = names_of(session, {member.person_id for team in members.values() for member in team})
    projects = {row.id: row.name for row in session.execute(pick(Project.id, Project.name))}
    strict: dict[int, set[int]] = defaultdict(set)
    designs = pick(Study.id, Study.project_id, Study.settings)
    designs = designs.where(col(Study.project_id).in_({study.project_id for study in studies}))
    for study_id, project_id, settings in session.execute(designs):
        if settings.get("separate_revisers"):
            strict[project_id].add(study_id)
    found = {}
    for study in studies:
        of = study.id or 0
        project = study.project_id
        facts = Facts(session, study, projects[project], members[of], names, counts[of], strict[project])
        needs = (kind.find(facts) for kind in KINDS if kind.name not in besides)
        found[of] = [need for need in needs if need is not None]
    return found
