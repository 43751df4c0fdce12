"""The order of disputes by how little a model of the annotators knows of them, instead of by how they voted."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from sqlmodel import Session, col, select, update

from annotators.agreement.tables.ratings import COMPOSED, Ratings
from annotators.arrays import np
from annotators.errors import Conflict
from db.engine import Database
from db.models import Settlement, SettlementState, Study
from db.permissions import ADJUDICATORS, Actor, On, operation, record
from db.studies.ratings import ratings

SMOOTHING = 0.01
"""Added to every expected count: a label that somebody never gave is rare, not impossible."""


@dataclass(frozen=True)
class Ordered:
    """How many disputes are ordered by the model, and of which criteria it says nothing, with the reason of each."""

    items: int
    left_out: dict[str, str]


def _uncertainty_of_items(db: Database, actor: Actor, study_id: int) -> tuple[dict[int, float], dict[str, str]]:
    """Study item → the entropy in bits, over its units, of the true labels by Dawid and Skene's model of annotators.

    Who is often wrong weighs little there: two against one may be less certain than one against one. Criteria that the
    model says nothing of (sets, texts, too few labels) are left out, each with the reason. Conflict where it says
    nothing of any.
    """
    from annotators.agreement.rater_models.dawid_skene import dawid_skene  # noqa: PLC0415 - SciPy

    found = ratings(db, actor, study_id, named=False)
    asked = {criterion.name for criterion in found.protocol.criteria if criterion.compared}
    bits: Counter[int] = Counter()
    reasons: dict[str, str] = {}
    fitted = 0
    for column in found.criteria:
        criterion, scale = column.criterion, column.criterion.measured_scale
        if criterion.name not in asked:
            continue
        if scale is None or scale in COMPOSED:
            reasons[criterion.name] = "the model needs one label a unit"
            continue
        values = [column.distinct[place] for place in column.value.tolist()]
        table = Ratings.from_triples(
            column.unit.tolist(), column.raters, values, criterion.stored_labels() or None, scale
        )
        model = dawid_skene(table, smoothing=SMOOTHING)
        if model.reason is not None:
            reasons[criterion.name] = model.reason
            continue
        fitted += 1
        items = column.items.study_item[column.item].tolist()
        for unit, entropy in zip(model.units, np.nan_to_num(model.entropy).tolist(), strict=True):
            bits[items[int(str(unit))]] += entropy
    if not fitted:
        why = "; ".join(f"{name}: {reason}" for name, reason in reasons.items()) or "there are no labels"
        raise Conflict(f"The model of the annotators says nothing of this study ({why}). Order by disagreement.")
    return dict(bits), reasons


@operation(On.STUDY, ADJUDICATORS)
def order_by_uncertainty(db: Database, actor: Actor, study_id: int) -> Ordered:
    """Let adjudicators get the disputes of now by how uncertain the model is of them; later ones follow, by votes."""
    bits, reasons = _uncertainty_of_items(db, actor, study_id)
    with db.write() as session:
        study = session.get_one(Study, study_id)
        _forget(session, study_id)
        waiting = select(Settlement).where(
            Settlement.study_id == study_id, Settlement.state == SettlementState.DISPUTED
        )
        n = 0
        for row in session.exec(waiting):
            row.uncertainty = bits.get(row.study_item_id, 0.0)
            session.add(row)
            n += 1
        _record(session, actor, study, "uncertainty")
        return Ordered(n, reasons)


@operation(On.STUDY, ADJUDICATORS)
def order_by_disagreement(db: Database, actor: Actor, study_id: int) -> None:
    """Let adjudicators get the disputes by how the annotators voted again."""
    with db.write() as session:
        _forget(session, study_id)
        _record(session, actor, session.get_one(Study, study_id), "disagreement")


def _forget(session: Session, study_id: int) -> None:
    session.execute(
        update(Settlement)
        .where(col(Settlement.study_id) == study_id, col(Settlement.uncertainty).is_not(None))
        .values(uncertainty=None)
    )


def _record(session: Session, actor: Actor, study: Study, by: str) -> None:
    record(
        session, actor, "disputes ordered", "study", study.id, project_id=study.project_id, details={"by": by}
    )  # fmt: skip
