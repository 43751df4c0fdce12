"""Whose the annotations are here that were made in another program, by what each is known as there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sqlmodel import Session, col, select

from db.engine import Database
from db.items.current import withdrawn_batches
from db.models import Account, KnownElsewhere
from db.permissions import RESEARCHERS, Actor, On, operation


class Whose(NamedTuple):
    """The study item that an annotation is of, and its annotator's name here; none where they were erased since."""

    study_item_id: int
    annotator: str


@operation(On.STUDY, RESEARCHERS)
def whose_elsewhere(db: Database, _actor: Actor, study_id: int) -> dict[str, Whose]:
    """Mark of an annotation there → whose it is here, of all that were taken into the study and not withdrawn since."""
    with db.read() as session:
        return _whose(session, study_id)


def taken_in(session: Session, study_id: int) -> list[Whose]:
    """Whose annotations were taken into the study, but for skips and what was withdrawn since."""
    query = (
        select(KnownElsewhere.study_item_id, Account.name)
        .join(Account, col(Account.person_id) == KnownElsewhere.person_id)
        .where(
            KnownElsewhere.study_id == study_id,
            col(KnownElsewhere.batch_id).is_not(None),
            col(KnownElsewhere.batch_id).not_in(withdrawn_batches()),
        )
        .distinct()
    )
    return [Whose(of, name) for of, name in session.execute(query)]


def _whose(session: Session, study_id: int) -> dict[str, Whose]:
    query = (
        select(KnownElsewhere.mark, KnownElsewhere.study_item_id, Account.name)
        .outerjoin(Account, col(Account.person_id) == KnownElsewhere.person_id)
        .where(
            KnownElsewhere.study_id == study_id,
            col(KnownElsewhere.batch_id).is_(None) | col(KnownElsewhere.batch_id).not_in(withdrawn_batches()),
        )
        .order_by(col(KnownElsewhere.id))
    )
    return {mark: Whose(of, name or "") for mark, of, name in session.execute(query)}


def remember(
    session: Session, study_id: int, there: Iterable[tuple[Iterable[str], Whose, int | None]], people: dict[str, int]
) -> None:
    """Write down whose annotations are, by their marks, and the batch that brought them; what is known adds nothing."""
    known = _whose(session, study_id)
    for marks, whose, batch in there:
        for mark in marks:
            if known.get(mark) != whose:
                session.add(
                    KnownElsewhere(
                        study_id=study_id,
                        study_item_id=whose.study_item_id,
                        mark=mark,
                        person_id=people[whose.annotator],
                        batch_id=batch,
                    )
                )
