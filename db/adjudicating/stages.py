"""Which decision an item waits for, and from whom: one adjudicator's, or two that are blind to each other and a third.

In double adjudication an item goes to two adjudicators, neither of whom sees what the other decides. What both decide
alike is final. The rest goes to a final round by a third person, who sees both decisions. Where nobody else may decide
the item (no other researcher or adjudicator of the project who has not annotated it), either of the two may: they are
shown both decisions, and are to talk them over.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, func
from sqlalchemy.orm import aliased
from sqlmodel import Session, col, or_, select

from annotators.asking.rounds import BLIND, DOUBLE, Stage, Unit, alike, differing
from annotators.asking.settling import Outcome, UnitVotes, disputed_units, settle_item
from annotators.errors import Conflict, NotAllowed
from annotators.protocols import Protocol
from db.engine import Database
from db.models import (
    Account,
    AdjudicatedLabel,
    Adjudication,
    Annotation,
    Membership,
    Person,
    Settlement,
    SettlementState,
    Study,
)
from db.people.accounts import names_of
from db.permissions import ADJUDICATORS, READERS, Actor, On, held_role, operation
from db.query import pick
from db.studies.design import protocol_of
from db.studies.settlements import COUNTING, is_disclosed, labels_and_decisions


@dataclass(frozen=True)
class Round:
    """One of two blind decisions of an item: by whom, its reason, and what it says of each unit."""

    person_id: int
    reason: str | None
    labels: dict[Unit, AdjudicatedLabel]


def is_double(study: Study) -> bool:
    """Whether two adjudicators decide each item, blind to each other."""
    return study.settings.get("adjudication") == DOUBLE


def blind_rounds(session: Session, study_item_id: int) -> dict[Stage, Round]:
    """The blind decisions of an item as they stand: the last of each stage."""
    rows = session.execute(
        select(Adjudication, AdjudicatedLabel)
        .outerjoin(AdjudicatedLabel, col(AdjudicatedLabel.adjudication_id) == Adjudication.id)
        .where(Adjudication.study_item_id == study_item_id, col(Adjudication.stage).in_(BLIND))
        .order_by(col(Adjudication.round))
    ).all()
    found: dict[Stage, tuple[int, Round]] = {}
    for given, label in rows:
        stage = Stage(given.stage)
        if stage not in found or found[stage][0] != given.round:
            found[stage] = (given.round, Round(given.person_id, given.reason, {}))
        if label is not None:
            found[stage][1].labels[label.criterion, label.target] = label
    return {stage: each for stage, (_, each) in found.items()}


def differing_units(session: Session, study: Study, study_item_id: int, rounds: dict[Stage, Round]) -> list[Unit]:
    """The units of an item that its two blind rounds do not leave alike; both are there."""
    protocol = protocol_of(study)
    mine = labels_and_decisions(session.connection(), study, protocol, [study_item_id]).labels[study_item_id]
    return units_left(protocol, list(settle_item(protocol, mine, study.rule)), mine.n_annotations, rounds)


def units_left(
    protocol: Protocol, units: Sequence[UnitVotes], n_annotations: int, rounds: dict[Stage, Round]
) -> list[Unit]:
    """The units that two blind rounds do not leave alike, of an item whose annotators' labels settle as `units` say."""
    votes = {(name, target): settled.value for name, target, settled in units if settled.outcome is not Outcome.OPEN}
    first, second = ({unit: label.value for unit, label in rounds[stage].labels.items()} for stage in BLIND)
    both = {unit: first[unit] for unit in alike(first, second)}
    disputed = {unit[:2] for unit in disputed_units(protocol, units, n_annotations, both)}
    return differing(first, second, votes=votes, disputed=disputed)


def stage_for(session: Session, study: Study, settlement: Settlement, actor: Actor, *, again: bool = False) -> Stage:
    """Which decision of an item this person may make now; Conflict or NotAllowed says why they may make none."""
    if not is_double(study) or settlement.state == SettlementState.ADJUDICATED:
        return Stage.FINAL
    rounds = blind_rounds(session, settlement.study_item_id)
    mine = next((stage for stage, each in rounds.items() if each.person_id == actor.person_id), None)
    if len(rounds) < len(BLIND):
        if mine is None:
            return BLIND[len(rounds)]
        if again:
            return mine
        raise Conflict(
            "You have decided this item. Its other decision is for somebody else, who does not see yours. "
            "Go on with the next one."
        )
    if mine is not None and _others(session, study, settlement.study_item_id):
        raise NotAllowed("You gave one of the item's two decisions. The final one is for a third person.")
    return Stage.FINAL


def next_stage(session: Session, study: Study, study_item_id: int) -> Stage | None:
    """What an item waits for after a blind decision; None: nothing, as both rounds leave it alike."""
    rounds = blind_rounds(session, study_item_id)
    if len(rounds) < len(BLIND):
        return Stage.SECOND
    return Stage.FINAL if differing_units(session, study, study_item_id, rounds) else None


def _others(session: Session, study: Study, study_item_id: int) -> bool:
    """Whether somebody besides the two who decided it may decide the item."""
    people = _deciders(study)
    waiting = select(Settlement.study_item_id).where(Settlement.study_item_id == study_item_id)
    return session.execute(waiting.where(_another(people, study))).first() is not None


def _deciders(study: Study, *, administrators: bool = False) -> Any:
    """A query for the people whose role in the study's project lets them decide.

    That of administrators does so, too; they are counted on only where `administrators` says so, else they need a role
    here as well.
    """
    here = aliased(Membership)
    may = held_role(here, Person).in_(sorted(ADJUDICATORS))
    return (
        pick(col(Person.id))
        .select_from(Person)
        .outerjoin(here, (col(here.person_id) == Person.id) & (col(here.project_id) == study.project_id))
        .join(Account, col(Account.person_id) == Person.id)
        .where(col(Person.erased_at).is_(None), or_(may, col(Person.is_admin)) if administrators else may)
    )


def _another(people: Any, study: Study, *, final_too: bool = False) -> ColumnElement[bool]:
    """The condition on `Settlement` that one of these people neither decided its item blind nor annotated it.

    `final_too`: in the final round it is enough that they did not annotate it, as either of the two may where there is
    nobody else.
    """
    there = people.subquery()
    decided = pick(Adjudication.id).where(
        col(Adjudication.study_item_id) == Settlement.study_item_id,
        col(Adjudication.person_id) == there.c.id,
        col(Adjudication.stage).in_(BLIND),
    )
    fresh = ~decided.exists()
    found = pick(there.c.id).where(or_(fresh, col(Settlement.stage) == Stage.FINAL) if final_too else fresh)
    if not study.settings.get("allow_own_adjudication"):
        annotated = pick(Annotation.id).where(
            col(Annotation.study_id) == study.id,
            col(Annotation.study_item_id) == Settlement.study_item_id,
            col(Annotation.person_id) == there.c.id,
            col(Annotation.kind).in_(COUNTING),
        )
        found = found.where(~annotated.exists())
    return found.exists()


def waits_for(session: Session, study: Study, actor: Actor) -> Sequence[ColumnElement[bool]]:
    """The conditions on `Settlement` that its item waits for a decision which this person may make."""
    waiting = [col(Settlement.study_id) == study.id, col(Settlement.state) == SettlementState.DISPUTED]
    if not study.settings.get("allow_own_adjudication"):
        own = pick(Annotation.id).where(
            col(Annotation.study_id) == study.id,
            col(Annotation.study_item_id) == Settlement.study_item_id,
            col(Annotation.person_id) == actor.person_id,
            col(Annotation.kind).in_(COUNTING),
        )
        waiting.append(~own.exists())
    if not is_double(study):
        return waiting
    mine = pick(Adjudication.id).where(
        col(Adjudication.study_item_id) == Settlement.study_item_id,
        col(Adjudication.person_id) == actor.person_id,
        col(Adjudication.stage).in_(BLIND),
    )
    alone = (col(Settlement.stage) == Stage.FINAL) & ~_another(_deciders(study), study)
    return [*waiting, or_(~mine.exists(), alone)]


def n_without_decider(session: Session, study: Study, *, most: int) -> int:
    """How many disputed items of a study wait for a decision that nobody may make; `most` are counted.

    Everybody whose role lets them decide has annotated the item, or made the other one of its two decisions.
    """
    people = _deciders(study, administrators=True)
    there = people.subquery()
    took_part = pick(Annotation.id).where(
        col(Annotation.study_id) == study.id,
        col(Annotation.person_id) == there.c.id,
        col(Annotation.kind).in_(COUNTING),
    )
    outsiders = pick(func.count()).select_from(there)
    if not study.settings.get("allow_own_adjudication"):
        outsiders = outsiders.where(~took_part.exists())
    if session.execute(outsiders).scalar_one() >= (len(BLIND) if is_double(study) else 1):
        return 0  # whoever has annotated nothing may decide everything
    waiting = pick(Settlement.study_item_id).where(
        col(Settlement.study_id) == study.id,
        col(Settlement.state) == SettlementState.DISPUTED,
        ~_another(people, study, final_too=True),
    )
    return int(session.execute(pick(func.count()).select_from(waiting.limit(most).subquery())).scalar_one())


def is_by_uncertainty(session: Session, study_id: int) -> bool:
    """Whether some disputes of a study are ordered by the model."""
    query = select(Settlement.study_item_id).where(
        Settlement.study_id == study_id, col(Settlement.uncertainty).is_not(None)
    )
    return session.exec(query.limit(1)).first() is not None


def open_decisions(study: Study, stage: str) -> int:
    """How many people may have an item before them at once that waits for a decision of this stage."""
    return 2 if is_double(study) and stage == Stage.FIRST else 1


def names_of_rounds(
    session: Session, study: Study, rounds: dict[Stage, Round], actor: Actor
) -> dict[Stage, str | None]:
    """What two blind rounds are called in the final one; None is one's own, and names stand where they are shown."""
    names: dict[int, str] = defaultdict(str)
    if study.settings.get("show_names"):
        names |= names_of(session, {each.person_id for each in rounds.values()})
    return {
        stage: None if each.person_id == actor.person_id else names[each.person_id] or stage.value.capitalize()
        for stage, each in rounds.items()
    }


# What two said --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TwoDecisions:
    """A unit that two adjudicators decided blind to each other: what each said."""

    study_item_id: int
    criterion: str
    target: str
    first: Any
    second: Any


@dataclass(frozen=True)
class DoubleDecided:
    """What double adjudication has come to: items that both have decided, those with a final round, units."""

    items: int
    finals: int
    units: list[TwoDecisions]


@operation(On.STUDY, READERS)
def double_decided(db: Database, _actor: Actor, study_id: int) -> DoubleDecided:
    """What two said of each unit that both have decided, of items that both have done."""
    with db.read() as session:
        rows = session.execute(
            select(Adjudication, AdjudicatedLabel)
            .join(AdjudicatedLabel, col(AdjudicatedLabel.adjudication_id) == Adjudication.id)
            .where(Adjudication.study_id == study_id, is_disclosed(None))
            .order_by(col(Adjudication.study_item_id), col(Adjudication.round))
        )
        given: dict[int, dict[str, tuple[int, dict[Unit, Any]]]] = defaultdict(dict)
        for row, label in rows:
            stages = given[row.study_item_id]
            if row.stage not in stages or stages[row.stage][0] != row.round:
                stages[row.stage] = (row.round, {})
            stages[row.stage][1][label.criterion, label.target] = label.value
    both = {item: stages for item, stages in given.items() if set(BLIND) <= set(stages)}
    units = [
        TwoDecisions(item, *unit, value, stages[Stage.SECOND][1][unit])
        for item, stages in both.items()
        for unit, value in stages[Stage.FIRST][1].items()
        if unit in stages[Stage.SECOND][1]
    ]
    return DoubleDecided(len(both), sum(Stage.FINAL in stages for stages in both.values()), units)
