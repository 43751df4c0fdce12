"""What annotators would get of one item under a protocol, step by step, before any study is made of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlmodel import select

from annotators.designing.design import StudyDesign
from annotators.protocols import Protocol
from db.annotating.presentations import present
from db.engine import Database
from db.models import AssignmentState, StudyItem
from db.permissions import RESEARCHERS, Actor, On, operation
from db.studies.design import choose_and_insert

_OF_THE_ASSIGNMENT = ("assignment", "sitting", "step", "returned", "committed", "previous", "draft")
"""What a presentation says of somebody's assignment, which a preview has none of."""


@dataclass(frozen=True)
class StepPreview:
    """One step: its name, what is shown by then, the targets of each of its criteria, and what the browser gets."""

    step: str
    shown: list[str]
    units: dict[str, list[str]]
    material: dict[str, Any]

    def presentation(self, number: int) -> dict[str, Any]:
        """What the annotator's page gets at this step, the one of this number (from 0): of nobody's assignment."""
        nobody = {"assignment": 0, "sitting": 1, "committed": [], "previous": [], "returned": None, "draft": None}
        return {**self.material, "shown": self.shown, "units": self.units, "step": number, **nobody}


@dataclass(frozen=True)
class _Somebody:
    """An assignment that nobody has: at a step of an item."""

    study_item_id: int
    steps_done: int
    id: int | None = 0
    state: str = AssignmentState.LEASED
    sitting: int = 1
    reason: str | None = None


@operation(On.PROJECT, RESEARCHERS)
def preview(db: Database, actor: Actor, project_id: int, *, protocol: Protocol, external_id: str) -> list[StepPreview]:
    """What the browser would get of this item at each step, by the code that gives it there.

    A study of this one item is made in a transaction that is taken back, so that scores and parts are chosen as for any
    study. InvalidInput for an item that the project does not have, or that no study of this protocol would take.
    """
    design = StudyDesign(name="preview", annotators=(), overlap=1, items=(external_id,))
    with db.write() as session:
        study = choose_and_insert(session, actor, project_id, protocol=protocol, design=design)
        [study_item_id] = session.exec(select(StudyItem.id).where(StudyItem.study_id == study.id)).all()
        assert study_item_id is not None
        shown = [
            present(session, study, [_Somebody(study_item_id, number)])[0] for number in range(len(protocol.steps))
        ]
        session.rollback()
    return [
        StepPreview(
            step=step.name,
            shown=given["shown"],
            units=given["units"],
            material={
                name: value for name, value in given.items() if name not in ("shown", "units", *_OF_THE_ASSIGNMENT)
            },
        )
        for step, given in zip(protocol.steps, shown, strict=True)
    ]
