"""How far a person has come in each of their studies, and how long it took them."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import func
from sqlmodel import col

from annotators.designing.own_figures import NONE, PROGRESS
from annotators.times import today_began
from db.engine import Database
from db.models import Assignment, AssignmentState, Study, StudyMember, Submission, Tally
from db.permissions import Actor, On, operation
from db.query import pick
from db.studies import tallies
from db.studies.design import expected
from db.studies.places import MAY_ANNOTATE


@dataclass(frozen=True)
class MyProgress:
    """One study of mine: items done of about how many, returned and skipped ones, and seconds spent, today and in all.

    `seconds_per_item` is over completed items; None before the first. `told`: the study lets annotators see it.
    """

    study_id: int
    study: str
    done: int
    of: int
    returned: int
    skipped: int
    seconds: int
    seconds_today: int
    seconds_per_item: float | None
    told: bool = True


@operation(On.APP, anyone_signed_in=True)
def my_progress(db: Database, actor: Actor) -> list[MyProgress]:
    """The studies that I am an annotator of, in the order they were made; today begins at the server's midnight."""
    midnight = today_began()
    with db.read() as session:
        studies = session.execute(
            pick(Study, StudyMember)
            .join(StudyMember, col(StudyMember.study_id) == col(Study.id))
            .where(col(StudyMember.person_id) == actor.person_id, MAY_ANNOTATE)
            .order_by(col(Study.id))
        ).all()
        spent_today = session.execute(
            pick(Assignment.study_id, func.sum(Submission.seconds))
            .select_from(Submission)
            .join(Assignment, col(Assignment.id) == col(Submission.assignment_id))
            .where(col(Submission.person_id) == actor.person_id, col(Submission.created_at) >= midnight)
            .group_by(col(Assignment.study_id))
        )
        today = {row[0]: row[1] for row in spent_today}
        found = []
        for study, member in studies:
            assert study.id is not None
            own, everybody = tallies.counts(session, study.id, actor.person_id), tallies.counts(session, study.id)
            of, _ = expected(session, study, member, own, n_open=everybody.get(AssignmentState.OPEN, 0))
            spent = [session.get(Tally, (study.id, actor.person_id, state)) for state in tallies.DONE]
            done, seconds = tallies.done(own), sum(tally.seconds for tally in spent if tally)
            found.append(
                MyProgress(
                    study.id,
                    study.name,
                    done,
                    of,
                    own.get(AssignmentState.RETURNED, 0),
                    own.get(AssignmentState.SKIPPED, 0),
                    round(seconds),
                    round(today.get(study.id) or 0),
                    seconds / done if done else None,
                    study.settings.get("own_figures", PROGRESS) != NONE,
                )
            )
        return found
