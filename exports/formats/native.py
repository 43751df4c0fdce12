"""The native format: `items.jsonl`, with `documents.jsonl` and a folder `documents/` beside it (docs/importing.md)."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Any

import orjson

from annotators.errors import AssayError, InvalidInput
from annotators.items.checks import canonical
from annotators.items.item import FIELDS, ItemContent
from annotators.items.normal import Normal, read_item
from annotators.items.parsed import KEPT_HERE, ParsedDocument, ParsedItem, Rejected
from exports.formats._dataset_files import records
from exports.formats._described import DOCUMENTS, described, describing
from exports.formats._one_type import item_of_columns
from exports.formats._records import names_in
from exports.formats._writing import Files, Items, Written
from exports.formats.base import FORMATS, FileReading, Misnamed
from exports.reading.json_files import Meter, json_lines
from exports.reading.sources import DOCUMENT_ENDINGS, TEXT_ENDINGS, SourceFile, Sources, is_hidden
from exports.sinks import Sink

if TYPE_CHECKING:
    from sqlmodel import Session

    from db.models import Document

ITEMS = "items.jsonl"
ALONE = "There are no items in these files: documents come alone."
_LINES = (".jsonl", ".ndjson")
_SAVED = ".json"
_FIRST_FIELDS = frozenset(FIELDS[: FIELDS.index("evidence") + 1])
"""What the records of a JSON file have to have for it to be known as items, as `to_json` of `datasets` writes them."""

_OTHERS = (
    (frozenset(("text_quotes",)), "the quotes of an MMDocRAG question"),
    (frozenset(("img_quotes",)), "the quotes of an MMDocRAG question"),
    (frozenset(("ground_truth", "images_list")), "the answer and pictures of an MRAMG question"),
    (frozenset(("short_answer", "long_answer", "evidence_imgs")), "the answers and evidence of an MRAG-Suite record"),
    (frozenset(("short_answer", "long_answer", "evidence_txts")), "the answers and evidence of an MRAG-Suite record"),
)
"""Fields by which the first line is another format's, although it has a `question`."""


class Native:
    """Items as people would write them down by hand, one JSON object a line."""

    name = "native"
    title = "Assay's own JSONL"
    help = "items.jsonl, and beside it documents.jsonl and a folder documents/ where there are any; or one .jsonl file"

    def refusal(self, file: SourceFile) -> str | None:
        """It takes a JSONL file called items.jsonl, or whose first line has a `question` that is no other format's.

        Of other JSON files it takes those of which the first record has every field of an item.
        """
        if file.basename == ITEMS:
            return None
        if file.basename == DOCUMENTS:
            return f"it describes documents; the items are missing ({ITEMS})"
        if _is_saved(file):
            return None
        if not file.basename.endswith(_LINES):
            return Misnamed(f"it is not called {ITEMS} and does not end with {' or '.join(_LINES)}")
        first = file.beginning().split(b"\n", 1)[0]
        if not first.startswith(b"{"):
            return "its first line is not an object {…}"
        if not re.search(rb'"question"\s*:', first):
            return "its first line has no `question`"
        there = names_in(first)
        for names, whose in _OTHERS:
            if names <= there:
                return f"its first line has {whose}"
        return None

    def read(self, sources: Sources) -> FileReading:
        """The files of the sources that hold items and documents."""
        there = [file for file in sources.files if _is_lines(file) or _is_saved(file)]
        items = [file for file in there if file.given or file.basename == ITEMS] or there
        items = items or [file for file in sources.files if file.given and file.basename.endswith(_SAVED)]
        if not items and not describing(sources) and not any(sources.loose_documents()):
            raise InvalidInput(
                f"{sources.description}: there is no {ITEMS} and no document in it. Name the folder that holds "
                "them, or choose another format."
            )
        return _NativeReading(sources, items)

    def write(self, items: Items, files: Files) -> Written:
        """Write `items.jsonl`, an item a line in normal form."""
        return Written.records(items, files, lambda item: item, lambda item: ITEMS)


def _is_lines(file: SourceFile) -> bool:
    return file.basename.endswith(_LINES) and file.basename != DOCUMENTS


def _is_saved(file: SourceFile) -> bool:
    return file.basename.endswith(_SAVED) and names_in(file.head()) >= _FIRST_FIELDS


@dataclass(frozen=True)
class _NativeReading:
    """The files of one native source."""

    sources: Sources
    item_files: list[SourceFile]
    format: str = Native.name
    meter: Meter = field(default_factory=Meter)

    @property
    def source(self) -> str:
        """What was given, by its name."""
        return self.sources.named

    def documents(self) -> Iterator[ParsedDocument | Rejected]:
        """Rows of documents.jsonl, then files that no row names."""
        said = described(self.sources)
        yield from said.rows
        for key, file in self.sources.loose_documents():
            if file.path not in said.named:
                yield ParsedDocument(file.name, 1, key, path=file.path, kept=said.stays(file.path, key))

    def items(self) -> Iterator[ParsedItem | Rejected]:
        """Every row of the item files."""
        self.meter.done, self.meter.of = 0, sum(file.size for file in self.item_files)
        for file in self.item_files:
            name = file.name
            for read in self._rows(file):
                if isinstance(read, Rejected):
                    yield read
                    continue
                line, row = read
                try:
                    yield ParsedItem(name, line, _item(row))
                except AssayError as error:
                    yield Rejected(name, line, str(error))

    def _rows(self, file: SourceFile) -> Iterator[tuple[int, Any] | Rejected]:
        """(line, row) of a file of items."""
        if _is_lines(file):
            yield from json_lines(file, self.meter)
            return
        try:
            for line, record in records(file):
                yield Rejected(file.name, line, record) if isinstance(record, str) else (line, record)
        except InvalidInput as error:
            yield Rejected(file.name, 1, str(error))
        self.meter.done += file.size

    def notes(self) -> Sequence[str]:
        """That there are no items, where documents come alone; else every line stands for itself."""
        return () if self.item_files else (ALONE,)


def _item(row: Any) -> ItemContent:
    """The item of a row as people write it, or as columns of one type have it; the latter is known by its errors."""
    try:
        return read_item(row)
    except InvalidInput:
        if not isinstance(row, dict):
            raise
        return read_item(item_of_columns(row))


FORMATS.register(Native())


# Writing --------------------------------------------------------------------------------------------------------------


def write_items(session: Session, blocks: Iterable[Sequence[int]], write: Callable[[bytes], Any]) -> int:
    """Write item versions, given as blocks of ids, one normalised line each; how many."""
    from db.items.rows import items_as_json  # noqa: PLC0415 - files are read without a database

    n = 0
    for block in blocks:
        items = items_as_json(session, block)
        write(b"".join(orjson.dumps(items[version_id], option=orjson.OPT_APPEND_NEWLINE) for version_id in block))
        n += len(block)
    return n


def write_documents(
    documents: Iterable[Document], sink: Sink, folder: str, data_folder: Path | None, kept: Collection[str] = ()
) -> tuple[int, int]:
    """Write documents.jsonl and, where there is a data folder, the bytes; (documents, those with bytes).

    `kept` are the keys of those that are said to stay where they are.
    """
    from db.items.documents import document_file  # noqa: PLC0415

    taken: set[str] = set()
    n = supplied = 0
    with sink.open(f"{folder}/{DOCUMENTS}") as out:
        for document in documents:
            row: Normal = {"key": document.key}
            if document.title:
                row["title"] = document.title
            if document.sha256 and data_folder is not None:
                row["path"] = f"documents/{_file_name(document.key, taken)}"
                sink.copy(f"{folder}/{row['path']}", document_file(data_folder, document.sha256), document.sha256)
                supplied += 1
            if document.key in kept:
                row[KEPT_HERE] = True
            if document.extra:
                row["metadata"] = canonical(document.extra)
            out.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
            n += 1
        out.rows = n
    return n, supplied


def copy_documents(documents: Iterable[Document], sink: Sink, folder: str, data_folder: Path) -> None:
    """Write the bytes of documents as every format finds them: `documents/KEY`, where the key can be such a path."""
    from db.items.documents import document_file  # noqa: PLC0415

    taken: set[str] = set()
    for document in documents:
        if document.sha256 and is_document_path(document.key) and document.key.casefold() not in taken:
            taken.add(document.key.casefold())
            path = f"{folder}/documents/{document.key}"
            sink.copy(path, document_file(data_folder, document.sha256), document.sha256)


def is_document_path(key: str) -> bool:
    """Whether a document's key can be the path of a file, which is read back as the document of that key."""
    path = PurePosixPath(key)
    unfit = str(path) != key or path.is_absolute() or "\\" in key or {"..", "documents"} & set(path.parts)
    return not unfit and not any(map(is_hidden, path.parts)) and key.lower().endswith(DOCUMENT_ENDINGS + TEXT_ENDINGS)


def _file_name(key: str, taken: set[str]) -> str:
    """A plain file name for a document's key that no other has, capitals or not."""
    plain = re.sub(r"[^\w.() -]", "_", PurePosixPath(key.replace("\\", "/")).name).strip(". ")[-120:] or "document"
    stem, dot, ending = plain.rpartition(".")
    name, number = plain, 1
    while name.casefold() in taken:
        number += 1
        name = f"{stem}-{number}{dot}{ending}" if dot else f"{plain}-{number}"
    taken.add(name.casefold())
    return name
