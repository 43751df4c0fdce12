"""People check a judge's decisions: a study of a drawn sample of each decision, and how many of each were right."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sqlmodel import Session, col

from annotators.arrays import np
from annotators.criteria import Criterion
from annotators.designing.design import StudyDesign
from annotators.errors import InvalidInput, NotFound
from annotators.intervals.shares import share_interval
from annotators.items.sampling import draw
from annotators.items.targets import TargetKind
from annotators.protocols import Protocol
from db.designing.making import create_study
from db.engine import Database
from db.judging.judges import find_judge
from db.models import Annotation, AnnotationKind, Purpose, StoredLabel, Study, StudyItem
from db.permissions import READERS, RESEARCHERS, Actor, On, operation
from db.query import pick
from db.studies.design import StudyMade, protocol_of
from db.studies.selection import candidates
from db.studies.settlements import SettledUnit, settled_units


@dataclass(frozen=True)
class Drawn:
    """A study of a judge's decisions: how many items each decision has, and how many of them people check."""

    study: StudyMade
    criterion: str
    decided: Mapping[str, int]
    drawn: Mapping[str, int]


@dataclass(frozen=True)
class CheckedDecision:
    """How often a judge's decision was right, as people settled it.

    `decided` counts the items that the judge decided so, `drawn` those of them that people check, `n` those that they
    have settled, `right` those settled alike. The interval is of the share right, over questions.
    """

    decision: str
    decided: int
    drawn: int
    n: int = 0
    right: int = 0
    share: float | None = None
    low: float | None = None
    high: float | None = None
    method: str = ""
    reason: str | None = "nothing of it is settled yet"
    wrong: Mapping[str, str] = field(default_factory=dict)
    """Item → what people settled instead."""

    def to_json(self) -> dict[str, Any]:
        """As the command prints it."""
        return {
            "decision": self.decision, "decided": self.decided, "drawn": self.drawn, "n": self.n, "right": self.right,
            "share": self.share, "low": self.low, "high": self.high, "method": self.method, "reason": self.reason,
            "wrong": [{"item": item, "settled": label} for item, label in self.wrong.items()],
        }  # fmt: skip


@operation(On.STUDY, RESEARCHERS)
def study_of_decisions(
    db: Database,
    actor: Actor,
    study_id: int,
    *,
    judge: str,
    criterion: str | None,
    per: int,
    seed: int,
    design: StudyDesign,
) -> Drawn:
    """Make a study in which people judge `per` items of each decision that a judge made in a study, drawn by the seed.

    It has the protocol of that study, and the design's name, annotators and overlap. What the judge said is not shown.
    InvalidInput for a criterion whose decisions are no single labels of items, and where nothing was decided.
    """
    with db.read() as session:
        study = session.get_one(Study, study_id)
        project_id, protocol = study.project_id, protocol_of(study)
        chosen = decision_criterion(protocol, criterion)
        current = {one.version_id: one for one in candidates(session, project_id)}
    person = find_judge(db, actor, project_id, name=judge).person_id
    with db.read() as session:
        by_version = _decisions(session, person, chosen, Study.id == study_id)
    pool = [replace(current[version], category=said) for version, said in by_version.items() if version in current]
    if not pool:
        raise InvalidInput(
            f"{judge!r} has decided nothing of {chosen.name!r} in the study {study.name!r} about items as they are "
            "now. Let it judge them first."
        )
    sample = draw(pool, per, "category", seed)
    items = tuple(one.external_id for one in sample)
    made = create_study(
        db, actor, project_id, protocol=protocol, design=design.model_copy(update={"items": items, "seed": seed})
    )
    decided, drawn = (Counter(one.category for one in some) for some in (pool, sample))
    return Drawn(made, chosen.name, dict(sorted(decided.items())), dict(sorted(drawn.items())))


@operation(On.STUDY, READERS)
def checked_decisions(
    db: Database, actor: Actor, study_id: int, *, judge: str, criterion: str | None = None, level: float = 0.95
) -> list[CheckedDecision]:
    """How many of a judge's decisions are what people settled in this study, for each decision.

    Decisions count that the judge made of the same versions of items by the same protocol, in whatever study.
    """
    with db.read() as session:
        study = session.get_one(Study, study_id)
        project_id, chosen = study.project_id, decision_criterion(protocol_of(study), criterion)
    person = find_judge(db, actor, project_id, name=judge).person_id
    with db.read() as session:
        same = (col(Study.project_id) == project_id) & (col(Study.protocol_hash) == study.protocol_hash)
        decisions = _decisions(session, person, chosen, same)
        here = _sampled(session, study_id)
        settled = final_labels_of(session, study_id, list(here), chosen)
    if not any(version in decisions for version in here.values()):
        raise NotFound(
            f"{judge!r} has decided nothing of {chosen.name!r} about the items of the study {study.name!r}. Name the "
            "judge whose decisions it was drawn from."
        )
    found = []
    totals = Counter(decisions.values())
    for said in _in_order(chosen, totals):
        mine = [item for item, version in here.items() if decisions.get(version) == said]
        units = [settled[item] for item in mine if item in settled]
        hits: dict[str, list[bool]] = defaultdict(list)
        for unit in units:
            hits[unit.question_key].append(chosen.vote(unit.value) == said)
        wrong = {unit.external_id: chosen.vote(unit.value) for unit in units if chosen.vote(unit.value) != said}
        found.append(_with_share(CheckedDecision(said, totals[said], len(mine), wrong=wrong), hits, level))
    return found


def final_labels_of(
    session: Session, study_id: int, study_items: Sequence[int], criterion: Criterion
) -> dict[int, SettledUnit]:
    """Study item → its final label of a criterion; without those that are open."""
    return {
        unit.study_item_id: unit
        for unit in settled_units(session, study_id, study_items)
        if (unit.criterion, unit.target) == (criterion.name, "item") and unit.value is not None
    }


def decision_criterion(protocol: Protocol, name: str | None) -> Criterion:
    """The criterion of this name, or the first that has single labels of items; InvalidInput lists those."""
    fit = [one for one in protocol.criteria if one.target == TargetKind.ITEM and one.stored_labels()]
    if name is None and fit:
        return fit[0]
    for criterion in fit:
        if criterion.name == name:
            return criterion
    known = ", ".join(one.name for one in fit) or "none"
    raise InvalidInput(
        f"The protocol {protocol.name!r} has no criterion {name!r} with one label an item. Known: {known}."
    )


def _decisions(session: Session, person: int, criterion: Criterion, of: Any) -> dict[int, str]:
    """Version of an item → the label that a judge gave it; the last one, where it judged in several studies."""
    rows = session.execute(
        pick(StudyItem.item_version_id, StoredLabel.value)
        .join(Annotation, col(Annotation.study_item_id) == StudyItem.id)
        .join(
            StoredLabel,
            (col(StoredLabel.assignment_id) == Annotation.assignment_id)
            & (col(StoredLabel.sitting) == Annotation.sitting),
        )
        .join(Study, col(Study.id) == StudyItem.study_id)
        .where(
            of,
            col(Annotation.person_id) == person,
            col(Annotation.kind) == AnnotationKind.MODEL.value,
            col(StoredLabel.criterion) == criterion.name,
            col(StoredLabel.target) == "item",
            ~col(StoredLabel.cannot_judge),
            col(StudyItem.other_version_id).is_(None),
        )
        .order_by(col(Annotation.id))
    ).all()
    return {version: criterion.vote(value) for version, value in rows}


def _sampled(session: Session, study_id: int) -> dict[int, int]:
    """Study item → version, of the study's sample."""
    rows = session.execute(
        pick(StudyItem.id, StudyItem.item_version_id)
        .where(col(StudyItem.study_id) == study_id, col(StudyItem.purpose) == Purpose.SAMPLE.value)
        .order_by(col(StudyItem.position))
    ).all()
    return dict(tuple(row) for row in rows)


def _in_order(criterion: Criterion, said: Mapping[str, int]) -> list[str]:
    """The decisions that were made, in the order of the protocol."""
    labels = [criterion.vote(label) for label in criterion.stored_labels()]
    return [label for label in labels if label in said]


def _with_share(checked: CheckedDecision, hits: Mapping[str, list[bool]], level: float) -> CheckedDecision:
    """With the share right and its interval; `hits` has for each question which of its items were right."""
    n, right = sum(map(len, hits.values())), sum(map(sum, hits.values()))
    if not n:
        return checked
    sizes = np.array([float(len(one)) for one in hits.values()])
    interval = share_interval(np.array([float(sum(one)) for one in hits.values()]), sizes, level, over="questions")
    return replace(
        checked,
        n=n,
        right=right,
        share=right / n,
        low=interval.low,
        high=interval.high,
        method=interval.kind,
        reason=interval.note if interval.low is None else None,
    )
