"""Who of a study's annotators gets its items, and who sees what they were given: for rows at hand and for queries."""

from __future__ import annotations

from typing import Any

from sqlalchemy import TextClause, text
from sqlmodel import Session

from annotators.errors import NotAllowed
from db.permissions import ANNOTATORS

GONE = ("left_at", "left_out_from", "paused_at", "failed_at")
"""What of a place in a study (`StudyMember`) says, once it has a time, that its annotator gets no items."""


def is_gone(place: Any) -> bool:
    """Whether a place, of somebody whose role lets them annotate, gets no items."""
    return any(getattr(place, name) is not None for name in GONE)


_ROLES = ", ".join(f"'{role.value}'" for role in sorted(ANNOTATORS))
_MAY_ANNOTATE = (
    "EXISTS (SELECT 1 FROM person who JOIN study its ON its.id = {m}.study_id LEFT JOIN membership held "
    "ON held.project_id = its.project_id AND held.person_id = who.id WHERE who.id = {m}.person_id "
    f"AND who.erased_at IS NULL AND (who.is_admin OR coalesce(held.role, who.default_role) IN ({_ROLES})))"
)
"""Whoever was erased, or has a role now that does not annotate, is let in nowhere: nothing is to wait for them."""


def gets_items(alias: str = "m") -> str:
    """The condition, in SQL, that a row of `study_member` gets items: it is not gone, and its person may annotate."""
    return " AND ".join([*(f"{alias}.{name} IS NULL" for name in GONE), _MAY_ANNOTATE.format(m=alias)])


GETS_ITEMS: TextClause = text(gets_items("study_member"))
MAY_ANNOTATE: TextClause = text(_MAY_ANNOTATE.format(m="study_member"))
"""The same, and its part about the person, for statements that name the table itself."""

_GETTING = text(f"SELECT m.person_id FROM study_member m WHERE m.study_id = :study AND {gets_items()}")


def who_gets_items(session: Session, study_id: int) -> set[int]:
    """The annotators of a study who get its items, while it gives any."""
    return set(session.execute(_GETTING, {"study": study_id}).scalars())


# What they were given before ------------------------------------------------------------------------------------------


def sees_own(place: Any) -> bool:
    """Whether a place, of somebody whose role lets them annotate, still shows what it was given.

    Not of who was taken out of the study, declined to take part, or ended. Who gets no items for another reason still
    sees what they had.
    """
    return place.left_at is None


def check_sees_own(place: Any) -> None:
    """Raise NotAllowed for who left the study (`sees_own`)."""
    if not sees_own(place):
        raise NotAllowed("You are no annotator of this study any more. What you submitted stands.")


def seeing_own(study: str, person: str) -> str:
    """The condition, in SQL, that a person is an annotator of a study now, by role and place; both are columns in SQL.

    Whatever shows somebody what they were given asks it anew each time.
    """
    may = _MAY_ANNOTATE.format(m="place")
    return (
        f"EXISTS (SELECT 1 FROM study_member place WHERE place.study_id = {study} AND place.person_id = {person} "
        f"AND place.left_at IS NULL AND {may})"
    )


SEES_OWN: TextClause = text(seeing_own("assignment.study_id", "assignment.person_id"))
IN_THEIR_PLACE: TextClause = text(seeing_own("study_member.study_id", "study_member.person_id"))
"""The same of an assignment's person, and of a place, for statements that name the table itself."""

_SEES = text(f"SELECT 1 WHERE {seeing_own(':study', ':person')}")


def may_see_own(session: Session, study_id: int, person_id: int) -> bool:
    """Whether somebody sees now what a study has given them."""
    return session.execute(_SEES, {"study": study_id, "person": person_id}).first() is not None
