"""Judges that have labelled a study, with errors that a test chooses."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from sqlmodel import col, select

from db.engine import Database
from db.models import (
    Annotation,
    AnnotationKind,
    Assignment,
    AssignmentState,
    Item,
    ItemVersion,
    Person,
    StoredLabel,
    StudyItem,
    Submission,
)
from db.permissions import Actor
from db.query import pick
from exports.judging.data import judged_study
from tests.exports.judged import Judged, make_judged
from tests.makers import make_person

Say = Callable[[str], Mapping[str, Any]]
"""From an item's name: criterion → label."""


def judge_labels(db: Database, study_id: int, name: str, say: Say) -> None:
    """Labels of a rater of kind model on every item of the study."""
    judge = make_person(db, name)
    with db.write() as session:
        session.get_one(Person, judge.person_id).kind = "model"
        rows = session.exec(
            select(StudyItem.id, Item.external_id)
            .join(ItemVersion, col(ItemVersion.id) == StudyItem.item_version_id)
            .join(Item, col(Item.id) == ItemVersion.item_id)
            .where(col(StudyItem.study_id) == study_id)
        ).all()
        for place, item in rows:
            of: dict[str, Any] = {"study_id": study_id, "study_item_id": place, "person_id": judge.person_id}
            kind = AnnotationKind.MODEL
            assignment = Assignment(**of, kind=kind, state=AssignmentState.SUBMITTED, queue=0, steps_done=1)
            session.add(assignment)
            session.flush()
            mine: Any = assignment.id
            submission = Submission(uid=f"{name}-{place}", assignment_id=mine, person_id=judge.person_id)
            session.add(submission)
            session.flush()
            session.add(Annotation(**of, kind=kind, assignment_id=mine))
            given: Any = submission.id
            for criterion, value in say(item).items():
                label = StoredLabel(submission_id=given, assignment_id=mine, criterion=criterion, value=value)
                session.add(label)


def panelled(db: Database, admin: Actor, folder: Path, errors: Mapping[str, float], **of: Any) -> Judged:
    """A study in which each judge says what most people do, but for so many errors on `right`; `quality` by chance."""
    made = make_judged(db, admin, folder, **of)
    people = judged_study(db, admin, made.study_id).criterion("right").majority[0]
    with db.read() as session:
        query = (
            pick(Item.external_id, StudyItem.id)
            .join(ItemVersion, col(ItemVersion.item_id) == Item.id)
            .join(StudyItem, col(StudyItem.item_version_id) == ItemVersion.id)
        )
        unit = {name: str(place) for name, place in session.execute(query).all()}
    for place, (judge, error) in enumerate(errors.items()):
        rng = np.random.default_rng(place)

        def say(item: str, rng: np.random.Generator = rng, error: float = error) -> Mapping[str, Any]:
            right = people.get(unit[item], "no")
            other = "no" if right == "yes" else "yes"
            return {"right": other if rng.random() < error else right, "quality": int(rng.integers(1, 6))}

        judge_labels(db, made.study_id, judge, say)
    return made
