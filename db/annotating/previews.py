"""What annotators would get of one item, step by step, before any study is made of it, and right labels given so."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session, select

from annotators.asking.submissions import GivenLabel
from annotators.designing.design import StudyDesign
from annotators.designing.known import RightLabel
from annotators.errors import InvalidInput
from annotators.items.pairs import BETWEEN, in_words, pair_name
from annotators.items.sampling import Candidate
from annotators.protocols import Protocol
from db.annotating.committing import StepSubmission, checked_labels
from db.annotating.disclosure import AssignmentReading, reading_at
from db.annotating.presentations import Unassigned, present, units_at
from db.engine import Database
from db.models import Study, StudyItem
from db.permissions import RESEARCHERS, Actor, On, operation
from db.studies.design import choose_and_insert
from db.studies.items import items_of_study
from db.studies.selection import candidates, choose

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


@operation(On.PROJECT, RESEARCHERS)
def preview(
    db: Database,
    actor: Actor,
    project_id: int,
    *,
    protocol: Protocol,
    external_id: str,
    other: str = "",
    design: StudyDesign | None = None,
) -> list[StepPreview]:
    """What the browser would get of this item at each step, by the code that gives it there.

    A study of this one item is made in a transaction that is taken back, so that scores and parts are chosen as for any
    study; as the `design` says it, suggestions are shown. Under a protocol about pairs it is shown with the `other`
    item, else with the answer of the next other system to its question. InvalidInput for an item that the project does
    not have, or that no study of this protocol would take.
    """
    with db.write() as session:
        study, study_item_id = _study_of_one(
            session, actor, project_id, protocol, pair=(external_id, other), design=design
        )
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


@operation(On.PROJECT, RESEARCHERS)
def right_labels(
    db: Database,
    actor: Actor,
    project_id: int,
    *,
    protocol: Protocol,
    external_id: str,
    other: str = "",
    steps: Mapping[int, Sequence[GivenLabel]],
) -> tuple[RightLabel, ...]:
    """What was said of an item in its preview (step, from 0 → labels) as right labels; a comment explains its label.

    What cannot be judged, and texts, of which none is right, are left out. Raises InvalidInput as for what an annotator
    submits, and where nothing is left.
    """
    earlier: list[GivenLabel] = []
    with db.write() as session:
        study, study_item_id = _study_of_one(session, actor, project_id, protocol, pair=(external_id, other))
        [place] = items_of_study(session, study.id or 0)
        for number, labels in sorted(steps.items()):
            known = units_at(session, study, study_item_id, number, fresh=True)
            step = StepSubmission("", 0, 1, number, tuple(labels))
            earlier += checked_labels(protocol, known, step, earlier)
        session.rollback()
    item, _, second = place.partition(BETWEEN)
    found = tuple(
        RightLabel(
            item=item,
            criterion=label.criterion,
            target="" if label.target in ("item", "pair") else label.target,
            value=label.value,
            explanation=label.comment or None,
            other_item=second or None,
        )
        for label in earlier
        if label.value is not None and protocol.criterion(label.criterion).compared
    )
    if not found:
        raise InvalidInput(f"Nothing was said of {in_words(place)} that can be right or wrong. Give it a label.")
    return found


@operation(On.PROJECT, RESEARCHERS)
def items_to_preview(
    db: Database, _actor: Actor, project_id: int, *, protocol: Protocol, design: StudyDesign
) -> list[str]:
    """The items, or pairs by their names, that a study of the design has: its sample in order, then those of its gold.

    Raises what choosing them raises.
    """
    with db.read() as session:
        chosen = choose(session, project_id, protocol, design)
    parts = [part for part in (design.qualification, design.gold) if part is not None]
    known = [pair_name(label.item, label.other_item) for part in parts for label in part.labels]
    return list(dict.fromkeys([*(candidate.name for candidate in chosen.ordered), *known]))


def _study_of_one(
    session: Session,
    actor: Actor,
    project_id: int,
    protocol: Protocol,
    *,
    pair: tuple[str, str],
    design: StudyDesign | None = None,
) -> tuple[Study, int]:
    """A study of one item, or of a pair of two, which the caller takes back, and its study item."""
    external_id, other = pair
    given: dict[str, Any] = {"name": secrets.token_hex(16), "overlap": 1, "items": (external_id,)}
    if design is not None:
        given |= {name: getattr(design, name) for name in ("suggestions", "suggested_by", "show_scores")}
    one = StudyDesign(**given)
    if protocol.about_pairs:
        one = _of_a_pair(one, candidates(session, project_id), other)
    study = choose_and_insert(session, actor, project_id, protocol=protocol, design=one)
    [study_item_id] = session.exec(select(StudyItem.id).where(StudyItem.study_id == study.id)).all()
    assert study_item_id is not None
    return study, study_item_id


def _of_a_pair(design: StudyDesign, pool: Sequence[Candidate], second: str) -> StudyDesign:
    """The design of a study of the pair that an item makes with the second, or with an answer of another system.

    As it is for an item that is not there, which the study names then.
    """
    [external_id] = design.items
    item = next((one for one in pool if one.external_id == external_id), None)
    if item is None:
        return design
    others = [one for one in pool if one.question_key == item.question_key and one.system != item.system]
    others = [one for one in others if one.external_id == second] if second else others
    if not others:
        raise InvalidInput(
            f"A pair is the answers of two systems, and the question of item {external_id!r} has only that of "
            f"{item.system!r}. Name an item whose question has answers of two."
        )
    other = min(others, key=lambda one: (one.system <= item.system, one.system, one.external_id))
    systems = (item.system, other.system) if second else tuple(sorted((item.system, other.system)))
    return design.model_copy(update={"items": (external_id, other.external_id), "pairs": systems})
