"""Imports: a preview, and one transaction that adds all good rows or none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import Any

import orjson
from sqlmodel import Session, col

from annotators.errors import AssayError
from db.documents import ATTACHED, give_bytes, store
from db.engine import Database
from db.import_documents import Supplied, complete, look_at_all
from db.import_rows import Origin, RowWriter, documents_of, documents_there, missing_scores, sort_block
from db.item_parts import normal_items
from db.models import Batch, Document, Item, now
from db.normal import FIELDS, Normal, canonical
from db.parsed import ParsedItem, Reading, Rejected
from db.permissions import RESEARCHERS, Actor, On, operation, record
from db.query import pick
from db.seen import Seen

BLOCK = 2_000
"""Items that are in memory at a time."""

MOST_REJECTED = 10_000
"""Bad rows after which reading stops, unless bad rows are to be skipped."""

_EXAMPLES = 5


@dataclass(frozen=True, slots=True)
class ProposedRevision:
    """An item of the source that is there with other content, and the fields that differ; it is not changed."""

    file: str
    line: int
    external_id: str
    changes: tuple[str, ...]


@dataclass
class ImportReport:
    """What an import did, or (`preview`) would do.

    A preview counts what the import counts. `batch` is None when nothing was written: for a preview, for a source that
    adds nothing, and when rows were rejected. `documents` are new, whether they are supplied or only named by items;
    `supplied` gain their bytes; `scores` are those added to items that were there. `revisions` are items that are there
    with other content. `examples` are the first items as they would be stored, `metadata` counts the fields that are
    kept in the items' metadata, `notes` says what else is worth reading.
    """

    format: str
    preview: bool = False
    batch: int | None = None
    added: int = 0
    unchanged: int = 0
    documents: int = 0
    supplied: int = 0
    scores: int = 0
    revisions: list[ProposedRevision] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    examples: list[Normal] = field(default_factory=list)
    metadata: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """The `import` JSON."""
        return {
            "batch": self.batch,
            "format": self.format,
            "added": self.added,
            "unchanged": self.unchanged,
            "proposed_revisions": len(self.revisions),
            "documents": self.documents,
            "supplied": self.supplied,
            "scores": self.scores,
            "rejected": [one.to_json() for one in self.rejected],
            "notes": self.notes,
        }


@dataclass(frozen=True)
class _To:
    """Where a stream of items goes: compared with what it has had, and into a batch or (in a preview) into counts."""

    seen: Seen
    batch: _Batch | _Counted
    skip_bad: bool


class _Undo(Exception):
    """Leaves the transaction without a trace: bad rows that are not to be skipped."""


@operation(On.PROJECT, RESEARCHERS)
def preview_import(db: Database, _actor: Actor, project_id: int, *, reading: Reading) -> ImportReport:
    """What importing would do: how many items, what is kept where, every bad row. Nothing is written or locked."""
    report = ImportReport(reading.format, preview=True)
    supplied = look_at_all(reading.documents(), report.rejected, report.notes)
    with Seen() as seen, db.read() as session:
        _documents(session, project_id, supplied, report, writer=None)
        counted = _Counted(session, project_id, {one.parsed.key for one in supplied})
        _items(session, project_id, reading, report, _To(seen, counted, skip_bad=False))
        report.documents += counted.documents_added
    return report


@operation(On.PROJECT, RESEARCHERS)
def import_items(
    db: Database,
    actor: Actor,
    project_id: int,
    *,
    reading: Reading,
    data_folder: Path | None = None,
    skip_bad: bool = False,
) -> ImportReport:
    """Add the documents and items of a source in one transaction.

    An item that is there with the same content is left as it is; with other content it is listed as a proposed
    revision and left as it is. With any bad row nothing is added, unless `skip_bad`. `data_folder` is the folder
    of documents' bytes; it is needed when the source supplies some.
    """
    report = ImportReport(reading.format)
    supplied = look_at_all(reading.documents(), report.rejected, report.notes)
    if data_folder is None and any(one.found for one in supplied):
        raise AssayError("There is no data folder to store the documents in. Give one, or import without documents.")
    made: list[Path] = []
    try:
        with db.write() as session:
            add_items(session, actor, project_id, reading=reading, report=report, supplied=supplied, skip_bad=skip_bad)
            if report.rejected and not skip_bad:
                raise _Undo
            if data_folder is not None:
                _store(data_folder, supplied, made)
    except _Undo:
        return ImportReport(reading.format, rejected=report.rejected, notes=report.notes)
    except BaseException:
        for path in made:
            path.unlink(missing_ok=True)
        raise
    return report


def add_items(
    session: Session,
    actor: Actor,
    project_id: int,
    *,
    reading: Reading,
    report: ImportReport,
    supplied: Sequence[Supplied] = (),
    skip_bad: bool = False,
) -> None:
    """Add documents and items in the caller's transaction, and fill the report.

    Where the report has rejected rows afterwards, and they are not to be skipped, the caller undoes the transaction.
    """
    with Seen() as seen:
        batch = _Batch(session, actor, project_id, reading)
        _documents(session, project_id, supplied, report, writer=batch)
        _items(session, project_id, reading, report, _To(seen, batch, skip_bad))
        if skip_bad or not report.rejected:
            report.batch = batch.finish(report)


def _store(data_folder: Path, supplied: list[Supplied], made: list[Path]) -> None:
    """Copy the bytes of the documents; every new file is entered in `made` at once, so that it can be taken back."""
    for one in supplied:
        path = store(data_folder, one.found) if one.found else None
        if path is not None:
            made.append(path)


# Documents ------------------------------------------------------------------------------------------------------------


def _documents(
    session: Session, project_id: int, supplied: Sequence[Supplied], report: ImportReport, writer: _Batch | None
) -> None:
    """Compare the source's documents with the project's, and add what is new about them."""
    for block in _blocks(supplied):
        keys = [one.parsed.key for one in block]
        query = pick(Document).where(col(Document.project_id) == project_id, col(Document.key).in_(keys))
        there = {document.key: document for document in session.execute(query).scalars()}
        for one in block:
            document = there.get(one.parsed.key)
            try:
                if document is None:
                    report.documents += 1
                    report.supplied += one.found is not None
                    if writer is not None:
                        writer.add_document(one)
                else:
                    gained = complete(document, one)
                    report.supplied += ATTACHED in gained
                    if writer is not None:
                        writer.log(document, gained)
            except AssayError as error:
                report.rejected.append(Rejected(one.parsed.file, one.parsed.line, str(error)))
        if writer is None:
            session.expunge_all()
        else:
            session.flush()


# Items ----------------------------------------------------------------------------------------------------------------


def _items(
    session: Session,
    project_id: int,
    reading: Reading,
    report: ImportReport,
    to: _To,
) -> None:
    """Sort the stream block by block into the report and, while nothing stands against it, into the database."""
    has_items = session.execute(pick(Item.id).where(col(Item.project_id) == project_id).limit(1)).first() is not None
    for block in _blocks(reading.items()):
        parsed = [one for one in block if isinstance(one, ParsedItem)]
        report.rejected += [one for one in block if isinstance(one, Rejected)]
        result = sort_block(session, project_id, to.seen, parsed, has_items=has_items)
        report.rejected += result.rejected
        report.revisions += _compared(session, result.revisions)
        report.added += len(result.new)
        report.unchanged += len(result.unchanged) + result.repeated
        for one, _, _ in result.new:
            if "metadata" in one.item:
                report.metadata.update(one.item["metadata"].keys())
            if len(report.examples) < _EXAMPLES:
                report.examples.append(one.item)
        if len(report.rejected) > MOST_REJECTED and not to.skip_bad:
            last = report.rejected[MOST_REJECTED]
            reason = f"more than {MOST_REJECTED:,} bad rows: reading stopped here. Is this the right format?"
            report.rejected[MOST_REJECTED:] = [Rejected(last.file, last.line, reason)]
            return
        if report.preview or to.skip_bad or not report.rejected:
            report.scores += to.batch.write(result.new, result.unchanged)
    report.notes += reading.notes()


def _compared(session: Session, pairs: list[tuple[ParsedItem, int]]) -> Iterator[ProposedRevision]:
    there = normal_items(session, [version_id for _, version_id in pairs])
    for parsed, version_id in pairs:
        old, new = there[version_id], parsed.item
        fields = [name for name in FIELDS if name != "scores" and _json(old.get(name)) != _json(new.get(name))]
        yield ProposedRevision(parsed.file, parsed.line, new["id"], tuple(fields))


def _json(value: Any) -> bytes:
    return orjson.dumps(value)


def _blocks(stream: Iterable[Any]) -> Iterator[list[Any]]:
    iterator = iter(stream)
    while block := list(islice(iterator, BLOCK)):
        yield block


class _Counted:
    """What a batch would write, counted and not written."""

    def __init__(self, session: Session, project_id: int, described: set[str]) -> None:
        self._session, self._project_id, self._known = session, project_id, described
        self.documents_added = 0

    def write(self, new: list[Any], unchanged: list[Any]) -> int:
        """Count the documents that a block names first; how many scores items that are there would gain."""
        unknown = documents_of(parsed.item for parsed, _, _ in new) - self._known
        self.documents_added += len(unknown) - documents_there(self._session, self._project_id, unknown)
        self._known |= unknown
        return sum(len(scores) for _, scores in missing_scores(self._session, unchanged))


class _Batch:
    """The batch of one import; its row is made when the first thing is written."""

    def __init__(self, session: Session, actor: Actor, project_id: int, reading: Reading) -> None:
        self._session, self._actor, self._project_id, self._reading = session, actor, project_id, reading
        self._writer: RowWriter | None = None
        self._id: int | None = None
        self._at: datetime = now()

    @property
    def id(self) -> int:
        """The batch's id."""
        if self._id is None:
            batch = Batch(
                project_id=self._project_id,
                format=self._reading.format,
                source=self._reading.source,
                person_id=self._actor.person_id,
                created_at=self._at,
            )
            self._session.add(batch)
            self._session.flush()
            assert batch.id is not None
            self._id = batch.id
        return self._id

    @property
    def writer(self) -> RowWriter:
        """What inserts the items of this batch."""
        if self._writer is None:
            origin = Origin(self._project_id, self.id, self._actor.person_id, self._at)
            self._writer = RowWriter(self._session, origin)
        return self._writer

    def add_document(self, one: Supplied) -> None:
        """Add a document that the project does not have."""
        document = Document(
            project_id=self._project_id,
            key=one.parsed.key,
            title=one.parsed.title,
            extra=canonical(one.parsed.metadata),
            batch_id=self.id,
            created_at=self._at,
        )
        if one.found:
            give_bytes(document, one.found)
        self._session.add(document)

    def log(self, document: Document, gained: list[str]) -> None:
        """Log what a document that was there has gained."""
        for kind in gained:
            details = {"key": document.key, "batch": self.id}
            record(
                self._session, self._actor, kind, "document", document.id, project_id=self._project_id, details=details
            )

    def write(self, new: list[Any], unchanged: list[Any]) -> int:
        """Write a block; how many scores were added to items that were there."""
        if new:
            self.writer.write(new)
        missing = missing_scores(self._session, unchanged)
        return self.writer.add_scores(missing) if missing else 0

    def finish(self, report: ImportReport) -> int | None:
        """Log the import; the batch's id, or None when it wrote nothing."""
        if self._writer is not None:
            report.documents += self._writer.documents_added
        if self._id is not None:
            details = {
                "format": report.format,
                "source": self._reading.source,
                "added": report.added,
                "unchanged": report.unchanged,
                "proposed_revisions": len(report.revisions),
                "rejected": len(report.rejected),
                "documents": report.documents,
            }
            record(
                self._session, self._actor, "items imported", "batch", self._id, project_id=self._project_id,
                details=details,
            )  # fmt: skip
        return self._id
