"""The first rows of a table as a mapping reads them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from exports.columns.columns import Columns, read_columns
from exports.columns.mapping import MANY, OF_RATINGS, TableMapping, found_columns, melted
from exports.columns.values import read_values

SHOWN_ROWS = 3
_LONG = 80


@dataclass(frozen=True)
class FirstRows:
    """What is shown of a table: the fields with their columns, and the first rows of it."""

    columns: list[str]
    rows: list[list[str]]


def first_rows(path: Path, mapping: TableMapping, n: int = SHOWN_ROWS) -> FirstRows:
    """The first rows of a table as a mapping reads them: of ratings one row a rating.

    NotFound for a column or path that is not there.
    """
    columns = read_columns(path, mapping.rule, mapping.wanted, bad=[])
    return rows_of(columns, mapping, n)


def rows_of(columns: Columns, mapping: TableMapping, n: int = SHOWN_ROWS) -> FirstRows:
    """As `first_rows`, of a table that was read."""
    of_ratings = set(mapping.fields) & {"item", "annotator", "value", *MANY}
    if not of_ratings or not set(mapping.fields) <= {*OF_RATINGS, *MANY}:
        given = [(name, column) for name, of_field in mapping.fields.items() for column in of_field]
        cells = [columns[column][:n] for _, column in given]
        heads = [name if name == column else f"{name} ({column})" for name, column in given]
        return FirstRows(heads, [[_shown(cell) for cell in row] for row in zip(*cells, strict=True)])
    found = found_columns(list(columns.cells), mapping)
    if "value" not in found.columns and not set(found.columns) & set(MANY):
        return rows_of(columns, TableMapping({name: of[:1] for name, of in found.columns.items()}), n)
    long = melted(columns, mapping, found)
    values = read_values(long.values, mapping.rule).values
    parts: dict[str, list[Any]] = {
        "item": list(long.items), "annotator": list(long.annotators), "criterion": list(long.criteria or ()),
        "value": values,
    }  # fmt: skip
    shown = {name: cells[:n] for name, cells in parts.items() if any(cell is not None for cell in cells)}
    return FirstRows(list(shown), [[_shown(cell) for cell in row] for row in zip(*shown.values(), strict=True)])


def _shown(cell: Any) -> str:
    text = "" if cell is None else str(cell)
    return text if len(text) <= _LONG else f"{text[: _LONG - 1]}…"
