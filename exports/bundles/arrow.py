"""Tables as Arrow has them: the type of each kind of column, record batches of lines of CSV, and cells of columns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotators.later import Later
from exports.bundles.columns import Column, ColumnKind
from exports.cells import NOT_AS_IT_IS, original, safe
from exports.csv_file import csv_cells

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.csv as pa_csv
else:
    pa, pa_csv, pc = (Later(f"pyarrow{part}") for part in ("", ".csv", ".compute"))

_BLOCK = 4 << 20
_HELD = (ColumnKind.TEXT, ColumnKind.CATEGORY, ColumnKind.JSON)


def schema_of(columns: Sequence[Column]) -> pa.Schema:
    """The columns with their types and what they mean."""
    return pa.schema(
        [pa.field(column.name, arrow_type(column.kind), metadata={"meaning": column.meaning}) for column in columns]
    )


def arrow_type(kind: ColumnKind) -> pa.DataType:
    """The type of a kind of column."""
    match kind:
        case ColumnKind.WHOLE:
            return pa.int64()
        case ColumnKind.NUMBER:
            return pa.float64()
        case ColumnKind.TRUTH:
            return pa.bool_()
        case ColumnKind.TIME:
            return pa.timestamp("us", tz="UTC")
        case ColumnKind.CATEGORY:
            return pa.dictionary(pa.int32(), pa.string())
        case ColumnKind.WORDS:
            return pa.list_(pa.string())
        case _:
            return pa.string()


def batches_of_file(table: Path, columns: Sequence[Column]) -> Iterator[pa.RecordBatch]:
    """The rows of a CSV file of ours (`csv_file`), some megabytes at a time."""
    reader = pa_csv.open_csv(
        table,
        read_options=pa_csv.ReadOptions(block_size=_BLOCK),
        parse_options=pa_csv.ParseOptions(newlines_in_values=True),
        convert_options=_converted(columns),
    )
    for batch in reader:
        yield _typed(batch, columns)


def batches_of_lines(lines: bytes, columns: Sequence[Column]) -> Iterator[pa.RecordBatch]:
    """Rows of a CSV file of ours, without its heading."""
    read = pa_csv.read_csv(
        pa.BufferReader(lines),
        read_options=pa_csv.ReadOptions(column_names=_headings(columns), block_size=len(lines) + 1, use_threads=False),
        parse_options=pa_csv.ParseOptions(newlines_in_values=True),
        convert_options=_converted(columns),
    )
    for batch in read.to_batches():
        yield _typed(batch, columns)


def cells_of(array: pa.Array, *, guarded: bool) -> pa.Array:
    """A column as cells of CSV as they stand in a line; of no value an empty one. With `guarded` none runs (`safe`)."""
    if pa.types.is_dictionary(array.type):
        return cells_of(array.dictionary, guarded=guarded).take(array.indices).fill_null("")
    if array.null_count == len(array):
        return pa.repeat("", len(array))
    if pa.types.is_boolean(array.type):
        array = pc.if_else(array, "true", "false")
    elif pa.types.is_floating(array.type):
        few = array.dictionary_encode()
        array = pa.array([repr(number) for number in few.dictionary.to_pylist()], pa.string()).take(few.indices)
    elif not pa.types.is_string(array.type):
        array = array.cast(pa.string())
    elif pc.any(odd := pc.fill_null(pc.match_substring_regex(array, NOT_AS_IT_IS), False)).as_py():
        texts = array.filter(odd).to_pylist()
        cells = [csv_cells(safe(text) if guarded else text, "")[:-1] for text in texts]
        array = pc.replace_with_mask(array, odd, pa.array(cells, pa.string()))
    return pc.fill_null(array, "")


def _headings(columns: Sequence[Column]) -> list[str]:
    """The names of columns as they stand in a CSV file of ours: guarded, as its cells are."""
    return [safe(column.name) for column in columns]


def _converted(columns: Sequence[Column]) -> Any:
    held = (*_HELD, ColumnKind.WORDS)
    types = [pa.string() if column.kind in held else arrow_type(column.kind) for column in columns]
    return pa_csv.ConvertOptions(
        column_types=dict(zip(_headings(columns), types, strict=True)),
        null_values=[""],
        true_values=["true"],
        false_values=["false"],
        strings_can_be_null=True,
        quoted_strings_can_be_null=True,
    )


def _typed(batch: pa.RecordBatch, columns: Sequence[Column]) -> pa.RecordBatch:
    """The cells as they were before they were guarded, with their types."""
    cells = []
    for column, found in zip(columns, batch.columns, strict=True):
        array = found
        if column.kind in _HELD and pc.any(pc.match_substring(array, "'")).as_py():
            array = pa.array([cell and original(cell) for cell in array.to_pylist()], pa.string())
        if column.kind == ColumnKind.CATEGORY:
            array = array.dictionary_encode()
        elif column.kind == ColumnKind.WORDS:
            array = pc.split_pattern(array, " ")
        cells.append(array)
    return pa.RecordBatch.from_arrays(cells, schema=schema_of(columns))
