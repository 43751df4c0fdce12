"""Why annotators disagreed, as adjudicators said it, and what they wrote down for the guidelines."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from sqlmodel import Session, col, select

from annotators.asking.asides import CONFIDENCES
from annotators.asking.rounds import BLIND, Stage, Unit, alike
from annotators.errors import InvalidInput, shown
from db.engine import Database
from db.models import Account, AdjudicatedLabel, Adjudication, Item, ItemVersion, Study, StudyItem
from db.permissions import ADJUDICATORS, READERS, Actor, On, operation
from db.studies.design import protocol_of
from db.studies.settlements import is_disclosed

CAUSES = {
    "item_unclear": "Item unclear",
    "guideline_gap": "Guideline gap",
    "slip": "Slip",
    "true_difference": "True difference",
}
"""What a disagreement may come from: the item can be read in two ways; the guidelines do not say; somebody overlooked
something; people of good will judge it otherwise."""

LONGEST_NOTE = 2_000
"""Characters that a note for the guidelines may have."""


@dataclass(frozen=True)
class CauseCount:
    """Of one criterion: its decided units, how many have each cause, and how many each confidence, in their order.

    `by_item` has for each item with causes how many of its units have which.
    """

    criterion: str
    title: str
    units: int
    causes: dict[str, int]
    confidences: dict[str, int]
    by_item: tuple[dict[str, int], ...]


@dataclass(frozen=True)
class GuidelineNote:
    """What an adjudicator would have the guidelines say about a criterion, on the occasion of which item."""

    criterion: str
    title: str
    item: str
    note: str
    by: str
    at: datetime


def check_said(cause: str | None, confidence: str | None, note: str | None) -> None:
    """InvalidInput for a cause or confidence that there is not, and for a note that is too long."""
    for name, given, known in (("cause", cause, CAUSES), ("confidence", confidence, CONFIDENCES)):
        if given is not None and given not in known:
            raise InvalidInput(f"{shown(given)} is no {name}. Take one of: {', '.join(known)}, or leave it out.")
    if note is not None and len(note) > LONGEST_NOTE:
        raise InvalidInput(f"The note has {len(note):,} characters, more than {LONGEST_NOTE:,}. Shorten it.")


def _standing(session: Session, study_id: int) -> Iterator[tuple[Adjudication, AdjudicatedLabel]]:
    """The decision that stands of each unit of a study: that of its last final round, or one of two that are alike."""
    found: dict[tuple[int, Unit], dict[str, tuple[Adjudication, AdjudicatedLabel]]] = defaultdict(dict)
    for given, label in _disclosed(session, study_id):
        found[given.study_item_id, (label.criterion, label.target)][given.stage] = (given, label)
    for (_, unit), stages in found.items():
        first, second = (stages.get(stage) for stage in BLIND)
        if Stage.FINAL in stages:
            yield stages[Stage.FINAL]
        elif first and second and alike({unit: first[1].value}, {unit: second[1].value}):
            yield first if first[1].cause and not second[1].cause else second


def _disclosed(session: Session, study_id: int) -> list[tuple[Adjudication, AdjudicatedLabel]]:
    """Of each unit of a study the last decision of each stage, as far as anybody may know it."""
    rows = session.execute(
        select(Adjudication, AdjudicatedLabel)
        .join(AdjudicatedLabel, col(AdjudicatedLabel.adjudication_id) == Adjudication.id)
        .where(Adjudication.study_id == study_id, is_disclosed(None))
        .order_by(col(Adjudication.study_item_id), col(Adjudication.round))
    )
    last = {(given.study_item_id, given.stage, label.criterion, label.target): (given, label) for given, label in rows}
    return list(last.values())


@operation(On.STUDY, READERS)
def cause_counts(db: Database, _actor: Actor, study_id: int) -> list[CauseCount]:
    """What disagreements came from, a criterion at a time in the protocol's order; none where nothing is decided."""
    with db.read() as session:
        protocol = protocol_of(session.get_one(Study, study_id))
        units: Counter[str] = Counter()
        said: Counter[tuple[str, str | None]] = Counter()
        by_item: dict[str, dict[int, Counter[str]]] = defaultdict(lambda: defaultdict(Counter))
        for given, label in _standing(session, study_id):
            units[label.criterion] += 1
            if label.cause:
                by_item[label.criterion][given.study_item_id][label.cause] += 1
            said.update([(label.criterion, label.cause), (label.criterion, label.confidence)])
    return [
        CauseCount(
            criterion.name,
            criterion.title,
            units[criterion.name],
            {cause: said[criterion.name, cause] for cause in CAUSES},
            {confidence: said[criterion.name, confidence] for confidence in CONFIDENCES},
            tuple(map(dict, by_item[criterion.name].values())),
        )
        for criterion in protocol.criteria
        if units[criterion.name]
    ]


@operation(On.STUDY, ADJUDICATORS)
def guideline_notes(db: Database, _actor: Actor, study_id: int) -> list[GuidelineNote]:
    """What adjudicators wrote down for the guidelines, criterion by criterion, in the order of time."""
    with db.read() as session:
        protocol = protocol_of(session.get_one(Study, study_id))
        order = {criterion.name: place for place, criterion in enumerate(protocol.criteria)}
        noted = [row for row in _disclosed(session, study_id) if row[1].note]
        noted.sort(key=lambda row: (order.get(row[1].criterion, 0), row[0].id or 0))
        ids = {given.study_item_id for given, _ in noted}
        people = {given.person_id for given, _ in noted}
        items = dict(
            session.execute(
                select(StudyItem.id, Item.external_id)
                .join(ItemVersion, col(ItemVersion.id) == StudyItem.item_version_id)
                .join(Item, col(Item.id) == ItemVersion.item_id)
                .where(col(StudyItem.id).in_(ids))
            ).all()
        )
        named = select(Account.person_id, Account.name).where(col(Account.person_id).in_(people))
        names = dict(session.execute(named).all())
        return [
            GuidelineNote(
                label.criterion,
                protocol.criterion(label.criterion).title,
                items[given.study_item_id],
                label.note or "",
                names.get(given.person_id, f"person {given.person_id}"),
                given.created_at,
            )
            for given, label in noted
        ]
