"""Tables of items: CSV and TSV, Parquet, XLSX, one item a row, with a mapping of columns to fields."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import orjson

from annotators.errors import AssayError, InvalidInput
from annotators.items.checks import called
from annotators.items.item import Field, ItemContent, fields_of
from annotators.items.normal import Normal, read_item
from annotators.items.parsed import ParsedItem, Rejected
from annotators.lists import is_unreadable_list, list_in
from exports.cells import lines_of, safe
from exports.formats._files import FilesReading
from exports.formats._one_type import PICTURES, has_own_pictures, part_of_columns, without_nulls
from exports.formats._page_columns import PAGES, evidence_of, is_of_pages, plain_name, rule_of, with_pages
from exports.formats._writing import Files, Items, Written, metadata_of
from exports.formats.base import FORMATS, TABLES, Columns, FileReading, Misnamed
from exports.formats.labels import NEEDED as OF_LABELS
from exports.reading.json_files import lost_of
from exports.reading.records import ROWS, is_path, nested_in
from exports.reading.sources import SourceFile, Sources
from exports.reading.tables import ENDINGS, Opening, Table, heading_of, is_table, open_table

SCORER = "imported:table"
_FIELDS: dict[str, Field] = {field.name: field for field in fields_of(ItemContent)}
_FIRST = {".parquet": b"PAR1", ".xlsx": b"PK"}
"""What files of these endings begin with."""

_ALIASES = {
    "id": ("item", "item_id"),
    "question_key": ("question_id", "query_id", "qid", "q_id"),
    "question": ("question_text", "query", "user_input", "prompt", "frage", "pregunta"),
    "answer": ("response", "prediction", "generated_answer", "model_answer", "antwort", "respuesta"),
    "system": ("model", "model_name", "system_name"),
    "category": ("domain", "question_type", "kategorie"),
    "language": ("lang", "sprache"),
    "references": ("reference", "reference_answer", "ground_truth", "gold_answer", "gt_answer", "expected_answer"),
    "documents": ("document", "doc_id", "doc_name", "file_name"),
    "evidence": ("context", "contexts", "retrieved_context", "retrieved_contexts"),
}
"""What else the columns of these fields are usually called, in lower case with _ for spaces."""

_OF_TEXT = {"references": None, "documents": None, "evidence": "text", "claims": "text"}
"""The fields of which a cell may be a plain text, and what of a part it then is (None: the part itself)."""


class TableOfItems:
    """One item a row. Columns that are none of the fields are kept in the metadata, under their own names.

    A cell of a field with several values is a list (JSON, or as pandas writes it), or one value as a plain text. Scores
    may also stand as numbers in columns of their own, whose names they then have.
    """

    name = TABLES
    title = "A table of items: CSV, TSV, Parquet, XLSX, JSON rows"
    help = "a table with one item a row, whose first row names the columns; --map question=COLUMN says which is which"

    def refusal(self, file: SourceFile) -> str | None:
        """It takes a table with a column for the question, and no table of labels."""
        if not is_table(file.basename):
            return Misnamed(f"it does not end with {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}")
        for ending, first in _FIRST.items():
            if file.basename.endswith(ending):
                return None if file.head().startswith(first) else f"it is no {ending} file inside"
        columns = heading_of(file.head())
        if set(OF_LABELS) <= {column.lower() for column in columns}:
            return "it is a table of labels, which is imported as labels"
        if "question" in guessed(columns):
            return None
        return "none of its columns is known as the question; --map question=COLUMN says which it is"

    def read(self, sources: Sources) -> FileReading:
        """The tables of the sources, with the columns that are known by their names."""
        return self.read_mapped(sources, {})

    def read_mapped(self, sources: Sources, mapping: Columns) -> FileReading:
        """The tables of the sources, with these columns for fields, and the others as they are known by their names.

        A field with no column in the mapping is read from none. InvalidInput for a field that is none.
        """
        for name, columns in mapping.items():
            if name not in _FIELDS and name != PAGES:
                raise InvalidInput(f"An item has no field {name!r}. It has: {', '.join(_FIELDS)}; and {PAGES}.")
            if len(columns) > 1 and name != PAGES and not _FIELDS[name].many:
                raise InvalidInput(f"`{name}` is read from one column, not from {' and '.join(map(repr, columns))}.")
        files = [file for file in sources.files if is_table(file.basename)]
        files = files or [file for file in sources.files if file.basename.endswith(ROWS)]
        if not files and not any(sources.loose_documents()):
            endings = ", ".join((*ENDINGS, *ROWS))
            raise InvalidInput(
                f"{sources.description}: there is no table in it ({endings}). Name the file or its folder."
            )
        return _TableReading(sources, files, mapping)

    def write(self, items: Items, files: Files) -> Written:
        """Write `items.csv`: a column a field that some item has, and one for each text that all metadata have so."""
        there: dict[str, None] = {}
        texts: dict[str, bool] = {}
        n = 0
        for item in items():
            n += 1
            there |= dict.fromkeys(item)
            for name, value in metadata_of(item).items():
                texts[name] = texts.get(name, True) and isinstance(value, str) and value != ""
        fields = [name for name in _FIELDS if name in there and name != "metadata"]
        own = [name for name, is_text in texts.items() if is_text and _may_be_a_column(name)]
        others = [name for name in texts if name not in own]
        if not n:
            return Written(0, 0)
        columns = [*fields, *own, *(["metadata"] if others else [])]
        out = files.begin("items.csv")

        def write(row: Iterable[str]) -> None:
            [line] = lines_of([map(safe, row)])
            out.write_text(f"{line}\n")

        write(columns)
        for item in items():
            metadata = metadata_of(item)
            rest = {name: metadata[name] for name in others if name in metadata}
            write(
                [
                    *(_cell(name, item.get(name)) for name in fields),
                    *(metadata.get(name, "") for name in own),
                    *([_encoded(rest) if rest else ""] if others else []),
                ]
            )
        out.rows = n
        return Written(n, 0)


class _TableReading(FilesReading):
    """The tables of one source. `columns` and `headings` are those of the tables that were opened last."""

    format = TableOfItems.name

    def __init__(self, sources: Sources, files: list[SourceFile], mapping: Columns) -> None:
        super().__init__(sources, files)
        self._mapping = mapping
        self._notes: list[str] = []
        self.columns: dict[str, list[str]] = {}
        self.headings: list[str] = []

    def items(self) -> Iterator[ParsedItem | Rejected]:
        self.meter.done, self.meter.of = 0, sum(file.size for file in self.files)
        self._notes, self.columns, self.headings = [], {}, []
        for file in self.files:
            try:
                opening = Opening(paths=tuple(path for of in self._mapping.values() for path in of if is_path(path)))
                table = open_table(file.path, empty_texts=True, opening=opening)
                if has_own_pictures(table.columns):
                    table = open_table(file.path, empty_texts=True, left_out=PICTURES)
                if file.basename.endswith(ROWS):  # nested fields can be mapped by their paths
                    nested, table.rows = nested_in(table.columns, table.rows)
                    self.headings = list(dict.fromkeys([*self.headings, *table.columns, *nested]))
                self.headings = list(dict.fromkeys([*self.headings, *table.columns]))
                self.columns |= {} if self._mapping else guessed(table.columns)  # also where the question is unknown
                columns = mapped(table.columns, self._mapping)
                self._say(file, table, columns)
                yield from items_of_table(file, table, columns)
            except AssayError as error:
                yield Rejected(file.name, 1, str(error))
            self.meter.done += file.size

    def _say(self, file: SourceFile, table: Table, columns: dict[str, list[str]]) -> None:
        self.columns |= columns
        taken = {column for of_field in columns.values() for column in of_field}
        pairs = ", ".join(f"{name} = {', '.join(of_field)}" for name, of_field in columns.items())
        rest = [column for column in table.columns if column not in taken]
        kept = f"; kept in the metadata: {', '.join(rest)}" if rest else ""
        said = f"{file.name} is read with {pairs}{kept}."
        self._notes += [f"{said} {rule_of(columns)}".rstrip(), *table.notes]

    def notes(self) -> Sequence[str]:
        """Which columns are read as what, file by file."""
        return self._notes


def mapped(headings: Sequence[str], mapping: Columns) -> dict[str, list[str]]:
    """Field → its columns in a table with these headings; InvalidInput for a column that is not there."""
    found = {name: columns for name, columns in guessed(headings).items() if name not in mapping}
    for name, columns in mapping.items():
        missing = next((column for column in columns if column and column not in headings), None)
        if missing is not None:
            raise InvalidInput(f"there is no column {missing!r} for `{name}`. There are: {', '.join(headings)[:500]}.")
        given = [column for column in columns if column]
        if given:
            found[name] = given
    said = {column for name in mapping for column in found.get(name, ())}
    for name in list(found):
        if name not in mapping and said.intersection(found[name]):
            del found[name]  # a column that was said to be one thing is not guessed to be another
    if "question" not in found:
        raise InvalidInput(
            f"none of the columns is known as the question. Say which it is with --map question=COLUMN; there are: "
            f"{', '.join(headings)[:500]}."
        )
    found = with_pages(headings, {name: found[name] for name in _FIELDS if name in found}, mapping)
    return {name: found[name] for name in (*_FIELDS, PAGES) if name in found}


def guessed(headings: Sequence[str]) -> dict[str, list[str]]:
    """Field → the column that is called as the field is, or else as such fields usually are."""
    plain = {plain_name(heading): heading for heading in reversed(headings)}
    found = {}
    for name in _FIELDS:
        known = next((plain[alias] for alias in (name, *_ALIASES.get(name, ())) if alias in plain), None)
        if known is not None:
            found[name] = [known]
    return found


def items_of_table(file: SourceFile, table: Table, columns: dict[str, list[str]]) -> Iterator[ParsedItem | Rejected]:
    """The items of the rows of a table whose fields are read from these columns.

    How a table with printed lists is to be saved is said with the first row that has one.
    """
    advised = False
    places = {column: place for place, column in enumerate(table.columns)}
    taken = {column for of_field in columns.values() for column in of_field}
    rest = [(column, places[column]) for column in table.columns if column not in taken]
    texts = [(name, places[of_field[0]]) for name, of_field in columns.items() if _is_text(name)]
    of_pages = [(column, places[column]) for column in columns.get(PAGES, ())]
    others = [
        (name, [(column, places[column]) for column in columns[name]])
        for name in columns
        if name != PAGES and not _is_text(name)
    ]
    for line, cells in table.rows:
        try:
            if isinstance(cells, str):
                raise InvalidInput(cells)
            row: Normal = {name: _text(cells[place]) for name, place in texts if _is_filled(cells[place])}
            kept = {column: cells[place] for column, place in rest if cells[place] is not None}
            for name, of_field in others:
                found = [(column, cells[place]) for column, place in of_field if _is_filled(cells[place])]
                if found and name == "metadata":
                    kept |= _object(*found[0])
                elif found:
                    row[name] = [part for column, cell in found for part in _parts(name, column, cell)]
            for column, place in of_pages:
                if _is_filled(cells[place]):
                    pages = evidence_of(column, cells[place], row.get("documents", ()))
                    row["evidence"] = [*row.get("evidence", ()), *pages]
            if kept:
                row["metadata"] = kept
            yield ParsedItem(file.name, line, read_item(row, scorer=SCORER))
        except AssayError as error:
            reason = str(error)
            if reason.endswith(_SAVE_LISTS):
                reason = reason.removesuffix(f" {_SAVE_LISTS}") if advised else reason
                advised = True
            yield Rejected(file.name, line, reason)


_SAVE_LISTS = (
    "Save the table with to_parquet, to_json or save_to_disk, which keep lists, in place of to_csv or to_excel; or "
    "write a JSON array into the cell."
)


def _is_filled(cell: Any) -> bool:
    """Whether a field's cell says anything; an empty text, which Parquet tells from no value, says nothing."""
    return cell is not None and cell != ""


def _is_text(name: str) -> bool:
    return name != PAGES and not _FIELDS[name].many and name != "metadata"


def _text(cell: Any) -> str:
    return cell if isinstance(cell, str) else orjson.dumps(cell).decode()


def _json(column: str, cell: str) -> Any:
    try:
        value = orjson.loads(cell)
    except orjson.JSONDecodeError as error:
        raise InvalidInput(f"the column {column!r} is {called(cell)}, which is no JSON ({error.msg}).") from None
    if lost := lost_of(cell.encode(), value):
        raise InvalidInput(f"the column {column!r}: {lost[1]}")
    return value


def _object(column: str, cell: Any) -> Normal:
    value = _json(column, cell) if isinstance(cell, str) else cell
    if not isinstance(value, dict):
        raise InvalidInput(f"the column {column!r} is {called(cell)}. The metadata is a JSON object.")
    return value


def _parts(name: str, column: str, cell: Any) -> list[Any]:
    """The values of a cell of a field with several: those of the list that it is, or the one that it is."""
    if isinstance(cell, list):
        return [without_nulls(_part(name, part)) for part in cell]
    if name == "scores" and isinstance(cell, int | float):
        return [{"name": column, "value": float(cell)}]
    text = _text(cell)
    listed = list_in(text)
    if listed is not None:
        return [_part(name, part) for part in listed]
    if is_unreadable_list(text):
        raise InvalidInput(
            f"the column {column!r} is {called(text)}, a list as Python prints it or cut off, which cannot be read "
            f"back. {_SAVE_LISTS}"
        )
    if name == "scores":
        try:
            value = float(text)
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise InvalidInput(f"the column {column!r} is {called(text)}. A score is a number, or JSON.")
        return [{"name": column, "value": value}]
    if name not in _OF_TEXT:
        raise InvalidInput(f"the column {column!r} is {called(text)}. Write `{name}` as a JSON array.")
    return [_part(name, text)]


def _part(name: str, part: Any) -> Any:
    """A part as a row has it; a plain text is that of a unit or claim."""
    of_part = _OF_TEXT.get(name)
    return {of_part: part} if of_part is not None and isinstance(part, str) else part_of_columns(name, part)


# Writing --------------------------------------------------------------------------------------------------------------

_UNFIT = re.compile("[\x00-\x1f\ufffd-\uffff]")
"""Characters that the name of a column does not keep in every type of table."""


def _may_be_a_column(name: str) -> bool:
    """Whether a column of this name would be read as nothing but itself."""
    plain = name == name.strip() and name and not _UNFIT.search(name)
    return bool(plain) and name not in _FIELDS and not guessed([name]) and not is_of_pages(name)


def _cell(name: str, value: Any) -> str:
    """A field's value: a text as it is; what has several values as JSON."""
    if value is None:
        return ""
    return value if isinstance(value, str) else _encoded(value)


def _encoded(value: Any) -> str:
    return orjson.dumps(value).decode()


FORMATS.register(TableOfItems())
