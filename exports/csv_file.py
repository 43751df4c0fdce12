"""A CSV file of an export, written a block of rows at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from exports.cells import lines_of
from exports.sinks import Out


class CsvFile:
    """Rows of cells below a heading; cells are guarded by whoever makes them (`exports.cells`)."""

    def __init__(self, out: Out, columns: Sequence[str]) -> None:
        self._out = out
        self._n = 0
        if out.typed is not None:
            out.typed.begin(columns)
        self._write(lines_of([columns]), 0)

    def add(self, rows: Iterable[Sequence[object]], n: int) -> None:
        """Append these n rows."""
        self.add_lines(lines_of(rows), n)

    def add_lines(self, lines: Sequence[str], n: int) -> None:
        """Append these n rows, each a line that is ready but for its end (`csv_cells`)."""
        written = self._write(lines, n)
        if self._out.typed is not None and written:
            self._out.typed.add_lines(written)

    def add_block(self, lines: Callable[[], bytes], batch: Callable[[], Any], n: int) -> None:
        """Append these n rows, made as lines with their ends and as a record batch, of which what is wanted is made."""
        written = self._put(lines() if self._out.lines else b"", n)
        if self._out.typed is not None:
            self._out.typed.add_batch(written, batch())

    def _write(self, lines: Sequence[str], n: int) -> bytes:
        return self._put(("\n".join(lines) + "\n").encode() if lines else b"", n)

    def _put(self, written: bytes, n: int) -> bytes:
        if written:
            self._out.write(written)
        self._n += n
        self._out.rows = self._n
        return written


def csv_cells(*cells: str) -> str:
    """Two or more cells of a row as they stand in a line, so that what many lines share is made once."""
    plain = ",".join(cells)
    if plain.count(",") == len(cells) - 1 and '"' not in plain and "\n" not in plain and "\r" not in plain:
        return plain
    return lines_of([cells])[0]
