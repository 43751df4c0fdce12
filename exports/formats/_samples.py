"""What formats of evaluation samples share: a record has a question, contexts, an answer, a reference, and metrics.

They differ in what fields are called. What is no field of theirs and a number is a score; anything else is kept.
Records stand in JSON, or in a table, as pandas writes results: there a column of numbers is one, and contexts are
a list that is written as a text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any, ClassVar

import orjson

from annotators.errors import AssayError, InvalidInput
from annotators.items.checks import called
from annotators.items.normal import Normal, read_item
from annotators.items.parsed import ParsedItem, Rejected
from annotators.lists import list_in
from exports.formats._losing import usual
from exports.formats._records import (
    JSON_ENDING,
    LINES_ENDING,
    Record,
    RecordReading,
    Said,
    is_records,
    items_of,
    lacking,
    list_of,
    names_in,
)
from exports.formats._writing import LABELS, Files, FinalLabels, Items, Written, beside, cell_of, metadata_of, parts_of
from exports.formats.base import FileReading, Misnamed
from exports.formats.table import guessed
from exports.reading.json_files import json_lines
from exports.reading.sources import SourceFile, Sources
from exports.reading.tables import Table, heading_of, is_table, open_table

HUMAN = "human_"
"""What the columns of people's labels begin with."""

_TEXT_TABLES = (".csv", ".tsv")
"""Endings of tables whose columns stand in their first bytes."""

_TELLS_EMPTY = ".parquet"
"""The ending of tables that tell an empty text from none; in others an empty cell of answers is an empty answer."""

_NUMBER = re.compile(r"-?(0|[1-9]\d{0,15})(\.\d+)?([eE][-+]?\d{1,3})?")
_NO_NUMBER = ("nan", "NaN", "None")
"""What pandas writes for a metric that was not computed."""

_INFINITE = ("inf", "-inf")
"""What pandas writes for a number that is none of JSON: a text by itself, as in a table with types."""

_OWN = ("id", "question_key", "system", "category", "language")
"""Fields of ours that the programs pass over."""


class SampleFormat:
    """Samples of one program; a subclass names the fields. What people said of the item stands in columns `human_…`."""

    name: str
    title: str
    help: str
    file: str
    """What is written, by its ending a list or a record a line."""

    question: ClassVar[str]
    answer: ClassVar[str]
    reference: ClassVar[str | None]
    retrieved: ClassVar[str | None]
    gold: ClassVar[str | None]
    """The fields of question, answer, reference answer, retrieved and gold contexts."""

    needed: ClassVar[tuple[str, ...]]
    """The fields that a file of this format has at least."""

    some: ClassVar[tuple[str, ...]] = ()
    """Fields of which a file of this format has one at least."""

    aside: ClassVar[tuple[str, ...]] = ()
    """Fields that hold numbers and are no metrics."""

    renamed: ClassVar[frozenset[str]] = frozenset()
    """Other names that fields are read under, which nothing else is written as."""

    between: ClassVar[str | None] = None
    """What stands between contexts in a cell that is no list."""

    loses: Mapping[str, str] = usual(
        "documents",
        "claims",
        "images",
        "hops",
        "evidence.key",
        "evidence.kind",
        "evidence.document",
        "evidence.pages",
        "evidence.box",
        "evidence.used",
        "evidence.hop",
        "evidence.metadata",
        "scores.parameters",
        "scores.reason",
        references="reference answers after the first, and those that are phrases",
        evidence="evidence without a text, and the order of gold among other evidence, before which it comes",
        evidence__role="roles of evidence but gold, and that it has none: it counts as retrieved",
        evidence__rank="ranks but those of retrieved evidence from 1 on, which it has where it had none",
        labels="final labels of parts of an item",
        scores=f"scores that are unscored, not of the item, or called as a field of the program or {HUMAN}… is; those "
        "of other programs, which become this one's",
        metadata=f"metadata called as a field of the program or {HUMAN}… is, what is null in it, and numbers, which "
        "become scores",
    )

    def refusal(self, file: SourceFile) -> str | None:
        """It takes JSON lists, JSON lines, CSV and TSV whose records have the fields of this program."""
        if file.basename.endswith(_TEXT_TABLES):
            there = frozenset(heading_of(file.head()))
            of_answers = {self.answer, self.reference, self.retrieved, self.gold}
            if not there & of_answers:  # a question alone is a question of any table
                return "its records have neither an answer nor contexts"
        elif file.basename.endswith((JSON_ENDING, LINES_ENDING)):
            there = names_in(file.head())
        else:
            return Misnamed(f"it does not end with {JSON_ENDING}, {LINES_ENDING}, {' or '.join(_TEXT_TABLES)}")
        if self.some and not there.intersection(self.some):
            return f"its records lack {' and '.join(f'`{name}`' for name in self.some)}"
        return lacking(there, self.needed)

    def read(self, sources: Sources) -> FileReading:
        """The JSON files of the sources, and the tables that are named or have the fields of this program."""
        files = [
            file
            for file in sources.files
            if file.basename.endswith((JSON_ENDING, LINES_ENDING))
            or (is_table(file.basename) and (file.given or self.refusal(file) is None))
        ]
        if not files and not any(sources.loose_documents()):
            raise InvalidInput(
                f"{sources.description}: there is no JSON file and no table of samples in it. Name the files or their "
                "folder."
            )
        return SampleReading(sources, files, self)

    def label_protocol(self) -> None:
        """What was asked is read off the labels."""

    def with_labels(self, item: Normal, labels: FinalLabels) -> Normal:
        """The item with what was settled of it as a whole in columns of their own."""
        said = {f"{HUMAN}{name}": cell_of(value) for (name, target), value in labels.items() if target == "item"}
        return {**item, LABELS: said}

    def write(self, items: Items, files: Files) -> Written:
        """Write a sample an item."""
        return Written.records(items, files, self.record, lambda item: self.file)

    # Records ----------------------------------------------------------------------------------------------------------

    @property
    def taken(self) -> frozenset[str]:
        """The fields that are read as something else than metrics and metadata."""
        named = (self.question, self.answer, self.reference, self.retrieved, self.gold)
        return frozenset(name for name in (*named, *_OWN) if name)

    def of_cell(self, name: str, cell: Any, *, number: bool) -> Any:
        """What a cell of a table says, as JSON would say it; `number`: that its column has numbers, as texts."""
        if not isinstance(cell, str):
            return cell_of(cell) if name in self.taken and not isinstance(cell, list) else cell
        if name in (self.retrieved, self.gold):
            listed = list_in(cell)
            return listed if listed is not None else cell.split(self.between) if self.between else [cell]
        if name == self.question and (turns := list_in(cell)) and all(isinstance(turn, dict) for turn in turns):
            return turns
        if not number or name in self.taken or name.startswith(HUMAN) or cell in _INFINITE:
            return cell
        return None if cell in _NO_NUMBER else orjson.loads(cell)

    def item(self, record: Record) -> Normal:
        """A record as an item; InvalidInput for a conversation, and without a question."""
        question = record.get(self.question)
        if not isinstance(question, str):
            raise InvalidInput(f"`{self.question}` is {called(question)}, not one text. Conversations are not read.")
        answer, reference = record.get(self.answer), record.get(self.reference) if self.reference else None
        answered = isinstance(answer, str)
        evidence = [
            {"kind": "passage", "role": role, "text": text, **({"rank": rank} if role == "retrieved" else {})}
            for name, role in ((self.gold, "gold"), (self.retrieved, "retrieved"))
            if name
            for rank, text in enumerate(self._texts(record, name), 1)
        ]
        own = {name: key for name, key in _own_of(tuple(record)).items() if isinstance(record[key], str)}
        read = self.taken | frozenset(own.values())
        rest = {
            name: value
            for name, value in record.items()
            if name not in read and not name.startswith(HUMAN) and value is not None
        }
        scores = {
            name: value
            for name, value in rest.items()
            if isinstance(value, int | float) and not self.is_aside(name) and not isinstance(value, bool)
        }
        row: Normal = {name: record[key] for name, key in own.items()}
        if not answered and "system" not in row:
            answer = reference if isinstance(reference, str) else ""
        return {
            **row,
            "question": question,
            "answer": answer if isinstance(answer, str) else "",
            **({"system": "unnamed"} if answered and "system" not in row else {}),
            "references": [reference] if isinstance(reference, str) else [],
            "evidence": evidence,
            "scores": [{"name": name, "value": value} for name, value in scores.items()],
            "metadata": {name: value for name, value in rest.items() if name not in scores},
        }

    def is_aside(self, name: str) -> bool:
        """Whether a field that may hold a number is no metric."""
        return name in self.aside

    def _texts(self, record: Record, name: str) -> Iterator[str]:
        """The contexts in a field: a list, one text, or several with a sign between them."""
        value = record.get(name)
        if isinstance(value, str):
            yield from value.split(self.between) if self.between else [value]
        else:
            yield from (text for text in list_of(record, name) if isinstance(text, str))

    def record(self, item: Normal) -> Record:
        """An item as a record."""
        references = [one for one in item.get("references", []) if isinstance(one, str)][:1]
        units = [unit for unit in parts_of(item, "evidence") if unit.get("text") is not None]
        found: Record = {self.question: item["question"], self.answer: item["answer"]}
        if self.reference and references:
            found[self.reference] = references[0]
        gold = [unit["text"] for unit in units if self.gold and unit.get("role") == "gold"]
        others = [unit["text"] for unit in units if not (self.gold and unit.get("role") == "gold")]
        if self.retrieved and others:
            found[self.retrieved] = others
        if self.gold and gold:
            found[self.gold] = gold
        found |= {name: item[name] for name in _OWN if name in item}
        known = self.taken | self.renamed
        for score in parts_of(item, "scores"):
            if score.get("value") is not None and score.get("target", "item") == "item":
                found = beside(found, _not_human({score["name"]: score["value"]}), known)
        labels: Record = item.get(LABELS, {})
        return beside(found, _not_human(metadata_of(item)), known) | labels


def _not_human(fields: Record) -> Record:
    return {name: value for name, value in fields.items() if not name.startswith(HUMAN)}


@lru_cache(maxsize=256)
def _own_of(names: tuple[str, ...]) -> Mapping[str, str]:
    """Fields of ours that the programs have none of → the field of a record that is called so.

    Where there is none, as in what we have not written, those that are called as such fields usually are.
    """
    exact = {name: name for name in _OWN if name in names}
    return exact or {name: columns[0] for name, columns in guessed(names).items() if name in _OWN}


class SampleReading(RecordReading):
    """The files of one source, of lists and of lines."""

    def __init__(self, sources: Sources, files: list[SourceFile], of: SampleFormat) -> None:
        super().__init__(sources, files)
        self._of, self.format = of, of.name
        self._lines = [file for file in files if file.basename.endswith(LINES_ENDING)]
        self._tables = [file for file in files if is_table(file.basename)]
        self._notes: list[str] = []
        self._said = Said(f"{of.name}-verified", _labels)

    def begin(self) -> None:
        """There is nothing to count."""

    def whole(self) -> Sequence[SourceFile]:
        """The lists."""
        return [file for file in self.files if file.basename.endswith(JSON_ENDING)]

    def items(self) -> Iterator[ParsedItem | Rejected]:
        """Those of lists, then those of lines, then those of tables."""
        yield from super().items()
        self._notes = []
        for file in self._tables:
            yield from self._of_table(file)
            self.meter.done += file.size
        for file in self._lines:
            records: list[Any] = []
            at: list[int] = []
            for found in json_lines(file, self.meter):
                if isinstance(found, Rejected):
                    yield found
                    continue
                at.append(found[0])
                records.append(found[1])
                if len(records) >= 1_000:
                    yield from self._of_lines(file, records, at)
                    records, at = [], []
            yield from self._of_lines(file, records, at)

    def _of_table(self, file: SourceFile) -> Iterator[ParsedItem | Rejected]:
        try:
            numbers = _numbers_in(open_table(file.path)) if file.basename.endswith(_TEXT_TABLES) else frozenset()
            blank = not file.basename.endswith(_TELLS_EMPTY) and _has_some(open_table(file.path), self._of.answer)
            table = open_table(file.path, empty_texts=True)
            self._notes += table.notes
            for line, cells in table.rows:
                if isinstance(cells, str):
                    yield Rejected(file.name, line, cells)
                    continue
                said = {
                    name: self._of.of_cell(name, cell, number=name in numbers)
                    for name, cell in zip(table.columns, cells, strict=True)
                    if cell is not None and (cell != "" or name == self._of.answer)
                }  # fmt: skip
                if blank:
                    said.setdefault(self._of.answer, "")
                yield from self._of_lines(file, [said], [line])
        except AssayError as error:
            yield Rejected(file.name, 1, str(error))

    def notes(self) -> Sequence[str]:
        """What is worth reading about the tables."""
        return self._notes

    def _of_lines(self, file: SourceFile, records: Sequence[Any], at: Sequence[int]) -> Iterator[ParsedItem | Rejected]:
        for line, record in zip(at, records, strict=True):
            try:
                if not isinstance(record, dict):
                    raise InvalidInput("the line is not an object. Write one {…} a line.")
                read = read_item(self._of.item(record), scorer=f"imported:{self.format}")
                yield ParsedItem(file.name, line, read, tuple(self._said.of(record, read.id, file.name, line)))
            except AssayError as error:
                yield Rejected(file.name, line, str(error))

    def read(self, file: SourceFile, data: Any) -> Iterator[ParsedItem | Rejected] | None:
        """The records of a list, or of what the program wraps around it."""
        records = self._of_file(data)
        if records is None:
            return None
        field, found = records
        return items_of(file, field, found, self._of.item, f"imported:{self.format}", said=self._said)

    def _of_file(self, data: Any) -> tuple[str | None, list[Any]] | None:
        if isinstance(data, list):
            return (None, data) if is_records(data, *self._of.needed[:1]) else None
        for field in ("samples", "testCases", "test_cases"):
            if isinstance(data, dict) and isinstance(data.get(field), list):
                return field, data[field]
        return None

    def not_ours(self) -> str:
        """What is said of a file of something else."""
        return f"this is no list of samples with {', '.join(self._of.needed)}. Leave it out, or choose another format."


def _has_some(table: Table, column: str) -> bool:
    """Whether a column of a table is there, and any row has something in it."""
    if column not in table.columns:
        return False
    place = table.columns.index(column)
    return any(cells[place] is not None for _, cells in table.rows if not isinstance(cells, str))


def _numbers_in(table: Table) -> frozenset[str]:
    """The columns of a table without types in which every cell that is not empty is a number."""
    numbers = set(range(len(table.columns)))
    for _, cells in table.rows:
        if not isinstance(cells, str):
            numbers -= {place for place in numbers if (cell := cells[place]) is not None and not _is_number(cell)}
    return frozenset(table.columns[place] for place in numbers)


def _is_number(cell: str) -> bool:
    return cell in (*_NO_NUMBER, *_INFINITE) or _NUMBER.fullmatch(cell) is not None


def _labels(record: Record) -> Iterator[tuple[str, str, str]]:
    for name, value in record.items():
        if name.startswith(HUMAN) and name != HUMAN and isinstance(value, str | int | float):
            yield name.removeprefix(HUMAN), "item", cell_of(value)
