"""Parquet files from strangers, a batch of rows at a time: a file of a kilobyte may unpack to more than any memory.

A value that stands once in a file and is meant a million times is kept once, too, until it is asked for: texts and
bytes are read as dictionaries, and a batch is cut until what its rows come to is bounded.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from annotators.arrays import np
from annotators.errors import InvalidInput
from annotators.figures import count
from annotators.later import Later
from exports.reading.budget import Budget

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.compute as pc
    import pyarrow.parquet as pq
else:
    pa, pc, pq = Later("pyarrow"), Later("pyarrow.compute"), Later("pyarrow.parquet")

MOST_LEAVES = 20_000
MOST_VALUES = 50_000_000
LARGEST_COLUMN = 1 << 30
"""Columns with those inside of others, values of one, and bytes of one unpacked, that a group of rows may have."""

LARGEST_ROW = 64 << 20
"""Bytes that one row may come to."""

_AT_ONCE = 16 << 20


def parquet_batches(path: Path, rows: int) -> Iterator[pa.RecordBatch]:
    """The rows of a file, at most so many at once, fewer where they are large.

    Raises InvalidInput for what unpacks to more than memory should hold, or to more than a file of this size has any
    reason to (`Budget`), and what pyarrow raises for a file that is damaged.
    """
    budget = Budget(path.stat().st_size)
    with pq.ParquetFile(path, thrift_string_size_limit=_AT_ONCE, thrift_container_size_limit=MOST_LEAVES * 50) as plain:
        about = plain.metadata
        if about.num_columns > MOST_LEAVES:
            raise InvalidInput(
                f"it has {about.num_columns:,} columns with those inside of others, more than {MOST_LEAVES:,}. Write "
                "one item a row."
            )
        names = [about.schema.column(place).path for place in range(about.num_columns)]
        texts = [
            name
            for place, name in enumerate(names)
            if about.schema.column(place).physical_type in ("BYTE_ARRAY", "FIXED_LEN_BYTE_ARRAY")
        ]
        n_values = 0
        for group in range(about.num_row_groups):
            n_values += _check_group(about.row_group(group))
            budget.check(cells=n_values)
    with pq.ParquetFile(path, read_dictionary=texts, pre_buffer=False) as opened:
        for batch in opened.iter_batches(batch_size=rows, use_threads=False):
            for part in _cut(batch, budget):
                budget.spend(sum(map(unpacked, part.columns)), part.num_rows * part.num_columns)
                yield part


@dataclass(frozen=True)
class Unread:
    """In the place of a value that Python has none for: what it is, and what to do about it."""

    said: str


def values_of(column: pa.Array) -> list[Any]:
    """The values of a column; Unread for one that Python has none for, as a date outside the years 1 to 9999."""
    try:
        found: list[Any] = column.to_pylist()
        if pa.types.is_float32(column.type) or pa.types.is_float16(column.type):
            return [None if cell is None else float(str(np.float32(cell))) for cell in found]  # 0.1, as it is written
    except (ValueError, OverflowError, pa.ArrowException):
        return [_value_of(cell) for cell in column]
    return found


def _value_of(cell: Any) -> Any:
    try:
        return cell.as_py()
    except UnicodeDecodeError:
        return Unread("a text that is not in UTF-8. Write it in UTF-8")
    except (ValueError, OverflowError, pa.ArrowException) as error:
        return Unread(f"a value that cannot be read ({str(error).splitlines()[0][:200]}). Write it as a text")


def said_of_unread(columns: Sequence[str], row: Sequence[Any]) -> str | None:
    """What is said of a row of which a value is Unread; None where none is."""
    for column, cell in zip(columns, row, strict=True):
        if isinstance(cell, Unread):
            return f"the column {column[:80]!r} holds {cell.said}, or leave the column out."
    return None


def _check_group(group: Any) -> int:
    """How many values a group of rows has; InvalidInput where one column has too many, or too large ones."""
    n = 0
    for place in range(group.num_columns):
        column = group.column(place)
        if column.num_values > MOST_VALUES:
            raise InvalidInput(
                f"the column {column.path_in_schema[:80]!r} has {count(column.num_values, 'value')} in one group of "
                f"rows, more than {MOST_VALUES:,}. Write it again in smaller groups."
            )
        if column.total_uncompressed_size > LARGEST_COLUMN:
            size = column.total_uncompressed_size >> 20
            raise InvalidInput(
                f"the column {column.path_in_schema[:80]!r} unpacks to {size:,} MB in one group of rows, more than "
                f"{LARGEST_COLUMN >> 20:,} MB. Write it again in smaller groups."
            )
        n += column.num_values
    return n


def _cut(batch: pa.RecordBatch, budget: Budget) -> Iterator[pa.RecordBatch]:
    size = sum(unpacked(column) for column in batch.columns)
    budget.check(size)
    if batch.num_rows <= 1 and size > LARGEST_ROW:
        raise InvalidInput(
            f"one row comes to {size >> 20:,} MB of text, more than {LARGEST_ROW >> 20:,} MB. Write large values as "
            "documents of their own."
        )
    if batch.num_rows <= 1 or size <= _AT_ONCE:
        yield batch
        return
    half = batch.num_rows // 2
    yield from _cut(batch.slice(0, half), budget)
    yield from _cut(batch.slice(half), budget)


_A_VALUE = 32
"""Bytes that a number takes once Python has it."""


def unpacked(column: Any) -> int:
    """Bytes that the values of a column come to when each is written out."""
    kind = column.type
    if pa.types.is_dictionary(kind):
        lengths = pc.binary_length(column.dictionary)
        found: int = pc.sum(pc.take(lengths, column.indices)).as_py() or 0
        return found + _A_VALUE * len(column)
    if pa.types.is_struct(kind):
        return sum(unpacked(part) for part in column.flatten())
    if pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind):
        return unpacked(column.flatten())
    if pa.types.is_map(kind):
        return unpacked(column.keys) + unpacked(column.items)
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if is_text or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        return (pc.sum(pc.binary_length(column)).as_py() or 0) + _A_VALUE * len(column)
    return _A_VALUE * len(column)
