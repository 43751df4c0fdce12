"""The disputes of a study with their votes, as `assay disputes` lists them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from sqlmodel import col, select

from annotators.asking.rounds import Stage
from annotators.asking.settling import Known, settle_item, to_decide
from annotators.items.pairs import BETWEEN
from db.adjudicating.stages import blind_rounds, is_double, units_left
from db.engine import Database
from db.models import Assignment, AssignmentState, Settlement, SettlementState, Study
from db.permissions import ADJUDICATORS, Actor, On, operation
from db.studies.design import protocol_of
from db.studies.items import names_in_study
from db.studies.settlements import labels_and_decisions

_AT_ONCE = 500


@dataclass(frozen=True)
class ListedUnit:
    """A disputed criterion and target: how many gave each value, and the share against the most frequent (0 to 1)."""

    criterion: str
    target: str
    votes: dict[str, int]
    weight: float


@dataclass(frozen=True)
class ListedDispute:
    """A disputed item (of a pair: with the other) and the units to decide of it, in the protocol's order.

    `stage` says which decision it waits for: the `first`, or in double adjudication the `second` or the `final` one,
    which is about the units alone that the first two leave otherwise.
    """

    item: str
    other: str | None
    units: tuple[ListedUnit, ...]
    stage: str

    @property
    def weight(self) -> float:
        """What orders disputes: the sum over its units."""
        return sum(unit.weight for unit in self.units)

    def to_json(self) -> dict[str, Any]:
        """As `assay disputes --json` prints it."""
        units = [
            {"criterion": unit.criterion, "target": unit.target, "votes": unit.votes, "weight": unit.weight}
            for unit in self.units
        ]
        about = {"item": self.item} | ({"other_item": self.other} if self.other else {})
        return {**about, "units": units, "stage": self.stage}


@operation(On.STUDY, ADJUDICATORS)
def listed_disputes(db: Database, actor: Actor, study_id: int) -> list[ListedDispute]:
    """Every item that waits for a decision, most disputed first, with how the votes stand.

    Items that this person has before them to judge are left out: people judge before they are told.
    """
    before_them = (AssignmentState.LEASED, AssignmentState.RETURNED)
    own = select(Assignment.study_item_id).where(
        Assignment.study_id == study_id,
        Assignment.person_id == actor.person_id,
        col(Assignment.state).in_(before_them),
    )
    waiting = (
        select(Settlement.study_item_id, Settlement.stage)
        .where(
            Settlement.study_id == study_id,
            Settlement.state == SettlementState.DISPUTED,
            col(Settlement.study_item_id).not_in(own),
        )
        .order_by(
            col(Settlement.uncertainty).desc().nulls_last(),
            col(Settlement.dispute).desc(),
            col(Settlement.study_item_id),
        )
    )
    with db.read() as session:
        study = session.get_one(Study, study_id)
        protocol, known = protocol_of(study), Known()
        names = names_in_study(session, study_id)

        def found() -> Iterator[ListedDispute]:
            ordered = session.exec(waiting).all()
            for start in range(0, len(ordered), _AT_ONCE):
                block = ordered[start : start + _AT_ONCE]
                places = [place for place, _ in block]
                labels, _, values = labels_and_decisions(session.connection(), study, protocol, places)
                for study_item_id, stage in block:
                    mine = labels[study_item_id]
                    found = list(settle_item(protocol, mine, study.rule, known))
                    if is_double(study) and stage == Stage.FINAL:
                        given = blind_rounds(session, study_item_id)
                        left = set(units_left(protocol, found, mine.n_annotations, given))
                        asked = [unit for unit in found if unit[:2] in left]
                    else:
                        stands = values.get(study_item_id, {})
                        asked = to_decide(protocol, found, mine.n_annotations, stands)
                    units = tuple(
                        ListedUnit(criterion, target, settled.votes, settled.dispute)
                        for criterion, target, settled in asked
                    )
                    item, _, other = names[study_item_id].partition(BETWEEN)
                    yield ListedDispute(item, other or None, units, stage)

        return list(found())
