"""A CSV file of an export, written a block of rows at a time."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Sequence

from exports.sinks import Out


class CsvFile:
    """Rows of cells below a heading; cells are guarded by whoever makes them (`exports.cells`)."""

    def __init__(self, out: Out, columns: Sequence[str]) -> None:
        self._out = out
        self._lines: list[str] = []
        self._writer = csv.writer(_To(self._lines), lineterminator="\n")
        out.rows = 0
        self._write([columns])

    def add(self, rows: Iterable[Sequence[object]], n: int) -> None:
        """Append these n rows."""
        self._write(rows)
        assert self._out.rows is not None
        self._out.rows += n

    def _write(self, rows: Iterable[Sequence[object]]) -> None:
        self._writer.writerows(rows)
        self._out.write_text("".join(self._lines))
        self._lines.clear()


class _To:
    """What the csv module writes to: a list of lines."""

    def __init__(self, lines: list[str]) -> None:
        self.write = lines.append
