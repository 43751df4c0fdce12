"""The units on which a judge and people differ most: what each said, and the judge's reason."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlmodel import Session, col

from annotators.errors import NotFound
from annotators.judges.trust.errors import Errors
from db.engine import Database
from db.models import Account, Annotation, AnnotationKind, Item, ItemVersion, StoredLabel, StudyItem
from db.permissions import Actor
from db.query import pick
from db.studies.ratings import unit_name
from exports.judging.data import CriterionLabels, PeopleBy, judged_study


@dataclass(frozen=True)
class DifferingUnit:
    """A unit with the judge's label, those of people (label → how many gave it), and how far they are apart (0..1).

    Labels are as people read them.
    """

    item_id: int
    item: str
    target: str
    system: str
    judge: str
    people: Mapping[str, int]
    error: float
    why: str


@dataclass(frozen=True)
class DifferingUnits:
    """The units of a criterion that differ, the furthest first, and of how many units that both labelled."""

    criterion: str
    title: str
    units: Sequence[DifferingUnit]
    n: int
    differing: int


def differing_units(
    db: Database,
    actor: Actor | None,
    study_id: int,
    *,
    judge: str,
    criterion: str,
    by: PeopleBy = "majority",
    most: int = 100,
) -> DifferingUnits:
    """The units where the judge's label is not what people's is, at most so many, the furthest apart first.

    People's label and how far labels are apart are as in `check_report`. NotFound for a judge without labels in the
    study, and for a criterion that judges are not held against there.
    """
    study = judged_study(db, actor, study_id, [judge], settled=by == "settled")
    labels = study.criterion(criterion)
    if judge not in labels.judges:
        raise NotFound(f"The judge {judge!r} has no label of {criterion!r} in the study {study.name!r}.")
    errors = Errors.of(
        labels.comparable(labels.judges[judge]), labels.reference(by), scale=labels.scale, clusters=study.units.question
    )
    apart = [(unit, error) for unit, error in zip(errors.units, errors.error.tolist(), strict=True) if error > 0]
    apart.sort(key=lambda pair: (-pair[1], _place(pair[0])))
    with db.read() as session:
        items = _items(session, study_id)
        reasons = _reasons(session, study_id, judge, criterion)
    rows = [
        DifferingUnit(
            *items[_place(unit)],
            target=unit.partition("|")[2],
            system=study.units.groups["system"].get(unit, ""),
            judge=labels.criterion.said(labels.judges[judge][unit]),
            people=_votes(labels, unit),
            error=error,
            why=reasons.get(unit, ""),
        )
        for unit, error in apart[:most]
    ]
    return DifferingUnits(labels.name, labels.criterion.title, rows, len(errors.units), len(apart))


def _place(unit: str) -> int:
    return int(unit.partition("|")[0])


def _votes(labels: CriterionLabels, unit: str) -> dict[str, int]:
    """What people said of a unit and how often, in the order of the scale."""
    votes: dict[str, int] = defaultdict(int)
    for given in labels.people.values():
        if unit in given:
            votes[given[unit]] += 1
    often = sorted(votes, key=lambda vote: (-votes[vote], vote))
    return {labels.criterion.said(vote): votes[vote] for vote in labels.criterion.in_order(often)}


def _items(session: Session, study_id: int) -> dict[int, tuple[int, str]]:
    """Study item → item's id and name."""
    rows = session.execute(
        pick(StudyItem.id, Item.id, Item.external_id)
        .join(ItemVersion, col(ItemVersion.id) == StudyItem.item_version_id)
        .join(Item, col(Item.id) == ItemVersion.item_id)
        .where(col(StudyItem.study_id) == study_id)
    ).all()
    return {place: (item, name) for place, item, name in rows}


def _reasons(session: Session, study_id: int, judge: str, criterion: str) -> dict[str, str]:
    """Unit → what the judge said of its label."""
    rows = session.execute(
        pick(Annotation.study_item_id, StoredLabel.target, StoredLabel.comment)
        .join(StoredLabel, col(StoredLabel.assignment_id) == Annotation.assignment_id)
        .join(Account, col(Account.person_id) == Annotation.person_id)
        .where(
            col(Annotation.study_id) == study_id,
            col(Annotation.kind) == AnnotationKind.MODEL.value,
            col(Account.name) == judge,
            col(StoredLabel.criterion) == criterion,
            col(StoredLabel.comment).is_not(None),
        )
    ).all()
    return {unit_name(item, target): comment for item, target, comment in rows}
