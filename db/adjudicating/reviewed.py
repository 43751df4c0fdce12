"""Agreed items that adjudicators looked at as well: how many of their labels they overturned."""

from __future__ import annotations

from dataclasses import dataclass

from sqlmodel import col, select

from annotators.asking.rounds import Unit
from annotators.asking.settling import Known, disputed_units, settle_item
from db.engine import Database
from db.models import Settlement, SettlementState, Study
from db.permissions import READERS, Actor, On, operation
from db.studies.design import protocol_of
from db.studies.settlements import labels_and_decisions, looked_at_again

_AT_ONCE = 500


@dataclass(frozen=True)
class ReviewedItem:
    """An agreed item that was decided as well: of each decided unit whether another label became the final one."""

    study_item_id: int
    overturned: dict[Unit, bool]


@dataclass(frozen=True)
class Reviewed:
    """The agreed items of a study that were drawn to be looked at: how many, and what became of those decided."""

    drawn: int
    decided: list[ReviewedItem]


@operation(On.STUDY, READERS)
def reviewed_items(db: Database, _actor: Actor, study_id: int) -> Reviewed:
    """What became of the agreed items that were drawn; an item counts as agreed by its labels of today."""
    with db.read() as session:
        study = session.get_one(Study, study_id)
        protocol, known = protocol_of(study), Known()
        states = dict(
            session.execute(
                select(Settlement.study_item_id, Settlement.state)
                .where(Settlement.study_id == study_id, col(Settlement.state) != SettlementState.PENDING)
                .order_by(col(Settlement.study_item_id))
            ).all()
        )
        drawn, found = 0, []
        ids = sorted(looked_at_again(session.connection(), study, list(states)))
        for start in range(0, len(ids), _AT_ONCE):
            block = ids[start : start + _AT_ONCE]
            labels, decided, _ = labels_and_decisions(session.connection(), study, protocol, block)
            for item in block:
                mine = labels[item]
                units = list(settle_item(protocol, mine, study.rule, known))
                if disputed_units(protocol, units, mine.n_annotations, {}):
                    continue
                drawn += 1
                if states[item] != SettlementState.ADJUDICATED:
                    continue
                final = decided.get(item, {})
                overturned = {
                    (name, target): protocol.criterion(name).vote(final[name, target].value)
                    != protocol.criterion(name).vote(settled.value)
                    for name, target, settled in units
                    if (name, target) in final
                }
                found.append(ReviewedItem(item, overturned))
        return Reviewed(drawn, found)
