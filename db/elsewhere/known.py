"""Whose the annotations are here that were made in another program, by what each is known as there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
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


class KnownThere(NamedTuple):
    """Whose annotations there are here, by their marks: with labels that stand; and skips, which tie nobody."""

    labelled: Mapping[str, Whose]
    skipped: Mapping[str, Whose]


@operation(On.STUDY, RESEARCHERS)
def whose_elsewhere(db: Database, _actor: Actor, study_id: int) -> KnownThere:
    """Whose the annotations are that were taken into the study and not withdrawn since."""
    with db.read() as session:
        return _whose(session, study_id)


def taken_in(session: Session, study_id: int) -> list[Whose]:
    """Whose annotations were ever taken into the study, but for what was withdrawn since; skips that ended too."""
    query = (
        select(KnownElsewhere.study_item_id, Account.name)
        .join(Account, col(Account.person_id) == KnownElsewhere.person_id)
        .where(
            KnownElsewhere.study_id == study_id,
            col(KnownElsewhere.batch_id).is_(None) | col(KnownElsewhere.batch_id).not_in(withdrawn_batches()),
        )
        .distinct()
    )
    return [Whose(of, name) for of, name in session.execute(query)]


def skipped_by(session: Session, study_id: int) -> dict[str, int]:
    """Mark of each annotation that came in as a skip → whose it was then, the last time."""
    query = (
        select(KnownElsewhere.mark, KnownElsewhere.person_id)
        .where(KnownElsewhere.study_id == study_id, col(KnownElsewhere.batch_id).is_(None))
        .order_by(col(KnownElsewhere.id))
    )
    return dict(session.execute(query).all())


def _whose(session: Session, study_id: int) -> KnownThere:
    """By the last row of each mark whose batch is not withdrawn; a skip counts until labels came in its place.

    Whoever was erased stays erased, whatever is withdrawn, and is among those with labels.
    """
    withdrawn = col(KnownElsewhere.batch_id).in_(withdrawn_batches())
    query = (
        pick(KnownElsewhere.mark, KnownElsewhere.study_item_id, Account.name, KnownElsewhere.batch_id, withdrawn)
        .select_from(KnownElsewhere)
        .outerjoin(Account, col(Account.person_id) == KnownElsewhere.person_id)
        .where(col(KnownElsewhere.study_id) == study_id)
        .order_by(col(KnownElsewhere.id))
    )
    labelled: dict[str, Whose] = {}
    skipped: dict[str, Whose] = {}
    for mark, of, name, batch, is_withdrawn in session.execute(query):
        if name is None:
            labelled[mark] = Whose(of, ERASED)
        elif batch is None:
            skipped[mark] = Whose(of, name)
            if mark in labelled and labelled[mark].annotator == ERASED:
                del labelled[mark]
        else:
            if not is_withdrawn:
                labelled[mark] = Whose(of, name)
            skipped.pop(mark, None)
    return KnownThere(labelled, skipped)


def remember(
    session: Session, study_id: int, there: Iterable[tuple[Iterable[str], Whose, int | None]], people: dict[str, int]
) -> None:
    """Write down whose annotations are, by their marks, and the batch that brought them; what is known adds nothing."""
    query = (
        select(KnownElsewhere.mark, KnownElsewhere.person_id, KnownElsewhere.batch_id)
        .where(KnownElsewhere.study_id == study_id)
        .order_by(col(KnownElsewhere.id))
    )
    rows = [tuple(row) for row in session.execute(query)]
    known, last = set(rows), {mark: (person, batch) for mark, person, batch in rows}
    for marks, whose, batch in there:
        for mark in marks:
            row = people[whose.annotator], batch
            # A skip that was somebody else's in between is written down again: its last row holds.
            if (mark, *row) not in known or (batch is None and last[mark] != row):
                session.add(
                    KnownElsewhere(
                        study_id=study_id,
                        study_item_id=whose.study_item_id,
                        mark=mark,
                        person_id=people[whose.annotator],
                        batch_id=batch,
                    )
                )
