"""What is kept of a study's team is measured anew once somebody stands otherwise."""

from __future__ import annotations

import pytest

from db.engine import Database
from db.models import StudyMember, now
from db.quality.team import team_stamp
from tests.makers import StudyInUse


def stamp(study: StudyInUse) -> tuple[int, ...]:
    return team_stamp(study.db, study.researcher, study.study_id)


@pytest.mark.parametrize("name", ["left_at", "left_out_from", "paused_at", "qualified_at", "failed_at"])
def test_whatever_becomes_of_somebody_the_stamp_is_another(sqlite_database: Database, name: str) -> None:
    study = StudyInUse(sqlite_database, items=1, annotators=2, overlap=1)
    seen = [stamp(study)]
    for actor in study.annotators:
        for value in (now(), None):
            with sqlite_database.write() as session:
                member = session.get_one(StudyMember, (study.study_id, actor.person_id))
                setattr(member, name, value)
                session.add(member)
            seen.append(stamp(study))
    first, one, back, other, again = seen
    assert (first, first) == (back, again)
    assert len({first, one, other}) == 3


def test_a_label_makes_it_another_as_well(sqlite_database: Database) -> None:
    study = StudyInUse(sqlite_database, items=1, annotators=1, overlap=1)
    before = stamp(study)
    study.label_all(0)
    assert stamp(study) != before
