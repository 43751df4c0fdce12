"""What people said beside their labels in a study, and the labels that one item was given in every study."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, func
from sqlalchemy.orm import aliased
from sqlmodel import Session, col

from annotators.asking.submissions import flag_words
from annotators.errors import NotFound
from db.engine import Database
from db.items.current import is_set_aside, item_is_published
from db.models import (
    Annotation,
    Assignment,
    AssignmentState,
    Item,
    ItemVersion,
    Settlement,
    SettlementState,
    StoredLabel,
    Study,
    StudyItem,
    StudyMember,
    Submission,
)
from db.people.accounts import names_of
from db.people.pseudonyms import raters_of, sees_names
from db.permissions import READERS, REVISERS, Actor, On, operation, role_in
from db.query import pick
from db.studies.design import protocol_of
from db.studies.settlements import COUNTING, DecidedUnit, adjudicated_labels

AT_MOST = 200


@dataclass(frozen=True)
class Remark:
    """Something that was said about an item. `about` is the label that a comment belongs to, empty for the item.
    `text` is empty for a flag without a reason.

    `who` is None for readers other than researchers: adjudicators decide without knowing whose word it is.
    """

    item_id: int
    item: str
    who: str | None
    about: str
    text: str
    at: datetime | None


@dataclass(frozen=True)
class StudyRemarks:
    """The remarks of a study, latest first, at most `AT_MOST` of each sort; `totals` says how many there are.

    `cannot_judge` counts, by criterion, the current labels that say so; `reasons` are the most frequent reasons.
    """

    flags: list[Remark]
    comments: list[Remark]
    skips: list[Remark]
    cannot_judge: dict[str, int]
    reasons: list[tuple[str, str, int]]
    totals: dict[str, int] = field(default_factory=dict)


@operation(On.STUDY, READERS)
def study_remarks(db: Database, actor: Actor, study_id: int) -> StudyRemarks:
    """Flags, comments, skips with their reasons, and how often a criterion could not be judged.

    What was said about an item that the reader has yet to annotate in this study is left out. Of a correction only the
    latest sitting counts.
    """
    with db.read() as session:
        place = _place(session, actor, study_id)
        shown = place.condition()
        latest = _latest_sitting(Submission)
        said = pick(StudyItem.id, Item.id, Item.external_id, Submission.person_id, Submission.created_at)
        said = said.select_from(Submission).join(Assignment, col(Assignment.id) == col(Submission.assignment_id))
        said = _with_item(said, col(Assignment.study_item_id)).where(
            col(Assignment.study_id) == study_id, latest, shown
        )
        flags = said.add_columns(col(Submission.flag)).where(col(Submission.flag).is_not(None))
        comments = said.add_columns(col(Submission.comment)).where(col(Submission.comment).is_not(None))
        of_labels = (
            pick(StudyItem.id, Item.id, Item.external_id, Submission.person_id, Submission.created_at)
            .add_columns(col(StoredLabel.comment), col(StoredLabel.criterion), col(StoredLabel.target))
            .select_from(StoredLabel)
            .join(Submission, col(Submission.id) == col(StoredLabel.submission_id))
            .join(Assignment, col(Assignment.id) == col(Submission.assignment_id))
        )
        of_labels = _with_item(of_labels, col(Assignment.study_item_id)).where(
            col(Assignment.study_id) == study_id, latest, shown, col(StoredLabel.comment).is_not(None)
        )
        skips = pick(
            StudyItem.id, Item.id, Item.external_id, Assignment.person_id, Assignment.ended_at, Assignment.reason
        )
        skips = _with_item(skips.select_from(Assignment), col(Assignment.study_item_id)).where(
            col(Assignment.study_id) == study_id, col(Assignment.state) == AssignmentState.SKIPPED, shown
        )
        found = {
            "flags": _newest(session, flags, col(Submission.id), AT_MOST),
            "comments": _newest(session, comments, col(Submission.id), AT_MOST),
            "label comments": _newest(session, of_labels, col(StoredLabel.id), AT_MOST),
            "skips": _newest(session, skips, col(Assignment.id), AT_MOST),
        }
        names = place.names(session, {row[3] for rows, _ in found.values() for row in rows})
        remarks = {sort: [_remark(row, place, names) for row in rows] for sort, (rows, _) in found.items()}
        remarks["flags"] = [replace(flag, text=flag_words(flag.text)) for flag in remarks["flags"]]
        both = sorted(
            remarks["comments"] + remarks["label comments"], key=lambda remark: str(remark.at or ""), reverse=True
        )
        cannot, reasons = _cannot_judge(session, place)
        totals = {sort: total for sort, (_, total) in found.items()}
        totals["comments"] += totals.pop("label comments")
        return StudyRemarks(remarks["flags"], both[:AT_MOST], remarks["skips"], cannot, reasons, totals)


@dataclass(frozen=True)
class _Place:
    """A study as one reader sees it."""

    study: Study
    titles: dict[str, str]
    person_id: int
    is_annotator: bool
    sees_names: bool

    def condition(self) -> ColumnElement[bool]:
        """The condition on `StudyItem` that its labels may be seen: by an annotator only once they gave their own."""
        if not self.is_annotator:
            return col(StudyItem.study_id) == self.study.id
        return col(StudyItem.id).in_(
            pick(Assignment.study_item_id).where(
                col(Assignment.study_id) == self.study.id,
                col(Assignment.person_id) == self.person_id,
                col(Assignment.state).in_([AssignmentState.SUBMITTED, AssignmentState.SURPLUS]),
            )
        )

    def names(self, session: Session, people: set[int]) -> dict[int, str]:
        """Names by person, for those who may know them."""
        return names_of(session, people) if self.sees_names else {}


def _place(session: Session, actor: Actor, study_id: int) -> _Place:
    study = session.get_one(Study, study_id)
    return _Place(
        study,
        {criterion.name: criterion.title for criterion in protocol_of(study).criteria},
        actor.person_id,
        session.get(StudyMember, (study_id, actor.person_id)) is not None,
        sees_names(session, actor, study),
    )


def _with_item(query: Select[Any], study_item_id: Any) -> Select[Any]:
    return (
        query.join(StudyItem, col(StudyItem.id) == study_item_id)
        .join(ItemVersion, col(ItemVersion.id) == col(StudyItem.item_version_id))
        .join(Item, col(Item.id) == col(ItemVersion.item_id))
    )


def _latest_sitting(table: type[Submission]) -> ColumnElement[bool]:
    """The condition on a submission that its assignment has no later sitting."""
    later = aliased(table)
    newer = pick(later.id).where(
        col(later.assignment_id) == col(table.assignment_id), col(later.sitting) > col(table.sitting)
    )
    return ~newer.exists()


def _newest(session: Session, query: Select[Any], by: Any, limit: int) -> tuple[list[Any], int]:
    total = session.execute(pick(func.count()).select_from(query.subquery())).scalar_one()
    return list(session.execute(query.order_by(by.desc()).limit(limit))), total


def _remark(row: Any, place: _Place, names: dict[int, str]) -> Remark:
    _, item_id, item, person_id, at, text, *label = row
    about = ""
    if label:
        title = place.titles.get(label[0], label[0])
        about = title if label[1] == "item" else f"{title} ({label[1]})"
    return Remark(item_id, item, names.get(person_id), about, text or "", at)


def _cannot_judge(session: Session, place: _Place) -> tuple[dict[str, int], list[tuple[str, str, int]]]:
    n = func.count()
    query = (
        pick(StoredLabel.criterion, StoredLabel.reason, n)
        .select_from(Annotation)
        .join(
            StoredLabel,
            (col(StoredLabel.assignment_id) == col(Annotation.assignment_id))
            & (col(StoredLabel.sitting) == col(Annotation.sitting)),
        )
        .join(StudyItem, col(StudyItem.id) == col(Annotation.study_item_id))
        .where(*_counting(place.study), col(StoredLabel.cannot_judge), place.condition())
        .group_by(col(StoredLabel.criterion), col(StoredLabel.reason))
        .order_by(n.desc(), col(StoredLabel.criterion), col(StoredLabel.reason))
    )
    counts: dict[str, int] = defaultdict(int)
    reasons: list[tuple[str, str, int]] = []
    for criterion, reason, how_often in session.execute(query):
        title = place.titles.get(criterion, criterion)
        counts[title] += how_often
        if len(reasons) < AT_MOST:
            reasons.append((title, reason or "", how_often))
    return {title: counts[title] for title in place.titles.values() if title in counts}, reasons


def _counting(study: Study) -> tuple[ColumnElement[bool], ...]:
    """The conditions on `Annotation` that it is of the study, counts, and is not superseded."""
    newer = aliased(Annotation)
    return (
        col(Annotation.study_id) == study.id,
        col(Annotation.kind).in_(COUNTING),
        ~pick(newer.id).where(col(newer.supersedes_id) == col(Annotation.id)).exists(),
        ~is_set_aside(col(Annotation.id)),
    )


# One item -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ItemPlace:
    """Where an item is: what the operations of its project need to open it."""

    project_id: int
    external_id: str


@dataclass(frozen=True)
class ItemLabel:
    """One label that the item was given. `rater` is a name, or R1, R2 … where names are not for the reader."""

    rater: str
    criterion: str
    title: str
    target: str
    value: Any
    cannot_judge: bool
    reason: str | None
    comment: str | None
    at: datetime


@dataclass(frozen=True)
class ItemInStudy:
    """An item in one study: the version it is frozen on, where it stands, its current labels, what was decided.

    `hidden` says that the reader is an annotator of the study and has yet to judge the item; the labels are then empty.
    `flags` are (rater, why), the reason empty where none was given.
    """

    study_id: int
    study: str
    protocol: str
    version: int
    state: str
    labels: list[ItemLabel]
    decided: dict[tuple[str, str], DecidedUnit]
    hidden: bool
    flags: list[tuple[str, str]] = field(default_factory=list)


@operation(On.APP, anyone_signed_in=True)
def item_place(db: Database, actor: Actor, *, item_id: int) -> ItemPlace:
    """The project and external id of an item; NotFound unless the person may read or revise in its project."""
    with db.read() as session:
        item = session.execute(pick(Item).where(col(Item.id) == item_id, item_is_published())).scalar_one_or_none()
        if item is None or role_in(session, actor.person_id, item.project_id) not in READERS | REVISERS:
            raise NotFound(f"There is no item with id {item_id} that {actor.name!r} can see.")
        return ItemPlace(item.project_id, item.external_id)


@operation(On.PROJECT, READERS)
def item_labels(db: Database, actor: Actor, project_id: int, *, external_id: str) -> list[ItemInStudy]:
    """The item in every study that has it, in any version, with the current labels that count."""
    with db.read() as session:
        return labels_of(session, actor, project_id, external_id)


def labels_of(session: Session, actor: Actor, project_id: int, external_id: str) -> list[ItemInStudy]:
    """As `item_labels`, as this session sees the database, for an actor who may see the item."""
    places = session.execute(
        pick(StudyItem.id, StudyItem.study_id, ItemVersion.number)
        .join(ItemVersion, col(ItemVersion.id).in_((col(StudyItem.item_version_id), col(StudyItem.other_version_id))))
        .join(Item, col(Item.id) == col(ItemVersion.item_id))
        .where(col(Item.project_id) == project_id, col(Item.external_id) == external_id)
        .order_by(col(StudyItem.study_id), col(ItemVersion.number))
    ).all()
    return [_in_study(session, actor, *row) for row in places]


def _in_study(session: Session, actor: Actor, study_item_id: int, study_id: int, version: int) -> ItemInStudy:
    place = _place(session, actor, study_id)
    shown = session.execute(pick(StudyItem.id).where(col(StudyItem.id) == study_item_id, place.condition())).first()
    settlement = session.get(Settlement, study_item_id)
    state = settlement.state if settlement else SettlementState.PENDING
    labels: list[ItemLabel] = []
    decided: dict[tuple[str, str], DecidedUnit] = {}
    flags: list[tuple[str, str]] = []
    if shown is not None:
        labels, flags = _labels(session, place, study_item_id)
        decided = adjudicated_labels(session, [study_item_id]).get(study_item_id, {})
    return ItemInStudy(
        study_id,
        place.study.name,
        place.study.protocol.get("title", place.study.protocol_name),
        version,
        state,
        labels,
        decided,
        hidden=shown is None,
        flags=flags,
    )


def _labels(session: Session, place: _Place, study_item_id: int) -> tuple[list[ItemLabel], list[tuple[str, str]]]:
    """The current labels that count, and the flags that came with them."""
    query = (
        pick(StoredLabel, Annotation.person_id, Annotation.created_at)
        .select_from(Annotation)
        .join(
            StoredLabel,
            (col(StoredLabel.assignment_id) == col(Annotation.assignment_id))
            & (col(StoredLabel.sitting) == col(Annotation.sitting)),
        )
        .where(*_counting(place.study), col(Annotation.study_item_id) == study_item_id)
    )
    rows = session.execute(query).all()
    flagged = session.execute(
        pick(Submission.person_id, Submission.flag)
        .select_from(Annotation)
        .join(
            Submission,
            (col(Submission.assignment_id) == col(Annotation.assignment_id))
            & (col(Submission.sitting) == col(Annotation.sitting)),
        )
        .where(
            *_counting(place.study),
            col(Annotation.study_item_id) == study_item_id,
            col(Submission.flag).is_not(None),
        )
        .order_by(col(Submission.id))
    ).all()
    people = {person_id for _, person_id, _ in rows} | {person_id for person_id, _ in flagged}
    names = raters_of(place.study, study_item_id, people) | place.names(session, people)
    order = {name: position for position, name in enumerate(place.titles)}
    found = [
        ItemLabel(
            names[person_id], label.criterion, place.titles.get(label.criterion, label.criterion), label.target,
            label.value, label.cannot_judge, label.reason, label.comment, at,
        )
        for label, person_id, at in rows
    ]  # fmt: skip
    flags = [(names[person_id], flag_words(flag)) for person_id, flag in flagged]
    return sorted(found, key=lambda label: (order.get(label.criterion, len(order)), label.target, label.rater)), flags
