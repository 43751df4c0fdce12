"""Seconds that people have spent since midnight, known at every submission without adding the whole day up again."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from threading import Lock
from typing import Any
from weakref import WeakKeyDictionary

from sqlalchemy import Engine, bindparam, func
from sqlmodel import Session, col, select

from db.models import Submission, UtcTime, now

_UNSETTLED = timedelta(minutes=2)
"""What was submitted within this time is always looked up: another process may have it under way."""

_MOST = timedelta(minutes=10)
"""What was submitted before is added to what is kept when it is this long."""


def _between(since: Any, until: Any | None) -> Any:
    query = select(func.coalesce(func.sum(Submission.seconds), 0)).where(
        Submission.person_id == bindparam("person"), col(Submission.created_at) >= since
    )
    return query if until is None else query.where(col(Submission.created_at) < until)


_SINCE = _between(bindparam("since", type_=UtcTime()), None)
_SPAN = _between(bindparam("since", type_=UtcTime()), bindparam("until", type_=UtcTime()))


@dataclass(frozen=True)
class _SpentSoFar:
    midnight: datetime
    until: datetime
    seconds: float


class _Days:
    def __init__(self) -> None:
        self.lock = Lock()
        self.kept: dict[int, _SpentSoFar] = {}


_DAYS: WeakKeyDictionary[Engine, _Days] = WeakKeyDictionary()


def spent_today(session: Session, person_id: int, midnight: datetime, moment: datetime | None = None) -> float:
    """The seconds of the person's submissions since `midnight`; the same effort after ten submissions as after 10,000.

    Of the day up to a few minutes ago the sum is kept in this process. Submissions that are taken out of the database
    meanwhile (a person erased, a project deleted) are in it until midnight.
    """
    engine = session.get_bind().engine
    days = _DAYS.setdefault(engine, _Days())
    moment = moment or now()
    with days.lock:
        kept = days.kept.get(person_id)
        if kept is None or kept.midnight != midnight:
            kept = _SpentSoFar(midnight, midnight, 0.0)
    if moment - kept.until > _MOST:
        until = moment - _UNSETTLED
        more = session.execute(_SPAN, {"person": person_id, "since": kept.until, "until": until}).scalar_one()
        kept = _SpentSoFar(midnight, until, kept.seconds + more)
    with days.lock:
        days.kept[person_id] = kept
    return float(kept.seconds + session.execute(_SINCE, {"person": person_id, "since": kept.until}).scalar_one())
