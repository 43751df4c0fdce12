"""What annotators of one item say to each other about it, once all of them have labelled it.

A study may have its annotators resolve together what they disagree on, or talk about every item (norming). A thread is
seen by those who labelled the item and by nobody else, and never before all its annotations are there. Who changes
their mind corrects their own label: both stay, and what was said before anybody could see the others' is known.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement
from sqlmodel import Session, col, func, select

from annotators.asking.settling import disputed_units, settle_item
from annotators.criteria import Criterion
from annotators.designing.talk import ALL, DISPUTED, NEVER
from annotators.errors import Conflict, InvalidInput, NotFound
from db.adjudicating.adjudications import DisputedUnit, votes_of_item
from db.annotating.presentations import Unassigned, present
from db.engine import Database
from db.items.current import is_set_aside
from db.models import (
    Annotation,
    Assignment,
    AssignmentState,
    ItemVersion,
    Message,
    Settlement,
    SettlementState,
    StoredLabel,
    Study,
    StudyItem,
    StudyMember,
    StudyState,
)
from db.permissions import ANNOTATORS, READERS, Actor, On, operation, record
from db.query import pick
from db.studies import tallies
from db.studies.design import disputed_items, protocol_of
from db.studies.places import IN_THEIR_PLACE, may_see_own
from db.studies.settlements import COUNTING, labels_and_decisions, looked_at_again

LONGEST = 4_000
"""Characters that a message may have."""

_MOST_THREADS = 200

_OVER = (SettlementState.AGREED, SettlementState.ADJUDICATED)


@dataclass(frozen=True)
class ThreadRow:
    """An item that I may talk about: whether it is open, how many messages there are, and whether it waits for me.

    It waits for whoever has not written the last message, as long as the item is open.
    """

    study_item_id: int
    study_id: int
    study: str
    project_id: int
    question: str
    messages: int
    open: bool
    waits: bool


@dataclass(frozen=True)
class Said:
    """One message: by whom (None: by me), when, and what."""

    by: str | None
    at: datetime
    text: str


@dataclass(frozen=True)
class Thread:
    """An item as the annotators saw it at its last step (`shown`), with everybody's labels and what was said about it.

    `me` is what I am called among the raters of the votes, `mine` my assignment of it, which I may open again.
    """

    study_item_id: int
    study_id: int
    study: str
    shown: dict[str, Any]
    criteria: dict[str, Criterion]
    units: list[DisputedUnit]
    me: str
    mine: int
    open: bool
    said: list[Said]


@operation(On.APP, anyone_signed_in=True)
def my_threads(db: Database, actor: Actor) -> list[ThreadRow]:
    """The items that I labelled and may talk about with the others, those that wait for me first."""
    with db.read() as session:
        return sorted(_threads(session, actor), key=lambda row: (not row.waits, not row.open))


@operation(On.STUDY_ITEM, ANNOTATORS)
def thread(db: Database, actor: Actor, study_item_id: int) -> Thread:
    """One thread; NotFound for somebody who is not on it, and before everybody on it has labelled the item."""
    with db.read() as session:
        study, settlement = _on_it(session, actor, study_item_id)
        votes = votes_of_item(session, study, study_item_id)
        said = session.exec(
            select(Message).where(Message.study_item_id == study_item_id).order_by(col(Message.id))
        ).all()
        protocol = protocol_of(study)
        return Thread(
            study_item_id,
            votes.study_id,
            study.name,
            present(session, study, [Unassigned(study_item_id, len(protocol.steps) - 1)])[0],
            {criterion.name: criterion for criterion in protocol.criteria},
            votes.units,
            votes.raters[actor.person_id],
            votes.assignments[actor.person_id],
            _is_open(study, settlement),
            [
                Said(
                    None if row.person_id == actor.person_id else votes.raters.get(row.person_id, "somebody"),
                    row.created_at,
                    row.text,
                )
                for row in said
            ],
        )


@operation(On.STUDY_ITEM, ANNOTATORS)
def write_message(db: Database, actor: Actor, study_item_id: int, *, uid: str, text: str) -> int:
    """Say something about an item to the others who labelled it; the same `uid` twice is stored once.

    InvalidInput for a message that is empty or too long, Conflict where the item is settled, NotFound as of `thread`.
    """
    words = text.strip()
    if not words:
        raise InvalidInput("The message is empty. Write something.")
    if len(words) > LONGEST:
        raise InvalidInput(f"The message has {len(words):,} characters, more than {LONGEST:,}. Shorten it.")
    with db.write() as session:
        study, settlement = _on_it(session, actor, study_item_id)
        known = session.exec(select(Message).where(Message.uid == uid)).first()
        if known is not None:
            if (known.person_id, known.study_item_id) != (actor.person_id, study_item_id):
                raise Conflict(f"Message id {uid!r} was used for something else. Reload the page and try again.")
            return known.id or 0
        if not _is_open(study, settlement):
            raise Conflict("This item is settled, so that nothing more is said about it.")
        assert study.id is not None
        row = Message(uid=uid, study_id=study.id, study_item_id=study_item_id, person_id=actor.person_id, text=words)
        session.add(row)
        session.flush()
        record(
            session, actor, "message written", "study item", study_item_id, project_id=study.project_id,
        )  # fmt: skip
        return row.id or 0


@operation(On.STUDY, READERS)
def what_waits(db: Database, _actor: Actor, study_id: int) -> dict[str, int]:
    """What a study waits for: annotations, items sent back, decisions, and items that annotators resolve together."""
    with db.read() as session:
        study = session.get_one(Study, study_id)
        states = tallies.counts(session, study_id)
        together = (
            select(Settlement.study_item_id)
            .where(
                Settlement.study_id == study_id,
                Settlement.state == SettlementState.DISPUTED,
                _all_labelled(),
            )
            .order_by(col(Settlement.study_item_id))
        )
        talks = study.settings.get("talk", NEVER) != NEVER and study.state != StudyState.CLOSED
        return {
            "annotations": states.get(AssignmentState.OPEN, 0) + states.get(AssignmentState.LEASED, 0),
            "returned": states.get(AssignmentState.RETURNED, 0),
            "adjudication": disputed_items(session, study_id),
            "together": len(_at_odds(session, study, list(session.scalars(together)))) if talks else 0,
        }


def _on_it(session: Session, actor: Actor, study_item_id: int) -> tuple[Study, Settlement]:
    """The study and where the item stands, for somebody who labelled it; NotFound for everybody else."""
    found = session.execute(
        pick(Study, Settlement)
        .join(Settlement, col(Settlement.study_id) == Study.id)
        .where(col(Settlement.study_item_id) == study_item_id, _labelled_by(actor), _all_labelled())
    ).first()
    written = select(Message.id).where(Message.study_item_id == study_item_id)
    talked = found is not None and (
        _talks(found[0], found[1], bool(_at_odds(session, found[0], [study_item_id])))
        or session.exec(written.limit(1)).first() is not None
    )
    if found is None or not talked or not may_see_own(session, found[0].id or 0, actor.person_id):
        raise NotFound("There is nothing here that you talk about with others. The page My work lists what there is.")
    return found[0], found[1]


def _threads(session: Session, actor: Actor) -> Iterator[ThreadRow]:
    messages = (
        pick(
            col(Message.study_item_id).label("item"),
            func.count().label("n"),
            func.max(col(Message.id)).label("last"),
        )
        .group_by(col(Message.study_item_id))
        .subquery()
    )
    mine = session.execute(
        pick(Study.id, Study.settings)
        .join(StudyMember, col(StudyMember.study_id) == Study.id)
        .where(col(StudyMember.person_id) == actor.person_id, IN_THEIR_PLACE)
    )
    talking = [study_id for study_id, settings in mine if settings.get("talk", NEVER) != NEVER]
    for study in session.exec(select(Study).where(col(Study.id).in_(talking)).order_by(col(Study.id))):
        rows = session.execute(
            pick(Settlement, ItemVersion.question, messages.c.n, Message.person_id)
            .join(StudyItem, col(StudyItem.id) == Settlement.study_item_id)
            .join(ItemVersion, col(ItemVersion.id) == StudyItem.item_version_id)
            .outerjoin(messages, messages.c.item == Settlement.study_item_id)
            .outerjoin(Message, col(Message.id) == messages.c.last)
            .where(col(Settlement.study_id) == study.id, _labelled_by(actor), _all_labelled())
            .order_by(col(Settlement.state) != SettlementState.DISPUTED, col(Settlement.study_item_id))
            .limit(_MOST_THREADS)
        ).all()
        at_odds = _at_odds(session, study, [settlement.study_item_id for settlement, *_ in rows])
        for settlement, question, n, last in rows:
            differ = settlement.study_item_id in at_odds
            if not _talks(study, settlement, differ) and not n:
                continue
            is_open = _is_open(study, settlement)
            disputed = differ and settlement.state == SettlementState.DISPUTED
            waits = is_open and disputed and last != actor.person_id
            yield ThreadRow(
                settlement.study_item_id,
                settlement.study_id,
                study.name,
                study.project_id,
                question,
                int(n or 0),
                is_open,
                waits,
            )


def _labelled_by(actor: Actor) -> ColumnElement[bool]:
    return (
        pick(Annotation.id)
        .where(
            col(Annotation.study_id) == Settlement.study_id,
            col(Annotation.study_item_id) == Settlement.study_item_id,
            col(Annotation.person_id) == actor.person_id,
            col(Annotation.kind).in_(COUNTING),
        )
        .exists()
    )


def _all_labelled() -> ColumnElement[bool]:
    """The condition on `Settlement` that nobody is still to label its item for the first time."""
    returned = pick(Assignment.id).where(
        col(Assignment.study_item_id) == Settlement.study_item_id, col(Assignment.state) == "returned"
    )
    overlap = (
        pick(func.coalesce(StudyItem.overlap, Study.overlap))
        .join(Study, col(Study.id) == StudyItem.study_id)
        .where(col(StudyItem.id) == Settlement.study_item_id)
        .correlate(Settlement)
        .scalar_subquery()
    )
    there = (col(Settlement.state) != SettlementState.PENDING) | returned.exists()
    return there & (col(Settlement.n_annotations) >= overlap)


def _at_odds(session: Session, study: Study, study_item_ids: Sequence[int]) -> set[int]:
    """The items of these about which labels may differ: without those that adjudicators look at though all agree."""
    connection = session.connection()
    drawn = list(looked_at_again(connection, study, study_item_ids))
    if not drawn:
        return set(study_item_ids)
    protocol = protocol_of(study)
    labels, _, _ = labels_and_decisions(connection, study, protocol, drawn)
    agreed = {
        item
        for item in drawn
        if not disputed_units(
            protocol, list(settle_item(protocol, labels[item], study.rule)), labels[item].n_annotations, {}
        )
    }
    return set(study_item_ids) - agreed


def _talks(study: Study, settlement: Settlement, differ: bool) -> bool:
    """Whether the item is one that is talked about: each of a study of norming, else what is or was disputed."""
    talk = study.settings.get("talk", NEVER)
    return talk == ALL or (talk == DISPUTED and differ and settlement.state != SettlementState.AGREED)


def _is_open(study: Study, settlement: Settlement) -> bool:
    if study.state == StudyState.CLOSED or settlement.state == SettlementState.ADJUDICATED:
        return False
    return study.settings.get("talk") == ALL or settlement.state not in _OVER


# Before and after -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TwoTimes:
    """What a person said of a unit before they could see the others' labels, and says now; None: nothing."""

    study_item_id: int
    person_id: int
    criterion: str
    target: str
    before: Any
    after: Any


@operation(On.STUDY, READERS)
def before_and_after(db: Database, _actor: Actor, study_id: int) -> list[TwoTimes]:
    """What everybody said of each item that all have labelled, before they could see the others' labels and now."""
    with db.read() as session:
        study = session.get_one(Study, study_id)
        given: dict[int, dict[int, list[Annotation]]] = defaultdict(lambda: defaultdict(list))
        query = (
            select(Annotation)
            .where(
                Annotation.study_id == study_id,
                col(Annotation.kind).in_(COUNTING),
                ~is_set_aside(col(Annotation.id)),
            )
            .order_by(col(Annotation.id))
        )
        for row in session.exec(query):
            given[row.study_item_id][row.person_id].append(row)
        labels: dict[tuple[int, int], dict[tuple[str, str], Any]] = defaultdict(dict)
        values = (
            pick(
                StoredLabel.assignment_id, StoredLabel.sitting, StoredLabel.criterion, StoredLabel.target,
                StoredLabel.value,
            )
            .join(Assignment, col(Assignment.id) == StoredLabel.assignment_id)
            .where(col(Assignment.study_id) == study_id, col(StoredLabel.cannot_judge).is_(False))
        )  # fmt: skip
        for assignment_id, sitting, criterion, target, value in session.execute(values):
            labels[assignment_id, sitting][criterion, target] = value
    return [
        TwoTimes(item, person_id, criterion, target, before.get((criterion, target)), after.get((criterion, target)))
        for item, people in given.items()
        if len(people) >= study.overlap
        for person_id, before, after in _two_times(people, labels)
        for criterion, target in dict.fromkeys([*before, *after])
    ]


def _two_times(
    people: Mapping[int, list[Annotation]], labels: Mapping[tuple[int, int], dict[tuple[str, str], Any]]
) -> Iterator[tuple[int, dict[tuple[str, str], Any], dict[tuple[str, str], Any]]]:
    """Each person's labels of an item when all had labelled it first, and their last ones."""
    seen = max(rows[0].created_at for rows in people.values())
    for person_id, rows in people.items():
        before = [row for row in rows if row.created_at <= seen][-1]
        own = [labels.get((row.assignment_id, row.sitting), {}) for row in (before, rows[-1])]
        yield person_id, own[0], own[1]
