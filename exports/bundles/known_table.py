"""`known.csv`: what annotators said of gold and qualification items beside the right labels, apart from others."""

from __future__ import annotations

from sqlmodel import Session, col

from db.annotating.qualifying import is_right
from db.models import (
    AnnotationKind,
    Assignment,
    GoldLabel,
    Item,
    ItemVersion,
    StoredLabel,
    Study,
    StudyItem,
    Submission,
)
from db.people.pseudonyms import pseudonyms
from db.query import pick
from db.studies.design import protocol_of
from exports.bundles.columns import names_of
from exports.cells import safe, value_cell
from exports.csv_file import CsvFile
from exports.sinks import Out

COLUMNS = names_of("known")
_KINDS = (AnnotationKind.GOLD.value, AnnotationKind.QUALIFICATION.value)


def write_known(session: Session, study: Study, out: Out) -> int:
    """Write one row a label of a unit whose right label is known, in the order in which they came; how many rows.

    People are called by pseudonyms always. `try` counts the tries of a qualification; a label that its annotator
    corrected later is not `current`.
    """
    assert study.id is not None
    table = CsvFile(out, COLUMNS)
    protocol, called = protocol_of(study), pseudonyms(session, study.id)
    query = (
        pick(
            StoredLabel.assignment_id,
            StoredLabel.criterion,
            StoredLabel.target,
            StoredLabel.value,
            StoredLabel.cannot_judge,
            GoldLabel.value,
            Submission.person_id,
            Submission.created_at,
            Assignment.kind,
            Assignment.queue,
            Item.external_id,
            ItemVersion.number,
        )
        .join(Submission, col(Submission.id) == StoredLabel.submission_id)
        .join(Assignment, col(Assignment.id) == StoredLabel.assignment_id)
        .join(StudyItem, col(StudyItem.id) == Assignment.study_item_id)
        .join(ItemVersion, col(ItemVersion.id) == StudyItem.item_version_id)
        .join(Item, col(Item.id) == ItemVersion.item_id)
        .join(
            GoldLabel,
            (col(GoldLabel.study_item_id) == StudyItem.id)
            & (col(GoldLabel.criterion) == StoredLabel.criterion)
            & (col(GoldLabel.target) == StoredLabel.target),
        )
        .where(col(StudyItem.study_id) == study.id, col(Assignment.kind).in_(_KINDS))
        .order_by(col(StoredLabel.id))
    )
    found = session.execute(query).all()
    last = {row[:3]: place for place, row in enumerate(found)}
    rows = [
        (
            *(called[person], kind, attempt if kind == AnnotationKind.QUALIFICATION else ""),
            *(safe(item), version, criterion, target, value_cell(value), "true" if cannot else "false"),
            *(value_cell(right), "true" if is_right(protocol.criterion(criterion), right, value) else "false"),
            "true" if last[assignment, criterion, target] == place else "false",
            at.strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
        )
        for place, row in enumerate(found)
        for assignment, criterion, target, value, cannot, right, person, at, kind, attempt, item, version in [row]
    ]
    table.add(rows, len(rows))
    return len(rows)
