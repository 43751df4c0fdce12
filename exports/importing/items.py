"""The way in: paths of whatever format, read and imported in one go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from annotators.items.parsed import ParsedItem, Reading, Rejected, items_in
from annotators.items.revising import IDENTITY
from annotators.progress import Progress
from db.elsewhere.labelled_imports import LabelsInto, import_labelled_items, preview_labelled_items
from db.engine import Database
from db.items.imports import ImportReport, import_items, preview_import
from db.permissions import RESEARCHERS, Actor, On, operation
from db.releasing.proposals import accept_imported
from exports.formats.base import (
    Columns,
    FileReading,
    MappedReading,
    decided_and_left_out,
    inferred,
    labelled_format,
    labelled_formats,
    labels_of,
    passed_over,
    protocol_of_labels,
    read_sources,
    said_of_encodings,
)
from exports.garbage import seldom_collected
from exports.reading.sources import open_sources

_BETWEEN = 1_000


@operation(On.PROJECT, RESEARCHERS)
@seldom_collected()
def import_paths(
    db: Database,
    actor: Actor,
    project_id: int,
    *,
    paths: Sequence[Path | str],
    format_name: str | None = None,
    columns: Columns | None = None,
    data_folder: Path | None = None,
    dry_run: bool = False,
    skip_bad: bool = False,
    labels_into: str | None = None,
    accept_revisions: bool = False,
    progress: Progress | None = None,
) -> ImportReport:
    """Import files, folders and archives; with `dry_run` only say what that would do.

    `format_name` None takes the format that recognises the files; `columns` says of a table which column is which
    field. Documents' bytes go to `data_folder`
    (`Settings.documents_folder`). What people said of the items by these files goes into the study `labels_into`, which
    is made where there is none of that name. With `accept_revisions` items that are there with other content are
    revised. `progress` is called with (how much is done, of how much). The report
    lists every bad row; unless `skip_bad`, one bad row leaves the project as it was. Raises InvalidInput (or NotFound)
    for paths that cannot be opened at all; see `exports.reading.sources`.
    """
    with open_sources(paths) as sources:
        reading = read_sources(sources, format_name, columns)
        return import_reading(
            db, actor, project_id, reading, data_folder=data_folder, dry_run=dry_run, skip_bad=skip_bad,
            labels_into=labels_into, accept_revisions=accept_revisions, progress=progress,
        )  # fmt: skip


def import_reading(
    db: Database,
    actor: Actor,
    project_id: int,
    reading: FileReading,
    *,
    data_folder: Path | None,
    dry_run: bool,
    skip_bad: bool,
    labels_into: str | None,
    progress: Progress | None,
    accept_revisions: bool = False,
) -> ImportReport:
    """As `import_paths`, of what a format has found. Reading is the first half of the way, writing the second."""
    into = None
    if labels_into is not None:
        labelled_format(reading.format)
        asked = protocol_of_labels(reading) or inferred(labels_of(reading))
        into = LabelsInto(labels_into, asked, labelled_formats())
    report = _imported(
        db, actor, project_id, reading, data_folder=data_folder, dry_run=dry_run, skip_bad=skip_bad, into=into,
        progress=progress,
    )  # fmt: skip
    report.notes += [*passed_over(reading), *said_of_encodings(reading), *decided_and_left_out(reading)]
    if accept_revisions and dry_run:
        report.revised = sum(not set(IDENTITY) & set(row.changes) for row in report.revisions)
    elif accept_revisions and (skip_bad or not report.rejected):
        reason = f"import of {reading.source}"
        report.revised, report.not_revised = accept_imported(
            db, actor, project_id, differing=report.revisions, reason=reason
        )
    if isinstance(reading, MappedReading):
        report.columns = {name: list(of_field) for name, of_field in reading.columns.items()}
        report.headings = list(reading.headings)
    return report


def _imported(
    db: Database,
    actor: Actor,
    project_id: int,
    reading: FileReading,
    *,
    data_folder: Path | None,
    dry_run: bool,
    skip_bad: bool,
    into: LabelsInto | None,
    progress: Progress | None,
) -> ImportReport:
    if dry_run:
        watched: Reading = _Watched(reading, progress) if progress else reading
        if into is not None:
            return preview_labelled_items(db, actor, project_id, reading=watched, into=into)
        return preview_import(db, actor, project_id, reading=watched)

    def written(share: float) -> None:
        if progress is not None:
            of = reading.meter.of
            progress(of + round(share * of), 2 * of)

    watched = _Watched(reading, lambda done, of: progress(done, 2 * of)) if progress else reading
    if into is not None:
        return import_labelled_items(
            db, actor, project_id,
            reading=watched, into=into, data_folder=data_folder, skip_bad=skip_bad, written=written,
        )  # fmt: skip
    return import_items(
        db, actor, project_id, reading=watched, data_folder=data_folder, skip_bad=skip_bad, written=written
    )


class _Watched:
    """A reading whose progress is told now and then."""

    def __init__(self, reading: FileReading, progress: Progress) -> None:
        self.format, self.source = reading.format, reading.source
        self.documents, self.notes = reading.documents, reading.notes
        self._reading, self._progress = reading, progress

    def items(self) -> Iterator[ParsedItem | Rejected]:
        """The items, with a word about them every so many."""
        meter = self._reading.meter
        for number, item in enumerate(items_in(self._reading)):
            if number % _BETWEEN == 0:
                self._progress(meter.done, meter.of)
            yield item
        self._progress(meter.of, meter.of)
