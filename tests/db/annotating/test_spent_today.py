"""The seconds of a day are those of its submissions, and are not added up anew each time."""

from __future__ import annotations

import random
import uuid
from datetime import UTC, datetime, timedelta

from sqlalchemy import event
from sqlmodel import col, select

from db.annotating.spent_today import spent_today
from db.engine import Database
from db.models import Assignment, Submission
from tests.makers import StudyInUse

MIDNIGHT = datetime(2026, 5, 4, 22, tzinfo=UTC)  # of a place east of Greenwich


class Day:
    """A person who submits at minutes of a day that a test says."""

    def __init__(self, database: Database) -> None:
        study = StudyInUse(database, items=1, annotators=1, overlap=1)
        study.work(0)
        self.db, self.person_id = database, study.annotators[0].person_id
        with database.read() as session:
            self.assignment = session.scalars(select(Assignment.id).where(col(Assignment.person_id) > 0)).one()
        self.step = 0

    def submit(self, minute: float, seconds: float | None = 10) -> None:
        with self.db.write() as session:
            self.step += 1
            at = MIDNIGHT + timedelta(minutes=minute)
            session.add(
                Submission(
                    uid=uuid.uuid4().hex,
                    assignment_id=self.assignment,
                    sitting=1,
                    step=self.step,
                    person_id=self.person_id,
                    shown=[],
                    seconds=seconds,
                    created_at=at,
                )
            )

    def seconds(self, minute: float, midnight: datetime = MIDNIGHT) -> float:
        with self.db.read() as session:
            return spent_today(session, self.person_id, midnight, MIDNIGHT + timedelta(minutes=minute))


def test_they_are_those_of_the_day_whenever_they_are_asked_for(database: Database) -> None:
    day = Day(database)
    day.submit(-3)  # yesterday
    draw, minute, total = random.Random(7), 0.0, 0.0
    for number in range(60):
        minute += draw.choice([0.1, 1, 3, 14, 45])
        seconds = None if number % 9 == 0 else number
        day.submit(minute, seconds)
        total += seconds or 0
        if number % 2:
            assert day.seconds(minute) == total
    assert day.seconds(minute + 60) == total
    assert day.seconds(minute, MIDNIGHT + timedelta(minutes=minute + 1)) == 0, "the next day begins at nothing"


def test_what_another_process_stores_a_moment_late_is_not_missed(database: Database) -> None:
    day = Day(database)
    day.submit(1)
    assert day.seconds(30) == 10
    day.submit(29)  # its moment was taken before its transaction ended
    assert day.seconds(30) == 20
    assert day.seconds(90) == 20


def test_the_morning_is_not_looked_at_again_in_the_afternoon(database: Database) -> None:
    day = Day(database)
    for minute in range(300):
        day.submit(minute)
    assert day.seconds(300) == 3000
    asked: list[datetime] = []

    def look(_connection: object, _cursor: object, _statement: str, values: object, *_more: object) -> None:
        if isinstance(values, tuple | dict):
            found = values.values() if isinstance(values, dict) else values
            asked.extend(
                datetime.fromisoformat(str(seconds)).replace(tzinfo=UTC)
                for seconds in found
                if str(seconds).startswith("2026-05")
            )

    event.listen(database.engine, "before_cursor_execute", look)
    assert day.seconds(301) == 3000
    event.remove(database.engine, "before_cursor_execute", look)
    assert asked
    assert min(asked) > MIDNIGHT + timedelta(minutes=290)
