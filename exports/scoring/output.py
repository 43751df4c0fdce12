"""The file that a scoring of files writes: a part that grows and survives a kill, and takes its name when complete."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import orjson

from annotators.errors import Conflict
from annotators.files import naming, taken
from annotators.items.item import DESCRIBED
from exports.checks import check_scores_file

OF_ITEM = ("id", "question_key", *(name for name, _ in DESCRIBED))
"""The fields of an item that stand beside its scores."""

COLUMNS = (
    "item", *OF_ITEM, "scorer", "version", "parameters", "name", "target", "value", "reason", "details",
)  # fmt: skip
"""What a row of the output holds, in this order. `item` is the item's place in the input, from 1; `parameters` and
`details` are objects (in Parquet: JSON texts)."""


_ROW_GROUP = 10_000

Row = dict[str, Any]


class GrowingRows:
    """Rows on their way into a file, as JSON lines; each block is with the system when `write` returns."""

    def __init__(self, part: Path) -> None:
        self._part, self._file = part, part.open("a+b")
        if not taken(self._file.fileno()):
            self._file.close()
            raise Conflict(f"Another process is writing {part}. Wait for it, or name another output.")

    def earlier(self) -> Iterator[list[Row]]:
        """The rows of each item that a process which did not come to its end has written here, in order.

        Those of the last item are dropped, since they may not be all, and so is what follows a line that is not whole.
        """
        self._file.seek(0)
        rows: list[Row] = []
        kept = at = 0
        for line in self._file:
            row = _row_in(line)
            if row is None:
                break
            if rows and row["item"] != rows[0]["item"]:
                yield rows
                rows, kept = [], at
            rows.append(row)
            at += len(line)
        self._file.truncate(kept)

    def write(self, rows: Iterable[Row]) -> None:
        """Append some rows."""
        with naming(self._part):
            self._file.write(b"".join(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE) for row in rows))
            self._file.flush()

    def close(self, *, keep: bool) -> None:
        """Finish writing; `keep` has the rows be on the disk when it returns."""
        if keep:
            os.fsync(self._file.fileno())
        self._file.close()


@contextmanager
def growing_rows(output: Path, inputs: Sequence[Path | str], about: object) -> Iterator[GrowingRows]:
    """Rows that become `output` when the block ends well; else they stay in a part beside it, for the next attempt.

    The part's name tells the inputs (by name, size and time of change) and what they are scored with (`about`, of
    JSON), so that an attempt goes on only with rows that it would write itself. Raises InvalidInput for a wrong ending
    or folder, Conflict when `output` is there or another process is writing it.
    """
    check_scores_file(output)
    known_by = orjson.dumps([about, [_state(Path(path)) for path in inputs]], option=orjson.OPT_SORT_KEYS)
    part = output.with_name(f".{output.name}.{hashlib.sha256(known_by).hexdigest()[:12]}.part")
    rows = GrowingRows(part)
    try:
        yield rows
    except BaseException:
        rows.close(keep=False)
        if not part.stat().st_size:
            part.unlink()
        raise
    rows.close(keep=True)
    if output.suffix == ".parquet":
        whole = part.with_suffix(".parquet")
        with naming(whole):
            _write_parquet(part, whole)
        whole.rename(output)
        part.unlink()
    else:
        part.rename(output)


def _state(path: Path) -> list[tuple[str, int, int]]:
    """The plain files of a path, each with size and time of change."""
    own = path.resolve()
    files = sorted(file for file in own.rglob("[!.]*") if file.is_file()) if own.is_dir() else [own]
    return [(str(file), file.stat().st_size, file.stat().st_mtime_ns) for file in files]


def _row_in(line: bytes) -> Row | None:
    """The row of a whole line, None of any other."""
    if not line.endswith(b"\n"):
        return None
    try:
        row: Row = orjson.loads(line)
    except orjson.JSONDecodeError:
        return None
    return row


def _write_parquet(part: Path, whole: Path) -> None:
    """Row groups of some thousand rows each; what the columns hold is written into the file's schema."""
    import pyarrow as pa  # noqa: PLC0415 - 0.2 s that JSON lines need not wait for
    import pyarrow.parquet as pq  # noqa: PLC0415

    kinds = {"item": pa.int64(), "value": pa.float64()}
    schema = pa.schema([pa.field(name, kinds.get(name, pa.string())) for name in COLUMNS])

    def write(rows: list[Row]) -> None:
        columns = {name: [_cell(name, row[name]) for row in rows] for name in COLUMNS}
        writer.write_table(pa.table(columns, schema=schema))

    with pq.ParquetWriter(whole, schema, compression="zstd") as writer, part.open("rb") as file:
        rows: list[Row] = []
        for line in file:
            rows.append(orjson.loads(line))
            if len(rows) == _ROW_GROUP:
                write(rows)
                rows = []
        if rows:
            write(rows)


def _cell(name: str, value: Any) -> Any:
    if name in ("parameters", "details") and value is not None:
        return orjson.dumps(value, option=orjson.OPT_SORT_KEYS).decode()
    return value
