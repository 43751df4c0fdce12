"""From one format into another without a database: items, labels and documents' bytes, and what the new files lost.

What was lost is measured: the files that were written are read again by their format, and everything that was said
before and is not said any more is counted (`exports.formats._losing`).
"""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from annotators.errors import InvalidInput
from annotators.figures import count
from annotators.items.normal import Normal, content_hash, read_item, to_json
from annotators.items.parsed import (
    KEPT_HERE,
    ForeignFinalLabel,
    ForeignLabel,
    ParsedDocument,
    Rejected,
    documents_in,
    items_in,
)
from exports.bundles.typed import first_difference
from exports.cells import safe
from exports.checks import check_export_folder
from exports.csv_file import CsvFile
from exports.formats._described import DOCUMENTS
from exports.formats._losing import Lost, lost_between, statements
from exports.formats._lost_labels import Plain, SameItems, lost_labels, plain_by
from exports.formats._pictures import PagePictures
from exports.formats._writing import (
    OPEN,
    Files,
    Given,
    Judged,
    LabelledWriter,
    PairOut,
    Picture,
    SettledOut,
    SettledWriter,
    StudyOut,
    StudyWriter,
    Unit,
    Writer,
    Written,
    cell_of,
    check_options,
    takes_pairs,
    takes_pictures,
)
from exports.formats.base import DOCUMENTS_ALONE as NATIVE
from exports.formats.base import (
    FORMATS,
    Columns,
    FileReading,
    decided_in_tables,
    final_labels_in,
    inferred,
    passed_over,
    protocol_of_labels,
    read_sources,
)
from exports.formats.labels import NEEDED, OPTIONAL, read_labels
from exports.formats.native import ITEMS, is_document_path
from exports.reading.sources import SourceFile, Sources, open_sources
from exports.reading.tables import heading_of
from exports.sinks import FolderSink, Out, whole_folder

if TYPE_CHECKING:
    from annotators.protocols import Protocol as AskedProtocol

_SHOWN = 20


@dataclass
class Converted:
    """What a conversion wrote: how many items, labels and files of documents, what was lost, and the files."""

    items: int
    labels: int
    documents: int
    lost: list[Lost]
    files: list[str]
    notes: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """As `assay convert --json` prints it."""
        return {
            "items": self.items,
            "labels": self.labels,
            "documents": self.documents,
            "lost": [lost.to_json() for lost in self.lost],
            "files": self.files,
            "notes": self.notes,
        }


def writer_named(name: str) -> Writer:
    """The format of this name that items are written in; InvalidInput for one that is only read."""
    found = FORMATS.get(name)
    if not isinstance(found, Writer):
        written = ", ".join(format_.name for format_ in FORMATS if isinstance(format_, Writer))
        raise InvalidInput(f"{name} is only read. What can be written: {written}.")
    return found


def convert_files(
    paths: Sequence[Path | str],
    *,
    into: str,
    output: Path,
    format_name: str | None = None,
    skip_bad: bool = False,
    options: Mapping[str, str] | None = None,
    pictures: bool = False,
    mapping: Columns | None = None,
) -> Converted:  # fmt: skip
    """Read files as one format (None: the one that recognises them) and write them as the format `into`.

    `mapping`: as of `read_sources`.

    `output` is a folder to make, which may be there and empty; nothing is there when anything fails. Labels of people
    in the files go along where the new format has a place for them: for those of every annotator, or for one label of a
    unit, which then is its final label where the files say that of units, else what all agree on who labelled it.
    `options` are what is said of the data as a
    whole (`exports.formats._writing.Files.options`). With `pictures` the pages that items point at go along as
    pictures, drawn from the documents that are supplied. Of documents that must not leave the machine they are on, as
    the files say, files and pictures go along with `native` alone. Raises InvalidInput naming bad rows, unless
    `skip_bad`; Conflict for a folder that holds something; what readers raise for files that are none of theirs.
    """
    writer = writer_named(into)
    check_options([writer], options or {})
    if pictures and not takes_pictures(writer):
        raise InvalidInput(f"{into} has no place for pictures; huggingface has. Leave --pictures out.")
    check_export_folder(output)
    with whole_folder(output) as made, open_sources(paths) as sources:
        source = _Source(read_sources(sources, format_name, mapping), skip_bad=skip_bad)
        source.look_through(_tables_of_labels(sources))
        supplied = {one.key: one.path for one in source.leaving() if one.path is not None} if pictures else {}
        with PagePictures(supplied) as drawn:
            done = _written(source, writer, made, options or {}, drawn if pictures else None)
        if drawn.missing:
            done.notes.append(f"{count(len(drawn.missing), 'page')} that items point at have no picture here.")
        return done


class _Source:
    """What is read, each item once: its normal form, and its labels beside it.

    `final` are the final labels by the id of their item, or of the first of a pair, where the files have some.
    `kept` are the keys of the documents that must not leave the machine they are on.
    """

    def __init__(self, reading: FileReading, *, skip_bad: bool) -> None:
        self.reading = reading
        self._skip_bad = skip_bad
        self.labels: dict[str, list[ForeignLabel]] = {}
        self.final: dict[str, list[ForeignFinalLabel]] = {}
        self.n_labels = self.n_repeated = 0
        self.kept: set[str] = set()
        self.bad: list[Rejected] = []
        self.notes: list[str] = []

    def look_through(self, tables: Iterable[SourceFile] = ()) -> None:
        """Read everything once, for what is wrong with it and for the labels; InvalidInput for bad rows.

        `tables` are those of labels that lie beside the items.
        """
        bad = self._look_through_documents()
        seen: dict[str, str] = {}
        for row in items_in(self.reading):
            if isinstance(row, Rejected):
                bad.append(row)
                continue
            try:
                digest = content_hash(to_json(row.item))
            except InvalidInput as error:
                bad.append(Rejected(row.file, row.line, str(error)))
                continue
            if seen.setdefault(row.item.id, digest) != digest:
                reason = f"an item {row.item.id!r} with other content stands before it. Give one of them another id."
                bad.append(Rejected(row.file, row.line, reason))
                continue
            for label in row.labels:
                try:
                    self._keep(label)
                except InvalidInput as error:
                    bad.append(Rejected(label.file or row.file, label.line, str(error)))
        if not seen and not bad:
            raise InvalidInput(f"{self.reading.source}: there is no item in it. Name the files that have some.")
        if bad and not (self._skip_bad and seen):
            said = f"{self.reading.source} has {count(len(bad), 'bad row')}, so nothing was written:"
            raise InvalidInput("\n".join([said, *_named(bad)]))
        self._ids, self.bad = seen, bad
        # Formats count as they read, and are read several times: what they have to say is of one reading.
        self.notes = [*self.reading.notes(), *passed_over(self.reading), *decided_in_tables(self.reading)]
        self._keep_final()
        for table in tables:
            self._take_labels(table, seen)

    def _take_labels(self, table: SourceFile, seen: Collection[str]) -> None:
        """Have the labels of a table beside the items that were seen, and note how many of its rows do not count."""
        read = read_labels(table.path)
        for label in read.checked():
            if label.item in seen:
                try:
                    self._keep(label)
                except InvalidInput as error:
                    raise InvalidInput(f"{table.name}, line {label.line}: {error}") from None
        if read.left_out:
            reasons = ", ".join(f"{n:,} {reason}" for reason, n in read.left_out.items())
            self.notes.append(f"{table.name}: rows that do not count are left out ({reasons}).")
        self.notes += [f"{table.name}: {note}" for note in read.notes()]

    def _keep(self, label: ForeignLabel) -> None:
        """Have a label beside its item; InvalidInput for one of a pair that is none."""
        if label.other == label.item:
            raise InvalidInput("a pair is of one item twice. Name another one in `other_item`, or leave the row out.")
        self.labels.setdefault(label.name, []).append(label)
        self.n_labels += 1

    def _keep_final(self) -> None:
        for final in final_labels_in(self.reading):
            if final.item in self._ids:
                self.final.setdefault(final.item, []).append(final)

    def _look_through_documents(self) -> list[Rejected]:
        bad = []
        for row in documents_in(self.reading):
            if isinstance(row, Rejected):
                bad.append(row)
            elif row.kept:
                self.kept.add(row.key)
        self.kept |= self._of_same_bytes()
        return bad

    def _of_same_bytes(self) -> set[str]:
        """The keys of documents that have the bytes of one that is kept: a mark holds for them."""
        if not self.kept:
            return set()
        supplied = [(row.key, row.path) for row in self.documents() if row.path is not None]
        kept = {path for key, path in supplied if key in self.kept}
        sizes, digests = {path.stat().st_size for path in kept}, {_sha256(path) for path in kept}
        return {key for key, path in supplied if path.stat().st_size in sizes and _sha256(path) in digests}

    @property
    def n_items(self) -> int:
        """How many items there are."""
        return len(self._ids)

    def all_labels(self) -> Iterator[ForeignLabel]:
        """What anybody said of anything."""
        return chain.from_iterable(self.labels.values())

    def said_of(self, item: str) -> Iterator[ForeignLabel]:
        """The labels of an item, and of the pairs whose first it is."""
        for name in self._names_of.get(item, ()):
            yield from self.labels[name]

    @cached_property
    def _names_of(self) -> dict[str, list[str]]:
        found: dict[str, list[str]] = {}
        for name, labels in self.labels.items():
            found.setdefault(labels[0].item, []).append(name)
        return found

    def items(self) -> Iterator[Normal]:
        """Every item in normal form; one that stands twice comes once."""
        left = dict(self._ids)
        for row in items_in(self.reading):
            if not isinstance(row, Rejected) and row.item.id in left:
                item = to_json(row.item)
                try:
                    digest = content_hash(item)
                except InvalidInput:  # a bad row, which was named
                    continue
                if left[row.item.id] == digest:
                    del left[row.item.id]
                    yield _plain(item)

    def documents(self) -> Iterator[ParsedDocument]:
        """The documents that are described or supplied."""
        return (row for row in documents_in(self.reading) if isinstance(row, ParsedDocument))

    def leaving(self) -> Iterator[ParsedDocument]:
        """The documents that may go anywhere."""
        return (row for row in self.documents() if row.key not in self.kept)

    def protocol(self) -> AskedProtocol:
        """What was asked when the labels were given: as the format says, else as the labels show."""
        return protocol_of_labels(self.reading) or inferred(chain.from_iterable(self.labels.values()))


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _named(bad: Sequence[Rejected]) -> list[str]:
    """The first bad rows with their places, and how many more there are, a line each."""
    more = [f"… and {len(bad) - _SHOWN:,} more"] if len(bad) > _SHOWN else []
    return [*(f"{row.file}, line {row.line}: {row.reason}" for row in bad[:_SHOWN]), *more]


def _tables_of_labels(sources: Sources) -> list[SourceFile]:
    """The tables of labels that lie beside the items."""
    return [
        file
        for file in sources.files
        if file.basename.endswith((".csv", ".tsv"))
        and set(NEEDED) <= {column.lower() for column in heading_of(file.head())}
    ]


def _plain(item: Normal) -> Normal:
    """As it is written: tuples as lists."""
    found: Normal = orjson.loads(orjson.dumps(item))
    return found


# Writing --------------------------------------------------------------------------------------------------------------


def _written(
    source: _Source, writer: Writer, folder: Path, options: Mapping[str, str], picture: Picture | None
) -> Converted:  # fmt: skip
    sink = FolderSink(folder)

    def opened(name: str) -> AbstractContextManager[Out]:
        return sink.open(name)

    places = isinstance(writer, StudyWriter | SettledWriter | LabelledWriter)
    study = _Spoken(source) if source.n_labels and places else None
    if writer.name == NATIVE and source.n_labels:
        _labels_written(source, sink)
    with Files(opened, partial(sink.put, difference=first_difference), options, picture) as files:
        written = _items_written(source, writer, study, files)
        left_out = files.left_out
    supplied = _documents_written(source, writer, sink, folder)
    if not written.items and not supplied:
        names = "one item" if written.left_out == 1 else f"{written.left_out:,} items"
        raise InvalidInput(f"{writer.name} can hold none of the {names}. Take another format (`assay formats`).")
    return _held_against(source, writer, folder, written, left_out)


def _items_written(source: _Source, writer: Writer, study: _Spoken | None, files: Files) -> Written:
    if study is None:
        return writer.write(source.items, files)
    if isinstance(writer, StudyWriter):
        alone = study.protocol.about_pairs and not takes_pairs(writer)
        return writer.write(source.items, files) if alone else writer.write_study(study.out(), files)
    if isinstance(writer, SettledWriter):
        return writer.write_settled(study.settled(), files)

    def with_labels() -> Iterator[Normal]:
        for judged in study.judged():
            assert isinstance(writer, LabelledWriter)
            yield writer.with_labels(judged.item, judged.final)

    return writer.write(with_labels, files)


def _labels_written(source: _Source, sink: FolderSink) -> None:
    """`labels.csv`, a label a row, as it is imported (docs/importing.md)."""
    columns = (*NEEDED, *OPTIONAL)
    with sink.open("labels.csv") as out:
        table = CsvFile(out, columns)
        for labels in source.labels.values():
            rows = [[_cell(label, name) for name in columns] for label in labels]
            table.add(rows, len(rows))


def _cell(label: ForeignLabel, column: str) -> str:
    value = getattr(label, _CELLS.get(column, column))
    if isinstance(value, list):
        value = cell_of(value)
    return "" if value is None else safe(str(value))


_CELLS = {"other_item": "other"}
"""Column of a table of labels → what a label calls it, where that is something else."""


class _Spoken:
    """The items of a source with what people said of them."""

    def __init__(self, source: _Source) -> None:
        self._source, self.protocol = source, source.protocol()
        self.criteria = self.protocol.criteria_by_name()

    def out(self) -> StudyOut:
        return StudyOut(self.protocol.name, self.protocol, self.judged, pairs=self._pairs)

    def settled(self) -> SettledOut:
        """The same by what is settled alone."""
        return SettledOut(self.protocol.name, {"": self.protocol}, self.judged)

    def _pairs(self) -> list[PairOut]:
        """The pairs that labels are about."""
        said = (label for labels in self._source.labels.values() for label in labels)
        return list(dict.fromkeys(PairOut(label.item, label.other) for label in said if label.other))

    def judged(self) -> Iterator[Judged]:
        for number, item in enumerate(self._source.items(), 1):
            given = [self._given(label) for label in self._source.said_of(item["id"])]
            labelled = any(label.other is None for label in given)
            units = self._final(item["id"], given) if self._source.final else units_of(given)
            asked, scores = self.criteria if labelled else (), self._scores(item)
            yield Judged(item, given, units, number, asked=asked, scores=scores)

    def _final(self, item: str, given: Sequence[Given]) -> list[Unit]:
        """Where the units of an item stand by the files themselves; votes that they do not say are counted."""
        counted = {(unit.criterion, unit.target, unit.other): unit.votes for unit in units_of(given)}
        found = []
        for final in self._source.final.get(item, ()):
            label = None if final.value is None else self._parsed(final.criterion, final.value)
            votes = final.votes or counted.get((final.criterion, final.target, final.other), {})
            found.append(Unit(final.criterion, final.target, label, final.how, votes, final.other))
        return found

    def _parsed(self, criterion: str, value: str) -> Any:
        asked = self.criteria.get(criterion)
        return value if asked is None else asked.parse(value)

    def _scores(self, item: Normal) -> list[dict[str, Any]]:
        """What annotators would be shown of the scores that came with an item."""
        if not self.protocol.about_scores:
            return []
        from annotators.asking.shown_scores import own_scores_shown  # noqa: PLC0415 - most labels are about no scores

        return own_scores_shown(self.protocol, read_item(item))

    def _given(self, label: ForeignLabel) -> Given:
        value = self._parsed(label.criterion, label.value)
        time = label.time.isoformat().replace("+00:00", "Z") if label.time else None
        return Given(label.annotator, label.criterion, label.target, value, time, label.comment, label.other)


def units_of(labels: Sequence[Given]) -> list[Unit]:
    """Where each unit stands: what everybody who labelled it agrees on, else open."""
    said: dict[tuple[str, str, str | None], list[Any]] = {}
    for label in labels:
        said.setdefault((label.criterion, label.target, label.other), []).append(label.value)
    return [_unit_of(*about, values) for about, values in said.items()]


def _unit_of(criterion: str, target: str, other: str | None, values: Sequence[Any]) -> Unit:
    votes = Counter(map(cell_of, values))
    agreed = len(votes) == 1
    return Unit(criterion, target, values[0] if agreed else None, "unanimous" if agreed else OPEN, votes, other)


def _documents_written(source: _Source, writer: Writer, sink: FolderSink, folder: Path) -> int:
    """Put the bytes of documents where every format finds them, and describe all of them where the format does."""
    describes, taken, n = writer.name == NATIVE, set[str](), 0
    rows = []
    for document in source.documents() if describes else source.leaving():
        row: Normal = {"key": document.key}
        if document.title:
            row["title"] = document.title
        if document.path is not None and is_document_path(document.key) and document.key.casefold() not in taken:
            taken.add(document.key.casefold())
            path = f"documents/{document.key}"
            sink.copy(path, document.path, _sha256(document.path))
            row["path"] = path
            n += 1
        if document.key in source.kept:
            row[KEPT_HERE] = True
        if document.metadata:
            row["metadata"] = document.metadata
        rows.append(row)
    if describes:
        (folder / ITEMS).touch()
        (folder / DOCUMENTS).write_bytes(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))
    return n


# What is lost ---------------------------------------------------------------------------------------------------------


def _held_against(source: _Source, writer: Writer, folder: Path, written: Written, left_out: set[str]) -> Converted:
    with open_sources([folder]) as sources:
        back = _Source(FORMATS.get(writer.name).read(sources), skip_bad=False)
        try:
            back.look_through(_tables_of_labels(sources))
        except InvalidInput as error:
            raise InvalidInput(
                f"{source.reading.source}: as {writer.name} it could not be read again, so nothing was written. Of the "
                f"files that were to be: {error}"
            ) from None
        same = SameItems()
        before = statements(same.before(item for item in source.items() if item["id"] not in left_out))
        lost = lost_between(before, statements(same.after(back.items())))
        there, stay, kept = _supplied(source), source.kept - back.kept, _supplied(back)
        described, still = _described(source), _described(back)
    if left_out:
        lost.insert(0, Lost("items", "items", len(left_out), len(left_out) + written.items))
    for path, what, n, of in (
        ("files", "files of documents", len(there - kept - stay), len(there)),
        ("kept_here", "documents that must not leave this machine", len(stay), len(source.kept)),
        ("titles", "titles and metadata of documents", len(described - still), len(described)),
    ):
        if n > 0:
            lost.append(Lost(path, what, n, of))
    if source.n_labels:
        plain = plain_by(_Spoken(source).criteria)
        lost += lost_labels(source.all_labels(), back.all_labels(), plain, moved=same.moved)
        if source.final:
            gone = lost_labels(_finally(source, plain), _finally(back, plain), plain, moved=same.moved, final=True)
            lost += [one._replace(path=f"final_{one.path}") for one in gone]
    notes = [*source.notes]
    if source.bad:
        n = len(source.bad)
        lost.insert(0, Lost("rows", "rows that cannot be read", n, n + source.n_items))
        notes += [f"Left out: {line}" for line in _named(source.bad)]
    files = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return Converted(written.items, back.n_labels, len(kept), lost, files, notes)


def _supplied(source: _Source) -> set[str]:
    return {document.key for document in source.documents() if document.path is not None}


def _described(source: _Source) -> set[bytes]:
    """What is said of documents beside their key and bytes; a title that is the name of the file says nothing."""
    return {
        orjson.dumps([document.key, document.own_title, document.metadata], option=orjson.OPT_SORT_KEYS)
        for document in source.documents()
        if document.metadata or document.own_title
    }


def _finally(source: _Source, plain: Plain) -> Iterator[ForeignLabel]:
    """The final labels as the files say them, else those on which all agree who labelled a unit."""
    if source.final:
        for of_item in source.final.values():
            for final in of_item:
                if final.value is not None:
                    about = (final.item, "", final.criterion, final.target, final.value)
                    yield ForeignLabel(0, *about, other=final.other)
        return
    units: dict[tuple[str, str, str, str | None], list[ForeignLabel]] = {}
    for label in source.all_labels():
        units.setdefault((label.item, label.criterion, label.target, label.other), []).append(label)
    for first, *others in units.values():
        if all(plain(label) == plain(first) for label in others):
            yield ForeignLabel(0, first.item, "", *first[3:6], other=first.other)
