"""Whose the annotations are here that were made in another program, by what each is known as there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from sqlmodel import Session, col, select

from db.engine import Database
from db.items.current import withdrawn_batches
from db.models import Account, KnownElsewhere
from db.permissions import RESEARCHERS, Actor, On, operation
from db.query import pick

ERASED = ""
"""The name of somebody who was erased."""


class Whose(NamedTuple):
    """The study item that an annotation is of, and its annotator's name here (`ERASED`: they were erased since)."""

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
    """By the last row of each mark whose batch is not withdrawn; a skip counts until labels came in its place.

    Whoever was erased stays erased, whatever is withdrawn.
    """
    withdrawn = col(KnownElsewhere.batch_id).in_(withdrawn_batches())
    query = (
        pick(KnownElsewhere.mark, KnownElsewhere.study_item_id, Account.name, KnownElsewhere.batch_id, withdrawn)
        .select_from(KnownElsewhere)
        .outerjoin(Account, col(Account.person_id) == KnownElsewhere.person_id)
        .where(col(KnownElsewhere.study_id) == study_id)
        .order_by(col(KnownElsewhere.id))
    )
    found: dict[str, Whose] = {}
    skips: set[str] = set()
    for mark, of, name, batch, is_withdrawn in session.execute(query):
        if name is None:
            found[mark] = Whose(of, ERASED)
        elif batch is None:
            found[mark] = Whose(of, name)
            skips.add(mark)
        elif not is_withdrawn:
            found[mark] = Whose(of, name)
            skips.discard(mark)
        elif mark in skips:
            del found[mark]
            skips.discard(mark)
    return found


def remember(
    session: Session, study_id: int, there: Iterable[tuple[Iterable[str], Whose, int | None]], people: dict[str, int]
) -> None:
    """Write down whose annotations are, by their marks, and the batch that brought them; what is known adds nothing."""
    rows = session.execute(
        select(KnownElsewhere.mark, KnownElsewhere.person_id, KnownElsewhere.batch_id).where(
            KnownElsewhere.study_id == study_id
        )
    )
    known = {tuple(row) for row in rows}
    for marks, whose, batch in there:
        for mark in marks:
            if (mark, people[whose.annotator], batch) not in known:
                session.add(
                    KnownElsewhere(
                        study_id=study_id,
                        study_item_id=whose.study_item_id,
                        mark=mark,
                        person_id=people[whose.annotator],
                        batch_id=batch,
                    )
                )
