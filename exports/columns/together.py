"""Which rows of a table were drawn together: the column that is named, or what the usual columns say."""

from __future__ import annotations

from collections.abc import Hashable, Sequence

from annotators.intervals.together import BROADER, Together, drawn_together
from exports.columns.columns import Columns


def rows_together(
    table: Columns, named: str | None, unit: str | None = None
) -> tuple[list[Hashable] | None, Together | None]:
    """The cluster of each row, and the column that says it where none was named; None where each row stands alone.

    `named` is the column that was asked for ("": none counts), `unit` that of the units where several rows are of one.
    A row without an entry stands alone. Raises NotFound for a named column that is not there.
    """
    if named:
        return _clusters(table, named), None
    units: list[Hashable] = _clusters(table, unit) if unit is not None else list(range(len(table.lines)))
    if named == "":
        return (units, None) if unit is not None else (None, None)
    owners = [name for name in ("question", "item") if name in table.cells and name != unit]
    said: dict[str, Sequence[Hashable]] = {name: table.keys(name) or [] for name in owners}
    found = drawn_together(said, units, {name: table.keys(name) or [] for name in BROADER if name in table.cells})
    if found is not None:
        return _clusters(table, found.column), found
    return (units, None) if unit is not None else (None, None)


def _clusters(table: Columns, name: str) -> list[Hashable]:
    keys: Sequence[str | None] = table.keys(name) or []
    return [(place,) if key is None else key for place, key in enumerate(keys)]
