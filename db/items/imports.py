"""Imports: a preview, and all good rows or none, written in short transactions and published by the last one.

Everything is read and checked before anything is written, while the checked rows wait in a file. They are then written
in turn with everybody else (`db/items/unpublished.py`) under a batch that nobody sees; the last transaction publishes
it.
"""

from __future__ import annotations

import pickle
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import datetime
from itertools import chain, islice
from pathlib import Path
from typing import Any

from sqlmodel import Session, col

from annotators.errors import AssayError
from annotators.items.checks import canonical
from annotators.items.item import ItemContent, ItemScore
from annotators.items.normal import item_hash, to_json
from annotators.items.parsed import ForeignLabel, ParsedItem, Reading, Rejected, documents_in, items_in
from annotators.items.revising import changed_fields
from annotators.items.targets import Units
from db.engine import Database, dumps, insert_many
from db.items.beyond import BeyondDocuments
from db.items.documents import ATTACHED, Bytes, claim_bytes, mark_kept, marked_documents, store_all
from db.items.import_documents import Looked, Supplied, complete, look_at_all
from db.items.import_rows import (
    NewVersion,
    Origin,
    RowWriter,
    Sorted,
    documents_of,
    documents_there,
    missing_scores,
    sort_block,
)
from db.items.proposing import Differing, KeptProposals, Proposal
from db.items.rows import items_as_json
from db.items.seen import Seen
from db.items.unpublished import Turns, clear_broken_off, forget_bytes, only_import, parts_at_first, rows_a_turn
from db.models import Document, now
from db.permissions import RESEARCHERS, Actor, On, operation, record
from db.query import database_time, fresh_ids, mark, pick, plain_rows

BLOCK = 2_000
"""Items that are in memory at a time."""

HEAVIEST_BLOCK = 16 << 20
"""Bytes of items that are in memory at a time, unless a single one has more."""

MOST_FIELDS = 1_000
"""Different fields of metadata that a report counts."""

MOST_REJECTED = 10_000
"""Bad rows after which reading stops, unless bad rows are to be skipped."""

_EXAMPLES = 5
_DOCUMENTS_A_TURN = 100
_BATCH = ("id", "project_id", "format", "source", "person_id", "created_at")
_DOCUMENT = (
    "project_id", "key", "title", "sha256", "media_type", "n_pages", "page_sizes", "extra", "batch_id", "created_at",
)  # fmt: skip
_SPOOLED = 8 << 20


@dataclass
class LabelsCame:
    """The labels that came in with the items: how many, and by whom.

    Where they go into a `study`, that is its name, `is_new` says whether it is made for them, `annotations` counts
    those that hold the labels, `batch` is their own (it can be withdrawn without the items), and `obstacles` are why a
    preview expects a refusal, a sentence each. `left_out` counts the labels of items that are there with other content,
    which they are not about.
    """

    n: int = 0
    annotators: set[str] = field(default_factory=set)
    left_out: Counter[str] = field(default_factory=Counter)
    study: str | None = None
    is_new: bool = False
    annotations: int = 0
    batch: int | None = None
    obstacles: list[str] = field(default_factory=list)

    def to_json(self, *, preview: bool) -> dict[str, Any]:
        """What the `import` JSON has of labels that go into a study; nothing where they do not."""
        if self.study is None:
            return {}
        return {
            "study": self.study,
            "labels": self.n,
            "annotations": self.annotations,
            "annotators": sorted(self.annotators),
            "labels_batch": self.batch,
            **({"obstacles": self.obstacles} if preview else {}),
        }


@dataclass
class LabelledItems:
    """The labels of a source that are wanted, and the ids of the items that came in or are there as the source has it.

    Labels of any other item are about a content that the project does not have. `units` are the parts of the items that
    have labels, by their ids.
    """

    rows: list[ForeignLabel] = field(default_factory=list)
    ids: set[str] = field(default_factory=set)
    units: dict[str, Units] = field(default_factory=dict)


MOST_NAMED = 200
"""Documents without a file that a report names."""


@dataclass
class ImportReport:
    """What an import did, or (`preview`) would do.

    A preview counts what the import counts. `batch` is None when nothing was written: for a preview, for a source
    that adds nothing, and when rows were rejected. `documents` are new, whether they are supplied or only named by
    items; `only_named` are those of them that only items name, so that they have no page to be looked at, of which
    `without_file` has the first `MOST_NAMED` by their keys. `supplied` gain their bytes; `kept` become marked as
    never to leave this machine; `scores` are those added to items that were there. `revisions` are items that are
    there with other content, which are proposed as revisions; `revised` says how many of them were accepted at once
    (None: that was not asked for), and `not_revised` which were not: (item, why). `examples` are the first items as
    they would be stored, `metadata` counts the fields that are kept in the items' metadata, `notes` says what else
    is worth reading. Of a table `columns` says from which columns each field was read, and `headings` are all
    columns. `labels` are those that people gave, whether or not they are taken into a study.
    """

    format: str
    preview: bool = False
    batch: int | None = None
    added: int = 0
    unchanged: int = 0
    documents: int = 0
    only_named: int = 0
    without_file: list[str] = field(default_factory=list)
    supplied: int = 0
    kept: int = 0
    scores: int = 0
    revisions: list[Differing] = field(default_factory=list)
    revised: int | None = None
    not_revised: list[tuple[str, str]] = field(default_factory=list)
    rejected: list[Rejected] = field(default_factory=list)
    examples: list[ItemContent] = field(default_factory=list)
    metadata: Counter[str] = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    columns: dict[str, list[str]] = field(default_factory=dict)
    headings: list[str] = field(default_factory=list)
    labels: LabelsCame = field(default_factory=LabelsCame)

    def to_json(self) -> dict[str, Any]:
        """The `import` JSON."""
        return {
            "batch": self.batch,
            "format": self.format,
            "added": self.added,
            "unchanged": self.unchanged,
            "proposed_revisions": len(self.revisions),
            **({} if self.revised is None else {"revised": self.revised}),
            **(
                {"not_revised": [{"item": i, "reason": why} for i, why in self.not_revised]} if self.not_revised else {}
            ),
            "documents": self.documents,
            **({"without_file": self.without_file} if self.without_file else {}),
            "supplied": self.supplied,
            **({"kept_here": self.kept} if self.kept else {}),
            "scores": self.scores,
            "rejected": [row.to_json() for row in self.rejected],
            "notes": self.notes,
            **({"columns": self.columns} if self.columns else {}),
            **self.labels.to_json(preview=self.preview),
        }


Written = Callable[[float], None]
"""Called now and then with the share of the checked rows that are written, from 0 to 1."""


@operation(On.PROJECT, RESEARCHERS)
def preview_import(
    db: Database, _actor: Actor, project_id: int, *, reading: Reading, labelled: LabelledItems | None = None
) -> ImportReport:
    """What importing would do: how many items, what is kept where, every bad row. Nothing is written or locked.

    The labels of people that come in with the items are counted, and put into `labelled`.
    """
    report = ImportReport(reading.format, preview=True)
    looked = look_at_all(documents_in(reading), report.rejected, report.notes)
    _check(db, project_id, reading, report, looked, kept=None, labelled=labelled)
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
    written: Written | None = None,
) -> ImportReport:
    """Add the documents and items of a source: all of it is seen from one moment on, or nothing ever.

    An item that is there with the same content is left as it is; with other content it is listed as a proposed
    revision and left as it is. With any bad row nothing is added, unless `skip_bad`. `data_folder` is the folder
    of documents' bytes; it is needed when the source supplies some. Raises Conflict while another import into the
    project is under way.
    """
    with staged(
        db, actor, project_id, reading=reading, data_folder=data_folder, skip_bad=skip_bad, written=written
    ) as ready:
        if not ready.refused:
            with db.write() as session:
                ready.publish(session)
    return ready.report


@contextmanager
def staged(
    db: Database,
    actor: Actor,
    project_id: int,
    *,
    reading: Reading,
    data_folder: Path | None = None,
    skip_bad: bool = False,
    written: Written | None = None,
    labelled: LabelledItems | None = None,
) -> Iterator[Staged]:
    """An import that is written but for its end and that nobody sees. The block publishes it; else it is taken back.

    While the block lasts no other import into the project is under way. The labels of people that come in with the
    items are put into `labelled`.
    """
    report = ImportReport(reading.format)
    looked = look_at_all(documents_in(reading), report.rejected, report.notes)
    if data_folder is None and any(document.found for document in looked.supplied):
        raise AssayError("There is no data folder to store the documents in. Give one, or import without documents.")
    with only_import(db, project_id), _KeptItems(rows_a_turn(db)) as kept:
        clear_broken_off(db, project_id, actor=actor, data_folder=data_folder)
        documents = _check(db, project_id, reading, report, looked, kept=kept, skip_bad=skip_bad, labelled=labelled)
        if report.rejected and not skip_bad:
            bad = ImportReport(reading.format, rejected=report.rejected, notes=report.notes)
            yield Staged(bad, _Batch(actor, project_id, reading), _Documents(), kept, data_folder, refused=True)
            return
        ready = Staged(report, _Batch(actor, project_id, reading), documents, kept, data_folder)
        try:
            ready.write(db, written)
            yield ready
        except BaseException:
            # What cannot be taken back now, on a full disk for one, the next import clears.
            with suppress(Exception):
                ready.take_back(db, actor, project_id)
            raise


@dataclass
class _Documents:
    """The documents of a source: those that the project lacks, those that gain something, and the others it has.

    `kept` are the keys that become marked as never to leave this machine, be the rest of their rows good or bad.
    """

    new: list[Supplied] = field(default_factory=list)
    gaining: list[Supplied] = field(default_factory=list)
    others: list[Supplied] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)

    @property
    def bytes(self) -> list[Bytes]:
        """What there is to store; bytes that a disk has lost are put back."""
        return _bytes((*self.new, *self.gaining, *self.others))


def _bytes(documents: Iterable[Supplied]) -> list[Bytes]:
    return [document.found for document in documents if document.found]


class Staged:
    """An import before its last transaction; see `staged`. `refused`: bad rows stand against it, nothing is written."""

    def __init__(
        self,
        report: ImportReport,
        batch: _Batch,
        documents: _Documents,
        kept: _KeptItems,
        data_folder: Path | None,
        *,
        refused: bool = False,
    ) -> None:
        self.report = report
        self.refused = refused
        self._batch, self._documents, self._data_folder = batch, documents, data_folder
        self._parts, self._n_parts = kept.parts(), kept.n
        self._is_light = kept.weight <= HEAVIEST_BLOCK
        self._proposals = kept.proposals
        self._last: _WriteTurn | None = None
        self._stored: list[str] = []

    def write(self, db: Database, written: Written | None = None) -> None:
        """Write documents, their bytes, and all items but the last part, which goes in when the batch is published.

        What the first turn would take in one transaction is written when the batch is published, all of it.
        """
        self._last = next(self._parts, None)
        if self._last is not None and self._n_parts <= parts_at_first(db) and self._is_light:
            for part in self._parts:
                self._last.join(part)
            self._n_parts = 1
        if self._documents.new or self._n_parts > 1:
            with closing(Turns(db)) as turns:
                with turns.turn() as session:
                    self._batch.begin(session, hidden=True)
                for block in _blocks(self._documents.new, _DOCUMENTS_A_TURN):
                    with turns.turn() as session:
                        self._batch.add_documents(session, block)
                number, following = 0, next(self._parts, None)
                while following is not None:
                    with turns.turn() as session:
                        turn = _WriteTurn()
                        for _ in range(turns.parts):
                            if self._last is None or following is None or turn.weight > HEAVIEST_BLOCK:
                                break
                            turn.join(self._last)
                            self._last, following = following, next(self._parts, None)
                            number += 1
                        self._batch.write(session, turn)
                    if written is not None:
                        written(number / self._n_parts)
        # After their rows: bytes that a row stands for are not taken away by another import that is taken back.
        self._store(self._documents.bytes)

    def publish(self, session: Session) -> None:
        """Write what is left, log the import, and let everybody see it; in the caller's writing transaction."""
        if not (self._batch.id or self._last or self._documents.gaining or self._documents.kept):
            self._batch.propose(session, self._proposals)
            return
        if self._batch.id is None:
            self._batch.begin(session, hidden=False)
        if self._last is not None:
            self._batch.write(session, self._last)
        for block in _blocks(self._documents.gaining, BLOCK):
            self._batch.complete(session, block)
        for keys in _blocks(self._documents.kept, BLOCK):
            self._batch.mark_kept(session, keys)
        if self._documents.gaining:
            claim_bytes(session)
            self._store(_bytes(self._documents.gaining))
        self._batch.propose(session, self._proposals)
        self.report.batch = self._batch.publish(session, self.report)

    def take_back(self, db: Database, actor: Actor, project_id: int) -> None:
        """Remove what was written."""
        clear_broken_off(db, project_id, actor=actor, data_folder=self._data_folder)
        if self._data_folder is not None and self._stored:
            with db.write() as session:
                forget_bytes(session, self._data_folder, self._stored)

    def _store(self, found: Sequence[Bytes]) -> None:
        if found:
            assert self._data_folder is not None
            for path in store_all(self._data_folder, found):
                self._stored.append(path.name)


# Checking -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Destination:
    """Where a stream of items goes: compared with what it has had, and counted (and, for an import, kept)."""

    seen: Seen
    counted: _WrittenCount
    skip_bad: bool
    labelled: LabelledItems | None
    beyond: BeyondDocuments


def _check(
    db: Database,
    project_id: int,
    reading: Reading,
    report: ImportReport,
    looked: Looked,
    *,
    kept: _KeptItems | None,
    skip_bad: bool = False,
    labelled: LabelledItems | None,
) -> _Documents:
    """Read everything, compare it with itself and with the project, and count it; what is to be written is kept."""
    with closing(Seen()) as seen, db.read() as session:
        documents = _documents(session, project_id, looked, report)
        counted = _WrittenCount(session, project_id, {document.parsed.key for document in looked.supplied}, kept)
        beyond = BeyondDocuments(project_id, looked.supplied)
        _items(session, project_id, reading, report, _Destination(seen, counted, skip_bad, labelled, beyond))
        report.documents += counted.documents_added
        report.only_named, report.without_file = counted.documents_added, counted.without_file
    return documents


def _documents(session: Session, project_id: int, looked: Looked, report: ImportReport) -> _Documents:
    """Compare the source's documents with the project's."""
    marked = marked_documents(session, project_id)
    found = _Documents(kept=[key for key in looked.kept if key not in marked])
    for block in _blocks(looked.supplied):
        there = _documents_by_key(session, project_id, block)
        for given in block:
            document = there.get(given.parsed.key)
            if document is None:
                report.documents += 1
                report.supplied += given.found is not None
                found.new.append(given)
            else:
                try:
                    gained = complete(document, given)
                except AssayError as error:
                    report.rejected.append(Rejected(given.parsed.file, given.parsed.line, str(error)))
                    continue
                report.supplied += ATTACHED in gained
                (found.gaining if gained else found.others).append(given)
        session.expunge_all()
    report.kept += len(found.kept)
    return found


def _documents_by_key(session: Session, project_id: int, block: Sequence[Supplied]) -> dict[str, Document]:
    keys = [given.parsed.key for given in block]
    query = pick(Document).where(col(Document.project_id) == project_id, col(Document.key).in_(keys))
    return {document.key: document for document in session.execute(query).scalars()}


def _items(
    session: Session,
    project_id: int,
    reading: Reading,
    report: ImportReport,
    to: _Destination,
) -> None:
    """Sort the stream block by block into the report and, while nothing stands against it, count and keep it."""
    any_item = f"SELECT 1 FROM item WHERE project_id = {mark(session.connection())} LIMIT 1"
    has_items = bool(plain_rows(session, any_item, (project_id,)))
    for block in _light_blocks(items_in(reading)):
        parsed = [row for row in block if isinstance(row, ParsedItem)]
        report.rejected += [row for row in block if isinstance(row, Rejected)]
        result = sort_block(session, project_id, to.seen, parsed, has_items=has_items)
        report.rejected += result.rejected
        proposals = list(_compared(session, result.revisions))
        report.revisions += [row.differing for row in proposals]
        report.added += len(result.new)
        report.unchanged += len(result.unchanged) + result.repeated
        _keep_labels(report.labels, to.labelled, result)
        new = [parsed.item for parsed, _ in result.new]
        to.beyond.look(session, new)
        _count_fields(report.metadata, new)
        report.examples += new[: _EXAMPLES - len(report.examples)]
        if len(report.rejected) > MOST_REJECTED and not to.skip_bad:
            last = report.rejected[MOST_REJECTED]
            reason = f"more than {MOST_REJECTED:,} bad rows: reading stopped here. Is this the right format?"
            report.rejected[MOST_REJECTED:] = [Rejected(last.file, last.line, reason)]
            return
        if report.preview or to.skip_bad or not report.rejected:
            weight = sum(item.weight() for item in new)
            report.scores += to.counted.add([version for _, version in result.new], result.unchanged, weight)
            to.counted.propose(proposals)
    report.notes += [*reading.notes(), *to.beyond.notes()]


def _keep_labels(came: LabelsCame, wanted: LabelledItems | None, block: Sorted) -> None:
    """Count the labels of a block, and keep those that are wanted."""
    there = [parsed for parsed, _ in (*block.new, *block.unchanged)]
    rows = list(chain.from_iterable(parsed.labels for parsed in there))
    came.n += len(rows)
    came.annotators.update(row.annotator for row in rows)
    came.left_out.update({parsed.item.id: len(parsed.labels) for parsed, _ in block.revisions if parsed.labels})
    if wanted is not None:
        wanted.rows += rows
        wanted.ids.update(parsed.item.id for parsed in there)
        wanted.units.update((parsed.item.id, parsed.item.units()) for parsed in there if parsed.labels)


def _compared(session: Session, pairs: list[tuple[ParsedItem, int]]) -> Iterator[Proposal]:
    there = items_as_json(session, [version_id for _, version_id in pairs])
    for parsed, version_id in pairs:
        new = to_json(parsed.item)
        changes = changed_fields(there[version_id], new)
        differing = Differing(parsed.file, parsed.line, new["id"], changes, item_hash(parsed.item))
        yield Proposal(differing, {name: new.get(name) for name in changes})


def _blocks(stream: Iterable[Any], n: int | None = None) -> Iterator[list[Any]]:
    iterator = iter(stream)
    while block := list(islice(iterator, n or BLOCK)):
        yield block


def _light_blocks(rows: Iterable[ParsedItem | Rejected]) -> Iterator[list[ParsedItem | Rejected]]:
    """Blocks of at most `BLOCK` rows, and no more than `HEAVIEST_BLOCK` where these are large ones."""
    block: list[ParsedItem | Rejected] = []
    weight = 0
    for row in rows:
        block.append(row)
        weight += row.item.weight() if isinstance(row, ParsedItem) else 0
        if len(block) >= BLOCK or weight >= HEAVIEST_BLOCK:
            yield block
            block, weight = [], 0
    if block:
        yield block


def _count_fields(counted: Counter[str], items: Sequence[ItemContent]) -> None:
    """Count the fields of metadata; of those that are too many to be read only the first."""
    names = chain.from_iterable(item.metadata for item in items)
    if len(counted) >= MOST_FIELDS:
        counted.update(name for name in names if name in counted)
        return
    counted.update(names)
    for name in list(counted)[MOST_FIELDS:]:
        del counted[name]


class _WrittenCount:
    """What would be written, counted; for an import it is kept as well."""

    def __init__(self, session: Session, project_id: int, described: set[str], kept: _KeptItems | None) -> None:
        self._session, self._project_id, self._known, self._kept = session, project_id, described, kept
        self.documents_added = 0
        self.without_file: list[str] = []

    def add(self, new: list[NewVersion], unchanged: list[tuple[ParsedItem, int]], weight: int) -> int:
        """Count the documents that a block names first; how many scores items that are there would gain.

        `weight` is that of the new items together.
        """
        unknown = documents_of(new) - self._known
        named = sorted(unknown - documents_there(self._session, self._project_id, unknown))
        self.documents_added += len(named)
        self.without_file += named[: MOST_NAMED - len(self.without_file)]
        self._known |= unknown
        missing = missing_scores(self._session, unchanged)
        if self._kept is not None:
            self._kept.add(new, missing, weight)
        return sum(len(scores) for _, scores in missing)

    def propose(self, proposals: list[Proposal]) -> None:
        """Keep what the source says otherwise of items that are there."""
        if self._kept is not None:
            self._kept.proposals.add(proposals)


@dataclass
class _WriteTurn:
    """What is written in one turn: new versions of items, and scores of versions that are there."""

    new: list[NewVersion] = field(default_factory=list)
    scores: list[tuple[int, tuple[ItemScore, ...]]] = field(default_factory=list)
    rows: int = 0
    weight: int = 0

    def join(self, other: _WriteTurn) -> None:
        """Take in what stands in another one: few long statements are quicker than many short ones."""
        self.new += other.new
        self.scores += other.scores
        self.rows += other.rows
        self.weight += other.weight


class _KeptItems:
    """Checked items on their way into the database, in parts of some rows.

    The first block of them stays as it is, since a block is in memory at a time anyway; what follows goes to a file.
    """

    def __init__(self, rows: int) -> None:
        self._rows = rows
        self._in_memory: list[_WriteTurn] = []
        self._free = BLOCK
        self._light = HEAVIEST_BLOCK
        self._file = tempfile.SpooledTemporaryFile(_SPOOLED)  # noqa: SIM115 - closed by __exit__
        self._part = _WriteTurn()
        self.proposals = KeptProposals()
        self.n = 0
        self.weight = 0

    def add(self, new: list[NewVersion], scores: list[tuple[int, tuple[ItemScore, ...]]], weight: int) -> None:
        """Keep these; `weight` is that of the new ones together."""
        for version in new:
            self._part.new.append(version)
            self._part.rows += version.n_rows
            self._part.weight += weight // len(new)
            self._full()
        for found in scores:
            self._part.scores.append(found)
            self._part.rows += len(found[1])
            self._full()

    def _full(self, least: int | None = None) -> None:
        if self._part.rows >= (least or self._rows) or self._part.weight >= HEAVIEST_BLOCK:
            self._free -= len(self._part.new) + len(self._part.scores)
            self._light -= self._part.weight
            if self._free >= 0 and self._light >= 0:
                self._in_memory.append(self._part)
            else:
                kept = (list(map(tuple, self._part.new)), self._part.scores, self._part.weight)
                pickle.dump(kept, self._file, pickle.HIGHEST_PROTOCOL)
            self.weight += self._part.weight
            self._part = _WriteTurn()
            self.n += 1

    def parts(self) -> Iterator[_WriteTurn]:
        """What was kept, once; nothing can be added from then on."""
        self._full(1)
        self._file.seek(0)
        first, self._in_memory = self._in_memory, []
        return chain(first, (self._read() for _ in range(self.n - len(first))))

    def _read(self) -> _WriteTurn:
        new, scores, weight = pickle.load(self._file)  # noqa: S301 - written by this very object
        return _WriteTurn([NewVersion(*version) for version in new], scores, weight=weight)

    def __enter__(self) -> _KeptItems:
        return self

    def __exit__(self, *_error: object) -> None:
        self._file.close()
        self.proposals.close()


class _Batch:
    """The batch of one import; its row is made when the first thing is written."""

    def __init__(self, actor: Actor, project_id: int, reading: Reading) -> None:
        self._actor, self._project_id, self._reading = actor, project_id, reading
        self._at: datetime = now()
        self._writer: RowWriter | None = None
        self.id: int | None = None

    def begin(self, session: Session, *, hidden: bool) -> None:
        """Make the batch's row; `hidden` until it is published."""
        connection, reading = session.connection(), self._reading
        self.id = fresh_ids(session, "batch", 1)[0]
        own = (self.id, self._project_id, reading.format, reading.source, self._actor.person_id)
        insert_many(connection, "batch", _BATCH, [(*own, database_time(session, self._at))])
        if hidden:
            insert_many(connection, "unpublished_batch", ("batch_id",), [(self.id,)])
        self._writer = RowWriter(Origin(self._project_id, self.id, self._actor.person_id, self._at))

    def add_documents(self, session: Session, block: Sequence[Supplied]) -> None:
        """Add documents that the project does not have."""
        at = database_time(session, self._at)
        rows = []
        for given in block:
            parsed, found = given.parsed, given.found
            looked = (
                (found.sha256, found.media_type, found.n_pages, dumps(found.sizes))
                if found
                else (None, None, parsed.n_pages, None)
            )
            extra = dumps(canonical(parsed.metadata))
            rows.append((self._project_id, parsed.key, parsed.title, *looked, extra, self.id, at))
        insert_many(session.connection(), "document", _DOCUMENT, rows)

    def complete(self, session: Session, block: Sequence[Supplied]) -> None:
        """Give documents that are there what they lack, and log it; Conflict when they have got other bytes since."""
        there = _documents_by_key(session, self._project_id, block)
        for given in block:
            document = there[given.parsed.key]
            for kind in complete(document, given):
                details = {"key": document.key, "batch": self.id}
                record(
                    session, self._actor, kind, "document", document.id, project_id=self._project_id, details=details
                )

    def mark_kept(self, session: Session, keys: Sequence[str]) -> None:
        """Mark documents as never to leave this machine, as their source says, and log it."""
        mark_kept(session, self._actor, self._project_id, keys, batch=self.id)

    def write(self, session: Session, part: _WriteTurn) -> None:
        """Write some of the items, and of the scores of items that were there."""
        assert self._writer is not None
        self._writer.write(session, part.new)
        self._writer.add_scores(session, part.scores)

    def propose(self, session: Session, proposals: KeptProposals) -> None:
        """Store what the source says otherwise of items that are there, for somebody to accept or decline."""
        proposals.store(
            session, self._project_id, batch_id=self.id, source=self._reading.source, person_id=self._actor.person_id,
            at=self._at,
        )  # fmt: skip

    def publish(self, session: Session, report: ImportReport) -> int:
        """Log the import and let everybody see it; the batch's id."""
        assert self.id is not None
        details = {
            "format": report.format,
            "source": self._reading.source,
            "added": report.added,
            "unchanged": report.unchanged,
            "proposed_revisions": len(report.revisions),
            "rejected": len(report.rejected),
            "documents": report.documents,
        }
        record(session, self._actor, "items imported", "batch", self.id, project_id=self._project_id, details=details)
        connection = session.connection()
        connection.exec_driver_sql(f"DELETE FROM unpublished_batch WHERE batch_id = {mark(connection)}", (self.id,))
        return self.id
