"""The two arms of an anchoring study: the same scores graded at once, and after a blind judgement."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Any

from annotators.protocols import Protocol
from db.engine import Database
from db.permissions import Actor
from db.studies.design import list_studies
from exports.alignment.data import Human, StudyData, study_data


@dataclass(frozen=True)
class Arms:
    """The other study on the same scores: one arm saw the score first, the other judged blind first."""

    name: str
    this: StudyData
    other: StudyData

    def grades(self, human: Human) -> tuple[dict[Any, float], dict[Any, float], dict[Any, Hashable]] | None:
        """(Item version, target) → mean grade with the score seen first, and judged blind first; and clusters."""
        same = [said for said in self.other.humans if said.criterion.name == human.criterion.name]
        if not same:
            return None
        mine, theirs = (
            {
                (data.units[unit].version_id, data.units[unit].target): value
                for unit, value in said.one_each()[0].items()
            }
            for data, said in ((self.this, human), (self.other, same[0]))
        )
        clusters: dict[Any, Hashable] = {
            (facts.version_id, facts.target): facts.question
            for data in (self.this, self.other)
            for facts in data.units.values()
        }
        seen_first, blind_first = (theirs, mine) if self.this.protocol.compared_with else (mine, theirs)
        return seen_first, blind_first, clusters


def other_arm(db: Database, actor: Actor | None, data: StudyData) -> Arms | None:
    """The newest labelled study of the project whose protocol is the other arm of this one's."""
    if not data.protocol.about_scores:
        return None
    for row in reversed(list_studies(db, actor, data.study.project_id)):
        if row.submitted and row.study_id != data.study.id:
            other = study_data(db, actor, row.study_id)
            if _are_arms(data.protocol, other.protocol):
                return Arms(row.name, data, other)
    return None


def _are_arms(protocol: Protocol, other: Protocol) -> bool:
    """Whether one of two protocols is compared with the other: with what it says itself, where it says something."""
    return protocol.compared_with == other.name if protocol.compared_with else other.compared_with == protocol.name
