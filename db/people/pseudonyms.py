"""Who is told annotators' names, and what they are called elsewhere: A1, A2 … in the order of their first submission.

That order never changes: somebody who joins later gets the next number, and an export made again calls everybody as
before. Models are called M1, M2 … likewise. Beside a single item they are R1, R2 …, in an order drawn for the item.
"""

from __future__ import annotations

import hmac
from collections import defaultdict
from collections.abc import Iterable, Mapping

from sqlalchemy import func
from sqlmodel import Session, col

from db.models import Account, Assignment, Person, PersonKind, Study, Submission
from db.permissions import RESEARCHERS, Actor, role_in
from db.query import pick


def sees_names(session: Session, actor: Actor, study: Study) -> bool:
    """Whether this person is told who gave which label: researchers are, others where the study says so.

    Adjudicators decide without knowing whose word it is.
    """
    role = role_in(session, actor.person_id, study.project_id)
    return role in RESEARCHERS or bool(study.settings.get("show_names"))


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


def raters_of(study: Study, study_item_id: int, people: Iterable[int], *, then: Iterable[int] = ()) -> dict[int, str]:
    """Person id → R1, R2 …, as those are called, in this order, who judged an item, where their names are not told.

    The order is drawn for the item and stays. So it tells nothing of who they are, nor of those of another item: not by
    when somebody joined, not by the order in which a study names its annotators, and not to who knows its seed and the
    ids. `then`: who counts behind them.
    """

    def drawn(some: Iterable[int]) -> list[int]:
        return sorted(some, key=lambda who: _keyed(study, f"rater {study_item_id}:{who}"))

    first = set(people)
    return {who: f"R{n}" for n, who in enumerate([*drawn(first), *drawn(set(then) - first)], 1)}


def annotation_mark(study: Study, assignment_id: int) -> str:
    """What an annotation is called to who is not told whose it is: ids tell who worked when."""
    return _keyed(study, f"assignment {assignment_id}")


def _keyed(study: Study, text: str) -> str:
    """A digest that nobody can work out without the study's secret."""
    return hmac.new(study.secret.encode(), text.encode(), "sha256").hexdigest()


def real_names(session: Session, study_id: int, *, people: bool = True) -> dict[int, str]:
    """Person id → account name; an erased person keeps the pseudonym. Without `people` only models have their names.

    No two are called alike: where somebody has the name that is another's pseudonym here, and stands for them, an
    erased person is told as one, and a model keeps its own pseudonym.
    """
    called = pseudonyms(session, study_id)
    query = pick(Account.person_id, Account.name).where(col(Account.person_id).in_(list(called)))
    if not people:
        query = query.join(Person, col(Person.id) == col(Account.person_id)).where(col(Person.kind) == PersonKind.MODEL)
    named: dict[int, str] = dict(session.execute(query).all())
    if not people:
        kept = {pseudonym for person_id, pseudonym in called.items() if person_id not in named}
        named = {person_id: name for person_id, name in named.items() if name not in kept}
    return told_apart(called, named)


def called_in_exports(session: Session, study_id: int) -> dict[str, list[int]]:
    """What an export of the study calls its people, by names or by pseudonyms → the ids of those whom it calls so."""
    called = pseudonyms(session, study_id)
    accounts = pick(Account.person_id, Account.name).where(col(Account.person_id).in_(list(called)))
    found = defaultdict[str, list[int]](list)
    for names in (called, told_apart(called, dict(session.execute(accounts).all()))):
        for person_id, name in names.items():
            found[name].append(person_id)
    return dict(found)


def told_apart(called: Mapping[int, str], named: Mapping[int, str]) -> dict[int, str]:
    """Person id → name, else what they are called without one, which is no name of anybody else."""
    taken, found = set(named.values()), dict[int, str]()
    for person_id, otherwise in called.items():
        name = named.get(person_id)
        if name is None:
            name = otherwise
            while name in taken:
                name += " (erased)"
            taken.add(name)
        found[person_id] = name
    return found
