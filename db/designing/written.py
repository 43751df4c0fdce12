"""The design of a study that is there, as it could be made again."""

from __future__ import annotations

from dataclasses import dataclass

from sqlmodel import Session, col, select

from annotators.designing.design import StudyDesign
from annotators.errors import NotFound
from annotators.protocols import Protocol
from db.engine import Database
from db.models import Study, StudyMember
from db.people.accounts import names_of
from db.permissions import READERS, Actor, On, operation
from db.studies.design import protocol_of
from db.studies.library import protocol_in

_IN_SETTINGS = (
    *("items", "where", "with_documents", "one_per_question", "pairs", "sample", "per"),
    *(
        "order_score",
        "order_first",
        "drawn_with",
        "not_drawn_from",
        "draw_seed",
        "show_names",
        "allow_own_adjudication",
    ),
    "separate_revisers",
    *("adjudication", "review_agreed", "talk", "ask", "outside", "part", "part_overlap", "most_overlap"),
)


@dataclass(frozen=True)
class WrittenDesign:
    """A study's design as it is now; `protocol` is its own where nothing of this name says the same any more."""

    design: StudyDesign
    protocol: Protocol | None


@operation(On.STUDY, READERS)
def written_design(db: Database, _actor: Actor, study_id: int) -> WrittenDesign:
    """The design by which the study, as it is now, can be made again."""
    with db.read() as session:
        study = session.get_one(Study, study_id)
        members = select(StudyMember.person_id).where(StudyMember.study_id == study_id)
        team = session.exec(
            members.where(col(StudyMember.left_at).is_(None)).order_by(col(StudyMember.person_id))
        ).all()
        names = names_of(session, set(team))
        named = _name_of_protocol(session, study)
        design = StudyDesign(
            name=study.name,
            protocol=named or study.protocol_name,
            annotators=tuple(names[person_id] for person_id in team),
            overlap=study.overlap,
            order=study.item_order,
            seed=study.seed,
            rule=study.rule,
            lease_minutes=study.lease_minutes,
            show_scores=tuple(study.show_scores),
            deadline=study.deadline,
            suggestions=study.settings.get("suggestions", "never"),
            **{name: study.settings[name] for name in _IN_SETTINGS if name in study.settings},
        )
        return WrittenDesign(design, None if named else protocol_of(study))


def _name_of_protocol(session: Session, study: Study) -> str | None:
    """What the study's protocol is called by in its project; None where that means another one."""
    name = f"{study.protocol_name}@{study.protocol_version}"
    try:
        found = protocol_in(session, study.project_id, name)
    except NotFound:
        return None
    return name if found.digest() == study.protocol_hash else None
