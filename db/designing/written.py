"""The design of a study that is there, as it could be made again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import select as sql_select
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, select

from annotators.asking.planting import Planting
from annotators.asking.qualifying import Qualifying
from annotators.designing.design import StudyDesign
from annotators.designing.known import Gold, Qualification, Repeats, RightLabel
from annotators.errors import NotFound
from annotators.protocols import Protocol
from db.engine import Database
from db.models import GoldLabel, Item, ItemVersion, Purpose, Study, StudyItem, StudyMember
from db.people.accounts import names_of
from db.permissions import READERS, Actor, On, operation
from db.studies.design import protocol_of
from db.studies.library import protocol_in

_IN_SETTINGS = (
    *("items", "where", "with_documents", "keep_lacking", "one_per_question", "pairs", "sample", "per"),
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
    *("quota", "queue"),
    *("adjudication", "review_agreed", "talk", "ask", "outside", "part", "part_overlap", "most_overlap"),
    "stop_at",
    "phases",
    "own_figures",
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
        members = select(StudyMember.person_id, StudyMember.quota).where(StudyMember.study_id == study_id)
        quotas = dict(
            session.exec(members.where(col(StudyMember.left_at).is_(None)).order_by(col(StudyMember.person_id))).all()
        )
        team, general = list(quotas), study.settings.get("quota")
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
            suggested_by=study.settings.get("suggested_judge", {}).get("name"),
            quotas={names[of]: quota for of, quota in quotas.items() if quota is not None and quota != general},
            **_known(session, study),
            **{name: study.settings[name] for name in _IN_SETTINGS if name in study.settings},
        )
        return WrittenDesign(design, None if named else protocol_of(study))


def _known(session: Session, study: Study) -> dict[str, Any]:
    """What the study has of items with known labels, and of items that come again."""
    planting, qualifying = Planting.of(study.settings), Qualifying.of(study.settings)
    found: dict[str, Any] = {}
    if labels := _right_labels(session, study, Purpose.GOLD):
        asked = {"rate": planting.gold_rate, "mark": planting.mark, "mark_after": planting.mark_after}
        found["gold"] = Gold(labels=labels, below=planting.below, **asked)
    if planting.repeat_rate:
        found["repeats"] = Repeats(rate=planting.repeat_rate, after=planting.repeat_after)
    if labels := _right_labels(session, study, Purpose.QUALIFICATION):
        found["qualification"] = Qualification(labels=labels, mark=qualifying.mark, tries=qualifying.tries)
    return found


def _right_labels(session: Session, study: Study, purpose: Purpose) -> tuple[RightLabel, ...]:
    """The right labels of the study's items of a purpose, in the order in which they came."""
    other, version = aliased(Item), aliased(ItemVersion)
    rows = session.execute(
        sql_select(
            col(Item.external_id),
            *(col(GoldLabel.criterion), col(GoldLabel.target), col(GoldLabel.value), col(GoldLabel.explanation)),
            col(other.external_id),
        )
        .select_from(GoldLabel)
        .join(StudyItem, col(StudyItem.id) == col(GoldLabel.study_item_id))
        .join(ItemVersion, col(ItemVersion.id) == col(StudyItem.item_version_id))
        .join(Item, col(Item.id) == col(ItemVersion.item_id))
        .outerjoin(version, col(version.id) == col(StudyItem.other_version_id))
        .outerjoin(other, col(other.id) == col(version.item_id))
        .where(col(StudyItem.study_id) == study.id, col(StudyItem.purpose) == purpose.value)
        .order_by(col(GoldLabel.id))
    )
    return tuple(
        RightLabel(
            item=item,
            criterion=criterion,
            target="" if target == ("pair" if second else "item") else target,
            value=value,
            explanation=why,
            other_item=second,
        )
        for item, criterion, target, value, why, second in rows
    )


def _name_of_protocol(session: Session, study: Study) -> str | None:
    """What the study's protocol is called by in its project; None where that means another one."""
    name = f"{study.protocol_name}@{study.protocol_version}"
    try:
        found = protocol_in(session, study.project_id, name)
    except NotFound:
        return None
    return name if found.digest() == study.protocol_hash else None
