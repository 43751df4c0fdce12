"""What annotators would get of one item under a protocol, step by step, before any study is made of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlmodel import select

from annotators.designing.design import StudyDesign
from annotators.errors import InvalidInput
from annotators.items.sampling import Candidate
from annotators.protocols import Protocol
from db.annotating.disclosure import AssignmentReading, reading_at
from db.annotating.presentations import Unassigned, present
from db.engine import Database
from db.models import StudyItem
from db.permissions import RESEARCHERS, Actor, On, operation
from db.studies.design import choose_and_insert
from db.studies.selection import candidates

_OF_THE_ASSIGNMENT = ("assignment", "sitting", "step", "returned", "committed", "previous", "draft")
"""What a presentation says of somebody's assignment, which a preview has none of."""


@dataclass(frozen=True)
class StepPreview:
    """One step: its name, what is shown by then, the targets of each of its criteria, and what the browser gets.

    `reading` is what of it the browser has looked for on the pages.
    """

    step: str
    shown: list[str]
    units: dict[str, list[str]]
    material: dict[str, Any]
    reading: AssignmentReading

    def presentation(self, number: int) -> dict[str, Any]:
        """What the annotator's page gets at this step, the one of this number (from 0): of nobody's assignment."""
        nobody = {"assignment": 0, "sitting": 1, "committed": [], "previous": [], "returned": None, "draft": None}
        return {**self.material, "shown": self.shown, "units": self.units, "step": number, **nobody}


def _of_a_pair(design: StudyDesign, pool: Sequence[Candidate]) -> StudyDesign:
    """The design of a study of the pair that an item makes with an answer of another system.

    As it is for an item that is not there, which the study names then.
    """
    [external_id] = design.items
    item = next((one for one in pool if one.external_id == external_id), None)
    if item is None:
        return design
    others = [one for one in pool if one.question_key == item.question_key and one.system != item.system]
    if not others:
        raise InvalidInput(
            f"A pair is the answers of two systems, and the question of item {external_id!r} has only that of "
            f"{item.system!r}. Name an item whose question has answers of two."
        )
    other = min(others, key=lambda one: (one.system <= item.system, one.system, one.external_id))
    pair = {"items": (external_id, other.external_id), "pairs": tuple(sorted((item.system, other.system)))}
    return design.model_copy(update=pair)


@operation(On.PROJECT, RESEARCHERS)
def preview(db: Database, actor: Actor, project_id: int, *, protocol: Protocol, external_id: str) -> list[StepPreview]:
    """What the browser would get of this item at each step, by the code that gives it there.

    A study of this one item is made in a transaction that is taken back, so that scores and parts are chosen as for any
    study. Under a protocol about pairs it is shown with the answer of the next other system to its question.
    InvalidInput for an item that the project does not have, or that no study of this protocol would take.
    """
    design = StudyDesign(name="preview", annotators=(), overlap=1, items=(external_id,))
    with db.write() as session:
        if protocol.about_pairs:
            design = _of_a_pair(design, candidates(session, project_id))
        study = choose_and_insert(session, actor, project_id, protocol=protocol, design=design)
        [study_item_id] = session.exec(select(StudyItem.id).where(StudyItem.study_id == study.id)).all()
        assert study_item_id is not None
        steps = range(len(protocol.steps))
        shown = [present(session, study, [Unassigned(study_item_id, number)])[0] for number in steps]
        readings = [reading_at(session, study, study_item_id, number) for number in steps]
        session.rollback()
    return [
        StepPreview(
            step=step.name,
            shown=given["shown"],
            units=given["units"],
            material={
                name: value for name, value in given.items() if name not in ("shown", "units", *_OF_THE_ASSIGNMENT)
            },
            reading=found,
        )
        for step, given, found in zip(protocol.steps, shown, readings, strict=True)
    ]
