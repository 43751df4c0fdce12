"""Arms: the sibling studies that a design with arms is made into, and which studies are siblings."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlmodel import Session, col, select

from annotators.designing.arms import ITEMS, Arm, items_dealt, people_dealt
from annotators.designing.design import StudyDesign, about
from annotators.errors import AssayError, Problem
from annotators.protocols import Protocol
from db.engine import Database
from db.models import Study
from db.permissions import READERS, Actor, On, operation
from db.studies.library import protocol_in
from db.studies.selection import choose

_STRATA = "system,category"


@dataclass(frozen=True)
class ArmOfStudy:
    """An arm by its name, its study, and what is dealt out to the arms."""

    arm: str
    study: str
    study_id: int
    allot: str
    of: str

    def to_json(self) -> dict[str, Any]:
        """As `assay study show --json` prints it."""
        return {"arm": self.arm, "study": self.study, "id": self.study_id, "allot": self.allot}


def designs_of_arms(
    session: Session, project_id: int, protocol: Protocol, design: StudyDesign
) -> Iterator[tuple[Arm, Protocol, StudyDesign]]:
    """The protocol and the design of each arm's study: its people or items dealt out, all over one sample.

    Raises what choosing the items raises, and NotFound for a protocol that an arm names and that is not there.
    """
    protocols = []
    for place, arm in enumerate(design.arms):
        with about("arms", place, "protocol"):
            protocols.append(protocol if arm.protocol is None else protocol_in(session, project_id, arm.protocol))
    with about("sample"):
        samples = [
            choose(session, project_id, of, design).ordered for of in {p.digest(): p for p in protocols}.values()
        ]
    common = set.intersection(*({item.external_id for item in sample} for sample in samples))
    items = [item for item in samples[0] if item.external_id in common]
    named: list[dict[str, Any]] = [{}] * len(protocols)
    if design.allot == ITEMS:
        dealt = items_dealt(items, len(protocols), design.per or _STRATA, design.seed)
        named = [_only(names) for names in dealt]
    elif len(samples) > 1:
        named = [_only(tuple(sorted(common)))] * len(protocols)
    people: Sequence[tuple[str, ...]] = [design.annotators] * len(protocols)
    if design.allot != ITEMS:
        people = people_dealt(design.annotators, len(protocols), design.seed)
    for arm, of, which, team in zip(design.arms, protocols, named, people, strict=True):
        changes: dict[str, Any] = {
            "name": f"{design.name.strip()} / {arm.name}",
            "annotators": team,
            "quotas": {name: quota for name, quota in design.quotas.items() if name in team},
            "arms": (),
            "protocol": arm.protocol or design.protocol,
        }
        yield arm, of, design.model_copy(update=changes | arm.differs | which)


def _only(names: tuple[str, ...]) -> dict[str, Any]:
    """The fields of a design that takes these items and no others."""
    return {"items": names, "where": (), "sample": None, "one_per_question": False, "with_documents": False}


def of_arm(error: AssayError, place: int, arm: Arm) -> AssayError:
    """The error about an arm's design, with the places in the design that has the arms."""
    given = {*arm.differs, *(("protocol",) if arm.protocol else ())}
    problems = []
    for problem in error.problems:
        first = problem.path[:1]
        at = ("arms", place, *problem.path) if first and first[0] in given else problem.path
        at = ("arms", place, "name") if first == ("name",) else at
        problems.append(Problem(problem.line, problem.problem, problem.remedy, at))
    error.problems = problems
    return error


@operation(On.STUDY, READERS)
def arms_of(db: Database, _actor: Actor, study_id: int) -> list[ArmOfStudy]:
    """The arms of the design that the study was made of, itself among them, in their order; empty for one without."""
    with db.read() as session:
        return siblings(session, session.get_one(Study, study_id))


def siblings(session: Session, study: Study) -> list[ArmOfStudy]:
    """As `arms_of`, in the caller's session."""
    mine = study.settings.get("arm")
    if mine is None:
        return []
    rows = session.exec(select(Study).where(Study.project_id == study.project_id).order_by(col(Study.id)))
    return [
        ArmOfStudy(arm["name"], row.name, row.id or 0, arm["allot"], arm["of"])
        for row in rows
        if (arm := row.settings.get("arm")) is not None and arm["first"] == mine["first"]
    ]
