"""MRAMG-Bench: questions whose answers have pictures among the text, and the documents they come from.

Both are JSON lines: `SUBSET_mqa.jsonl` with questions, in whose answers `<PIC>` stands for the next picture of
`images_list`; `doc_SUBSET.jsonl` with a document a line, `[id, text with <PIC>, pictures]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import PurePosixPath
from typing import Any

from annotators.errors import InvalidInput
from annotators.figures import count
from annotators.items import checks
from annotators.items.checks import called
from annotators.items.item import DEFAULT_SYSTEM
from annotators.items.normal import Normal
from annotators.items.parsed import ParsedDocument, ParsedItem, Rejected
from exports.formats._described import described
from exports.formats._files import FilesReading
from exports.formats._losing import usual
from exports.formats._records import (
    LINES_ENDING,
    Record,
    items_of_lines,
    lacking,
    list_of,
    names_in,
    need,
    rest_of,
    text_of,
)
from exports.formats._writing import Files, Items, Written, beside, metadata_of, parts_of
from exports.formats.base import FORMATS, FileReading, Misnamed
from exports.reading.json_files import json_lines
from exports.reading.sources import SourceFile, Sources

SCORER = "imported:mramg"
PLACE = "<PIC>"
"""Where a picture stands in a text."""

_NEEDED = ("id", "question", "ground_truth", "images_list")
_TAKEN = (*_NEEDED, "provenance")
_QUESTIONS = re.compile(r"(?P<subset>.+)_mqa\.jsonl")
_DOCUMENTS = re.compile(r"doc_(?P<subset>.+)\.jsonl")
_NAMED = 5


class MRAMG:
    """One item a question, of the system `reference`; its documents are gold evidence, its pictures images.

    The subset, such as `recipe`, is the category and part of every key. Pictures beside the files are the bytes of
    those of their names, with or without an ending. Without the file of documents the evidence has no text.
    """

    name = "mramg"
    title = "MRAMG-Bench questions and documents"
    help = "SUBSET_mqa.jsonl with questions, doc_SUBSET.jsonl with their documents, and pictures where they are at hand"
    loses = usual(
        "language",
        "references",
        "claims",
        "hops",
        "scores",
        "images.key",
        "images.page",
        "images.box",
        "images.caption",
        "images.metadata",
        "evidence.kind",
        "evidence.pages",
        "evidence.box",
        "evidence.hop",
        "evidence.rank",
        "evidence.used",
        items="answers of systems",
        id="ids of items",
        question_key="keys of questions",
        documents="documents but those of evidence",
        evidence="evidence that is not gold",
        evidence__key="keys of evidence",
        evidence__document="documents of evidence that are not of the subset",
        evidence__metadata="metadata of evidence but its images",
        metadata="metadata called as a field of MRAMG-Bench is",
    )

    def refusal(self, file: SourceFile) -> str | None:
        """It takes a JSONL file of records with `ground_truth` and `images_list`, or one called doc_SUBSET.jsonl."""
        if not file.basename.endswith(LINES_ENDING):
            return Misnamed(f"it does not end with {LINES_ENDING}")
        first = file.beginning().split(b"\n", 1)[0]
        if _DOCUMENTS.fullmatch(file.basename):
            return None if _is_document(first) else "its first line is no document [id, text, pictures]"
        return lacking(names_in(first), _NEEDED)

    def read(self, sources: Sources) -> FileReading:
        """The JSONL files of the sources."""
        files = [file for file in sources.files if file.basename.endswith(LINES_ENDING)]
        if not files and not any(sources.loose_documents()):
            raise InvalidInput(
                f"{sources.description}: there is no {LINES_ENDING} file in it. Name the files or their folder."
            )
        return _MRAMGReading(sources, files)

    def write(self, items: Items, files: Files) -> Written:
        """Write `SUBSET_mqa.jsonl` and `doc_SUBSET.jsonl` of the items of the system `reference`."""
        n = left_out = 0
        seen: set[tuple[str, str]] = set()
        for item in items():
            if item["system"] != DEFAULT_SYSTEM:
                left_out += files.leave_out(item)
                continue
            subset = item.get("category") or ""
            files.add(
                files.named("questions", subset or "questions", "_mqa.jsonl" if subset else ".jsonl"), _record(item)
            )
            for identity, unit in _sources_of(item):
                if unit.get("text") is not None and (subset, identity) not in seen:
                    seen.add((subset, identity))
                    row = [_number(identity), unit["text"], _pictures_of(unit)]
                    files.add(files.named("documents", f"doc_{subset or 'questions'}", ".jsonl"), row)
            n += 1
        return Written(n, left_out)


def _is_document(first: bytes) -> bool:
    return first.startswith(b"[") or re.match(rb'\{\s*"0"\s*:', first) is not None


@dataclass(frozen=True)
class _Document:
    """A document of a subset: its text with a place for each of its pictures."""

    line: int
    text: str
    pictures: list[str]


class _MRAMGReading(FilesReading):
    """The files of one MRAMG source.

    `_texts` are the documents by subset and id. `_bare` counts evidence without a text, `_misplaced` are questions
    whose answer has other places than pictures.
    """

    format = MRAMG.name

    def documents(self) -> Iterator[ParsedDocument | Rejected]:
        """The pictures and documents that are supplied; a picture is known as the questions know it."""
        said, loose = described(self.sources, elsewhere=True), list(self.sources.loose_documents())
        yield from said.told_elsewhere()
        known = self._pictures() if loose else set()
        for key, file in loose:
            name = PurePosixPath(key)
            own = next((candidate for candidate in (name.name, name.stem) if candidate in known), key)
            stays = said.stays(file.path, key, own)
            yield ParsedDocument(file.name, 1, own, name.name, path=file.path, kept=stays)

    def _pictures(self) -> set[str]:
        found: set[str] = set()
        for file in self.files:
            for row in json_lines(file):
                if not isinstance(row, Rejected) and isinstance(row[1], dict):
                    listed = row[1].get("images_list")
                    found.update(name for name in (listed if isinstance(listed, list) else []) if isinstance(name, str))
        return found

    def items(self) -> Iterator[ParsedItem | Rejected]:
        self.meter.done, self.meter.of = 0, sum(file.size for file in self.files)
        self._texts: dict[tuple[str, str], _Document] = {}
        self._bare, self._n_images = 0, 0
        self._misplaced: list[str] = []
        documents = [file for file in self.files if _DOCUMENTS.fullmatch(file.basename)]
        for file in documents:
            yield from self._read_documents(file)
        questions = [file for file in self.files if file not in documents]
        for file in questions:
            subset = _subset(file, _QUESTIONS)
            yield from items_of_lines(file, self.meter, partial(self._item, subset=subset), SCORER)
        if documents and not questions:
            alone = "there are documents but no questions. Import SUBSET_mqa.jsonl together with them."
            yield Rejected(documents[0].name, 1, alone)

    def notes(self) -> Sequence[str]:
        found = []
        if self._n_images:
            found.append(f"The answers have {count(self._n_images, 'image')} by name.")
        if self._bare:
            found.append(
                f"{count(self._bare, 'evidence document')} came without a text. Import doc_SUBSET.jsonl together with "
                "the questions to have them."
            )
        if self._misplaced:
            more = "" if len(self._misplaced) <= _NAMED else f" and {len(self._misplaced) - _NAMED:,} more"
            found.append(
                f"{count(len(self._misplaced), 'answer has', 'answers have')} another number of places ({PLACE}) than "
                f"of pictures: {', '.join(self._misplaced[:_NAMED])}{more}. The nth place shows the nth picture."
            )
        return found

    def _read_documents(self, file: SourceFile) -> Iterator[Rejected]:
        subset = _subset(file, _DOCUMENTS)
        for row in json_lines(file, self.meter):
            if isinstance(row, Rejected):
                yield row
                continue
            line, given = row
            try:
                identity, document = _document(line, given)
                there = self._texts.setdefault((subset, identity), document)
                if there is not document and (there.text, there.pictures) != (document.text, document.pictures):
                    raise InvalidInput(f"the document {identity} stands on line {there.line} with another text.")
            except InvalidInput as error:
                yield Rejected(file.name, line, f"{error} Correct the line, or leave it out.")

    def _item(self, record: Record, subset: str) -> Normal:
        need(record, *_NEEDED)
        identity = _identity(record["id"], "id")
        answer, pictures = text_of(record, "ground_truth"), _names(list_of(record, "images_list"), "images_list")
        sources = [_identity(source, "provenance") for source in _provenance(record)]
        evidence = [self._evidence(number, subset, source) for number, source in enumerate(sources, 1)]
        key = f"{subset}/{identity}" if subset else identity
        if answer.count(PLACE) != len(pictures):
            self._misplaced.append(key)
        self._n_images += len(pictures)
        return {
            "question_key": key,
            "question": text_of(record, "question"),
            "answer": answer,
            "system": DEFAULT_SYSTEM,
            "category": subset or None,
            "documents": [unit["document"] for unit in evidence],
            "evidence": evidence,
            "images": _images(pictures),
            "metadata": {
                **rest_of(record, *_TAKEN),
                **({} if isinstance(record["id"], str) else {"id": record["id"]}),
                **({"provenance": record["provenance"]} if "provenance" in record else {}),
            },
        }

    def _evidence(self, number: int, subset: str, identity: str) -> Normal:
        document = self._texts.get((subset, identity))
        self._bare += document is None
        return {
            "key": _key(f"doc-{identity}", f"document-{number}"),
            "kind": "passage",
            "role": "gold",
            "document": f"{subset}/{identity}" if subset else identity,
            "text": document.text if document else None,
            "metadata": {"images": document.pictures} if document and document.pictures else {},
        }


def _subset(file: SourceFile, pattern: re.Pattern[str]) -> str:
    """The subset that a file is called after: `wit` of `wit_mqa.jsonl` and of `doc_wit.jsonl`; "" where it is not."""
    found = pattern.fullmatch(file.path.name)
    return found["subset"] if found else ""


def _document(line: int, given: Any) -> tuple[str, _Document]:
    """The id and the document of a line: a list, or an object with the same under "0", "1" and "2"."""
    cells = [given[str(n)] for n in range(3) if str(n) in given] if isinstance(given, dict) else given
    if not isinstance(cells, list) or not 2 <= len(cells) <= 3 or not isinstance(cells[1], str):
        raise InvalidInput(f"the line is {called(given)}, not [id, text, pictures].")
    pictures = cells[2] if len(cells) == 3 else None
    if pictures is not None and not isinstance(pictures, list):
        raise InvalidInput(f"the pictures of the document are {called(pictures)}, not a list of names.")
    return _identity(cells[0], "id"), _Document(line, cells[1], _names(pictures or [], "pictures"))


def _identity(value: Any, name: str) -> str:
    if not isinstance(value, str | int) or isinstance(value, bool) or not str(value).strip():
        raise InvalidInput(f"`{name}` is {called(value)}, not a number or a text.")
    return str(value)


def _provenance(record: Record) -> list[Any]:
    given = record.get("provenance")
    found = list_of(record, "provenance") if not isinstance(given, str | int) else [given]
    return list({str(row): row for row in found}.values())


def _names(given: Sequence[Any], name: str) -> list[str]:
    for picture in given:
        if not isinstance(picture, str) or not picture:
            raise InvalidInput(f"`{name}` holds {called(picture)}, not the name of a picture.")
    return list(given)


def _key(name: str, instead: str) -> str:
    """A name as the key of a part; `instead` where it cannot be one."""
    try:
        return checks.part_key(name, "key")
    except InvalidInput:
        return instead


def _images(pictures: Sequence[str]) -> list[Normal]:
    """The pictures in their order; each is a document of its own. One that stands again has another key."""
    images: list[Normal] = []
    taken: set[str] = set()
    for place, picture in enumerate(pictures, 1):
        number = place
        image: Normal = {"key": _key(picture, f"image-{number}"), "document": picture}
        while image["key"] in taken:
            number += 1
            image["key"] = f"image-{number}"
        taken.add(image["key"])
        images.append(image)
    return images


# Writing --------------------------------------------------------------------------------------------------------------


def _record(item: Normal) -> Record:
    metadata, subset = metadata_of(item), item.get("category")
    key: str = item["question_key"]
    own = key.removeprefix(f"{subset}/") if subset else key
    kept = metadata.get("id")
    sources = [identity for identity, _ in _sources_of(item)]
    as_it_was = _reads_as(metadata, sources)
    record = {
        "id": kept if type(kept) is int and str(kept) == own else own,
        "question": item["question"],
        "ground_truth": item["answer"],
        "images_list": [image.get("document") or image["key"] for image in parts_of(item, "images")],
        **({"provenance": metadata["provenance"]} if as_it_was else {}),
        **({"provenance": list(map(_number, sources))} if sources and not as_it_was else {}),
    }
    return beside(record, metadata, _TAKEN)


def _reads_as(metadata: Normal, sources: Sequence[str]) -> bool:
    """Whether the provenance that metadata keeps is that of these sources."""
    try:
        found = [_identity(source, "provenance") for source in _provenance(metadata)]
    except InvalidInput:
        return False
    return "provenance" in metadata and found == sources


def _pictures_of(unit: Normal) -> list[str]:
    kept = metadata_of(unit).get("images")
    return [name for name in kept if name and isinstance(name, str)] if isinstance(kept, list) else []


def _sources_of(item: Normal) -> Iterator[tuple[str, Normal]]:
    """The gold units of an item, each with the id of the document that it is."""
    subset = item.get("category")
    for unit in parts_of(item, "evidence"):
        if unit.get("role") == "gold":
            name = unit.get("document") or unit["key"]
            yield name.removeprefix(f"{subset}/") if subset else name, unit


def _number(identity: str) -> int | str:
    """An id as the files have it: most are numbers."""
    return int(identity) if identity.isdecimal() and str(int(identity)) == identity else identity


FORMATS.register(MRAMG())
