"""Imports of items whose source holds labels of people as well: both come in together, or neither does."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sqlmodel import Session, select

from annotators.asking.inferred_protocols import planned_overlap
from annotators.errors import InvalidInput
from annotators.figures import count, some
from annotators.items.parsed import ForeignLabel, Reading
from annotators.protocols import Protocol
from db.elsewhere.foreign import StudyOfLabels
from db.elsewhere.label_checks import StudyParts
from db.elsewhere.labels import LabelPlan, add_labels, checked_for_study, planned
from db.engine import Database
from db.items.imports import ImportReport, LabelledItems, Written, preview_import, staged
from db.models import Study
from db.permissions import RESEARCHERS, Actor, On, operation
from db.studies.design import protocol_of
from db.studies.items import items_of_study

_NAMED = 5


@dataclass(frozen=True)
class LabelsInto:
    """Which study the labels go into: its name, and the protocol that it gets where it is made for them.

    `formats` are those whose files can hold labels, for who names files that hold none.
    """

    study: str
    protocol: Protocol
    formats: str

    def __post_init__(self) -> None:
        if not self.study.strip():
            raise InvalidInput("The study for the labels has no name. Give it one, or leave the labels out.")


@operation(On.PROJECT, RESEARCHERS)
def preview_labelled_items(
    db: Database, actor: Actor, project_id: int, *, reading: Reading, into: LabelsInto
) -> ImportReport:
    """What `import_labelled_items` would do; nothing is written. What stands against the labels are `obstacles`."""
    labelled = LabelledItems()
    report = preview_import(db, actor, project_id, reading=reading, labelled=labelled)
    rows = _of_items_there(labelled, report)
    with db.read() as session:
        study = _study(session, project_id, into)
        _name(report, into, study)
        if not rows:
            report.labels.obstacles.append(_nothing(reading, into))
            return report
        plan = _plan(session, study, into.protocol, rows=rows, source=reading.source, labelled=labelled)
    report.labels.annotations = plan.annotations
    report.labels.obstacles += [f"{row.file}, line {row.line}: {row.reason}" for row in plan.problems]
    if plan.unmatched:
        names = some(plan.unmatched, _NAMED)
        report.labels.obstacles.append(
            f"{len(plan.unmatched):,} of {count(len(plan.unmatched) + len(plan.matched), 'item')} with labels are not "
            f"in the study {into.study!r}: {names}. Name a new study for the labels."
        )
    return report


@operation(On.PROJECT, RESEARCHERS)
def import_labelled_items(
    db: Database,
    actor: Actor,
    project_id: int,
    *,
    reading: Reading,
    into: LabelsInto,
    data_folder: Path | None = None,
    skip_bad: bool = False,
    written: Written | None = None,
) -> ImportReport:
    """Add the documents and items of a source, and what people said of them as annotations of a study, or nothing.

    A study that is there takes the labels as it takes those of a table (`db.elsewhere.labels.import_labels`): they have
    to fit its protocol and its items. One that is not is made without slots, of the items that have labels. Labels of
    items that are there with other content are left out, and a note says so. Raises what `import_items` raises, and
    InvalidInput for a source without labels and for labels that do not fit.
    """
    labelled = LabelledItems()
    with staged(
        db, actor, project_id,
        reading=reading, data_folder=data_folder, skip_bad=skip_bad, written=written, labelled=labelled,
    ) as ready:  # fmt: skip
        if ready.refused:
            return ready.report
        rows = _of_items_there(labelled, ready.report)
        if not rows:
            raise InvalidInput(_nothing(reading, into))
        with db.write() as session:
            ready.publish(session)
            study = _study(session, project_id, into)
            _name(ready.report, into, study)
            if study is not None and study.id is not None:
                checked = checked_for_study(session, study.id, rows=rows, source=reading.source)
                done = add_labels(session, actor, study, checked=checked, source=reading.source)
            else:
                made = StudyOfLabels.checked(
                    into.study, into.protocol, _overlap(rows),
                    rows=rows, source=reading.source, parts=StudyParts.of_items(labelled.units, into.protocol, rows),
                )  # fmt: skip
                _, done = made.add(session, actor, project_id)
            ready.report.notes += done.not_counted.notes()
            ready.report.labels.annotations, ready.report.labels.batch = done.annotations, done.batch
    return ready.report


def _study(session: Session, project_id: int, into: LabelsInto) -> Study | None:
    return session.exec(select(Study).where(Study.project_id == project_id, Study.name == into.study.strip())).first()


def _name(report: ImportReport, into: LabelsInto, study: Study | None) -> None:
    report.labels.study, report.labels.is_new = into.study.strip(), study is None


def _plan(
    session: Session,
    study: Study | None,
    protocol: Protocol,
    *,
    rows: Sequence[ForeignLabel],
    source: str,
    labelled: LabelledItems,
) -> LabelPlan:
    if study is None or study.id is None:
        numbers = {name: number for number, name in enumerate(dict.fromkeys(row.name for row in rows))}
        parts = StudyParts.of_items(labelled.units, protocol, rows)
        return planned(session, None, protocol, numbers, rows=rows, there=numbers, source=source, parts=parts)
    protocol, items = protocol_of(study), items_of_study(session, study.id)
    return planned(session, study.id, protocol, items, rows=rows, there=items, source=source)


def _of_items_there(labelled: LabelledItems, report: ImportReport) -> list[ForeignLabel]:
    """The labels whose items the project has as the source has them; what is left out is noted in the report."""
    came = report.labels
    rows = [row for row in labelled.rows if row.other is None or row.other in labelled.ids]
    if len(rows) < len(labelled.rows):
        came.left_out.update(row.item for row in labelled.rows if row.other and row.other not in labelled.ids)
        came.n, came.annotators = len(rows), {row.annotator for row in rows}
    if came.left_out:
        names = some(list(came.left_out), _NAMED)
        report.notes.append(
            f"{count(came.left_out.total(), 'label')} of {count(len(came.left_out), 'item')} that the project does not "
            f"have as these files do are left out: {names}. What people said is about the content of the files."
        )
    return rows


def _overlap(rows: Iterable[ForeignLabel]) -> int:
    """How many annotations the study plans for each item."""
    by_item: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        by_item[row.name].add(row.annotator)
    return planned_overlap(map(len, by_item.values()))


def _nothing(reading: Reading, into: LabelsInto) -> str:
    return (
        f"{reading.source} ({reading.format}) holds no labels of people about items that come in. Files of "
        f"{into.formats} can hold them. Import the items without a study for their labels, or name the files that have "
        "some."
    )
