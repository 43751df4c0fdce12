"""A CSV file of an export, written a block of rows at a time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from exports.cells import lines_of
from exports.sinks import Out


class CsvFile:
    """Rows of cells below a heading; cells are guarded by whoever makes them (`exports.cells`)."""

    def __init__(self, out: Out, columns: Sequence[str]) -> None:
        self._out = out
        self._n = 0
        self.add([columns], 0)

    def add(self, rows: Iterable[Sequence[object]], n: int) -> None:
        """Append these n rows."""
        self.add_lines(lines_of(rows), n)

    def add_lines(self, lines: Sequence[str], n: int) -> None:
        """Append these n rows, each a line that is ready but for its end (`csv_cells`)."""
        if lines:
            self._out.write(("\n".join(lines) + "\n").encode())
        self._n += n
        self._out.rows = self._n


def csv_cells(*cells: str) -> str:
    """Two or more cells of a row as they stand in a line, so that what many lines share is made once."""
    plain = ",".join(cells)
    if plain.count(",") == len(cells) - 1 and '"' not in plain and "\n" not in plain and "\r" not in plain:
        return plain
    return lines_of([cells])[0]
