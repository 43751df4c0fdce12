"""What annotators are called where their names do not leave: A1, A2 … in the order of their first submission.

That order never changes: somebody who joins later gets the next number, and an export made again calls everybody as
before. Models are called M1, M2 … likewise.
"""

from __future__ import annotations

from sqlalchemy import func
from sqlmodel import Session, col

from db.models import Account, Assignment, Person, PersonKind, Submission
from db.query import pick


def pseudonyms(session: Session, study_id: int) -> dict[int, str]:
    """Person id → pseudonym, for everybody who has submitted anything in the study."""
    first = func.min(Submission.id)
    rows = session.execute(
        pick(Submission.person_id, Person.kind, first)
        .join(Assignment, col(Assignment.id) == Submission.assignment_id)
        .join(Person, col(Person.id) == Submission.person_id)
        .where(col(Assignment.study_id) == study_id)
        .group_by(col(Submission.person_id), col(Person.kind))
        .order_by(first)
    ).all()
    counts = {"A": 0, "M": 0}
    found = {}
    for person_id, kind, _ in rows:
        letter = "M" if kind == PersonKind.MODEL else "A"
        counts[letter] += 1
        found[person_id] = f"{letter}{counts[letter]}"
    return found


def real_names(session: Session, study_id: int) -> dict[int, str]:
    """Person id → account name; an erased person keeps the pseudonym."""
    called = pseudonyms(session, study_id)
    rows = session.execute(pick(Account.person_id, Account.name).where(col(Account.person_id).in_(list(called))))
    return called | {person_id: name for person_id, name in rows}  # noqa: C416 - rows are not plain tuples
