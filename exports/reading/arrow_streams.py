"""Streams of Arrow from strangers (what `save_to_disk` writes), a batch of rows at a time; none unpacks without end.

A compressed buffer begins with how many bytes it unpacks to, and a batch says how many rows it has and where its
buffers lie: in a FlatBuffer, of which only that is read here (Arrow columnar format, "Encapsulated message format").
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from struct import error as struct_error
from struct import unpack_from
from typing import TYPE_CHECKING

from annotators.errors import InvalidInput
from annotators.later import Later
from exports.reading.budget import Budget
from exports.reading.parquet import LARGEST_COLUMN, MOST_VALUES, unpacked

if TYPE_CHECKING:
    import pyarrow as pa
else:
    pa = Later("pyarrow")

_DICTIONARY, _RECORDS = 2, 3
_HEADER_TYPE, _HEADER = 1, 2
_DATA = 1
_LENGTH, _BUFFERS, _COMPRESSION = 0, 2, 3


def arrow_batches(path: Path, rows: int) -> Iterator[pa.RecordBatch]:
    """The rows of a stream, at most so many at once.

    Raises InvalidInput for what unpacks to more than memory should hold, before it is unpacked, and what pyarrow raises
    for a file that is damaged.
    """
    budget = Budget(path.stat().st_size)
    with pa.memory_map(str(path)) as source:
        for number, message in enumerate(pa.ipc.MessageReader.open_stream(source)):
            budget.check(_check(memoryview(message.metadata), message.body, number))
    with pa.OSFile(str(path)) as source, pa.ipc.open_stream(source) as stream:
        for batch in stream:
            for start in range(0, batch.num_rows, rows):
                part = batch.slice(start, rows)
                budget.spend(sum(map(unpacked, part.columns)), part.num_rows * part.num_columns)
                yield part


def _check(head: memoryview, body: pa.Buffer | None, number: int) -> int:
    """The bytes that a message unpacks to; InvalidInput for one that has too many rows, or unpacks to too much."""
    try:
        message = _pointed(head, 0)
        kind = _field(head, message, _HEADER_TYPE)
        about = _field(head, message, _HEADER)
        if kind is None or about is None or head[kind] not in (_DICTIONARY, _RECORDS):
            return 0
        batch = _pointed(head, about)
        if head[kind] == _DICTIONARY:
            inner = _field(head, batch, _DATA)
            if inner is None:
                return 0
            batch = _pointed(head, inner)
        length = _field(head, batch, _LENGTH)
        n = 0 if length is None else unpack_from("<q", head, length)[0]
        size = 0 if _field(head, batch, _COMPRESSION) is None else _unpacked(head, batch, body)
    except (struct_error, IndexError):
        raise InvalidInput(f"message {number} of the stream is damaged. Write it again.") from None
    if n > MOST_VALUES:
        raise InvalidInput(
            f"it has {n:,} rows in one batch, more than {MOST_VALUES:,}. Write it again in smaller batches."
        )
    if size > LARGEST_COLUMN:
        raise InvalidInput(
            f"one batch unpacks to {size >> 20:,} MB, more than {LARGEST_COLUMN >> 20:,} MB. Write it again in smaller "
            "batches."
        )
    return size


def _unpacked(head: memoryview, batch: int, body: pa.Buffer | None) -> int:
    """Bytes that the buffers of a compressed batch unpack to."""
    buffers = _field(head, batch, _BUFFERS)
    if buffers is None or body is None:
        return 0
    data = memoryview(body)
    vector = _pointed(head, buffers)
    size = 0
    for place in range(unpack_from("<I", head, vector)[0]):
        start, length = unpack_from("<qq", head, vector + 4 + 16 * place)
        if length >= 8:
            size += max(0, unpack_from("<q", data, start)[0])
    return size


def _pointed(head: memoryview, at: int) -> int:
    """Where an offset points that stands here."""
    found: int = at + unpack_from("<I", head, at)[0]
    return found


def _field(head: memoryview, table: int, number: int) -> int | None:
    """Where a field of a table stands; None where it is left out."""
    names = table - unpack_from("<i", head, table)[0]
    if 4 + 2 * number + 2 > unpack_from("<H", head, names)[0]:
        return None
    offset = unpack_from("<H", head, names + 4 + 2 * number)[0]
    return table + offset if offset else None
