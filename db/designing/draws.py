"""Items of a study drawn to be labelled next: kept with their probabilities, and put before all others."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Connection, text
from sqlmodel import Session, col, select

from annotators.errors import Conflict, InvalidInput
from annotators.items.sampling import BY_SCORE, OWN
from db.engine import Database
from db.models import AssignmentState, DrawnItem, LabelDraw, Study
from db.permissions import READERS, RESEARCHERS, Actor, On, operation, record


@dataclass(frozen=True)
class KeptDraw:
    """A draw of a study: study item → probability in the order of the draw, by which predictions, when and by whom."""

    draw_id: int
    criterion: str
    seed: int
    predictions: tuple[str, ...]
    chances: Mapping[int, float]
    at: datetime


@operation(On.STUDY, RESEARCHERS)
def keep_draw(
    db: Database,
    actor: Actor,
    study_id: int,
    *,
    criterion: str,
    seed: int,
    predictions: Sequence[str],
    chances: Mapping[int, float],
) -> bool:
    """Keep a draw (study item → probability, in its order), and put its items before all others; whether they were put.

    In a study in which everybody has an order of their own they stay where they are. Conflict for an item that was
    drawn before; InvalidInput for a study that is ordered by a score, which draws its items itself.
    """
    if any(not 0 < chance <= 1 for chance in chances.values()) or not chances:
        raise InvalidInput("A draw needs items, each with a probability above 0 up to 1.")
    with db.write() as session:
        study = session.get_one(Study, study_id)
        check_may_draw(study)
        before = session.exec(
            select(DrawnItem.study_item_id).join(LabelDraw).where(col(LabelDraw.study_id) == study_id)
        )
        if again := set(before) & set(chances):
            raise Conflict(f"{len(again)} of these items were drawn meanwhile. Draw again.")
        draw = LabelDraw(
            study_id=study_id, criterion=criterion, seed=seed, predictions=list(predictions), person_id=actor.person_id
        )
        session.add(draw)
        session.flush()
        assert draw.id is not None
        for place, (study_item_id, probability) in enumerate(chances.items()):
            session.add(
                DrawnItem(study_item_id=study_item_id, draw_id=draw.id, place=place, probability=float(probability))
            )
        session.flush()
        first = study.item_order != OWN
        if first:
            _put_first(session, study, list(chances))
        details = {"criterion": criterion, "seed": seed, "items": len(chances), "first": first}
        record(session, actor, "labels drawn", "study", study_id, project_id=study.project_id, details=details)
        return first


def check_may_draw(study: Study) -> None:
    """InvalidInput for a study whose items are drawn by its order already."""
    if study.item_order == BY_SCORE:
        raise InvalidInput(
            f"The items of {study.name!r} are drawn by its order already, each with a known probability. "
            "Label them in that order, or make a study with another one."
        )


@operation(On.STUDY, READERS)
def draws_of(db: Database, _actor: Actor, study_id: int) -> list[KeptDraw]:
    """The draws of a study, the first one first."""
    with db.read() as session:
        draws = session.exec(select(LabelDraw).where(LabelDraw.study_id == study_id).order_by(col(LabelDraw.id))).all()
        of = [draw.id for draw in draws]
        chances: dict[int, dict[int, float]] = {}
        rows = select(DrawnItem).where(col(DrawnItem.draw_id).in_(of)).order_by(col(DrawnItem.place))
        for row in session.exec(rows):
            chances.setdefault(row.draw_id, {})[row.study_item_id] = row.probability
        return [
            KeptDraw(
                draw.id, draw.criterion, draw.seed, tuple(draw.predictions), chances.get(draw.id, {}), draw.created_at
            )
            for draw in draws
            if draw.id is not None
        ]


_BEFORE_ALL = text(
    "UPDATE assignment SET queue = :queue WHERE study_item_id = :item AND kind = 'slot' AND state = :open"
)
_IN_ORDER = (
    "SELECT id, row_number() OVER (ORDER BY queue, id) AS place FROM assignment "
    "WHERE study_id = :study AND kind = 'slot' AND state = :open"
)
_ANEW = text(
    f"UPDATE assignment SET queue = :behind + numbered.place FROM ({_IN_ORDER}) AS numbered "
    "WHERE assignment.id = numbered.id RETURNING assignment.id"
)
_NEXT = text("UPDATE study SET next_queue = :next WHERE id = :study")


def _put_first(session: Session, study: Study, study_items: Sequence[int]) -> None:
    """Number all open slots anew behind every number there is, those of these items first, so that all meet them.

    An annotator takes what has a greater number than what they had last.
    """
    connection: Connection = session.connection()
    session.refresh(study, ["next_queue"])
    about = {"study": study.id, "open": AssignmentState.OPEN}
    for place, study_item_id in enumerate(study_items):
        connection.execute(
            _BEFORE_ALL, {"queue": place - len(study_items), "item": study_item_id, "open": AssignmentState.OPEN}
        )
    renumbered = connection.execute(_ANEW, about | {"behind": study.next_queue}).all()
    connection.execute(_NEXT, {"next": study.next_queue + len(renumbered) + 1, "study": study.id})
    session.refresh(study, ["next_queue"])
