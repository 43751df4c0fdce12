"""The data files of a Hugging Face dataset as rows of JSON values: Parquet and Arrow with pictures, JSON, CSV, TSV."""

from __future__ import annotations

import hashlib
import math
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import orjson

from annotators.errors import InvalidInput
from annotators.items.normal import Normal
from annotators.items.parsed import Rejected
from annotators.later import Later
from exports.reading.arrow_streams import arrow_batches
from exports.reading.json_files import element_lines, json_file, json_lines
from exports.reading.parquet import parquet_batches, said_of_unread, values_of
from exports.reading.sources import SourceFile
from exports.reading.tables import MOST_COLUMNS, Table, open_table, said_of_bytes

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq
else:
    pa, pq = Later("pyarrow"), Later("pyarrow.parquet")

PARQUET, ARROW = ".parquet", ".arrow"
TEXTS = (".jsonl", ".json", ".csv", ".tsv")
"""Endings of data files without types."""

_AT_ONCE = 500
_LARGEST_PICTURE = 64 << 20
"""Bytes of a picture."""

_POINTER = b"version https://git-lfs"

_PICTURES = {b"\x89PNG": ".png", b"\xff\xd8\xff": ".jpg", b"RIFF": ".webp", b"II*\x00": ".tif", b"MM\x00*": ".tif"}

Row = tuple[int, list[Any] | str]
"""Where a row stands, and its cells, or why it cannot be read."""

Classes = Sequence[str] | Mapping[str, "Classes"]
"""The names of classes in the order of their numbers; of objects, or lists of them, by field."""


class DatasetFile:
    """A data file. `columns` are its columns, `pictures` those that hold pictures, `rows` reads its rows anew."""

    def __init__(self, columns: list[str], pictures: list[str], rows: Callable[[], Iterator[Row]]) -> None:
        self.columns, self.pictures, self.rows = columns, pictures, rows
        self._passed_over: list[str] = []
        self.bad_pictures = 0
        """How many pictures `as_table` has met that cannot be taken."""
        self.notes: list[str] = []
        """What is worth reading about the file."""

    def place(self, column: str) -> int:
        """Where a column stands."""
        return self.columns.index(column)

    def pass_over(self, pictures: str) -> None:
        """Take no picture from this column."""
        self.pictures = [name for name in self.pictures if name != pictures]
        self._passed_over.append(pictures)

    def as_table(self, about: Mapping[str, str]) -> Table:
        """As a table of items, with what is known of the file in columns of their own."""
        pictures = {self.place(column) for column in self.pictures}
        passed_over = [self.place(column) for column in self._passed_over]

        def rows() -> Iterator[Row]:
            for number, cells in self.rows():
                if isinstance(cells, str):
                    yield number, cells
                    continue
                for place in passed_over:
                    cells[place] = None
                self.bad_pictures += sum(_bad_pictures(cells[place]) for place in pictures)
                try:
                    plain = [
                        _as_evidence(cell) if place in pictures else _plain(cell) for place, cell in enumerate(cells)
                    ]
                except ValueError:
                    rest = (place for place in range(len(cells)) if place not in pictures)
                    yield number, said_of_bytes((self.columns[place], cells[place]) for place in rest)
                    continue
                yield number, [*plain, *about.values()]

        self.bad_pictures = 0
        own = [name for name in about if name not in self.columns]
        return Table([*self.columns, *own], rows())


def open_dataset_file(file: SourceFile, classes: Mapping[str, Classes] | None = None) -> DatasetFile:
    """A data file; InvalidInput where it is none, or has too many columns or two of one name.

    `classes` has of columns of numbers the names that they stand for; a Parquet or Arrow file may say them itself.
    """
    if file.beginning().startswith(_POINTER):
        raise InvalidInput("it is a pointer of Git LFS, not the data. Fetch them: git lfs pull.")
    named = dict(classes or {})
    found = _with_types(file, named) if file.basename.endswith((PARQUET, ARROW)) else _without_types(file)
    return _with_names(found, named) if named else found


def _with_names(found: DatasetFile, classes: Mapping[str, Classes]) -> DatasetFile:
    """The same with names of classes in place of their numbers."""
    places = [(found.place(name), names) for name, names in classes.items() if name in found.columns]

    def rows() -> Iterator[Row]:
        for line, cells in found.rows():
            if not isinstance(cells, str):
                for place, names in places:
                    cells[place] = _class_name(cells[place], names)
            yield line, cells

    named = DatasetFile(found.columns, found.pictures, rows)
    named.notes = found.notes
    return named


def _class_name(cell: Any, names: Classes) -> Any:
    if isinstance(cell, list):
        return [_class_name(one, names) for one in cell]
    if isinstance(names, Mapping):
        if not isinstance(cell, dict):
            return cell
        return {field: _class_name(part, names[field]) if field in names else part for field, part in cell.items()}
    if isinstance(cell, str) and cell.isdecimal() and cell not in names:
        cell = int(cell)
    if isinstance(cell, int) and not isinstance(cell, bool):
        return None if cell == _NO_CLASS else names[cell] if 0 <= cell < len(names) else cell
    return cell


_NO_CLASS = -1
"""The number of a class where there is none, as in a test set whose labels are kept."""


def _without_types(file: SourceFile) -> DatasetFile:
    if file.basename.endswith((".csv", ".tsv")):
        table = open_table(file.path)
        found = DatasetFile(table.columns, [], lambda: open_table(file.path).rows)
        found.notes = table.notes
        return found
    names: dict[str, None] = {}
    for _, record in records(file):
        if not isinstance(record, str):
            names |= dict.fromkeys(record)
            _check_columns(names)
    columns = list(names)

    def rows() -> Iterator[Row]:
        for line, record in records(file):
            yield line, record if isinstance(record, str) else [record.get(name) for name in columns]

    return DatasetFile(columns, [], rows)


def _check_columns(names: Collection[str]) -> None:
    if len(names) > MOST_COLUMNS:
        raise InvalidInput(f"it has {len(names):,} columns, more than {MOST_COLUMNS:,}. Write one item a row.")


# JSON -----------------------------------------------------------------------------------------------------------------


def records(file: SourceFile) -> Iterator[tuple[int, dict[str, Any] | str]]:
    """(line, record, or why it is none) of a file of JSON lines, of a list, or of a list under `data`."""
    for line, record in _lines(file) if file.basename.endswith(".jsonl") else _elements(file):
        good = isinstance(record, dict | str)
        yield line, record if good else "it is no object. Write one {…} a row."


def _lines(file: SourceFile) -> Iterator[tuple[int, Any]]:
    for found in json_lines(file):
        yield (found.line, found.reason) if isinstance(found, Rejected) else _no_text(*found)


def _elements(file: SourceFile) -> Iterator[tuple[int, Any]]:
    data = json_file(file)
    if isinstance(data, Rejected):
        if file.beginning().startswith(b"{"):  # `to_json` of `datasets` writes JSON lines, whatever the file is called
            yield from _lines(file)
        else:
            yield data.line, data.reason
        return
    field = "data" if isinstance(data, dict) else None
    listed = data.get("data") if isinstance(data, dict) else data
    if isinstance(data, dict) and not isinstance(listed, list):
        yield 1, data
        return
    if not isinstance(listed, list):
        raise InvalidInput("the file is no list of records. Write a list […], or JSON lines.")
    for line, record in zip(element_lines(file, field, len(listed)), listed, strict=True):
        yield _no_text(line, record)


def _no_text(line: int, record: Any) -> tuple[int, Any]:
    return line, None if isinstance(record, str) else record


# Parquet and Arrow ----------------------------------------------------------------------------------------------------


def _classes_in(schema: pa.Schema) -> Mapping[str, Classes]:
    """Column → the names of its classes, as `datasets` writes them into a schema."""
    try:
        told = orjson.loads((schema.metadata or {}).get(b"huggingface", b"{}"))
        found = _classes_of(told["info"]["features"])
    except (orjson.JSONDecodeError, KeyError, TypeError, RecursionError):
        return {}
    return found if isinstance(found, Mapping) else {}


def _classes_of(feature: Any) -> Classes | None:
    """The names of classes in a feature: a leaf and a list have a `_type`, an object has its fields."""
    if isinstance(feature, list):  # a list of objects, as older versions write it
        return _classes_of(feature[0]) if feature else None
    if not isinstance(feature, dict):
        return None
    if not isinstance(feature.get("_type"), str):
        return {name: found for name, part in feature.items() if (found := _classes_of(part))}
    if feature["_type"] == "ClassLabel" and isinstance(feature.get("names"), list):
        return [str(name) for name in feature["names"]]
    return _classes_of(feature.get("feature"))


def _with_types(file: SourceFile, classes: dict[str, Classes]) -> DatasetFile:
    """A file of Parquet or Arrow; what it says of names of classes is added to `classes`."""
    try:
        if file.basename.endswith(PARQUET):
            with pq.ParquetFile(file.path) as opened:
                schema = opened.schema_arrow
        else:
            with pa.OSFile(str(file.path)) as source, pa.ipc.open_stream(source) as stream:
                schema = stream.schema
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        said = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise InvalidInput(f"it cannot be read as Parquet or Arrow ({said}). Write it again.") from None
    _check_columns(schema.names)
    twice = [name for name, n in Counter(schema.names).items() if n > 1]
    if twice:
        raise InvalidInput(f"it has two columns called {twice[0][:80]!r}. Rename one of the two.")
    classes |= _classes_in(schema)
    pictures = [field.name for field in schema if _holds_pictures(field.type)]
    return DatasetFile(schema.names, pictures, lambda: _typed_rows(file))


def _typed_rows(file: SourceFile) -> Iterator[Row]:
    """(number from 1, cells); InvalidInput where the file cannot be read on."""
    number = 0
    try:
        for batch in _batches(file.path):
            for cells in zip(*map(values_of, batch.columns), strict=True):
                number += 1
                yield number, said_of_unread(batch.schema.names, cells) or list(cells)
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        said = (str(error).splitlines() or [type(error).__name__])[0][:200]
        raise InvalidInput(f"row {number + 1} and what follows cannot be read ({said}). Write it again.") from None


def _batches(path: Path) -> Iterator[pa.RecordBatch]:
    if path.name.lower().endswith(PARQUET):
        yield from parquet_batches(path, _AT_ONCE)
        return
    yield from arrow_batches(path, _AT_ONCE)


# Cells ----------------------------------------------------------------------------------------------------------------


class Picture(NamedTuple):
    """A picture in a cell: the key of its document, its bytes, and the ending that they show."""

    key: str
    data: bytes
    ending: str


def pictures_of(cell: Any) -> Iterator[Picture]:
    """The pictures in a cell: `{"bytes", "path"}` or a list of them. A path alone is a name, and never opened."""
    for one in cell if isinstance(cell, list) else [cell]:
        data = one.get("bytes") if isinstance(one, dict) else None
        if isinstance(data, bytes) and len(data) <= _LARGEST_PICTURE:
            ending = next((ending for first, ending in _PICTURES.items() if data.startswith(first)), "")
            yield Picture(f"pictures/{hashlib.sha256(data).hexdigest()[:16]}{ending}", data, ending)


def _bad_pictures(cell: Any) -> int:
    """How many of the pictures in a cell have no bytes, or bytes of no kind that is known."""
    there = [one for one in (cell if isinstance(cell, list) else [cell]) if one is not None]
    return len(there) - sum(1 for picture in pictures_of(cell) if picture.ending)


def _as_evidence(cell: Any) -> list[Normal] | None:
    found = [
        {"kind": "figure", "document": picture.key, "pages": [1]} for picture in pictures_of(cell) if picture.ending
    ]
    return found or None


def _holds_pictures(of: Any) -> bool:
    inner = of.value_type if pa.types.is_list(of) or pa.types.is_large_list(of) else of
    return bool(pa.types.is_struct(inner)) and {"bytes", "path"} == {
        inner.field(i).name for i in range(inner.num_fields)
    }


def _plain(cell: Any) -> Any:
    """A cell as a JSON value, without what is null in objects; ValueError for bytes."""
    if isinstance(cell, float):
        return cell if math.isfinite(cell) else None if math.isnan(cell) else str(cell)
    if cell is None or isinstance(cell, bool | int | str):
        return cell
    if isinstance(cell, dict):
        return {str(name): _plain(part) for name, part in cell.items() if part is not None}
    if isinstance(cell, list | tuple):
        return [_plain(part) for part in cell]
    if isinstance(cell, bytes):
        raise ValueError("bytes")
    return cell.isoformat() if hasattr(cell, "isoformat") else str(cell)
