"""Studies of labels that were made elsewhere: nobody is asked anything in them, so they have no slots."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace

from sqlmodel import Session, select

from annotators.designing.design import StudyDesign
from annotators.errors import Conflict, InvalidInput, NotFound
from annotators.items.pairs import BETWEEN
from annotators.items.parsed import ForeignLabel, Reading, Rejected
from annotators.items.sampling import Candidate
from annotators.protocols import Protocol
from db.elsewhere.label_checks import StudyParts
from db.elsewhere.labels import (
    CheckedLabels,
    LabelImport,
    LabelPlan,
    add_labels,
    checked_labels,
    planned,
    rejections,
)
from db.engine import Database
from db.items.imports import staged
from db.models import Study
from db.permissions import RESEARCHERS, Actor, On, operation, record
from db.studies.design import _insert_study
from db.studies.items import items_of_study
from db.studies.selection import ChosenItems, candidates


@dataclass(frozen=True)
class ForeignStudyMade:
    """A new study of labels that were made elsewhere: its id, how many items the project gained, and the labels."""

    study_id: int
    items_added: int
    labels: LabelImport


@operation(On.PROJECT, RESEARCHERS)
def import_study_of_labels(
    db: Database,
    actor: Actor,
    project_id: int,
    *,
    name: str,
    protocol: Protocol,
    overlap: int,
    items: Reading,
    rows: Sequence[ForeignLabel],
    add_missing: bool = False,
) -> ForeignStudyMade:
    """Make a study without slots from the items of these rows and import the rows into it: all of it, or nothing.

    With `add_missing` those of `items` that the project lacks are added first. `overlap` is how many annotations each
    item will have at least: an item is settled when it has them. Whoever the labels are by becomes an annotator of the
    study. Raises Conflict for a name that is taken, NotFound for items that the project lacks, InvalidInput naming file
    and line for an item that is none, and what `import_labels` raises for a label.
    """
    with db.read() as session:
        parts = StudyParts.of_project(session, project_id, protocol, rows)
    study = StudyOfLabels.checked(name, protocol, overlap, rows=rows, source=items.source, parts=parts)
    with ExitStack() as stack:
        bare = stack.enter_context(staged(db, actor, project_id, reading=items)) if add_missing else None
        if bare and bare.refused:
            raise InvalidInput(rejections(bare.report.rejected))
        with db.write() as session:
            if bare:
                bare.publish(session)
            study_id, labels = study.add(session, actor, project_id)
            return ForeignStudyMade(study_id, bare.report.added if bare else 0, labels)


@operation(On.PROJECT, RESEARCHERS)
def plan_study_of_labels(
    db: Database,
    _actor: Actor,
    project_id: int,
    *,
    protocol: Protocol,
    items: Reading,
    rows: Sequence[ForeignLabel],
) -> LabelPlan:
    """What `import_study_of_labels` would store, and everything that stands against it. Nothing is written."""
    with db.read() as session:
        ids = {candidate.external_id for candidate in candidates(session, project_id)}
        numbers = {item: place for place, item in enumerate(dict.fromkeys(row.name for row in rows))}
        there = {name for name in numbers if ids.issuperset(name.split(BETWEEN))}
        parts = StudyParts.of_project(session, project_id, protocol, rows)
        plan = planned(session, None, protocol, numbers, rows=rows, there=there, source=items.source, parts=parts)
    unfit = (item for item in items.items() if isinstance(item, Rejected))
    return replace(plan, problems=[*plan.problems, *unfit])


@dataclass(frozen=True)
class StudyOfLabels:
    """A study that is to be made of labels, which fit its protocol: each of its items has one, by number."""

    name: str
    protocol: Protocol
    overlap: int
    items: list[str]
    labels: CheckedLabels
    source: str

    @classmethod
    def checked(
        cls,
        name: str,
        protocol: Protocol,
        overlap: int,
        *,
        rows: Sequence[ForeignLabel],
        source: str,
        parts: StudyParts,
    ) -> StudyOfLabels:
        """Of these rows, held against what is known of the items; InvalidInput as `import_labels`."""
        numbers = {item: number for number, item in enumerate(dict.fromkeys(row.name for row in rows))}
        labels = checked_labels(protocol, rows=rows, items=numbers, source=source, parts=parts)
        return cls(name, protocol, overlap, list(numbers), labels, source)

    def add(self, session: Session, actor: Actor, project_id: int) -> tuple[int, LabelImport]:
        """Make it in the caller's transaction; its id, and the labels as they were stored."""
        study = _add_study(
            session, actor, project_id,
            name=self.name, protocol=self.protocol, items=self.items, overlap=self.overlap,
        )  # fmt: skip
        assert study.id is not None
        ids = items_of_study(session, study.id)
        labels = self.labels.renumbered({number: ids[item] for number, item in enumerate(self.items)})
        return study.id, add_labels(session, actor, study, checked=labels, source=self.source)


def _add_study(
    session: Session,
    actor: Actor,
    project_id: int,
    *,
    name: str,
    protocol: Protocol,
    items: Sequence[str],
    overlap: int,
) -> Study:
    """Freeze the protocol and these items (external ids) into a study."""
    if session.exec(select(Study.id).where(Study.project_id == project_id, Study.name == name.strip())).first():
        raise Conflict(f"The project has a study named {name!r} already. Choose another name.")
    pool = {candidate.external_id: candidate for candidate in candidates(session, project_id)}
    wanted = [item.split(BETWEEN) for item in items]
    missing = [item for several in wanted for item in several if item not in pool]
    if missing:
        raise NotFound(
            f"The project has no item {missing[0]!r} ({len(missing):,} of {len(items):,} are not there). Import them "
            "first, leave their labels out, or ask for bare items."
        )
    design = StudyDesign(name=name, overlap=0, order="given")
    ordered = [_frozen(*(pool[item] for item in several)) for several in wanted]
    study = _insert_study(session, actor, project_id, protocol=protocol, design=design, chosen=ChosenItems(ordered))
    study.overlap, study.settings = overlap, {**study.settings, "foreign": True}
    details = {"name": study.name, "protocol": protocol.name, "items": len(ordered), "overlap": overlap}
    record(session, actor, "study created", "study", study.id, project_id=project_id, details=details)
    return study


def _frozen(item: Candidate, other: Candidate | None = None) -> Candidate:
    """An item, or a pair as it is named; InvalidInput where its items have different questions."""
    if other is not None and item.question_key != other.question_key:
        raise InvalidInput(
            f"Items {item.external_id!r} and {other.external_id!r} are about different questions. A pair is two "
            "answers to one question: import both items with the same question_key first."
        )
    return replace(item, other=other)
