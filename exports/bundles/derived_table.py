"""`derived.csv`: one row an annotator, item and derived unit: what each person's own labels amount to."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from sqlmodel import Session, col

from annotators.asking.settling import ItemLabels
from annotators.protocols import DerivedCriterion
from db.models import Annotation, Item, ItemVersion, Purpose, Question, Study, StudyItem
from db.people.pseudonyms import pseudonyms, real_names
from db.query import pick
from db.studies.design import protocol_of
from db.studies.settlements import current_labels, end_of_items
from exports.bundles.columns import names_of
from exports.cells import safe, value_cell
from exports.csv_file import CsvFile
from exports.sinks import Out

COLUMNS = names_of("derived")
AT_ONCE = 500


def write_derived(session: Session, study: Study, out: Out, *, names: bool) -> int:
    """Write what follows from the labels of each annotation that counts and that none supersedes; how many rows.

    A value that does not follow, because its annotator could not judge a part, is empty. Annotators are pseudonymous
    unless `names`.
    """
    assert study.id is not None
    table = CsvFile(out, COLUMNS)
    derived = protocol_of(study).derived_criteria()
    called = (real_names if names else pseudonyms)(session, study.id)
    n = 0
    for start in range(0, end_of_items(session, study) if derived else 0, AT_ONCE):
        sampled = _sampled(session, study.id, start)
        apart = {unit.source.name for unit in derived}
        labels = current_labels(session.connection(), study.id, [row[0] for row in sampled], apart=apart)
        people = _people(session, labels)
        rows = [
            [*(safe(str(cell)) for cell in about), safe(called[people[annotation]]), *cells]
            for study_item_id, *about in sampled
            if study_item_id in labels
            for annotation, cells in _values(derived, labels[study_item_id])
        ]
        table.add(rows, len(rows))
        n += len(rows)
    return n


def _values(derived: Sequence[DerivedCriterion], labels: ItemLabels) -> Iterator[tuple[int, list[str]]]:
    """(annotation, cells from the criterion on) of every derived unit of an item, annotation by annotation."""
    for unit in derived:
        judged = {target for name, target in (*labels.values, *labels.cannot) if name == unit.source.name}
        for annotation, given in sorted(labels.apart.get(unit.source.name, {}).items()):
            values = unit.derived.values(given, judged - given.keys())
            for target, value in sorted(values.items()):
                cell = "" if value is None else value_cell(value)
                yield annotation, [unit.criterion.name, target, cell, unit.source.name, unit.derived.how]


def _sampled(session: Session, study_id: int, start: int) -> list[tuple[Any, ...]]:
    """Study item, external id, version, question and system of a block of the sample."""
    rows = session.execute(
        pick(StudyItem.id, Item.external_id, ItemVersion.number, Question.key, Item.system)
        .join(ItemVersion, col(ItemVersion.id) == StudyItem.item_version_id)
        .join(Item, col(Item.id) == ItemVersion.item_id)
        .join(Question, col(Question.id) == Item.question_id)
        .where(col(StudyItem.study_id) == study_id, col(StudyItem.purpose).in_((Purpose.SAMPLE, Purpose.RECHECK)))
        .where(col(StudyItem.position) >= start, col(StudyItem.position) < start + AT_ONCE)
        .order_by(col(StudyItem.position))
    )
    return [tuple(row) for row in rows]


def _people(session: Session, labels: Mapping[int, ItemLabels]) -> dict[int, int]:
    """Annotation → person."""
    ids = {annotation for item in labels.values() for given in item.apart.values() for annotation in given}
    found = session.execute(pick(Annotation.id, Annotation.person_id).where(col(Annotation.id).in_(ids)))
    return {row[0]: row[1] for row in found}
